//! Options for opening a session, and the endpoint of its server. Starting and stopping that server is not
//! done here.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::address::{Password, Tls, authority};
use crate::error::{DriverError, Result};

/// Which engine or server a session opens, in which data folder and with which settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionOptions {
    /// Protocol: `chdb`, `clickhouse`, `duckdb`, `elasticsearch`, `mongodb`, `mysql`, `postgres`, `sqlite`,
    /// `yardstick` or `mock`.
    pub protocol: String,
    /// Path of the engine's shared library. `None` for protocols that load none.
    #[serde(default)]
    pub library: Option<PathBuf>,
    /// Private data folder, created if it does not exist. Its content survives the session.
    pub folder: PathBuf,
    /// Start settings under the engine's own names: `--key=value` of chDB, configuration options of DuckDB,
    /// pragmas of SQLite, `threads` of the yardstick, `script` of the mock. Settings of a server are applied
    /// when the server is started, not here.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Statements to execute in this order right after connecting.
    #[serde(default)]
    pub statements: Vec<String>,
    /// Number of cores that the engine may use. The engine's default is kept for 0, and for as many as the
    /// process may run on. Fewer are passed to engines that have such a setting, unless `settings` names it
    /// already.
    #[serde(default)]
    pub cores: usize,
    /// Server to connect to. `None` for embedded engines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Box<Endpoint>>,
}

impl SessionOptions {
    /// Returns a copy without the server's process id, for a server that may have been restarted since.
    #[must_use]
    pub fn without_process_id(&self) -> Self {
        let mut open = self.clone();
        if let Some(endpoint) = &mut open.endpoint {
            endpoint.process = None;
        }
        open
    }

    /// Returns a copy that makes one short attempt, for a caller that retries later.
    #[must_use]
    pub fn with_single_attempt(&self) -> Self {
        let mut open = self.without_process_id();
        if let Some(endpoint) = &mut open.endpoint {
            endpoint.connect_timeout_s = 0;
            endpoint.attempt_ms = Some(SHORT_ATTEMPT_MS);
        }
        open
    }
}

/// Process in which an engine runs, for measuring its resource use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineLocation {
    /// Embedded engine in the process of its session.
    #[default]
    InProcess,
    /// Process with this id and its descendants.
    Process(u32),
    /// Server whose process id is unknown, so that its resource use cannot be measured.
    Remote,
}

impl EngineLocation {
    /// Returns the process id of a server. `None` for an embedded engine or a server of unknown process.
    #[must_use]
    pub fn process(self) -> Option<u32> {
        match self {
            Self::Process(pid) => Some(pid),
            Self::InProcess | Self::Remote => None,
        }
    }
}

/// Address of a server, the login of its sessions, and how long to wait for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// Host name, or IP address without brackets.
    pub host: String,
    /// TCP port of the server.
    pub port: u16,
    /// Path of a Unix socket, used instead of host and port. `None` for TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
    /// User that the session logs in as; empty if the server requires no login.
    #[serde(default)]
    pub user: String,
    /// Database that the session uses; empty for the server's default.
    #[serde(default)]
    pub database: String,
    /// Password of `user`; empty if none is needed.
    #[serde(default)]
    pub password: Password,
    /// TLS settings; `None` for an unencrypted connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Process id of the server, `None` if unknown. Resource use is measured for it and its descendants. If
    /// the server requires no login, it also shows whether another program has taken the port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// Whether all data on the server belongs to the run. If so, the server counts as ready only when all of
    /// it can be read.
    #[serde(default)]
    pub exclusive: bool,
    /// Seconds to wait for the server to answer, since it may still be starting.
    pub connect_timeout_s: u64,
    /// Milliseconds between two attempts. Adds half of this, on average, to the measured start time of a
    /// server.
    pub retry_interval_ms: u64,
    /// Timeout of each step of an attempt, in milliseconds. `None` for five seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_ms: Option<u64>,
}

/// Default timeout of each step of an attempt to connect, in milliseconds.
const ATTEMPT_MS: u64 = 5_000;
/// Connect timeout, in milliseconds, while other clients of the same thread are waiting.
const SHORT_ATTEMPT_MS: u64 = 1_000;

/// Formats host and port, or the path of the socket.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.socket {
            Some(path) => write!(f, "{}", path.display()),
            None => f.write_str(&authority(&self.host, self.port)),
        }
    }
}

/// Why an attempt to connect failed, and whether to retry.
#[derive(Debug)]
pub enum ConnectFailure {
    /// The server is not ready yet; the attempt is repeated. Contains the reason.
    Transient(String),
    /// The server will never accept this session; no further attempt is made. Contains the reason.
    Permanent(String),
}

impl Endpoint {
    /// Returns a copy of the endpoint of `open`.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] if `open` has no endpoint.
    pub fn from_options(open: &SessionOptions) -> Result<Self> {
        match &open.endpoint {
            Some(endpoint) => Ok(Self::clone(endpoint)),
            None => Err(DriverError::Unavailable(format!(
                "protocol `{}` needs a server, but the session has no endpoint",
                open.protocol
            ))),
        }
    }

    /// Calls `probe` every `retry_interval_ms` until it succeeds.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] if `probe` returns [`ConnectFailure::Permanent`], or if
    /// `connect_timeout_s` have passed.
    pub fn connect_with_retry<T>(
        &self,
        mut probe: impl FnMut(&Self) -> std::result::Result<T, ConnectFailure>,
    ) -> Result<T> {
        let (started, limit) = (Instant::now(), Duration::from_secs(self.connect_timeout_s));
        loop {
            let reason = match probe(self) {
                Ok(connection) => return Ok(connection),
                Err(ConnectFailure::Permanent(reason)) => {
                    return Err(DriverError::Unavailable(format!("{self}: {reason}")));
                }
                Err(ConnectFailure::Transient(reason)) => reason,
            };
            if started.elapsed() >= limit {
                return Err(DriverError::Unavailable(format!("{self} does not answer: {reason}")));
            }
            std::thread::sleep(Duration::from_millis(self.retry_interval_ms));
        }
    }

    /// Timeout of each step of an attempt to connect.
    pub fn step_timeout(&self) -> Duration {
        Duration::from_millis(self.attempt_ms.unwrap_or(ATTEMPT_MS))
    }

    /// Returns the process of the server, for measuring its resource use.
    pub fn location(&self) -> EngineLocation {
        self.process.map_or(EngineLocation::Remote, EngineLocation::Process)
    }

    /// Returns `true` if `pid` is the server's process or one of its descendants. Always `true` if the
    /// server's process is unknown, because then the user is trusted to have named the right server.
    pub fn owns_process(&self, pid: Option<u32>) -> bool {
        let Some(server) = self.process else { return true };
        pid.is_some_and(|pid| {
            pid == server
                || jsonathlon_telemetry::process_tree::descendants(server)
                    .is_ok_and(|processes| processes.contains(&pid))
        })
    }

    /// Adds the server's address to the error of a broken connection. Other errors are returned unchanged.
    pub fn with_server_context(&self, error: DriverError) -> DriverError {
        match error {
            DriverError::Crashed(message) => {
                DriverError::Crashed(format!("the server at {self} cut the connection: {message}"))
            }
            other => other,
        }
    }

    /// Error for a session that could not be opened although another one is open to the same server.
    pub fn connect_error(
        &self,
        (ConnectFailure::Transient(reason) | ConnectFailure::Permanent(reason)): ConnectFailure,
    ) -> DriverError {
        self.with_server_context(DriverError::Crashed(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_waited_for_as_long_as_told_and_no_longer_than_sensible() {
        let endpoint = Endpoint { host: "::1".into(), port: 5, ..Endpoint::default() };
        let mut attempts = 0;
        let patient = Endpoint { connect_timeout_s: 60, ..endpoint.clone() };
        let result = patient.connect_with_retry(|_| {
            attempts += 1;
            if attempts < 3 { Err(ConnectFailure::Transient("starting".into())) } else { Ok(attempts) }
        });
        assert_eq!(result.unwrap(), 3);
        let error_text = |failure: fn(String) -> ConnectFailure, reason: &str| {
            let error = endpoint.connect_with_retry(|_| Err::<(), _>(failure(reason.into()))).unwrap_err();
            error.to_string()
        };
        assert_eq!(error_text(ConnectFailure::Transient, "refused"), "[::1]:5 does not answer: refused");
        assert_eq!(error_text(ConnectFailure::Permanent, "wrong password"), "[::1]:5: wrong password");
        let mut attempts = 0;
        let result = patient.connect_with_retry(|_| {
            attempts += 1;
            Err::<(), _>(ConnectFailure::Permanent("wrong password".into()))
        });
        assert_eq!((attempts, result.is_err()), (1, true));
    }

    #[test]
    fn who_tries_again_later_is_told_at_once() {
        // No connection is accepted, so that the greeting never arrives.
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let endpoint = Endpoint {
            host: "127.0.0.1".into(),
            port: listener.local_addr().unwrap().port(),
            process: Some(1),
            connect_timeout_s: 600,
            ..Endpoint::default()
        };
        let open = SessionOptions { endpoint: Some(Box::new(endpoint)), ..SessionOptions::default() }
            .with_single_attempt();
        let endpoint = Endpoint::from_options(&open).unwrap();
        assert_eq!((endpoint.step_timeout(), endpoint.process), (Duration::from_secs(1), None));
        let mut attempts = 0;
        let result = endpoint.connect_with_retry(|_| {
            attempts += 1;
            Err::<(), _>(ConnectFailure::Transient("starting".into()))
        });
        assert_eq!((attempts, result.is_err()), (1, true));
        assert_eq!(Endpoint::default().step_timeout(), Duration::from_secs(5));
    }

    #[test]
    fn only_processes_of_the_server_are_taken_for_it() {
        let own_pid = std::process::id();
        let endpoint = |process| Endpoint { process, ..Endpoint::default() };
        assert!(endpoint(Some(own_pid)).owns_process(Some(own_pid)));
        assert!(!endpoint(Some(own_pid)).owns_process(Some(1)));
        assert!(!endpoint(Some(own_pid)).owns_process(None));
        assert!(endpoint(None).owns_process(None));
    }
}
