//! Creates the connection of a protocol by its name. The only module that knows all drivers.

use jsonathlon_driver_api::driver::{Connection, DriverContext, DriverError, Result, SessionOptions};
use jsonathlon_driver_api::nonblocking::{BlockingAdapter, NonblockingConnection};
use jsonathlon_drivers::{MysqlNonblocking, PostgresNonblocking};

type Opener = fn(&SessionOptions, &DriverContext) -> Result<Box<dyn Connection>>;

/// Driver of one protocol, from which connections are opened.
#[derive(Debug, Clone, Copy)]
pub struct Connector {
    protocol: &'static str,
    open: Opener,
}

const CONNECTORS: [Connector; 10] = [
    Connector { protocol: "chdb", open: |open, _| Ok(Box::new(jsonathlon_embedded::Chdb::open(open)?)) },
    Connector {
        protocol: "clickhouse",
        open: |open, _| Ok(Box::new(jsonathlon_drivers::Clickhouse::open(open)?)),
    },
    Connector { protocol: "duckdb", open: |open, _| Ok(Box::new(jsonathlon_embedded::Duckdb::open(open)?)) },
    Connector {
        protocol: "elasticsearch",
        open: |open, _| Ok(Box::new(jsonathlon_drivers::Elasticsearch::open(open)?)),
    },
    Connector { protocol: "mongodb", open: |open, _| Ok(Box::new(jsonathlon_drivers::Mongodb::open(open)?)) },
    Connector { protocol: "mysql", open: |open, _| Ok(Box::new(jsonathlon_drivers::Mysql::open(open)?)) },
    Connector {
        protocol: "postgres",
        open: |open, _| Ok(Box::new(jsonathlon_drivers::Postgres::open(open)?)),
    },
    Connector { protocol: "sqlite", open: |open, _| Ok(Box::new(jsonathlon_embedded::Sqlite::open(open)?)) },
    Connector {
        protocol: "yardstick",
        open: |open, _| Ok(Box::new(crate::yardstick::Yardstick::open(open)?)),
    },
    Connector { protocol: "mock", open: |open, host| Ok(Box::new(crate::mock::Mock::open(open, host)?)) },
];

impl Connector {
    /// Finds the driver of a protocol by its name.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if the protocol is unknown.
    pub fn for_protocol(protocol: &str) -> Result<Self> {
        CONNECTORS.into_iter().find(|connector| connector.protocol == protocol).ok_or_else(|| {
            let protocols: Vec<&str> = CONNECTORS.iter().map(|connector| connector.protocol).collect();
            DriverError::Unsupported(format!(
                "no driver for protocol `{protocol}`: use one of {}",
                protocols.join(", ")
            ))
        })
    }

    /// Creates the data folder if necessary, opens a session and runs the statements of `open`.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] if the library cannot be loaded or the server cannot be reached.
    /// [`DriverError::Refused`] if the system rejects the folder, a setting or a statement.
    pub fn connect(self, open: &SessionOptions, host: &DriverContext) -> Result<Box<dyn Connection>> {
        std::fs::create_dir_all(&open.folder).map_err(|error| {
            let path = open.folder.display();
            DriverError::Unavailable(format!("failed to make the data folder {path}: {error}"))
        })?;
        let mut connection = (self.open)(open, host)?;
        for statement in &open.statements {
            connection.collect(statement)?;
        }
        Ok(connection)
    }

    /// Opens a nonblocking connection and runs the statements of `open`. Unless `prepare` is set, statements
    /// are sent as text each time. This makes no difference if neither server nor engine keeps prepared
    /// statements.
    ///
    /// # Errors
    /// As [`Connector::connect`].
    pub fn open_nonblocking(
        self,
        open: &SessionOptions,
        host: &DriverContext,
        prepare: bool,
    ) -> Result<Box<dyn NonblockingConnection>> {
        match self.protocol {
            "mongodb" => return jsonathlon_drivers::open_mongodb_nonblocking(open),
            "mysql" => return Ok(Box::new(MysqlNonblocking::open(open, prepare)?)),
            "postgres" => return Ok(Box::new(PostgresNonblocking::open(open, prepare)?)),
            _ => {}
        }
        let keeps_prepared = ["duckdb", "sqlite"].contains(&self.protocol);
        Ok(Box::new(BlockingAdapter::new(self.connect(open, host)?, prepare || !keeps_prepared)))
    }
}
