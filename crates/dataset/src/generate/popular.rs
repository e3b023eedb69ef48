//! Selects the posts that are liked, reposted, quoted and answered.
//!
//! A referenced post is identified by the epoch it was written in (65,536 events, about a minute) and its
//! rank in that epoch; author, key and CID are hashes of these. Rank and age are drawn by octave, so that few
//! posts get many likes and recent posts get more than old ones. In addition, about a thousand posts are hot
//! for a quarter of an hour (2²⁰ events) and get a third of all references. How likes are distributed is not
//! published. The shares match compressed sizes both row by row and in an engine that sorts by user: repeats
//! of a hot post are too far apart for the former, near enough for the latter.

use super::clock::EventClock;
use super::random::{Draws, mix};
use super::users::Actors;

const EPOCH_BITS: u32 = 16;
const HOT_BITS: u32 = 20;
/// Maximum age of a hot post at the start of its hot period, in events: 2²³, about two hours.
const HOT_AGE_MASK: u64 = (1 << 23) - 1;
const SHARES: usize = 1024;

/// Share (of sixteen) of references to ordinary posts that go to one of the reader's favourite accounts.
const FAVOURITE_SHARE: u64 = 7;

/// Shares (of 1,024) by octave of the rank in an epoch (1, 2‥3, 4‥7, …).
const RANKS: [u16; 13] = [14, 20, 28, 38, 50, 64, 80, 96, 112, 126, 136, 138, 122];
/// Shares (of 1,024) by octave of the rank of hot posts. The remaining share goes to ordinary posts.
const HOT_RANKS: [u16; 10] = [6, 12, 22, 32, 40, 36, 34, 50, 60, 60];
/// Shares (of 1,024) by octave of the age in epochs (1, 2‥3, …): from a minute to a month.
const AGES: [u16; 16] = [40, 56, 72, 86, 98, 106, 110, 106, 96, 80, 62, 44, 30, 18, 12, 8];

/// Identity of a post that is referenced by other records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PostName {
    /// Hash from which the post's author, clock number and CID are derived.
    pub(super) identity: u64,
    /// Time encoded in the post's record key, in microseconds since 1970.
    pub(super) key_us: u64,
    /// User number of the post's author.
    pub(super) author: u64,
}

/// Draws posts with a probability by popularity.
#[derive(Clone, Debug)]
pub(super) struct Popular {
    key: u64,
    rank_octaves: [u8; SHARES],
    age_octaves: [u8; SHARES],
    hot_octaves: [u8; SHARES],
}

/// Marks table entries that belong to no octave.
const NONE: u8 = u8::MAX;

fn table(shares: &[u16]) -> [u8; SHARES] {
    let mut table = [NONE; SHARES];
    let mut filled = 0;
    for (octave, &share) in shares.iter().enumerate() {
        let next = (filled + usize::from(share)).min(SHARES);
        table[filled..next].fill(octave as u8);
        filled = next;
    }
    table
}

impl Popular {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            key: mix(seed, 0x706f_7374),
            rank_octaves: table(&RANKS),
            age_octaves: table(&AGES),
            hot_octaves: table(&HOT_RANKS),
        }
    }

    /// Draws a post that `reader` refers to in the event `ordinal`. The post is always older than the event.
    #[inline]
    pub(super) fn post(
        &self,
        clock: &EventClock,
        authors: &Actors,
        ordinal: u64,
        reader: u64,
        draws: &mut Draws,
    ) -> PostName {
        let bits = draws.next();
        let hot_octave = self.hot_octaves[(bits & 1023) as usize];
        let bits = bits >> 10;
        if hot_octave != NONE {
            let rank = (1u64 << hot_octave) | (bits & ((1 << hot_octave) - 1));
            return self.hot(clock, authors, ordinal >> HOT_BITS, rank);
        }
        let rank_octave = self.rank_octaves[(bits >> 44) as usize];
        let age_octave = self.age_octaves[((bits >> 34) & 1023) as usize];
        let rank = (1u64 << rank_octave) | (bits & ((1 << rank_octave) - 1));
        let age = (1u64 << age_octave) | ((bits >> 18) & ((1 << age_octave) - 1));
        let epoch = (ordinal >> EPOCH_BITS) as i64 - age as i64;
        let mut post = self.ordinary(clock, authors, epoch, rank);
        if (bits >> 13) & 15 < FAVOURITE_SHARE {
            // Another post of the epoch, by one of the reader's two favourite accounts.
            let favourite = mix(reader ^ self.key, (ordinal >> HOT_BITS) << 1 | (bits >> 17 & 1));
            post =
                PostName { identity: mix(post.identity, favourite), author: authors.any(favourite), ..post };
        }
        post
    }

    #[inline]
    fn hot(&self, clock: &EventClock, authors: &Actors, period: u64, rank: u64) -> PostName {
        let identity = mix(!self.key ^ (rank << 40), period);
        let age = (identity >> 20) & HOT_AGE_MASK;
        let key_us = clock.at((period << HOT_BITS) as i64 - age as i64) / 1_000 * 1_000;
        PostName { identity, key_us: key_us - 2_000_000, author: authors.any(mix(identity, 2)) }
    }

    #[inline]
    fn ordinary(&self, clock: &EventClock, authors: &Actors, epoch: i64, rank: u64) -> PostName {
        let identity = mix(self.key ^ (rank << 40), epoch as u64);
        let within = (identity >> 40) % 21_000;
        // Whole milliseconds, because servers make keys from a millisecond clock.
        let key_us = (clock.at(epoch << EPOCH_BITS) / 1_000 + within) * 1_000;
        PostName { identity, key_us, author: authors.any(mix(identity, 2)) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::role::Collection;
    use super::super::users::Users;
    use super::*;

    #[test]
    fn shares_are_whole() {
        assert_eq!(RANKS.iter().map(|&s| usize::from(s)).sum::<usize>(), SHARES);
        assert_eq!(AGES.iter().map(|&s| usize::from(s)).sum::<usize>(), SHARES);
    }

    #[test]
    fn posts_are_older_than_what_refers_to_them() {
        let clock = EventClock::new();
        let popular = Popular::new(4);
        let users = Users::new(4);
        let mut draws = Draws::new(1, 1);
        for ordinal in (0..300_000_000).step_by(30_011) {
            let post = popular.post(&clock, users.of(Collection::Post), ordinal, 7, &mut draws);
            assert!(post.key_us < clock.at(ordinal as i64), "event {ordinal}");
        }
    }

    #[test]
    fn some_posts_come_often_and_many_once() {
        let clock = EventClock::new();
        let popular = Popular::new(4);
        let users = Users::new(4);
        let mut draws = Draws::new(2, 1);
        let mut counts = std::collections::HashMap::new();
        for ordinal in 0..400_000 {
            *counts
                .entry(popular.post(&clock, users.of(Collection::Post), ordinal, 7, &mut draws).identity)
                .or_insert(0u32) += 1;
        }
        assert!(counts.values().any(|&n| n > 50));
        assert!(counts.values().filter(|&&n| n == 1).count() > 50_000);
    }
}
