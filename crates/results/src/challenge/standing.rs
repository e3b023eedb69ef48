//! Scores of a run's own configurations by the formula of the published benchmark.

use jsonathlon_schema::id::{ConfigurationId, DataState};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::ranking::MemoryProfile;
use jsonathlon_schema::record::Phase;
use serde::{Deserialize, Serialize};

use crate::challenge::jsonbench::{self, Exported};
use crate::challenge::score::{QUESTIONS, Score, ScoreInput, scores};
use crate::run::Run;

/// Score of a configuration by the published formula, computed from round 1 alone; see
/// [`crate::challenge::score`]. Only configurations of one ranking are scored together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedScore {
    /// Configuration that is scored.
    #[serde(flatten)]
    pub id: ConfigurationId,
    /// Data state in which questions were asked.
    pub state: DataState,
    /// Memory profile of the configuration. `None` if not stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<MemoryProfile>,
    /// Ranking within which it is scored, see [`Configuration::ranking`].
    pub ranking: String,
    /// Number of questions with a cold time, out of five.
    pub cold_answered: usize,
    /// Number of questions with a hot time, out of five.
    pub hot_answered: usize,
    /// The scores. Empty for a system that holds fewer documents than were offered, or that is not ranked.
    pub score: Score,
}

/// Scores all configurations of a run.
pub(crate) fn published_scores(run: &Run) -> Vec<PublishedScore> {
    let exported = jsonbench::of_run(run);
    let questions: Vec<usize> = (0..QUESTIONS).collect();
    let mut found = Vec::new();
    for one in &exported {
        let configuration = one.configuration;
        let fellows: Vec<&Exported<'_>> = exported
            .iter()
            .filter(|other| other.comparable && other.state == one.state)
            .filter(|other| {
                other.configuration.is_ranked() && other.configuration.ranking() == configuration.ranking()
            })
            .collect();
        let entrants: Vec<ScoreInput> = fellows.iter().map(|fellow| fellow.file.entrant()).collect();
        let place = fellows.iter().position(|fellow| std::ptr::eq(*fellow, one));
        let score = place.and_then(|place| scores(&entrants, &questions).get(place).copied());
        let mine = one.file.entrant();
        found.push(PublishedScore {
            id: configuration.id.clone(),
            state: one.state,
            profile: configuration.profile,
            ranking: configuration.ranking(),
            cold_answered: mine.cold.iter().flatten().count(),
            hot_answered: mine.hot.iter().flatten().count(),
            score: planned(run, configuration, score.unwrap_or_default()),
        });
    }
    found
}

/// Removes the score of phases that were not planned, because their times are not missing.
fn planned(run: &Run, configuration: &Configuration, score: Score) -> Score {
    let asked = |phases: &[Phase]| {
        run.trials()
            .map(|trial| &trial.cell)
            .any(|cell| configuration.has(cell) && phases.contains(&cell.phase))
    };
    let (cold, hot) = (asked(&[Phase::Cold, Phase::ColdUnverified]), asked(&[Phase::Hot]));
    Score { cold: score.cold.filter(|_| cold), hot: score.hot.filter(|_| hot), ..score }
}
