//! Judges after a crash whether the system kept what it had acknowledged. A pure function of the
//! acknowledgement log and the documents read back.
//!
//! A version may be present if no acknowledged write was sent after it had ended. This is the accept set
//! ([`crate::accept`]) at the moment of the crash, exact because the whole history is known. A write without
//! an acknowledgement may be present or not. The same holds for a write that was in flight during the crash
//! and was acknowledged after it.

use std::collections::HashMap;

use jsonathlon_dataset::records::SeenVersions;
use serde::{Deserialize, Serialize};

use super::LoggedWrite;

/// Number of examples that are described in words.
const EXAMPLES: usize = 5;

/// Result of reading one document back after the crash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObservedDocument {
    /// The system has no document with this key.
    Absent,
    /// The document is whole; holds the versions of its values.
    There(SeenVersions),
    /// The document is not whole or cannot be read; says why.
    Torn(String),
}

/// Writes and documents that the system kept, lost or damaged in a crash.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RecoveryAudit {
    /// Writes acknowledged before the crash, that is, up to [`CrashWindow::promised_ns`].
    pub acknowledged: u64,
    /// Writes that were in flight at the crash. They may be present or not.
    pub in_flight: u64,
    /// Writes that were sent after the crash and nevertheless acknowledged.
    pub after_cut: u64,
    /// Acknowledged writes that are no longer present.
    pub lost: u64,
    /// Loaded documents that are no longer present.
    pub lost_loaded: u64,
    /// Documents that are not whole or contain values that were never written.
    pub torn: u64,
    /// Lost writes that were acknowledged before the sending of a write that is present.
    pub out_of_order: u64,
    /// Milliseconds from the acknowledgement of the oldest lost write to the crash. `None` if no write was
    /// lost; 0 if it was acknowledged during the crash.
    pub oldest_loss_ms: Option<f64>,
    /// Number of documents that were read back.
    pub read: u64,
    /// Seconds from the first write to the crash.
    pub worked_s: f64,
    /// Descriptions of the first faults, at most 5.
    pub examples: Vec<String>,
}

/// Interval in which the crash took place, in nanoseconds of the log's clock. Before it nothing was stopped,
/// after it everything was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrashWindow {
    /// Time just before the crash was requested.
    pub before_ns: u64,
    /// Time just after the crash was completed.
    pub after_ns: u64,
    /// Last moment at which an acknowledgement counts. For a kill this is `after_ns`, because
    /// acknowledgements are valid until the last process is dead. For a power cut it is `before_ns`, because
    /// a file system that is being shut down may report a sync as done without having done it.
    pub promised_ns: u64,
}

/// Compares the documents read back with the logged writes. Records below `loaded` existed before the first
/// write.
#[must_use]
pub fn audit(
    writes: &[LoggedWrite],
    cut: CrashWindow,
    loaded: u64,
    observed: impl IntoIterator<Item = (u64, ObservedDocument)>,
) -> RecoveryAudit {
    let mut by_record: HashMap<u64, Vec<&LoggedWrite>> = HashMap::new();
    for write in writes {
        by_record.entry(write.number).or_default().push(write);
    }
    let first_ns = writes.first().map_or(cut.before_ns, |write| write.sent.at_ns);
    let mut judging = RecoveryAuditor {
        kept: RecoveryAudit {
            acknowledged: writes.iter().filter(|write| is_promised(write, cut)).count() as u64,
            after_cut: writes.iter().filter(|write| is_late(write, cut)).count() as u64,
            worked_s: cut.before_ns.saturating_sub(first_ns) as f64 / 1e9,
            ..RecoveryAudit::default()
        },
        cut,
        lost: Vec::new(),
        last_there: None,
    };
    judging.kept.in_flight = writes.len() as u64 - judging.kept.acknowledged - judging.kept.after_cut;
    for (number, seen) in observed {
        judging.kept.read += 1;
        judging.record(number, number < loaded, by_record.get(&number).map_or(&[], Vec::as_slice), &seen);
    }
    judging.finish()
}

/// Returns `true` if the write was acknowledged while acknowledgements counted.
fn is_promised(write: &LoggedWrite, cut: CrashWindow) -> bool {
    write.acknowledged.is_some_and(|moment| moment.at_ns <= cut.promised_ns)
}

/// Returns `true` if the write was sent after the crash was completed and was nevertheless acknowledged.
fn is_late(write: &LoggedWrite, cut: CrashWindow) -> bool {
    write.sent.at_ns > cut.after_ns && write.acknowledged.is_some()
}

struct RecoveryAuditor<'a> {
    kept: RecoveryAudit,
    cut: CrashWindow,
    /// Lost writes, each with a description of what is present instead.
    lost: Vec<(&'a LoggedWrite, String)>,
    /// Position in the log of the last write that is present.
    last_there: Option<u64>,
}

impl<'a> RecoveryAuditor<'a> {
    fn record(
        &mut self,
        number: u64,
        was_loaded: bool,
        writes: &[&'a LoggedWrite],
        observed: &ObservedDocument,
    ) {
        let seen = match observed {
            ObservedDocument::Torn(words) => return self.torn(number, words),
            ObservedDocument::Absent => {
                if was_loaded {
                    self.kept.lost_loaded += 1;
                    self.example(format!("record {number} was loaded and is not there"));
                }
                return self.lost(writes, None, "it is not there");
            }
            ObservedDocument::There(seen) => seen,
        };
        // Values that the mix does not change are as loaded, or as written with the whole document.
        let brought = |version: u32| version == 0 && was_loaded || find(writes, version, true).is_some();
        if let Some(base) = seen.base.filter(|base| !brought(*base)) {
            return self.torn(number, &format!("it bears version {base}, which brought no document"));
        }
        let Some(version) = seen.version.or(seen.base) else {
            return self.torn(number, "it bears no version");
        };
        let there = find(writes, version, false);
        if there.is_none() && !(version == 0 && was_loaded) {
            return self.torn(number, &format!("it bears version {version}, which was never sent"));
        }
        if let Some(there) = there {
            self.last_there = self.last_there.max(Some(there.sent.place));
        }
        // The load had ended before all of the writes.
        let ended = match there {
            None => Some(None),
            Some(there) => {
                there.acknowledged.filter(|_| is_promised(there, self.cut)).map(|at| Some(at.place))
            }
        };
        if let Some(ended) = ended {
            self.lost(writes, ended, &format!("version {version} is there"));
        }
    }

    /// Adds the acknowledged writes that were sent after the log position `behind` to the lost ones; all of
    /// them if it is `None`.
    fn lost(&mut self, writes: &[&'a LoggedWrite], behind: Option<u64>, instead: &str) {
        let is_behind = |write: &LoggedWrite| behind.is_none_or(|place| write.sent.place > place);
        for write in writes.iter().filter(|write| is_promised(write, self.cut) && is_behind(write)) {
            self.lost.push((write, instead.to_owned()));
        }
    }

    fn torn(&mut self, number: u64, words: &str) {
        self.kept.torn += 1;
        self.example(format!("record {number}: {words}"));
    }

    fn example(&mut self, words: String) {
        if self.kept.examples.len() < EXAMPLES {
            self.kept.examples.push(words);
        }
    }

    fn finish(mut self) -> RecoveryAudit {
        let before = |write: &LoggedWrite| {
            let at_ns = write.acknowledged.map_or(self.cut.before_ns, |moment| moment.at_ns);
            // The age of a write that was acknowledged during the crash is 0.
            self.cut.before_ns.saturating_sub(at_ns) as f64 / 1e6
        };
        self.lost.sort_by_key(|(write, _)| write.acknowledged.map(|moment| moment.at_ns));
        self.kept.lost = self.lost.len() as u64;
        self.kept.oldest_loss_ms = self.lost.first().map(|(write, _)| before(write));
        let is_before = |write: &LoggedWrite| {
            let ended = write.acknowledged.map(|moment| moment.place);
            ended.zip(self.last_there).is_some_and(|(ended, last)| ended < last)
        };
        self.kept.out_of_order = self.lost.iter().filter(|(write, _)| is_before(write)).count() as u64;
        let told: Vec<String> = self
            .lost
            .iter()
            .take(EXAMPLES)
            .map(|(write, instead)| {
                let when = match before(write) {
                    0.0 => "while the cut was being made".to_owned(),
                    ms => format!("{ms:.1} ms before the cut"),
                };
                let LoggedWrite { number, version, .. } = write;
                format!("record {number}: version {version} was acknowledged {when}, and {instead}")
            })
            .collect();
        told.into_iter().for_each(|words| self.example(words));
        self.kept
    }
}

fn find<'a>(writes: &[&'a LoggedWrite], version: u32, whole: bool) -> Option<&'a LoggedWrite> {
    writes.iter().copied().find(|write| write.version == version && (write.is_whole || !whole))
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
