//! Malformed lines at known positions, so that lost documents can be counted exactly.

use std::ops::Range;

use super::random::mix;

/// Kind of fault of a malformed line. Every kind makes any document invalid JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Malformation {
    /// The line ends in the middle of the document.
    CutDocument,
    /// A string contains a backslash followed by a letter that is no escape.
    InvalidEscape,
    /// A string contains a byte that is not UTF-8.
    InvalidUtf8,
    /// The last closing brace is missing.
    MissingBrace,
    /// More text follows after the document.
    TrailingGarbage,
    /// A string contains an unescaped control character.
    RawControl,
    /// A value is a bare word that is not a JSON literal.
    BareWord,
    /// The comma between two members is missing.
    MissingComma,
}

impl Malformation {
    /// All kinds, in the order in which they alternate.
    pub const ALL: [Self; 8] = [
        Self::CutDocument,
        Self::InvalidEscape,
        Self::InvalidUtf8,
        Self::MissingBrace,
        Self::TrailingGarbage,
        Self::RawControl,
        Self::BareWord,
        Self::MissingComma,
    ];

    /// Returns a short name for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CutDocument => "cut document",
            Self::InvalidEscape => "invalid escape",
            Self::InvalidUtf8 => "invalid UTF-8",
            Self::MissingBrace => "missing brace",
            Self::TrailingGarbage => "trailing garbage",
            Self::RawControl => "raw control character",
            Self::BareWord => "bare word",
            Self::MissingComma => "missing comma",
        }
    }

    /// Makes the document malformed that begins at `start` and ends with the buffer (without a newline).
    ///
    /// Every event begins with `{"did":"did:plc:` and 24 characters, so that every kind of fault has a
    /// position that exists: the characters of the first string.
    pub(super) fn apply(self, line: &mut Vec<u8>, start: usize, hash: u64) {
        const STRING: usize = br#"{"did":"did:plc:"#.len();
        const AFTER_DID: usize = STRING + 24 + 1;
        let position = start + STRING + (hash % 23) as usize;
        match self {
            Self::CutDocument => {
                let length = line.len() - start;
                let mut end = start + length / 4 + (hash % (length as u64 / 2)) as usize;
                // A cut within a character would be a second fault.
                while end > start + 1 && line[end] & 0xc0 == 0x80 {
                    end -= 1;
                }
                line.truncate(end);
            }
            Self::InvalidEscape => line[position..position + 2].copy_from_slice(br"\q"),
            Self::InvalidUtf8 => line[position] = 0xff,
            Self::MissingBrace => {
                line.pop();
            }
            Self::TrailingGarbage => line.extend_from_slice(b"}]"),
            Self::RawControl => line[position] = 0x01 + (hash % 8) as u8,
            // `"time_us":` and a number follow the DID: the number's first digits become letters.
            Self::BareWord => {
                let number = start + AFTER_DID + br#","time_us":"#.len();
                line[number..number + 3].copy_from_slice(b"NaN");
            }
            Self::MissingComma => line[start + AFTER_DID] = b' ',
        }
    }
}

/// Position and kind of one malformed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedLine {
    /// Ordinal of the event in the data set, from 0.
    pub ordinal: u64,
    /// Kind of fault at this position.
    pub kind: Malformation,
}

/// Positions of all malformed lines in a data set.
#[derive(Clone, Debug)]
pub(super) struct MalformedPlan {
    key: u64,
    lines: u64,
    documents: u64,
}

impl MalformedPlan {
    /// Distributes `lines` malformed lines over `documents` documents, at most one per document. `None` if
    /// there are none.
    pub(super) fn new(seed: u64, lines: u64, documents: u64) -> Option<Self> {
        let lines = lines.min(documents);
        (lines > 0).then(|| Self { key: mix(seed ^ 0x6261_646c, mix(lines, documents)), lines, documents })
    }

    /// Returns the first ordinal of a stratum. There are as many strata as malformed lines, each with exactly
    /// one.
    fn stratum(&self, line: u64) -> u64 {
        (u128::from(line) * u128::from(self.documents) / u128::from(self.lines)) as u64
    }

    fn line(&self, line: u64) -> MalformedLine {
        let (start, end) = (self.stratum(line), self.stratum(line + 1));
        let kinds = Malformation::ALL.len() as u64;
        MalformedLine {
            ordinal: start + mix(self.key, line) % (end - start),
            kind: Malformation::ALL[((line + self.key % kinds) % kinds) as usize],
        }
    }

    /// Returns the first malformed line at or after an ordinal. `None` if there is none.
    pub(super) fn next_from(&self, ordinal: u64) -> Option<MalformedLine> {
        if ordinal >= self.documents {
            return None;
        }
        // The stratum of the ordinal, off by at most one because of rounding.
        let estimate = (u128::from(ordinal) * u128::from(self.lines) / u128::from(self.documents)) as u64;
        let mut lines = (estimate.saturating_sub(1)..self.lines).map(|line| self.line(line));
        lines.find(|line| line.ordinal >= ordinal)
    }

    /// Returns the malformed lines of a range, in order.
    pub(super) fn lines_in(&self, range: Range<u64>) -> Vec<MalformedLine> {
        let mut lines = Vec::new();
        let mut start = range.start;
        while let Some(line) = self.next_from(start).filter(|p| p.ordinal < range.end) {
            lines.push(line);
            start = line.ordinal + 1;
        }
        lines
    }

    /// Returns a hash that selects the details of a fault.
    pub(super) fn hash(&self, ordinal: u64) -> u64 {
        mix(!self.key, ordinal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_as_many_as_asked_for_and_all_different() {
        for (lines, documents) in [(1, 1), (1, 1000), (7, 7), (50, 1000), (999, 1000), (300, 1_000_000)] {
            let plan = MalformedPlan::new(1, lines, documents).unwrap();
            let malformed = plan.lines_in(0..documents);
            assert_eq!(malformed.len() as u64, lines);
            assert!(malformed.windows(2).all(|pair| pair[0].ordinal < pair[1].ordinal));
            assert!(malformed.last().unwrap().ordinal < documents);
            let split: Vec<_> = [0..documents / 3, documents / 3..documents]
                .into_iter()
                .flat_map(|range| plan.lines_in(range))
                .collect();
            assert_eq!(split, malformed);
        }
        assert!(MalformedPlan::new(1, 0, 10).is_none());
        assert_eq!(MalformedPlan::new(1, 99, 10).unwrap().lines_in(0..100).len(), 10);
    }

    #[test]
    fn every_kind_takes_its_turn() {
        let plan = MalformedPlan::new(8, 16, 100_000).unwrap();
        for kind in Malformation::ALL {
            assert_eq!(plan.lines_in(0..100_000).iter().filter(|p| p.kind == kind).count(), 2);
        }
    }
}
