//! Scores of a run's own configurations by the formula of the published benchmark.

use jsonathlon_schema::id::{ConfigurationId, DataState};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::ranking::MemoryProfile;
use jsonathlon_schema::record::Phase;
use serde::{Deserialize, Serialize};

use crate::challenge::jsonbench::{self, ExportedResult};
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
    /// Memory profile of the configuration. `None` for remote servers.
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
    let exported = jsonbench::exported_results(run);
    let questions: Vec<usize> = (0..QUESTIONS).collect();
    let mut published = Vec::new();
    for export in &exported {
        let configuration = export.configuration;
        let rivals: Vec<&ExportedResult<'_>> = exported
            .iter()
            .filter(|candidate| candidate.comparable && candidate.state == export.state)
            .filter(|candidate| {
                candidate.configuration.is_ranked()
                    && candidate.configuration.ranking() == configuration.ranking()
            })
            .collect();
        let entrants: Vec<ScoreInput> = rivals.iter().map(|rival| rival.file.score_input()).collect();
        let position = rivals.iter().position(|rival| std::ptr::eq(*rival, export));
        let score = position.and_then(|position| scores(&entrants, &questions).get(position).copied());
        let entrant = export.file.score_input();
        published.push(PublishedScore {
            id: configuration.id.clone(),
            state: export.state,
            profile: configuration.profile,
            ranking: configuration.ranking(),
            cold_answered: entrant.cold.iter().flatten().count(),
            hot_answered: entrant.hot.iter().flatten().count(),
            score: keep_planned(run, configuration, score.unwrap_or_default()),
        });
    }
    published
}

/// Removes the score of phases that were not planned, because their times are not missing.
fn keep_planned(run: &Run, configuration: &Configuration, score: Score) -> Score {
    let has_trials = |phases: &[Phase]| {
        run.trials()
            .map(|trial| &trial.cell)
            .any(|cell| configuration.contains_cell(cell) && phases.contains(&cell.phase))
    };
    let (cold, hot) = (has_trials(&[Phase::Cold, Phase::ColdUnverified]), has_trials(&[Phase::Hot]));
    Score { cold: score.cold.filter(|_| cold), hot: score.hot.filter(|_| hot), ..score }
}
