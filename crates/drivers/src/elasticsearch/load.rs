//! Bulk load in batches, several of them at a time.
//!
//! The client chooses the id of each document, and documents are created, never replaced, so that repeating a
//! batch inserts nothing twice. The server accepts or rejects each document on its own. A batch that is
//! rejected as a whole is offered again in halves, down to single documents.

use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jsonathlon_driver_api::driver::{DocumentSource, DriverError, LoadSink, Result};
use memchr::memchr;
use serde::Deserialize;
use serde_json::Value as Json;

use super::answer::{LINES, reason};
use super::statement::{Statement, unsupported};
use crate::bulk::{self, RejectedDocuments};
use crate::http::HttpClient;

/// Size in bytes at which a batch ends. Large compared with a round trip, far below the server's limit of 100
/// MB.
const BATCH: usize = 8 << 20;
/// Maximum number of attempts while the server is too busy. The pause between them starts at `FIRST_PAUSE`
/// and doubles each time: half a minute in total.
const ATTEMPTS: u32 = 11;
const FIRST_PAUSE: Duration = Duration::from_millis(30);

/// Placeholders of a document and of its id in the statement.
const DOCUMENT: &str = ":doc";
const ID: &str = "\":id\"";

/// Lines that are sent for each document.
pub(super) struct Template {
    lines: Vec<Line>,
}

enum Line {
    Document,
    /// Parts of a line between occurrences of the id; a single part if the line contains no id.
    Text(Vec<String>),
}

impl Template {
    pub(super) fn new(statement: &Statement) -> Result<Self> {
        let invalid =
            || unsupported("a load has `lines`, one of which is \":doc\" and another holds \":id\"".into());
        let lines = statement.lines.as_ref().ok_or_else(invalid)?;
        let lines: Vec<Line> = lines
            .iter()
            .map(|line| match line {
                Json::String(text) if text == DOCUMENT => Line::Document,
                other => Line::Text(other.to_string().split(ID).map(str::to_owned).collect()),
            })
            .collect();
        let documents = lines.iter().filter(|line| matches!(line, Line::Document)).count();
        let ids = lines.iter().filter(|line| matches!(line, Line::Text(parts) if parts.len() > 1)).count();
        if documents == 1 && ids == 1 { Ok(Self { lines }) } else { Err(invalid()) }
    }

    fn write(&self, id: &str, document: &[u8], out: &mut Vec<u8>) {
        for line in &self.lines {
            match line {
                Line::Document => out.extend_from_slice(document),
                Line::Text(parts) => out.extend_from_slice(parts.join(&format!("\"{id}\"")).as_bytes()),
            }
            out.push(b'\n');
        }
    }
}

/// Server, request and template to which documents are sent.
pub(super) struct Target<'a> {
    pub(super) http: &'a HttpClient,
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) template: &'a Template,
}

/// Documents encoded as lines.
#[derive(Default)]
struct Batch {
    /// Position of each document in the stream of all offered documents.
    ordinals: Vec<u64>,
    bytes: Vec<u8>,
    /// End of each document's lines in `bytes`.
    ends: Vec<usize>,
}

impl Batch {
    fn range(&self, document: usize) -> Range<usize> {
        let start = if document == 0 { 0 } else { self.ends[document - 1] };
        start..self.ends[document]
    }
}

/// Generator of unique ids: the start time of the load in microseconds, followed by the ordinal. They consist
/// of digits only, which the servers store at half their length. They increase, which makes lookups cheap.
struct Ids {
    load: u128,
}

impl Ids {
    fn new() -> Self {
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { load: elapsed.as_micros() }
    }

    fn id(&self, ordinal: u64) -> String {
        format!("{}{ordinal:010}", self.load)
    }
}

/// Sends all documents over `connections` connections and returns the number accepted.
pub(super) fn load_all(
    target: &Target<'_>,
    connections: usize,
    documents: &mut dyn DocumentSource,
    sink: &mut dyn LoadSink,
) -> Result<u64> {
    let ids = Ids::new();
    let mut offered = 0;
    // Documents that cannot be sent at all.
    let mut unsendable = RejectedDocuments::default();
    // The HTTP client owns the connections and gives one to each thread.
    let mut rejected = bulk::send_in_parallel(
        &mut vec![(); connections],
        |batch: &Batch| batch.bytes.len(),
        || fill(target.template, &ids, documents, sink, &mut offered, &mut unsendable),
        |(), batch| {
            let all_documents: Vec<usize> = (0..batch.ends.len()).collect();
            insert(target, &batch, &all_documents, false)
        },
    )?;
    rejected.append(unsendable);
    Ok(offered - rejected.report(sink))
}

/// Encodes the next batch of documents. `None` at the end of the stream.
fn fill(
    template: &Template,
    ids: &Ids,
    documents: &mut dyn DocumentSource,
    sink: &mut dyn LoadSink,
    offered: &mut u64,
    rejected: &mut RejectedDocuments,
) -> Result<Option<Batch>> {
    let mut batch = Batch::default();
    while batch.bytes.len() < BATCH {
        let Some(document) = documents.next_document()? else { break };
        let ordinal = *offered;
        *offered += 1;
        // Documents are read from lines and contain no newline. If one does, it would become two lines.
        if memchr(b'\n', document).is_some() {
            rejected.push(ordinal, "a document of several lines cannot be sent".into());
        } else {
            template.write(&ids.id(ordinal), document, &mut batch.bytes);
            batch.ordinals.push(ordinal);
            batch.ends.push(batch.bytes.len());
        }
        sink.report_offered(*offered);
    }
    Ok((!batch.ends.is_empty()).then_some(batch))
}

#[derive(Deserialize)]
struct BulkAnswer {
    errors: bool,
    #[serde(default)]
    items: Vec<serde_json::Map<String, Json>>,
}

/// Returns `true` for statuses that blame a document: malformed (400), exists already (409), too large (413).
/// All others blame the request, the permissions, or the server.
fn blames_documents(status: u16) -> bool {
    matches!(status, 400 | 409 | 413)
}

/// Classifies a status that does not blame a document.
fn failure(status: u16, message: String) -> DriverError {
    if status >= 500 { DriverError::Exhausted(message) } else { DriverError::Unavailable(message) }
}

/// Sends the `pending` documents of a batch until each is accepted or rejected, and returns the rejected
/// ones. If `is_repeated` is set, an earlier request may have inserted some of them already.
fn insert(
    target: &Target<'_>,
    batch: &Batch,
    pending: &[usize],
    is_repeated: bool,
) -> Result<RejectedDocuments> {
    let mut pending = pending.to_vec();
    let mut rejected = RejectedDocuments::default();
    let mut pause = FIRST_PAUSE;
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            std::thread::sleep(pause);
            pause *= 2;
        }
        let body: Vec<u8>;
        let is_whole = pending.len() == batch.ends.len();
        let bytes = if is_whole {
            batch.bytes.as_slice()
        } else {
            body =
                pending.iter().flat_map(|document| &batch.bytes[batch.range(*document)]).copied().collect();
            body.as_slice()
        };
        let answer = target
            .http
            .send(target.method, target.path, Some((LINES, bytes)))
            .map_err(|error| DriverError::Crashed(error.to_string()))?;
        match answer.status {
            200..300 => {}
            // The server is too busy, or a part of it is not available yet.
            429 | 503 => continue,
            status if blames_documents(status) => {
                let reason = answer.reason();
                if let [document] = pending.as_slice() {
                    rejected.push(batch.ordinals[*document], reason);
                    return Ok(rejected);
                }
                let (first_half, second_half) = pending.split_at(pending.len() / 2);
                rejected.append(insert(target, batch, first_half, true)?);
                rejected.append(insert(target, batch, second_half, true)?);
                return Ok(rejected);
            }
            status => return Err(failure(status, answer.reason())),
        }
        let answer: BulkAnswer = serde_json::from_slice(&answer.body)
            .map_err(|error| DriverError::Protocol(format!("the answer to a bulk request: {error}")))?;
        if !answer.errors {
            return Ok(rejected);
        }
        pending = sort_out(&answer, batch, &pending, is_repeated || attempt > 0, &mut rejected)?;
        if pending.is_empty() {
            return Ok(rejected);
        }
    }
    Err(DriverError::Exhausted(format!(
        "{} documents were turned away {ATTEMPTS} times: the server is too busy",
        pending.len()
    )))
}

/// Adds the rejected documents to `rejected` and returns those that must be sent again.
fn sort_out(
    answer: &BulkAnswer,
    batch: &Batch,
    pending: &[usize],
    is_repeated: bool,
    rejected: &mut RejectedDocuments,
) -> Result<Vec<usize>> {
    if answer.items.len() != pending.len() {
        return Err(DriverError::Protocol(format!(
            "{} documents were sent and {} are in the answer: a filter_path must leave items.*.status",
            pending.len(),
            answer.items.len()
        )));
    }
    let mut retried = Vec::new();
    for (document, item) in pending.iter().zip(&answer.items) {
        let Some(item) = item.values().next() else {
            return Err(DriverError::Protocol("an item of a bulk answer is empty".into()));
        };
        let message = || item.get("error").map_or_else(|| item.to_string(), reason);
        let status = item.get("status").and_then(Json::as_u64).and_then(|status| u16::try_from(status).ok());
        match status {
            Some(200..300) => {}
            Some(429 | 503) => retried.push(*document),
            // An earlier attempt inserted the document although its answer did not say so.
            Some(409) if is_repeated => {}
            Some(status) if blames_documents(status) => rejected.push(batch.ordinals[*document], message()),
            Some(status) => return Err(failure(status, message())),
            None => return Err(DriverError::Protocol(format!("an item without a status: {}", message()))),
        }
    }
    Ok(retried)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(lines: &str) -> Result<Template> {
        let text = format!(r#"{{"method": "POST", "path": "/t/_bulk", "lines": {lines}}}"#);
        Template::new(&Statement::read(&text).unwrap())
    }

    #[test]
    fn a_document_becomes_its_lines() {
        let template = template(r#"[{"create": {"_id": ":id"}}, ":doc"]"#).unwrap();
        let mut out = Vec::new();
        template.write("7", br#"{"a":":id"}"#, &mut out);
        assert_eq!(out, b"{\"create\":{\"_id\":\"7\"}}\n{\"a\":\":id\"}\n");
    }

    #[test]
    fn a_load_without_an_id_or_a_document_is_refused() {
        for lines in
            [r#"[{"create": {}}, ":doc"]"#, r#"[{"create": {"_id": ":id"}}]"#, "[]", r#"[":doc", ":doc"]"#]
        {
            assert!(template(lines).is_err(), "{lines}");
        }
    }

    #[test]
    fn ids_grow_with_the_ordinal_and_are_digits() {
        let ids = Ids::new();
        assert!(ids.id(9) < ids.id(10) && ids.id(1).bytes().all(|byte| byte.is_ascii_digit()));
        assert_eq!(ids.id(1).len(), ids.id(9_999_999_999).len());
    }

    #[test]
    fn items_are_accepted_refused_or_sent_again() {
        let batch =
            Batch { ordinals: (100..105).collect(), bytes: b"abcde".to_vec(), ends: vec![1, 2, 3, 4, 5] };
        let items = r#"{"errors": true, "items": [{"create": {"status": 201}}, {"create": {"status": 429, "error": {}}},
            {"create": {"status": 400, "error": {"type": "t", "reason": "r"}}}, {"create": {"status": 409, "error": "twice"}}]}"#;
        let answer: BulkAnswer = serde_json::from_str(items).unwrap();
        for (is_repeated, expected) in
            [(true, vec![(103, "t: r")]), (false, vec![(103, "t: r"), (104, "twice")])]
        {
            let mut rejected = RejectedDocuments::default();
            let retried = sort_out(&answer, &batch, &[0, 2, 3, 4], is_repeated, &mut rejected).unwrap();
            assert_eq!(retried, [2]);
            let reasons: Vec<(u64, &str)> =
                rejected.0.iter().map(|(ordinal, reason)| (*ordinal, reason.as_str())).collect();
            assert_eq!(reasons, expected);
        }
        assert!(sort_out(&answer, &batch, &[0], false, &mut RejectedDocuments::default()).is_err());
        // Errors that blame no document.
        for item in [r#"{"status": 500, "error": "disk"}"#, r#"{"status": 403}"#, "{}"] {
            let text = format!(r#"{{"errors": true, "items": [{{"create": {item}}}]}}"#);
            let answer: BulkAnswer = serde_json::from_str(&text).unwrap();
            let mut rejected = RejectedDocuments::default();
            assert!(sort_out(&answer, &batch, &[1], false, &mut rejected).is_err() && rejected.0.is_empty());
        }
        assert_eq!(batch.range(1), 1..2);
    }
}
