//! Compressed data, told by its first bytes and decoded as it is read.

use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

/// How much compressed data is read at a time, in bytes.
const COMPRESSED_BUFFER: usize = 256 * 1024;

/// How an input is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// As it is.
    Plain,
    /// RFC 1952, any number of members one behind the other.
    Gzip,
    /// RFC 8878, any number of frames one behind the other.
    Zstd,
    /// Something known that is not read, by its name.
    Unsupported(&'static str),
}

/// How many first bytes tell the format.
pub(super) const MAGIC_LENGTH: usize = 6;

impl Format {
    /// The format of data that begins like this. None of these beginnings is one of a JSON text.
    pub(super) fn of(beginning: &[u8]) -> Format {
        match beginning {
            [0x1f, 0x8b, ..] => Format::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Format::Zstd,
            // A skippable frame, with which seekable and parallel writers of zstd begin (LZ4 frames share it).
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Format::Zstd,
            [0x04, 0x22, 0x4d, 0x18, ..] => Format::Unsupported("LZ4"),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Format::Unsupported("bzip2"),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Format::Unsupported("xz"),
            [b'P', b'K', 3, 4, ..] => Format::Unsupported("zip"),
            [b'P', b'A', b'R', b'1', ..] => Format::Unsupported("Parquet"),
            _ => Format::Plain,
        }
    }

    /// The format's name in a sentence.
    pub(super) fn name(self) -> &'static str {
        match self {
            Format::Plain => "plain",
            Format::Gzip => "gzip",
            Format::Zstd => "zstd",
            Format::Unsupported(name) => name,
        }
    }

    /// The decoded bytes of `raw`.
    pub(super) fn decode(self, raw: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Format::Plain | Format::Unsupported(_) => raw,
            Format::Gzip => Box::new(MultiGzDecoder::new(BufReader::with_capacity(COMPRESSED_BUFFER, raw))),
            Format::Zstd => {
                let buffered = BufReader::with_capacity(COMPRESSED_BUFFER, raw);
                Box::new(zstd::stream::read::Decoder::with_buffer(buffered)?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_first_bytes() {
        assert_eq!(Format::of(b""), Format::Plain);
        assert_eq!(Format::of(b"{"), Format::Plain);
        assert_eq!(Format::of(b"\x1f"), Format::Plain);
        assert_eq!(Format::of(b"\x1f\x8b"), Format::Gzip);
        assert_eq!(Format::of(&zstd::encode_all(b"{}".as_slice(), 1).unwrap()), Format::Zstd);
        let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
        io::Write::write_all(&mut lz4, b"{}").unwrap();
        assert_eq!(Format::of(&lz4.finish().unwrap()), Format::Unsupported("LZ4"));
        assert_eq!(Format::of(b"PK\x03\x04rest"), Format::Unsupported("zip"));
    }
}
