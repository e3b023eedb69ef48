//! Tests of the accept set under real threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use jsonathlon_dataset::records::SeenVersions;
use jsonathlon_loadgen::accept::{AcceptSet, WriteKind, WriteToken, reply_hash};
use jsonathlon_loadgen::random::Random;

use crate::schedule::{Stored, seen};

const THREADS: u64 = 4;

/// A store of rows with one lock per row.
struct Store(Vec<Mutex<Stored>>);

impl Store {
    fn new(loaded: u64, keys: u64) -> Self {
        Store((0..keys).map(|number| Mutex::new((number < loaded).then_some((0, 0)))).collect())
    }

    fn read(&self, number: u64) -> Stored {
        *self.0[number as usize].lock().unwrap()
    }

    fn apply(&self, write: &WriteToken, change: WriteKind) -> bool {
        let mut stored = self.0[write.number() as usize].lock().unwrap();
        let version = write.version();
        match (change, *stored) {
            (WriteKind::Part, Some((_, base))) => *stored = Some((version, base)),
            (WriteKind::Whole, _) => *stored = Some((version, version)),
            (WriteKind::Delete, Some(_)) => *stored = None,
            (WriteKind::Part | WriteKind::Delete, None) => return false,
        }
        true
    }
}

/// Every thread keeps many writes in flight and applies and ends them in random order.
fn stress(keys: u64, open: usize, steps: u64, deletes: u64) {
    let (accept, store) = (AcceptSet::new(keys), Store::new(keys, keys));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (accept, store) = (&accept, &store);
            scope.spawn(move || {
                let mut random = Random::new(9, thread);
                let mut waiting: Vec<(WriteToken, WriteKind, Option<bool>)> = Vec::new();
                for _ in 0..steps {
                    let number = random.below(keys);
                    let read = accept.begin_read(number);
                    let answer = store.read(number);
                    assert_eq!(accept.accepts(&read, seen(answer)), Ok(()), "{number}: {answer:?}");
                    if waiting.len() < open && random.below(2) == 0 {
                        let change = match random.below(100) {
                            part if part < deletes => WriteKind::Delete,
                            part if part < 2 * deletes => WriteKind::Whole,
                            _ => WriteKind::Part,
                        };
                        waiting.push((accept.begin_write(number, change).unwrap(), change, None));
                    } else if !waiting.is_empty() {
                        let (write, change, applied) =
                            waiting.swap_remove(random.below(waiting.len() as u64) as usize);
                        match applied {
                            None => {
                                let refused = random.below(10) == 0;
                                let applied = Some(!refused && store.apply(&write, change));
                                waiting.push((write, change, applied));
                            }
                            Some(true) => accept.acknowledge(write),
                            Some(false) => accept.abort(write),
                        }
                    }
                }
                for (write, _, applied) in waiting {
                    if applied == Some(true) { accept.acknowledge(write) } else { accept.abort(write) }
                }
            });
        }
    });
    // All writes have ended: the stored state is accepted, and any version older than the last writes is
    // refused.
    for number in 0..keys {
        assert_eq!(accept.accepts(&accept.begin_read(number), seen(store.read(number))), Ok(()));
        let write = accept.begin_write(number, WriteKind::Whole).unwrap();
        let version = write.version();
        accept.acknowledge(write);
        let read = accept.begin_read(number);
        for wrong in [Some((version - 1, version)), Some((version + 1, version)), Some((version, 0)), None] {
            assert!(accept.accepts(&read, seen(wrong)).is_err());
        }
        assert_eq!(accept.accepts(&read, seen(Some((version, version)))), Ok(()));
    }
}

#[test]
fn few_keys_and_many_writes() {
    stress(1, 8, 100_000, 0);
    stress(3, 4, 100_000, 20);
}

#[test]
fn a_key_goes_beyond_its_word_and_comes_back() {
    stress(1, 100, 100_000, 0);
    stress(2, 60, 100_000, 10);
}

#[test]
fn many_keys() {
    stress(5_000, 30, 100_000, 15);
}

#[test]
fn the_set_grows_while_it_is_read() {
    const INSERTS: u64 = 10_000;
    let (accept, store) = (AcceptSet::new(100), Store::new(100, 100 + THREADS * INSERTS));
    let refused = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (accept, store, refused) = (&accept, &store, &refused);
            scope.spawn(move || {
                let mut random = Random::new(10, thread);
                let mut done = 0;
                while done < INSERTS {
                    let write = accept.begin_insert().unwrap();
                    if random.below(20) == 0 {
                        refused.fetch_add(1, Ordering::Relaxed);
                        accept.abort(write);
                        continue;
                    }
                    assert!(store.apply(&write, WriteKind::Whole));
                    accept.acknowledge(write);
                    done += 1;
                    // All records below the contiguous count must exist.
                    let number = random.below(accept.records());
                    let read = accept.begin_read(number);
                    let answer = store.read(number);
                    assert!(answer.is_some());
                    assert_eq!(accept.accepts(&read, seen(answer)), Ok(()));
                }
            });
        }
    });
    assert!(refused.into_inner() > 0);
    assert_eq!(accept.records(), 100 + THREADS * INSERTS);
}

#[test]
fn checked_replies_are_never_mixed_up() {
    let accept = AcceptSet::new(2);
    let text = |version: u32| format!("reply {version}").into_bytes();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let accept = &accept;
            scope.spawn(move || {
                let mut random = Random::new(12, thread);
                for _ in 0..200_000 {
                    let (number, version) = (random.below(2), random.below(50) as u32);
                    let hash = reply_hash(&text(version), 0);
                    let right = SeenVersions { version: Some(version), base: Some(version / 2) };
                    match accept.cached_reply(number, hash) {
                        Some(seen) => assert_eq!(seen, right),
                        None => accept.cache_reply(number, hash, right),
                    }
                }
            });
        }
    });
    accept.forget_replies();
    assert!((0..50).all(|version| accept.cached_reply(0, reply_hash(&text(version), 0)).is_none()));
}
