//! Selects the posts that are liked, reposted, quoted and replied to.
//!
//! A referenced post is determined by the epoch in which it was written (65,536 events, about a minute) and
//! its popularity rank in that epoch; its author, record key and CID are hashes of the two. Rank and age are
//! drawn by octave, so that few posts get many likes, and recent posts get more than old ones. In addition,
//! about a thousand posts are hot for a quarter of an hour (2²⁰ events) and get a third of all references.
//!
//! The real distribution of likes is not published. The shares below were fitted to two compressed sizes of
//! the real data set: that of the documents in their original order, where repeats of a hot post are too far
//! apart to compress well, and that in an engine that sorts by user, where they are close enough.

use super::clock::EventClock;
use super::random::{Draws, mix};
use super::users::Actors;

/// Binary logarithm of the number of events in an epoch.
const EPOCH_BITS: u32 = 16;
/// Binary logarithm of the number of events in a hot period.
const HOT_PERIOD_BITS: u32 = 20;
/// Maximum age of a hot post at the start of its hot period, in events: 2²³, about two hours.
const HOT_AGE_MASK: u64 = (1 << 23) - 1;
/// Denominator of the shares by octave.
const TOTAL_SHARES: usize = 1024;

/// Sixteenths of the references to ordinary posts that go to one of the user's favourite accounts.
const FAVOURITE_SIXTEENTHS: u64 = 7;

/// Shares (of 1,024) by octave of the rank in an epoch (1, 2‥3, 4‥7, …).
const RANK_SHARES: [u16; 13] = [14, 20, 28, 38, 50, 64, 80, 96, 112, 126, 136, 138, 122];
/// Shares (of 1,024) by octave of the rank of hot posts. The remaining share goes to ordinary posts.
const HOT_RANK_SHARES: [u16; 10] = [6, 12, 22, 32, 40, 36, 34, 50, 60, 60];
/// Shares (of 1,024) by octave of the age in epochs (1, 2‥3, …): from a minute to a month.
const AGE_SHARES: [u16; 16] = [40, 56, 72, 86, 98, 106, 110, 106, 96, 80, 62, 44, 30, 18, 12, 8];

/// Post that other records refer to, as the values from which its address and CID are derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PostName {
    /// Hash that identifies the post; its CID and the clock identifier in its record key are derived from it.
    pub(super) identity: u64,
    /// Creation time that the record key encodes, in microseconds since 1970.
    pub(super) key_us: u64,
    /// User number of the post's author.
    pub(super) author: u64,
}

/// Draws posts at random, popular and recent ones more often than others.
#[derive(Clone, Debug)]
pub(super) struct Popular {
    hash_key: u64,
    /// Octave of the rank of an ordinary post by ten random bits, see [`octave_table`].
    rank_octaves: [u8; TOTAL_SHARES],
    /// Octave of the age of an ordinary post by ten random bits.
    age_octaves: [u8; TOTAL_SHARES],
    /// Octave of the rank of a hot post by ten random bits; [`NO_OCTAVE`] selects an ordinary post.
    hot_octaves: [u8; TOTAL_SHARES],
}

/// Marks table entries that belong to no octave.
const NO_OCTAVE: u8 = u8::MAX;

/// Returns a table in which each octave fills as many entries as it has shares, so that a random index draws
/// octaves by their shares. Entries beyond the sum of the shares are [`NO_OCTAVE`].
fn octave_table(shares: &[u16]) -> [u8; TOTAL_SHARES] {
    let mut table = [NO_OCTAVE; TOTAL_SHARES];
    let mut start = 0;
    for (octave, &share) in shares.iter().enumerate() {
        let end = (start + usize::from(share)).min(TOTAL_SHARES);
        table[start..end].fill(octave as u8);
        start = end;
    }
    table
}

impl Popular {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            hash_key: mix(seed, 0x706f_7374),
            rank_octaves: octave_table(&RANK_SHARES),
            age_octaves: octave_table(&AGE_SHARES),
            hot_octaves: octave_table(&HOT_RANK_SHARES),
        }
    }

    /// Draws the post that `user` refers to in event number `ordinal`; it is always older than the event.
    #[inline]
    pub(super) fn post(
        &self,
        clock: &EventClock,
        authors: &Actors,
        ordinal: u64,
        user: u64,
        draws: &mut Draws,
    ) -> PostName {
        let bits = draws.next();
        let hot_octave = self.hot_octaves[(bits & 1023) as usize];
        let bits = bits >> 10;
        if hot_octave != NO_OCTAVE {
            let rank = (1u64 << hot_octave) | (bits & ((1 << hot_octave) - 1));
            return self.hot_post(clock, authors, ordinal >> HOT_PERIOD_BITS, rank);
        }
        let rank_octave = self.rank_octaves[(bits >> 44) as usize];
        let age_octave = self.age_octaves[((bits >> 34) & 1023) as usize];
        let rank = (1u64 << rank_octave) | (bits & ((1 << rank_octave) - 1));
        let age = (1u64 << age_octave) | ((bits >> 18) & ((1 << age_octave) - 1));
        let epoch = (ordinal >> EPOCH_BITS) as i64 - age as i64;
        let mut post = self.ordinary_post(clock, authors, epoch, rank);
        if (bits >> 13) & 15 < FAVOURITE_SIXTEENTHS {
            // Another post of the epoch, by one of the user's two favourite accounts of this hot period.
            let period = ordinal >> HOT_PERIOD_BITS;
            let favourite = mix(user ^ self.hash_key, period << 1 | (bits >> 17 & 1));
            post = PostName {
                identity: mix(post.identity, favourite),
                author: authors.any_user(favourite),
                ..post
            };
        }
        post
    }

    #[inline]
    fn hot_post(&self, clock: &EventClock, authors: &Actors, period: u64, rank: u64) -> PostName {
        let identity = mix(!self.hash_key ^ (rank << 40), period);
        let age = (identity >> 20) & HOT_AGE_MASK;
        let written_us = clock.slot_start((period << HOT_PERIOD_BITS) as i64 - age as i64) / 1_000 * 1_000;
        // Two seconds earlier, so that even a post of age 0 is older than the first event of its period.
        let key_us = written_us - 2_000_000;
        PostName { identity, key_us, author: authors.any_user(mix(identity, 2)) }
    }

    #[inline]
    fn ordinary_post(&self, clock: &EventClock, authors: &Actors, epoch: i64, rank: u64) -> PostName {
        let identity = mix(self.hash_key ^ (rank << 40), epoch as u64);
        let offset_ms = (identity >> 40) % 21_000;
        // Whole milliseconds, because servers derive record keys from a millisecond clock.
        let key_us = (clock.slot_start(epoch << EPOCH_BITS) / 1_000 + offset_ms) * 1_000;
        PostName { identity, key_us, author: authors.any_user(mix(identity, 2)) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::event_kind::Collection;
    use super::super::users::Users;
    use super::*;

    #[test]
    fn shares_of_ordinary_posts_add_up_to_the_total() {
        assert_eq!(RANK_SHARES.iter().map(|&share| usize::from(share)).sum::<usize>(), TOTAL_SHARES);
        assert_eq!(AGE_SHARES.iter().map(|&share| usize::from(share)).sum::<usize>(), TOTAL_SHARES);
    }

    #[test]
    fn posts_are_older_than_the_events_that_refer_to_them() {
        let clock = EventClock::new();
        let popular = Popular::new(4);
        let users = Users::new(4);
        let mut draws = Draws::new(1, 1);
        for ordinal in (0..300_000_000).step_by(30_011) {
            let post = popular.post(&clock, users.actors(Collection::Post), ordinal, 7, &mut draws);
            assert!(post.key_us < clock.slot_start(ordinal as i64), "event {ordinal}");
        }
    }

    #[test]
    fn some_posts_are_drawn_often_and_many_only_once() {
        let clock = EventClock::new();
        let popular = Popular::new(4);
        let users = Users::new(4);
        let mut draws = Draws::new(2, 1);
        let mut counts = std::collections::HashMap::new();
        for ordinal in 0..400_000 {
            *counts
                .entry(popular.post(&clock, users.actors(Collection::Post), ordinal, 7, &mut draws).identity)
                .or_insert(0u32) += 1;
        }
        assert!(counts.values().any(|&count| count > 50));
        assert!(counts.values().filter(|&&count| count == 1).count() > 50_000);
    }
}
