//! Plans the trials of a run with large documents.

use jsonathlon_catalogue::{DocumentsSetup, Index, IndexQuery, Operation, QueryAnswer};
use jsonathlon_dataset::nested::NestedTable;
use jsonathlon_schema::{
    id::DataState,
    record::{Cell, Phase},
};

use super::settings::{DocumentsSettings, size_word};
use crate::cells::Cells;

/// A table in the size that one configuration supports.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConfiguredTable {
    /// Table that the user asked for.
    pub(super) requested: NestedTable,
    /// Table that is used: the same, or documents of the next smaller ordinal if those are the largest that
    /// the configuration is tried with.
    pub(super) table: NestedTable,
}

impl ConfiguredTable {
    /// Chooses the table for a configuration.
    pub(super) fn new(requested: NestedTable, setup: &DocumentsSetup) -> Self {
        let n = match setup.largest.as_ref() {
            // The number of documents stays the same; only their size is halved.
            Some(largest) if largest.n + 1 == requested.n => largest.n,
            _ => requested.n,
        };
        Self { requested, table: NestedTable { n, ..requested } }
    }

    /// Why the configuration is not tried with these documents; `None` if it is.
    pub(super) fn size_skip_reason<'p>(&self, setup: &'p DocumentsSetup) -> Option<&'p str> {
        setup.largest.as_ref().filter(|largest| largest.n < self.table.n).map(|largest| largest.why.as_str())
    }

    fn cell(&self, cells: Cells<'_>, step: &str, phase: Phase) -> Cell {
        let table_cells = Cells { documents: self.table.documents, ..cells };
        let state = (phase != Phase::Load).then_some(DataState::Drained);
        let mut cell = table_cells.cell(step, phase, state);
        let mut set = |name: &str, value: serde_json::Value| cell.parameters.insert(name.to_owned(), value);
        set("size", size_word(self.requested.n).into());
        set("n", self.table.n.into());
        set("data", self.table.data.word().into());
        cell
    }
}

fn with_parameter(mut cell: Cell, name: &str, value: impl Into<serde_json::Value>) -> Cell {
    cell.parameters.insert(name.to_owned(), value.into());
    cell
}

/// Builds the cells of one configuration over one table.
#[derive(Debug, Clone, Copy)]
pub(super) struct TestCells<'a> {
    pub(super) cells: Cells<'a>,
    pub(super) configured_table: ConfiguredTable,
}

impl<'a> TestCells<'a> {
    pub(super) fn new(cells: Cells<'a>, configured_table: ConfiguredTable) -> Self {
        Self { cells, configured_table }
    }

    pub(super) fn import(&self) -> Cell {
        self.configured_table.cell(self.cells, "import", Phase::Load)
    }

    pub(super) fn export(&self) -> Cell {
        self.configured_table.cell(self.cells, "export", Phase::Hot)
    }

    pub(super) fn copy(&self) -> Cell {
        self.configured_table.cell(self.cells, "copy", Phase::Load)
    }

    pub(super) fn disk(&self) -> Cell {
        self.configured_table.cell(self.cells, "disk", Phase::Steady)
    }

    /// Cell of a read without an index; `file` is the name of its statement file.
    pub(super) fn read(&self, file: &str, phase: Phase) -> Cell {
        match file.strip_suffix("_simple") {
            Some(step) => {
                with_parameter(self.configured_table.cell(self.cells, step, phase), "form", "simple")
            }
            None => self.configured_table.cell(self.cells, file, phase),
        }
    }

    pub(super) fn index(&self, index: &Index) -> Cell {
        with_parameter(
            self.configured_table.cell(self.cells, "index", Phase::Load),
            "index",
            index.name.as_str(),
        )
    }

    /// Cell of a read with an index.
    pub(super) fn indexed(&self, operation: Operation, index: &Index) -> Cell {
        with_parameter(
            self.configured_table.cell(self.cells, operation.word(), Phase::Hot),
            "index",
            index.name.as_str(),
        )
    }

    /// Cell of how a query plan uses an index.
    pub(super) fn usage(&self, query: &IndexQuery, index: &Index) -> Cell {
        let cell = self.configured_table.cell(self.cells, "use", Phase::Steady);
        let cell = with_parameter(cell, "index", index.name.as_str());
        with_parameter(with_parameter(cell, "query", query.operation.word()), "form", query.form.as_str())
    }

    pub(super) fn version(&self, history: &str) -> Cell {
        with_parameter(self.configured_table.cell(self.cells, "version", Phase::Load), "history", history)
    }

    pub(super) fn limit(&self) -> Cell {
        self.configured_table.cell(self.cells, "limit", Phase::Load)
    }

    pub(super) fn update_path(&self, depth: u32) -> Cell {
        with_parameter(self.configured_table.cell(self.cells, "update_path", Phase::Load), "depth", depth)
    }
}

/// Ways to write versions of a document: as updates, and with a commit after each if the system keeps a
/// history of its data.
pub(super) fn histories(setup: &DocumentsSetup) -> Vec<&'static str> {
    let has_commits = setup.files.get("commit").is_some_and(|file| !file.statements.is_empty());
    ["update", "commit"].into_iter().take(if has_commits { 2 } else { 1 }).collect()
}

/// Reads without an index: statement file, its test, and expected answer.
pub(super) const READS: [(&str, &str, QueryAnswer); 4] = [
    ("extract", "extract", QueryAnswer::AllNumbers),
    ("filter", "filter", QueryAnswer::KeysOfTen),
    ("order", "order", QueryAnswer::OrderedKeys),
    ("order_simple", "order", QueryAnswer::OrderedKeys),
];

/// Reads that are also run cold, with their expected answers: the main form of each test only.
pub(super) fn cold_reads() -> impl Iterator<Item = (&'static str, QueryAnswer)> {
    READS.into_iter().filter(|(file, test, _)| file == test).map(|(file, _, expected)| (file, expected))
}

/// Returns `true` if the statement file exists. A missing second form is not a trial.
pub(super) fn has_form(setup: &DocumentsSetup, file: &str) -> bool {
    file != "order_simple" || setup.files.get(file).is_some_and(|file| !file.statements.is_empty())
}

/// Indexes built in a round: the best one in every round, the others in round 1 if requested. Others matter
/// for their query plans only, which do not change between rounds.
pub(super) fn indexes<'p>(
    setup: &'p DocumentsSetup,
    settings: &DocumentsSettings,
    round: u32,
) -> Vec<&'p Index> {
    setup.indexes.iter().filter(|index| index.best || settings.all_indexes && round == 1).collect()
}

/// Returns `true` if no index is built in any round.
pub(super) fn has_no_index(setup: &DocumentsSetup, settings: &DocumentsSettings) -> bool {
    indexes(setup, settings, 1).is_empty()
}

/// Depths at which a number is updated: top, middle, bottom.
pub(super) fn depths(n: u32) -> Vec<u32> {
    let mut depths = vec![1, n.div_ceil(2).max(1), n + 1];
    depths.dedup();
    depths
}

/// Cells of one configuration over one table in one round, each with its number of trials.
pub(super) fn cells(
    tests: &TestCells<'_>,
    setup: &DocumentsSetup,
    settings: &DocumentsSettings,
    round: u32,
) -> Vec<(Cell, u32)> {
    let mut single = vec![tests.import(), tests.copy()];
    let mut reads = vec![tests.export()];
    reads.extend(
        READS
            .iter()
            .filter(|(file, ..)| has_form(setup, file))
            .map(|(file, ..)| tests.read(file, Phase::Hot)),
    );
    let indexes = indexes(setup, settings, round);
    for index in &indexes {
        let operations =
            Operation::ALL.into_iter().filter(|operation| index.timed_query(*operation).is_some());
        reads.extend(operations.map(|operation| tests.indexed(operation, index)));
    }
    single.extend(indexes.iter().map(|index| tests.index(index)));
    if has_no_index(setup, settings) {
        // One cell records why there is no index.
        single.push(no_index(tests));
    }
    if settings.update_path {
        single
            .extend(depths(tests.configured_table.table.n).into_iter().map(|depth| tests.update_path(depth)));
    }
    if round == 1 {
        single.push(tests.disk());
        if settings.versions.is_some() {
            single.extend(histories(setup).into_iter().map(|history| tests.version(history)));
        }
        for index in &indexes {
            single.extend(index.queries.iter().map(|query| tests.usage(query, index)));
        }
        if settings.cold && tests.cells.target.can_be_cold() {
            single.extend(cold_reads().map(|(file, _)| tests.read(file, Phase::Cold)));
        }
    }
    let with_orders = |cells: Vec<Cell>, orders: u32| cells.into_iter().map(move |cell| (cell, orders));
    with_orders(single, 1).chain(with_orders(reads, settings.reads)).collect()
}

/// Keys of all trials of these cells.
pub(super) fn keys(
    tests: &TestCells<'_>,
    setup: &DocumentsSetup,
    settings: &DocumentsSettings,
    round: u32,
) -> Vec<String> {
    let keys_of = |(cell, orders): (Cell, u32)| (0..orders).map(move |order| cell.trial_key(round, order));
    cells(tests, setup, settings, round).into_iter().flat_map(keys_of).collect()
}

/// Cell of a configuration without an index.
pub(super) fn no_index(tests: &TestCells<'_>) -> Cell {
    with_parameter(tests.configured_table.cell(tests.cells, "index", Phase::Load), "index", "none")
}
