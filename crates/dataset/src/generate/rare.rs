//! Collections that occur only a few hundred times in a billion events, or once.
//!
//! Names, counts, creates and users are the published answers of the billion-document challenge at 1000m.
//! Counts of names that occur in a smaller set are met there as well. The first block of a set has no rare
//! events.

use super::event_kind::{EventKind, Operation};

/// Name, counts and users of a rare collection.
#[derive(Debug)]
pub(super) struct RareName {
    pub(super) name: &'static str,
    /// Number of events before each of the block boundaries in [`BOUNDARIES`].
    until: [u32; 4],
    /// Number of creates in the first thousand blocks; the other events are updates and deletes.
    creates: u32,
    /// Number of users that make the events.
    pub(super) users: u32,
}

/// Ends of the published data sets, in blocks.
const BOUNDARIES: [u64; 4] = [1, 10, 100, 1000];

const fn rare(name: &'static str, until: [u32; 3], creates: u32, users: u32) -> RareName {
    RareName { name, until: [0, until[0], until[1], until[2]], creates, users }
}

/// The rare collections, in descending order of their events in a billion.
pub(super) static NAMES: [RareName; 30] = [
    rare("app.top8.theme", [0, 684, 853], 0, 40),
    rare("app.bsky.graph.unfollow", [0, 0, 191], 191, 1),
    rare("app.vercel.aniblue.status", [0, 0, 184], 5, 2),
    rare("app.vercel.stellarbsky.reaction", [0, 0, 164], 40, 2),
    rare("app.bsky.graph.starterPack", [0, 0, 144], 144, 1),
    rare("app.netlify.aniblue.status", [0, 0, 112], 3, 2),
    rare("app.kollective.catalog", [6, 39, 110], 8, 3),
    rare("app.kollective.profile", [0, 3, 98], 4, 4),
    rare("app.enoki.bookmark", [0, 0, 88], 48, 1),
    rare("app.bsky.graph.block.create", [0, 0, 84], 84, 1),
    rare("app.bsky.feed.follow", [0, 0, 76], 39, 1),
    rare("app.bsky.graph.listitemview", [0, 0, 56], 56, 1),
    rare("app.kollective.follow", [0, 0, 54], 38, 3),
    rare("app.vercel.aniblue.favorite", [0, 0, 42], 2, 1),
    rare("app.remblue.actor.account", [0, 0, 11], 1, 1),
    rare("app.kollective.image", [0, 0, 7], 3, 1),
    rare("app.bsky.feed.quote", [0, 0, 5], 5, 1),
    rare("app.bsky.feed.deleteLike", [0, 0, 5], 5, 2),
    rare("app.kollective.settings", [0, 0, 4], 2, 2),
    rare("app.bsky.feed.comment", [0, 0, 4], 4, 1),
    rare("app.bsky.graph.pin", [0, 0, 2], 1, 1),
    rare("app.skygram.feed.generator.test", [0, 0, 2], 1, 1),
    rare("app.fictio.creativeWork", [0, 0, 2], 2, 1),
    rare("app.aaronview.feed.post", [0, 0, 2], 2, 1),
    rare("app.bskygold.actor.meta", [0, 0, 1], 1, 1),
    rare("app.ca.article.post", [0, 0, 1], 1, 1),
    rare("app.bsky.service.generator", [0, 0, 1], 1, 1),
    rare("app.atactive.feed.event", [0, 0, 1], 1, 1),
    rare("app.bsky.feed.deletelike", [0, 0, 1], 1, 1),
    rare("app.sky.feed.post", [0, 0, 1], 1, 1),
];

impl RareName {
    /// Returns the number of events of this collection before `block`, interpolated linearly between the
    /// known counts. The offset by `index` spreads collections with one or two events over the blocks;
    /// otherwise all would be in the last block.
    fn events_before(&self, block: u64, index: usize) -> u64 {
        let offset = (index as u64 * 7_919) % 1_000;
        let interpolate = |from: u64, to: u64, low: u64, high: u64| {
            let scaled = (high - low) * (block - from) * 1_000 + offset * (to - from);
            // The offset must not move an event beyond a boundary with a known count.
            low + (scaled / ((to - from) * 1_000)).min(high - low)
        };
        if block <= BOUNDARIES[0] {
            return 0;
        }
        for boundary in 1..BOUNDARIES.len() {
            if block <= BOUNDARIES[boundary] {
                return interpolate(
                    BOUNDARIES[boundary - 1],
                    BOUNDARIES[boundary],
                    u64::from(self.until[boundary - 1]),
                    u64::from(self.until[boundary]),
                );
            }
        }
        let last = u64::from(self.until[3]);
        last + last * (block - 1_000) / 1_000
    }

    /// Returns the user who makes an event. The users of a collection take turns at its creates.
    pub(super) fn user(&self, index: u64, event: u32) -> u64 {
        let creates_before =
            u64::from(event) * u64::from(self.creates.max(self.users)) / u64::from(self.until[3]);
        (1 << 18) + index * 64 + creates_before % u64::from(self.users)
    }

    /// Returns the operation of an event. Creates are spread evenly over the events.
    fn operation(&self, event: u64) -> Operation {
        let total = u64::from(self.until[3]);
        // Create whenever the product passes a multiple of the total.
        let creates = u64::from(self.creates);
        if (event + 1) * creates / total > event * creates / total {
            Operation::Create
        } else if event % 3 == 2 {
            Operation::Delete
        } else {
            Operation::Update
        }
    }
}

/// The rare events of one block, in the order of [`NAMES`].
#[derive(Clone, Debug, Default)]
pub(super) struct RareEvents {
    events: Vec<(EventKind, u32)>,
}

impl RareEvents {
    /// Returns the rare event at `index` and its number within its collection. `None` if the block has fewer
    /// rare events.
    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<(EventKind, u32)> {
        self.events.get(index as usize).copied()
    }
}

/// Returns all rare events of `block`.
pub(super) fn events_in_block(block: u64) -> RareEvents {
    let mut events = Vec::new();
    for (index, name) in NAMES.iter().enumerate() {
        let (first, end) = (name.events_before(block, index), name.events_before(block + 1, index));
        for event in first..end {
            events.push((EventKind::Rare(index as u8, name.operation(event)), event as u32));
        }
    }
    RareEvents { events }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(blocks: std::ops::Range<u64>, is_counted: impl Fn(u8, Operation) -> bool) -> usize {
        blocks
            .flat_map(|block| events_in_block(block).events)
            .filter(
                |(kind, _)| matches!(kind, EventKind::Rare(name, operation) if is_counted(*name, *operation)),
            )
            .count()
    }

    #[test]
    fn counts_are_those_published_at_every_scale() {
        for (index, name) in NAMES.iter().enumerate() {
            for (end, expected) in BOUNDARIES.into_iter().zip(name.until) {
                assert_eq!(
                    count(0..end, |name_index, _| name_index == index as u8),
                    expected as usize,
                    "{} in {end} blocks",
                    name.name
                );
            }
            let creates = count(0..1000, |name_index, operation| {
                name_index == index as u8 && operation == Operation::Create
            });
            assert_eq!(creates, name.creates as usize, "{}", name.name);
        }
    }

    #[test]
    fn the_first_block_has_none_and_the_blocks_beyond_the_known_ones_have_some() {
        assert_eq!(count(0..1, |_, _| true), 0);
        assert!(count(2000..3000, |_, _| true) > 2000);
    }

    #[test]
    fn names_that_occur_once_are_spread() {
        let blocks: std::collections::BTreeSet<u64> = (0..1000)
            .filter(|&block| {
                events_in_block(block).events.iter().any(|(kind, _)| matches!(kind, EventKind::Rare(24.., _)))
            })
            .collect();
        assert!(blocks.len() >= 5, "{blocks:?}");
    }
}
