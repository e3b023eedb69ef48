//! The first three users by an extreme of their times, over rows that are ordered by user and time.

use std::ops::Range;

use jsonathlon_dataset::questions::VETERANS;

use super::columns::{Table, WORD};
use super::dictionary::{Dictionary, NULL};

/// Rows that one comparison checks together for a value that may matter.
const BLOCK: usize = 64;

/// The best users so far, best first. Smaller values are better; Q5 therefore uses negative spans.
#[derive(Clone)]
pub(super) struct TopUsers<'a> {
    texts: &'a Dictionary,
    users: Vec<(i64, u32)>,
}

impl<'a> TopUsers<'a> {
    fn new(texts: &'a Dictionary) -> Self {
        Self { texts, users: Vec::with_capacity(VETERANS + 1) }
    }

    /// Largest value with which a user may still be among the best.
    fn limit(&self) -> i64 {
        self.users.get(VETERANS - 1).map_or(i64::MAX, |worst| worst.0)
    }

    /// Inserts a user who is among the best. A user already in the list keeps the better value.
    fn offer(&mut self, value: i64, user: u32) {
        if let Some(index) = self.users.iter().position(|entry| entry.1 == user) {
            if self.users[index].0 <= value {
                return;
            }
            self.users.remove(index);
        }
        let index = self.users.iter().position(|entry| self.is_before((value, user), *entry));
        let index = index.unwrap_or(self.users.len());
        if index < VETERANS {
            self.users.insert(index, (value, user));
            self.users.truncate(VETERANS);
        }
    }

    /// Compares by value, then by text, null last.
    fn is_before(&self, a: (i64, u32), b: (i64, u32)) -> bool {
        let key = |user| (user == NULL, self.texts.text(user));
        a.0 < b.0 || (a.0 == b.0 && key(a.1) < key(b.1))
    }

    /// Merges the best users of several chunks.
    pub(super) fn merged(parts: Vec<Self>) -> Vec<(i64, u32)> {
        let mut parts = parts.into_iter();
        let Some(mut best) = parts.next() else { return Vec::new() };
        for (value, user) in parts.flat_map(|part| part.users) {
            best.offer(value, user);
        }
        best.users
    }
}

impl Table {
    /// Users with the earliest first times. Only a user's first row holds that time, but rows are checked for
    /// this only if their time may matter.
    pub(super) fn earliest_users(&self, all: &Range<usize>, rows: Range<usize>) -> TopUsers<'_> {
        let mut best = TopUsers::new(&self.texts.users);
        let mut start = rows.start;
        while start < rows.end {
            let end = rows.end.min(start + BLOCK);
            let limit = best.limit();
            let has_candidate =
                self.time[start..end].iter().fold(false, |is_any, &time| is_any | (time <= limit));
            if has_candidate {
                for row in start..end {
                    let is_first = row == all.start || self.user[row] != self.user[row - 1];
                    if self.time[row] <= best.limit() && is_first && !self.is_untimed(row) {
                        best.offer(self.time[row], self.user[row]);
                    }
                }
            }
            start = end;
        }
        best
    }

    /// Users with the longest time between first and last event, as negative spans. The span up to each row
    /// is calculated, so that no branch depends on where users change.
    pub(super) fn longest_active_users(&self, all: &Range<usize>, rows: Range<usize>) -> TopUsers<'_> {
        let mut best = TopUsers::new(&self.texts.users);
        let rows = self.start_of_user(all, rows.start)..self.start_of_user(all, rows.end);
        let Some((&first_user, &first_time)) =
            self.user[rows.clone()].first().zip(self.time[rows.clone()].first())
        else {
            return best;
        };
        let (mut user_before, mut first) = (first_user, first_time);
        let mut threshold = 0;
        let pairs = self.user[rows.clone()].iter().zip(&self.time[rows.clone()]);
        for (offset, (&user, &time)) in pairs.enumerate() {
            first = if user == user_before { first } else { time };
            user_before = user;
            // Rows are ordered, so this is the exact difference. Null times have the largest value and are
            // checked below.
            let span = time.wrapping_sub(first) as u64;
            if span >= threshold && !self.is_untimed(rows.start + offset) {
                best.offer(-i64::try_from(span).unwrap_or(i64::MAX), user);
                threshold = if best.users.len() < VETERANS { 0 } else { best.limit().unsigned_abs() };
            }
        }
        best
    }

    /// First row from `row` on that belongs to another user than the row before it.
    fn start_of_user(&self, all: &Range<usize>, row: usize) -> usize {
        if row <= all.start || row >= all.end {
            return row;
        }
        let before = self.user[row - 1];
        let count = self.user[row..all.end].iter().take_while(|user| **user == before).count();
        row + count
    }

    /// The first users by text who have no time at all; the answers list them after all others.
    pub(super) fn users_without_times(&self, rows: &Range<usize>) -> Vec<u32> {
        let words = &self.untimed[rows.start / WORD..rows.end.div_ceil(WORD)];
        if words.iter().all(|word| *word == 0) {
            return Vec::new();
        }
        let mut best = TopUsers::new(&self.texts.users);
        for row in rows.clone() {
            let is_first = row == rows.start || self.user[row] != self.user[row - 1];
            if is_first && self.is_untimed(row) {
                best.offer(0, self.user[row]);
            }
        }
        best.users.into_iter().map(|(_, user)| user).collect()
    }
}
