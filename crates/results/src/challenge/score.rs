//! The score of the published benchmark: how many times slower than the best, over its five questions.
//!
//! It is kept so that a run can be read beside what is published, and is apart from this program's own
//! medians and intervals: one cold trial, and the better of two hot ones.

use serde::{Deserialize, Serialize};

/// Questions of the published benchmark.
pub const QUESTIONS: usize = 5;

/// Added to both sides of a ratio, seconds: below it, differences hardly count.
pub const ADDED_S: f64 = 0.01;

/// The least that a missing time counts as before it is doubled, seconds.
pub const MISSING_S: f64 = 3600.0;

/// Seconds of each question; none where there is no time.
pub type Times = [Option<f64>; QUESTIONS];

/// What a score is made of.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Entrant {
    /// Seconds of the cold runs.
    pub cold: Times,
    /// Seconds of the hot runs; see [`hot`].
    pub hot: Times,
    /// Bytes in all.
    pub total_bytes: Option<u64>,
    /// What is likely to be an error of that.
    pub suspected: Suspects,
}

/// Which figures of an entrant are likely to be errors: they have a score, and nobody is measured by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Suspects {
    /// Its times.
    pub times: bool,
    /// Its size.
    pub size: bool,
}

/// An entrant's scores among those it was scored with; 1 is the best there can be.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Score {
    /// Of the cold runs; none when nobody has a time.
    pub cold: Option<f64>,
    /// Of the hot runs.
    pub hot: Option<f64>,
    /// Total size ÷ the smallest one; none without a size.
    pub size: Option<f64>,
}

/// The hot time of a question's runs: the better of all but the first, when they all have a time. That
/// is runs 2 and 3 of the published three.
#[must_use]
pub fn hot(runs: &[Option<f64>]) -> Option<f64> {
    let hot: Option<Vec<f64>> = runs.get(1..)?.iter().map(|run| usable(*run)).collect();
    hot?.into_iter().reduce(f64::min)
}

/// The scores of `entrants` over the `questions` chosen, counted from 0, in the same order.
///
/// For each question the baseline is the best time among the entrants of which nothing is suspected, and each one's ratio
/// (10 ms + time) ÷ (10 ms + baseline), where a missing time counts as twice the worst that any of them has,
/// or as twice an hour when that is longer. The score is the geometric mean of the ratios. A question to
/// which nobody has a time that may be a baseline counts for nobody.
#[must_use]
pub fn scores(entrants: &[Entrant], questions: &[usize]) -> Vec<Score> {
    let cold = relative_times(entrants, questions, |entrant| &entrant.cold);
    let hot = relative_times(entrants, questions, |entrant| &entrant.hot);
    let bytes = |entrant: &Entrant| entrant.total_bytes.filter(|bytes| *bytes > 0).map(|bytes| bytes as f64);
    let smallest = entrants.iter().filter(|one| !one.suspected.size).filter_map(bytes).reduce(f64::min);
    let size = entrants.iter().map(|entrant| Some(bytes(entrant)? / smallest?));
    cold.into_iter().zip(hot).zip(size).map(|((cold, hot), size)| Score { cold, hot, size }).collect()
}

fn relative_times(
    entrants: &[Entrant],
    questions: &[usize],
    of: impl Fn(&Entrant) -> &Times,
) -> Vec<Option<f64>> {
    let mut logarithms = vec![0.0; entrants.len()];
    let mut counted = 0;
    for question in questions.iter().filter(|question| **question < QUESTIONS) {
        let times: Vec<Option<f64>> = entrants
            .iter()
            .map(|entrant| of(entrant).get(*question).copied().flatten())
            .map(usable)
            .collect();
        let sound = entrants.iter().zip(&times).filter(|(entrant, _)| !entrant.suspected.times);
        let sound: Vec<f64> = sound.filter_map(|(_, time)| *time).collect();
        let (Some(baseline), Some(worst)) =
            (sound.iter().copied().reduce(f64::min), sound.iter().copied().reduce(f64::max))
        else {
            continue;
        };
        let missing = 2.0 * worst.max(MISSING_S);
        counted += 1;
        for (sum, time) in logarithms.iter_mut().zip(&times) {
            *sum += ((ADDED_S + time.unwrap_or(missing)) / (ADDED_S + baseline)).ln();
        }
    }
    logarithms.into_iter().map(|sum: f64| (counted > 0).then(|| (sum / f64::from(counted)).exp())).collect()
}

/// What is no duration counts as missing.
fn usable(time: Option<f64>) -> Option<f64> {
    time.filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
}
