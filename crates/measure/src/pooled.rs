//! Medians of resampled rounds.

/// The samples of several rounds in their order, sorted once: the median of a resample is found in one pass over them.
/// Thousands of resamples are taken of a cell, and gathering the samples of each would be felt.
pub(crate) struct Pooled {
    /// Each sample, and its round.
    sorted: Vec<(f64, usize)>,
    /// How many samples each round has.
    lengths: Vec<usize>,
    /// How often each round was drawn.
    times: Vec<usize>,
}

impl Pooled {
    pub(crate) fn of(rounds: &[&[f64]]) -> Self {
        let samples =
            rounds.iter().enumerate().flat_map(|(round, samples)| samples.iter().map(move |of| (*of, round)));
        let mut sorted: Vec<(f64, usize)> = samples.collect();
        sorted.sort_unstable_by(|(one, _), (other, _)| one.total_cmp(other));
        Self {
            sorted,
            lengths: rounds.iter().map(|samples| samples.len()).collect(),
            times: vec![0; rounds.len()],
        }
    }

    /// The median of the samples of the rounds `drawn`, each as often as it was drawn: the middle one, or the mean of the
    /// two middle ones. `None` of no samples.
    pub(crate) fn median(&mut self, drawn: &[usize]) -> Option<f64> {
        self.times.fill(0);
        let mut count = 0;
        for round in drawn {
            *self.times.get_mut(*round)? += 1;
            count += self.lengths.get(*round)?;
        }
        let (middle, is_even) = (count / 2, count.is_multiple_of(2));
        let (mut passed, mut lower) = (0, None);
        for (sample, round) in &self.sorted {
            passed += self.times.get(*round)?;
            // The last one of the lower half is needed only where there is none in the middle.
            if is_even && lower.is_none() && passed >= middle {
                lower = Some(*sample);
            }
            if passed > middle {
                return Some(lower.map_or(*sample, |lower| f64::midpoint(lower, *sample)));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::statistics::median;

    proptest! {
        #[test]
        fn it_is_the_median_of_the_samples_gathered(
            rounds in prop::collection::vec(prop::collection::vec(-3_i8..4, 0..5), 1..6),
            drawn in prop::collection::vec(any::<prop::sample::Index>(), 0..7),
        ) {
            let rounds: Vec<Vec<f64>> =
                rounds.iter().map(|round| round.iter().map(|sample| f64::from(*sample)).collect()).collect();
            let drawn: Vec<usize> = drawn.iter().map(|index| index.index(rounds.len())).collect();
            let gathered: Vec<f64> = drawn.iter().flat_map(|round| rounds[*round].clone()).collect();
            let rounds: Vec<&[f64]> = rounds.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(Pooled::of(&rounds).median(&drawn), median(&gathered));
        }
    }
}
