//! Maps document numbers to the bytes at which the documents begin, in a few bytes of memory each.

use std::mem::size_of;

/// Maximum memory in bytes: enough for 30 million documents of up to 16 KiB. Further documents have no
/// known position.
const MAX_BYTES: usize = 64 << 20;
/// Number of documents after which a position is stored in full, so that few differences are added up to find
/// one.
const SEGMENT: u64 = 1024;
/// Bits of a difference that one byte holds; its highest bit says that another byte follows.
const BITS: u32 = 7;

/// Byte offsets of documents in their inputs. The first of each segment is stored in full, the others as
/// differences from the one before.
#[derive(Clone, Debug, Default)]
pub(super) struct DocumentStarts {
    segments: Vec<Segment>,
    differences: Vec<u8>,
    previous: Option<Start>,
    is_full: bool,
}

/// Consecutive documents of one input.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Number of the first document.
    first: u64,
    /// Offset of the first document in its input.
    start: u64,
    /// Index of the second document's difference in the differences of all segments.
    differences: usize,
}

#[derive(Clone, Copy, Debug)]
struct Start {
    ordinal: u64,
    input: u32,
    byte: u64,
}

impl DocumentStarts {
    /// Adds the offset at which a document begins in its input. `ordinal` must be larger than that of the previous
    /// call.
    pub(super) fn note(&mut self, ordinal: u64, input: u32, byte: u64) {
        if self.is_full {
            return;
        }
        let previous = self.previous.replace(Start { ordinal, input, byte });
        let difference = previous
            .filter(|previous| previous.ordinal + 1 == ordinal && previous.input == input)
            .filter(|_| !ordinal.is_multiple_of(SEGMENT))
            .and_then(|previous| byte.checked_sub(previous.byte));
        match difference {
            Some(difference) => self.push(difference),
            None => {
                let differences = self.differences.len();
                self.segments.push(Segment { first: ordinal, start: byte, differences });
            }
        }
        let bytes = self.differences.len() + self.segments.len() * size_of::<Segment>();
        self.is_full = bytes >= MAX_BYTES;
    }

    fn push(&mut self, mut difference: u64) {
        const FOLLOWED: u64 = 1 << BITS;
        while difference >= FOLLOWED {
            self.differences.push((difference | FOLLOWED) as u8);
            difference >>= BITS;
        }
        self.differences.push(difference as u8);
    }

    /// Returns the offset at which a document begins. `None` if it was not added, or is beyond the stored ones.
    pub(super) fn find(&self, ordinal: u64) -> Option<u64> {
        let next = self.segments.partition_point(|segment| segment.first <= ordinal);
        let segment = self.segments.get(next.checked_sub(1)?)?;
        let end = self.segments.get(next).map_or(self.differences.len(), |next| next.differences);
        let mut differences = self.differences.get(segment.differences..end)?.iter();
        let mut byte = segment.start;
        for _ in segment.first..ordinal {
            let (mut difference, mut shift) = (0, 0);
            loop {
                let part = u64::from(*differences.next()?);
                difference |= (part & ((1 << BITS) - 1)) << shift;
                shift += BITS;
                if part >> BITS == 0 {
                    break;
                }
            }
            byte += difference;
        }
        Some(byte)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn memory_is_bounded() {
        let mut starts = DocumentStarts::default();
        let count = 40_000_000_u64;
        (0..count).for_each(|ordinal| starts.note(ordinal, 0, ordinal * 1_000));
        assert!(starts.differences.len() + starts.segments.len() * size_of::<Segment>() <= MAX_BYTES + 24);
        assert_eq!(starts.find(20_000_000), Some(20_000_000_000));
        assert_eq!(starts.find(count - 1), None);
    }

    proptest! {
        #[test]
        fn every_start_is_found_where_it_was(
            documents in proptest::collection::vec(
                (1_u64..3, prop_oneof![8 => 1_u64..20_000, 1 => 1_u64 << 20..1 << 40], proptest::bool::weighted(0.02)),
                1..3_000,
            ),
        ) {
            let mut starts = DocumentStarts::default();
            let mut expected = Vec::new();
            let (mut ordinal, mut input, mut byte) = (0, 0, 0);
            for (gap, length, is_next_input) in documents {
                if is_next_input {
                    (input, byte) = (input + 1, 0);
                }
                starts.note(ordinal, input, byte);
                expected.push((ordinal, byte));
                ordinal += gap;
                byte += length;
            }
            let mut known = expected.iter().copied().peekable();
            for ordinal in 0..ordinal {
                let expected = known.next_if(|(known, _)| *known == ordinal).map(|(_, byte)| byte);
                prop_assert_eq!(starts.find(ordinal), expected, "document {}", ordinal);
            }
        }
    }
}
