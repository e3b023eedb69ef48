//! Contents of an aligned block of one million events: exact counts by collection and operation.
//!
//! Totals and creates are the published answers of the billion-document challenge at one million documents
//! (Q1, Q2). How the other events divide into updates and deletes is not published; the division here is an
//! assumption: profiles, lists, starter packs and feed generators are mostly updated, other records mostly
//! deleted.

use super::rare::{self, RareEvents};
use super::role::{Collection, Operation, Role};

use Collection::*;
use Operation::*;

/// Number of events of each kind in one block, in descending order because a slot is found by linear search.
/// The last entry is an exception: rare events occupy some of its slots (see [`BlockPlan::role`]).
const COUNTS: [(Role, u32); 35] = [
    (Role::Commit(Like, Create), 444_523),
    (Role::Commit(Follow, Create), 337_978),
    (Role::Commit(Post, Create), 86_812),
    (Role::Commit(Repost, Create), 56_993),
    (Role::Commit(Follow, Delete), 22_396),
    (Role::Commit(Block, Create), 13_838),
    (Role::Commit(ListItem, Create), 7_568),
    (Role::Commit(Profile, Update), 6_401),
    (Role::Commit(Profile, Create), 5_337),
    (Role::Commit(Post, Delete), 3_992),
    (Role::Identity, 3_328),
    (Role::Account, 2_000),
    (Role::Commit(Repost, Delete), 1_547),
    (Role::Commit(ListBlock, Create), 860),
    (Role::Commit(ListItem, Delete), 535),
    (Role::Commit(StarterPack, Update), 280),
    (Role::Commit(List, Create), 259),
    (Role::Commit(ThreadGate, Create), 228),
    (Role::Commit(Block, Delete), 202),
    (Role::Commit(StarterPack, Create), 104),
    (Role::Commit(PostGate, Create), 101),
    (Role::Commit(List, Update), 62),
    (Role::Commit(FeedGenerator, Update), 60),
    (Role::Commit(ListBlock, Delete), 35),
    (Role::Commit(List, Delete), 35),
    (Role::Commit(Profile, Delete), 24),
    (Role::Commit(StarterPack, Delete), 21),
    (Role::Commit(ThreadGate, Delete), 15),
    (Role::Commit(Post, Update), 12),
    (Role::Commit(ThreadGate, Update), 12),
    (Role::Commit(FeedGenerator, Create), 10),
    (Role::Commit(LabelerService, Update), 4),
    (Role::Commit(FeedGenerator, Delete), 4),
    (Role::Commit(PostGate, Delete), 3),
    (Role::Commit(Like, Delete), 4_421),
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
        Self { rare: rare::events_of(block) }
    }

    /// Returns the kind of the event in a slot, and its number among events of that kind in the block.
    ///
    /// Events of rare collections replace deletions of likes, so that the counts of all creates stay exact.
    /// They are numbered over all blocks.
    #[inline]
    pub(super) fn role(&self, slot: u32) -> (Role, u32) {
        let mut offset = slot;
        for &(role, count) in &COUNTS[..COUNTS.len() - 1] {
            if offset < count {
                return (role, offset);
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
        for &(role, count) in &COUNTS {
            let key = match role {
                Role::Commit(collection, _) => Some(collection),
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
            let mut counts: HashMap<Role, u32> = HashMap::new();
            for slot in 0..BLOCK as u32 {
                *counts.entry(plan.role(slot).0).or_default() += 1;
            }
            let rare: u32 =
                counts.iter().filter(|(role, _)| matches!(role, Role::Rare(..))).map(|(_, n)| n).sum();
            assert_eq!(rare == 0, block == 0, "block {block} has {rare} rare events");
            for &(role, count) in &COUNTS[..COUNTS.len() - 1] {
                assert_eq!(counts[&role], count);
            }
            assert_eq!(counts[&Role::Commit(Like, Delete)] + rare, 4_421);
        }
    }
}
