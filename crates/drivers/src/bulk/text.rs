//! Bulk loads of documents as lines of a text format, which a server reads from the connection chunk by
//! chunk.
//!
//! One rejected line can abort a whole statement, so each chunk can be undone on its own. A failed chunk is
//! offered again in parts: the lines before the one that the system names, that line alone, and the rest. A
//! line that fails alone is rejected with the system's reason. Thus every document is either stored once or
//! reported, even if the system names no line or a wrong one.

use std::ops::{Deref, Range};
use std::sync::Arc;

use jsonathlon_driver_api::driver::{DocumentSource, LoadSink, Result};
use memchr::{memchr, memchr3};

use super::{RejectedDocuments, send_in_parallel};

/// Size in bytes at which a chunk ends. Large compared with the few round trips of a chunk. Also the most
/// that one rejected document causes to be sent again and leaves behind as dead rows.
const CHUNK: usize = 2 << 20;
/// Extra capacity in bytes of a chunk's buffer for the document with which the chunk ends.
const ROOM: usize = 1 << 16;
/// Number of lines of the next attempt after a rejected one. Small, because rejected documents occur in
/// groups.
const AFTER_REFUSED: usize = 64;

/// Chunk of documents, encoded as lines of the text format.
struct Chunk {
    /// Position of the first document in the stream of all offered documents.
    first: u64,
    lines: Arc<Vec<u8>>,
    /// End of each line in `lines`.
    ends: Vec<usize>,
}

/// Why lines were not accepted.
pub(crate) struct ChunkError {
    /// Message of the system.
    pub(crate) reason: String,
    /// Line that the system blames, counted from 0 within the lines sent. `None` if the system names no line.
    pub(crate) line: Option<usize>,
}

/// Part of a chunk, each line with its newline. Clones share the chunk's text.
#[derive(Clone)]
pub(crate) struct Lines {
    chunk: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Deref for Lines {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.chunk[self.range.clone()]
    }
}

/// Receiver of lines, which accepts all lines of an attempt or none.
pub(crate) trait LineSink {
    /// Offers `count` lines. Returns the failure if they were not accepted; then none of them is stored.
    ///
    /// # Errors
    /// If the load cannot continue.
    fn attempt(&mut self, lines: &Lines, count: usize) -> Result<Option<ChunkError>>;
}

/// Loading session whose accepted lines belong to one transaction.
pub(crate) trait Connection: LineSink + Send {
    /// Commits all accepted lines.
    ///
    /// # Errors
    /// If the commit fails.
    fn commit(&mut self) -> Result<()>;
}

/// Sends all documents over the connections, commits on each of them at the end, and returns the number
/// accepted.
///
/// # Errors
/// The first error of the source or of a connection. Closing the connections then rolls back what is not
/// committed.
pub(crate) fn load(
    connections: &mut [impl Connection],
    documents: &mut dyn DocumentSource,
    sink: &mut dyn LoadSink,
) -> Result<u64> {
    let mut offered = 0;
    let rejected = send_in_parallel(
        connections,
        |chunk: &Chunk| chunk.lines.len(),
        || Chunk::encode_next(documents, sink, &mut offered),
        |connection, chunk| chunk.offer(connection),
    )?;
    connections.iter_mut().try_for_each(Connection::commit)?;
    Ok(offered - rejected.report(sink))
}

impl Chunk {
    /// Encodes the next documents of the stream. `None` at the end.
    fn encode_next(
        documents: &mut dyn DocumentSource,
        sink: &mut dyn LoadSink,
        offered: &mut u64,
    ) -> Result<Option<Self>> {
        let (first, mut lines, mut ends) = (*offered, Vec::with_capacity(CHUNK + ROOM), Vec::new());
        while lines.len() < CHUNK {
            let Some((key, document)) = documents.next_keyed()? else { break };
            append_line(key, document, &mut lines);
            ends.push(lines.len());
            *offered += 1;
            sink.report_offered(*offered);
        }
        Ok((!ends.is_empty()).then(|| Self { first, lines: Arc::new(lines), ends }))
    }

    /// Offers the chunk to `sink`, in parts if the whole chunk fails. Returns the rejected documents.
    fn offer(&self, sink: &mut impl LineSink) -> Result<RejectedDocuments> {
        let mut rejected = RejectedDocuments::default();
        let all_lines = 0..self.len();
        if let Some(failure) = sink.attempt(&self.part(&all_lines), self.len())? {
            self.salvage(sink, &failure, &mut rejected)?;
        }
        Ok(rejected)
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn part(&self, documents: &Range<usize>) -> Lines {
        let offset = |index: usize| if index == 0 { 0 } else { self.ends[index - 1] };
        Lines { chunk: Arc::clone(&self.lines), range: offset(documents.start)..offset(documents.end) }
    }

    /// Offers the lines of a chunk that failed as a whole again in parts.
    fn salvage(
        &self,
        sink: &mut impl LineSink,
        first_failure: &ChunkError,
        rejected: &mut RejectedDocuments,
    ) -> Result<()> {
        let mut position = 0;
        let mut suspect = first_failure.line;
        let mut step = suspect.map_or(self.len() / 2, |line| line).max(1);
        while position < self.len() {
            let end = if suspect == Some(position) {
                position + 1
            } else {
                position.saturating_add(step).min(self.len())
            };
            let part = position..end;
            match sink.attempt(&self.part(&part), part.len())? {
                None => {
                    position = end;
                    step = step.saturating_mul(4);
                }
                Some(failure) if part.len() == 1 => {
                    rejected.push(self.first + position as u64, failure.reason);
                    position = end;
                    step = AFTER_REFUSED;
                }
                Some(failure) => {
                    suspect = failure.line.map(|line| position + line).filter(|line| part.contains(line));
                    step = suspect.map_or(part.len() / 2, |line| line - position).max(1);
                }
            }
        }
        Ok(())
    }
}

/// Appends a document as a line. A key becomes a column before the document.
fn append_line(key: Option<i64>, document: &[u8], out: &mut Vec<u8>) {
    if let Some(key) = key {
        out.extend_from_slice(format!("{key}\t").as_bytes());
    }
    escape(document, out);
    out.push(b'\n');
}

/// Appends `document` with the escapes of the text format, in which a backslash escapes, a tab ends a column,
/// and a newline or carriage return ends a row.
fn escape(document: &[u8], out: &mut Vec<u8>) {
    let mut rest = document;
    while let Some(position) = next_special(rest) {
        let (plain, special) = rest.split_at(position);
        out.extend_from_slice(plain);
        out.extend_from_slice(match special[0] {
            b'\t' => b"\\t",
            b'\r' => b"\\r",
            b'\n' => b"\\n",
            _ => b"\\\\",
        });
        rest = &special[1..];
    }
    out.extend_from_slice(rest);
}

fn next_special(bytes: &[u8]) -> Option<usize> {
    let position = memchr3(b'\\', b'\t', b'\r', bytes);
    // Documents are read from lines and contain no newline. If one does, it must not become two rows.
    memchr(b'\n', &bytes[..position.unwrap_or(bytes.len())]).or(position)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Builds a chunk of these documents.
    fn chunk<'d>(first: u64, documents: impl IntoIterator<Item = &'d [u8]>) -> Chunk {
        let (mut lines, mut ends) = (Vec::new(), Vec::new());
        for document in documents {
            append_line(None, document, &mut lines);
            ends.push(lines.len());
        }
        Chunk { first, lines: Arc::new(lines), ends }
    }

    #[test]
    fn what_the_text_format_takes_for_its_own_is_escaped() {
        let escaped = |text: &str| {
            let mut out = Vec::new();
            escape(text.as_bytes(), &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(escaped(r#"{"a":"b\n\\"}"#), r#"{"a":"b\\n\\\\"}"#);
        assert_eq!(escaped("\ta\r\nb\\."), "\\ta\\r\\nb\\\\.");
        assert_eq!(escaped("plain é"), "plain é");
        assert_eq!(escaped(""), "");
    }

    #[test]
    fn keys_are_a_column_before_the_document() {
        struct Keyed(Vec<(i64, &'static str)>);
        impl DocumentSource for Keyed {
            fn next_document(&mut self) -> Result<Option<&[u8]>> {
                Ok(None)
            }
            fn next_keyed(&mut self) -> Result<Option<(Option<i64>, &[u8])>> {
                Ok(self.0.pop().map(|(key, document)| (Some(key), document.as_bytes())))
            }
        }
        let mut documents = Keyed(vec![(2, "b"), (1, "a\t")]);
        let chunk = Chunk::encode_next(
            &mut documents,
            &mut jsonathlon_driver_api::test_support::RecordingSink::default(),
            &mut 0,
        )
        .unwrap()
        .unwrap();
        assert_eq!(*chunk.part(&(0..2)), *b"1\ta\\t\n2\tb\n");
    }

    #[test]
    fn a_part_of_a_chunk_is_its_lines() {
        let chunk = chunk(0, ["a", "bb", "ccc"].map(str::as_bytes));
        assert_eq!(*chunk.part(&(0..3)), *b"a\nbb\nccc\n");
        assert_eq!(*chunk.part(&(1..2)), *b"bb\n");
        assert!(chunk.part(&(3..3)).is_empty());
    }

    /// Decodes a line as a server does: after a backslash, letters stand for control characters, others for
    /// themselves.
    fn read_back(line: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut bytes = line.iter();
        while let Some(byte) = bytes.next() {
            out.push(match byte {
                b'\\' => match bytes.next().unwrap() {
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'n' => b'\n',
                    other => *other,
                },
                other => *other,
            });
        }
        out
    }

    /// Server that rejects lines containing `bad`. If `names` is set, it names the first such line.
    struct Picky {
        bad: u8,
        names: bool,
        accepted: Vec<Vec<u8>>,
    }

    impl LineSink for Picky {
        fn attempt(&mut self, lines: &Lines, count: usize) -> Result<Option<ChunkError>> {
            let decoded: Vec<Vec<u8>> =
                lines.strip_suffix(b"\n").unwrap().split(|byte| *byte == b'\n').map(read_back).collect();
            assert_eq!(decoded.len(), count, "a document became two lines");
            let Some(line) = decoded.iter().position(|line| line.contains(&self.bad)) else {
                self.accepted.extend(decoded);
                return Ok(None);
            };
            Ok(Some(ChunkError { reason: format!("line {line}"), line: self.names.then_some(line) }))
        }
    }

    proptest! {
        #[test]
        fn every_document_is_taken_once_or_refused_by_its_number(
            documents in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 1..300),
            bad in any::<u8>(),
            names in any::<bool>(),
            first in 0..1000_u64,
        ) {
            let chunk = chunk(first, documents.iter().map(Vec::as_slice));
            let mut server = Picky { bad, names, accepted: Vec::new() };
            let rejected = chunk.offer(&mut server).unwrap();
            let (unacceptable, acceptable): (Vec<_>, Vec<_>) =
                (first..).zip(&documents).partition(|(_, document)| document.contains(&bad));
            prop_assert_eq!(rejected.0.iter().map(|(ordinal, _)| *ordinal).collect::<Vec<_>>(),
                unacceptable.into_iter().map(|(ordinal, _)| ordinal).collect::<Vec<_>>());
            prop_assert_eq!(server.accepted,
                acceptable.into_iter().map(|(_, document)| document.clone()).collect::<Vec<_>>());
        }
    }
}
