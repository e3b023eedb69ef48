//! DuckDB inside the process, through its C interface.

mod library;
mod vectors;

use crate::driver::{Documents, Driver, DriverError, LoadSink, Open, Outcome, Result, fewer_cores};
use crate::library::Loaded;
use library::Connection;
use vectors::{Cell, type_name};

/// The database file within the data folder.
const FILE: &str = "data.duckdb";

/// A session with one database file.
pub(crate) struct Duckdb {
    connection: Connection,
}

impl Duckdb {
    /// Loads the library and opens the file; settings are configuration options.
    pub(crate) fn open(open: &Open) -> Result<Self> {
        let path = open.folder.join(FILE);
        let path = path
            .to_str()
            .ok_or_else(|| DriverError::Unsupported(format!("the path {} is not UTF-8", path.display())))?;
        let threads = fewer_cores(open)
            .filter(|_| !open.settings.contains_key("threads"))
            .map(|cores| cores.to_string());
        let settings = open
            .settings
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .chain(threads.as_deref().map(|threads| ("threads", threads)));
        Ok(Self { connection: Connection::open(Loaded::open(open)?, path, settings)? })
    }
}

impl Driver for Duckdb {
    fn version(&mut self) -> Result<String> {
        self.connection.version()
    }

    fn execute(&mut self, statement: &str) -> Result<Outcome> {
        let mut answer = self.connection.query(statement)?;
        let columns: Vec<(String, Cell)> = answer
            .columns()?
            .into_iter()
            .map(|(name, kind)| {
                let id = kind.id();
                match Cell::of(id, || kind.decimal()) {
                    Some(cell) => Ok((name, cell)),
                    None => Err(DriverError::Unsupported(format!(
                        "column `{name}` is of type {}: cast it to VARCHAR, or to a number of at most 64 bits",
                        type_name(id)
                    ))),
                }
            })
            .collect::<Result<_>>()?;
        let mut rows = Vec::new();
        while let Some(chunk) = answer.next_chunk() {
            chunk.read(&columns, &mut rows)?;
        }
        Ok(Outcome {
            columns: columns.into_iter().map(|(name, _)| name).collect(),
            rows,
            ..Outcome::default()
        })
    }

    fn load_rows(&mut self, _: &str, _: &mut dyn Documents, _: &mut dyn LoadSink) -> Result<u64> {
        Err(DriverError::Unsupported(
            "DuckDB loads files itself: load by a statement that names {{file}}".into(),
        ))
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.connection.close();
        Ok(())
    }
}
