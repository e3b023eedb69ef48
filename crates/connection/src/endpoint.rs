//! How a session is opened, and where it finds its server. Who started that one, and who ends it, is not the session's business.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::address::{Password, Tls, authority};
use crate::error::{DriverError, Result};

/// What to do about a certificate that is not believed.
const REMEDY: &str = "name the authority that signed the server's certificate by ?ca=FILE.pem, and the \
                                 host as the certificate has it";

/// How a session is opened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// `chdb`, `clickhouse`, `duckdb`, `elasticsearch`, `mongodb`, `mysql`, `postgres`, `sqlite`, `yardstick` or
    /// `mock`.
    pub protocol: String,
    /// The engine's shared library, for protocols that load one.
    #[serde(default)]
    pub library: Option<PathBuf>,
    /// The private data folder; made when it is not there. What is in it survives the session.
    pub folder: PathBuf,
    /// Start settings in the engine's own names: `--key=value` of chDB, configuration options of DuckDB,
    /// pragmas of SQLite, `threads` of the yardstick, `script` of the mock. Those of a server belong to its
    /// start, which is not the session's business.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Statements run in their order right after connecting.
    #[serde(default)]
    pub statements: Vec<String>,
    /// Cores the engine may use; 0, or as many as the process may run on, leaves the engine's default
    /// untouched. One that is fewer is given to engines that have a setting for it, unless `settings`
    /// already name it.
    #[serde(default)]
    pub cores: usize,
    /// The server to be reached, for protocols that speak to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Box<Endpoint>>,
}

impl Open {
    /// The same where a server may have been started anew: which process it is now is not known.
    #[must_use]
    pub fn anew(&self) -> Self {
        let mut open = self.clone();
        if let Some(endpoint) = &mut open.endpoint {
            endpoint.process = None;
        }
        open
    }

    /// The same in one short attempt: whoever is not let in by it tries again later.
    #[must_use]
    pub fn at_once(&self) -> Self {
        let mut open = self.anew();
        if let Some(endpoint) = &mut open.endpoint {
            endpoint.patience_s = 0;
            endpoint.attempt_ms = Some(SHORT_ATTEMPT_MS);
        }
        open
    }
}

/// Where an engine is, for those who measure it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In the process of its session.
    #[default]
    Here,
    /// In the process of this id and those that it started.
    Process(u32),
    /// On a server whose process is not known: nothing is known of what it spends.
    Elsewhere,
}

impl Place {
    /// The process of a server.
    #[must_use]
    pub fn process(self) -> Option<u32> {
        match self {
            Self::Process(pid) => Some(pid),
            Self::Here | Self::Elsewhere => None,
        }
    }
}

/// A server, and as whom a session logs in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// A host's name, or an IP address without brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// A Unix socket instead of host and port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
    /// The user as whom the session logs in; nobody where everybody may come in.
    #[serde(default)]
    pub user: String,
    /// The database that the session uses; the server's own choice when it is empty.
    #[serde(default)]
    pub database: String,
    /// The user's password.
    #[serde(default)]
    pub password: Password,
    /// Whether the connection is encrypted, and how the server proves who it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// The server's process, where it is known: what it and all that it started spend is measured. Where nobody
    /// logs in, it is also how a session knows that another program has not taken the port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// Whether all that is on the server is the run's, so that it is ready only when all of it can be read.
    #[serde(default)]
    pub whole: bool,
    /// Seconds that an answer is waited for: a server may be starting.
    pub patience_s: u64,
    /// Milliseconds between two attempts. Half of this is added to the start of a server.
    pub pause_ms: u64,
    /// Milliseconds that an attempt may wait for each step of coming in; five seconds unless set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_ms: Option<u64>,
}

/// A connection that takes longer than this will not come.
const ATTEMPT_MS: u64 = 5_000;
/// And one that others wait for meanwhile.
const SHORT_ATTEMPT_MS: u64 = 1_000;

/// Host and port, or the socket.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.socket {
            Some(path) => write!(f, "{}", path.display()),
            None => f.write_str(&authority(&self.host, self.port)),
        }
    }
}

/// Why a server is not ready.
pub enum NotReady {
    /// It is on its way.
    Yet(String),
    /// It never will be.
    Ever(String),
}

impl Endpoint {
    /// The one of `open`.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] where it names none.
    pub fn of(open: &Open) -> Result<Self> {
        match &open.endpoint {
            Some(endpoint) => Ok(Self::clone(endpoint)),
            None => Err(DriverError::Unavailable(format!(
                "protocol `{}` needs a server, and the session was told none",
                open.protocol
            ))),
        }
    }

    /// Waits until `probe` succeeds, if it ever does.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] once it never will, or the time to wait is over.
    pub fn reach<T>(&self, mut probe: impl FnMut(&Self) -> std::result::Result<T, NotReady>) -> Result<T> {
        let (begun, limit) = (Instant::now(), Duration::from_secs(self.patience_s));
        loop {
            let why = match probe(self) {
                Ok(ready) => return Ok(ready),
                Err(NotReady::Ever(why)) => {
                    return Err(DriverError::Unavailable(format!("{self}: {why}")));
                }
                Err(NotReady::Yet(why)) => why,
            };
            if blames_certificate(&why) {
                return Err(DriverError::Unavailable(format!("{self}: {why}: {}", REMEDY)));
            }
            if begun.elapsed() >= limit {
                return Err(DriverError::Unavailable(format!("{self} does not answer: {why}")));
            }
            std::thread::sleep(Duration::from_millis(self.pause_ms));
        }
    }

    /// How long an attempt may wait for each step of coming in.
    pub fn attempt(&self) -> Duration {
        Duration::from_millis(self.attempt_ms.unwrap_or(ATTEMPT_MS))
    }

    /// Where the engine is, for those who measure it.
    pub fn place(&self) -> Place {
        self.process.map_or(Place::Elsewhere, Place::Process)
    }

    /// Whether a process is the server's, or one that it started. Of a server whose process is not known nothing
    /// can be said, and it is what the user says it is.
    pub fn is_of_server(&self, pid: Option<u32>) -> bool {
        let Some(server) = self.process else { return true };
        pid.is_some_and(|pid| {
            pid == server
                || jsonathlon_measure::tree::below(server).is_ok_and(|processes| processes.contains(&pid))
        })
    }

    /// The error, with who it was where the connection broke.
    pub fn told(&self, error: DriverError) -> DriverError {
        match error {
            DriverError::Crashed(words) => {
                DriverError::Crashed(format!("the server at {self} cut the connection: {words}"))
            }
            other => other,
        }
    }

    /// Why there is no further session beside one that is open.
    pub fn refused(&self, (NotReady::Yet(why) | NotReady::Ever(why)): NotReady) -> DriverError {
        self.told(DriverError::Crashed(why))
    }
}

/// Whether a text of an error is about the server's certificate.
fn blames_certificate(text: &str) -> bool {
    text.contains("invalid peer certificate") || text.contains("InvalidCertificate")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_waited_for_as_long_as_told_and_no_longer_than_sensible() {
        let endpoint = Endpoint { host: "::1".into(), port: 5, ..Endpoint::default() };
        let mut attempts = 0;
        let patient = Endpoint { patience_s: 60, ..endpoint.clone() };
        let ready = patient.reach(|_| {
            attempts += 1;
            if attempts < 3 { Err(NotReady::Yet("starting".into())) } else { Ok(attempts) }
        });
        assert_eq!(ready.unwrap(), 3);
        let never = |why: fn(String) -> NotReady, words: &str| {
            let error = endpoint.reach(|_| Err::<(), _>(why(words.into()))).unwrap_err();
            error.to_string()
        };
        assert_eq!(never(NotReady::Yet, "refused"), "[::1]:5 does not answer: refused");
        assert_eq!(never(NotReady::Ever, "wrong password"), "[::1]:5: wrong password");
        let error = patient.reach(|_| Err::<(), _>(NotReady::Yet("invalid peer certificate: x".into())));
        assert!(error.unwrap_err().to_string().contains("?ca=FILE.pem"));
    }

    #[test]
    fn who_tries_again_later_is_told_at_once() {
        // Nobody accepts, so that the greeting never comes.
        let silent = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let endpoint = Endpoint {
            host: "127.0.0.1".into(),
            port: silent.local_addr().unwrap().port(),
            process: Some(1),
            patience_s: 600,
            ..Endpoint::default()
        };
        let open = Open { endpoint: Some(Box::new(endpoint)), ..Open::default() }.at_once();
        let endpoint = Endpoint::of(&open).unwrap();
        assert_eq!((endpoint.attempt(), endpoint.process), (Duration::from_secs(1), None));
        let mut attempts = 0;
        let refused = endpoint.reach(|_| {
            attempts += 1;
            Err::<(), _>(NotReady::Yet("starting".into()))
        });
        assert_eq!((attempts, refused.is_err()), (1, true));
        assert_eq!(Endpoint::default().attempt(), Duration::from_secs(5));
    }

    #[test]
    fn only_processes_of_the_server_are_taken_for_it() {
        let here = std::process::id();
        let endpoint = |process| Endpoint { process, ..Endpoint::default() };
        assert!(endpoint(Some(here)).is_of_server(Some(here)));
        assert!(!endpoint(Some(here)).is_of_server(Some(1)));
        assert!(!endpoint(Some(here)).is_of_server(None));
        assert!(endpoint(None).is_of_server(None));
    }
}
