//! The serving workload: many concurrent clients read, update and insert documents.
//!
//! Mixes of operations are those of YCSB on JSON documents. A trial runs one configuration with one mix and a
//! number of clients for some seconds. Every answer is verified, and a failed operation does not count.

mod baseline;
mod encoding;
mod outcome;
mod own_documents;
mod plans;
mod reports;
pub(crate) mod scripts;
mod slo_search;
mod suitability;
mod target_records;
mod trials;
mod turn;
mod wal;

pub mod mixes;
pub mod settings;

use settings::{OwnDocuments, ServedRecords, ServingSettings};
use target_records::TargetRecords;
use turn::{ServingTurn, survey_reports};

use jsonathlon_catalogue::{SERVING, ServingSetup, StatementFile, StatementKind};
use jsonathlon_dataset::{
    keying::KeyedDocuments,
    own_records::OwnRecords,
    records::{KeyType, Records},
    source::Source,
    stage::StagedDocuments,
};
use jsonathlon_schema::{id::DataState, settings::WorkloadSettings, workload::WorkloadKind};

use crate::{
    RunError,
    asking::Question,
    expected_time::{ExpectedPart, ExpectedTime, RoundCount, RunOutline, RunPart, TypicalTimes},
    observer::RunEvent,
    questions::{DocumentSet, Questions},
    recorder::TrialRecorder,
    run_context::{RunContext, TargetState},
    snapshot::Snapshot,
    target::Target,
    workload::{Preparation, Workload},
};

/// Part of the run that all rounds belong to.
const ROUNDS: RunPart = RunPart::Rounds(DataState::Drained);
/// Expected seconds around each trial: connecting clients, ending them, verifying what they wrote.
const AROUND_TRIAL_S: f64 = 0.2;
/// Expected seconds of unmeasured reads after each start.
const AFTER_START_S: f64 = 1.0;

/// The serving workload with its settings.
#[derive(Debug)]
pub struct Serving {
    settings: ServingSettings,
    /// A user's documents with their keys. `None` for generated records, and before the documents are staged.
    own_records: Option<OwnRecords>,
    /// Questions that are asked at rest and beside each load, with the expected answers known so far. `None` without
    /// such.
    reports: Option<Questions>,
}

impl Serving {
    /// Creates the workload with these settings.
    ///
    /// # Errors
    /// If the answers of a mix cannot be verified, or records cannot be generated from the settings.
    pub fn new(settings: ServingSettings) -> Result<Self, String> {
        settings.mixes.iter().try_for_each(trials::check_mix)?;
        match &settings.records {
            ServedRecords::Generated(records) => {
                records.prepare().map_err(|error| error.to_string())?;
            }
            ServedRecords::Own { own } => {
                settings.mixes.iter().try_for_each(own_documents::check_mix)?;
                own_documents::check_paths(own)?;
            }
        }
        let reports = reports::questions(&settings)?;
        Ok(Self { settings, own_records: None, reports })
    }

    /// Records as a configuration stores them, with the system's name for the key member.
    ///
    /// # Errors
    /// If the configuration cannot store such records, or the user's documents were not prepared yet.
    fn records(&self, setup: &ServingSetup) -> Result<TargetRecords, String> {
        match (&self.settings.records, &self.own_records) {
            (ServedRecords::Generated(records), _) => {
                let records = Records { key_member: setup.key_member.clone(), ..records.clone() };
                records.prepare().map(TargetRecords::Generated).map_err(|error| error.to_string())
            }
            (ServedRecords::Own { .. }, Some(records)) => {
                Ok(TargetRecords::Own { records: own_documents::records_of(records, setup), baseline: None })
            }
            (ServedRecords::Own { .. }, None) => Err("the documents were not given keys".to_owned()),
        }
    }

    /// Why a configuration cannot hold the records; `None` if it can.
    fn unsupported_records(&self, name: &str, setup: &ServingSetup) -> Option<String> {
        let records = match &self.settings.records {
            ServedRecords::Generated(records) => records,
            ServedRecords::Own { .. } => {
                return own_documents::unsupported_reason(name, setup, self.own_records.as_ref());
            }
        };
        if records.key_type == KeyType::Bigint && setup.bigint_key.is_none() {
            return Some(format!("{name} has no keys of 64-bit integers here"));
        }
        let reason = self.records(setup).err()?;
        let member = setup.key_member.as_deref().unwrap_or_default();
        Some(format!("{name} calls the key `{member}`, and there are no such records: {reason}"))
    }
}

/// A configuration with the state that this workload keeps for it.
struct ServingTarget<'a> {
    state: TargetState<'a>,
    setup: ServingSetup,
    /// Records as this configuration stores them.
    records: TargetRecords,
    /// Copy of the data after the last load; `None` if no mix writes or the target is a remote server.
    snapshot: Option<Snapshot>,
    /// Number of loads and restores so far. Identifies the data to which known document versions refer.
    load_number: u64,
    /// Whether clients have run since the last load or restore.
    has_run: bool,
    /// Bytes per second that the idle system writes to its WAL; `None` if unknown or not measured yet.
    idle_wal_bytes_per_s: Option<f64>,
    /// Questions that the configuration has statements for. Empty without reports.
    questions: Vec<Question>,
    /// Documents that the system holds since its last load, which identify the expected answers of questions.
    documents: DocumentSet,
}

impl ServingTarget<'_> {
    /// Returns `true` if its statements are JSON instead of SQL text.
    fn is_json(&self) -> bool {
        self.setup.files.values().any(|file: &StatementFile| file.kind == StatementKind::Json)
    }
}

impl Workload for Serving {
    fn name(&self) -> &'static str {
        SERVING
    }

    fn settings(&self) -> Result<WorkloadSettings, serde_json::Error> {
        let questions = self.settings.reports.as_ref().map(|reports| reports.questions.clone());
        Ok(WorkloadSettings {
            questions,
            ..WorkloadSettings::for_workload(WorkloadKind::Serving, &self.settings)?
        })
    }

    fn unsupported_reason(&self, target: &Target) -> Option<String> {
        let name = &target.configuration.system;
        let Some(setup) = target.configuration.serving() else {
            return Some(format!("{name} has no folder {SERVING}/"));
        };
        if let Some(reason) = self.unsupported_records(name, &setup) {
            return Some(reason);
        }
        let is_supported =
            |mix: &jsonathlon_loadgen::mix::Mix| scripts::missing_operations(&setup, mix).is_empty();
        (!self.settings.mixes.is_empty() && !self.settings.mixes.iter().any(is_supported))
            .then(|| format!("{name} has none of the operations that the mixes need"))
    }

    fn required_disk_bytes(&self, documents: u64, systems: u64) -> u64 {
        // As by default; a user's documents are staged a second time, with their keys.
        let copies = if matches!(self.settings.records, ServedRecords::Own { .. }) { 2 } else { 1 };
        documents.saturating_mul(copies + 3 * systems)
    }

    fn size_option_hint(&self) -> &'static str {
        match self.settings.records {
            ServedRecords::Own { .. } => "fewer documents for --data",
            ServedRecords::Generated(_) => "a smaller --scale",
        }
    }

    fn prepare(
        &mut self,
        staged: StagedDocuments,
        preparation: &mut Preparation<'_>,
    ) -> Result<StagedDocuments, RunError> {
        let ServedRecords::Own { own } = &mut self.settings.records else { return Ok(staged) };
        let keyed = own_documents::prepare(own, &self.settings.mixes, staged, preparation)?;
        own_documents::choose_read_paths(
            &mut self.settings.projection,
            &self.settings.mixes,
            &keyed,
            preparation.observer,
        );
        let KeyedDocuments { staged, records, .. } = keyed;
        self.own_records = Some(records);
        Ok(staged)
    }

    fn describe_documents(&self, source: &Source) -> String {
        match &self.settings.records {
            ServedRecords::Generated(_) => source.to_string(),
            ServedRecords::Own { own } => {
                let unexplained = OwnDocuments { key_reason: None, update_reason: None, ..own.clone() };
                format!("own documents ({source}), {unexplained}")
            }
        }
    }

    fn expected_time(&self, outline: &RunOutline<'_>) -> ExpectedTime {
        let settings = &self.settings;
        let load_rounds = outline.settings.load_rounds.unwrap_or(1).max(1);
        let survey = self.reports.as_ref().map(|_| {
            let questions = settings.reports.iter().flat_map(|reports| &reports.questions.questions).count();
            let turn = |configuration| {
                let times = TypicalTimes::of(configuration);
                times.load_seconds(outline.typical_documents)
                    + reports::survey_seconds(questions, times, outline)
            };
            ExpectedPart::once(RunPart::Survey, outline.configurations.iter().copied().map(turn).collect())
        });
        let turns_of = |round: u32| -> Vec<f64> {
            let trials = trials::conditions(settings, round).len() as f64;
            let starts = trials::start_count(settings, round) as f64;
            let clients_s = trials::planned_seconds(settings, round);
            let turn = |times: TypicalTimes| {
                // The survey has loaded for the first round.
                let is_loading = round <= load_rounds && (round > 1 || self.reports.is_none());
                let load_s = if is_loading { times.load_seconds(outline.typical_documents) } else { 0.0 };
                load_s + clients_s + trials * AROUND_TRIAL_S + starts * (times.start_s + AFTER_START_S)
            };
            outline.configurations.iter().map(|configuration| turn(TypicalTimes::of(configuration))).collect()
        };
        let turns = (1..=load_rounds.saturating_add(1)).map(turns_of).collect();
        let part = ExpectedPart::new(ROUNDS, turns, outline.settings.rounds, RoundCount::ByStoppingRule);
        ExpectedTime::new(survey.into_iter().chain([part]).collect(), outline.settings)
    }

    fn planned_keys(&self, context: &RunContext<'_>) -> Vec<String> {
        let loads = context.settings.load_rounds.unwrap_or(1).max(1);
        let keys_of =
            |target| trials::keys(context.cells(target), &self.settings, context.settings.rounds, loads);
        context.targets.iter().flat_map(keys_of).collect()
    }

    fn run(&self, context: &RunContext<'_>, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError> {
        let mut targets = Vec::new();
        for mut state in context.target_states() {
            let target = state.cells.target;
            let configuration = &target.configuration;
            let Some(setup) = configuration.serving() else { continue };
            // Unsupported configurations were refused before the run, so none is left out silently.
            let records = self.records(&setup).map_err(|reason| {
                RunError::Catalogue(format!(
                    "{} cannot run on {}: {reason}",
                    self.name(),
                    configuration.system
                ))
            })?;
            state.session.set_placeholder("key_type", &records.key_declaration(&setup));
            targets.push(ServingTarget {
                state,
                setup,
                records,
                snapshot: None,
                load_number: 0,
                has_run: false,
                idle_wal_bytes_per_s: None,
                questions: reports::questions_of(self.reports.as_ref(), target),
                documents: DocumentSet::default(),
            });
        }
        let result = self.run_rounds(context, &mut targets, recorder);
        // The first error is returned, so the clean-up only warns.
        let mut targets: Vec<TargetState<'_>> = targets.into_iter().map(|target| target.state).collect();
        context.drop_remote_objects_of(&mut targets, recorder);
        result
    }
}

impl Serving {
    fn run_rounds<'a>(
        &self,
        context: &RunContext<'a>,
        targets: &mut [ServingTarget<'a>],
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let settings = &self.settings;
        let trial_seconds: f64 =
            (1..=context.settings.rounds).map(|round| trials::planned_seconds(settings, round)).sum();
        let starts: usize =
            (1..=context.settings.rounds).map(|round| trials::start_count(settings, round)).sum();
        recorder.observer.event(&RunEvent::Schedule(&format!(
            "{} configurations × {} trials a round × {} rounds: {:.0} s of clients at work, and {} starts on \
             fresh data",
            targets.len(),
            trials::conditions(settings, 2).len(),
            context.settings.rounds,
            trial_seconds * targets.len() as f64,
            starts * targets.len()
        )));
        survey_reports(self, context, targets, recorder)?;
        context.run_rounds(ROUNDS, targets, recorder, |round, target, recorder| {
            let mut turn = ServingTurn::new(self, context, round);
            turn.run_missing_trials(target, recorder)?;
            Ok(target.state.cells.target)
        })
    }
}
