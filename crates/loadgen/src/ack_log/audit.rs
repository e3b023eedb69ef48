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
    pub acknowledged_after_crash: u64,
    /// Acknowledged writes that are no longer present.
    pub lost: u64,
    /// Loaded documents that are no longer present.
    pub lost_loaded_documents: u64,
    /// Documents that are not whole or contain values that were never written.
    pub torn: u64,
    /// Lost writes that were acknowledged before the sending of a write that is present.
    pub out_of_order: u64,
    /// Milliseconds from the acknowledgement of the oldest lost write to the crash. `None` if no write was
    /// lost; 0 if it was acknowledged during the crash.
    pub oldest_loss_ms: Option<f64>,
    /// Number of documents that were read back.
    pub records_read: u64,
    /// Seconds from the first write to the crash.
    pub work_s: f64,
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
    crash: CrashWindow,
    loaded: u64,
    observed: impl IntoIterator<Item = (u64, ObservedDocument)>,
) -> RecoveryAudit {
    let mut by_record: HashMap<u64, Vec<&LoggedWrite>> = HashMap::new();
    for write in writes {
        by_record.entry(write.number).or_default().push(write);
    }
    let start_ns = writes.first().map_or(crash.before_ns, |write| write.sent.at_ns);
    let mut auditor = RecoveryAuditor {
        audit: RecoveryAudit {
            acknowledged: writes.iter().filter(|write| is_promised(write, crash)).count() as u64,
            acknowledged_after_crash: writes.iter().filter(|write| is_late(write, crash)).count() as u64,
            work_s: crash.before_ns.saturating_sub(start_ns) as f64 / 1e9,
            ..RecoveryAudit::default()
        },
        crash,
        lost: Vec::new(),
        last_present: None,
    };
    auditor.audit.in_flight =
        writes.len() as u64 - auditor.audit.acknowledged - auditor.audit.acknowledged_after_crash;
    for (number, seen) in observed {
        auditor.audit.records_read += 1;
        let record_writes = by_record.get(&number).map_or(&[][..], Vec::as_slice);
        auditor.judge_record(number, number < loaded, record_writes, &seen);
    }
    auditor.finish()
}

/// Returns `true` if the write was acknowledged while acknowledgements counted.
fn is_promised(write: &LoggedWrite, crash: CrashWindow) -> bool {
    write.acknowledged.is_some_and(|position| position.at_ns <= crash.promised_ns)
}

/// Returns `true` if the write was sent after the crash was completed and was nevertheless acknowledged.
fn is_late(write: &LoggedWrite, crash: CrashWindow) -> bool {
    write.sent.at_ns > crash.after_ns && write.acknowledged.is_some()
}

struct RecoveryAuditor<'a> {
    audit: RecoveryAudit,
    crash: CrashWindow,
    /// Lost writes, each with a description of what is present instead.
    lost: Vec<(&'a LoggedWrite, String)>,
    /// Position in the log of the last write that is present.
    last_present: Option<u64>,
}

impl<'a> RecoveryAuditor<'a> {
    fn judge_record(
        &mut self,
        number: u64,
        was_loaded: bool,
        writes: &[&'a LoggedWrite],
        observed: &ObservedDocument,
    ) {
        let seen = match observed {
            ObservedDocument::Torn(message) => return self.add_torn(number, message),
            ObservedDocument::Absent => {
                if was_loaded {
                    self.audit.lost_loaded_documents += 1;
                    self.add_example(format!("record {number} was loaded and is not there"));
                }
                return self.add_lost(writes, None, "it is not there");
            }
            ObservedDocument::There(seen) => seen,
        };
        // Values that the mix does not change are as loaded, or as written with the whole document.
        let is_whole_write =
            |version: u32| version == 0 && was_loaded || find(writes, version, true).is_some();
        if let Some(base) = seen.base.filter(|base| !is_whole_write(*base)) {
            return self.add_torn(number, &format!("it bears version {base}, which brought no document"));
        }
        let Some(version) = seen.version.or(seen.base) else {
            return self.add_torn(number, "it bears no version");
        };
        let write = find(writes, version, false);
        if write.is_none() && !(version == 0 && was_loaded) {
            return self.add_torn(number, &format!("it bears version {version}, which was never sent"));
        }
        if let Some(write) = write {
            self.last_present = self.last_present.max(Some(write.sent.entry_index));
        }
        // The load had ended before all of the writes.
        let end_position = match write {
            None => Some(None),
            Some(write) => write
                .acknowledged
                .filter(|_| is_promised(write, self.crash))
                .map(|position| Some(position.entry_index)),
        };
        if let Some(end_position) = end_position {
            self.add_lost(writes, end_position, &format!("version {version} is there"));
        }
    }

    /// Adds the acknowledged writes that were sent after the log position `after_position` to the lost ones;
    /// all of them if it is `None`.
    fn add_lost(&mut self, writes: &[&'a LoggedWrite], after_position: Option<u64>, present: &str) {
        let is_later =
            |write: &LoggedWrite| after_position.is_none_or(|position| write.sent.entry_index > position);
        for write in writes.iter().filter(|write| is_promised(write, self.crash) && is_later(write)) {
            self.lost.push((write, present.to_owned()));
        }
    }

    fn add_torn(&mut self, number: u64, message: &str) {
        self.audit.torn += 1;
        self.add_example(format!("record {number}: {message}"));
    }

    fn add_example(&mut self, message: String) {
        if self.audit.examples.len() < EXAMPLES {
            self.audit.examples.push(message);
        }
    }

    fn finish(mut self) -> RecoveryAudit {
        let age_ms = |write: &LoggedWrite| {
            let at_ns = write.acknowledged.map_or(self.crash.before_ns, |position| position.at_ns);
            // The age of a write that was acknowledged during the crash is 0.
            self.crash.before_ns.saturating_sub(at_ns) as f64 / 1e6
        };
        self.lost.sort_by_key(|(write, _)| write.acknowledged.map(|position| position.at_ns));
        self.audit.lost = self.lost.len() as u64;
        self.audit.oldest_loss_ms = self.lost.first().map(|(write, _)| age_ms(write));
        let is_out_of_order = |write: &LoggedWrite| {
            let end_position = write.acknowledged.map(|position| position.entry_index);
            end_position.zip(self.last_present).is_some_and(|(end, last)| end < last)
        };
        self.audit.out_of_order = self.lost.iter().filter(|(write, _)| is_out_of_order(write)).count() as u64;
        let examples: Vec<String> = self
            .lost
            .iter()
            .take(EXAMPLES)
            .map(|(write, present)| {
                let time = match age_ms(write) {
                    0.0 => "during the crash".to_owned(),
                    ms => format!("{ms:.1} ms before the crash"),
                };
                let LoggedWrite { number, version, .. } = write;
                format!("record {number}: version {version} was acknowledged {time}, and {present}")
            })
            .collect();
        examples.into_iter().for_each(|message| self.add_example(message));
        self.audit
    }
}

fn find<'a>(writes: &[&'a LoggedWrite], version: u32, only_whole: bool) -> Option<&'a LoggedWrite> {
    writes.iter().copied().find(|write| write.version == version && (write.is_whole || !only_whole))
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
