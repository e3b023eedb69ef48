//! The analytics workload: the same documents into one JSON column of every system, then the five
//! questions of the billion-document JSON challenge and one that nobody prepared for.

mod ask;
mod rounds;
mod settings;

pub mod plan;
pub mod verify;

use jsonathlon_dataset::reference::{Answers, Reference};
use jsonathlon_dataset::stage::{Observe, Staged};

use crate::RunError;
use crate::bench::{Bench, UnderTest};
use crate::loading::Accepted;
use crate::recorder::Recorder;
use crate::target::Target;
use crate::workload::Workload;

pub use settings::AnalyticsSettings;

/// The workload's name.
pub const ANALYTICS: &str = "analytics";

/// The workload, with the right answers over the documents of a run.
#[derive(Debug, Default)]
pub struct Analytics {
    settings: AnalyticsSettings,
    reference: Reference,
}

/// A target with the answers that it must give.
struct Asked<'a> {
    of: UnderTest<'a>,
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
        let has_part = target.configuration.analytics.is_some();
        (!has_part).then(|| format!("{} has no folder analytics/", target.configuration.system))
    }

    fn observer(&mut self) -> Box<dyn Observe + '_> {
        Box::new(&mut self.reference)
    }

    fn keys(&self, bench: &Bench<'_>) -> Vec<String> {
        let of = |target| plan::keys(bench.cells(target), bench.settings, &self.settings);
        bench.targets.iter().flat_map(of).collect()
    }

    fn run(&self, bench: &Bench<'_>, recorder: &mut Recorder<'_>) -> Result<(), RunError> {
        let asked = |of| Asked { of, answers: Reference::default().answers() };
        let mut all: Vec<Asked<'_>> = bench.all_under_test().into_iter().map(asked).collect();
        let ended = self.all(bench, &mut all, recorder);
        // The first error is the one that matters.
        let mut all: Vec<UnderTest<'_>> = all.into_iter().map(|one| one.of).collect();
        bench.leave(&mut all, recorder);
        ended
    }
}
