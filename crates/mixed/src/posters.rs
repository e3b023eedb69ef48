//! Users with posts, kept in the orders of Q4 and Q5 while posts come and go.

use std::collections::BTreeSet;

use jsonathlon_schema::value::Value;

/// Times of the posts of one user.
#[derive(Debug, Default)]
struct PostTimes {
    /// Times in microseconds since 1970, in ascending order.
    times: Vec<i64>,
    /// Number of posts without a time.
    untimed: u32,
}

impl PostTimes {
    fn first(&self) -> Option<i64> {
        self.times.first().copied()
    }

    /// Difference of last and first time, which saturates at 64 bits as in the reference.
    fn span(&self) -> Option<i64> {
        Some(self.times.last()?.saturating_sub(self.first()?))
    }

    fn add(&mut self, time_us: Option<i64>) {
        match time_us {
            Some(time) => self.times.insert(self.times.partition_point(|other| *other < time), time),
            None => self.untimed += 1,
        }
    }

    fn remove(&mut self, time_us: Option<i64>) {
        match time_us {
            Some(time) => {
                if let Ok(index) = self.times.binary_search(&time) {
                    self.times.remove(index);
                }
            }
            None => self.untimed -= 1,
        }
    }

    /// The user's places in the orders of Q4 and Q5; `None` without posts.
    fn places(&self, user: u32) -> Option<(RankedUser, RankedUser)> {
        if self.times.is_empty() && self.untimed == 0 {
            return None;
        }
        // The bitwise complement reverses the order of all integers, the smallest one included.
        let reversed_span = self.span().map(|span| !span);
        Some((RankedUser::new(self.first(), user), RankedUser::new(reversed_span, user)))
    }
}

/// A user and the value that ranks it. The order of the fields is the stated order: ascending values, null
/// last, then users, whose numbers are in the order of their texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RankedUser {
    is_null: bool,
    value: i64,
    user: u32,
}

impl RankedUser {
    fn new(value: Option<i64>, user: u32) -> Self {
        Self { is_null: value.is_none(), value: value.unwrap_or_default(), user }
    }

    /// The value as a cell of an answer, after `restore` has undone what was done to it for the order.
    fn cell(&self, restore: impl Fn(i64) -> i64) -> Value {
        if self.is_null { Value::Null } else { Value::Int(restore(self.value)) }
    }
}

/// Users with posts. A post can be taken back, which a mere minimum or maximum could not undo.
#[derive(Debug)]
pub(crate) struct Posters {
    /// Times by the number of the user.
    by_user: Vec<PostTimes>,
    by_first: BTreeSet<RankedUser>,
    by_span: BTreeSet<RankedUser>,
}

impl Posters {
    /// Nobody with posts yet, among users with numbers up to `highest_user`.
    pub(crate) fn new(highest_user: u32) -> Self {
        let by_user = (0..=highest_user).map(|_| PostTimes::default()).collect();
        Self { by_user, by_first: BTreeSet::new(), by_span: BTreeSet::new() }
    }

    /// Adds a post. Returns whether it is the only one of its user.
    pub(crate) fn add(&mut self, user: u32, time_us: Option<i64>) -> bool {
        let (had_posts, _) = self.change(user, |times| times.add(time_us));
        !had_posts
    }

    /// Takes back a post that was added. Returns whether its user has none left.
    pub(crate) fn remove(&mut self, user: u32, time_us: Option<i64>) -> bool {
        let (_, has_posts) = self.change(user, |times| times.remove(time_us));
        !has_posts
    }

    /// Changes the times of a user and both orders with them. Returns whether the user had posts before and
    /// has posts after.
    fn change(&mut self, user: u32, change: impl FnOnce(&mut PostTimes)) -> (bool, bool) {
        let Some(times) = self.by_user.get_mut(user as usize) else { return (false, false) };
        let before = times.places(user);
        change(times);
        let after = times.places(user);
        replace(&mut self.by_first, before.map(|places| places.0), after.map(|places| places.0));
        replace(&mut self.by_span, before.map(|places| places.1), after.map(|places| places.1));
        (before.is_some(), after.is_some())
    }

    /// The first users in the order of Q4, each with its first time in microseconds.
    pub(crate) fn earliest(&self, count: usize) -> impl Iterator<Item = (u32, Value)> {
        self.by_first.iter().take(count).map(|ranked| (ranked.user, ranked.cell(|first| first)))
    }

    /// The first users in the order of Q5, each with its span in microseconds.
    pub(crate) fn longest_active(&self, count: usize) -> impl Iterator<Item = (u32, Value)> {
        self.by_span.iter().take(count).map(|ranked| (ranked.user, ranked.cell(|reversed| !reversed)))
    }
}

/// Replaces a user's old place by its new one, unless both are the same.
fn replace(order: &mut BTreeSet<RankedUser>, old: Option<RankedUser>, new: Option<RankedUser>) {
    if old == new {
        return;
    }
    if let Some(old) = old {
        order.remove(&old);
    }
    if let Some(new) = new {
        order.insert(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(found: impl Iterator<Item = (u32, Value)>) -> Vec<(u32, Option<i64>)> {
        let number = |value| if let Value::Int(number) = value { Some(number) } else { None };
        found.map(|(user, value)| (user, number(value))).collect()
    }

    #[test]
    fn orders_follow_posts_that_come_and_go() {
        let mut posters = Posters::new(4);
        assert!(posters.add(2, Some(50)));
        assert!(!posters.add(2, Some(10)));
        assert!(posters.add(1, Some(10)));
        assert!(posters.add(4, None));
        assert_eq!(cells(posters.earliest(3)), [(1, Some(10)), (2, Some(10)), (4, None)]);
        assert_eq!(cells(posters.longest_active(3)), [(2, Some(40)), (1, Some(0)), (4, None)]);
        assert!(!posters.add(4, Some(i64::MIN)));
        assert!(!posters.add(4, Some(i64::MAX)));
        assert_eq!(cells(posters.earliest(2)), [(4, Some(i64::MIN)), (1, Some(10))]);
        assert_eq!(cells(posters.longest_active(1)), [(4, Some(i64::MAX))]);
        assert!(!posters.remove(4, Some(i64::MIN)) && !posters.remove(4, Some(i64::MAX)));
        assert!(!posters.remove(2, Some(10)));
        assert_eq!(cells(posters.earliest(9)), [(1, Some(10)), (2, Some(50)), (4, None)]);
        assert!(posters.remove(1, Some(10)) && posters.remove(2, Some(50)) && posters.remove(4, None));
        assert_eq!((cells(posters.earliest(9)), cells(posters.longest_active(9))), (vec![], vec![]));
    }

    #[test]
    fn equal_times_of_a_user_are_as_many_posts() {
        let mut posters = Posters::new(0);
        posters.add(0, Some(7));
        posters.add(0, Some(7));
        assert!(!posters.remove(0, Some(7)));
        assert_eq!(cells(posters.earliest(1)), [(0, Some(7))]);
        assert!(posters.remove(0, Some(7)));
    }
}
