//! Generates Bluesky events from a seed, calibrated to the real data set of one billion events.
//!
//! An event is a closed-form function of seed and ordinal. Its kind follows from a pseudo-random order within
//! an aligned block of one million events with exact counts, its time from the inverse of a rate table, and
//! its user from a heavy-tailed distribution. Hence any range can be generated alone, and shards concatenate
//! to the same bytes. Generator version, seed and range identify the data of a result.
//!
//! Sources: published answers of the billion-document challenge (JSONBench) at four scales for counts, users
//! and times; AT protocol lexicons and Jetstream's format for the shapes.

use std::ops::Range;

mod clock;
mod event_kind;
mod events;
mod identifiers;
mod malformed;
mod order;
mod plan;
mod popular;
mod posts;
mod profiles;
mod random;
mod rare;
mod records;
mod text;
mod users;
pub(crate) mod words;

pub use malformed::{Malformation, MalformedLine};

use events::EventWriter;
use malformed::MalformedPlan;
use order::{BLOCK, BlockOrder};
use plan::BlockPlan;

/// Version of the mapping from (seed, ordinal) to bytes. Must be incremented whenever any byte changes, so
/// that results over different data are never compared.
pub const GENERATOR_VERSION: u32 = 1;

/// Upper bound of all ordinals: about 39 years of events at the average day's rate. All `time_us` below it
/// have 16 digits.
pub const MAX_EVENTS: u64 = 1 << 40;

/// Buffer capacity reserved beyond the target size, in bytes, so that no line reallocates the buffer. Longer
/// than the longest event (a post with four images with long descriptions).
const LONGEST_LINE: usize = 16 << 10;

/// Generates the events of a range line by line, without an allocation per event.
#[derive(Clone, Debug)]
pub struct Generator {
    seed: u64,
    start: u64,
    next: u64,
    end: u64,
    block: u64,
    order: BlockOrder,
    plan: BlockPlan,
    events: EventWriter,
    malformed_plan: Option<MalformedPlan>,
    next_malformed: Option<MalformedLine>,
}

impl Generator {
    /// Creates a generator for the events `range` (ordinals from 0) of the data set with this seed. Takes the
    /// same time for every range. A range beyond [`MAX_EVENTS`] is cut off there.
    pub fn new(seed: u64, range: Range<u64>) -> Self {
        let range = range.start.min(MAX_EVENTS)..range.end.min(MAX_EVENTS);
        let block = range.start / BLOCK;
        Self {
            seed,
            start: range.start,
            next: range.start,
            end: range.end.max(range.start),
            block,
            order: BlockOrder::new(seed, block),
            plan: BlockPlan::new(block),
            events: EventWriter::new(seed),
            malformed_plan: None,
            next_malformed: None,
        }
    }

    /// Plants exactly `total_malformed` malformed lines (at most one per document) over the events
    /// `0..of_documents` of the whole data set. Their positions and faults depend on the seed and both
    /// numbers but not on the range, so that shards generated with the same numbers still concatenate.
    #[must_use]
    pub fn with_malformed(mut self, total_malformed: u64, of_documents: u64) -> Self {
        self.malformed_plan = MalformedPlan::new(self.seed, total_malformed, of_documents);
        self.next_malformed = self.malformed_plan.as_ref().and_then(|plan| plan.next_from(self.next));
        self
    }

    /// Returns the malformed lines in the generator's whole range, in order.
    pub fn malformed_ordinals(&self) -> Vec<MalformedLine> {
        self.malformed_plan.as_ref().map_or_else(Vec::new, |plan| plan.lines_in(self.start..self.end))
    }

    /// Returns the ordinal of the next event to be generated.
    pub fn position(&self) -> u64 {
        self.next
    }

    /// Appends whole lines, each with its newline, until `buffer` has grown by at least `target_bytes` or the
    /// range has ended. Returns `false` if no event was left. For speed, reuse one buffer of about 1 MB,
    /// which stays in the CPU cache.
    pub fn fill(&mut self, buffer: &mut Vec<u8>, target_bytes: usize) -> bool {
        if self.next >= self.end {
            return false;
        }
        let target_length = buffer.len().saturating_add(target_bytes.max(1));
        buffer.reserve(target_bytes.saturating_add(LONGEST_LINE));
        while self.next < self.end && buffer.len() < target_length {
            self.push_line(buffer);
        }
        true
    }

    #[inline]
    fn push_line(&mut self, buffer: &mut Vec<u8>) {
        let ordinal = self.next;
        let block = ordinal / BLOCK;
        if block != self.block {
            self.block = block;
            self.order = BlockOrder::new(self.seed, block);
            self.plan = BlockPlan::new(block);
        }
        let start = buffer.len();
        let (kind, number) = self.plan.event_at(self.order.slot((ordinal % BLOCK) as u32));
        self.events.push(buffer, ordinal, block, kind, number);
        if let (Some(line), Some(malformed_plan)) = (self.next_malformed, &self.malformed_plan)
            && line.ordinal == ordinal
        {
            line.kind.apply(buffer, start, malformed_plan.hash(ordinal));
            self.next_malformed = malformed_plan.next_from(ordinal + 1);
        }
        buffer.push(b'\n');
        self.next += 1;
    }
}
