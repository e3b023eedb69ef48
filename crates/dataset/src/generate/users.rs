//! Users of events and of references: heavy-tailed distributions ("laws") over one population of users.
//!
//! A user is a number below 2²⁵. Numbers are ranks: octave k holds the users 2ᵏ ‥ 2ᵏ⁺¹ − 1, all equally
//! active. A law is the share (of 4,096) of draws per octave, so that n draws have an expected Σ 2ᵏ (1 −
//! exp(−n qₖ / 2ᵏ)) distinct users. The shares were fitted (least squares on the logarithms, smooth over
//! octaves, no user above 0.05 % of a large collection) to the published distinct users of creates at 1m,
//! 10m, 100m and 1000m. The fit is within 1 % for large collections and 20 % for the smallest. All
//! collections share one population: equal numbers are equal accounts.
//!
//! People act in bursts, so a create's user is not drawn directly from the law. The events of a window share
//! a limited number of draws ("sessions"), and the law was fitted to that number of draws.

use super::event_kind::Collection;
use super::random::mix;

/// Number of octaves. The population of 2²⁵ exceeds the number of accounts the network had at the time.
const OCTAVES: usize = 25;
const SHARES: usize = 4096;

/// Shares (of 4,096) of draws by octave of rank.
type Octaves = [u16; OCTAVES];

/// Distribution of users by rank, as a lookup table of octaves.
#[derive(Clone, Debug)]
pub(super) struct RankDistribution {
    octave_of: Box<[u8; SHARES]>,
}

impl RankDistribution {
    fn new(shares: &Octaves) -> Self {
        let mut octave_of = Box::new([0; SHARES]);
        let mut start = 0;
        for (octave, &share) in shares.iter().enumerate() {
            let end = (start + usize::from(share)).min(SHARES);
            octave_of[start..end].fill(octave as u8);
            start = end;
        }
        Self { octave_of }
    }

    /// Returns the user selected by 64 random bits.
    #[inline]
    pub(super) fn user(&self, bits: u64) -> u64 {
        let octave = self.octave_of[(bits >> 52) as usize];
        let first = 1 << octave;
        first | (bits & (first - 1))
    }
}

/// Bursts of a collection: the events of a window of 2^`window_bits` share `sessions` draws.
#[derive(Clone, Copy, Debug)]
struct Bursts {
    window_bits: u32,
    sessions: u32,
}

/// A law, with bursts if the collection has them.
#[derive(Clone, Debug)]
pub(super) struct Actors {
    law: RankDistribution,
    bursts: Option<Bursts>,
    key: u64,
}

impl Actors {
    fn new(seed: u64, purpose: u64, shares: &Octaves, bursts: Option<Bursts>) -> Self {
        Self { law: RankDistribution::new(shares), bursts, key: mix(seed, 0x7573_6572 ^ (purpose << 40)) }
    }

    /// Returns the user who makes the event `ordinal`.
    #[inline]
    pub(super) fn user_of_event(&self, ordinal: u64) -> u64 {
        let hash = mix(self.key, ordinal);
        let bits = match self.bursts {
            None => hash,
            Some(Bursts { window_bits, sessions }) => {
                let session = ((hash >> 32) * u64::from(sessions)) >> 32;
                mix(!self.key, (ordinal >> window_bits) << 20 | session)
            }
        };
        self.law.user(bits)
    }

    /// Returns the first event of the window whose events share draws with `ordinal`.
    #[inline]
    pub(super) fn window_start(&self, ordinal: u64) -> u64 {
        self.bursts.map_or(ordinal, |bursts| ordinal >> bursts.window_bits << bursts.window_bits)
    }

    /// Returns a user selected by the caller's random bits, ignoring bursts.
    #[inline]
    pub(super) fn any_user(&self, bits: u64) -> u64 {
        self.law.user(bits)
    }
}

const LIKE: Octaves = [
    2, 4, 8, 16, 33, 65, 121, 203, 298, 373, 398, 368, 308, 246, 204, 188, 199, 231, 263, 254, 180, 88, 31,
    12, 3,
];
const FOLLOW: Octaves = [
    2, 4, 8, 16, 33, 66, 125, 212, 303, 352, 336, 275, 209, 165, 150, 161, 198, 253, 303, 307, 250, 170, 104,
    60, 34,
];
const POST: Octaves = [
    2, 4, 8, 16, 33, 65, 122, 202, 285, 335, 329, 284, 235, 205, 205, 237, 298, 357, 355, 263, 146, 66, 28,
    11, 5,
];
const REPOST: Octaves = [
    2, 4, 8, 16, 33, 66, 125, 207, 275, 288, 250, 201, 173, 177, 219, 306, 418, 476, 396, 241, 120, 55, 24,
    11, 5,
];
const BLOCK: Octaves = [
    2, 4, 8, 16, 33, 66, 132, 267, 539, 386, 96, 55, 67, 130, 285, 535, 585, 261, 117, 71, 59, 62, 76, 102,
    142,
];
const LIST_ITEM: Octaves =
    [2, 2, 2, 4, 8, 31, 134, 290, 1620, 157, 89, 155, 353, 564, 274, 101, 60, 54, 56, 53, 41, 25, 13, 6, 2];
const LIST_BLOCK: Octaves = [
    82, 167, 330, 57, 13, 7, 7, 13, 32, 77, 172, 360, 619, 480, 165, 74, 49, 45, 53, 72, 107, 160, 228, 310,
    417,
];
const LIST: Octaves = [
    0, 0, 3, 20, 168, 862, 167, 73, 68, 96, 145, 191, 204, 197, 195, 212, 249, 300, 323, 282, 190, 95, 38,
    13, 5,
];
const THREAD_GATE: Octaves = [
    3, 4, 5, 10, 32, 170, 1036, 281, 181, 227, 308, 289, 201, 151, 139, 157, 204, 234, 199, 129, 71, 34, 17,
    9, 5,
];
const POST_GATE: Octaves =
    [1, 1, 1, 1, 3, 12, 112, 1932, 166, 57, 59, 113, 266, 475, 470, 237, 93, 40, 21, 13, 9, 6, 4, 3, 1];
const STARTER_PACK: Octaves = [
    21, 44, 94, 188, 305, 288, 135, 65, 46, 48, 68, 119, 217, 365, 496, 513, 417, 283, 172, 98, 55, 30, 16,
    9, 4,
];
const FEED_GENERATOR: Octaves =
    [2, 3, 3, 4, 13, 98, 1718, 150, 36, 21, 24, 40, 78, 160, 298, 455, 472, 290, 125, 51, 24, 13, 9, 6, 3];
/// Users who are followed and blocked. Not published: most of the weight is on accounts that packs and
/// suggestions show, the rest on all others. Chosen to match the compressed sizes.
const FOLLOWED: Octaves = [
    1, 2, 4, 8, 16, 32, 64, 120, 260, 420, 560, 440, 250, 210, 220, 240, 260, 270, 260, 210, 140, 70, 24, 10,
    5,
];

/// The laws of all collections under one seed.
#[derive(Clone, Debug)]
pub(super) struct Users {
    like: Actors,
    follow: Actors,
    post: Actors,
    repost: Actors,
    block: Actors,
    list_item: Actors,
    list_block: Actors,
    list: Actors,
    thread_gate: Actors,
    post_gate: Actors,
    starter_pack: Actors,
    feed_generator: Actors,
    followed: Actors,
}

impl Users {
    pub(super) fn new(seed: u64) -> Self {
        let single = |purpose, shares: &Octaves| Actors::new(seed, purpose, shares, None);
        let series = |purpose, shares: &Octaves, window_bits, sessions| {
            Actors::new(seed, purpose, shares, Some(Bursts { window_bits, sessions }))
        };
        // With x creates offered per session, x / (1 − e⁻ˣ) are made per used session. The fits assume 1.6
        // (like), 3 (follow), 1.5 (repost, listblock), 1.8 (block) and 5 (listitem).
        Self {
            like: series(1, &LIKE, 13, 3_546),
            follow: series(2, &FOLLOW, 13, 981),
            post: single(3, &POST),
            repost: series(4, &REPOST, 13, 534),
            block: series(5, &BLOCK, 15, 344),
            list_item: series(6, &LIST_ITEM, 16, 100),
            list_block: series(7, &LIST_BLOCK, 18, 258),
            list: single(8, &LIST),
            thread_gate: single(9, &THREAD_GATE),
            post_gate: single(10, &POST_GATE),
            starter_pack: single(11, &STARTER_PACK),
            feed_generator: single(12, &FEED_GENERATOR),
            followed: single(13, &FOLLOWED),
        }
    }

    /// Returns the users who make events of a collection.
    #[inline]
    pub(super) fn actors(&self, collection: Collection) -> &Actors {
        match collection {
            Collection::Like => &self.like,
            Collection::Follow => &self.follow,
            Collection::Repost => &self.repost,
            Collection::Block => &self.block,
            Collection::ListItem => &self.list_item,
            Collection::ListBlock => &self.list_block,
            Collection::List => &self.list,
            Collection::ThreadGate => &self.thread_gate,
            Collection::PostGate => &self.post_gate,
            Collection::StarterPack => &self.starter_pack,
            Collection::FeedGenerator | Collection::LabelerService => &self.feed_generator,
            Collection::Post | Collection::Profile => &self.post,
        }
    }

    /// Returns the users who are followed, blocked, listed and mentioned.
    #[inline]
    pub(super) fn followed(&self) -> &Actors {
        &self.followed
    }
}

/// Returns the user that creates the `number`-th profile of a block: a new account.
///
/// All are different within a block, as published at 1m. In later blocks one in 25 creates a second profile
/// (published: 5.6 % at 10m, 2.7 % at 1000m).
pub(super) fn newcomer(seed: u64, block: u64, number: u32, per_block: u32) -> u64 {
    const LAST_OCTAVE: u64 = 1 << (OCTAVES - 1);
    let hash = mix(seed ^ 0x6e65_7763, block * u64::from(per_block) + u64::from(number));
    let source_block = if block > 0 && hash & 0xff < 10 { (hash >> 8) % block } else { block };
    // An odd factor makes this a bijection within the last octave.
    let rank = (source_block * u64::from(per_block) + u64::from(number)).wrapping_mul(0x9e37_79b1);
    LAST_OCTAVE | (rank & (LAST_OCTAVE - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_law_is_whole() {
        for (name, shares) in [
            ("like", LIKE),
            ("follow", FOLLOW),
            ("post", POST),
            ("repost", REPOST),
            ("block", BLOCK),
            ("listitem", LIST_ITEM),
            ("listblock", LIST_BLOCK),
            ("list", LIST),
            ("threadgate", THREAD_GATE),
            ("postgate", POST_GATE),
            ("starterpack", STARTER_PACK),
            ("generator", FEED_GENERATOR),
            ("followed", FOLLOWED),
        ] {
            assert_eq!(shares.iter().map(|&s| usize::from(s)).sum::<usize>(), SHARES, "{name}");
        }
    }

    /// Expected number of distinct users of `draws` draws from a law.
    fn expected(shares: &Octaves, draws: f64) -> f64 {
        shares
            .iter()
            .enumerate()
            .map(|(octave, &share)| {
                let users = (1u64 << octave) as f64;
                users * (1.0 - (-draws * f64::from(share) / SHARES as f64 / users).exp())
            })
            .sum()
    }

    #[test]
    fn distinct_users_grow_as_published() {
        let published = [
            (&LIKE, 444_523.0 / 1.6, [117_617.0, 694_849.0, 2_576_215.0, 6_706_985.0]),
            (&FOLLOW, 337_978.0 / 3.0, [63_957.0, 463_192.0, 2_389_002.0, 8_451_054.0]),
            (&POST, 86_812.0, [50_464.0, 327_190.0, 1_346_617.0, 3_941_525.0]),
            (&REPOST, 56_993.0 / 1.5, [26_581.0, 188_549.0, 829_331.0, 2_537_616.0]),
            (&BLOCK, 13_838.0 / 1.8, [5_785.0, 45_808.0, 273_510.0, 1_335_278.0]),
            (&LIST_ITEM, 7_568.0 / 5.0, [1_078.0, 7_097.0, 37_824.0, 163_053.0]),
        ];
        for (shares, draws, users) in published {
            for (scale, users) in [1.0, 10.0, 100.0, 1000.0].into_iter().zip(users) {
                let ratio = expected(shares, draws * scale) / users;
                assert!((0.97..1.03).contains(&ratio), "{ratio} of {users} users");
            }
        }
    }

    /// Counts the creates of ten million events by the same order, plan and laws as the generator, without
    /// making documents. The formula above ignores bursts.
    #[test]
    fn users_of_ten_million_events_are_as_many_as_published() {
        use super::super::event_kind::{EventKind, Operation};
        use super::super::order::{BLOCK, BlockOrder};
        use super::super::plan::BlockPlan;

        let published = [
            (Collection::Like, 694_849),
            (Collection::Follow, 463_192),
            (Collection::Post, 327_190),
            (Collection::Repost, 188_549),
            (Collection::Block, 45_808),
            (Collection::ListItem, 7_097),
        ];
        let users = Users::new(1);
        let mut user_sets = published.map(|_| HashSet::new());
        for block in 0..10 {
            let (order, plan) = (BlockOrder::new(1, block), BlockPlan::new(block));
            for position in 0..BLOCK {
                let EventKind::Commit(collection, Operation::Create) =
                    plan.event_at(order.slot(position as u32)).0
                else {
                    continue;
                };
                if let Some(index) = published.iter().position(|(name, _)| *name == collection) {
                    user_sets[index].insert(users.actors(collection).user_of_event(block * BLOCK + position));
                }
            }
        }
        for ((collection, published), users) in published.into_iter().zip(user_sets) {
            let count = users.len();
            println!("{}: {count} users of ten million, published {published}", collection.name());
            let ratio = count as f64 / f64::from(published);
            assert!((0.9..1.1).contains(&ratio), "{}: {count} against {published}", collection.name());
        }
    }

    #[test]
    fn newcomers_of_a_block_are_all_different() {
        for block in [0, 1, 17, 999] {
            let users: HashSet<u64> = (0..5_337).map(|n| newcomer(3, block, n, 5_337)).collect();
            assert_eq!(users.len(), 5_337, "block {block}");
        }
        let ten_blocks: HashSet<u64> =
            (0..10).flat_map(|block| (0..5_337).map(move |n| newcomer(3, block, n, 5_337))).collect();
        assert!((51_000..52_500).contains(&ten_blocks.len()), "{}", ten_blocks.len());
    }
}
