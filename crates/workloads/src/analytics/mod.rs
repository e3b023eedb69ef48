//! The analytics workload: the same documents into one JSON column of every system, then the five
//! questions of the billion-document JSON challenge and one that nobody prepared for.

mod ask;
mod rounds;
mod settings;

pub mod plan;
pub mod verify;

use std::collections::BTreeMap;

use jsonathlon_dataset::reference::{Answers, Reference};
use jsonathlon_dataset::stage::{Observe, Staged};
use jsonathlon_systems::{ANALYTICS, Configuration, QuestionRules};

use crate::RunError;
use crate::bench::{Accepted, Bench, UnderTest};
use crate::recorder::Recorder;
use crate::target::Target;
use crate::workload::Workload;

pub use settings::AnalyticsSettings;

/// The workload, with the right answers over the documents of a run.
#[derive(Debug, Default)]
pub struct Analytics {
    settings: AnalyticsSettings,
    reference: Reference,
}

/// A target with the answers that it must give.
struct Asked<'a> {
    of: UnderTest<'a>,
    /// What its folder declares and demands by question.
    rules: BTreeMap<String, QuestionRules>,
    answers: Answers,
}

impl Analytics {
    /// With these settings.
    #[must_use]
    pub fn new(settings: AnalyticsSettings) -> Self {
        Self { settings, reference: Reference::default() }
    }

    /// The right answers over the documents that a system holds.
    fn answers(&self, staged: &Staged, accepted: &Accepted) -> Result<Answers, RunError> {
        let mut reference = match accepted.refused_lines.is_empty() {
            true => self.reference.clone(),
            false => {
                let mut without = Reference::default();
                staged.show_without(&accepted.refused_lines, &mut without)?;
                without
            }
        };
        let suspects = accepted.suspects.iter().filter_map(|place| staged.suspects.get(*place));
        staged.show_suspects(suspects, &mut reference)?;
        Ok(reference.answers())
    }
}

impl Workload for Analytics {
    fn name(&self) -> &'static str {
        ANALYTICS
    }

    fn settings(&self) -> serde_json::Value {
        serde_json::to_value(&self.settings).unwrap_or_default()
    }

    fn refuses(&self, target: &Target) -> Option<String> {
        let Configuration { system, .. } = &target.configuration;
        target.configuration.analytics().is_none().then(|| format!("{system} has no folder {ANALYTICS}/"))
    }

    fn suspects(&self, target: &Target) -> Vec<String> {
        target.configuration.analytics().map(|rules| rules.suspects).unwrap_or_default()
    }

    fn observer(&mut self) -> Box<dyn Observe + '_> {
        Box::new(&mut self.reference)
    }

    fn keys(&self, bench: &Bench<'_>) -> Vec<String> {
        let of = |target| plan::keys(bench.cells(target), bench.settings, &self.settings);
        bench.targets.iter().flat_map(of).collect()
    }

    fn run(&self, bench: &Bench<'_>, recorder: &mut Recorder<'_>) -> Result<(), RunError> {
        fn asked(of: UnderTest<'_>) -> Asked<'_> {
            let rules = of.cells.target.configuration.analytics().map(|rules| rules.questions);
            Asked { of, rules: rules.unwrap_or_default(), answers: Reference::default().answers() }
        }
        let mut all: Vec<Asked<'_>> = bench.all_under_test().into_iter().map(asked).collect();
        let ended = self.all(bench, &mut all, recorder);
        // The first error is the one that matters.
        let mut all: Vec<UnderTest<'_>> = all.into_iter().map(|one| one.of).collect();
        bench.leave(&mut all, recorder);
        ended
    }
}
