//! The serving workload: many concurrent clients read, update and insert documents.
//!
//! Mixes of operations are those of YCSB on JSON documents. A trial runs one configuration with one mix and a
//! number of clients for some seconds. Every answer is verified, and a failed operation does not count.

mod encoding;
mod outcome;
mod pinning;
mod plans;
pub(crate) mod scripts;
mod slo_search;
mod trials;
mod turn;
mod wal;

pub mod mixes;
pub mod settings;

use std::collections::HashMap;

use settings::ServingSettings;
use turn::ServingTurn;

use jsonathlon_catalogue::{SERVING, ServingSetup, StatementFile, StatementKind, sql_text};
use jsonathlon_dataset::records::{KeyType, RecordSet, Records};
use jsonathlon_schema::{id::DataState, settings::WorkloadSettings, workload::WorkloadKind};
use jsonathlon_telemetry::control::Control;

use crate::{
    RunError,
    cells::rotation,
    expected_time::{ExpectedPart, ExpectedTime, RoundCount, RunOutline, RunPart, TypicalTimes},
    observer::RunEvent,
    recorder::TrialRecorder,
    run_context::{RunContext, TargetState},
    snapshot::Snapshot,
    stopping::RoundDecision,
    target::Target,
    workload::Workload,
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
}

impl Serving {
    /// Creates the workload with these settings.
    ///
    /// # Errors
    /// If the answers of a mix cannot be verified, or records cannot be generated from the settings.
    pub fn new(settings: ServingSettings) -> Result<Self, String> {
        settings.mixes.iter().try_for_each(trials::check_mix)?;
        settings.records.prepare().map_err(|error| error.to_string())?;
        Ok(Self { settings })
    }

    /// Description of the records as a configuration stores them, with the system's name for the key member.
    fn records(&self, setup: &ServingSetup) -> Result<RecordSet, String> {
        let records = Records { key_member: setup.key_member.clone(), ..self.settings.records.clone() };
        records.prepare().map_err(|error| error.to_string())
    }
}

/// A configuration with the state that this workload keeps for it.
struct ServingTarget<'a> {
    state: TargetState<'a>,
    setup: ServingSetup,
    /// Description of the records as this configuration stores them.
    records: RecordSet,
    /// Copy of the data after the last load; `None` if no mix writes or the target is a remote server.
    snapshot: Option<Snapshot>,
    /// Number of loads and restores so far. Identifies the data to which known document versions refer.
    load_number: u64,
    /// Whether clients have run since the last load or restore.
    has_run: bool,
    /// Bytes per second that the idle system writes to its WAL; `None` if unknown or not measured yet.
    idle_wal_bytes_per_s: Option<f64>,
}

impl ServingTarget<'_> {
    /// Returns `true` if its statements are JSON instead of SQL text.
    fn is_json(&self) -> bool {
        self.setup.files.values().any(|file: &StatementFile| file.kind == StatementKind::Json)
    }

    /// Example values for reading a query plan, written as literals.
    fn examples(&self) -> Vec<(String, String)> {
        let records = &self.records;
        let (mut key, mut document, mut value) = (Vec::new(), Vec::new(), Vec::new());
        records.key(0, &mut key);
        records.document(0, 0, &mut document);
        records.value(0, records.group_path(), 0, &mut value);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let literal = match self.is_json() {
            // In JSON statements, text is already quoted.
            true => text,
            false => |bytes: &[u8]| format!("'{}'", sql_text(&String::from_utf8_lossy(bytes))),
        };
        let key = match records.records().key_type {
            KeyType::Text => literal(&key),
            KeyType::Bigint => text(&key),
        };
        let key_type = match records.records().key_type {
            KeyType::Text => self.setup.text_key.clone(),
            KeyType::Bigint => self.setup.bigint_key.clone().unwrap_or_default(),
        };
        Vec::from([
            ("key_type".to_owned(), key_type),
            ("key".to_owned(), key),
            ("document".to_owned(), literal(&document)),
            ("keyed_document".to_owned(), literal(&document)),
            ("value".to_owned(), literal(&value)),
            ("old".to_owned(), literal(&value)),
            ("condition".to_owned(), literal(&value)),
            ("limit".to_owned(), "10".to_owned()),
        ])
    }
}

impl Workload for Serving {
    fn name(&self) -> &'static str {
        SERVING
    }

    fn settings(&self) -> Result<WorkloadSettings, serde_json::Error> {
        WorkloadSettings::for_workload(WorkloadKind::Serving, &self.settings)
    }

    fn unsupported_reason(&self, target: &Target) -> Option<String> {
        let name = &target.configuration.system;
        let Some(setup) = target.configuration.serving() else {
            return Some(format!("{name} has no folder {SERVING}/"));
        };
        if self.settings.records.key_type == KeyType::Bigint && setup.bigint_key.is_none() {
            return Some(format!("{name} has no keys of 64-bit integers here"));
        }
        if let Err(reason) = self.records(&setup) {
            let member = setup.key_member.as_deref().unwrap_or_default();
            return Some(format!("{name} calls the key `{member}`, and there are no such records: {reason}"));
        }
        let is_supported =
            |mix: &jsonathlon_loadgen::mix::Mix| scripts::missing_operations(&setup, mix).is_empty();
        (!self.settings.mixes.is_empty() && !self.settings.mixes.iter().any(is_supported))
            .then(|| format!("{name} has none of the operations that the mixes need"))
    }

    fn expected_time(&self, outline: &RunOutline<'_>) -> ExpectedTime {
        let settings = &self.settings;
        let load_rounds = outline.settings.load_rounds.unwrap_or(1).max(1);
        let turns_of = |round: u32| -> Vec<f64> {
            let trials = trials::conditions(settings, round).len() as f64;
            let starts = trials::start_count(settings, round) as f64;
            let clients_s = trials::planned_seconds(settings, round);
            let turn = |times: TypicalTimes| {
                let load_s =
                    if round <= load_rounds { times.load_seconds(outline.typical_documents) } else { 0.0 };
                load_s + clients_s + trials * AROUND_TRIAL_S + starts * (times.start_s + AFTER_START_S)
            };
            outline.configurations.iter().map(|configuration| turn(TypicalTimes::of(configuration))).collect()
        };
        let turns = (1..=load_rounds.saturating_add(1)).map(turns_of).collect();
        let part = ExpectedPart::new(ROUNDS, turns, outline.settings.rounds, RoundCount::ByStoppingRule);
        ExpectedTime::new(vec![part], outline.settings)
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
            let configuration = &state.cells.target.configuration;
            let Some(setup) = configuration.serving() else { continue };
            // Unsupported configurations were refused before the run, so none is left out silently.
            let records = self.records(&setup).map_err(|reason| {
                RunError::Catalogue(format!(
                    "{} cannot run on {}: {reason}",
                    self.name(),
                    configuration.system
                ))
            })?;
            let key_type = match self.settings.records.key_type {
                KeyType::Text => Some(&setup.text_key),
                KeyType::Bigint => setup.bigint_key.as_ref(),
            };
            state.session.set_placeholder("key_type", key_type.map_or("", String::as_str));
            targets.push(ServingTarget {
                state,
                setup,
                records,
                snapshot: None,
                load_number: 0,
                has_run: false,
                idle_wal_bytes_per_s: None,
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
        let mut control = Control::new();
        let mut controller = context.round_controller(None);
        let mut round = 1;
        loop {
            for (position, index) in rotation(targets.len(), round).into_iter().enumerate() {
                let Some(target) = targets.get_mut(index) else { continue };
                context.time_control(round, position, &mut control, recorder)?;
                let mut turn = ServingTurn { context, settings, round, capacity: HashMap::new() };
                turn.run_missing_trials(target, recorder)?;
                recorder.end_turn(ROUNDS, round, index, target.state.cells.target);
            }
            let decision = controller.decide_after(round, context.elapsed_s(), Vec::new)?;
            controller.report(recorder.observer);
            if let Some(planned) = controller.planned_rounds() {
                recorder.plan_rounds(planned);
            }
            if decision == RoundDecision::Stop {
                return Ok(());
            }
            round += 1;
        }
    }
}
