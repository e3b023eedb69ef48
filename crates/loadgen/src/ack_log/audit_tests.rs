//! Planted faults, each of which must be found, and histories without faults.

use proptest::prelude::*;

use super::super::LogPosition;
use super::*;
use crate::accept::{AcceptSet, WriteKind};

const MS: u64 = 1_000_000;
const CUT: CrashWindow = CrashWindow { before_ns: 1_000 * MS, after_ns: 1_005 * MS, promised_ns: 1_005 * MS };

/// A log with one entry per millisecond.
#[derive(Default)]
struct History {
    writes: Vec<LoggedWrite>,
    entry_index: u64,
}

impl History {
    fn next_position(&mut self) -> LogPosition {
        self.entry_index += 1;
        LogPosition { entry_index: self.entry_index, at_ns: self.entry_index * MS }
    }

    fn skip_to(&mut self, ms: u64) -> &mut Self {
        self.entry_index = ms;
        self
    }

    fn send(&mut self, number: u64, version: u32, is_whole: bool) -> usize {
        let sent = self.next_position();
        self.writes.push(LoggedWrite { number, version, is_whole, sent, acknowledged: None });
        self.writes.len() - 1
    }

    fn acknowledge(&mut self, write: usize) {
        self.writes[write].acknowledged = Some(self.next_position());
    }

    /// Adds a write that is sent and acknowledged at once.
    fn complete(&mut self, number: u64, version: u32, is_whole: bool) {
        let write = self.send(number, version, is_whole);
        self.acknowledge(write);
    }

    fn judge(&self, observed: &[(u64, ObservedDocument)]) -> RecoveryAudit {
        audit(&self.writes, CUT, 2, observed.iter().cloned())
    }
}

fn present(version: u32, base: u32) -> ObservedDocument {
    ObservedDocument::There(SeenVersions { version: Some(version), base: Some(base) })
}

/// Two loaded records, one of which is updated twice, and an insert. All writes are acknowledged.
fn history() -> History {
    let mut history = History::default();
    history.complete(0, 1, false);
    history.complete(2, 1, true);
    history.complete(0, 2, false);
    history
}

fn counts(audit: &RecoveryAudit) -> (u64, u64, u64, u64) {
    (audit.lost, audit.lost_loaded_documents, audit.torn, audit.out_of_order)
}

#[test]
fn what_is_there_as_promised_is_kept() {
    let audit = history().judge(&[(0, present(2, 0)), (1, present(0, 0)), (2, present(1, 1))]);
    assert_eq!((audit.acknowledged, audit.in_flight, audit.records_read), (3, 0, 3));
    assert_eq!(
        (counts(&audit), audit.acknowledged_after_crash, audit.oldest_loss_ms),
        ((0, 0, 0, 0), 0, None)
    );
    assert!(audit.examples.is_empty());
}

#[test]
fn a_planted_loss_is_found_with_its_age() {
    let audit = history().judge(&[(0, present(1, 0)), (1, present(0, 0)), (2, present(1, 1))]);
    // Acknowledged at 6 ms as the last write of all; no later write is present.
    assert_eq!((counts(&audit), audit.oldest_loss_ms), ((1, 0, 0, 0), Some(994.0)));
    assert_eq!(
        audit.examples,
        ["record 0: version 2 was acknowledged 994.0 ms before the crash, and version 1 is there"]
    );
}

#[test]
fn a_lost_insert_before_a_later_write_is_out_of_order() {
    let audit = history().judge(&[(0, present(2, 0)), (1, present(0, 0)), (2, ObservedDocument::Absent)]);
    assert_eq!(counts(&audit), (1, 0, 0, 1));
}

#[test]
fn all_versions_behind_the_one_that_is_there_are_lost() {
    let audit = history().judge(&[(0, present(0, 0)), (1, present(0, 0)), (2, ObservedDocument::Absent)]);
    assert_eq!((counts(&audit), audit.oldest_loss_ms), ((3, 0, 0, 0), Some(998.0)));
    let audit =
        history().judge(&[(0, ObservedDocument::Absent), (1, ObservedDocument::Absent), (2, present(1, 1))]);
    // The loaded records are lost, and two writes with one of them. One of these was acknowledged before the
    // insert was sent.
    assert_eq!(counts(&audit), (2, 2, 0, 1));
}

#[test]
fn torn_documents_and_values_that_nobody_sent_are_found() {
    let torn = ObservedDocument::Torn("not whole".to_owned());
    for document in
        [torn, present(3, 0), present(2, 2), present(2, 7), ObservedDocument::There(SeenVersions::default())]
    {
        let audit = history().judge(&[(0, document.clone()), (1, present(0, 0)), (2, present(1, 1))]);
        assert_eq!(counts(&audit), (0, 0, 1, 0), "{document:?}");
        assert_eq!(audit.examples.len(), 1);
    }
    // An inserted record has no loaded version.
    assert_eq!(counts(&history().judge(&[(2, present(0, 0))])), (0, 0, 1, 0));
}

#[test]
fn what_was_under_way_may_be_there_or_not() {
    let mut history = history();
    history.skip_to(900);
    let update = history.send(1, 1, false);
    let insert = history.send(3, 1, true);
    for (updated, inserted) in [(present(0, 0), ObservedDocument::Absent), (present(1, 0), present(1, 1))] {
        let result = history.judge(&[(1, updated), (3, inserted)]);
        assert_eq!((counts(&result), result.acknowledged, result.in_flight), ((0, 0, 0, 0), 3, 2));
    }
    // Acknowledged just after the crash but sent before it: neither lost nor late.
    history.skip_to(1_005);
    history.acknowledge(update);
    history.acknowledge(insert);
    let result = history.judge(&[(1, present(0, 0)), (3, ObservedDocument::Absent)]);
    assert_eq!((counts(&result), result.in_flight, result.acknowledged_after_crash), ((0, 0, 0, 0), 2, 0));
    // Acknowledged during the crash: it counts, with an age of 0.
    history.skip_to(1_001);
    history.acknowledge(update);
    let result = history.judge(&[(1, present(0, 0))]);
    assert_eq!((counts(&result), result.oldest_loss_ms), ((1, 0, 0, 0), Some(0.0)));
    assert_eq!(
        result.examples,
        ["record 1: version 1 was acknowledged during the crash, and version 0 is there"]
    );
    // During a power cut an acknowledgement does not count.
    let power_cut = CrashWindow { promised_ns: CUT.before_ns, ..CUT };
    let result = audit(&history.writes, power_cut, 2, [(1, present(0, 0))]);
    assert_eq!((counts(&result), result.acknowledged, result.in_flight), ((0, 0, 0, 0), 3, 2));
}

#[test]
fn what_is_sent_after_the_cut_and_acknowledged_is_found() {
    let mut history = history();
    history.skip_to(1_005).complete(1, 1, false);
    history.send(3, 1, true);
    let audit = history.judge(&[
        (0, present(2, 0)),
        (1, present(0, 0)),
        (2, present(1, 1)),
        (3, ObservedDocument::Absent),
    ]);
    assert_eq!((audit.acknowledged_after_crash, audit.in_flight, audit.acknowledged), (1, 1, 3));
    assert_eq!(counts(&audit), (0, 0, 0, 0));
}

#[test]
fn writes_that_overlap_may_be_applied_in_either_order() {
    let mut history = History::default();
    let first = history.send(0, 1, false);
    let second = history.send(0, 2, false);
    history.acknowledge(second);
    history.acknowledge(first);
    for version in [1, 2] {
        assert_eq!(counts(&history.judge(&[(0, present(version, 0))])), (0, 0, 0, 0));
    }
    assert_eq!(counts(&history.judge(&[(0, present(0, 0))])), (2, 0, 0, 0));
}

proptest! {
    /// Everything that the accept set rejects is found here, because the accept set is the wider of the two.
    #[test]
    fn nothing_is_kept_that_the_accept_set_refuses(
        steps in prop::collection::vec((any::<bool>(), any::<u16>()), 1..60), version in 0_u32..40,
    ) {
        let accept = AcceptSet::new(1);
        let (mut history, mut open) = (History::default(), Vec::new());
        for (sends, which) in steps {
            if sends || open.is_empty() {
                let write = accept.begin_write(0, WriteKind::Part).unwrap();
                open.push((history.send(0, write.version(), false), write));
            } else {
                let (index, write) = open.swap_remove(which as usize % open.len());
                history.acknowledge(index);
                accept.acknowledge(write);
            }
        }
        let seen = SeenVersions { version: Some(version), base: Some(0) };
        let refused = accept.accepts(&accept.begin_read(0), Some(seen)).is_err();
        let kept = history.judge(&[(0, ObservedDocument::There(seen))]);
        prop_assert!(!refused || kept.lost + kept.torn > 0);
    }
}
