//! Driver for ClickHouse over HTTP, for remote servers. chDB, the engine as a library, uses the same binary
//! format of answers but is an embedded engine of the `embedded` crate.

mod body;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use jsonathlon_driver_api::codecs::clickhouse::{FORMAT, parameter, row_binary, split};
use jsonathlon_driver_api::driver::{
    Connection, DocumentSource, DriverError, EngineLocation, LoadSink, Result, SessionOptions,
};
use jsonathlon_driver_api::endpoint::{ConnectFailure, Endpoint};
use jsonathlon_driver_api::prepared::{Parameter, PreparedStatement, StatementTable};
use jsonathlon_driver_api::rows::{RowSink, StatementStats};

use crate::http::{HttpClient, HttpResponse, connect_failure};
use body::Body;

/// Response header with the code of an error; the body is then its text.
const EXCEPTION: &str = "x-clickhouse-exception-code";
/// Response header with the server's statistics of a statement, as JSON.
const SUMMARY: &str = "x-clickhouse-summary";

/// Error codes for exhausted resources, which do not depend on a document: memory limit (241), full disk
/// (243).
const EXHAUSTED: [&str; 2] = ["241", "243"];

/// Number of sessions that this process has opened, which makes session ids unique. The server keeps the
/// settings of each session.
static SESSIONS: AtomicU64 = AtomicU64::new(0);

/// Session with one server.
pub struct Clickhouse {
    http: HttpClient,
    endpoint: Endpoint,
    /// Path and query parameters of every request.
    target: String,
    prepared: StatementTable<String>,
}

impl Clickhouse {
    /// Connects to the server of `open`.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] if the server cannot be reached or denies the session.
    pub fn open(open: &SessionOptions) -> Result<Self> {
        let endpoint = Endpoint::from_options(open)?;
        let http = endpoint.connect_with_retry(|endpoint| {
            let http =
                HttpClient::new(endpoint, 1).map_err(|error| ConnectFailure::Permanent(error.to_string()))?;
            let answer = http.send("POST", "/", Some(("text/plain", b"SELECT 1")));
            let answer = answer.map_err(|error| connect_failure(&error))?;
            match answer.status {
                200 => Ok(http),
                401 | 403 | 516 => Err(ConnectFailure::Permanent(format!(
                    "the server refused the session: {}",
                    error_message(&answer)
                ))),
                _ if answer.headers.contains_key(EXCEPTION) => Err(ConnectFailure::Permanent(format!(
                    "the server refused the session: {}",
                    error_message(&answer)
                ))),
                _ => Err(ConnectFailure::Transient(format!(
                    "status {}: {}",
                    answer.status,
                    error_message(&answer)
                ))),
            }
        })?;
        Ok(Self { http, target: target(&endpoint), endpoint, prepared: StatementTable::default() })
    }

    /// Converts an error of the HTTP client to a broken connection, with the server's address.
    fn connection_error(&self, error: &ureq::Error) -> DriverError {
        self.endpoint.with_server_context(DriverError::Crashed(error.to_string()))
    }

    /// Executes a statement. `target` holds the path and, as query parameters, the statement's parameters.
    fn send(&self, target: &str, statement: &str, sink: &mut dyn RowSink) -> Result<StatementStats> {
        let answer = self.http.send("POST", target, Some(("text/plain", statement.as_bytes())));
        let answer = check_success(answer.map_err(|error| self.connection_error(&error))?)?;
        row_binary::decode(&answer.body, sink)?;
        let summary = summary(&answer);
        let metric = |name: &str| summary.get(name).and_then(serde_json::Value::as_str)?.parse::<u64>().ok();
        Ok(StatementStats {
            server_seconds: metric("elapsed_ns").map(|nanoseconds| nanoseconds as f64 / 1e9),
            rows_read: metric("read_rows"),
            bytes_read: metric("read_bytes"),
            memory_bytes: metric("memory_usage"),
            affected: metric("written_rows").filter(|rows| *rows > 0),
            replaced: 0,
        })
    }
}

/// Returns the answer if the statement succeeded, otherwise the server's message as an error.
fn check_success(answer: HttpResponse) -> Result<HttpResponse> {
    let code = answer.headers.get(EXCEPTION).and_then(|code| code.to_str().ok());
    if answer.is_success() && code.is_none() {
        return Ok(answer);
    }
    let kind = if code.is_some_and(|code| EXHAUSTED.contains(&code)) {
        DriverError::Exhausted
    } else {
        DriverError::Refused
    };
    Err(kind(error_message(&answer)))
}

/// Returns the first line of the server's message; a stack trace may follow in the body.
fn error_message(answer: &HttpResponse) -> String {
    let text = String::from_utf8_lossy(&answer.body);
    text.lines().next().unwrap_or_default().trim().to_owned()
}

fn summary(answer: &HttpResponse) -> serde_json::Value {
    let text = answer.headers.get(SUMMARY).and_then(|summary| summary.to_str().ok());
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Builds the path of every request. It names a session, so that `SET` holds, and sets its time zone to UTC,
/// whatever the server's zone. The server sends only complete answers, so that an error never looks like the
/// end of one.
fn target(endpoint: &Endpoint) -> String {
    let nanoseconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let number = SESSIONS.fetch_add(1, Ordering::Relaxed);
    let session = format!("jsonathlon-{}-{number}-{nanoseconds}", std::process::id());
    let mut target = format!(
        "/?session_id={session}&session_timeout=3600&session_timezone=UTC&wait_end_of_query=1&default_format={FORMAT}"
    );
    if !endpoint.database.is_empty() {
        target += &format!("&database={}", percent_encode(&endpoint.database));
    }
    target
}

/// Percent-encodes a text for a query parameter of a URL.
fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}

impl Connection for Clickhouse {
    fn version(&mut self) -> Result<String> {
        self.collect("SELECT version()")?.version()
    }

    fn ask(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<StatementStats> {
        split::run_each(statement, |statement| self.send(&self.target, statement, sink))
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
        let mut target = self.target.clone();
        for (number, parameter) in (1..).zip(parameters) {
            target += &format!("&param_p{number}={}", percent_encode(&parameter::text(parameter)));
        }
        self.send(&target, self.prepared.get(prepared)?, sink)
    }

    /// Sends all documents as the body of one INSERT, which the server parses with as many threads as it
    /// chooses. A rejected document ends the load, and blocks before it may stay. The caller then starts over
    /// without it.
    fn bulk_in(
        &mut self,
        statement: &str,
        documents: &mut dyn DocumentSource,
        sink: &mut dyn LoadSink,
    ) -> Result<u64> {
        let path = format!("{}&query={}", self.target, percent_encode(statement));
        let mut body = Body::new(documents, sink);
        let response = self.http.stream(&path, &mut body);
        let (offered, error) = body.end();
        if let Some(error) = error {
            return Err(error);
        }
        check_success(response.map_err(|error| self.connection_error(&error))?)?;
        Ok(offered)
    }

    fn send_rows(&mut self, statement: &str, rows: &str) -> Result<()> {
        let path = format!("{}&query={}", self.target, percent_encode(statement));
        let answer = self.http.send("POST", &path, Some(("text/plain", rows.as_bytes())));
        check_success(answer.map_err(|error| self.connection_error(&error))?).map(drop)
    }

    fn location(&self) -> EngineLocation {
        self.endpoint.location()
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_encoded() {
        assert_eq!(percent_encode("a b&c=ü_1"), "a%20b%26c%3D%C3%BC_1");
    }

    #[test]
    fn an_error_is_told_by_its_header_and_not_by_the_status_alone() {
        let answer = |status, code: Option<&str>| {
            let mut headers = ureq::http::HeaderMap::new();
            if let Some(code) = code {
                headers.insert(EXCEPTION, code.parse().unwrap());
            }
            HttpResponse { status, headers, body: b"Code: 1. what went wrong\nstack".to_vec() }
        };
        assert!(check_success(answer(200, None)).is_ok());
        let error = |status, code| check_success(answer(status, code)).unwrap_err();
        let message = "Code: 1. what went wrong".to_owned();
        assert_eq!(error(200, Some("27")), DriverError::Refused(message.clone()));
        assert_eq!(error(500, Some("241")), DriverError::Exhausted(message.clone()));
        assert_eq!(error(404, None), DriverError::Refused(message));
    }
}
