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

use jsonathlon_catalogue::{SERVING, Serving as Part, StatementFile, StatementKind, sql_text};
use jsonathlon_dataset::records::{KeyType, RecordSet, Records};
use jsonathlon_telemetry::control::Control;

use crate::{
    RunError,
    cells::rotation,
    observer::RunEvent,
    recorder::TrialRecorder,
    run_context::{RunContext, TargetState},
    snapshot::Snapshot,
    stopping::RoundDecision,
    target::Target,
    workload::Workload,
};

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
        settings.mixes.iter().try_for_each(trials::check)?;
        settings.records.prepare().map_err(|error| error.to_string())?;
        Ok(Self { settings })
    }

    /// Description of the records as a configuration stores them, with the system's name for the key member.
    fn records(&self, part: &Part) -> Result<RecordSet, String> {
        let records = Records { key_member: part.key_member.clone(), ..self.settings.records.clone() };
        records.prepare().map_err(|error| error.to_string())
    }
}

/// A configuration with the state that this workload keeps for it.
struct ServingTarget<'a> {
    of: TargetState<'a>,
    part: Part,
    /// Description of the records as this configuration stores them.
    records: RecordSet,
    /// Copy of the data after the last load; `None` if no mix writes or the target is a remote server.
    snapshot: Option<Snapshot>,
    /// Number of loads and restores so far. Identifies the data to which known document versions refer.
    load: u64,
    /// Whether clients have run since the last load or restore.
    has_run: bool,
    /// Bytes per second that the idle system writes to its WAL; `None` if unknown or not measured yet.
    idle_journal_per_s: Option<f64>,
}

impl ServingTarget<'_> {
    /// Returns `true` if its statements are JSON instead of SQL text.
    fn is_json(&self) -> bool {
        self.part.files.values().any(|file: &StatementFile| file.kind == StatementKind::Json)
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
            KeyType::Text => self.part.text_key.clone(),
            KeyType::Bigint => self.part.bigint_key.clone().unwrap_or_default(),
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

    fn settings(&self) -> serde_json::Value {
        serde_json::to_value(&self.settings).unwrap_or_default()
    }

    fn unsupported_reason(&self, target: &Target) -> Option<String> {
        let name = &target.configuration.system;
        let Some(part) = target.configuration.serving() else {
            return Some(format!("{name} has no folder {SERVING}/"));
        };
        if self.settings.records.key_type == KeyType::Bigint && part.bigint_key.is_none() {
            return Some(format!("{name} has no keys of 64-bit integers here"));
        }
        if let Err(why) = self.records(&part) {
            let member = part.key_member.as_deref().unwrap_or_default();
            return Some(format!("{name} calls the key `{member}`, and there are no such records: {why}"));
        }
        let can = |mix: &jsonathlon_loadgen::mix::Mix| scripts::missing(&part, mix).is_empty();
        (!self.settings.mixes.is_empty() && !self.settings.mixes.iter().any(can))
            .then(|| format!("{name} has none of the operations that the mixes need"))
    }

    fn planned_keys(&self, bench: &RunContext<'_>) -> Vec<String> {
        let loads = bench.settings.load_rounds.unwrap_or(1).max(1);
        let of = |target| trials::keys(bench.cells(target), &self.settings, bench.settings.rounds, loads);
        bench.targets.iter().flat_map(of).collect()
    }

    fn run(&self, bench: &RunContext<'_>, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError> {
        let mut all = Vec::new();
        for mut of in bench.all_under_test() {
            let configuration = &of.cells.target.configuration;
            let Some(part) = configuration.serving() else { continue };
            // Unsupported configurations were refused before the run, so none is left out silently.
            let records = self.records(&part).map_err(|why| {
                RunError::Catalogue(format!("{} cannot run on {}: {why}", self.name(), configuration.system))
            })?;
            let key_type = match self.settings.records.key_type {
                KeyType::Text => Some(&part.text_key),
                KeyType::Bigint => part.bigint_key.as_ref(),
            };
            of.session.set_placeholder("key_type", key_type.map_or("", String::as_str));
            all.push(ServingTarget {
                of,
                part,
                records,
                snapshot: None,
                load: 0,
                has_run: false,
                idle_journal_per_s: None,
            });
        }
        let ended = self.rounds(bench, &mut all, recorder);
        // The first error is returned, so the clean-up only warns.
        let mut all: Vec<TargetState<'_>> = all.into_iter().map(|one| one.of).collect();
        bench.drop_remote_objects_of(&mut all, recorder);
        ended
    }
}

impl Serving {
    fn rounds<'a>(
        &self,
        bench: &RunContext<'a>,
        all: &mut [ServingTarget<'a>],
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let own = &self.settings;
        let trials: f64 = (1..=bench.settings.rounds).map(|round| trials::seconds(own, round)).sum();
        let starts: usize = (1..=bench.settings.rounds).map(|round| trials::starts(own, round)).sum();
        recorder.observer.event(&RunEvent::Schedule(&format!(
            "{} configurations × {} trials a round × {} rounds: {:.0} s of clients at work; {} starts on fresh data and \
             the loads come on top, and the first round tells how long all of it takes",
            all.len(),
            trials::conditions(own, 2).len(),
            bench.settings.rounds,
            trials * all.len() as f64,
            starts * all.len()
        )));
        let mut control = Control::new();
        let mut pace = bench.pace(None);
        let mut round = 1;
        loop {
            for (place, index) in rotation(all.len(), round).into_iter().enumerate() {
                let Some(one) = all.get_mut(index) else { continue };
                bench.control(round, place, &mut control, recorder)?;
                let mut turn = ServingTurn { bench, own, round, capacity: HashMap::new() };
                turn.take(one, recorder)?;
            }
            let next = pace.after(round, bench.elapsed_s(), Vec::new)?;
            pace.tell(recorder.observer);
            if next == RoundDecision::Enough {
                return Ok(());
            }
            round += 1;
        }
    }
}
