//! Where documents stand in what they were read from.

use std::fmt;
use std::sync::Arc;

/// Stretches of lines that are remembered at most; what is so irregular that there are more is told without a line.
const MOST_RUNS: usize = 1 << 20;

/// A line of an input, as a person would look it up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, or what else was read.
    pub input: Arc<str>,
    /// The line within it, from 1; blank ones count.
    pub line: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, line {}", self.input, self.line)
    }
}

/// Documents that follow each other at a steady distance of lines.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The number of the first one.
    first: u64,
    /// Which of the inputs it stands in.
    input: u32,
    /// The line of the first one.
    line: u64,
    /// From one document to the next, in lines.
    stride: u64,
}

impl Run {
    fn line_of(&self, ordinal: u64) -> u64 {
        self.line + (ordinal - self.first) * self.stride
    }
}

/// Where each document stands, told from its number.
#[derive(Clone, Debug, Default)]
pub struct Places {
    inputs: Vec<Arc<str>>,
    runs: Vec<Run>,
    /// Documents from this number on have no place.
    end: u64,
    is_full: bool,
}

impl Places {
    /// Of documents that are read from these inputs, one after the other.
    pub(crate) fn new(inputs: Vec<Arc<str>>) -> Self {
        Places { inputs, ..Places::default() }
    }

    /// Notes where the next document stands: its number is one more than that of the last.
    #[inline]
    pub(crate) fn note(&mut self, ordinal: u64, input: u32, line: u64) {
        let known = self.runs.last().is_some_and(|run| run.input == input && run.line_of(ordinal) == line);
        if known && !self.is_full {
            self.end = ordinal + 1;
        } else {
            self.begin(ordinal, input, line);
        }
    }

    #[cold]
    fn begin(&mut self, ordinal: u64, input: u32, line: u64) {
        if self.is_full {
            return;
        }
        let is_full = self.runs.len() == MOST_RUNS;
        match self.runs.last_mut() {
            // A run of a single document takes any distance to the next one.
            Some(run) if run.input == input && run.first + 1 == ordinal && line > run.line => {
                run.stride = line - run.line;
            }
            _ if is_full => {
                self.is_full = true;
                return;
            }
            _ => self.runs.push(Run { first: ordinal, input, line, stride: 1 }),
        }
        self.end = ordinal + 1;
    }

    /// A line of one of the inputs.
    pub(crate) fn place(&self, input: u32, line: u64) -> Place {
        let input = self.inputs.get(input as usize).cloned().unwrap_or_default();
        Place { input, line }
    }

    /// Where the document with this number stands, where that is known.
    pub fn of(&self, ordinal: u64) -> Option<Place> {
        let behind = self.runs.partition_point(|run| run.first <= ordinal);
        let run = self.runs.get(behind.checked_sub(1)?)?;
        (ordinal < self.end).then(|| self.place(run.input, run.line_of(ordinal)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn noted(lines: &[(u32, u64)]) -> Places {
        let mut places = Places::new(vec!["a".into(), "b".into(), "c".into()]);
        for (ordinal, (input, line)) in (0..).zip(lines) {
            places.note(ordinal, *input, *line);
        }
        places
    }

    #[test]
    fn regular_lines_take_no_room() {
        let every_third: Vec<(u32, u64)> = (0..1000).map(|number| (0, 2 + 3 * number)).collect();
        let places = noted(&every_third);
        assert_eq!(places.runs.len(), 1);
        assert_eq!(places.of(999).unwrap().to_string(), "a, line 2999");
        assert_eq!(places.of(1000), None);
        assert_eq!(Places::default().of(0), None);
    }

    #[test]
    fn what_is_too_irregular_has_no_place() {
        let mut places = Places::new(vec!["a".into()]);
        let mut line = 0;
        let count = 4 * MOST_RUNS as u64;
        for ordinal in 0..count {
            line += 1 + ordinal % 3 * ordinal;
            places.note(ordinal, 0, line);
        }
        assert!(places.runs.len() <= MOST_RUNS);
        assert_eq!(places.of(1).map(|place| place.line), Some(3));
        assert_eq!(places.of(count - 1), None);
    }

    proptest! {
        #[test]
        fn every_document_is_found_where_it_was(
            gaps in proptest::collection::vec((1_u64..4, proptest::bool::weighted(0.1)), 1..200)
        ) {
            let (mut input, mut line) = (0_u32, 0);
            let lines: Vec<(u32, u64)> = gaps
                .into_iter()
                .map(|(gap, next)| {
                    if next && input < 2 {
                        (input, line) = (input + 1, 0);
                    }
                    line += gap;
                    (input, line)
                })
                .collect();
            let places = noted(&lines);
            for (ordinal, (input, line)) in (0..).zip(&lines) {
                let place = places.of(ordinal).unwrap();
                prop_assert_eq!((&*place.input, place.line), (["a", "b", "c"][*input as usize], *line));
            }
        }
    }
}
