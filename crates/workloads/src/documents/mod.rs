//! The documents workload: large documents are copied with a small change, queried for one number, and
//! indexed.
//!
//! Tables of documents of several sizes are processed one after the other by every system. All returned
//! documents are compared with the originals by value, outside of the measured times.

mod copies;
mod expected;
mod history;
mod index_usage;
mod indexes;
mod limits;
mod steps;
mod trials;
mod turn;
mod update;

pub mod settings;

use std::{
    io::{BufWriter, Write},
    path::Path,
};

use expected::ExpectedAnswers;
use settings::DocumentsSettings;
use trials::{ConfiguredTable, TestCells};
use turn::DocumentsTurn;

use jsonathlon_catalogue::{DOCUMENTS, DocumentsSetup};
use jsonathlon_dataset::nested::{NestedGenerator, NestedTable};
use jsonathlon_schema::{record::Failure, settings::WorkloadSettings, workload::WorkloadKind};
use jsonathlon_telemetry::control::Control;

use crate::{
    RunError,
    cells::rotation,
    expected_time::{ExpectedPart, ExpectedTime, RoundCount, RunOutline, RunPart, TypicalTimes},
    observer::RunEvent,
    recorder::TrialRecorder,
    run_context::{RunContext, TargetState},
    target::Target,
    workload::Workload,
};

/// Disk space that a system may need for each byte of its documents: the table, a copy, an index, and the WAL
/// of all three.
const DISK_PER_BYTE: u64 = 6;
/// Expected number of starts in each round of a table: for its steps, and for those with a cold cache.
const STARTS: (f64, f64) = (2.0, 3.0);
/// Expected duration of the indexes of a table, in rounds without them: of the best ones, and of all.
const INDEX_ROUNDS: (f64, f64) = (1.0, 3.0);
/// Expected seconds of one step in the search of the largest document, apart from a start.
const SEARCH_STEP_S: f64 = 0.5;

/// The documents workload with its tables.
#[derive(Debug)]
pub struct Documents {
    settings: DocumentsSettings,
    tables: Vec<NestedTable>,
}

impl Documents {
    /// Creates the workload with these settings.
    ///
    /// # Errors
    /// If a size of documents is not supported, or no size is given.
    pub fn new(settings: DocumentsSettings) -> Result<Self, String> {
        Ok(Self { tables: settings.tables()?, settings })
    }
}

/// State of a configuration over one table.
#[derive(Debug, Default)]
struct TableProgress {
    /// Whether the data folder was emptied for this table.
    is_fresh: bool,
    /// Names of the tables that exist in the system.
    existing_tables: Vec<&'static str>,
    /// Sum of hashes and total bytes of the exported texts that were verified by value; `None` before.
    verified_texts: Option<(u64, u64)>,
    /// Why no further steps run on this table; `None` if they can run.
    failure: Option<Failure>,
}

impl Workload for Documents {
    fn name(&self) -> &'static str {
        DOCUMENTS
    }

    fn settings(&self) -> Result<WorkloadSettings, serde_json::Error> {
        WorkloadSettings::for_workload(WorkloadKind::Documents, &self.settings)
    }

    fn unsupported_reason(&self, target: &Target) -> Option<String> {
        let name = &target.configuration.system;
        target.configuration.documents().is_none().then(|| format!("{name} has no folder {DOCUMENTS}/"))
    }

    fn required_disk_bytes(&self, _: u64, systems: u64) -> u64 {
        let largest =
            self.tables.iter().map(|table| table.documents * NestedTable::nominal_bytes_of(table.n));
        // Tables are processed one after the other, and each system keeps its own data. The search for limits
        // then needs one document in one system at a time.
        let table_bytes = largest.max().unwrap_or_default() * (1 + DISK_PER_BYTE * systems);
        table_bytes.max(limits::largest_bytes(&self.settings) * (1 + DISK_PER_BYTE))
    }

    fn size_option_hint(&self) -> &'static str {
        "a smaller --table-size"
    }

    fn expected_time(&self, outline: &RunOutline<'_>) -> ExpectedTime {
        let settings = &self.settings;
        let turns = |seconds: &dyn Fn(TypicalTimes) -> f64| -> Vec<f64> {
            outline.configurations.iter().map(|one| seconds(TypicalTimes::of(one))).collect()
        };
        let mut parts = Vec::new();
        for (index, table) in self.tables.iter().enumerate() {
            let bytes = table.documents * NestedTable::nominal_bytes_of(table.n);
            let mebibytes = bytes as f64 / f64::from(1 << 20);
            let starts = STARTS.0 + if settings.cold { STARTS.1 } else { 0.0 };
            let round_s = |times: TypicalTimes| starts * times.start_s + mebibytes * times.mebibyte_s;
            let index_rounds = if settings.all_indexes { INDEX_ROUNDS.1 } else { INDEX_ROUNDS.0 };
            let first_s = |times: TypicalTimes| (1.0 + index_rounds) * round_s(times);
            let rows = vec![turns(&first_s), turns(&round_s)];
            let rounds = outline.settings.rounds;
            parts.push(ExpectedPart::new(RunPart::Table(index), rows, rounds, RoundCount::Fixed));
        }
        let steps = settings.max_size_search.len() as f64;
        let search_s = |times: TypicalTimes| steps * (times.start_s + SEARCH_STEP_S);
        parts.push(ExpectedPart::once(RunPart::SizeSearch, turns(&search_s)));
        ExpectedTime::new(parts, outline.settings)
    }

    fn planned_keys(&self, context: &RunContext<'_>) -> Vec<String> {
        let mut keys: Vec<String> = context
            .targets
            .iter()
            .filter(|target| target.configuration.documents().is_some())
            .flat_map(|target| limits::keys(context.cells(target), &self.settings))
            .collect();
        for table in &self.tables {
            for target in context.targets {
                let Some(setup) = target.configuration.documents() else { continue };
                let tests = TestCells::new(context.cells(target), ConfiguredTable::new(*table, &setup));
                for round in 1..=context.settings.rounds {
                    keys.extend(trials::keys(&tests, &setup, &self.settings, round));
                }
            }
        }
        keys
    }

    fn run(&self, context: &RunContext<'_>, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError> {
        let mut targets: Vec<(TargetState<'_>, DocumentsSetup)> = context
            .target_states()
            .into_iter()
            .filter_map(|state| Some((state.cells.target.configuration.documents()?, state)))
            .map(|(setup, state)| (state, setup))
            .collect();
        let result = self
            .run_tables(context, &mut targets, recorder)
            .and_then(|()| self.search_sizes(context, &mut targets, recorder));
        // The first error is returned, so the clean-up only warns.
        let mut targets: Vec<TargetState<'_>> = targets.into_iter().map(|(state, _)| state).collect();
        context.drop_remote_objects_of(&mut targets, recorder);
        result
    }
}

impl Documents {
    fn run_tables<'a>(
        &self,
        context: &RunContext<'a>,
        targets: &mut [(TargetState<'a>, DocumentsSetup)],
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let bytes: u64 =
            self.tables.iter().map(|table| table.documents * NestedTable::nominal_bytes_of(table.n)).sum();
        recorder.observer.event(&RunEvent::Schedule(&format!(
            "{} configurations × {} tables ({} MiB) × {} rounds: import, export, copy, index",
            targets.len(),
            self.tables.len(),
            bytes >> 20,
            context.settings.rounds
        )));
        let mut control = Control::new();
        for (table_index, table) in self.tables.iter().enumerate() {
            let result = self.run_table(context, table_index, *table, targets, &mut control, recorder);
            for (state, _) in targets.iter_mut() {
                // The next table starts with an empty data folder; the data of this one is not needed any
                // more.
                state.session.kill();
                if !context.settings.keep_data && !state.session.is_remote() {
                    std::fs::remove_dir_all(state.session.folder()).ok();
                }
            }
            result?;
        }
        Ok(())
    }

    /// Searches the largest document of every configuration.
    fn search_sizes<'a>(
        &self,
        context: &RunContext<'a>,
        targets: &mut [(TargetState<'a>, DocumentsSetup)],
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        for (index, (state, setup)) in targets.iter_mut().enumerate() {
            limits::find(context, &self.settings, setup, state, recorder)?;
            recorder.end_turn(RunPart::SizeSearch, 1, index, state.cells.target);
        }
        Ok(())
    }

    /// Runs all rounds over one table.
    fn run_table<'a>(
        &self,
        context: &RunContext<'a>,
        table_index: usize,
        requested: NestedTable,
        targets: &mut [(TargetState<'a>, DocumentsSetup)],
        control: &mut Control,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let rounds = context.settings.rounds;
        let has_missing = |(state, setup): &(TargetState<'a>, DocumentsSetup),
                           recorder: &TrialRecorder<'_>| {
            let tests = TestCells::new(state.cells, ConfiguredTable::new(requested, setup));
            (1..=rounds).any(|round| {
                trials::keys(&tests, setup, &self.settings, round).iter().any(|key| !recorder.has(key))
            })
        };
        if !targets.iter().any(|target| has_missing(target, recorder)) {
            return Ok(());
        }
        let mut progresses: Vec<TableProgress> = targets.iter().map(|_| TableProgress::default()).collect();
        // Configurations that support only smaller documents use a file of their own.
        let mut staged_tables: Vec<StagedTable> = Vec::new();
        for round in 1..=rounds {
            for (position, index) in rotation(targets.len(), round).into_iter().enumerate() {
                let (Some((state, setup)), Some(progress)) =
                    (targets.get_mut(index), progresses.get_mut(index))
                else {
                    continue;
                };
                let position = position + table_index * context.targets.len();
                context.time_control(round, position, control, recorder)?;
                let tests = TestCells::new(state.cells, ConfiguredTable::new(requested, setup));
                let table = tests.configured_table.table;
                let known = staged_tables.iter().position(|staged| staged.expected.table == table);
                let staged_index = match known {
                    Some(staged_index) => staged_index,
                    None => {
                        staged_tables.push(StagedTable::make(table, &context.work_folder)?);
                        staged_tables.len() - 1
                    }
                };
                let Some(staged) = staged_tables.get(staged_index) else { continue };
                let turn = DocumentsTurn {
                    context,
                    settings: &self.settings,
                    setup,
                    tests,
                    expected: &staged.expected,
                    file: &staged.file,
                    source_bytes: staged.bytes,
                    round,
                };
                turn.run_missing_trials(state, progress, recorder)?;
                recorder.end_turn(RunPart::Table(table_index), round, index, state.cells.target);
            }
        }
        for staged in staged_tables {
            std::fs::remove_file(&staged.file)
                .map_err(RunError::io(format!("remove {}", staged.file.display())))?;
        }
        Ok(())
    }
}

/// File with the documents of a table, and the expected answers over them.
struct StagedTable {
    expected: ExpectedAnswers,
    file: std::path::PathBuf,
    /// Total size in bytes of the documents' texts.
    bytes: u64,
}

impl StagedTable {
    fn make(table: NestedTable, work: &Path) -> Result<Self, RunError> {
        let file = work.join(format!("documents-{}-{}.ndjson", table.n, table.data));
        let mut generator = NestedGenerator::new(table);
        let result = std::fs::create_dir_all(work).and_then(|()| {
            let mut writer = BufWriter::with_capacity(1 << 20, std::fs::File::create(&file)?);
            (0..table.documents).try_for_each(|key| generator.line(key, &mut writer))?;
            writer.flush()
        });
        result.map_err(RunError::io(format!("write {}", file.display())))?;
        let bytes = generator.bytes();
        drop(generator);
        Ok(Self { expected: ExpectedAnswers::new(table), file, bytes })
    }
}
