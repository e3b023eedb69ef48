//! Session on a DuckDB database file, through the C interface of its library in this process.

mod library;
mod vectors;

use jsonathlon_driver_api::driver::{
    self, DocumentSource, DriverError, LoadSink, Result, SessionOptions, core_limit,
};
use jsonathlon_driver_api::prepared::{Parameter, PreparedStatement, StatementTable, check_parameter_count};
use jsonathlon_driver_api::rows::{RowSink, StatementStats};

use library::{Answer, Connection, Statement};
use vectors::{Storage, type_name};

/// Name of the database file within the data folder.
const FILE: &str = "data.duckdb";

/// Session on one DuckDB database file.
pub struct Duckdb {
    // Declared before the connection so that the statements are dropped first.
    prepared: StatementTable<Statement>,
    connection: Connection,
}

impl Duckdb {
    /// Loads the library and opens or creates the database file. Settings are DuckDB's configuration options.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] if the library cannot be loaded, or the path contains `?` or a backslash.
    /// [`DriverError::Refused`] if the engine cannot open the file, or does not accept a setting.
    pub fn open(options: &SessionOptions) -> Result<Self> {
        let path = options.folder.join(FILE);
        let path = path
            .to_str()
            .ok_or_else(|| DriverError::Unsupported(format!("the path {} is not UTF-8", path.display())))?;
        // DuckDB reads what follows `?` as options and a backslash as `/`, also behind links. The error would
        // otherwise come with the first commit and blame a file.
        if path.contains(['?', '\\']) {
            return Err(DriverError::Unavailable(format!(
                "DuckDB cannot keep its file in a folder with `?` or `\\` in its path ({path}); choose another, e.g. with --out"
            )));
        }
        let threads = core_limit(options)
            .filter(|_| !options.settings.contains_key("threads"))
            .map(|cores| cores.to_string());
        let settings = options
            .settings
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .chain(threads.as_deref().map(|threads| ("threads", threads)));
        let connection = Connection::open(options, path, settings)?;
        Ok(Self { prepared: StatementTable::default(), connection })
    }
}

/// Passes the rows of an answer to `sink`, chunk by chunk out of the engine's memory.
fn read(mut answer: Answer<'_>, sink: &mut dyn RowSink) -> Result<StatementStats> {
    let columns: Vec<(String, Storage)> = answer
        .columns()?
        .into_iter()
        .map(|(name, kind)| {
            let id = kind.id();
            match Storage::from_type_id(id, || kind.decimal()) {
                Some(storage) => Ok((name, storage)),
                None => Err(DriverError::Unsupported(format!(
                    "column `{name}` is of type {}: cast it to VARCHAR, or to a number of at most 64 bits",
                    type_name(id)
                ))),
            }
        })
        .collect::<Result<_>>()?;
    sink.columns(&columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())?;
    let affected = Some(answer.changed());
    while let Some(chunk) = answer.next_chunk() {
        chunk.read(&columns, sink)?;
    }
    Ok(StatementStats { affected, ..StatementStats::default() })
}

impl driver::Connection for Duckdb {
    fn version(&mut self) -> Result<String> {
        self.connection.version()
    }

    fn ask(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<StatementStats> {
        read(self.connection.query(statement)?, sink)
    }

    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        Ok(self.prepared.insert(self.connection.prepare(statement)?))
    }

    fn execute(
        &mut self,
        prepared: &PreparedStatement,
        parameters: &[Parameter<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<StatementStats> {
        let statement = self.prepared.get(prepared)?;
        check_parameter_count(self.connection.parameters(statement), parameters)?;
        read(self.connection.execute(statement, parameters)?, sink)
    }

    fn release(&mut self, prepared: &PreparedStatement) {
        self.prepared.remove(prepared);
    }

    fn bulk_in(&mut self, _: &str, _: &mut dyn DocumentSource, _: &mut dyn LoadSink) -> Result<u64> {
        Err(DriverError::Unsupported(
            "DuckDB loads files itself: load by a statement that names {{file}}".into(),
        ))
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.connection.close();
        Ok(())
    }
}
