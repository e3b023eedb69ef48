//! Bulk load by inserts of many documents each.
//!
//! Inserts are unordered: the server names each rejected document of a batch by its index, with the reason,
//! and inserts the others. A batch that the server cannot parse is offered again in halves. Thus every
//! document is either stored once or reported. While the server processes some batches, the next one is
//! encoded.

use std::ops::Range;

use jsonathlon_driver_api::codecs::json_rows::Tree;
use jsonathlon_driver_api::driver::{DocumentSource, DriverError, LoadSink, Result};

use super::request::{Insert, Statement};
use super::wire::{self, Wire};
use super::{Limits, Mongodb, bson::Bson, dial, encode, refusal};
use crate::bulk::{self, RejectedDocuments};

/// Size in bytes at which a batch ends. Large compared with its round trip.
const BATCH: usize = 2 << 20;
/// Error codes that blame the documents of a batch as a whole: one of them is nested too deep, malformed, or
/// too large. Nothing of the batch was inserted.
const ABOUT_DOCUMENTS: [i64; 3] = [15, 22, 10334];

/// Documents encoded as BSON.
struct Batch {
    bytes: Vec<u8>,
    /// End of each document in `bytes`, and its position in the stream of all offered documents.
    documents: Vec<(usize, u64)>,
}

impl Batch {
    fn bytes(&self, documents: &Range<usize>) -> &[u8] {
        let offset = |index: usize| if index == 0 { 0 } else { self.documents[index - 1].0 };
        &self.bytes[offset(documents.start)..offset(documents.end)]
    }
}

/// Encoder of the document stream into batches.
struct Batches<'a> {
    documents: &'a mut dyn DocumentSource,
    limits: Limits,
    offered: u64,
    /// Documents that were rejected before sending.
    refused: RejectedDocuments,
    /// Encoded document that did not fit into the previous batch.
    carried: Vec<u8>,
    is_ended: bool,
}

impl Batches<'_> {
    fn next(&mut self, sink: &mut dyn LoadSink) -> Result<Option<Batch>> {
        let mut batch = Batch { bytes: std::mem::take(&mut self.carried), documents: Vec::new() };
        if !batch.bytes.is_empty() {
            batch.documents.push((batch.bytes.len(), self.offered - 1));
        }
        while !self.is_ended {
            let Some((key, document)) = self.documents.next_keyed()? else {
                self.is_ended = true;
                break;
            };
            let keyed = key.map(|key| with_key(key, document));
            let document = keyed.as_deref().unwrap_or(document);
            let ordinal = self.offered;
            self.offered += 1;
            sink.report_offered(self.offered);
            let start = batch.bytes.len();
            if let Err(reason) = encode::document(document, &mut batch.bytes) {
                self.refused.push(ordinal, reason);
                continue;
            }
            let size = batch.bytes.len() - start;
            if size > self.limits.document {
                batch.bytes.truncate(start);
                let reason =
                    format!("it takes {size} bytes, and a document {} at most", self.limits.document);
                self.refused.push(ordinal, reason);
                continue;
            }
            let is_full =
                start > 0 && (batch.bytes.len() > BATCH || batch.documents.len() >= self.limits.batch);
            if is_full {
                self.carried.extend_from_slice(&batch.bytes[start..]);
                batch.bytes.truncate(start);
                break;
            }
            batch.documents.push((batch.bytes.len(), ordinal));
        }
        Ok((!batch.documents.is_empty()).then_some(batch))
    }
}

/// Returns a document with its key as `_id` before its first member.
fn with_key(key: i64, document: &[u8]) -> Vec<u8> {
    let members = document.strip_prefix(b"{").unwrap_or(document).trim_ascii_start();
    let comma = if members.starts_with(b"}") { "" } else { ", " };
    let mut keyed = format!("{{\"_id\": {key}{comma}").into_bytes();
    keyed.extend_from_slice(members);
    keyed
}

/// Sends all documents and returns the number accepted.
pub(super) fn insert(
    session: &mut Mongodb,
    insert: &Insert,
    documents: &mut dyn DocumentSource,
    sink: &mut dyn LoadSink,
) -> Result<u64> {
    let mut connections = Vec::new();
    for _ in 0..session.connections {
        connections.push(dial(&session.endpoint).map_err(|failure| session.endpoint.connect_error(failure))?);
    }
    insert_all(&mut connections, session.limits, insert, documents, sink)
        .map_err(|error| session.endpoint.with_server_context(error))
}

fn insert_all(
    connections: &mut [Wire],
    limits: Limits,
    insert: &Insert,
    documents: &mut dyn DocumentSource,
    sink: &mut dyn LoadSink,
) -> Result<u64> {
    let (rejected, carried) = (RejectedDocuments::default(), Vec::new());
    let mut batches = Batches { documents, limits, offered: 0, refused: rejected, carried, is_ended: false };
    // The last batch is sent after all others. The WAL is one sequence, so when an insert that waits for it
    // returns, all earlier inserts are in the WAL too.
    let mut last_batch = batches.next(sink)?;
    let mut rejected = bulk::send_in_parallel(
        connections,
        |batch: &Batch| batch.bytes.len(),
        || match batches.next(sink)? {
            Some(batch) => Ok(last_batch.replace(batch)),
            None => Ok(None),
        },
        |wire, batch| send(wire, &insert.earlier_batches, &insert.list, &batch),
    )?;
    if let (Some(batch), Some(wire)) = (last_batch, connections.first_mut()) {
        let last_rejected = send(wire, &insert.last_batch, &insert.list, &batch)?;
        // If nothing of the last batch was inserted, nothing has waited for the WAL either.
        if last_rejected.0.len() == batch.documents.len() {
            wait_for_journal(wire)?;
        }
        rejected.append(last_rejected);
    }
    rejected.append(batches.refused);
    let offered = batches.offered;
    Ok(offered - rejected.report(sink))
}

/// Waits until all earlier writes are on disk.
fn wait_for_journal(wire: &mut Wire) -> Result<()> {
    let connection_error = |error: std::io::Error| DriverError::Crashed(error.to_string());
    let sync = Statement::read(r#"{"command": {"fsync": 1}}"#)?.command("admin")?;
    wire.send(&sync.body, None).map_err(connection_error)?;
    super::well(Bson::read(wire.receive().map_err(connection_error)?)?).map(|_| ())
}

/// Inserts a batch, offers it again in parts if it fails as a whole, and returns the rejected documents.
fn send(wire: &mut Wire, body: &[u8], list: &str, batch: &Batch) -> Result<RejectedDocuments> {
    let mut rejected = RejectedDocuments::default();
    let all_documents = 0..batch.documents.len();
    let mut parts = vec![all_documents];
    while let Some(part) = parts.pop() {
        let documents = wire::Documents { list, bytes: batch.bytes(&part) };
        let connection_error = |error: std::io::Error| DriverError::Crashed(error.to_string());
        wire.send(body, Some(&documents)).map_err(connection_error)?;
        let answer = Bson::read(wire.receive().map_err(connection_error)?)?;
        match outcome(answer, &batch.documents[part.clone()], &mut rejected)? {
            None => {}
            Some(reason) if part.len() == 1 => rejected.push(batch.documents[part.start].1, reason),
            Some(_) => {
                let middle = part.start + part.len() / 2;
                // The left half is on top of the stack, so it is sent first.
                parts.extend([middle..part.end, part.start..middle]);
            }
        }
    }
    Ok(rejected)
}

/// Evaluates the answer to an insert and adds the rejected documents to `rejected`. Returns the reason if the
/// server rejected the documents as a whole, otherwise `None`.
fn outcome(
    answer: Bson<'_>,
    documents: &[(usize, u64)],
    rejected: &mut RejectedDocuments,
) -> Result<Option<String>> {
    if answer.int("ok") != Some(1) {
        let code = answer.int("code").unwrap_or_default();
        return if ABOUT_DOCUMENTS.contains(&code) {
            Ok(Some(refusal(answer)))
        } else {
            Err(super::refused(answer))
        };
    }
    if let Some(concern) = answer.member("writeConcernError") {
        return Err(super::refused(concern));
    }
    let mut errors = 0;
    for error in answer.member("writeErrors").and_then(Tree::elements).into_iter().flatten() {
        errors += 1;
        let document = usize::try_from(error.int("index").unwrap_or(-1)).ok();
        let Some((_, ordinal)) = document.and_then(|index| documents.get(index)) else {
            return Err(count_mismatch(answer));
        };
        match super::refused(error) {
            DriverError::Refused(reason) | DriverError::Duplicate(reason) => rejected.push(*ordinal, reason),
            other => return Err(other),
        }
    }
    let accepted = answer.int("n").and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    if accepted + errors == documents.len() { Ok(None) } else { Err(count_mismatch(answer)) }
}

fn count_mismatch(answer: Bson<'_>) -> DriverError {
    DriverError::Protocol(format!("an insert's answer does not account for its documents: {}", answer.json()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_before_the_first_member() {
        assert_eq!(with_key(7, br#"{"l": 1}"#), br#"{"_id": 7, "l": 1}"#);
        assert_eq!(with_key(7, b"{ }"), br#"{"_id": 7}"#);
    }
}
