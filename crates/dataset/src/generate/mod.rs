//! Bluesky events made from a seed, calibrated to the real set of one billion.
//!
//! An event is a closed-form function of (seed, ordinal): its kind by a pseudo-random order inside
//! an aligned block of one million with exact counts, its time by the inverse of a rate table, its
//! user by a heavy-tailed law. So any range can be made alone, shards concatenate to the
//! same bytes, and a result can name its data by generator version, seed and range.
//!
//! Sources: the published answers of the billion-document challenge (JSONBench) at four scales for
//! counts, users and times; the AT protocol's lexicons and Jetstream's format for the shapes.

use std::ops::Range;

mod clock;
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
mod role;
mod text;
mod users;
pub(crate) mod words;

pub use malformed::{Malformation, Planted};

use events::EventWriter;
use malformed::Plantation;
use order::{BLOCK, BlockOrder};
use plan::BlockPlan;

/// Version of the law from (seed, ordinal) to bytes. It changes with every change of any byte, so
/// that results over different data can never be compared by mistake.
pub const GENERATOR_VERSION: u32 = 1;

/// Ordinals end here: about as many events as the law of time and the sixteen digits of `time_us` are good for (35 years).
pub const MAX_EVENTS: u64 = 1 << 40;

/// Room kept free in the buffer so that a line never makes it grow in the middle; the longest
/// event (a post with four images described at length) stays under it.
const LONGEST_LINE: usize = 16 << 10;

/// Makes the events of a range, line by line, without allocating per event.
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
    plantation: Option<Plantation>,
    next_planted: Option<Planted>,
}

impl Generator {
    /// The events `range` (ordinals from 0) of the set that `seed` names. Takes the same time for
    /// every range. A range that reaches beyond [`MAX_EVENTS`] ends there.
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
            plantation: None,
            next_planted: None,
        }
    }

    /// Plants exactly `total_malformed` bad lines (at most one per document) over the events
    /// `0..of_documents` of the whole set. Where they stand and how they are broken follows from
    /// seed and both numbers, not from the range, so shards made with the same numbers still concatenate.
    #[must_use]
    pub fn with_malformed(mut self, total_malformed: u64, of_documents: u64) -> Self {
        self.plantation = Plantation::new(self.seed, total_malformed, of_documents);
        self.next_planted = self.plantation.as_ref().and_then(|plantation| plantation.next(self.next));
        self
    }

    /// The bad lines in this generator's whole range, in order.
    pub fn malformed_ordinals(&self) -> Vec<Planted> {
        self.plantation.as_ref().map_or_else(Vec::new, |plantation| plantation.within(self.start..self.end))
    }

    /// The ordinal of the next event.
    pub fn position(&self) -> u64 {
        self.next
    }

    /// Appends whole lines, each with its newline, until `buffer` has grown by at least
    /// `target_bytes` or the range has ended. Returns false when nothing was left to append.
    /// For speed keep the buffer around 1 MB, so that it stays in the cache, and reuse it.
    pub fn fill(&mut self, buffer: &mut Vec<u8>, target_bytes: usize) -> bool {
        if self.next >= self.end {
            return false;
        }
        let goal = buffer.len().saturating_add(target_bytes.max(1));
        buffer.reserve(target_bytes.saturating_add(LONGEST_LINE));
        while self.next < self.end && buffer.len() < goal {
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
        let (role, number) = self.plan.role(self.order.slot((ordinal % BLOCK) as u32));
        self.events.push(buffer, ordinal, block, role, number);
        if let (Some(planted), Some(plantation)) = (self.next_planted, &self.plantation)
            && planted.ordinal == ordinal
        {
            planted.kind.apply(buffer, start, plantation.hash(ordinal));
            self.next_planted = plantation.next(ordinal + 1);
        }
        buffer.push(b'\n');
        self.next += 1;
    }
}
