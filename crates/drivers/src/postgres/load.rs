//! Bulk loading through `COPY … FROM STDIN` in its text format.
//!
//! One refused line ends the whole COPY, so documents go in chunks, each under a savepoint and all in one
//! transaction. A chunk that fails is offered again in parts: what stands before the line that the system
//! names, that line alone, which then is refused with the system's own reason, and the rest. Every document
//! is therefore in the table exactly once or reported, whatever the system names.

use std::io::Write;
use std::ops::Range;

use memchr::{memchr, memchr3};
use postgres::Statement;

use super::{Postgres, message};
use crate::driver::{Documents, DriverError, LoadSink, Result};

/// Bytes after which a chunk ends: long against the three round trips that a chunk costs, and the most that
/// is sent again for one refused document, and that it leaves behind as dead rows.
const CHUNK: usize = 2 << 20;
/// Bytes handed to the connection at a time.
const PIECE: usize = 1 << 16;
/// Documents offered at first after a refused one; where one is bad the next may be as well.
const AFTER_REFUSED: usize = 64;

/// Documents as lines of the text format.
#[derive(Default)]
struct Chunk {
    lines: Vec<u8>,
    /// Where each line ends.
    ends: Vec<usize>,
}

impl Chunk {
    /// Holds the next documents instead, none at the end.
    fn fill(
        &mut self,
        documents: &mut dyn Documents,
        sink: &mut dyn LoadSink,
        offered: &mut u64,
    ) -> Result<()> {
        self.lines.clear();
        self.ends.clear();
        while self.lines.len() < CHUNK {
            let Some(document) = documents.next_document()? else { break };
            self.push(document);
            *offered += 1;
            sink.offered(*offered);
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn push(&mut self, document: &[u8]) {
        escape(document, &mut self.lines);
        self.lines.push(b'\n');
        self.ends.push(self.lines.len());
    }

    fn bytes(&self, documents: &Range<usize>) -> &[u8] {
        let at = |index: usize| if index == 0 { 0 } else { self.ends[index - 1] };
        &self.lines[at(documents.start)..at(documents.end)]
    }
}

/// Why a part of a chunk was not taken.
struct Failure {
    reason: String,
    /// The line that the system names, counted from 0 within what was sent.
    line: Option<usize>,
}

/// Sends all documents; gives the number accepted.
pub(super) fn copy(
    session: &mut Postgres,
    statement: &str,
    documents: &mut dyn Documents,
    sink: &mut dyn LoadSink,
) -> Result<u64> {
    let prepared = session.client.prepare(statement);
    let statement = &prepared.map_err(|error| session.error(&error))?;
    session.run("SAVEPOINT part")?;
    let (mut chunk, mut next) = (Chunk::default(), Chunk::default());
    let (mut offered, mut accepted) = (0, 0);
    chunk.fill(documents, sink, &mut offered)?;
    while chunk.len() > 0 {
        let first = offered - chunk.len() as u64;
        // The next one is read while the system works on this one, which by then is in the kernel's hands.
        let failure = attempt(session, statement, |writer| {
            write(writer, &chunk.lines)?;
            writer.flush().map_err(|error| DriverError::Crashed(error.to_string()))?;
            next.fill(documents, sink, &mut offered)
        })?;
        match failure {
            None => accepted += chunk.len() as u64,
            Some(failure) => {
                accepted += salvage(session, statement, &chunk, failure, &mut |index, reason| {
                    sink.refused(first + index as u64, reason);
                })?;
            }
        }
        std::mem::swap(&mut chunk, &mut next);
    }
    Ok(accepted)
}

/// Offers a chunk that failed as a whole again in parts; gives the number accepted.
fn salvage(
    session: &mut Postgres,
    statement: &Statement,
    chunk: &Chunk,
    first: Failure,
    refused: &mut dyn FnMut(usize, String),
) -> Result<u64> {
    let (mut at, mut accepted) = (0, 0);
    let mut suspect = first.line;
    let mut step = suspect.map_or(chunk.len() / 2, |line| line).max(1);
    while at < chunk.len() {
        let end = if suspect == Some(at) { at + 1 } else { at.saturating_add(step).min(chunk.len()) };
        let part = at..end;
        match attempt(session, statement, |writer| write(writer, chunk.bytes(&part)))? {
            None => {
                accepted += part.len() as u64;
                at = end;
                step = step.saturating_mul(4);
            }
            Some(failure) if part.len() == 1 => {
                refused(at, failure.reason);
                at = end;
                step = AFTER_REFUSED;
            }
            Some(failure) => {
                suspect = failure.line.map(|line| at + line).filter(|line| part.contains(line));
                step = suspect.map_or(part.len() / 2, |line| line - at).max(1);
            }
        }
    }
    Ok(accepted)
}

/// One COPY under the savepoint, which is moved behind it or gone back to. Gives the failure when what was sent was not taken; an error when the load
/// cannot go on.
fn attempt(
    session: &mut Postgres,
    statement: &Statement,
    send: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<Option<Failure>> {
    let mut broken = None;
    let mut begun = true;
    let copied = match session.client.copy_in(statement) {
        Ok(mut writer) => match send(&mut writer) {
            Ok(()) => writer.finish().map(|_| ()),
            // Dropping the writer ends the COPY with an error of its own.
            Err(error) => {
                broken = Some(error);
                Ok(())
            }
        },
        Err(error) => {
            begun = false;
            Err(error)
        }
    };
    // The client library ends what did not begin all the same, which the server answers once more than the
    // library expects.
    session.out_of_step |= !begun;
    let error = match (copied, broken) {
        (Ok(()), None) => {
            session.run("RELEASE SAVEPOINT part; SAVEPOINT part")?;
            return Ok(None);
        }
        (Err(error), _) => error,
        // A connection that breaks while it is written to is told as such.
        (Ok(()), Some(DriverError::Crashed(words))) => return Err(session.crashed(&words)),
        (Ok(()), Some(other)) => return Err(other),
    };
    let about_documents = error.code().is_some_and(|code| is_about_documents(code.code()));
    if !about_documents || !begun || session.client.is_closed() {
        return Err(session.error(&error));
    }
    session.run("ROLLBACK TO SAVEPOINT part")?;
    let line = error.as_db_error().and_then(|said| line_of(said.where_()?));
    Ok(Some(Failure { reason: message(&error), line }))
}

fn write(writer: &mut dyn Write, bytes: &[u8]) -> Result<()> {
    bytes
        .chunks(PIECE)
        .try_for_each(|piece| writer.write_all(piece))
        .map_err(|error| DriverError::Crashed(error.to_string()))
}

/// Whether an SQLSTATE blames the data: data exceptions (22), constraints (23), and limits of the program
/// that a document exceeds (54), such as its depth.
fn is_about_documents(code: &str) -> bool {
    ["22", "23", "54"].iter().any(|class| code.starts_with(class))
}

/// The line in an error's context, as in `COPY events, line 7, column doc: "…"`, counted from 0.
fn line_of(context: &str) -> Option<usize> {
    let copy = context.lines().find(|line| line.starts_with("COPY "))?;
    let (_, after) = copy.split_once(", line ")?;
    let digits = after.split(|letter: char| !letter.is_ascii_digit()).next()?;
    digits.parse::<usize>().ok()?.checked_sub(1)
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
    use super::*;

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
    fn a_part_of_a_chunk_is_its_lines() {
        let mut chunk = Chunk::default();
        for document in ["a", "bb", "ccc"] {
            chunk.push(document.as_bytes());
        }
        assert_eq!(chunk.bytes(&(0..3)), b"a\nbb\nccc\n");
        assert_eq!(chunk.bytes(&(1..2)), b"bb\n");
        assert_eq!(chunk.bytes(&(3..3)), b"");
    }

    #[test]
    fn the_line_is_found_in_the_context() {
        assert_eq!(line_of("JSON data, line 1: {bad\nCOPY t, line 7, column doc: \"{bad\""), Some(6));
        assert_eq!(line_of("COPY t, line 1"), Some(0));
        for none in ["", "SQL function", "COPY t, line x", "COPY t, line 0"] {
            assert_eq!(line_of(none), None, "{none}");
        }
    }
}
