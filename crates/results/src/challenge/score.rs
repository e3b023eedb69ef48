//! Score of the published benchmark: how many times slower than the best, over its five questions.
//!
//! It allows comparing a run with published results, and is separate from this program's own medians and
//! intervals: it uses one cold trial and the better of two hot ones.

use serde::{Deserialize, Serialize};

/// Number of questions of the published benchmark.
pub const QUESTIONS: usize = 5;

/// Word of the step that asks a question of the benchmark: `q1` for 0.
pub(crate) fn step_word(question: usize) -> String {
    format!("q{}", question + 1)
}

/// Seconds added to both sides of a ratio, so that differences of shorter times hardly matter.
pub const ADDED_S: f64 = 0.01;

/// Minimum time in seconds that a missing time is counted as, before it is doubled.
pub const MISSING_S: f64 = 3600.0;

/// Seconds of each question. `None` if there is no time.
pub type Times = [Option<f64>; QUESTIONS];

/// Times and size of one result, from which its score is computed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScoreInput {
    /// Seconds of the cold runs, by question.
    pub cold: Times,
    /// Seconds of the hot runs by question, see [`hot_time`].
    pub hot: Times,
    /// Total size in bytes. `None` if unknown.
    pub total_bytes: Option<u64>,
    /// Which of these values are probably errors.
    pub suspected: Suspects,
}

/// Values that are probably errors. They are scored, but never used as the best value for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Suspects {
    /// Whether the times are suspected.
    pub times: bool,
    /// Whether the size is suspected.
    pub size: bool,
}

/// Scores of one result among those it was scored with. 1 is the best possible score.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Score {
    /// Score of the cold runs. `None` if no result has a usable time.
    pub cold: Option<f64>,
    /// Score of the hot runs. `None` if no result has a usable time.
    pub hot: Option<f64>,
    /// Total size ÷ the smallest one. `None` if the size is unknown.
    pub size: Option<f64>,
}

/// Hot time of a question: the minimum of all runs but the first, that is, runs 2 and 3 of the published
/// three. `None` if one of them has no time.
#[must_use]
pub fn hot_time(runs: &[Option<f64>]) -> Option<f64> {
    let times: Option<Vec<f64>> = runs.get(1..)?.iter().map(|run| usable(*run)).collect();
    times?.into_iter().reduce(f64::min)
}

/// Computes the scores of `entrants` over the chosen `questions` (counted from 0), in the order of
/// `entrants`.
///
/// For each question the baseline is the best time among results that are not suspected. The ratio of a
/// result is
/// (10 ms + time) ÷ (10 ms + baseline).
/// A missing time counts as twice the worst time of these results, or twice an hour if that is longer. The
/// score is the geometric mean of the ratios. A question without a baseline is not counted.
#[must_use]
pub fn scores(entrants: &[ScoreInput], questions: &[usize]) -> Vec<Score> {
    let cold = relative_times(entrants, questions, |entrant| &entrant.cold);
    let hot = relative_times(entrants, questions, |entrant| &entrant.hot);
    let bytes =
        |entrant: &ScoreInput| entrant.total_bytes.filter(|bytes| *bytes > 0).map(|bytes| bytes as f64);
    let trusted = entrants.iter().filter(|entrant| !entrant.suspected.size);
    let smallest = trusted.filter_map(bytes).reduce(f64::min);
    let size = entrants.iter().map(|entrant| Some(bytes(entrant)? / smallest?));
    cold.into_iter().zip(hot).zip(size).map(|((cold, hot), size)| Score { cold, hot, size }).collect()
}

fn relative_times(
    entrants: &[ScoreInput],
    questions: &[usize],
    select: impl Fn(&ScoreInput) -> &Times,
) -> Vec<Option<f64>> {
    let mut logarithms = vec![0.0; entrants.len()];
    let mut counted = 0;
    for question in questions.iter().filter(|question| **question < QUESTIONS) {
        let times: Vec<Option<f64>> = entrants
            .iter()
            .map(|entrant| select(entrant).get(*question).copied().flatten())
            .map(usable)
            .collect();
        let trusted = entrants.iter().zip(&times).filter(|(entrant, _)| !entrant.suspected.times);
        let trusted: Vec<f64> = trusted.filter_map(|(_, time)| *time).collect();
        let (Some(baseline), Some(worst)) =
            (trusted.iter().copied().reduce(f64::min), trusted.iter().copied().reduce(f64::max))
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

/// Treats values that are not durations (negative, infinite or NaN) as missing.
fn usable(time: Option<f64>) -> Option<f64> {
    time.filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
}
