//! Driver of the yardstick: its tables in a data folder, and the statements that it supports.

mod statement;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jsonathlon_driver_api::driver::{
    Connection, DocumentSource, DriverError, LoadSink, Result, SessionOptions, cores,
};
use jsonathlon_driver_api::prepared::{Parameter, PreparedStatement, StatementTable, check_parameter_count};
use jsonathlon_driver_api::rows::{ResultSet, RowSink, StatementStats};
use jsonathlon_schema::metric::{DATA_BYTES, INDEX_BYTES, TOTAL_BYTES};
use jsonathlon_schema::value::Value;
use jsonathlon_yardstick::{
    AppendedDocuments, Table, TableBuilder, Threads, VERSION, YardstickError, check_document,
};

use statement::{Verb, parse};

/// File extension of a table.
const EXTENSION: &str = "columns";

/// Converts an error of the yardstick to a driver error.
fn driver_error(error: YardstickError) -> DriverError {
    let text = error.to_string();
    match error {
        YardstickError::File(_) => DriverError::Refused(text),
        YardstickError::TooMany(_) => DriverError::Unsupported(text),
        YardstickError::Columns(_) | YardstickError::Threads(_) => DriverError::Unavailable(text),
    }
}

/// A session with all tables of a data folder in memory.
pub(crate) struct Yardstick {
    folder: PathBuf,
    threads: Threads,
    tables: BTreeMap<String, Table>,
    /// Documents that were added to a non-empty table, by its name. The next statement on the table merges
    /// them into its columns.
    appended: BTreeMap<String, AppendedDocuments>,
    prepared: StatementTable<String>,
}

impl Yardstick {
    /// Reads all tables of the data folder. The only setting is `threads`, by default 1.
    pub(crate) fn open(options: &SessionOptions) -> Result<Self> {
        if let Some(unknown) = options.settings.keys().find(|name| *name != "threads") {
            return Err(DriverError::Refused(format!(
                "unknown setting `{unknown}` of the yardstick; allowed: threads"
            )));
        }
        let threads = Threads::new(thread_count(options)?).map_err(driver_error)?;
        let mut tables = BTreeMap::new();
        for path in table_files(&options.folder)? {
            if let Some(name) = path.file_stem().and_then(|name| name.to_str()) {
                tables.insert(name.to_owned(), Table::read(&path).map_err(driver_error)?);
            }
        }
        let (folder, appended, prepared) =
            (options.folder.clone(), BTreeMap::new(), StatementTable::default());
        let mut session = Self { folder, threads, tables, appended, prepared };
        let names: Vec<String> = session.tables.keys().cloned().collect();
        for name in names {
            if let Some(documents) = AppendedDocuments::read(&session.folder, &name).map_err(driver_error)? {
                session.appended.insert(name.clone(), documents);
                session.merge(&name)?;
            }
        }
        Ok(session)
    }

    fn path(&self, table: &str) -> PathBuf {
        self.folder.join(table).with_extension(EXTENSION)
    }

    fn table(&self, name: &str) -> Result<&Table> {
        self.tables.get(name).ok_or_else(|| DriverError::Refused(format!("there is no table `{name}`")))
    }

    fn create_table(&mut self, name: &str) -> Result<()> {
        if self.tables.contains_key(name) {
            return Err(DriverError::Refused(format!("table `{name}` already exists")));
        }
        self.save_table(name, Table::default())
    }

    fn save_table(&mut self, name: &str, table: Table) -> Result<()> {
        table.write(&self.path(name)).map_err(driver_error)?;
        self.tables.insert(name.to_owned(), table);
        Ok(())
    }

    /// Merges documents that were added later into the table's columns.
    fn merge(&mut self, name: &str) -> Result<()> {
        let Some(appended) = self.appended.remove(name) else { return Ok(()) };
        let mut builder = TableBuilder::extending(self.table(name)?).map_err(driver_error)?;
        for document in appended.documents() {
            // Each document was checked and accepted when it was added.
            if let Err(reason) = builder.push(document).map_err(driver_error)? {
                return Err(DriverError::Documents(reason));
            }
        }
        self.save_table(name, builder.finish(&self.threads))?;
        appended.remove().map_err(driver_error)?;
        Ok(())
    }

    /// Appends documents to a table that has rows. They are merged later, because a merge sorts the whole
    /// table: adding one document would otherwise cost as much as loading all of them.
    fn append(
        &mut self,
        name: &str,
        documents: &mut dyn DocumentSource,
        sink: &mut dyn LoadSink,
    ) -> Result<u64> {
        let mut appended = match self.appended.remove(name) {
            Some(appended) => appended,
            None => AppendedDocuments::new(&self.folder, name),
        };
        let (mut offered, mut accepted) = (0, 0);
        while let Some(document) = documents.next_document()? {
            match check_document(document) {
                Ok(()) => {
                    appended.push(document);
                    accepted += 1;
                }
                Err(reason) => sink.reject(offered, reason),
            }
            offered += 1;
            sink.report_offered(offered);
        }
        appended.write().map_err(driver_error)?;
        self.appended.insert(name.to_owned(), appended);
        Ok(accepted)
    }

    /// Removes a table and its file. Does nothing if the table does not exist.
    fn drop_table(&mut self, name: &str) -> Result<()> {
        if self.tables.remove(name).is_some() {
            let path = self.path(name);
            std::fs::remove_file(&path).map_err(|error| {
                DriverError::Refused(format!("failed to remove {}: {error}", path.display()))
            })?;
        }
        Ok(())
    }
}

impl Yardstick {
    fn run_statement(&mut self, statement: &str) -> Result<ResultSet> {
        let (verb, name) = parse(statement)?;
        self.merge(name)?;
        let single = |column: &str, value: Value| ResultSet {
            columns: vec![column.to_owned()],
            rows: vec![vec![value]],
            ..ResultSet::default()
        };
        match verb {
            Verb::Create => self.create_table(name).map(|()| ResultSet::default()),
            Verb::Drop => self.drop_table(name).map(|()| ResultSet::default()),
            Verb::Load => Err(DriverError::Unsupported(
                "documents are loaded row by row: state `load = \"rows\"` in the system's folder".to_owned(),
            )),
            Verb::Count => Ok(single("documents", Value::count(self.table(name)?.rows() as u64))),
            Verb::Plan(question) => {
                Ok(single("plan", Value::Text(self.table(name)?.plan(question, &self.threads))))
            }
            Verb::Sizes => {
                let table = self.table(name)?;
                let sizes =
                    [(TOTAL_BYTES, table.file_bytes()), (DATA_BYTES, table.data_bytes()), (INDEX_BYTES, 0)];
                Ok(ResultSet {
                    columns: sizes.map(|(metric, _)| metric.name.to_owned()).to_vec(),
                    rows: vec![sizes.map(|(_, bytes)| Value::count(bytes)).to_vec()],
                    ..ResultSet::default()
                })
            }
            Verb::Ask(question) => Ok(ResultSet {
                columns: question.columns().iter().map(|column| (*column).to_owned()).collect(),
                rows: self.table(name)?.answer(question, &self.threads),
                ..ResultSet::default()
            }),
        }
    }
}

impl Connection for Yardstick {
    fn version(&mut self) -> Result<String> {
        Ok(VERSION.to_owned())
    }

    fn ask(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<StatementStats> {
        self.run_statement(statement)?.replay(sink)
    }

    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        parse(statement)?;
        Ok(self.prepared.insert(statement.to_owned()))
    }

    fn execute(
        &mut self,
        prepared: &PreparedStatement,
        parameters: &[Parameter<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<StatementStats> {
        check_parameter_count(0, parameters)?;
        let statement = self.prepared.get(prepared)?.clone();
        self.ask(&statement, sink)
    }

    fn bulk_in(
        &mut self,
        statement: &str,
        documents: &mut dyn DocumentSource,
        sink: &mut dyn LoadSink,
    ) -> Result<u64> {
        let (Verb::Load, name) = parse(statement)? else {
            return Err(DriverError::Refused(format!(
                "`{statement}` is not a load statement; expected `load TABLE :doc`"
            )));
        };
        if self.table(name)?.rows() > 0 {
            return self.append(name, documents, sink);
        }
        let mut builder = TableBuilder::default();
        let (mut offered, mut accepted) = (0, 0);
        while let Some(document) = documents.next_document()? {
            match builder.push(document).map_err(driver_error)? {
                Ok(()) => accepted += 1,
                Err(reason) => sink.reject(offered, reason),
            }
            offered += 1;
            sink.report_offered(offered);
        }
        self.save_table(name, builder.finish(&self.threads))?;
        Ok(accepted)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// Reads the setting `threads`, by default 1; 0 stands for the number of cores, as it does for engines.
fn thread_count(options: &SessionOptions) -> Result<usize> {
    let Some(text) = options.settings.get("threads") else { return Ok(1) };
    let threads: usize = text
        .parse()
        .map_err(|_| DriverError::Refused(format!("`{text}` is not a number of threads (0: all cores)")))?;
    Ok(cores(threads))
}

/// Lists the files of tables in a data folder, sorted by name.
fn table_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let paths = std::fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<Vec<_>>>()
    });
    let mut files = paths
        .map_err(|error| DriverError::Unavailable(format!("failed to list {}: {error}", folder.display())))?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == EXTENSION));
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod session_tests;
