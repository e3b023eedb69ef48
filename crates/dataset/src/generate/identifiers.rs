//! Identifiers and times as text: base32, DIDs, CIDs, TIDs, dates.
//!
//! Layouts follow the AT protocol's specifications (atproto.com/specs/did, tid, data-model) and the CID
//! specification (github.com/multiformats/cid). A CIDv1 with SHA-256 in base32 has a constant start, one
//! character with three free bits, fifty free characters and a last one with three free bits.

use super::random::{Draws, mix};

/// Length of a `did:plc:` identifier after its prefix, in characters.
pub(super) const DID_LENGTH: usize = 24;
/// Length of a TID (revision or record key), in characters.
pub(super) const TID_LENGTH: usize = 13;
/// Length of a CID, in characters.
pub(super) const CID_LENGTH: usize = 59;

const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
const SORTABLE32: &[u8; 32] = b"234567abcdefghijklmnopqrstuvwxyz";

/// Builds a table with two characters per ten bits, which halves the look-ups. Such text is a third of all
/// bytes.
const fn pairs(alphabet: &[u8; 32]) -> [[u8; 2]; 1024] {
    let mut table = [[0; 2]; 1024];
    let mut i = 0;
    while i < 1024 {
        table[i] = [alphabet[i >> 5], alphabet[i & 31]];
        i += 1;
    }
    table
}

static BASE32_PAIRS: [[u8; 2]; 1024] = pairs(BASE32);
static SORTABLE32_PAIRS: [[u8; 2]; 1024] = pairs(SORTABLE32);

const fn decimal_pairs() -> [[u8; 2]; 100] {
    let mut table = [[0; 2]; 100];
    let mut i = 0;
    while i < 100 {
        table[i] = [b'0' + (i / 10) as u8, b'0' + (i % 10) as u8];
        i += 1;
    }
    table
}

static DECIMAL_PAIRS: [[u8; 2]; 100] = decimal_pairs();

#[inline]
fn base32_pair(bits: u64) -> [u8; 2] {
    BASE32_PAIRS[(bits & 1023) as usize]
}

/// Appends the `did:plc:…` of a user. Its 120 free bits are a hash, so that no table of users is needed.
#[inline]
pub(super) fn push_did(out: &mut Vec<u8>, seed: u64, user: u64) {
    let mut text = *b"did:plc:------------------------";
    let first = mix(seed ^ 0x6469_6431, user);
    let second = mix(first, user);
    let (head, tail) = text[32 - DID_LENGTH..].split_at_mut(DID_LENGTH / 2);
    for (bits, half) in [(first, head), (second, tail)] {
        for (index, pair) in half.chunks_exact_mut(2).enumerate() {
            pair.copy_from_slice(&base32_pair(bits >> (index * 10)));
        }
    }
    out.extend_from_slice(&text);
}

/// Type of content that a CID refers to; the codec is part of the CID's constant start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A record, encoded as dag-cbor.
    Record,
    /// A blob of raw bytes.
    Blob,
}

/// Appends a CID with 256 random bits from the stream.
#[inline]
pub(super) fn push_cid(out: &mut Vec<u8>, content: Content, draws: &mut Draws) {
    let mut text = [0u8; CID_LENGTH];
    let start = match content {
        Content::Record => b"bafyrei",
        Content::Blob => b"bafkrei",
    };
    text[..7].copy_from_slice(start);
    let mut last_bits = 0;
    for group in text[8..58].chunks_exact_mut(10) {
        let bits = draws.next();
        for (index, pair) in group.chunks_exact_mut(2).enumerate() {
            pair.copy_from_slice(&base32_pair(bits >> (index * 10)));
        }
        last_bits = bits >> 58;
    }
    text[7] = BASE32[(last_bits & 7) as usize];
    text[58] = BASE32[((last_bits >> 3) << 2) as usize];
    out.extend_from_slice(&text);
}

/// Encodes a TID in 13 characters: 53 bits of microseconds, 10 bits of a clock number.
#[inline]
pub(super) fn tid(microseconds: u64, clock: u64) -> [u8; TID_LENGTH] {
    let value = ((microseconds & ((1 << 53) - 1)) << 10) | (clock & 1023);
    let mut text = [0; TID_LENGTH];
    text[0] = SORTABLE32[(value >> 60) as usize];
    for (index, pair) in text[1..].chunks_exact_mut(2).enumerate() {
        let shift = 50 - index * 10;
        pair.copy_from_slice(&SORTABLE32_PAIRS[((value >> shift) & 1023) as usize]);
    }
    text
}

/// Appends a number in decimal digits.
#[inline]
pub(super) fn push_number(out: &mut Vec<u8>, number: u64) {
    let mut text = [0u8; 20];
    let mut start = text.len();
    let mut rest = number;
    while rest >= 100 {
        start -= 2;
        text[start..start + 2].copy_from_slice(&DECIMAL_PAIRS[(rest % 100) as usize]);
        rest /= 100;
    }
    start -= 2;
    text[start..start + 2].copy_from_slice(&DECIMAL_PAIRS[rest as usize]);
    if rest < 10 {
        start += 1;
    }
    out.extend_from_slice(&text[start..]);
}

/// Formats times like the network's clients. Caches the text of the last day, the most expensive part.
#[derive(Clone, Debug)]
pub(super) struct DateWriter {
    day: u64,
    text: [u8; 10],
}

/// Formats of times that clients send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeForm {
    /// `2024-11-21T16:25:49.000Z`, the format of the official clients.
    Milliseconds,
    /// `2024-11-21T16:25:49Z`, without a fraction of a second.
    Seconds,
    /// `2024-11-21T16:25:49.000167Z`, with six decimal places.
    Microseconds,
    /// `2024-11-21T16:25:49.000167+00:00`, the format of Python.
    MicrosecondsOffset,
}

impl DateWriter {
    pub(super) fn new() -> Self {
        Self { day: 0, text: *b"1970-01-01" }
    }

    /// Appends a time given in microseconds since 1970.
    #[inline]
    pub(super) fn push(&mut self, out: &mut Vec<u8>, microseconds: u64, form: TimeForm) {
        let seconds = microseconds / 1_000_000;
        let fraction = (microseconds % 1_000_000) as usize;
        let day = seconds / 86_400;
        let second = (seconds % 86_400) as usize;
        if day != self.day {
            self.day = day;
            self.text = date(day);
        }
        let mut text = *b"0000-00-00T00:00:00.000000+00:00";
        text[..10].copy_from_slice(&self.text);
        text[11..13].copy_from_slice(&DECIMAL_PAIRS[second / 3600]);
        text[14..16].copy_from_slice(&DECIMAL_PAIRS[second / 60 % 60]);
        text[17..19].copy_from_slice(&DECIMAL_PAIRS[second % 60]);
        text[20..22].copy_from_slice(&DECIMAL_PAIRS[fraction / 10_000]);
        text[22..24].copy_from_slice(&DECIMAL_PAIRS[fraction / 100 % 100]);
        text[24..26].copy_from_slice(&DECIMAL_PAIRS[fraction % 100]);
        let length = match form {
            TimeForm::Milliseconds => 23,
            TimeForm::Seconds => 19,
            TimeForm::Microseconds => 26,
            TimeForm::MicrosecondsOffset => 32,
        };
        if length < 32 {
            text[length] = b'Z';
        }
        out.extend_from_slice(&text[..32.min(length + 1)]);
    }
}

/// Returns the `YYYY-MM-DD` of a day since 1970 (Howard Hinnant, "chrono-compatible low-level date
/// algorithms").
fn date(day: u64) -> [u8; 10] {
    let z = day + 719_468;
    let era = z / 146_097;
    let day_of_era = z % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let mut text = *b"0000-00-00";
    text[..2].copy_from_slice(&DECIMAL_PAIRS[(year / 100 % 100) as usize]);
    text[2..4].copy_from_slice(&DECIMAL_PAIRS[(year % 100) as usize]);
    text[5..7].copy_from_slice(&DECIMAL_PAIRS[month as usize]);
    text[8..].copy_from_slice(&DECIMAL_PAIRS[day_of_month as usize]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let mut draws = Draws::new(1, 1);
        for n in [0, 1, 9, 10, 99, 100, 101, 999, 1000, u64::MAX]
            .into_iter()
            .chain((0..64).map(|bits| draws.next() >> bits))
        {
            let mut out = Vec::new();
            push_number(&mut out, n);
            assert_eq!(String::from_utf8(out).unwrap(), n.to_string());
        }
    }

    #[test]
    fn times_of_known_days() {
        let mut out = Vec::new();
        let mut writer = DateWriter::new();
        for (microseconds, form) in [
            (0, TimeForm::Seconds),
            (951_782_400_000_000, TimeForm::Seconds),
            (1_732_206_349_000_167, TimeForm::Milliseconds),
            (1_732_206_349_000_167, TimeForm::Microseconds),
            (1_735_689_599_999_999, TimeForm::MicrosecondsOffset),
        ] {
            writer.push(&mut out, microseconds, form);
            out.push(b' ');
        }
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "1970-01-01T00:00:00Z 2000-02-29T00:00:00Z 2024-11-21T16:25:49.000Z \
             2024-11-21T16:25:49.000167Z 2024-12-31T23:59:59.999999+00:00 "
        );
    }

    #[test]
    fn a_tid_sorts_by_time_and_ends_with_its_clock() {
        // Jetstream's documentation shows 3l3qo2vutsw2b for a commit of September 2024.
        let text = tid(1_725_911_162_329_308, 7);
        assert_eq!(&text[..6], b"3l3qo2");
        assert_eq!(&text[11..], b"2b");
        assert!(tid(1_732_206_349_000_167, 0) < tid(1_732_206_349_000_168, 0));
    }

    #[test]
    fn a_cid_decodes_to_36_bytes_with_no_stray_bits() {
        let mut draws = Draws::new(3, 4);
        for content in [Content::Record, Content::Blob] {
            for _ in 0..200 {
                let mut out = Vec::new();
                push_cid(&mut out, content, &mut draws);
                assert_eq!((out.len(), out[0]), (CID_LENGTH, b'b'));
                let (mut bits, mut count, mut bytes) = (0u32, 0, Vec::new());
                for c in &out[1..] {
                    bits = (bits << 5) | BASE32.iter().position(|b| b == c).unwrap() as u32;
                    count += 5;
                    if count >= 8 {
                        count -= 8;
                        bytes.push((bits >> count) as u8);
                        bits &= (1 << count) - 1;
                    }
                }
                assert_eq!((bytes.len(), count, bits), (36, 2, 0));
                let codec = if content == Content::Record { 0x71 } else { 0x55 };
                assert_eq!(bytes[..4], [1, codec, 0x12, 0x20]);
            }
        }
    }

    #[test]
    fn a_did_has_the_right_alphabet() {
        let mut out = Vec::new();
        push_did(&mut out, 9, 77);
        assert_eq!(out.len(), 32);
        assert!(out.starts_with(b"did:plc:"));
        assert!(out[8..].iter().all(|c| BASE32.contains(c)));
    }
}
