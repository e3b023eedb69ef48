//! Exports one column through `COPY … TO STDOUT` in text format over the client library, which supports TLS.

use std::io::{self, BufRead};

use postgres::Client;

/// Error of an export, either of the server or of the connection.
pub(super) enum CopyError {
    Postgres(postgres::Error),
    Io(io::Error),
}

/// Passes the column of each row to `take` as it arrives.
pub(super) fn copy(
    client: &mut Client,
    statement: &str,
    take: &mut dyn FnMut(&[u8]),
) -> Result<(), CopyError> {
    let mut reader = client.copy_out(statement).map_err(CopyError::Postgres)?;
    let (mut begun, mut plain) = (Vec::new(), Vec::new());
    loop {
        let piece = match reader.fill_buf() {
            Ok(piece) => piece,
            // The I/O error wraps the server's error.
            Err(error) => {
                return Err(match error.downcast::<postgres::Error>() {
                    Ok(error) => CopyError::Postgres(error),
                    Err(error) => CopyError::Io(error),
                });
            }
        };
        if piece.is_empty() {
            return Ok(());
        }
        let length = piece.len();
        rows(piece, &mut begun, |row| take(unescaped(row, &mut plain)));
        reader.consume(length);
    }
}

/// Passes on the rows that end in `piece`. The start of a row that ends in a later piece is kept in `begun`.
/// Usually a server sends one row per piece.
fn rows(piece: &[u8], begun: &mut Vec<u8>, mut take: impl FnMut(&[u8])) {
    let mut rest = piece;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        let (row, behind) = rest.split_at(end);
        rest = behind.get(1..).unwrap_or_default();
        if begun.is_empty() {
            take(row);
        } else {
            begun.extend_from_slice(row);
            take(begun);
            begun.clear();
        }
    }
    begun.extend_from_slice(rest);
}

/// Undoes the escapes of the text format in a column.
pub(super) fn unescaped<'a>(column: &'a [u8], plain: &'a mut Vec<u8>) -> &'a [u8] {
    if memchr::memchr(b'\\', column).is_none() {
        return column;
    }
    plain.clear();
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
        plain.push(byte);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_put_together_and_their_escapes_undone() {
        let (mut begun, mut all) = (Vec::new(), Vec::new());
        for piece in ["{}\n", "{\"a\"", ":1}", "\n[\"\\\\n\\t\"]\n"] {
            rows(piece.as_bytes(), &mut begun, |row| {
                all.push(String::from_utf8(unescaped(row, &mut Vec::new()).to_vec()).unwrap());
            });
        }
        assert_eq!(all, ["{}", "{\"a\":1}", "[\"\\n\t\"]"]);
        assert!(begun.is_empty());
    }
}
