//! Rows in and out in the text format of `COPY`, with no more copies of them in memory than the kernel makes.

use jsonathlon_connection::driver::{DriverError, Result};

use super::super::export::unescaped;
use super::Wire;
use super::message::{self, Said, malformed};
use super::startup::query;

/// Bytes of a message with rows, which the server takes into its memory one by one.
const PIECE: usize = 1 << 16;
/// There are no more rows.
const DONE: &[u8] = b"c\0\0\0\x04";

impl Wire {
    /// Gives the rows in `lines` to a `COPY … FROM STDIN`; what the server says where it does not take them, in which case
    /// it has taken none.
    ///
    /// # Errors
    /// The connection is lost, or what the server says against the statement, or that it reads no rows.
    pub(in super::super) fn copy_in(&mut self, statement: &str, lines: &[u8]) -> Result<Option<Said>> {
        self.write(&query(statement))?;
        // The server asks for rows, or is ready for another statement; what it then says is not about rows.
        if self.until(|kind| matches!(kind, b'G' | b'Z'), true)? != Some(b'G') {
            let why = self.error().unwrap_or_else(|| {
                let words = "the statement reads no documents from the connection, as COPY … FROM STDIN does";
                DriverError::Refused(words.to_owned())
            });
            self.forget();
            return Err(why);
        }
        let sent = lines
            .chunks(PIECE)
            // What comes after an error is read by the server, and left alone.
            .try_for_each(|piece| self.socket.send_both(&message::header(b'd', piece.len()), piece))
            .and_then(|()| self.socket.send(DONE));
        // A server that closes the connection may have said why.
        self.complete(true)?;
        sent.map_err(|error| self.lost(&error))?;
        let said = self.said();
        self.forget();
        said.transpose()
    }

    /// Hands over the column of each row that a `COPY … TO STDOUT` gives, as it comes.
    ///
    /// # Errors
    /// The connection is lost, what the server says against the statement, or that it gives no such rows.
    pub(in super::super) fn copy_out(&mut self, statement: &str, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.write(&query(statement))?;
        self.inbox.expect_much();
        let (mut plain, mut is_copy, mut failed) = (Vec::new(), false, None);
        loop {
            while let Some((kind, body, end)) = message::at(self.inbox.bytes(), self.seen)? {
                match kind {
                    // A row a message, as the protocol promises.
                    b'd' => take(unescaped(body.strip_suffix(b"\n").ok_or_else(malformed)?, &mut plain)),
                    b'H' => is_copy = true,
                    b'E' => failed = failed.or(Some(self.check(body)?)),
                    _ => {}
                }
                self.seen = end;
                if kind == b'Z' {
                    self.forget();
                    return match failed {
                        Some(said) => Err(said.error()),
                        None if !is_copy => Err(DriverError::Refused(
                            "the statement gives no rows as COPY … TO STDOUT does".to_owned(),
                        )),
                        None => Ok(()),
                    };
                }
            }
            self.forget();
            self.inbox.fill(&self.socket, true).map_err(|error| self.lost(&error))?;
        }
    }
}
