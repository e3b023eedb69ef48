//! Whether what is there after a stop is what was promised before it: a pure function of the record and of what was
//! read.
//!
//! A version may be there if no acknowledged write was sent after it had ended: the accept set ([`crate::accept`]) at
//! the moment of the cut, exact because the whole history is known by then. A write without an acknowledgement may be
//! there or not, and so may one whose acknowledgement came after the cut while it was under way.

use std::collections::HashMap;

use jsonathlon_dataset::records::Seen;
use serde::{Deserialize, Serialize};

use super::Sent;

/// Examples that are told in words.
const EXAMPLES: usize = 5;

/// What was read of a document after the stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observed {
    /// Nothing.
    Absent,
    /// It is whole, its values of these versions.
    There(Seen),
    /// It is not whole, or cannot be read: in which words.
    Torn(String),
}

/// What was kept of what was promised.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Writes that were acknowledged before the cut.
    pub acknowledged: u64,
    /// Writes that were under way when it came: there or not, both is right.
    pub in_flight: u64,
    /// Writes that were sent after the cut and acknowledged all the same.
    pub after_cut: u64,
    /// Acknowledged writes that are gone.
    pub lost: u64,
    /// Documents that were there before clients began and are gone.
    pub lost_loaded: u64,
    /// Documents that are not whole, or bear values that nobody wrote.
    pub torn: u64,
    /// Lost writes that were acknowledged before others were sent that are there.
    pub out_of_order: u64,
    /// How long before the cut the oldest of the lost writes was acknowledged, milliseconds.
    pub oldest_loss_ms: Option<f64>,
    /// Documents that were read.
    pub read: u64,
    /// Seconds from the first write to the cut.
    pub worked_s: f64,
    /// The first of what is not as it must be, in words.
    pub examples: Vec<String>,
}

/// The moments between which the cut lies, nanoseconds of the record's clock: before it was asked for nothing was
/// cut, and after it was done everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Before it was asked for.
    pub before_ns: u64,
    /// After it was done.
    pub after_ns: u64,
    /// The last moment at which an acknowledgement is a promise. Of a kill it is the later one: until the last
    /// process is dead it means what it says. Of a power cut it is the earlier one: a file system that is being shut
    /// down may say of a sync that it was done, and has not done it.
    pub promised_ns: u64,
}

/// Judges what is there of `loaded` documents and of those that were sent.
#[must_use]
pub fn judge(
    writes: &[Sent],
    cut: Cut,
    loaded: u64,
    observed: impl IntoIterator<Item = (u64, Observed)>,
) -> Kept {
    let mut by_record: HashMap<u64, Vec<&Sent>> = HashMap::new();
    for write in writes {
        by_record.entry(write.number).or_default().push(write);
    }
    let first_ns = writes.first().map_or(cut.before_ns, |write| write.sent.at_ns);
    let mut judging = Judging {
        kept: Kept {
            acknowledged: writes.iter().filter(|write| is_promised(write, cut)).count() as u64,
            after_cut: writes.iter().filter(|write| is_late(write, cut)).count() as u64,
            worked_s: cut.before_ns.saturating_sub(first_ns) as f64 / 1e9,
            ..Kept::default()
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

/// Whether a write was acknowledged while that was a promise.
fn is_promised(write: &Sent, cut: Cut) -> bool {
    write.acknowledged.is_some_and(|moment| moment.at_ns <= cut.promised_ns)
}

/// Whether a write was sent after the cut was done and acknowledged all the same.
fn is_late(write: &Sent, cut: Cut) -> bool {
    write.sent.at_ns > cut.after_ns && write.acknowledged.is_some()
}

struct Judging<'a> {
    kept: Kept,
    cut: Cut,
    /// Lost writes, with what is there in their place.
    lost: Vec<(&'a Sent, String)>,
    /// The place of the last write that is there.
    last_there: Option<u64>,
}

impl<'a> Judging<'a> {
    fn record(&mut self, number: u64, was_loaded: bool, writes: &[&'a Sent], observed: &Observed) {
        let seen = match observed {
            Observed::Torn(words) => return self.torn(number, words),
            Observed::Absent => {
                if was_loaded {
                    self.kept.lost_loaded += 1;
                    self.example(format!("record {number} was loaded and is not there"));
                }
                return self.lost(writes, None, "it is not there");
            }
            Observed::There(seen) => seen,
        };
        // What no write of the mix touches is as it was loaded, or as the whole document came.
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
        // What was loaded had ended before all of them.
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

    /// The promised writes that were sent behind this place are gone; all of them, where it is none.
    fn lost(&mut self, writes: &[&'a Sent], behind: Option<u64>, instead: &str) {
        let is_behind = |write: &Sent| behind.is_none_or(|place| write.sent.place > place);
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

    fn finish(mut self) -> Kept {
        let before = |write: &Sent| {
            let at_ns = write.acknowledged.map_or(self.cut.before_ns, |moment| moment.at_ns);
            // What was acknowledged while the cut was being made is not older than nothing.
            self.cut.before_ns.saturating_sub(at_ns) as f64 / 1e6
        };
        self.lost.sort_by_key(|(write, _)| write.acknowledged.map(|moment| moment.at_ns));
        self.kept.lost = self.lost.len() as u64;
        self.kept.oldest_loss_ms = self.lost.first().map(|(write, _)| before(write));
        let is_before = |write: &Sent| {
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
                let Sent { number, version, .. } = write;
                format!("record {number}: version {version} was acknowledged {when}, and {instead}")
            })
            .collect();
        told.into_iter().for_each(|words| self.example(words));
        self.kept
    }
}

fn find<'a>(writes: &[&'a Sent], version: u32, whole: bool) -> Option<&'a Sent> {
    writes.iter().copied().find(|write| write.version == version && (write.is_whole || !whole))
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
