//! chDB: the ClickHouse engine inside the process, through its C interface.

mod library;

use jsonathlon_dataset::value::Value;

use crate::clickhouse::{FORMAT, row_binary, split};
use crate::driver::{Documents, Driver, DriverError, LoadSink, Open, Outcome, Result, fewer_cores};
use crate::library::Loaded;
use library::Connection;

/// A session with one data folder.
pub(crate) struct Chdb {
    connection: Connection,
}

impl Chdb {
    /// Loads the library and opens the folder; settings become `--key=value`.
    pub(crate) fn open(open: &Open) -> Result<Self> {
        let folder = open.folder.to_str().ok_or_else(|| {
            DriverError::Unsupported(format!("the folder {} is not UTF-8", open.folder.display()))
        })?;
        let mut arguments = vec![format!("--path={folder}")];
        arguments.extend(open.settings.iter().map(|(key, value)| format!("--{key}={value}")));
        if let Some(cores) = fewer_cores(open)
            && !open.settings.contains_key("max_threads")
        {
            arguments.push(format!("--max_threads={cores}"));
        }
        let mut session = Self { connection: Connection::open(Loaded::open(open)?, &arguments)? };
        session.check_names(open)?;
        Ok(session)
    }

    /// chDB takes any `--key=value` without a word, so that a misspelt setting would be measured as if
    /// it were set. Keys with a dot are paths in its configuration, of which there is no list.
    fn check_names(&mut self, open: &Open) -> Result<()> {
        if open.settings.is_empty() {
            return Ok(());
        }
        let known =
            self.ask("SELECT name FROM system.settings UNION ALL SELECT name FROM system.server_settings")?;
        for key in open.settings.keys().filter(|key| !key.contains('.')) {
            if !known.rows.iter().any(|row| matches!(row.first(), Some(Value::Text(name)) if name == key)) {
                return Err(DriverError::Refused(format!("chDB has no setting called `{key}`")));
            }
        }
        Ok(())
    }

    fn ask(&mut self, statement: &str) -> Result<Outcome> {
        let answer = self.connection.query(statement, FORMAT)?;
        let (columns, rows) = row_binary::decode(answer.bytes())?;
        let (rows_read, bytes_read) = answer.read();
        Ok(Outcome {
            columns,
            rows,
            server_seconds: Some(answer.elapsed()),
            rows_read: Some(rows_read),
            bytes_read: Some(bytes_read),
            memory_bytes: None,
        })
    }
}

impl Driver for Chdb {
    fn version(&mut self) -> Result<String> {
        self.execute("SELECT version()")?.version()
    }

    fn execute(&mut self, statement: &str) -> Result<Outcome> {
        split::one_by_one(statement, |statement| self.ask(statement))
    }

    fn load_rows(&mut self, _: &str, _: &mut dyn Documents, _: &mut dyn LoadSink) -> Result<u64> {
        Err(DriverError::Unsupported(
            "chDB loads files itself: load by a statement that names {{file}}".into(),
        ))
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.connection.close();
        Ok(())
    }
}
