//! A protocol's name becomes a driver: the one place that knows all of them.

use crate::driver::{Driver, DriverError, Host, Open, Result};

/// Opens a session by its protocol's name and runs the statements of `open`.
///
/// # Errors
/// [`DriverError::Unsupported`] for an unknown protocol, [`DriverError::Unavailable`] when the library
/// cannot be loaded, [`DriverError::Refused`] when the system does not open the folder, a setting, or a
/// statement.
pub fn connect(open: &Open, host: &Host) -> Result<Box<dyn Driver>> {
    std::fs::create_dir_all(&open.folder).map_err(|error| {
        DriverError::Unavailable(format!("failed to make the data folder {}: {error}", open.folder.display()))
    })?;
    let mut driver: Box<dyn Driver> = match open.protocol.as_str() {
        "mock" => Box::new(crate::mock::Mock::open(open, host)?),
        "sqlite" => Box::new(crate::sqlite::Sqlite::open(open)?),
        "duckdb" => Box::new(crate::duckdb::Duckdb::open(open)?),
        "chdb" => Box::new(crate::chdb::Chdb::open(open)?),
        "clickhouse" => Box::new(crate::clickhouse::Clickhouse::open(open)?),
        "mongodb" => Box::new(crate::mongodb::Mongodb::open(open)?),
        "mysql" => Box::new(crate::mysql::Mysql::open(open)?),
        "postgres" => Box::new(crate::postgres::Postgres::open(open)?),
        "elasticsearch" => Box::new(crate::elasticsearch::Elasticsearch::open(open)?),
        "yardstick" => Box::new(crate::yardstick::Yardstick::open(open)?),
        other => {
            return Err(DriverError::Unsupported(format!(
                "no driver for protocol `{other}`: use chdb, clickhouse, duckdb, elasticsearch, mongodb, mysql, postgres, sqlite, yardstick or mock"
            )));
        }
    };
    for statement in &open.statements {
        driver.execute(statement)?;
    }
    Ok(driver)
}
