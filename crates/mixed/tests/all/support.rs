//! Documents, and answers from nothing, that the tests share.

use std::borrow::Cow;
use std::ops::Range;

use jsonathlon_dataset::generate::Generator;
use jsonathlon_dataset::questions::{LIKE, POST, Question, REPOST};
use jsonathlon_dataset::reference::{Answers, Reference};
use jsonathlon_dataset::scan::{Event, scan};
use jsonathlon_mixed::{Documents, DocumentsBuilder, Pool, SeenCount, Sweep};
use jsonathlon_schema::value::Row;

/// Numbers without a pattern from a seed (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }

    /// A number of at least 1 and at most `limit`.
    pub(crate) fn up_to(&mut self, limit: u64) -> u64 {
        self.below(limit) + 1
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

fn owned(event: &Event<'_>) -> Event<'static> {
    let text = |text: &Option<Cow<'_, str>>| text.as_deref().map(|text| Cow::Owned(text.to_owned()));
    Event {
        did: text(&event.did),
        time_us: event.time_us,
        kind: text(&event.kind),
        operation: text(&event.operation),
        collection: text(&event.collection),
        lang0: text(&event.lang0),
    }
}

/// Events of the generator, which have the shape of the real data.
pub(crate) fn generated_events(count: u64) -> Vec<Event<'static>> {
    let (mut text, mut generator) = (Vec::new(), Generator::new(7, 0..count));
    while generator.fill(&mut text, 1 << 20) {}
    text.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| owned(&scan(line).event))
        .collect()
}

/// Events with few users and times, so that ties are frequent, and with fields missing.
pub(crate) fn odd_events(random: &mut Random, count: u64) -> Vec<Event<'static>> {
    const USERS: [Option<&str>; 9] = [
        None,
        Some(""),
        Some("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"),
        Some("did:plc:aaaaaaaaaaaaaaaaaaaaaaab"),
        Some("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa7"),
        Some("did:plc:zzzzzzzzzzzzzzzzzzzzzzzz"),
        Some("did:web:a.example"),
        Some("did:plc:é"),
        Some("zzz"),
    ];
    const COLLECTIONS: [Option<&str>; 8] =
        [Some(POST), Some(POST), Some(POST), Some(REPOST), Some(LIKE), Some("zzz"), Some(""), None];
    const OPERATIONS: [Option<&str>; 6] =
        [Some("create"), Some("create"), Some("create"), Some("create"), Some("delete"), None];
    const KINDS: [Option<&str>; 6] =
        [Some("commit"), Some("commit"), Some("commit"), Some("commit"), Some("identity"), None];
    const LANGUAGES: [Option<&str>; 4] = [Some("en"), Some("ja"), Some(""), None];
    let event = |_| Event {
        did: random.one_of(&USERS).map(Cow::Borrowed),
        time_us: match random.below(12) {
            0 => None,
            1 => Some(i64::MIN),
            2 => Some(i64::MAX),
            3 => Some(-1),
            _ => Some(random.below(5) as i64 * 1_800_000_000),
        },
        kind: random.one_of(&KINDS).map(Cow::Borrowed),
        operation: random.one_of(&OPERATIONS).map(Cow::Borrowed),
        collection: random.one_of(&COLLECTIONS).map(Cow::Borrowed),
        lang0: random.one_of(&LANGUAGES).map(Cow::Borrowed),
    };
    (0..count).map(event).collect()
}

/// A data set, of which the first documents are the pool and the others the base.
pub(crate) struct World {
    events: Vec<Event<'static>>,
    pub(crate) documents: Documents,
    pub(crate) pool: Pool,
    base: Range<usize>,
}

impl World {
    pub(crate) fn new(events: Vec<Event<'static>>, pool_size: usize, writers: usize) -> Self {
        let mut builder = DocumentsBuilder::default();
        for (index, event) in events.iter().enumerate() {
            assert_eq!(builder.observe(event), index);
        }
        assert_eq!(builder.len(), events.len());
        let base = pool_size..events.len();
        Self { documents: builder.finish(), pool: Pool::new(0..pool_size, writers), base, events }
    }

    pub(crate) fn sweep(&self) -> Sweep<'_> {
        Sweep::new(&self.documents, &self.pool, self.base.clone()).unwrap()
    }

    /// Indexes of the first documents of each writer.
    pub(crate) fn prefix_indexes(&self, prefixes: &[u64]) -> Vec<usize> {
        let of_writer = |(writer, &prefix): (usize, &u64)| {
            (0..prefix).map(move |number| self.pool.document(writer, number).unwrap())
        };
        prefixes.iter().enumerate().flat_map(of_writer).collect()
    }

    /// Answers over the base and these documents of the pool, computed from nothing.
    pub(crate) fn answers_over(&self, pool: &[usize]) -> Answers {
        let mut reference = Reference::default();
        for index in self.base.clone().chain(pool.iter().copied()) {
            reference.observe(&self.events[index]);
        }
        reference.answers()
    }

    /// Answer to a question over the base and prefixes, computed from nothing.
    pub(crate) fn answer(&self, question: Question, prefixes: &[u64]) -> Vec<Row> {
        self.answers_over(&self.prefix_indexes(prefixes)).rows(question).to_vec()
    }
}

/// What is counted at or above the floors if exactly these prefixes are there.
pub(crate) fn seen_counts(floors: &[u64], prefixes: &[u64]) -> Vec<SeenCount> {
    let count = |(writer, (&floor, &prefix)): (usize, (&u64, &u64))| {
        (prefix > floor).then(|| SeenCount { writer, count: prefix - floor, highest: prefix - 1 })
    };
    floors.iter().zip(prefixes).enumerate().filter_map(count).collect()
}
