//! Expected duration of a run that asks questions: loads, settling and compaction as well as trials.

use jsonathlon_catalogue::Configuration;
use jsonathlon_schema::{id::DataState, settings::questions::QuestionSettings};

use crate::{
    expected_time::{ExpectedPart, ExpectedTime, RoundCount, RunOutline, RunPart, TypicalTimes},
    loading::{load_rounds, max_load_rounds},
};

/// Part of the seconds of a load that compacting the data takes.
const COMPACTION_SHARE: f64 = 0.5;

/// What the expected duration depends on.
struct Expectation<'e, 'a> {
    /// Number of questions that every system is asked.
    questions: f64,
    /// Whether every system is loaded and asked once before the rounds.
    has_survey: bool,
    question_settings: &'e QuestionSettings,
    outline: &'e RunOutline<'a>,
}

/// Expected duration of a run with this number of questions. With `has_survey`, every system is loaded and
/// asked once before the rounds.
pub(crate) fn expected_time(
    questions: usize,
    has_survey: bool,
    question_settings: &QuestionSettings,
    outline: &RunOutline<'_>,
) -> ExpectedTime {
    let expectation = Expectation { questions: questions as f64, has_survey, question_settings, outline };
    let settings = outline.settings;
    let mut parts = Vec::new();
    if has_survey {
        parts.push(ExpectedPart::once(RunPart::Survey, expectation.turns(|one, _, times| one.survey(times))));
    }
    let most_loads = max_load_rounds(settings);
    for state in DataState::ALL {
        let is_asked = question_settings.states.contains(&state);
        if state == DataState::Compacted {
            let turns = expectation.turns(|one, _, times| times.start_s + COMPACTION_SHARE * one.load(times));
            parts.push(ExpectedPart::once(RunPart::Compaction, turns));
        }
        let (rounds, count) = match (is_asked, state) {
            (true, _) => (settings.rounds, RoundCount::ByStoppingRule),
            (false, DataState::Drained) => (most_loads, RoundCount::Fixed),
            (false, DataState::Compacted) => continue,
        };
        // From then on, no round begins with a load or has cold trials, or all of them have.
        let last = most_loads.max(question_settings.cold_rounds.unwrap_or(0)).saturating_add(1);
        let turns = (1..=last).map(|round| {
            expectation.turns(|one, configuration, times| one.turn(state, round, configuration, times))
        });
        parts.push(ExpectedPart::new(RunPart::Rounds(state), turns.collect(), rounds, count));
    }
    ExpectedTime::new(parts, settings)
}

impl Expectation<'_, '_> {
    /// Seconds that `seconds` returns for each configuration.
    fn turns(&self, seconds: impl Fn(&Self, &Configuration, &TypicalTimes) -> f64) -> Vec<f64> {
        let configurations = self.outline.configurations.iter().copied();
        configurations.map(|one| seconds(self, one, &TypicalTimes::of(one))).collect()
    }

    fn load(&self, times: &TypicalTimes) -> f64 {
        times.load_seconds(self.outline.typical_documents)
    }

    /// Seconds of one answer.
    fn answer(&self, times: &TypicalTimes) -> f64 {
        times.statement_s + self.outline.typical_documents * times.question_document_s
    }

    fn survey(&self, times: &TypicalTimes) -> f64 {
        self.load(times) + times.start_s + self.questions * self.answer(times)
    }

    /// Seconds of a target's part of a round: its load if one is due, then all questions.
    fn turn(&self, state: DataState, round: u32, configuration: &Configuration, times: &TypicalTimes) -> f64 {
        let mut seconds = 0.0;
        let was_loaded = self.has_survey && round == 1;
        let loads = load_rounds(self.outline.settings, self.load(times));
        if state == DataState::Drained && round <= loads && !was_loaded {
            seconds += self.load(times);
        }
        if self.question_settings.states.contains(&state) {
            let answer_s = self.answer(times);
            let hot_s = (f64::from(self.question_settings.hot_trials) * answer_s)
                .max(self.question_settings.hot_duration_s);
            let restarts = match self.question_settings.is_cold(round) && !configuration.in_memory {
                true => 1.0 + f64::from(u8::from(self.question_settings.cold_os)),
                false => 0.0,
            };
            let cold_s = restarts * (times.start_s + answer_s);
            seconds += times.start_s + self.questions * (times.question_s + hot_s + cold_s);
        }
        seconds
    }
}

#[cfg(test)]
mod tests {
    use jsonathlon_catalogue::Catalogue;
    use jsonathlon_schema::settings::RunSettings;

    use super::*;

    fn configuration(name: &str) -> Configuration {
        let catalogue = Catalogue::load(&[]).unwrap();
        let selection = catalogue.select(Some(name)).unwrap().remove(0);
        let (system, version) = (selection.system, selection.version);
        let variant = system.representative_variant().unwrap();
        system.configuration(version, &variant.name, &system.storages()[0].name).unwrap()
    }

    #[test]
    fn starts_of_servers_and_loads_count_and_not_trials_alone() {
        let (sqlite, postgresql) = (configuration("sqlite"), configuration("postgresql"));
        let settings = RunSettings::default();
        let seconds = |configuration, documents, has_survey| {
            let outline = RunOutline::new(vec![configuration], &settings, documents, 0);
            expected_time(6, has_survey, &QuestionSettings::default(), &outline).seconds()
        };
        let few = seconds(&sqlite, 1_000, false);
        // Cold trials start a server before every question of every round.
        let starts = 6.0 * f64::from(settings.rounds);
        let longer_s = TypicalTimes::of(&postgresql).start_s - TypicalTimes::of(&sqlite).start_s;
        assert!(seconds(&postgresql, 1_000, false) > few + starts * longer_s, "{few}");
        // Three loads of a million documents.
        assert!(seconds(&sqlite, 1_000_000, false) > few + 60.0);
        // Before the rounds, each system is asked once.
        assert!(seconds(&sqlite, 1_000, true) > few);
    }
}
