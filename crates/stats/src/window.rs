//! Rates of questions in a window of time whose edges cut through some of them.

/// A measurement window, in nanoseconds of the clock that questions are timed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Beginning of the window.
    pub from_ns: u64,
    /// End of the window.
    pub to_ns: u64,
}

impl Window {
    /// Length of the window in seconds; 0 if it ends before it begins.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.to_ns.saturating_sub(self.from_ns) as f64 / 1e9
    }

    /// Returns whether a moment is inside. The beginning is, the end is not.
    #[must_use]
    pub fn contains(self, ns: u64) -> bool {
        (self.from_ns..self.to_ns).contains(&ns)
    }

    /// Share of a question's time that is inside the window: overlap ÷ duration, from 0 to 1.
    ///
    /// Questions count by this share. To count only whole ones would leave out long ones at the edges more
    /// often than short ones.
    #[must_use]
    pub fn share(self, start_ns: u64, end_ns: u64) -> f64 {
        let overlap = end_ns.min(self.to_ns).saturating_sub(start_ns.max(self.from_ns));
        match end_ns.saturating_sub(start_ns) {
            0 => f64::from(u8::from(self.contains(start_ns))),
            duration => overlap as f64 / duration as f64,
        }
    }

    /// Returns whether at least half of a question's time is inside the window, so that its time counts.
    ///
    /// Streams begin their next question at once, so one begins in the last moments of every window and has most of
    /// its time behind the end, where the load has gone: its beginning alone says nothing about the load beside it.
    #[must_use]
    pub fn holds_half(self, start_ns: u64, end_ns: u64) -> bool {
        self.share(start_ns, end_ns) >= 0.5
    }

    /// Questions per hour: the sum of share × weight over all questions, ÷ the length of the window. A
    /// question is (start, end, weight). A weight of 1 gives what was measured, [`Growth::factor`] takes out
    /// that tables have grown. 0 for an empty window.
    ///
    /// [`Growth::factor`]: crate::growth::Growth::factor
    #[must_use]
    pub fn per_hour(self, questions: impl IntoIterator<Item = (u64, u64, f64)>) -> f64 {
        let seconds = self.seconds();
        if seconds == 0.0 {
            return 0.0;
        }
        let weighted = |(start, end, weight): (u64, u64, f64)| self.share(start, end) * weight;
        questions.into_iter().map(weighted).sum::<f64>() / seconds * 3_600.0
    }
}

/// Returns whether a stream has finished a whole set of questions that began at `from_ns` or later. A question
/// of the stream is (number of its set, start); `per_set` is how many make a set.
///
/// A phase in which a stream has not is too short: it says nothing of the questions that were not asked.
#[must_use]
pub fn has_whole_set(questions: impl IntoIterator<Item = (u32, u64)>, per_set: usize, from_ns: u64) -> bool {
    let mut current = None;
    let mut finished = 0;
    for (set, start_ns) in questions {
        if current != Some(set) {
            (current, finished) = (Some(set), 0);
        }
        finished += usize::from(start_ns >= from_ns);
        if finished == per_set {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WINDOW: Window = Window { from_ns: 1_000, to_ns: 2_000 };

    #[test]
    fn questions_at_the_edges_count_by_their_share() {
        let shares = [(1_000, 2_000), (500, 1_500), (1_900, 2_100), (0, 4_000), (0, 1_000), (2_000, 2_001)];
        let shares = shares.map(|(start, end)| WINDOW.share(start, end));
        assert_eq!(shares, [1.0, 0.5, 0.5, 0.25, 0.0, 0.0]);
        assert_eq!([999, 1_000, 2_000].map(|ns| WINDOW.share(ns, ns)), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn half_of_a_question_has_to_be_inside_for_its_time_to_count() {
        let questions =
            [(500, 1_500), (499, 1_500), (1_900, 2_100), (1_900, 2_101), (500, 2_500), (0, 4_000)];
        let halves = questions.map(|(start, end)| WINDOW.holds_half(start, end));
        assert_eq!(halves, [true, false, true, false, true, false]);
    }

    #[test]
    fn rates_are_weighted_sums_of_shares() {
        let hour = Window { from_ns: 0, to_ns: 3_600_000_000_000 };
        let questions = [(0, 10, 1.0), (20, 30, 1.2), (3_599_999_999_995, 3_600_000_000_005, 2.0)];
        assert!((hour.per_hour(questions) - 3.2).abs() < 1e-9);
        assert_eq!(Window { from_ns: 5, to_ns: 5 }.per_hour(questions), 0.0);
    }

    #[test]
    fn a_set_counts_if_all_of_it_is_in_the_phase() {
        let set = |number: u32, starts: [u64; 3]| starts.map(|start| (number, start));
        let asked = [set(0, [80, 90, 110]), set(1, [120, 130, 140])].concat();
        assert!(has_whole_set(asked.clone(), 3, 100));
        assert!(has_whole_set(asked.clone(), 3, 120));
        assert!(!has_whole_set(asked.clone(), 3, 121));
        assert!(!has_whole_set(asked[..5].to_vec(), 3, 100), "the second set has not ended");
        assert!(!has_whole_set([], 3, 0));
    }

    proptest! {
        /// One stream that is never idle asks at its own rate, wherever the edges are.
        #[test]
        fn edges_bias_no_rate(duration in 1_u64..5_000, from_ns in 0_u64..5_000, length in 1_u64..9_000) {
            let window = Window { from_ns, to_ns: from_ns + length };
            let questions = (0..20_000 / duration + 2).map(|index| (index * duration, (index + 1) * duration, 1.0));
            let expected = 3_600e9 / duration as f64;
            prop_assert!((window.per_hour(questions) / expected - 1.0).abs() < 1e-9);
        }
    }
}
