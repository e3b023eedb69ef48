//! `COPY` of rows in text format in both directions, without copies in memory beyond those of the kernel.

use jsonathlon_driver_api::driver::{DriverError, Result};

use super::super::export::unescaped;
use super::Wire;
use super::message::{self, ErrorResponse, malformed};
use super::startup::query;

/// Payload in bytes of a message with rows; the server reads each message into memory as a whole.
const PIECE: usize = 1 << 16;
/// Message `CopyDone`: no more rows follow.
const DONE: &[u8] = b"c\0\0\0\x04";

impl Wire {
    /// Sends the rows in `lines` to a `COPY … FROM STDIN`. Returns the server's error if it does not accept
    /// them; then none of them is stored.
    ///
    /// # Errors
    /// If the connection is lost, if the server reports an error before it reads rows, or if the statement
    /// reads none.
    pub(in super::super) fn copy_in(
        &mut self,
        statement: &str,
        lines: &[u8],
    ) -> Result<Option<ErrorResponse>> {
        self.write(&query(statement))?;
        // The server asks for rows, or is ready for another statement; an error before that is not about
        // rows.
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
            // After an error the server reads the remaining rows and discards them.
            .try_for_each(|piece| self.socket.send_both(&message::header(b'd', piece.len()), piece))
            .and_then(|()| self.socket.send(DONE));
        // A server that closes the connection may have sent the reason before.
        self.complete(true)?;
        sent.map_err(|error| self.lost(&error))?;
        let said = self.said();
        self.forget();
        said.transpose()
    }

    /// Passes the column of each row of a `COPY … TO STDOUT` to `take` as it arrives.
    ///
    /// # Errors
    /// If the connection is lost, if the server reports an error, or if the statement returns no such rows.
    pub(in super::super) fn copy_out(&mut self, statement: &str, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.write(&query(statement))?;
        self.inbox.expect_much();
        let (mut plain, mut is_copy, mut failed) = (Vec::new(), false, None);
        loop {
            while let Some((kind, body, end)) = message::at(self.inbox.bytes(), self.seen)? {
                match kind {
                    // The protocol guarantees one row per message.
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
