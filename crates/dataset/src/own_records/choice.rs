//! Chooses the records that operations are about: those that the data offers, which are the same for every
//! system, and in place of those that a system does not hold always the same others.

use super::facts::RecordFacts;
use super::set::OwnRecordSet;
use super::suitable::SuitableRecords;
use crate::value_digest::combine;

/// What an operation needs of the record that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The record was there after the load.
    Present,
    /// It has a value at the update path that can bear a version.
    Updatable,
}

impl Need {
    /// Whether a record meets the need in the system.
    fn is_met(self, facts: &RecordFacts) -> bool {
        facts.is_present() && (self == Self::Present || facts.is_fit())
    }

    /// Whether a record would meet the need if the load had neither rejected nor changed it.
    fn is_met_in_data(self, facts: &RecordFacts) -> bool {
        self == Self::Present || facts.is_fit_in_data()
    }
}

impl OwnRecordSet {
    fn suitable(&self, need: Need) -> &SuitableRecords {
        match need {
            Need::Present => &self.suitability.present,
            Need::Updatable => &self.suitability.updatable,
        }
    }

    /// Number of loaded records that meet a need.
    #[must_use]
    pub fn count(&self, need: Need) -> u64 {
        self.suitable(need).count()
    }

    /// Returns the record itself if it meets the need, otherwise always the same other loaded record that
    /// does. Systems differ in this only about records that one of them does not hold as the data has them.
    /// [`Self::count`] must not be 0.
    #[inline]
    #[must_use]
    pub fn choose(&self, number: u64, need: Need) -> u64 {
        // Documents of new records are those of records that were there, and can be updated if any can.
        if number >= self.records().documents {
            return number;
        }
        let is_offered = self.facts(number).is_some_and(|facts| need.is_met_in_data(facts));
        let wanted =
            if is_offered { number } else { self.offered(combine(number, self.records().seed), need) };
        self.held(wanted, need)
    }

    /// Returns the record of the data whose document a record has: itself if it was loaded.
    #[inline]
    #[must_use]
    pub fn source(&self, number: u64) -> u64 {
        if number < self.records().documents {
            return number;
        }
        let need = if self.records().update.is_some() { Need::Updatable } else { Need::Present };
        self.held(self.offered(combine(self.records().seed, number), need), need)
    }

    /// Returns a record that meets the need according to the data, by a hash.
    fn offered(&self, hash: u64, need: Need) -> u64 {
        let documents = self.records().documents;
        match need {
            Need::Present => hash.checked_rem(documents).unwrap_or_default(),
            Need::Updatable => self.suitability.updatable_in_data.pick(hash, documents, |number| {
                self.facts(number).is_some_and(|facts| need.is_met_in_data(facts))
            }),
        }
    }

    /// Returns the record itself if the system holds it as needed, otherwise always the same other one.
    fn held(&self, number: u64, need: Need) -> u64 {
        let is_held = |number| self.facts(number).is_some_and(|facts| need.is_met(facts));
        if is_held(number) {
            return number;
        }
        self.suitable(need).pick(combine(number, self.records().seed), self.records().documents, is_held)
    }
}
