//! Detects compression from the first bytes of an input and decodes it as a stream.

use std::io::{self, BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

/// Size of the read buffer for compressed data, in bytes.
const COMPRESSED_BUFFER: usize = 256 * 1024;

/// Maximum memory for decoding xz, in KiB. `xz -9` needs 65 MiB.
const XZ_MEMORY_KB: u32 = 192 * 1024;

/// Storage format of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Not compressed, or in a format that is not recognised.
    Plain,
    /// gzip (RFC 1952), any number of concatenated members.
    Gzip,
    /// zstd (RFC 8878), any number of concatenated frames.
    Zstd,
    /// bzip2, any number of concatenated streams.
    Bzip2,
    /// xz, any number of concatenated streams.
    Xz,
    /// A zip archive, whose members are inputs.
    Zip,
    /// A recognised format that cannot be read; holds its name.
    Unsupported(&'static str),
}

/// Number of leading bytes needed to detect every format.
pub(super) const MAGIC_LENGTH: usize = 6;

impl Format {
    /// Detects the format from the first bytes. No JSON text begins with any of these magic numbers.
    pub(super) fn detect(beginning: &[u8]) -> Format {
        match beginning {
            [0x1f, 0x8b, ..] => Format::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Format::Zstd,
            // Skippable frame, which seekable and parallel zstd writers put first (LZ4 uses the same magic
            // number).
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Format::Zstd,
            [0x04, 0x22, 0x4d, 0x18, ..] => Format::Unsupported("LZ4"),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Format::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Format::Xz,
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Format::Zip,
            [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => Format::Unsupported("7z"),
            [b'P', b'A', b'R', b'1', ..] => Format::Unsupported("Parquet"),
            _ => Format::Plain,
        }
    }

    /// Name of the format for error messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Format::Plain => "plain",
            Format::Gzip => "gzip",
            Format::Zstd => "zstd",
            Format::Bzip2 => "bzip2",
            Format::Xz => "xz",
            Format::Zip => "zip",
            Format::Unsupported(name) => name,
        }
    }

    /// Returns `true` if the format is a compression that can be read.
    pub(super) fn is_compressed(self) -> bool {
        matches!(self, Format::Gzip | Format::Zstd | Format::Bzip2 | Format::Xz)
    }

    /// Returns a reader of the decoded bytes of `raw`.
    pub(super) fn decode(self, raw: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        if !self.is_compressed() {
            return Ok(raw);
        }
        let buffered = BufReader::with_capacity(COMPRESSED_BUFFER, raw);
        Ok(match self {
            Format::Gzip => Box::new(MultiGzDecoder::new(buffered)),
            Format::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(buffered)?),
            Format::Bzip2 => Box::new(MultiBzDecoder::new(buffered)),
            _ => Box::new(XzReader::new_mem_limit(buffered, true, XZ_MEMORY_KB)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_first_bytes() {
        assert_eq!(Format::detect(b""), Format::Plain);
        assert_eq!(Format::detect(b"{"), Format::Plain);
        assert_eq!(Format::detect(b"\x1f"), Format::Plain);
        assert_eq!(Format::detect(b"\x1f\x8b"), Format::Gzip);
        assert_eq!(Format::detect(&zstd::encode_all(b"{}".as_slice(), 1).unwrap()), Format::Zstd);
        let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
        io::Write::write_all(&mut lz4, b"{}").unwrap();
        assert_eq!(Format::detect(&lz4.finish().unwrap()), Format::Unsupported("LZ4"));
        assert_eq!(Format::detect(b"PK\x03\x04rest"), Format::Zip);
        assert_eq!(Format::detect(b"BZh91AY&SY"), Format::Bzip2);
        assert_eq!(Format::detect(b"\xfd7zXZ\0"), Format::Xz);
    }
}
