//! Finds the end of a JSON array or object by its brackets and strings, 64 bytes at a time, without
//! validating it.
//!
//! The bit masks follow Langdale and Lemire, "Parsing gigabytes of JSON per second" (2019), sections 3.1.1
//! and 3.1.2.

use wide::u8x16;

/// Bytes that are classified at once: one for each bit of a mask.
const CHUNK: usize = 64;

/// Scan of one array or object, which may be interrupted between any two bytes.
///
/// Brackets of both kinds are counted alike: a text that closes them in the wrong order is still one piece,
/// whose fault [`crate::scan::Scanner`] reports.
#[derive(Clone, Debug, Default)]
pub(super) struct NestingScan {
    /// Number of brackets that are open.
    depth: u64,
    is_in_string: bool,
    /// Whether the next byte is escaped by a backslash.
    is_escaped: bool,
}

impl NestingScan {
    /// Starts a scan behind the opening bracket of an array or object.
    pub(super) fn begin() -> Self {
        NestingScan { depth: 1, is_in_string: false, is_escaped: false }
    }

    /// Continues the scan with the next bytes. Returns the number of bytes up to and including the closing
    /// bracket. `None` if the array or object continues behind `bytes`.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        let (chunks, rest) = bytes.as_chunks::<CHUNK>();
        for (index, chunk) in chunks.iter().enumerate() {
            if let Some(length) = self.advance_chunk(chunk, CHUNK) {
                return Some(index * CHUNK + length);
            }
        }
        if rest.is_empty() {
            return None;
        }
        // Spaces have no meaning for nesting, so that they may fill the last chunk.
        let mut last = [b' '; CHUNK];
        last[..rest.len()].copy_from_slice(rest);
        self.advance_chunk(&last, rest.len()).map(|length| chunks.len() * CHUNK + length)
    }

    /// Continues the scan with the first `length` bytes of a chunk, from 1 to 64, behind which it holds only
    /// spaces.
    #[inline(always)]
    fn advance_chunk(&mut self, chunk: &[u8; CHUNK], length: usize) -> Option<usize> {
        let Masks { quotes, backslashes, mut opening, mut closing } = Masks::of(chunk);
        let escaped = self.escaped(backslashes, length);
        let mut in_string = prefix_xor(quotes & !escaped);
        if self.is_in_string {
            in_string = !in_string;
        }
        self.is_in_string = in_string >> (length - 1) & 1 == 1;
        opening &= !in_string;
        closing &= !in_string;
        let closed = u64::from(closing.count_ones());
        if closed < self.depth {
            self.depth += u64::from(opening.count_ones());
            self.depth -= closed;
            return None;
        }
        let mut brackets = opening | closing;
        while brackets != 0 {
            let position = brackets.trailing_zeros();
            if closing >> position & 1 == 0 {
                self.depth += 1;
            } else {
                self.depth -= 1;
                if self.depth == 0 {
                    return Some(position as usize + 1);
                }
            }
            brackets &= brackets - 1;
        }
        None
    }

    /// Returns the mask of bytes behind an odd number of backslashes.
    #[inline(always)]
    fn escaped(&mut self, backslashes: u64, length: usize) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let first = u64::from(self.is_escaped);
        if backslashes == 0 {
            self.is_escaped = false;
            return first;
        }
        let backslashes = backslashes & !first;
        let behind = backslashes << 1 | first;
        let odd_starts = backslashes & !EVEN & !behind;
        let (even_ends, is_escaped) = odd_starts.overflowing_add(backslashes);
        let escaped = (EVEN ^ even_ends << 1) & behind;
        self.is_escaped = if length < CHUNK { escaped >> length & 1 == 1 } else { is_escaped };
        escaped
    }
}

/// Positions of the bytes that matter for nesting, as one bit for each byte of a chunk.
struct Masks {
    quotes: u64,
    backslashes: u64,
    opening: u64,
    closing: u64,
}

impl Masks {
    #[inline(always)]
    fn of(chunk: &[u8; CHUNK]) -> Self {
        let mut masks = Masks { quotes: 0, backslashes: 0, opening: 0, closing: 0 };
        let (lanes, _) = chunk.as_chunks::<16>();
        for (index, lane) in lanes.iter().enumerate() {
            let bytes = u8x16::from(*lane);
            // Brackets and braces differ from each other by one bit, 0x20.
            let folded = bytes | u8x16::splat(0x20);
            let mask = |equal: u8x16| u64::from(equal.to_bitmask()) << (16 * index);
            masks.quotes |= mask(bytes.simd_eq(u8x16::splat(b'"')));
            masks.backslashes |= mask(bytes.simd_eq(u8x16::splat(b'\\')));
            masks.opening |= mask(folded.simd_eq(u8x16::splat(b'{')));
            masks.closing |= mask(folded.simd_eq(u8x16::splat(b'}')));
        }
        masks
    }
}

/// Sets each bit to the exclusive or of itself and all lower bits: with quotes as bits, the bytes from an
/// opening quote up to the byte before the closing one.
#[inline(always)]
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same scan byte by byte.
    fn end_by_bytes(bytes: &[u8]) -> Option<usize> {
        let (mut depth, mut is_in_string, mut is_escaped) = (1, false, false);
        for (index, byte) in bytes.iter().enumerate() {
            let was_escaped = std::mem::take(&mut is_escaped);
            match byte {
                b'\\' => is_escaped = !was_escaped,
                b'"' if !was_escaped => is_in_string = !is_in_string,
                b'{' | b'[' if !is_in_string => depth += 1,
                b'}' | b']' if !is_in_string => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(index + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn the_end_is_that_of_a_scan_by_bytes(
            text in "([a-z{}\\[\\]\"\\\\, \n]|\\\\\"|\\{\"|\\}|[a-z ]{1,40}|\\\\{1,70}){0,60}",
            cuts in proptest::collection::vec(0_usize..200, 0..4),
        ) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let mut scan = NestingScan::begin();
            let found = cuts
                .windows(2)
                .find_map(|cut| scan.advance(&bytes[cut[0]..cut[1]]).map(|length| cut[0] + length));
            prop_assert_eq!(found, end_by_bytes(bytes));
        }
    }
}
