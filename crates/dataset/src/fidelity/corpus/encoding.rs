//! Cases for encoding: byte order marks, invalid UTF-8 and other encodings.

use super::{Corpus, RfcRequirement};

const ENCODING: &str = "RFC 8259 §8.1";

pub(super) fn add(corpus: &mut Corpus) {
    marks(corpus);
    broken_utf8(corpus);
    other_encodings(corpus);
}

/// Adds cases with a byte order mark in various places.
fn marks(corpus: &mut Corpus) {
    corpus.choose(
        "mark-first",
        ENCODING,
        "a byte order mark before the text",
        b"\xef\xbb\xbf{\"v\":1}".as_slice(),
    );
    corpus.reject("mark-alone", ENCODING, "a byte order mark and nothing else", b"\xef\xbb\xbf".as_slice());
    corpus.reject("mark-cut", ENCODING, "two bytes of a byte order mark", b"\xef\xbb{\"v\":1}".as_slice());
    corpus.reject(
        "mark-in-the-middle",
        ENCODING,
        "a byte order mark between tokens",
        b"{\"v\":\xef\xbb\xbf1}".as_slice(),
    );
}

/// Adds cases whose bytes are not UTF-8.
fn broken_utf8(corpus: &mut Corpus) {
    for (name, probes, bytes) in [
        ("utf8-lone-continuation", "a continuation byte alone", b"\"\x80\"".as_slice()),
        ("utf8-cut-two", "the first of two bytes", b"\"\xc3\""),
        ("utf8-cut-three", "two of three bytes", b"\"\xe2\x82\""),
        ("utf8-cut-four", "three of four bytes", b"\"\xf0\x9d\x84\""),
        ("utf8-overlong-slash", "a slash in two bytes", b"\"\xc0\xaf\""),
        ("utf8-overlong-nul", "a NUL in two bytes", b"\"\xc0\x80\""),
        ("utf8-overlong-three", "a slash in three bytes", b"\"\xe0\x80\xaf\""),
        ("utf8-surrogate", "half a character in three bytes", b"\"\xed\xa0\x80\""),
        (
            "utf8-pair-of-surrogates",
            "a pair of surrogates in six bytes, as of CESU-8",
            b"\"\xed\xa0\xb4\xed\xb4\x9e\"",
        ),
        ("utf8-too-large", "a code point beyond the last", b"\"\xf4\x90\x80\x80\""),
        ("utf8-five-bytes", "a code of five bytes", b"\"\xf8\x88\x80\x80\x80\""),
        ("utf8-fe", "the byte FE", b"\"\xfe\""),
        ("utf8-ff", "the byte FF", b"\"a\xffb\""),
        ("utf8-latin-1", "a letter in ISO 8859-1", b"\"caf\xe9\""),
        ("utf8-broken-in-the-middle", "a sequence that is broken by a letter", b"\"\xe2\x82a\""),
        ("utf8-wrong-outside", "a byte FF between tokens", b"\xff1"),
        ("utf8-no-break-space", "a no-break space in ISO 8859-1 between tokens", b"\xa01"),
    ] {
        corpus.value(RfcRequirement::Reject, name, ENCODING, probes, bytes);
    }
    corpus.reject("utf8-wrong-key", ENCODING, "a byte FF in a key", b"{\"v\":{\"\xff\":1}}".as_slice());
    corpus.reject("utf8-wrong-after", ENCODING, "a byte E9 after the text", b"{\"v\":1}\xe9".as_slice());
}

/// Adds objects in UTF-16 and UTF-32, and bytes that are no text at all.
fn other_encodings(corpus: &mut Corpus) {
    let utf16 = |order: fn(u16) -> [u8; 2], mark: bool| -> Vec<u8> {
        let mark = mark.then_some(0xfeff_u16);
        mark.into_iter().chain("{\"v\":1}".encode_utf16()).flat_map(order).collect()
    };
    for (name, probes, bytes) in [
        ("utf16-little", "UTF-16, the small byte first", utf16(u16::to_le_bytes, false)),
        ("utf16-little-mark", "UTF-16 with its mark, the small byte first", utf16(u16::to_le_bytes, true)),
        ("utf16-big", "UTF-16, the large byte first", utf16(u16::to_be_bytes, false)),
        ("utf16-big-mark", "UTF-16 with its mark, the large byte first", utf16(u16::to_be_bytes, true)),
    ] {
        corpus.reject(name, ENCODING, probes, bytes);
    }
    let utf32_little: Vec<u8> =
        "{\"v\":1}".chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect();
    corpus.reject("utf32-little", ENCODING, "UTF-32, the small byte first", utf32_little);
    let utf32_big: Vec<u8> =
        "\u{feff}{\"v\":1}".chars().flat_map(|letter| u32::from(letter).to_be_bytes()).collect();
    corpus.reject("utf32-big-mark", ENCODING, "UTF-32 with its mark, the large byte first", utf32_big);
    corpus.reject(
        "gzip",
        ENCODING,
        "the beginning of compressed data",
        b"\x1f\x8b\x08\0\0\0\0\0\0\x03".as_slice(),
    );
    corpus.reject("bson", ENCODING, "an object as BSON", b"\x0c\0\0\0\x10v\0\x01\0\0\0\0".as_slice());
    corpus.reject("control-bytes", ENCODING, "bytes 1 to 8", (1..9).collect::<Vec<u8>>());
}
