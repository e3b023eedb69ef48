//! Tests of the accept set against a store whose reads and writes take effect in random order.

use jsonathlon_dataset::records::SeenVersions;
use jsonathlon_loadgen::accept::{AcceptSet, ConsistencyViolation, WriteKind};

use crate::schedule::{Schedule, Weather, seen, stale};

const CALM: Weather =
    Weather { clients: 4, keys: 2, reads: 50, deletes: 0, wholes: 0, aborted: 0, unknown: 0 };

fn thousands(weather: Weather, seeds: u64, steps: usize) {
    let (mut reads, mut planted) = (0, 0);
    for seed in 0..seeds {
        let mut schedule = Schedule::new(weather, seed);
        schedule.run(steps);
        reads += schedule.counts.reads;
        planted += schedule.counts.planted;
    }
    assert!(reads > seeds * 10 && planted > reads, "{reads} reads, {planted} wrong answers planted");
}

#[test]
fn one_client_is_exact() {
    thousands(Weather { clients: 1, ..CALM }, 2_000, 200);
    thousands(Weather { clients: 1, keys: 1, aborted: 20, ..CALM }, 2_000, 200);
}

#[test]
fn updates_by_many_clients() {
    for clients in [2, 3, 8, 30] {
        thousands(Weather { clients, ..CALM }, 1_000, 300);
    }
}

#[test]
fn aborted_writes_and_writes_of_unknown_outcome() {
    thousands(Weather { aborted: 20, ..CALM }, 2_000, 300);
    thousands(Weather { unknown: 10, ..CALM }, 2_000, 300);
    thousands(Weather { clients: 12, keys: 3, aborted: 10, unknown: 5, ..CALM }, 2_000, 600);
}

#[test]
fn deletes_and_inserts() {
    let churn = Weather { deletes: 30, wholes: 50, keys: 4, ..CALM };
    thousands(churn, 2_000, 300);
    thousands(Weather { clients: 10, aborted: 10, unknown: 5, ..churn }, 3_000, 600);
    thousands(Weather { clients: 1, ..churn }, 1_000, 300);
}

#[test]
fn a_hot_key_with_more_writes_in_flight_than_a_word_counts() {
    thousands(Weather { clients: 300, keys: 1, reads: 20, ..CALM }, 40, 20_000);
    thousands(Weather { clients: 200, keys: 1, reads: 20, unknown: 1, aborted: 1, ..CALM }, 40, 20_000);
}

#[test]
fn a_stale_answer_is_told_from_one_that_never_was() {
    let accept = AcceptSet::new(1);
    let write = accept.begin_write(0, WriteKind::Part).unwrap();
    accept.acknowledge(write);
    let read = accept.begin_read(0);
    assert!(stale(accept.accepts(&read, seen(Some((0, 0))))));
    assert_eq!(accept.accepts(&read, seen(Some((1, 0)))), Ok(()));
    let never = accept.accepts(&read, seen(Some((2, 0))));
    assert_eq!(never, Err(ConsistencyViolation::NeverWritten { version: 2, issued: 1 }));
    assert!(!stale(never));
    assert_eq!(accept.accepts(&read, None), Err(ConsistencyViolation::Absent));
    // If stale answers are allowed, any version that was ever written is accepted.
    assert_eq!(accept.accepts(&accept.read_of_any_age(0), seen(Some((0, 0)))), Ok(()));
    assert!(accept.accepts(&accept.read_of_any_age(0), seen(Some((2, 0)))).is_err());
}

#[test]
fn values_that_no_write_touches_keep_their_version() {
    let accept = AcceptSet::new(1);
    let write = accept.begin_write(0, WriteKind::Part).unwrap();
    accept.acknowledge(write);
    let read = accept.begin_read(0);
    assert_eq!(
        accept.accepts(&read, seen(Some((1, 1)))),
        Err(ConsistencyViolation::NeverWritten { version: 1, issued: 0 })
    );
    // An answer without the written fields is verified by the remaining ones alone.
    assert_eq!(accept.accepts(&read, Some(SeenVersions { version: None, base: Some(0) })), Ok(()));
}

#[test]
fn refused_inserts_leave_no_gap() {
    let accept = AcceptSet::new(10);
    assert_eq!(accept.records(), 10);
    let (first, second) = (accept.begin_insert().unwrap(), accept.begin_insert().unwrap());
    assert_eq!((first.number(), second.number()), (10, 11));
    assert_eq!((first.version(), second.version()), (1, 1));
    assert_eq!(accept.accepts(&accept.begin_read(10), None), Ok(()));
    accept.acknowledge(second);
    assert_eq!(accept.records(), 10);
    accept.abort(first);
    assert_eq!(accept.records(), 10);
    let again = accept.begin_insert().unwrap();
    assert_eq!((again.number(), again.version()), (10, 2));
    let third = accept.begin_insert().unwrap();
    assert_eq!(third.number(), 12);
    accept.acknowledge(again);
    assert_eq!(accept.records(), 12);
    accept.mark_unknown(third);
    assert_eq!((accept.unknown_count(), accept.unknown_records()), (1, vec![12]));
    let fourth = accept.begin_insert().unwrap();
    accept.acknowledge(fourth);
    assert_eq!(accept.records(), 12);
    accept.settle(12, None);
    let again = accept.begin_insert().unwrap();
    assert_eq!(again.number(), 12);
    accept.acknowledge(again);
    assert_eq!((accept.records(), accept.unknown_count()), (14, 0));
    // A record whose insert was acknowledged must be present, and not at version 0.
    let read = accept.begin_read(11);
    assert!(accept.accepts(&read, None).is_err());
    assert!(accept.accepts(&read, seen(Some((0, 0)))).is_err());
    assert_eq!(accept.accepts(&read, seen(Some((1, 1)))), Ok(()));
}

#[test]
fn a_deleted_record_is_absent_until_it_is_inserted() {
    let accept = AcceptSet::new(1);
    let delete = accept.begin_write(0, WriteKind::Delete).unwrap();
    let during = accept.begin_read(0);
    assert_eq!(accept.accepts(&during, None), Ok(()));
    assert_eq!(accept.accepts(&during, seen(Some((0, 0)))), Ok(()));
    accept.acknowledge(delete);
    let after = accept.begin_read(0);
    assert_eq!(accept.accepts(&after, None), Ok(()));
    assert!(stale(accept.accepts(&after, seen(Some((0, 0))))));
    let insert = accept.begin_write(0, WriteKind::Whole).unwrap();
    accept.acknowledge(insert);
    let last = accept.begin_read(0);
    assert!(stale(accept.accepts(&last, None)));
    assert_eq!(accept.accepts(&last, seen(Some((2, 2)))), Ok(()));
    assert!(stale(accept.accepts(&last, Some(SeenVersions { version: Some(2), base: Some(0) }))));
    // After a refused delete the record still exists.
    let refused = accept.begin_write(0, WriteKind::Delete).unwrap();
    accept.abort(refused);
    assert!(stale(accept.accepts(&accept.begin_read(0), None)));
}

#[test]
fn lost_updates_are_found() {
    let accept = AcceptSet::new(1);
    assert!(!accept.is_lost_update(0, 0));
    assert!(!accept.is_lost_update(0, 1));
    assert!(accept.is_lost_update(0, 1));
}
