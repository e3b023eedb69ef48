//! Fast medians of resampled rounds, for the bootstrap.

/// The samples of several rounds, sorted once, so that the median of a resample is found in one pass. A cell
/// needs thousands of resamples; gathering and sorting each of them would be noticeably slower.
pub(crate) struct PooledSamples {
    /// Each sample with the index of its round, ascending by sample.
    sorted: Vec<(f64, usize)>,
    /// Number of samples of each round.
    lengths: Vec<usize>,
    /// How often each round occurs in the current resample.
    draw_counts: Vec<usize>,
}

impl PooledSamples {
    pub(crate) fn new(rounds: &[&[f64]]) -> Self {
        let samples = rounds
            .iter()
            .enumerate()
            .flat_map(|(round, samples)| samples.iter().map(move |sample| (*sample, round)));
        let mut sorted: Vec<(f64, usize)> = samples.collect();
        sorted.sort_unstable_by(|(left, _), (right, _)| left.total_cmp(right));
        Self {
            sorted,
            lengths: rounds.iter().map(|samples| samples.len()).collect(),
            draw_counts: vec![0; rounds.len()],
        }
    }

    /// Median of the samples of the rounds `drawn`, each counted as often as its round is drawn: the middle
    /// sample, or the mean of the two middle ones. `None` if there are no samples.
    pub(crate) fn median(&mut self, drawn: &[usize]) -> Option<f64> {
        self.draw_counts.fill(0);
        let mut count = 0;
        for round in drawn {
            *self.draw_counts.get_mut(*round)? += 1;
            count += self.lengths.get(*round)?;
        }
        let (middle, is_even) = (count / 2, count.is_multiple_of(2));
        let (mut passed, mut lower) = (0, None);
        for (sample, round) in &self.sorted {
            passed += self.draw_counts.get(*round)?;
            // With an even count, the last sample of the lower half is needed for the mean.
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
            prop_assert_eq!(PooledSamples::new(&rounds).median(&drawn), median(&gathered));
        }
    }
}
