//! Driver for the Elasticsearch protocol (JSON over HTTP), which other search engines support too.

mod answer;
mod load;
mod plan;
mod statement;

use std::collections::BTreeMap;

use jsonathlon_driver_api::codecs::json_rows::{self, RawJson};
use jsonathlon_driver_api::driver::{
    Connection, DocumentSource, DriverError, EngineLocation, LoadSink, Result, SessionOptions,
};
use jsonathlon_driver_api::endpoint::{ConnectFailure, Endpoint};
use jsonathlon_driver_api::prepared::{Parameter, PreparedStatement, StatementTable};
use jsonathlon_driver_api::rows::{RowSink, StatementStats, single_text_row};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::bulk;
use crate::http::{HttpClient, HttpResponse, connect_failure};
use answer::{JSON, LINES};
use statement::{Statement, Template};

/// Session with one server.
pub struct Elasticsearch {
    http: HttpClient,
    endpoint: Endpoint,
    /// Number of concurrent requests of a bulk load.
    connections: usize,
    prepared: StatementTable<Template>,
}

impl Elasticsearch {
    /// Connects to the server of `open`. If all data on the server belongs to the run, waits until a search
    /// over all of it succeeds.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] if the server cannot be reached or denies the session.
    pub fn open(open: &SessionOptions) -> Result<Self> {
        let connections = bulk::connections(open.cores);
        let endpoint = Endpoint::from_options(open)?;
        let http = endpoint.connect_with_retry(|endpoint| connect(endpoint, connections))?;
        let mut session = Self { http, endpoint, connections, prepared: StatementTable::default() };
        session.check_server_process()?;
        Ok(session)
    }

    /// Checks that the server's process listens on the port. Without a login, any other program could answer
    /// there.
    fn check_server_process(&mut self) -> Result<()> {
        if self.endpoint.process.is_none() {
            return Ok(());
        }
        let answer = self.send("GET", "/_nodes/_local/process?filter_path=nodes.*.process.id", None)?;
        let answer = answer.json().map_err(DriverError::Protocol)?;
        let node = answer.get("nodes").and_then(Json::as_object).and_then(|nodes| nodes.values().next());
        let pid = node.and_then(|node| node.pointer("/process/id")).and_then(Json::as_u64);
        if self.endpoint.owns_process(pid.and_then(|pid| u32::try_from(pid).ok())) {
            return Ok(());
        }
        Err(DriverError::Unavailable("the port is answered by another server: try again".into()))
    }

    /// Sends a request and returns the response, whatever its status is.
    fn send_unchecked(
        &mut self,
        method: &str,
        path: &str,
        body: Option<(&str, &[u8])>,
    ) -> Result<HttpResponse> {
        let answer = self.http.send(method, path, body);
        answer.map_err(|error| {
            // The server breaks off an answer that it cannot serialise and stays up, e.g. for a stored text
            // that it accepted but cannot parse.
            if self.http.send("HEAD", "/", None).is_ok() {
                return DriverError::Protocol(format!("an answer that broke off: {error}"));
            }
            self.endpoint.with_server_context(DriverError::Crashed(error.to_string()))
        })
    }

    fn send(&mut self, method: &str, path: &str, body: Option<(&str, &[u8])>) -> Result<HttpResponse> {
        let answer = self.send_unchecked(method, path, body)?;
        if answer.is_success() { Ok(answer) } else { Err(refusal(answer.status, answer.reason())) }
    }

    /// Executes a request. Returns the text of its answer and the metadata in it. An answer over a part of
    /// the data is an error.
    fn request(&mut self, statement: &Statement) -> Result<(String, SearchMetadata)> {
        let (method, path) = statement.target()?;
        let body = statement.content()?;
        let kind = if statement.lines.is_some() { LINES } else { JSON };
        let answer = self.send_unchecked(method, path, body.as_deref().map(|body| (kind, body)))?;
        let metadata = match SearchMetadata::of(&answer) {
            // A missing document is no error, whether it was to be read or written.
            Ok(metadata) if answer.is_success() || answer.status == 404 && metadata.is_missing_document() => {
                metadata
            }
            Err(error) if answer.is_success() => return Err(error),
            _ => return Err(refusal(answer.status, answer.reason())),
        };
        let text = String::from_utf8(answer.body)
            .map_err(|error| DriverError::Protocol(format!("an answer that is no UTF-8: {error}")))?;
        Ok((text, metadata))
    }

    /// Executes a request, or explains one.
    fn run(&mut self, statement: &Statement, sink: &mut dyn RowSink) -> Result<StatementStats> {
        if let Some(explained) = &statement.explain {
            let (answer, _) = self.request(&explained.profiled()?)?;
            single_text_row("plan", &plan::text(&answer)?, sink)?;
            return Ok(StatementStats::default());
        }
        let (answer, metadata) = self.request(statement)?;
        match &statement.rows {
            Some(mapping) if metadata.is_missing_document() => json_rows::columns(mapping, sink)?,
            Some(mapping) => {
                let answer = RawJson::read(&answer).map_err(DriverError::Protocol)?;
                json_rows::columns(mapping, sink)?;
                json_rows::rows(&answer, mapping, &mut String::new(), sink)?;
            }
            None => sink.columns(&[])?,
        }
        Ok(StatementStats {
            server_seconds: metadata.took.map(|took| took / 1000.0),
            affected: metadata.affected(),
            ..StatementStats::default()
        })
    }
}

/// Classifies an error by its HTTP status. A conflict (409) means that the document's version has changed, or
/// that a document exists already where a new one was to be created. A server whose queue is full (429) has
/// done nothing, so that the request may be repeated; one that lacks memory has the same status.
fn refusal(status: u16, message: String) -> DriverError {
    match status {
        409 if message.contains("document already exists") => DriverError::Duplicate(message),
        409 => DriverError::Conflict(message),
        429 if message.contains("rejected_execution_exception") => DriverError::Conflict(message),
        _ => DriverError::Refused(message),
    }
}

impl Connection for Elasticsearch {
    fn version(&mut self) -> Result<String> {
        let mut fetch = |path: &str| -> Result<Json> {
            self.send("GET", path, None)?.json().map_err(DriverError::Protocol)
        };
        let server = fetch("/")?;
        let Some(number) = server.pointer("/version/number").and_then(Json::as_str) else {
            return Err(DriverError::Protocol(format!("the server reported no version: {server}")));
        };
        let mut text = number.to_owned();
        if let Some(lucene) = server.pointer("/version/lucene_version").and_then(Json::as_str) {
            text += &format!(", Lucene {lucene}");
        }
        // The server may use its own Java runtime, whose version affects performance too.
        let nodes = fetch("/_nodes/_local/jvm?filter_path=nodes.*.jvm.version")?;
        let jvm = nodes.get("nodes").and_then(Json::as_object).and_then(|nodes| nodes.values().next());
        if let Some(jvm) = jvm.and_then(|node| node.pointer("/jvm/version")).and_then(Json::as_str) {
            text += &format!(", Java {jvm}");
        }
        Ok(text)
    }

    fn ask(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<StatementStats> {
        self.run(&Statement::read(statement)?, sink)
    }

    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        Ok(self.prepared.insert(Template::read(statement)?))
    }

    fn execute(
        &mut self,
        prepared: &PreparedStatement,
        parameters: &[Parameter<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<StatementStats> {
        let statement = self.prepared.get(prepared)?.filled(parameters)?;
        self.run(&statement, sink)
    }

    fn bulk_in(
        &mut self,
        statement: &str,
        documents: &mut dyn DocumentSource,
        sink: &mut dyn LoadSink,
    ) -> Result<u64> {
        let statement = Statement::read(statement)?;
        let (method, path) = statement.target()?;
        let template = load::Template::new(&statement)?;
        let target = load::Target { http: &self.http, method, path, template: &template };
        let accepted = load::load_all(&target, self.connections, documents, sink)
            .map_err(|error| self.endpoint.with_server_context(error))?;
        // Makes the documents visible to searches, and writes segments that are synced to disk.
        let index = path.split("/_bulk").next().unwrap_or_default();
        for action in ["_refresh", "_flush?wait_if_ongoing=true"] {
            let answer = self.send("POST", &format!("{index}/{action}"), None)?;
            SearchMetadata::of(&answer)?;
        }
        Ok(accepted)
    }

    fn location(&self) -> EngineLocation {
        self.endpoint.location()
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// Metadata of an answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SearchMetadata {
    /// Execution time in milliseconds, as the server reports it.
    took: Option<f64>,
    timed_out: bool,
    #[serde(rename = "_shards")]
    shards: Option<Shards>,
    /// Outcome of writing a single document, e.g. `created` or `not_found`.
    result: Option<String>,
    /// Whether a single requested document exists.
    found: Option<bool>,
    error: Option<Json>,
    /// Whether an operation of a bulk request failed.
    errors: bool,
    /// Outcomes of the operations of a bulk request, in order.
    items: Vec<BTreeMap<String, Item>>,
}

/// Outcome of one operation of a bulk request.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Item {
    status: u16,
    result: Option<String>,
    error: Option<Json>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Shards {
    failed: u64,
    failures: Vec<Json>,
}

impl SearchMetadata {
    /// Returns `true` if the answer reports that the requested document does not exist.
    fn is_missing_document(&self) -> bool {
        let kind = self.error.as_ref().and_then(|error| error.get("type")).and_then(Json::as_str);
        self.found == Some(false)
            || self.result.as_deref() == Some("not_found")
            || kind == Some("document_missing_exception")
    }

    /// Number of documents that were written. `None` if the answer is not about writes.
    fn affected(&self) -> Option<u64> {
        if self.is_missing_document() {
            return Some(0);
        }
        let written = |result: &str| u64::from(matches!(result, "created" | "updated" | "deleted"));
        if let Some(result) = &self.result {
            return Some(written(result));
        }
        let items = self.items.iter().flat_map(BTreeMap::values);
        let total = items.map(|item| item.result.as_deref().map_or(0, written)).sum();
        (!self.items.is_empty()).then_some(total)
    }

    /// Parses the metadata of an answer. An answer that does not cover all data is an error even if its
    /// status is 200.
    fn of(answer: &HttpResponse) -> Result<Self> {
        // The body may be empty, as in the answer to a HEAD request. A list has no metadata.
        if answer.body.first() != Some(&b'{') {
            return Ok(Self::default());
        }
        let metadata: Self = serde_json::from_slice(&answer.body)
            .map_err(|error| DriverError::Protocol(format!("an answer that cannot be read: {error}")))?;
        if metadata.timed_out {
            let reason = "the server gave up in time and answered over a part";
            return Err(DriverError::Refused(reason.into()));
        }
        if metadata.errors {
            let items = metadata.items.iter().flat_map(BTreeMap::values);
            let failed = items.filter_map(|item| Some((item.status, item.error.as_ref()?)));
            // What may be sent again must not hide what may not, and documents that exist hide neither.
            let most_severe = failed.min_by_key(|(status, _)| match status {
                409 => 2,
                429 => 1,
                _ => 0,
            });
            if let Some((status, error)) = most_severe {
                return Err(refusal(status, answer::reason(error)));
            }
        }
        match &metadata.shards {
            Some(Shards { failed, failures }) if *failed > 0 => {
                let reason = failures.first().and_then(|failure| failure.get("reason"));
                let reason = reason.map(answer::reason).unwrap_or_default();
                Err(DriverError::Refused(format!("{failed} shards failed: {reason}")))
            }
            _ => Ok(metadata),
        }
    }
}

/// Connects to a server. If all its data belongs to the run, waits until the data can be searched, which is
/// later than the first connection.
fn connect(endpoint: &Endpoint, connections: usize) -> std::result::Result<HttpClient, ConnectFailure> {
    if endpoint.socket.is_some() {
        let message = "this protocol is spoken over TCP only: remove `socket` from the system's folder";
        return Err(ConnectFailure::Permanent(message.to_owned()));
    }
    let http = HttpClient::new(endpoint, connections)
        .map_err(|error| ConnectFailure::Permanent(error.to_string()))?;
    let request = |method: &str,
                   path: &str,
                   body: Option<&[u8]>|
     -> std::result::Result<HttpResponse, ConnectFailure> {
        let body = body.map(|body| (JSON, body));
        let answer = http.send(method, path, body).map_err(|error| connect_failure(&error))?;
        match answer.status {
            200..300 => Ok(answer),
            // A denied login is permanent, so no further attempt is made.
            401 | 403 => {
                Err(ConnectFailure::Permanent(format!("the server refused the session: {}", answer.reason())))
            }
            _ => Err(ConnectFailure::Transient(answer.reason())),
        }
    };
    if !endpoint.exclusive {
        // Other data on the server need not be available for the run.
        request("GET", "/", None)?;
        return Ok(http);
    }
    let limit = endpoint.step_timeout().as_millis();
    request("GET", &format!("/_cluster/health?wait_for_status=yellow&timeout={limit}ms"), None)?;
    let answer = request("POST", "/_search", Some(br#"{"size": 0}"#))?;
    SearchMetadata::of(&answer).map_err(|error| ConnectFailure::Transient(error.to_string()))?;
    Ok(http)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Error of a bulk request whose items have these statuses and error types.
    fn bulk_error(items: &[(u16, &str)]) -> DriverError {
        let items: Vec<Json> = items
            .iter()
            .map(|(status, kind)| match status {
                200..300 => serde_json::json!({"create": {"status": status}}),
                _ => {
                    let error = serde_json::json!({"type": kind, "reason": kind});
                    serde_json::json!({"create": {"status": status, "error": error}})
                }
            })
            .collect();
        let body = serde_json::json!({"errors": true, "items": items}).to_string().into_bytes();
        let answer = HttpResponse { status: 200, headers: ureq::http::HeaderMap::new(), body };
        SearchMetadata::of(&answer).map(drop).unwrap_err()
    }

    #[test]
    fn a_bulk_request_fails_by_its_most_severe_item() {
        let exists = (409, "version conflict, document already exists");
        let busy = (429, "es_rejected_execution_exception");
        let malformed = (400, "document_parsing_exception");
        assert!(matches!(bulk_error(&[(201, ""), exists]), DriverError::Duplicate(_)));
        assert!(matches!(bulk_error(&[exists, busy, (201, "")]), DriverError::Conflict(_)));
        assert!(matches!(bulk_error(&[exists, busy, malformed]), DriverError::Refused(_)));
        // Without memory a request may fail forever.
        assert!(matches!(bulk_error(&[(429, "circuit_breaking_exception")]), DriverError::Refused(_)));
    }
}
