//! Session on chDB, the ClickHouse engine as a library in this process, through its C interface.

mod library;

use jsonathlon_driver_api::codecs::clickhouse::{FORMAT, parameter, row_binary, split};
use jsonathlon_driver_api::driver::{
    self, DocumentSource, DriverError, LoadSink, Result, SessionOptions, core_limit,
};
use jsonathlon_driver_api::prepared::{Parameter, PreparedStatement, StatementTable};
use jsonathlon_driver_api::rows::{ResultSet, RowSink, StatementStats};
use jsonathlon_schema::value::Value;

use crate::library::SharedLibrary;
use library::{Answer, Connection};

/// Session on one chDB data folder.
pub struct Chdb {
    connection: Connection,
    prepared: StatementTable<String>,
}

impl Chdb {
    /// Loads the library and opens the data folder of `options`. Settings become arguments `--key=value`.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] if the library cannot be loaded. [`DriverError::Refused`] if the engine
    /// cannot open the folder, or if a setting is unknown.
    pub fn open(options: &SessionOptions) -> Result<Self> {
        let folder = options.folder.to_str().ok_or_else(|| {
            DriverError::Unsupported(format!("the folder {} is not UTF-8", options.folder.display()))
        })?;
        let mut arguments = vec![format!("--path={folder}")];
        arguments.extend(options.settings.iter().map(|(key, value)| format!("--{key}={value}")));
        if let Some(cores) = core_limit(options)
            && !options.settings.contains_key("max_threads")
        {
            arguments.push(format!("--max_threads={cores}"));
        }
        let mut session = Self {
            connection: Connection::open(SharedLibrary::open(options)?, &arguments)?,
            prepared: StatementTable::default(),
        };
        session.check_names(options)?;
        Ok(session)
    }

    /// Rejects unknown settings. chDB silently accepts any `--key=value`, so a misspelt setting would be
    /// measured as if it were set. Keys with a dot are paths in the configuration, for which no list exists;
    /// they are not checked.
    fn check_names(&mut self, options: &SessionOptions) -> Result<()> {
        if options.settings.is_empty() {
            return Ok(());
        }
        let query = "SELECT name FROM system.settings UNION ALL SELECT name FROM system.server_settings";
        let mut known = ResultSet::default();
        read(&self.connection.query(query, FORMAT, &[])?, &mut known)?;
        for key in options.settings.keys().filter(|key| !key.contains('.')) {
            if !known.rows.iter().any(|row| matches!(row.first(), Some(Value::Text(name)) if name == key)) {
                return Err(DriverError::Refused(format!("chDB has no setting called `{key}`")));
            }
        }
        Ok(())
    }
}

fn read(answer: &Answer<'_>, sink: &mut dyn RowSink) -> Result<StatementStats> {
    row_binary::decode(answer.bytes(), sink)?;
    let (rows_read, bytes_read) = answer.read();
    Ok(StatementStats {
        server_seconds: Some(answer.elapsed()),
        rows_read: Some(rows_read),
        bytes_read: Some(bytes_read),
        memory_bytes: None,
        affected: None,
        replaced: 0,
    })
}

impl driver::Connection for Chdb {
    fn version(&mut self) -> Result<String> {
        self.collect("SELECT version()")?.version()
    }

    fn ask(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<StatementStats> {
        split::run_each(statement, |statement| read(&self.connection.query(statement, FORMAT, &[])?, sink))
    }

    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        Ok(self.prepared.insert(statement.to_owned()))
    }

    fn execute(
        &mut self,
        prepared: &PreparedStatement,
        parameters: &[Parameter<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<StatementStats> {
        let statement = self.prepared.get(prepared)?;
        let values: Vec<String> = parameters.iter().map(parameter::text).collect();
        read(&self.connection.query(statement, FORMAT, &values)?, sink)
    }

    fn bulk_in(&mut self, _: &str, _: &mut dyn DocumentSource, _: &mut dyn LoadSink) -> Result<u64> {
        Err(DriverError::Unsupported(
            "chDB loads files itself: load by a statement that names {{file}}".into(),
        ))
    }

    fn send_rows(&mut self, statement: &str, rows: &str) -> Result<()> {
        // The engine reads the rows behind the statement. They are not split at semicolons.
        let statement = [statement, "\n", rows].concat();
        read(&self.connection.query(&statement, FORMAT, &[])?, &mut ResultSet::default()).map(drop)
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.connection.close();
        Ok(())
    }
}
