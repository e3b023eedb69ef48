//! A simulated store with clients that proceeds in random steps; the accept set is tested against it.
//!
//! Each write takes effect at one moment between its sending and its answer, or not at all. Each read sees
//! the state at one such moment. A second accept set is kept literally as defined, for comparison.

use std::collections::BTreeSet;

use jsonathlon_dataset::records::SeenVersions;
use jsonathlon_loadgen::accept::{AcceptSet, ConsistencyViolation, ReadToken, WriteKind, WriteToken};
use jsonathlon_loadgen::random::Random;

/// Stored versions: of the fields that partial writes change, and of all other fields. `None` if absent.
pub(crate) type Stored = Option<(u32, u32)>;

pub(crate) fn seen(stored: Stored) -> Option<SeenVersions> {
    stored.map(|(version, base)| SeenVersions { version: Some(version), base: Some(base) })
}

/// The accept set of one key, literally as defined: issued, in flight, base, floor.
#[derive(Debug, Default)]
struct Literal {
    issued: u32,
    in_flight: u32,
    base: u32,
    floor: u32,
    whole_floor: u32,
    whole_issued: u32,
    aborted: BTreeSet<u32>,
    deletes: BTreeSet<u32>,
}

impl Literal {
    fn send(&mut self, change: WriteKind) -> u32 {
        self.issued += 1;
        if self.in_flight == 0 {
            self.base = self.issued;
        }
        self.in_flight += 1;
        match change {
            WriteKind::Part => {}
            WriteKind::Whole => self.whole_issued = self.issued,
            WriteKind::Delete => {
                self.deletes.insert(self.issued);
            }
        }
        self.base
    }

    fn end(&mut self, change: WriteKind, low: u32, applied: bool) {
        self.in_flight -= 1;
        if applied {
            self.floor = self.floor.max(low);
            if change != WriteKind::Part {
                self.whole_floor = self.whole_floor.max(low);
            }
        }
    }

    /// Returns `true` if an answer must be refused, given the floors at the time the read was sent.
    fn refuses(&self, loaded: bool, floor: u32, whole_floor: u32, answer: Stored) -> bool {
        let good = |version: u32, floor: u32, issued: u32| {
            version >= floor
                && version <= issued
                && !self.aborted.contains(&version)
                && (version > 0 || loaded)
        };
        match answer {
            Some((version, base)) => {
                !(good(version, floor, self.issued) && good(base, whole_floor, self.whole_issued))
            }
            None => {
                let deleted =
                    self.deletes.range(floor.max(1)..).any(|version| !self.aborted.contains(version));
                !(deleted || (!loaded && floor == 0))
            }
        }
    }
}

/// The request that a client is waiting for.
#[derive(Debug)]
enum Request {
    Read { read: ReadToken, floors: (u32, u32), answer: Option<Stored> },
    Write { write: WriteToken, low: u32, change: WriteKind, applied: Option<bool> },
}

/// A write whose client has given up but which the server may still execute.
#[derive(Debug)]
struct Orphan {
    number: usize,
    version: u32,
    low: u32,
    change: WriteKind,
    open: bool,
}

/// Parameters of a schedule; probabilities are in percent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    pub(crate) clients: usize,
    pub(crate) keys: usize,
    pub(crate) reads: u64,
    pub(crate) deletes: u64,
    pub(crate) wholes: u64,
    pub(crate) aborted: u64,
    pub(crate) unknown: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) reads: u64,
    pub(crate) planted: u64,
}

pub(crate) struct Schedule {
    accept: AcceptSet,
    weather: Weather,
    random: Random,
    /// Number of keys that exist from the start: half of all keys.
    loaded: usize,
    store: Vec<Stored>,
    literal: Vec<Literal>,
    clients: Vec<Option<Request>>,
    orphans: Vec<Orphan>,
    pub(crate) counts: Counts,
}

impl Schedule {
    pub(crate) fn new(weather: Weather, seed: u64) -> Self {
        let loaded = weather.keys.div_ceil(2);
        Schedule {
            accept: AcceptSet::new(loaded as u64),
            random: Random::new(seed, 0),
            loaded,
            store: (0..weather.keys).map(|number| (number < loaded).then_some((0, 0))).collect(),
            literal: (0..weather.keys).map(|_| Literal::default()).collect(),
            clients: (0..weather.clients).map(|_| None).collect(),
            orphans: Vec::new(),
            weather,
            counts: Counts::default(),
        }
    }

    pub(crate) fn run(&mut self, steps: usize) {
        for _ in 0..steps {
            self.step();
        }
    }

    fn percent(&mut self, share: u64) -> bool {
        self.random.below(100) < share
    }

    fn step(&mut self) {
        if !self.orphans.is_empty() && self.percent(10) {
            return self.orphan();
        }
        let client = self.random.below(self.weather.clients as u64) as usize;
        match self.clients[client].take() {
            None => self.clients[client] = Some(self.send()),
            Some(Request::Read { read, floors, answer }) => {
                let number = read.number() as usize;
                match answer {
                    None => {
                        let answer = Some(self.store[number]);
                        self.clients[client] = Some(Request::Read { read, floors, answer });
                    }
                    Some(answer) => self.answered(&read, floors, answer),
                }
            }
            Some(Request::Write { write, low, change, applied }) => {
                self.clients[client] = self.write(write, low, change, applied);
            }
        }
    }

    fn send(&mut self) -> Request {
        let number = self.random.below(self.weather.keys as u64) as usize;
        if self.percent(self.weather.reads) {
            let literal = &self.literal[number];
            let floors = (literal.floor, literal.whole_floor);
            return Request::Read { read: self.accept.begin_read(number as u64), floors, answer: None };
        }
        let change = if self.percent(self.weather.deletes) {
            WriteKind::Delete
        } else if self.percent(self.weather.wholes) {
            WriteKind::Whole
        } else {
            WriteKind::Part
        };
        let write = self.accept.begin_write(number as u64, change).unwrap();
        let low = self.literal[number].send(change);
        assert_eq!(write.version(), self.literal[number].issued);
        Request::Write { write, low, change, applied: None }
    }

    /// Applies a write to the store. Returns `true` if it changed a record.
    fn apply(&mut self, number: usize, version: u32, change: WriteKind) -> bool {
        let stored = &mut self.store[number];
        match (change, *stored) {
            (WriteKind::Part, Some((_, base))) => *stored = Some((version, base)),
            (WriteKind::Whole, _) => *stored = Some((version, version)),
            (WriteKind::Delete, Some(_)) => *stored = None,
            (WriteKind::Part | WriteKind::Delete, None) => return false,
        }
        true
    }

    fn write(
        &mut self,
        write: WriteToken,
        low: u32,
        change: WriteKind,
        applied: Option<bool>,
    ) -> Option<Request> {
        let (number, version) = (write.number() as usize, write.version());
        match applied {
            None if self.percent(self.weather.unknown) => {
                // The connection breaks; the system may still execute the write.
                self.accept.mark_unknown(write);
                self.orphans.push(Orphan { number, version, low, change, open: true });
                None
            }
            None => {
                let refused = self.percent(self.weather.aborted);
                let applied = Some(!refused && self.apply(number, version, change));
                Some(Request::Write { write, low, change, applied })
            }
            Some(applied) => {
                if applied && self.percent(self.weather.unknown) {
                    // The write was executed, but its answer is lost.
                    self.accept.mark_unknown(write);
                    self.orphans.push(Orphan { number, version, low, change, open: false });
                    return None;
                }
                self.literal[number].end(change, low, applied);
                if applied {
                    self.accept.acknowledge(write);
                } else {
                    self.literal[number].aborted.insert(version);
                    self.accept.abort(write);
                }
                None
            }
        }
    }

    /// Either the system executes an abandoned write, or the client settles the outcome by a read.
    fn orphan(&mut self) {
        let place = self.random.below(self.orphans.len() as u64) as usize;
        let number = self.orphans[place].number;
        if self.orphans[place].open && self.percent(50) {
            let (version, change) = (self.orphans[place].version, self.orphans[place].change);
            self.orphans[place].open = false;
            self.apply(number, version, change);
            return;
        }
        // No abandoned write of this record can take effect any more, so its state is read.
        let read = self.accept.begin_read(number as u64);
        let literal = &self.literal[number];
        let floors = (literal.floor, literal.whole_floor);
        let stored = self.store[number];
        self.answered(&read, floors, stored);
        self.accept.settle(number as u64, seen(stored));
        let ended: Vec<Orphan> = self.orphans.extract_if(.., |orphan| orphan.number == number).collect();
        for orphan in ended {
            let shows =
                stored.is_some_and(|(version, base)| version == orphan.version || base == orphan.version);
            self.literal[number].end(orphan.change, orphan.low, shows);
        }
    }

    fn answered(&mut self, read: &ReadToken, floors: (u32, u32), answer: Stored) {
        let number = read.number() as usize;
        let verdict = self.accept.accepts(read, seen(answer));
        assert_eq!(verdict, Ok(()), "false alarm on {number}: {answer:?}, {:?}", self.literal[number]);
        self.counts.reads += 1;
        self.plant(read, floors, answer);
    }

    /// Checks that answers outside the set are refused, by trying wrong ones.
    fn plant(&mut self, read: &ReadToken, floors: (u32, u32), right: Stored) {
        let number = read.number() as usize;
        let literal = &self.literal[number];
        let loaded = number < self.loaded;
        let newest = literal.issued;
        let mut planted: Vec<Stored> =
            vec![None, Some((newest + 1, 0)), Some((0, 0)), Some((newest, newest))];
        for _ in 0..6 {
            let version = self.random.below(u64::from(newest) + 1) as u32;
            let base = self.random.below(u64::from(newest) + 1) as u32;
            planted.extend([Some((version, base)), Some((version, right.map_or(0, |(_, base)| base)))]);
        }
        for answer in planted {
            let refused = self.accept.accepts(read, seen(answer)).is_err();
            if self.literal[number].refuses(loaded, floors.0, floors.1, answer) {
                assert!(refused, "{answer:?} of {number} was missed: {:?}, {floors:?}", self.literal[number]);
                self.counts.planted += 1;
            }
            // With one client, only the stored state is accepted.
            let weather = &self.weather;
            if weather.clients == 1 && weather.unknown + weather.deletes + weather.wholes == 0 {
                assert_eq!(!refused, answer == right, "{answer:?}, {right:?}");
            }
        }
    }
}

/// Returns `true` if the answer was refused as stale.
pub(crate) fn stale(verdict: Result<(), ConsistencyViolation>) -> bool {
    verdict.is_err_and(|refused| refused.is_stale())
}
