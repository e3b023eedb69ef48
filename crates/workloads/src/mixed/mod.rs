//! The mixed workload: questions over all documents while writers insert more of them.
//!
//! A round asks before, beside and after the writers, and lets the writers work alone. Each question also says
//! which documents its snapshot held, and every answer is compared with the expected one over exactly these; see
//! the crate `mixed`. Expected answers are computed after the clients have ended, so that they cost the system
//! nothing.

mod answer_rows;
mod documents;
mod frontier;
mod jobs;
mod question_metrics;
mod results;
mod round_log;
mod steps;
mod still;
mod trials;
mod turn;
mod writer_metrics;

use documents::{MixedDocuments, beside_questions, more_alone, pool_seconds, short_s};
use turn::{MixedTarget, MixedTurn};

use jsonathlon_catalogue::{MIXED, MixedSetup};
use jsonathlon_dataset::{
    scan::Event,
    source::Source,
    stage::{DocumentVisitor, StagedDocuments},
};
use jsonathlon_schema::{
    id::DataState,
    settings::{
        WorkloadSettings,
        mixed::{FrontierRate, MAX_WRITERS, MixedSettings},
    },
};
use jsonathlon_stats::batch_schedule::BatchSchedule;

use crate::{
    RunError,
    analytics::other_documents,
    expected_time::{ExpectedPart, ExpectedTime, RoundCount, RunOutline, RunPart, TypicalTimes},
    observer::RunEvent,
    recorder::TrialRecorder,
    run_context::RunContext,
    target::Target,
    workload::{Preparation, Workload},
};

/// Part of the run that all rounds belong to.
const ROUNDS: RunPart = RunPart::Rounds(DataState::Drained);
/// Number of jobs of a round beside `both`: still with and without what is seen, left, drained, and writers alone.
const SHORT_JOBS: f64 = 5.0;
/// Number of sets of a round that are not measured: one that warms up, and one that checks the end of each part.
const UNMEASURED_SETS: f64 = 3.0;
/// Expected seconds of a set that is not measured.
const UNMEASURED_SET_S: f64 = 1.0;
/// Expected seconds of putting a copy of the loaded data back, for each document.
const RESTORE_DOCUMENT_S: f64 = 3e-6;
/// Number of rounds that begin with a load unless the user asks for more.
const LOAD_ROUNDS: u32 = 1;

/// The mixed workload with its settings.
#[derive(Debug)]
pub struct Mixed {
    settings: MixedSettings,
    events: EventCount,
    /// Both parts of the documents. `None` before they are staged.
    documents: Option<MixedDocuments>,
}

/// Counts documents, and those of them that are events.
#[derive(Debug, Default)]
struct EventCount {
    documents: u64,
    events: u64,
}

impl DocumentVisitor for EventCount {
    fn document(&mut self, event: &Event<'_>) {
        self.documents += 1;
        let is_event = event.did.is_some() && event.time_us.is_some() && event.kind.is_some();
        self.events += u64::from(is_event);
    }

    fn refusal(&self, is_complete: bool) -> Option<String> {
        other_documents(self.documents, self.events, is_complete).map(|which| {
            format!("{which}, which the questions are about; leave --data out to generate events")
        })
    }
}

impl Mixed {
    /// Creates the workload with these settings.
    ///
    /// # Errors
    /// If a number is 0 or no number, or the rate cannot be scheduled.
    pub fn new(settings: MixedSettings) -> Result<Self, String> {
        let MixedSettings { writers, streams, batch, rate, growth, measure_s, .. } = settings;
        if !(measure_s.is_finite() && measure_s > 0.0) {
            return Err(format!("{measure_s} s cannot be measured"));
        }
        if settings.is_still() {
            check_still(&settings)?;
            return Ok(Self { settings, events: EventCount::default(), documents: None });
        }
        if writers == 0 || streams == 0 || batch == 0 {
            return Err("at least one writer, one stream and one document a batch are needed".to_owned());
        }
        if writers > MAX_WRITERS {
            return Err(format!(
                "{writers} writers are too many: a question tells what it saw of at most {MAX_WRITERS}"
            ));
        }
        let is_share = |rate: &FrontierRate| match rate {
            FrontierRate::ShareOfPeak(share) => *share > 0.0 && *share <= 1.0,
            FrontierRate::FullSpeed => true,
        };
        if !settings.frontier.iter().all(is_share) {
            return Err("the rates of a frontier are shares of the peak above 0 and up to 1".to_owned());
        }
        if let Some(rate) = rate.per_s() {
            BatchSchedule::new(writers.into(), batch.into(), rate)?;
        }
        if !(growth.is_finite() && growth > 0.0) {
            return Err(format!("documents cannot grow by {} %", growth * 100.0));
        }
        Ok(Self { settings, events: EventCount::default(), documents: None })
    }

    /// The settings for generated documents, of which `scale` are loaded, and the number of all documents that are
    /// generated: the loaded ones and those that come in. Writers alone get as many as a fast system inserts.
    #[must_use]
    pub fn of_generated(settings: MixedSettings, scale: u64) -> (MixedSettings, u64) {
        if settings.is_still() {
            return (settings, scale);
        }
        let more_alone = more_alone(scale, &settings);
        let comes_in = beside_questions(scale, &settings).saturating_add(more_alone);
        (MixedSettings { more_alone, ..settings }, scale.saturating_add(comes_in))
    }

    /// Number of documents that are loaded of those of a data set of this size.
    fn loaded_of(&self, documents: f64) -> f64 {
        let MixedSettings { growth, more_alone, .. } = &self.settings;
        ((documents - *more_alone as f64) / (1.0 + growth)).max(0.0)
    }

    /// What happens in a round.
    fn schedule(&self) -> String {
        let MixedSettings { writers, streams, measure_s, still_streams, .. } = &self.settings;
        if self.settings.is_still() {
            let numbers: Vec<String> = still_streams.iter().map(u32::to_string).collect();
            return format!(
                "{} streams of questions, {measure_s} s each, without writers",
                numbers.join(", ")
            );
        }
        if self.settings.is_frontier() {
            return format!(
                "{writers} writers and {streams} streams of questions, each alone, and beside each other at {} rates, \
                 {measure_s} s each",
                self.settings.frontier.len()
            );
        }
        format!(
            "{streams} streams of questions before, beside ({measure_s} s) and after {writers} writers, and the \
             writers alone"
        )
    }

    /// Notes on what the settings mean for the documents and for a configuration's answers.
    fn notes(&self, targets: &[Target]) -> Vec<String> {
        let mut notes = Vec::new();
        let MixedSettings { batch, measure_s, pool, server_cpus, .. } = &self.settings;
        if server_cpus.is_some() {
            let embedded = targets.iter().filter(|target| target.configuration.embedded);
            notes.extend(embedded.map(|target| {
                format!("{} is embedded in its clients, which share its CPUs", target.file_name())
            }));
        }
        if self.settings.is_still() {
            return notes;
        }
        if let Some(pool) = pool {
            if pool.left_out > 0 {
                notes.push(format!(
                    "documents that come in for no system, because some system may refuse them: {}",
                    pool.left_out
                ));
            }
            if let Some(seconds) = pool_seconds(pool.documents, &self.settings)
                && seconds < 0.95 * measure_s
            {
                notes.push(format!(
                    "the {} documents that may come in last {seconds:.1} s at this rate, so that questions beside \
                     writers are measured for less than {measure_s} s",
                    pool.documents
                ));
            }
        }
        for target in targets {
            let Some(setup) = target.configuration.mixed() else { continue };
            let name = target.file_name();
            if !setup.snapshot {
                notes.push(format!(
                    "{name} has no statement that sees one moment only: its answers are compared with bounds, and \
                     not ranked"
                ));
            }
            if let Some(limit) = setup.max_atomic_batch.filter(|limit| limit < batch) {
                notes.push(format!("{name} shows batches of more than {limit} documents piece by piece"));
            }
        }
        notes
    }
}

/// Rejects numbers of streams that do not ascend from at least one, and writers beside them.
fn check_still(settings: &MixedSettings) -> Result<(), String> {
    let counts = &settings.still_streams;
    if settings.writers > 0 || settings.rate.per_s() != Some(0.0) {
        return Err("streams on still data have no writers beside them".to_owned());
    }
    let is_ascending = counts.windows(2).all(|pair| pair[0] < pair[1]);
    let has_maximum = counts.last() == Some(&settings.streams);
    match counts.first() {
        Some(first) if *first > 0 && is_ascending && has_maximum => Ok(()),
        _ => Err(format!("{counts:?} are no ascending numbers of streams")),
    }
}

/// Why a configuration cannot have this many connections. `None` if it can.
fn too_many_connections(name: &str, setup: &MixedSetup, settings: &MixedSettings) -> Option<String> {
    let MixedSettings { writers, streams, .. } = settings;
    let limit = setup.max_connections.filter(|limit| writers + streams > *limit)?;
    if settings.is_still() {
        return Some(format!(
            "{name} admits {limit} connections at a time, and {streams} streams need as many: give fewer --streams"
        ));
    }
    Some(format!(
        "{name} admits {limit} connections at a time, and {writers} writers beside {streams} streams need {}: give \
         fewer --writers or --streams",
        writers + streams
    ))
}

impl Workload for Mixed {
    fn name(&self) -> &'static str {
        MIXED
    }

    fn settings(&self) -> Result<WorkloadSettings, serde_json::Error> {
        Ok(WorkloadSettings { mixed: Some(self.settings.clone()), ..WorkloadSettings::default() })
    }

    fn unsupported_reason(&self, target: &Target) -> Option<String> {
        let name = &target.configuration.system;
        if target.remote.is_some() {
            return Some(format!(
                "{name} is a server by address, whose loaded data cannot be put back between rounds; let the run \
                 start its own, or give your binaries by --system {name}=PATH"
            ));
        }
        match target.configuration.mixed() {
            None => Some(format!("{name} has no folder {MIXED}/")),
            Some(setup) => too_many_connections(name, &setup, &self.settings),
        }
    }

    fn suspects(&self, target: &Target) -> Vec<String> {
        target.configuration.mixed().map(|setup| setup.suspects).unwrap_or_default()
    }

    fn required_disk_bytes(&self, documents: u64, systems: u64) -> u64 {
        // Documents are staged, and once more in two parts. Each system has its data and a copy of it, both with an
        // index and the WAL, and the data grows.
        documents.saturating_mul(2 + 6 * systems)
    }

    fn observer(&mut self) -> Box<dyn DocumentVisitor + '_> {
        Box::new(&mut self.events)
    }

    fn prepare(
        &mut self,
        staged: StagedDocuments,
        preparation: &mut Preparation<'_>,
    ) -> Result<StagedDocuments, RunError> {
        let (base, documents) = MixedDocuments::split(&staged, &self.settings, preparation)?;
        self.settings.pool = (!self.settings.is_still()).then(|| documents.summary());
        self.documents = Some(documents);
        for note in self.notes(preparation.targets) {
            preparation.observer.event(&RunEvent::Note(&note));
        }
        Ok(base)
    }

    fn describe_documents(&self, source: &Source) -> String {
        let Some(pool) = &self.settings.pool else { return source.to_string() };
        let beside = format!("{source}, of which {} come in while questions are asked", pool.documents);
        match pool.alone {
            Some(alone) => format!("{beside}, and {alone}, these among them, while writers are alone"),
            None => beside,
        }
    }

    fn expected_time(&self, outline: &RunOutline<'_>) -> ExpectedTime {
        let settings = &self.settings;
        let load_rounds = outline.settings.load_rounds.unwrap_or(LOAD_ROUNDS).max(1);
        let still_s = settings.still_streams.len() as f64 * (settings.measure_s + UNMEASURED_SET_S);
        let beside_s =
            settings.measure_s + SHORT_JOBS * short_s(settings) + UNMEASURED_SETS * UNMEASURED_SET_S;
        let points = settings.frontier.len() as f64;
        let frontier_s = points * (settings.measure_s + 2.0 * UNMEASURED_SET_S) + 2.0 * short_s(settings);
        let (clients_s, parts) = match (settings.is_still(), settings.is_frontier()) {
            (true, _) => (still_s, 1.0),
            (_, true) => (frontier_s, points + 2.0),
            _ => (beside_s, 2.0),
        };
        // Once the documents are split, the outline counts those that are loaded.
        let documents = match self.documents {
            Some(_) => outline.typical_documents,
            None => self.loaded_of(outline.typical_documents),
        };
        let turns_of = |round: u32| -> Vec<f64> {
            let turn = |times: TypicalTimes| {
                let load_s = if round <= load_rounds { times.load_seconds(documents) } else { 0.0 };
                load_s + clients_s + parts * (times.start_s + documents * RESTORE_DOCUMENT_S)
            };
            outline.configurations.iter().map(|configuration| turn(TypicalTimes::of(configuration))).collect()
        };
        let turns = (1..=load_rounds.saturating_add(1)).map(turns_of).collect();
        let part = ExpectedPart::new(ROUNDS, turns, outline.settings.rounds, RoundCount::ByStoppingRule);
        ExpectedTime::new(vec![part], outline.settings)
    }

    fn planned_keys(&self, context: &RunContext<'_>) -> Vec<String> {
        let loads = context.settings.load_rounds.unwrap_or(LOAD_ROUNDS).max(1);
        let keys_of =
            |target| trials::keys(context.cells(target), &self.settings, context.settings.rounds, loads);
        context.targets.iter().flat_map(keys_of).collect()
    }

    fn run(&self, context: &RunContext<'_>, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError> {
        let Some(documents) = &self.documents else {
            return Err(RunError::Environment("the documents were not split before the run".to_owned()));
        };
        let mut targets = Vec::new();
        for mut state in context.target_states() {
            if let Some(cpus) = &self.settings.server_cpus {
                state.session.limit_cores(cpus.len());
            }
            // Unsupported configurations were refused before the run, so none is left out silently.
            let Some(setup) = state.cells.target.configuration.mixed() else { continue };
            targets.push(MixedTarget {
                state,
                setup,
                snapshot: None,
                peak_per_s: Err(turn::NO_PEAK.to_owned()),
                sweep: None,
            });
        }
        recorder.observer.event(&RunEvent::Schedule(&format!(
            "{} configurations × {} rounds: {}",
            targets.len(),
            context.settings.rounds,
            self.schedule()
        )));
        context.run_rounds(ROUNDS, &mut targets, recorder, |round, target, recorder| {
            let turn = MixedTurn { context, settings: &self.settings, documents, round };
            if self.settings.is_still() {
                turn.run_missing_streams(target, recorder)?;
            } else if self.settings.is_frontier() {
                turn.run_missing_points(target, recorder)?;
            } else {
                turn.run_missing_parts(target, recorder)?;
            }
            Ok(target.state.cells.target)
        })
    }
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::settings::mixed::InsertRate;

    use super::*;

    #[test]
    fn settings_that_measure_nothing_are_refused() {
        let refused = |settings| Mixed::new(settings).map(drop).unwrap_err();
        let settings = MixedSettings::default;
        assert!(Mixed::new(settings()).is_ok());
        assert!(refused(MixedSettings { writers: 0, ..settings() }).contains("at least one writer"));
        assert!(refused(MixedSettings { writers: 501, ..settings() }).contains("at most 500"));
        assert!(refused(MixedSettings { streams: 0, ..settings() }).contains("one stream"));
        assert!(refused(MixedSettings { growth: 0.0, ..settings() }).contains("grow by 0 %"));
        assert!(refused(MixedSettings { measure_s: f64::NAN, ..settings() }).contains("cannot be measured"));
        let rate = InsertRate::PerSecond(0.0);
        let still = |still_streams: Vec<u32>| {
            let streams = still_streams.last().copied().unwrap_or_default();
            MixedSettings { writers: 0, growth: 0.0, rate, streams, still_streams, ..settings() }
        };
        assert!(Mixed::new(still(vec![1, 4, 16])).is_ok());
        assert!(
            refused(still(vec![4, 1])).contains("ascending")
                && refused(still(vec![0, 1])).contains("ascending")
        );
        for share in [0.0, 1.5, f64::NAN] {
            let frontier = vec![FrontierRate::FullSpeed, FrontierRate::ShareOfPeak(share)];
            assert!(refused(MixedSettings { frontier, ..settings() }).contains("shares of the peak"));
        }
        assert!(refused(MixedSettings { writers: 2, ..still(vec![1]) }).contains("no writers"));
        assert!(refused(MixedSettings { rate, ..settings() }).contains("cannot be planned"));
    }

    #[test]
    fn all_parts_are_generated() {
        let settings = MixedSettings::default;
        let (beside_few, documents) = Mixed::of_generated(settings(), 100_000);
        assert_eq!((beside_few.more_alone, documents), (130_000, 250_000));
        let loaded = Mixed::new(beside_few).unwrap().loaded_of(250_000.0);
        assert!((loaded - 100_000.0).abs() < 1.0, "{loaded}");
        let (beside_many, documents) = Mixed::of_generated(settings(), 2_000_000);
        assert_eq!((beside_many.more_alone, documents), (0, 2_400_000));
        let still = MixedSettings { still_streams: vec![1], growth: 0.0, ..settings() };
        assert_eq!(Mixed::of_generated(still.clone(), 7), (still, 7));
    }
}
