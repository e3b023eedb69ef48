//! Computes the exact expected answer to every question over a set of documents, in one pass.
//!
//! The rules are those of SQL, which every system can follow. Nulls form a group of their own when grouping.
//! Distinct counts and extremes ignore nulls. An extreme over nothing but nulls is null.

use std::cmp::Ordering;

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use jsonathlon_schema::value::{Row, Value};
use serde::Serialize;

use crate::digest::rows_digest;
use crate::questions::{COMMIT, CREATE, LIKE, POST, Question, REPOST, VETERANS};
use crate::scan::Event;
use crate::stage::DocumentVisitor;

mod comparison;
mod users;

pub use comparison::{Comparison, compare, width_difference};
pub(crate) use users::{User, Users};

const HOUR_US: i64 = 3_600_000_000;
/// The 24 hours of a day, and one slot for a null time.
const HOURS: usize = 25;
const NO_HOUR: usize = 24;

/// First and last time in microseconds since 1970.
#[derive(Clone, Copy, Debug)]
struct Times {
    first: i64,
    last: i64,
}

impl Times {
    /// Initial value, for a user without any time: the only value whose `first` is after its `last`.
    const NEVER: Times = Times { first: i64::MAX, last: i64::MIN };

    fn observe(&mut self, time: Option<i64>) {
        if let Some(time) = time {
            self.first = self.first.min(time);
            self.last = self.last.max(time);
        }
    }

    fn first(self) -> Option<i64> {
        (self.first <= self.last).then_some(self.first)
    }

    /// Returns the difference of last and first time in microseconds. Saturates at 64 bits, which real times
    /// do not reach. `None` if there is no time.
    fn span(self) -> Option<i64> {
        (self.first <= self.last).then(|| self.last.saturating_sub(self.first))
    }
}

/// Counts for one event type.
#[derive(Clone, Debug, Default)]
struct EventTypeCounts {
    documents: u64,
    created: u64,
    /// Users of created records. Empty for posts, whose users are the keys of [`Reference::posters`].
    users: HashSet<User, FixedState>,
    hours: [u64; HOURS],
}

/// Collects exact answers to all questions, one document at a time.
///
/// Memory grows only with what exact answers require. A user takes 16 bytes plus hash table overhead per
/// event type of created records, and twice that for posts. Each event type and language takes one counter.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    documents: u64,
    /// Number of documents that are events: they have `did`, `time_us` and `kind`.
    event_count: u64,
    users: Users,
    /// Index of each event type in `tallies`.
    events: HashMap<Box<str>, usize, FixedState>,
    names: Vec<Box<str>>,
    tallies: Vec<EventTypeCounts>,
    without_event: EventTypeCounts,
    posters: HashMap<User, Times, FixedState>,
    languages: HashMap<Box<str>, u64, FixedState>,
    without_language: u64,
}

impl DocumentVisitor for Reference {
    fn document(&mut self, event: &Event<'_>) {
        self.observe(event);
    }
}

impl Reference {
    /// Adds one document to the answers.
    #[inline]
    pub fn observe(&mut self, event: &Event<'_>) {
        self.documents += 1;
        let is_event = event.did.is_some() && event.time_us.is_some() && event.kind.is_some();
        self.event_count += u64::from(is_event);
        let collection = event.collection.as_deref();
        let index = collection.map(|name| match self.events.get(name) {
            Some(&index) => index,
            None => self.new_event(name),
        });
        let tally = match index {
            Some(index) => &mut self.tallies[index],
            None => &mut self.without_event,
        };
        tally.documents += 1;
        if event.kind.as_deref() != Some(COMMIT) || event.operation.as_deref() != Some(CREATE) {
            return;
        }
        tally.created += 1;
        let hour = event.time_us.map_or(NO_HOUR, |time| time.div_euclid(HOUR_US).rem_euclid(24) as usize);
        tally.hours[hour] += 1;
        let user = self.users.user(event.did.as_deref());
        if collection == Some(POST) {
            self.posters.entry(user).or_insert(Times::NEVER).observe(event.time_us);
            self.observe_language(event.lang0.as_deref());
        } else if user != User::NOBODY {
            tally.users.insert(user);
        }
    }

    #[cold]
    fn new_event(&mut self, name: &str) -> usize {
        let index = self.tallies.len();
        self.events.insert(name.into(), index);
        self.names.push(name.into());
        self.tallies.push(EventTypeCounts::default());
        index
    }

    fn observe_language(&mut self, language: Option<&str>) {
        let Some(language) = language else {
            self.without_language += 1;
            return;
        };
        match self.languages.get_mut(language) {
            Some(count) => *count += 1,
            None => {
                self.languages.insert(language.into(), 1);
            }
        }
    }

    /// Returns the number of observed documents.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns the number of observed documents that are events, i.e. have `did`, `time_us` and `kind`.
    pub fn events(&self) -> u64 {
        self.event_count
    }

    /// Returns the answers over all documents observed so far, in the required row order.
    pub fn answers(&self) -> Answers {
        let mut rows = [self.q1(), self.q2(), self.q3(), self.q4(), self.q5(), self.q6()];
        for (question, rows) in Question::ALL.iter().zip(&mut rows) {
            question.sort(rows);
        }
        Answers { rows }
    }

    /// Iterates over all event types that occurred; that of documents without an event type is last.
    fn tallies(&self) -> impl Iterator<Item = (Option<&str>, &EventTypeCounts)> {
        let named = self.names.iter().map(|name| Some(&**name)).zip(&self.tallies);
        named.chain((self.without_event.documents > 0).then_some((None, &self.without_event)))
    }

    fn q1(&self) -> Vec<Row> {
        self.tallies()
            .map(|(event, tally)| vec![Value::text_or_null(event), Value::count(tally.documents)])
            .collect()
    }

    fn q2(&self) -> Vec<Row> {
        let created = self.tallies().filter(|(_, tally)| tally.created > 0);
        created
            .map(|(event, tally)| {
                let users = if event == Some(POST) {
                    self.posters.len() - usize::from(self.posters.contains_key(&User::NOBODY))
                } else {
                    tally.users.len()
                };
                vec![Value::text_or_null(event), Value::count(tally.created), Value::count(users as u64)]
            })
            .collect()
    }

    fn q3(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for (event, tally) in self.tallies() {
            if !matches!(event, Some(POST | REPOST | LIKE)) {
                continue;
            }
            for (hour, &count) in tally.hours.iter().enumerate().filter(|(_, count)| **count > 0) {
                let hour = if hour == NO_HOUR { Value::Null } else { Value::Int(hour as i64) };
                rows.push(vec![Value::text_or_null(event), hour, Value::count(count)]);
            }
        }
        rows
    }

    fn q4(&self) -> Vec<Row> {
        self.best_posters(|times| times.first(), |a, b| a.cmp(&b))
    }

    fn q5(&self) -> Vec<Row> {
        self.best_posters(|times| times.span(), |a, b| b.cmp(&a))
    }

    fn q6(&self) -> Vec<Row> {
        let named = self.languages.iter().map(|(language, &count)| (Some(&**language), count));
        let counts = named.chain((self.without_language > 0).then_some((None, self.without_language)));
        counts.map(|(language, count)| vec![Value::text_or_null(language), Value::count(count)]).collect()
    }

    /// Returns the first [`VETERANS`] posters ordered by `value`, then by their text; nulls last in both.
    fn best_posters(
        &self,
        value: impl Fn(Times) -> Option<i64>,
        order: impl Fn(i64, i64) -> Ordering,
    ) -> Vec<Row> {
        let mut best: Vec<(Option<i64>, User)> = Vec::with_capacity(VETERANS + 1);
        let compare = |a: &(Option<i64>, User), b: &(Option<i64>, User)| {
            let value_order = match (a.0, b.0) {
                (Some(a), Some(b)) => order(a, b),
                (a, b) => a.is_none().cmp(&b.is_none()),
            };
            value_order.then_with(|| match (self.users.text(a.1), self.users.text(b.1)) {
                (Some(a), Some(b)) => a.as_bytes().cmp(b.as_bytes()),
                (a, b) => a.is_none().cmp(&b.is_none()),
            })
        };
        for (&user, &times) in &self.posters {
            let candidate = (value(times), user);
            let index = best.iter().position(|other| compare(&candidate, other).is_lt());
            let index = index.unwrap_or(best.len());
            if index < VETERANS {
                best.insert(index, candidate);
                best.truncate(VETERANS);
            }
        }
        let cell = |value: Option<i64>| value.map_or(Value::Null, Value::Int);
        best.into_iter()
            .map(|(value, user)| vec![Value::text_or_null(self.users.text(user).as_deref()), cell(value)])
            .collect()
    }
}

/// Answers to all questions, with rows in the required order.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    rows: [Vec<Row>; Question::ALL.len()],
}

impl Answers {
    /// Returns the rows of the answer to a question.
    pub fn rows(&self, question: Question) -> &[Row] {
        &self.rows[question.index()]
    }

    /// Returns the digest of the rows of an answer; see [`rows_digest`].
    pub fn digest(&self, question: Question) -> String {
        rows_digest(self.rows(question))
    }
}

/// Serialized as a map from question names to rows.
impl Serialize for Answers {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Question::ALL.map(|question| (question.id(), self.rows(question))))
    }
}
