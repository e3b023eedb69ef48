//! Maps document numbers to lines or documents of the input files.

use std::fmt;
use std::sync::Arc;

use super::block::Block;
use super::document_starts::DocumentStarts;
use super::form::Form;
use super::inputs::Inputs;

/// Maximum number of runs that are stored. In sources with more runs, later documents have no line number.
const MOST_RUNS: usize = 1 << 20;

/// A document or line of an input, for error messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Display name of the input: file path, address, generator, or archive and member.
    pub input: Arc<str>,
    /// Number of the line or document within the input, from 1.
    pub number: u64,
    /// Whether `number` counts lines or documents.
    pub unit: PlaceUnit,
    /// Offset of the document in the decoded input, from 0. `None` for lines, and if it is not known.
    pub byte: Option<u64>,
}

/// Whether the number of a [`Place`] counts lines or documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceUnit {
    /// Lines; blank lines count.
    Line,
    /// Documents of an input that is not read as lines.
    Document,
}

impl Place {
    /// Returns the line number. `None` if the input is not read as lines.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        (self.unit == PlaceUnit::Line).then_some(self.number)
    }

    /// Returns the number of the document within the input, from 1. `None` if the input is read as lines.
    #[must_use]
    pub fn document(&self) -> Option<u64> {
        (self.unit == PlaceUnit::Document).then_some(self.number)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { input, number, unit, byte } = self;
        match unit {
            PlaceUnit::Line => write!(formatter, "{input}, line {number}")?,
            PlaceUnit::Document => write!(formatter, "{input}, document {number}")?,
        }
        match byte {
            Some(byte) => write!(formatter, " from byte {byte} on"),
            None => Ok(()),
        }
    }
}

/// Consecutive documents at a constant distance in lines.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Number of the run's first document.
    first: u64,
    /// Index of the input, from 0.
    input: u32,
    /// Line number of the run's first document.
    line: u64,
    /// Distance in lines from each document to the next.
    stride: u64,
}

impl Run {
    fn line_of(&self, ordinal: u64) -> u64 {
        self.line + (ordinal - self.first) * self.stride
    }
}

/// Line numbers of all documents, stored as runs, and the bytes at which those of other inputs than lines begin.
#[derive(Clone, Debug, Default)]
pub struct Places {
    inputs: Inputs,
    runs: Vec<Run>,
    /// Documents from this number on have no known line.
    end: u64,
    is_full: bool,
    starts: DocumentStarts,
    /// Number of documents before the one that is asked for by the number 0.
    skipped: u64,
}

impl Places {
    /// Creates an empty map for documents of these inputs, which are read one after the other.
    pub(crate) fn new(inputs: Inputs) -> Self {
        Places { inputs, ..Places::default() }
    }

    /// Adds the document at `index` of a block. `ordinal` must be one more than that of the previous call.
    #[inline]
    pub(crate) fn note_document(&mut self, ordinal: u64, block: &Block, index: usize) {
        self.note(ordinal, block.input(), block.line_number(index));
        if let Some(byte) = block.byte_position(index) {
            self.starts.note(ordinal, block.input(), byte);
        }
    }

    /// Adds the line of the next document.
    #[inline]
    fn note(&mut self, ordinal: u64, input: u32, line: u64) {
        let is_same_run =
            self.runs.last().is_some_and(|run| run.input == input && run.line_of(ordinal) == line);
        if is_same_run && !self.is_full {
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
            // A run with a single document accepts any distance to the next document.
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

    /// Builds a [`Place`] from an input index and a line or document number.
    fn place(&self, input: u32, number: u64) -> Place {
        let (input, form) = self.inputs.get(input).unwrap_or_else(|| (Arc::default(), Form::Lines));
        let unit = if form == Form::Lines { PlaceUnit::Line } else { PlaceUnit::Document };
        Place { input, number, unit, byte: None }
    }

    /// Returns the place of the document at `index` of a block, with its byte if that is known.
    pub(crate) fn place_of(&self, block: &Block, index: usize) -> Place {
        let place = self.place(block.input(), block.line_number(index));
        Place { byte: block.byte_position(index), ..place }
    }

    /// Returns the places of the documents from number `first` on, which get the numbers from 0 on.
    pub(crate) fn starting_at(&self, first: u64) -> Self {
        Self { skipped: self.skipped.saturating_add(first), ..self.clone() }
    }

    /// Returns the line of a document, or its number within its input and its byte there if that is not read as
    /// lines. `None` if the document is unknown or beyond the stored runs.
    pub fn find(&self, ordinal: u64) -> Option<Place> {
        let ordinal = ordinal.checked_add(self.skipped)?;
        let next_run = self.runs.partition_point(|run| run.first <= ordinal);
        let run = self.runs.get(next_run.checked_sub(1)?)?;
        let place = || self.place(run.input, run.line_of(ordinal));
        (ordinal < self.end).then(|| Place { byte: self.starts.find(ordinal), ..place() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn inputs(names: &[&str]) -> Inputs {
        let inputs = Inputs::default();
        for name in names {
            inputs.add((*name).into(), Form::Lines);
        }
        inputs
    }

    fn places_of(lines: &[(u32, u64)]) -> Places {
        let mut places = Places::new(inputs(&["a", "b", "c"]));
        for (ordinal, (input, line)) in (0..).zip(lines) {
            places.note(ordinal, *input, *line);
        }
        places
    }

    #[test]
    fn regular_lines_take_no_room() {
        let every_third: Vec<(u32, u64)> = (0..1000).map(|number| (0, 2 + 3 * number)).collect();
        let places = places_of(&every_third);
        assert_eq!(places.runs.len(), 1);
        assert_eq!(places.find(999).unwrap().to_string(), "a, line 2999");
        assert_eq!(places.find(1000), None);
        assert_eq!(Places::default().find(0), None);
    }

    #[test]
    fn what_is_too_irregular_has_no_place() {
        let mut places = Places::new(inputs(&["a"]));
        let mut line = 0;
        let count = 4 * MOST_RUNS as u64;
        for ordinal in 0..count {
            line += 1 + ordinal % 3 * ordinal;
            places.note(ordinal, 0, line);
        }
        assert!(places.runs.len() <= MOST_RUNS);
        assert_eq!(places.find(1).and_then(|place| place.line()), Some(3));
        assert_eq!(places.find(count - 1), None);
    }

    proptest! {
        #[test]
        fn every_document_is_found_where_it_was(
            gaps in proptest::collection::vec((1_u64..4, proptest::bool::weighted(0.1)), 1..200)
        ) {
            let (mut input, mut line) = (0_u32, 0);
            let lines: Vec<(u32, u64)> = gaps
                .into_iter()
                .map(|(gap, is_next_input)| {
                    if is_next_input && input < 2 {
                        (input, line) = (input + 1, 0);
                    }
                    line += gap;
                    (input, line)
                })
                .collect();
            let places = places_of(&lines);
            for (ordinal, (input, line)) in (0..).zip(&lines) {
                let place = places.find(ordinal).unwrap();
                prop_assert_eq!((&*place.input, place.line()), (["a", "b", "c"][*input as usize], Some(*line)));
            }
        }
    }
}
