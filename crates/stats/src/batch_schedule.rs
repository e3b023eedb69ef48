//! Due times of the batches of several writers, and how much of them was kept.

/// Highest accepted rate, batches per second of all writers. At higher rates several would share one
/// nanosecond, as in [`arrival`](crate::arrival).
const FASTEST_PER_S: f64 = 1e8;

/// Share of due documents or operations below which a system has not kept the rate. Its questions are then not
/// ranked with those of systems that have.
pub const KEPT_LIMIT: f64 = 0.95;

/// Open loop of several writers: batch k of writer w of W is due at t₀ + (k · W + w) · batch ÷ rate.
///
/// The rate is that of all writers together. A late writer skips nothing: its next batch keeps its due time,
/// from which response times count. Unlike an arrival that any client may take, a batch belongs to a writer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchSchedule {
    writers: u64,
    /// Number of documents per batch.
    batch: u64,
    /// Time between two batches of all writers, nanoseconds.
    distance_ns: f64,
}

impl BatchSchedule {
    /// Plans batches of `batch` documents for `rate` documents per second of all `writers`.
    ///
    /// # Errors
    /// If there are no writers, batches are empty, or the rate is not a number, not above 0, or of more than
    /// 1e8 batches per second.
    pub fn new(writers: u64, batch: u64, rate: f64) -> Result<Self, String> {
        if writers == 0 || batch == 0 {
            return Err(format!(
                "{writers} writers with batches of {batch} documents write nothing: use at least one of each"
            ));
        }
        let per_s = rate / batch as f64;
        if !(per_s > 0.0 && per_s <= FASTEST_PER_S) {
            return Err(format!(
                "{rate} documents per second in batches of {batch} cannot be planned: use a rate above 0, up \
                 to {FASTEST_PER_S} batches per second"
            ));
        }
        Ok(Self { writers, batch, distance_ns: 1e9 / per_s })
    }

    /// Due time of a writer's batch, both from 0, in nanoseconds after t₀.
    #[must_use]
    pub fn due_ns(&self, writer: u64, batch: u64) -> u64 {
        let turn = batch.saturating_mul(self.writers).saturating_add(writer);
        (turn as f64 * self.distance_ns).round() as u64
    }

    /// Time between two batches of all writers, in nanoseconds.
    #[must_use]
    pub fn turn_ns(&self) -> u64 {
        self.distance_ns.round() as u64
    }

    /// Time between two batches of one writer, in nanoseconds: within it, a batch has to be acknowledged if its
    /// writer is to keep the rate.
    #[must_use]
    pub fn period_ns(&self) -> u64 {
        (self.writers as f64 * self.distance_ns).round() as u64
    }

    /// Number of batches that a writer with so many documents has, the last of which may be shorter.
    #[must_use]
    pub fn batches_of(&self, documents: u64) -> u64 {
        documents.div_ceil(self.batch)
    }

    /// Number of documents in a batch of a writer that has `documents`; 0 behind its last batch.
    #[must_use]
    pub fn batch_documents(&self, documents: u64, batch: u64) -> u64 {
        documents.saturating_sub(batch.saturating_mul(self.batch)).min(self.batch)
    }

    /// Number of documents that are due strictly before `ns` nanoseconds after t₀. `documents_of` holds for
    /// each writer how many it has at all; its last batch may be shorter than the others.
    #[must_use]
    pub fn due_documents(&self, documents_of: &[u64], ns: u64) -> u64 {
        let due = |(writer, documents): (u64, &u64)| {
            self.batches_before(writer, ns).saturating_mul(self.batch).min(*documents)
        };
        (0..).zip(documents_of).map(due).sum()
    }

    /// Number of a writer's batches that are due strictly before `ns` nanoseconds after t₀.
    fn batches_before(&self, writer: u64, ns: u64) -> u64 {
        let turns = ns as f64 / self.distance_ns;
        let mut count = ((turns - writer as f64) / self.writers as f64).ceil().max(0.0) as u64;
        // Corrects the estimate where rounding has put a batch on the wrong side of `ns`.
        while count > 0 && self.due_ns(writer, count - 1) >= ns {
            count -= 1;
        }
        while self.due_ns(writer, count) < ns {
            count += 1;
        }
        count
    }

    /// Time in seconds after which all documents are used up, if the rate is kept. `documents_of` holds for each
    /// writer how many it has: a batch that is shorter than the others takes as long as they do.
    #[must_use]
    pub fn seconds_for(&self, documents_of: &[u64]) -> f64 {
        let end = |(writer, documents): (u64, &u64)| {
            let last = self.batches_of(*documents).checked_sub(1)?;
            Some(self.due_ns(writer, last) as f64 + self.distance_ns)
        };
        (0..).zip(documents_of).filter_map(end).fold(0.0, f64::max) / 1e9
    }
}

/// Share of the due documents that were acknowledged in time. `None` if nothing was due.
#[must_use]
pub fn kept_share(acknowledged: f64, due: u64) -> Option<f64> {
    (due > 0).then(|| acknowledged / due as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn writers_take_turns() {
        let schedule = BatchSchedule::new(2, 1_000, 2_000.0).unwrap();
        let due =
            [(0, 0), (1, 0), (0, 1), (1, 1), (0, 9)].map(|(writer, batch)| schedule.due_ns(writer, batch));
        assert_eq!(due, [0, SECOND / 2, SECOND, 3 * SECOND / 2, 9 * SECOND]);
        assert_eq!(
            schedule.seconds_for(&[10_000, 10_000]),
            10.0,
            "the default rate uses up a pool of 20,000 in 10 s"
        );
    }

    #[test]
    fn short_batches_take_as_long_as_full_ones() {
        // 5,000 documents a writer in batches of 10,000: half of the rate.
        let schedule = BatchSchedule::new(4, 10_000, 2_000.0).unwrap();
        assert_eq!(schedule.seconds_for(&[5_000; 4]), 20.0);
        assert_eq!((schedule.seconds_for(&[0, 0]), schedule.period_ns()), (0.0, 20 * SECOND));
        assert_eq!(schedule.turn_ns(), 5 * SECOND);
        assert_eq!([0, 1, 2].map(|batch| schedule.batch_documents(12_000, batch)), [10_000, 2_000, 0]);
        assert_eq!([0, 10_000, 10_001].map(|documents| schedule.batches_of(documents)), [0, 1, 2]);
    }

    #[test]
    fn what_is_due_ends_with_the_documents() {
        let schedule = BatchSchedule::new(2, 1_000, 2_000.0).unwrap();
        let due = |documents: [u64; 2], ns| schedule.due_documents(&documents, ns);
        assert_eq!([0, 1, SECOND, SECOND + 1].map(|ns| due([9_000, 9_000], ns)), [0, 1_000, 2_000, 3_000]);
        assert_eq!(due([1_500, 700], SECOND + 1), 1_500 + 700);
        assert_eq!(due([0, 9_000], 60 * SECOND), 9_000);
        assert_eq!(schedule.due_documents(&[], SECOND), 0);
    }

    #[test]
    fn what_was_kept_is_a_share_of_what_was_due() {
        assert_eq!((kept_share(1_187.0, 2_000), kept_share(0.0, 0)), (Some(0.5935), None));
    }

    #[test]
    fn rates_without_a_schedule_are_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e12] {
            assert!(BatchSchedule::new(2, 1_000, rate).is_err(), "{rate}");
        }
        assert!(BatchSchedule::new(0, 1_000, 1.0).is_err() && BatchSchedule::new(2, 0, 1.0).is_err());
    }

    proptest! {
        #[test]
        fn due_documents_are_counted_as_by_hand(
            writers in 1_u64..6,
            batch in 1_u64..50,
            rate in 0.5_f64..1e5,
            documents in proptest::collection::vec(0_u64..400, 1..6),
            ns in 0_u64..3 * SECOND,
        ) {
            let schedule = BatchSchedule::new(writers, batch, rate).unwrap();
            let documents = &documents[..documents.len().min(writers as usize)];
            let by_hand: u64 = (0..).zip(documents).map(|(writer, &documents)| {
                let batches = (0..documents.div_ceil(batch)).filter(|&index| schedule.due_ns(writer, index) < ns);
                batches.map(|index| batch.min(documents - index * batch)).sum::<u64>()
            }).sum();
            prop_assert_eq!(schedule.due_documents(documents, ns), by_hand);
        }
    }
}
