//! Documents as lines of a text that a server reads from the connection, a chunk of them at a time.
//!
//! One refused line can end a whole statement, so documents go in chunks that are undone alone. A chunk that
//! fails is offered again in parts: what stands before the line that the system names, that line alone, which
//! then is refused with the system's own reason, and the rest. Every document is therefore in the table exactly
//! once or reported, whatever the system names.

use std::ops::{Deref, Range};
use std::sync::Arc;

use jsonathlon_connection::driver::{DocumentSource, LoadSink, Result};
use memchr::{memchr, memchr3};

use super::{Refused, spread};

/// Bytes after which a chunk ends: long against the few round trips that a chunk costs, and the most that is
/// sent again for one refused document, and that it leaves behind as dead rows.
const CHUNK: usize = 2 << 20;
/// Room for the document with which a chunk ends.
const ROOM: usize = 1 << 16;
/// Documents offered at first after a refused one; where one is bad the next may be as well.
const AFTER_REFUSED: usize = 64;

/// Documents as lines of the text format.
struct Chunk {
    /// The first document's place among all that were offered.
    first: u64,
    lines: Arc<Vec<u8>>,
    /// Where each line ends.
    ends: Vec<usize>,
}

/// Why a part of a chunk was not taken.
pub(crate) struct Failure {
    /// The system's words.
    pub(crate) reason: String,
    /// The line that the system names, counted from 0 within what was sent.
    pub(crate) line: Option<usize>,
}

/// Lines of a chunk, each with its newline; a copy of it has no text of its own.
#[derive(Clone)]
pub(crate) struct Lines {
    chunk: Arc<Vec<u8>>,
    here: Range<usize>,
}

impl Deref for Lines {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.chunk[self.here.clone()]
    }
}

/// What takes lines.
pub(crate) trait Taker {
    /// Offers `count` lines. Gives the failure when they were not taken, in which case nothing of them stays.
    ///
    /// # Errors
    /// Why the load cannot go on.
    fn attempt(&mut self, lines: &Lines, count: usize) -> Result<Option<Failure>>;
}

/// A session that loads: its lines are in one transaction.
pub(crate) trait Connection: Taker + Send {
    /// Makes everything that was taken stay.
    ///
    /// # Errors
    /// Why it cannot.
    fn commit(&mut self) -> Result<()>;
}

/// Sends all documents over these connections, and commits when all are sent; gives the number accepted.
///
/// # Errors
/// Why the load failed. What is left of it ends with its connections.
pub(crate) fn load(
    connections: &mut [impl Connection],
    documents: &mut dyn DocumentSource,
    sink: &mut dyn LoadSink,
) -> Result<u64> {
    let mut offered = 0;
    let refused = spread(
        connections,
        |chunk: &Chunk| chunk.lines.len(),
        || Chunk::of(documents, sink, &mut offered),
        |connection, chunk| chunk.offer(connection),
    )?;
    connections.iter_mut().try_for_each(Connection::commit)?;
    Ok(offered - refused.report(sink))
}

impl Chunk {
    /// The next documents; none at the end.
    fn of(
        documents: &mut dyn DocumentSource,
        sink: &mut dyn LoadSink,
        offered: &mut u64,
    ) -> Result<Option<Self>> {
        let (first, mut lines, mut ends) = (*offered, Vec::with_capacity(CHUNK + ROOM), Vec::new());
        while lines.len() < CHUNK {
            let Some((key, document)) = documents.next_keyed()? else { break };
            line(key, document, &mut lines);
            ends.push(lines.len());
            *offered += 1;
            sink.offered(*offered);
        }
        Ok((!ends.is_empty()).then(|| Self { first, lines: Arc::new(lines), ends }))
    }

    /// Has `taker` take what it accepts; gives the rest.
    fn offer(&self, taker: &mut impl Taker) -> Result<Refused> {
        let mut refused = Refused::default();
        let whole = 0..self.len();
        if let Some(failure) = taker.attempt(&self.part(&whole), self.len())? {
            self.salvage(taker, &failure, &mut refused)?;
        }
        Ok(refused)
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn part(&self, documents: &Range<usize>) -> Lines {
        let at = |index: usize| if index == 0 { 0 } else { self.ends[index - 1] };
        Lines { chunk: Arc::clone(&self.lines), here: at(documents.start)..at(documents.end) }
    }

    /// Offers a chunk that failed as a whole again in parts.
    fn salvage(&self, taker: &mut impl Taker, first: &Failure, refused: &mut Refused) -> Result<()> {
        let mut at = 0;
        let mut suspect = first.line;
        let mut step = suspect.map_or(self.len() / 2, |line| line).max(1);
        while at < self.len() {
            let end = if suspect == Some(at) { at + 1 } else { at.saturating_add(step).min(self.len()) };
            let part = at..end;
            match taker.attempt(&self.part(&part), part.len())? {
                None => {
                    at = end;
                    step = step.saturating_mul(4);
                }
                Some(failure) if part.len() == 1 => {
                    refused.push(self.first + at as u64, failure.reason);
                    at = end;
                    step = AFTER_REFUSED;
                }
                Some(failure) => {
                    suspect = failure.line.map(|line| at + line).filter(|line| part.contains(line));
                    step = suspect.map_or(part.len() / 2, |line| line - at).max(1);
                }
            }
        }
        Ok(())
    }
}

/// Appends a document as a line, with its key as a column before it.
fn line(key: Option<i64>, document: &[u8], out: &mut Vec<u8>) {
    if let Some(key) = key {
        out.extend_from_slice(format!("{key}\t").as_bytes());
    }
    escape(document, out);
    out.push(b'\n');
}

/// Appends `document` so that the text format gives it back: it takes backslashes for its own, and ends a
/// column at a tab and a row at a newline or carriage return.
fn escape(document: &[u8], out: &mut Vec<u8>) {
    let mut rest = document;
    while let Some(at) = next_special(rest) {
        let (plain, special) = rest.split_at(at);
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
    let found = memchr3(b'\\', b'\t', b'\r', bytes);
    // Documents come as lines and hold none; one that does must not become two rows.
    memchr(b'\n', &bytes[..found.unwrap_or(bytes.len())]).or(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A chunk of these documents.
    fn chunk<'d>(first: u64, documents: impl IntoIterator<Item = &'d [u8]>) -> Chunk {
        let (mut lines, mut ends) = (Vec::new(), Vec::new());
        for document in documents {
            line(None, document, &mut lines);
            ends.push(lines.len());
        }
        Chunk { first, lines: Arc::new(lines), ends }
    }

    #[test]
    fn what_the_text_format_takes_for_its_own_is_escaped() {
        let case = |text: &str| {
            let mut out = Vec::new();
            escape(text.as_bytes(), &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(case(r#"{"a":"b\n\\"}"#), r#"{"a":"b\\n\\\\"}"#);
        assert_eq!(case("\ta\r\nb\\."), "\\ta\\r\\nb\\\\.");
        assert_eq!(case("plain é"), "plain é");
        assert_eq!(case(""), "");
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
        let chunk = Chunk::of(&mut documents, &mut jsonathlon_connection::made::Told::default(), &mut 0)
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

    /// What a server makes of a line: a backslash takes the next byte for something else, or as it is.
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

    /// A server that refuses some documents and, when `names`, says which was the first.
    struct Picky {
        bad: u8,
        names: bool,
        taken: Vec<Vec<u8>>,
    }

    impl Taker for Picky {
        fn attempt(&mut self, lines: &Lines, count: usize) -> Result<Option<Failure>> {
            let found: Vec<Vec<u8>> =
                lines.strip_suffix(b"\n").unwrap().split(|byte| *byte == b'\n').map(read_back).collect();
            assert_eq!(found.len(), count, "a document became two lines");
            let Some(line) = found.iter().position(|one| one.contains(&self.bad)) else {
                self.taken.extend(found);
                return Ok(None);
            };
            Ok(Some(Failure { reason: format!("line {line}"), line: self.names.then_some(line) }))
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
            let mut server = Picky { bad, names, taken: Vec::new() };
            let refused = chunk.offer(&mut server).unwrap();
            let (out, kept): (Vec<_>, Vec<_>) =
                (first..).zip(&documents).partition(|(_, document)| document.contains(&bad));
            prop_assert_eq!(refused.0.iter().map(|(at, _)| *at).collect::<Vec<_>>(),
                out.into_iter().map(|(at, _)| at).collect::<Vec<_>>());
            prop_assert_eq!(server.taken, kept.into_iter().map(|(_, one)| one.clone()).collect::<Vec<_>>());
        }
    }
}
