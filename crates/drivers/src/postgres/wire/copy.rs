//! `COPY` of rows in text format in both directions; unencrypted, without copies in memory beyond those of
//! the kernel.

use jsonathlon_driver_api::driver::{DriverError, Result};

use super::Wire;
use super::message::{self, ErrorResponse, malformed};
use super::startup::query;

/// Payload in bytes of a message with rows; the server reads each message into memory as a whole.
const CHUNK_SIZE: usize = 1 << 16;
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
            let error = self.error().unwrap_or_else(|| {
                let message =
                    "the statement reads no documents from the connection, as COPY … FROM STDIN does";
                DriverError::Refused(message.to_owned())
            });
            self.forget();
            return Err(error);
        }
        let result = lines
            .chunks(CHUNK_SIZE)
            // After an error the server reads the remaining rows and discards them.
            .try_for_each(|chunk| self.socket.send_both(&message::header(b'd', chunk.len()), chunk))
            .and_then(|()| self.socket.send(DONE));
        // A server that closes the connection may have sent the reason before.
        self.complete(true)?;
        result.map_err(|error| self.lost_connection_error(&error))?;
        let response = self.said();
        self.forget();
        response.transpose()
    }

    /// Passes the column of each row of a `COPY … TO STDOUT` to `take` as it arrives.
    ///
    /// # Errors
    /// If the connection is lost, if the server reports an error, or if the statement returns no such rows.
    pub(in super::super) fn copy_out(&mut self, statement: &str, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.write(&query(statement))?;
        self.inbox.expect_much();
        let (mut buffer, mut is_copy, mut error) = (Vec::new(), false, None);
        loop {
            while let Some((kind, body, end)) = message::parse_at(self.inbox.bytes(), self.seen)? {
                match kind {
                    // The protocol guarantees one row per message.
                    b'd' => take(unescape(body.strip_suffix(b"\n").ok_or_else(malformed)?, &mut buffer)),
                    b'H' => is_copy = true,
                    b'E' => error = error.or(Some(self.check(body)?)),
                    _ => {}
                }
                self.seen = end;
                if kind == b'Z' {
                    self.forget();
                    return match error {
                        Some(response) => Err(response.error()),
                        None if !is_copy => Err(DriverError::Refused(
                            "the statement gives no rows as COPY … TO STDOUT does".to_owned(),
                        )),
                        None => Ok(()),
                    };
                }
            }
            self.forget();
            self.inbox.fill(&mut self.socket, true).map_err(|error| self.lost_connection_error(&error))?;
        }
    }
}

/// Undoes the escapes of the text format in a column.
fn unescape<'a>(column: &'a [u8], buffer: &'a mut Vec<u8>) -> &'a [u8] {
    if memchr::memchr(b'\\', column).is_none() {
        return column;
    }
    buffer.clear();
    let mut bytes = column.iter();
    while let Some(byte) = bytes.next() {
        let byte = match byte {
            b'\\' => match bytes.next() {
                Some(b'b') => 8,
                Some(b'f') => 12,
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b't') => b'\t',
                Some(b'v') => 11,
                Some(other) => *other,
                None => b'\\',
            },
            byte => *byte,
        };
        buffer.push(byte);
    }
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone() {
        for (column, plain) in
            [("{}", "{}"), (r"[\\n\t]", "[\\n\t]"), (r"\b\f\n\r\v\x", "\u{8}\u{c}\n\r\u{b}x"), ("\\", "\\")]
        {
            assert_eq!(unescape(column.as_bytes(), &mut Vec::new()), plain.as_bytes(), "{column}");
        }
    }
}
