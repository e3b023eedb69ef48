//! Contents of an aligned block of one million events: exact counts by collection and operation.
//!
//! Totals and creates are the published answers of the billion-document challenge at one million documents
//! (Q1, Q2). How the other events divide into updates and deletes is not published; the division here is an
//! assumption: profiles, lists, starter packs and feed generators are mostly updated, other records mostly
//! deleted.

use super::event_kind::{Collection, EventKind, Operation};
use super::rare::{self, RareEvents};

use Collection::*;
use Operation::*;

/// Number of events of each kind in one block, in descending order because a slot is found by linear search.
/// The last entry is an exception: rare events occupy some of its slots (see [`BlockPlan::event_at`]).
const COUNTS: [(EventKind, u32); 35] = [
    (EventKind::Commit(Like, Create), 444_523),
    (EventKind::Commit(Follow, Create), 337_978),
    (EventKind::Commit(Post, Create), 86_812),
    (EventKind::Commit(Repost, Create), 56_993),
    (EventKind::Commit(Follow, Delete), 22_396),
    (EventKind::Commit(Block, Create), 13_838),
    (EventKind::Commit(ListItem, Create), 7_568),
    (EventKind::Commit(Profile, Update), 6_401),
    (EventKind::Commit(Profile, Create), 5_337),
    (EventKind::Commit(Post, Delete), 3_992),
    (EventKind::Identity, 3_328),
    (EventKind::Account, 2_000),
    (EventKind::Commit(Repost, Delete), 1_547),
    (EventKind::Commit(ListBlock, Create), 860),
    (EventKind::Commit(ListItem, Delete), 535),
    (EventKind::Commit(StarterPack, Update), 280),
    (EventKind::Commit(List, Create), 259),
    (EventKind::Commit(ThreadGate, Create), 228),
    (EventKind::Commit(Block, Delete), 202),
    (EventKind::Commit(StarterPack, Create), 104),
    (EventKind::Commit(PostGate, Create), 101),
    (EventKind::Commit(List, Update), 62),
    (EventKind::Commit(FeedGenerator, Update), 60),
    (EventKind::Commit(ListBlock, Delete), 35),
    (EventKind::Commit(List, Delete), 35),
    (EventKind::Commit(Profile, Delete), 24),
    (EventKind::Commit(StarterPack, Delete), 21),
    (EventKind::Commit(ThreadGate, Delete), 15),
    (EventKind::Commit(Post, Update), 12),
    (EventKind::Commit(ThreadGate, Update), 12),
    (EventKind::Commit(FeedGenerator, Create), 10),
    (EventKind::Commit(LabelerService, Update), 4),
    (EventKind::Commit(FeedGenerator, Delete), 4),
    (EventKind::Commit(PostGate, Delete), 3),
    (EventKind::Commit(Like, Delete), 4_421),
];

/// Mapping from the slots of a block to events.
#[derive(Clone, Debug)]
pub(super) struct BlockPlan {
    /// Rare events of the block.
    rare: RareEvents,
}

impl BlockPlan {
    /// Creates the plan of the block with this number.
    pub(super) fn new(block: u64) -> Self {
        Self { rare: rare::events_in_block(block) }
    }

    /// Returns the kind of the event in a slot, and its number among events of that kind in the block.
    ///
    /// Events of rare collections replace deletions of likes, so that the counts of all creates stay exact.
    /// They are numbered over all blocks.
    #[inline]
    pub(super) fn event_at(&self, slot: u32) -> (EventKind, u32) {
        let mut offset = slot;
        for &(kind, count) in &COUNTS[..COUNTS.len() - 1] {
            if offset < count {
                return (kind, offset);
            }
            offset -= count;
        }
        self.rare.get(offset).unwrap_or((COUNTS[COUNTS.len() - 1].0, offset))
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::BLOCK;
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn counts_fill_a_block() {
        let total: u32 = COUNTS.iter().map(|&(_, count)| count).sum();
        assert_eq!(u64::from(total), BLOCK);
    }

    #[test]
    fn collections_have_their_published_totals() {
        let mut totals: HashMap<Option<Collection>, u32> = HashMap::new();
        for &(kind, count) in &COUNTS {
            let key = match kind {
                EventKind::Commit(collection, _) => Some(collection),
                _ => None,
            };
            *totals.entry(key).or_default() += count;
        }
        let published = [
            (Some(Like), 448_944),
            (Some(Follow), 360_374),
            (Some(Post), 90_816),
            (Some(Repost), 58_540),
            (Some(Block), 14_040),
            (Some(Profile), 11_762),
            (Some(ListItem), 8_103),
            (None, 5_328),
            (Some(ListBlock), 895),
            (Some(StarterPack), 405),
            (Some(List), 356),
            (Some(ThreadGate), 255),
            (Some(PostGate), 104),
            (Some(FeedGenerator), 74),
            (Some(LabelerService), 4),
        ];
        assert_eq!(totals, HashMap::from(published));
    }

    #[test]
    fn rare_events_replace_only_deletions_of_likes() {
        for block in [0, 1, 9, 50, 999] {
            let plan = BlockPlan::new(block);
            let mut counts: HashMap<EventKind, u32> = HashMap::new();
            for slot in 0..BLOCK as u32 {
                *counts.entry(plan.event_at(slot).0).or_default() += 1;
            }
            let rare: u32 =
                counts.iter().filter(|(kind, _)| matches!(kind, EventKind::Rare(..))).map(|(_, n)| n).sum();
            assert_eq!(rare == 0, block == 0, "block {block} has {rare} rare events");
            for &(kind, count) in &COUNTS[..COUNTS.len() - 1] {
                assert_eq!(counts[&kind], count);
            }
            assert_eq!(counts[&EventKind::Commit(Like, Delete)] + rare, 4_421);
        }
    }
}
