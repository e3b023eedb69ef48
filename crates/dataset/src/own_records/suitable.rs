//! The records that meet a need, and a choice among them.

use super::facts::RecordFacts;
use crate::value_digest::combine;

/// Share of suitable records from which on they are found by trying.
const TRIED_FROM: u64 = 8;
/// Number of tries before the following records are tried in turn.
const TRIES: u64 = 256;

/// The records that operations can be about.
#[derive(Debug, Default)]
pub(super) struct Suitability {
    /// Records with a value that writes could change according to the data.
    pub(super) updatable_in_data: SuitableRecords,
    /// Records that were there after the load.
    pub(super) present: SuitableRecords,
    /// Records with a value that writes can change.
    pub(super) updatable: SuitableRecords,
}

impl Suitability {
    pub(super) fn collect(facts: &[RecordFacts]) -> Self {
        Self {
            updatable_in_data: SuitableRecords::collect(facts, RecordFacts::is_fit_in_data),
            present: SuitableRecords::collect(facts, RecordFacts::is_present),
            updatable: SuitableRecords::collect(facts, |facts| facts.is_present() && facts.is_fit()),
        }
    }
}

/// Records that meet a need. They are listed if they are few, and otherwise found by trying.
#[derive(Debug, Default)]
pub(super) struct SuitableRecords {
    count: u64,
    list: Option<Box<[u64]>>,
}

impl SuitableRecords {
    fn collect(facts: &[RecordFacts], is_suitable: impl Fn(&RecordFacts) -> bool) -> Self {
        let numbers =
            || (0_u64..).zip(facts).filter(|(_, facts)| is_suitable(facts)).map(|(number, _)| number);
        let count = numbers().count() as u64;
        let is_listed = count < facts.len() as u64 / TRIED_FROM;
        Self { count, list: is_listed.then(|| numbers().collect()) }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns a suitable record below `documents` by a hash: always the same one. 0 if there is none.
    pub(super) fn pick(&self, hash: u64, documents: u64, is_suitable: impl Fn(u64) -> bool) -> u64 {
        if let Some(list) = &self.list {
            let index = hash.checked_rem(list.len() as u64).unwrap_or_default();
            return usize::try_from(index)
                .ok()
                .and_then(|index| list.get(index))
                .copied()
                .unwrap_or_default();
        }
        let drawn = |attempt| combine(hash, attempt).checked_rem(documents).unwrap_or_default();
        let tried = (0..TRIES).map(drawn).find(|number| is_suitable(*number));
        tried.or_else(|| (0..documents).find(|number| is_suitable(*number))).unwrap_or_default()
    }
}
