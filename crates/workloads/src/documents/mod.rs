//! The documents workload: large documents, copied with a small change, asked for one number, and indexed.
//!
//! Tables of documents of several sizes go through every system one after the other. All that comes out is compared by
//! value with what went in; times are those of statements alone.

mod copies;
mod history;
mod indexes;
mod limits;
mod matrix;
mod steps;
mod trials;
mod truth;
mod turn;
mod update;

pub mod settings;

use std::io::{BufWriter, Write};
use std::path::Path;

use jsonathlon_dataset::ordinal::{Maker, Table};
use jsonathlon_measure::control::Control;
use jsonathlon_results::record::Failure;
use jsonathlon_systems::{DOCUMENTS, Documents as Part};

use crate::RunError;
use crate::bench::{Bench, UnderTest};
use crate::cells::rotation;
use crate::observer::Event;
use crate::recorder::Recorder;
use crate::target::Target;
use crate::workload::Workload;
use settings::DocumentsSettings;
use trials::{At, Tests};
use truth::Truth;
use turn::Turn;

/// Bytes on the disk that a system may take for each byte of its documents: the table, a copy of it, an index, and the
/// log of all three.
const DISK_PER_BYTE: u64 = 6;

/// The workload.
#[derive(Debug)]
pub struct Documents {
    settings: DocumentsSettings,
    tables: Vec<Table>,
}

impl Documents {
    /// With these settings.
    ///
    /// # Errors
    /// Sizes that no document has.
    pub fn new(settings: DocumentsSettings) -> Result<Self, String> {
        Ok(Self { tables: settings.tables()?, settings })
    }
}

/// What is known of a configuration over one table.
#[derive(Debug, Default)]
struct Kept {
    /// Whether its folder was begun afresh for this table.
    is_fresh: bool,
    /// Tables that are there.
    has: Vec<&'static str>,
    /// Sum and bytes of the texts that were proved by value.
    texts: Option<(u64, u64)>,
    /// Why nothing more is done.
    failed: Option<Failure>,
}

impl Workload for Documents {
    fn name(&self) -> &'static str {
        DOCUMENTS
    }

    fn settings(&self) -> serde_json::Value {
        serde_json::to_value(&self.settings).unwrap_or_default()
    }

    fn refuses(&self, target: &Target) -> Option<String> {
        let name = &target.configuration.system;
        target.configuration.documents().is_none().then(|| format!("{name} has no folder {DOCUMENTS}/"))
    }

    fn room(&self, _: u64, systems: u64) -> u64 {
        let largest = self.tables.iter().map(|table| table.documents * Table::nominal_bytes_of(table.n));
        // One table after the other, of which each system keeps its own; at the end one document after the other, of which
        // one system has one.
        let of_tables = largest.max().unwrap_or_default() * (1 + DISK_PER_BYTE * systems);
        of_tables.max(limits::room(&self.settings) * (1 + DISK_PER_BYTE))
    }

    fn less(&self) -> &'static str {
        "a smaller --total"
    }

    fn keys(&self, bench: &Bench<'_>) -> Vec<String> {
        let mut keys: Vec<String> = bench
            .targets
            .iter()
            .filter(|target| target.configuration.documents().is_some())
            .flat_map(|target| limits::keys(bench.cells(target), &self.settings))
            .collect();
        for table in &self.tables {
            for target in bench.targets {
                let Some(part) = target.configuration.documents() else { continue };
                let tests = Tests::new(bench.cells(target), At::of(*table, &part));
                for round in 1..=bench.settings.rounds {
                    keys.extend(trials::keys(&tests, &part, &self.settings, round));
                }
            }
        }
        keys
    }

    fn run(&self, bench: &Bench<'_>, recorder: &mut Recorder<'_>) -> Result<(), RunError> {
        let mut all: Vec<(UnderTest<'_>, Part)> = bench
            .all_under_test()
            .into_iter()
            .filter_map(|of| Some((of.cells.target.configuration.documents()?, of)))
            .map(|(part, of)| (of, part))
            .collect();
        let ended = self.tables(bench, &mut all, recorder).and_then(|()| {
            let mut all = all.iter_mut();
            all.try_for_each(|(one, part)| limits::find(bench, &self.settings, part, one, recorder))
        });
        // The first error is the one that matters.
        let mut all: Vec<UnderTest<'_>> = all.into_iter().map(|(of, _)| of).collect();
        bench.leave(&mut all, recorder);
        ended
    }
}

impl Documents {
    fn tables<'a>(
        &self,
        bench: &Bench<'a>,
        all: &mut [(UnderTest<'a>, Part)],
        recorder: &mut Recorder<'_>,
    ) -> Result<(), RunError> {
        let bytes: u64 =
            self.tables.iter().map(|table| table.documents * Table::nominal_bytes_of(table.n)).sum();
        recorder.observer.event(&Event::Pace(&format!(
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
                // The next table begins with an empty folder; this one's data is of no more use.
                one.session.kill();
                if !bench.settings.keep_data && !one.session.is_guest() {
                    std::fs::remove_dir_all(one.session.folder()).ok();
                }
            }
            ended?;
        }
        Ok(())
    }

    /// All rounds over one table.
    fn table<'a>(
        &self,
        bench: &Bench<'a>,
        place: usize,
        asked: Table,
        all: &mut [(UnderTest<'a>, Part)],
        control: &mut Control,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), RunError> {
        let rounds = bench.settings.rounds;
        let is_open = |at: &(UnderTest<'a>, Part), recorder: &Recorder<'_>| {
            let tests = Tests::new(at.0.cells, At::of(asked, &at.1));
            (1..=rounds).any(|round| {
                trials::keys(&tests, &at.1, &self.settings, round).iter().any(|key| !recorder.has(key))
            })
        };
        if !all.iter().any(|one| is_open(one, recorder)) {
            return Ok(());
        }
        let mut kept: Vec<Kept> = all.iter().map(|_| Kept::default()).collect();
        // Configurations that take smaller documents have a file of their own.
        let mut staged: Vec<Staged> = Vec::new();
        for round in 1..=rounds {
            for (turn, index) in rotation(all.len(), round).into_iter().enumerate() {
                let (Some((one, part)), Some(kept)) = (all.get_mut(index), kept.get_mut(index)) else {
                    continue;
                };
                bench.control(round, turn + place * bench.targets.len(), control, recorder)?;
                let tests = Tests::new(one.cells, At::of(asked, part));
                let at = match staged.iter().position(|one| one.truth.table == tests.at.table) {
                    Some(at) => at,
                    None => {
                        staged.push(Staged::make(tests.at.table, &bench.work)?);
                        staged.len() - 1
                    }
                };
                let Some(made) = staged.get(at) else { continue };
                let turn = Turn {
                    bench,
                    own: &self.settings,
                    part,
                    tests,
                    truth: &made.truth,
                    file: &made.file,
                    source_bytes: made.bytes,
                    round,
                };
                turn.take(one, kept, recorder)?;
            }
        }
        for made in staged {
            std::fs::remove_file(&made.file)
                .map_err(RunError::io(format!("remove {}", made.file.display())))?;
        }
        Ok(())
    }
}

/// The documents of a table in a file, and the right answers over them.
struct Staged {
    truth: Truth,
    file: std::path::PathBuf,
    /// Bytes of the documents' texts.
    bytes: u64,
}

impl Staged {
    fn make(table: Table, work: &Path) -> Result<Self, RunError> {
        let file = work.join(format!("documents-{}-{}.ndjson", table.n, table.data));
        let mut maker = Maker::new(table);
        let written = std::fs::create_dir_all(work).and_then(|()| {
            let mut out = BufWriter::with_capacity(1 << 20, std::fs::File::create(&file)?);
            (0..table.documents).try_for_each(|key| maker.line(key, &mut out))?;
            out.flush()
        });
        written.map_err(RunError::io(format!("write {}", file.display())))?;
        let bytes = maker.bytes();
        drop(maker);
        Ok(Self { truth: Truth::of(table), file, bytes })
    }
}
