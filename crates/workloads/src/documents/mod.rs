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

use jsonathlon_catalogue::{DOCUMENTS, Documents as Part};
use jsonathlon_dataset::nested::{NestedGenerator, NestedTable};
use jsonathlon_schema::record::Failure;
use jsonathlon_telemetry::control::Control;

use crate::{
    RunError,
    cells::rotation,
    observer::RunEvent,
    recorder::TrialRecorder,
    run_context::{RunContext, TargetState},
    target::Target,
    workload::Workload,
};

/// Disk space that a system may need for each byte of its documents: the table, a copy, an index, and the WAL
/// of all three.
const DISK_PER_BYTE: u64 = 6;

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
    has: Vec<&'static str>,
    /// Sum of hashes and total bytes of the exported texts that were verified by value; `None` before.
    texts: Option<(u64, u64)>,
    /// Why no further steps run on this table; `None` if they can run.
    failed: Option<Failure>,
}

impl Workload for Documents {
    fn name(&self) -> &'static str {
        DOCUMENTS
    }

    fn settings(&self) -> serde_json::Value {
        serde_json::to_value(&self.settings).unwrap_or_default()
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
        let of_tables = largest.max().unwrap_or_default() * (1 + DISK_PER_BYTE * systems);
        of_tables.max(limits::room(&self.settings) * (1 + DISK_PER_BYTE))
    }

    fn size_option_hint(&self) -> &'static str {
        "a smaller --total"
    }

    fn planned_keys(&self, bench: &RunContext<'_>) -> Vec<String> {
        let mut keys: Vec<String> = bench
            .targets
            .iter()
            .filter(|target| target.configuration.documents().is_some())
            .flat_map(|target| limits::keys(bench.cells(target), &self.settings))
            .collect();
        for table in &self.tables {
            for target in bench.targets {
                let Some(part) = target.configuration.documents() else { continue };
                let tests = TestCells::new(bench.cells(target), ConfiguredTable::of(*table, &part));
                for round in 1..=bench.settings.rounds {
                    keys.extend(trials::keys(&tests, &part, &self.settings, round));
                }
            }
        }
        keys
    }

    fn run(&self, bench: &RunContext<'_>, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError> {
        let mut all: Vec<(TargetState<'_>, Part)> = bench
            .all_under_test()
            .into_iter()
            .filter_map(|of| Some((of.cells.target.configuration.documents()?, of)))
            .map(|(part, of)| (of, part))
            .collect();
        let ended = self.tables(bench, &mut all, recorder).and_then(|()| {
            let mut all = all.iter_mut();
            all.try_for_each(|(one, part)| limits::find(bench, &self.settings, part, one, recorder))
        });
        // The first error is returned, so the clean-up only warns.
        let mut all: Vec<TargetState<'_>> = all.into_iter().map(|(of, _)| of).collect();
        bench.drop_remote_objects_of(&mut all, recorder);
        ended
    }
}

impl Documents {
    fn tables<'a>(
        &self,
        bench: &RunContext<'a>,
        all: &mut [(TargetState<'a>, Part)],
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let bytes: u64 =
            self.tables.iter().map(|table| table.documents * NestedTable::nominal_bytes_of(table.n)).sum();
        recorder.observer.event(&RunEvent::Schedule(&format!(
            "{} configurations × {} tables of {} MiB in all × {} rounds: each imported, read out, copied and indexed",
            all.len(),
            self.tables.len(),
            bytes >> 20,
            bench.settings.rounds
        )));
        let mut control = Control::new();
        for (place, table) in self.tables.iter().enumerate() {
            let ended = self.table(bench, place, *table, all, &mut control, recorder);
            for (one, _) in all.iter_mut() {
                // The next table starts with an empty data folder; the data of this one is not needed any
                // more.
                one.session.kill();
                if !bench.settings.keep_data && !one.session.is_remote() {
                    std::fs::remove_dir_all(one.session.folder()).ok();
                }
            }
            ended?;
        }
        Ok(())
    }

    /// Runs all rounds over one table.
    fn table<'a>(
        &self,
        bench: &RunContext<'a>,
        place: usize,
        asked: NestedTable,
        all: &mut [(TargetState<'a>, Part)],
        control: &mut Control,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let rounds = bench.settings.rounds;
        let is_open = |at: &(TargetState<'a>, Part), recorder: &TrialRecorder<'_>| {
            let tests = TestCells::new(at.0.cells, ConfiguredTable::of(asked, &at.1));
            (1..=rounds).any(|round| {
                trials::keys(&tests, &at.1, &self.settings, round).iter().any(|key| !recorder.has(key))
            })
        };
        if !all.iter().any(|one| is_open(one, recorder)) {
            return Ok(());
        }
        let mut kept: Vec<TableProgress> = all.iter().map(|_| TableProgress::default()).collect();
        // Configurations that support only smaller documents use a file of their own.
        let mut staged: Vec<StagedTable> = Vec::new();
        for round in 1..=rounds {
            for (turn, index) in rotation(all.len(), round).into_iter().enumerate() {
                let (Some((one, part)), Some(kept)) = (all.get_mut(index), kept.get_mut(index)) else {
                    continue;
                };
                bench.control(round, turn + place * bench.targets.len(), control, recorder)?;
                let tests = TestCells::new(one.cells, ConfiguredTable::of(asked, part));
                let at = match staged.iter().position(|one| one.truth.table == tests.at.table) {
                    Some(at) => at,
                    None => {
                        staged.push(StagedTable::make(tests.at.table, &bench.work)?);
                        staged.len() - 1
                    }
                };
                let Some(made) = staged.get(at) else { continue };
                let turn = DocumentsTurn {
                    bench,
                    own: &self.settings,
                    part,
                    tests,
                    truth: &made.truth,
                    file: &made.file,
                    source_bytes: made.bytes,
                    round,
                };
                turn.run_missing_trials(one, kept, recorder)?;
            }
        }
        for made in staged {
            std::fs::remove_file(&made.file)
                .map_err(RunError::io(format!("remove {}", made.file.display())))?;
        }
        Ok(())
    }
}

/// File with the documents of a table, and the expected answers over them.
struct StagedTable {
    truth: ExpectedAnswers,
    file: std::path::PathBuf,
    /// Total size in bytes of the documents' texts.
    bytes: u64,
}

impl StagedTable {
    fn make(table: NestedTable, work: &Path) -> Result<Self, RunError> {
        let file = work.join(format!("documents-{}-{}.ndjson", table.n, table.data));
        let mut maker = NestedGenerator::new(table);
        let written = std::fs::create_dir_all(work).and_then(|()| {
            let mut out = BufWriter::with_capacity(1 << 20, std::fs::File::create(&file)?);
            (0..table.documents).try_for_each(|key| maker.line(key, &mut out))?;
            out.flush()
        });
        written.map_err(RunError::io(format!("write {}", file.display())))?;
        let bytes = maker.bytes();
        drop(maker);
        Ok(Self { truth: ExpectedAnswers::of(table), file, bytes })
    }
}
