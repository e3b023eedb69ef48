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
        let at = |index: usize| if index == 0 { 0 } else { self.documents[index - 1].0 };
        &self.bytes[at(documents.start)..at(documents.end)]
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
    ended: bool,
}

impl Batches<'_> {
    fn next(&mut self, sink: &mut dyn LoadSink) -> Result<Option<Batch>> {
        let mut batch = Batch { bytes: std::mem::take(&mut self.carried), documents: Vec::new() };
        if !batch.bytes.is_empty() {
            batch.documents.push((batch.bytes.len(), self.offered - 1));
        }
        while !self.ended {
            let Some((key, document)) = self.documents.next_keyed()? else {
                self.ended = true;
                break;
            };
            let keyed = key.map(|key| with_key(key, document));
            let document = keyed.as_deref().unwrap_or(document);
            let ordinal = self.offered;
            self.offered += 1;
            sink.offered(self.offered);
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
            let full = start > 0 && (batch.bytes.len() > BATCH || batch.documents.len() >= self.limits.batch);
            if full {
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
        connections.push(dial(&session.endpoint).map_err(|why| session.endpoint.refused(why))?);
    }
    all(&mut connections, session.limits, insert, documents, sink)
        .map_err(|error| session.endpoint.with_server_context(error))
}

fn all(
    connections: &mut [Wire],
    limits: Limits,
    insert: &Insert,
    documents: &mut dyn DocumentSource,
    sink: &mut dyn LoadSink,
) -> Result<u64> {
    let (refused, carried) = (RejectedDocuments::default(), Vec::new());
    let mut batches = Batches { documents, limits, offered: 0, refused, carried, ended: false };
    // The last batch is sent after all others. The WAL is one sequence, so when an insert that waits for it
    // returns, all earlier inserts are in the WAL too.
    let mut last = batches.next(sink)?;
    let mut refused = bulk::send_in_parallel(
        connections,
        |batch: &Batch| batch.bytes.len(),
        || match batches.next(sink)? {
            Some(batch) => Ok(last.replace(batch)),
            None => Ok(None),
        },
        |wire, batch| send(wire, &insert.others, &insert.list, &batch),
    )?;
    if let (Some(batch), Some(wire)) = (last, connections.first_mut()) {
        let of_last = send(wire, &insert.last, &insert.list, &batch)?;
        // If nothing of the last batch was inserted, nothing has waited for the WAL either.
        if of_last.0.len() == batch.documents.len() {
            journaled(wire)?;
        }
        refused.append(of_last);
    }
    refused.append(batches.refused);
    let offered = batches.offered;
    Ok(offered - refused.report(sink))
}

/// Waits until all earlier writes are on disk.
fn journaled(wire: &mut Wire) -> Result<()> {
    let lost = |error: std::io::Error| DriverError::Crashed(error.to_string());
    let sync = Statement::read(r#"{"command": {"fsync": 1}}"#)?.command("admin")?;
    wire.send(&sync.body, None).map_err(lost)?;
    super::well(Bson::read(wire.receive().map_err(lost)?)?).map(|_| ())
}

/// Inserts a batch, offers it again in parts if it fails as a whole, and returns the rejected documents.
fn send(wire: &mut Wire, body: &[u8], list: &str, batch: &Batch) -> Result<RejectedDocuments> {
    let mut refused = RejectedDocuments::default();
    let whole = 0..batch.documents.len();
    let mut parts = vec![whole];
    while let Some(part) = parts.pop() {
        let documents = wire::Documents { list, bytes: batch.bytes(&part) };
        let lost = |error: std::io::Error| DriverError::Crashed(error.to_string());
        wire.send(body, Some(&documents)).map_err(lost)?;
        let answer = Bson::read(wire.receive().map_err(lost)?)?;
        match outcome(answer, &batch.documents[part.clone()], &mut refused)? {
            None => {}
            Some(reason) if part.len() == 1 => refused.push(batch.documents[part.start].1, reason),
            Some(_) => {
                let middle = part.start + part.len() / 2;
                // The left half is on top of the stack, so it is sent first.
                parts.extend([middle..part.end, part.start..middle]);
            }
        }
    }
    Ok(refused)
}

/// Evaluates the answer to an insert and adds the rejected documents to `refused`. Returns the reason if the
/// server rejected the documents as a whole, otherwise `None`.
fn outcome(
    answer: Bson<'_>,
    documents: &[(usize, u64)],
    refused: &mut RejectedDocuments,
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
            return Err(uncounted(answer));
        };
        match super::refused(error) {
            DriverError::Refused(reason) | DriverError::Duplicate(reason) => refused.push(*ordinal, reason),
            other => return Err(other),
        }
    }
    let accepted = answer.int("n").and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    if accepted + errors == documents.len() { Ok(None) } else { Err(uncounted(answer)) }
}

fn uncounted(answer: Bson<'_>) -> DriverError {
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
