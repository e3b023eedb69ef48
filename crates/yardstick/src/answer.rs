//! Answers to the six questions, as loops over columns.

use std::cmp::Ordering;
use std::ops::Range;

use jsonathlon_dataset::questions::{COMMIT, CREATE, LIKE, POST, Question, REPOST, VETERANS};
use jsonathlon_schema::value::{Row, Value};

use super::columns::{Table, WORD};
use super::dictionary::Dictionary;
use super::scan::{HourCounts, count_index, count_mixed, count_new, count_runs, run_length};
use super::threads::Threads;
use super::top_users::TopUsers;

/// Bytes of a code; [`TIME`] has those of a time.
const CODE: u64 = 4;
const TIME: u64 = 8;

impl Table {
    /// Answers a question; the rows have the order that the question states.
    #[must_use]
    pub fn answer(&self, question: Question, threads: &Threads) -> Vec<Row> {
        match question {
            Question::Q1 => self.q1(threads),
            Question::Q2 => self.q2(threads),
            Question::Q3 => self.q3(threads),
            Question::Q4 => {
                let posts = self.created_of(POST);
                let parts = threads.map(posts.clone(), |rows| self.earliest_users(&posts, rows));
                self.veterans(&posts, TopUsers::merged(parts), |first| first)
            }
            Question::Q5 => {
                let posts = self.created_of(POST);
                let parts = threads.map(posts.clone(), |rows| self.longest_active_users(&posts, rows));
                self.veterans(&posts, TopUsers::merged(parts), |negative| -negative)
            }
            Question::Q6 => self.q6(threads),
        }
    }

    /// Number of rows that a question reads, and the number of bytes of the values read in them.
    #[must_use]
    pub fn scanned_data(&self, question: Question) -> (usize, u64) {
        let (rows, bytes) = match question {
            Question::Q1 => (self.rows(), CODE),
            Question::Q2 => (self.created().len(), CODE + CODE),
            Question::Q3 => (self.asked_by_hour().map(|(_, rows)| rows.len()).iter().sum(), TIME),
            Question::Q4 => (self.created_of(POST).len(), TIME),
            Question::Q5 => (self.created_of(POST).len(), CODE + TIME),
            Question::Q6 => (self.created_of(POST).len(), CODE),
        };
        (rows, rows as u64 * bytes)
    }

    /// Describes how a question is answered: rows, columns, bytes and threads.
    #[must_use]
    pub fn plan(&self, question: Question, threads: &Threads) -> String {
        let (row_range, columns) = match question {
            Question::Q1 => ("all rows", "collection"),
            Question::Q2 => ("created records, a sorted range", "collection, user"),
            Question::Q3 => ("created posts, reposts and likes, sorted ranges", "time"),
            Question::Q4 => ("created posts, a sorted range", "time, and user where the time is early"),
            Question::Q5 => ("created posts, a sorted range", "user, time"),
            Question::Q6 => ("created posts, a sorted range", "language"),
        };
        let (rows, bytes) = self.scanned_data(question);
        let threads = threads.count();
        format!("columnar scan of {rows} rows ({row_range}): {columns}; {bytes} bytes; threads: {threads}")
    }

    /// Range of the rows that are commits which create a record.
    fn created(&self) -> Range<usize> {
        let all_rows = 0..self.rows();
        let commits = range_of(&self.kind, &all_rows, &self.texts.kinds, COMMIT);
        range_of(&self.operation, &commits, &self.texts.operations, CREATE)
    }

    /// Range of the rows that create a record of the given collection.
    fn created_of(&self, collection: &str) -> Range<usize> {
        range_of(&self.collection, &self.created(), &self.texts.collections, collection)
    }

    fn asked_by_hour(&self) -> [(&'static str, Range<usize>); 3] {
        [POST, REPOST, LIKE].map(|collection| (collection, self.created_of(collection)))
    }

    fn q1(&self, threads: &Threads) -> Vec<Row> {
        let distinct = self.texts.collections.len();
        let parts = threads.map(0..self.rows(), |rows| count_runs(&self.collection[rows], distinct));
        by_count(&self.texts.collections, sums(parts))
    }

    fn q2(&self, threads: &Threads) -> Vec<Row> {
        let created = self.created();
        let parts = threads.map(created.clone(), |rows| self.events_with_users(&created, rows));
        let mut events: Vec<(u32, u64, u64)> = Vec::new();
        for (event, count, users) in parts.into_iter().flatten() {
            match events.last_mut() {
                Some(last) if last.0 == event => (last.1, last.2) = (last.1 + count, last.2 + users),
                _ => events.push((event, count, users)),
            }
        }
        let text = |event: u32| self.texts.collections.text(event);
        events.sort_by(|left, right| {
            right.1.cmp(&left.1).then_with(|| nulls_last(text(left.0), text(right.0)))
        });
        let row = |(event, count, users)| {
            vec![Value::text_or_null(text(event)), Value::count(count), Value::count(users)]
        };
        events.into_iter().map(row).collect()
    }

    /// Event types of a chunk, each with its number of rows and of users that have no earlier row of that
    /// type.
    fn events_with_users(&self, all: &Range<usize>, rows: Range<usize>) -> Vec<(u32, u64, u64)> {
        let mut events = Vec::new();
        let mut start = rows.start;
        while start < rows.end {
            let event = self.collection[start];
            let end = start + run_length(&self.collection[start..rows.end], event);
            let continues_run = start > all.start && self.collection[start - 1] == event;
            let before = continues_run.then(|| self.user[start - 1]);
            events.push((event, (end - start) as u64, count_new(before, &self.user[start..end])));
            start = end;
        }
        events
    }

    fn q3(&self, threads: &Threads) -> Vec<Row> {
        let mut answer: Vec<(Option<usize>, &str, u64)> = Vec::new();
        for (collection, rows) in self.asked_by_hour() {
            let parts = threads.map(rows, |rows| self.hours(rows));
            let mut hours = [0; 24];
            let mut without_time = 0;
            for (counts, untimed) in parts {
                hours.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
                without_time += untimed;
            }
            let timed = hours.into_iter().enumerate().map(|(hour, count)| (Some(hour), collection, count));
            answer.extend(timed.chain([(None, collection, without_time)]).filter(|(.., count)| *count > 0));
        }
        answer.sort_by(|a, b| nulls_last(a.0, b.0).then_with(|| a.1.cmp(b.1)));
        let row = |(hour, event, count): (Option<usize>, &str, u64)| {
            let hour = hour.map_or(Value::Null, |hour| Value::Int(hour as i64));
            vec![Value::Text(event.to_owned()), hour, Value::count(count)]
        };
        answer.into_iter().map(row).collect()
    }

    /// Number of rows per hour of the day (UTC), and of rows without a time.
    fn hours(&self, rows: Range<usize>) -> ([u64; 24], u64) {
        let mut hours = HourCounts::new();
        let mut untimed = 0;
        let mut start = rows.start;
        while start < rows.end {
            // Up to the end of the word of null bits, which is nearly always zero.
            let end = rows.end.min((start / WORD + 1) * WORD);
            if self.untimed[start / WORD] == 0 {
                hours.count(&self.time[start..end]);
            } else {
                for row in start..end {
                    if self.is_untimed(row) {
                        untimed += 1;
                    } else {
                        hours.count(&self.time[row..=row]);
                    }
                }
            }
            start = end;
        }
        (hours.counts(), untimed)
    }

    /// Converts the best users to rows, and fills up with users who have no time.
    fn veterans(&self, posts: &Range<usize>, top_users: Vec<(i64, u32)>, value: fn(i64) -> i64) -> Vec<Row> {
        let text = |user| Value::text_or_null(self.texts.users.text(user));
        let mut rows: Vec<Row> =
            top_users.iter().map(|&(negated, user)| vec![text(user), Value::Int(value(negated))]).collect();
        if rows.len() < VETERANS {
            let missing = VETERANS - rows.len();
            let untimed_users = self.users_without_times(posts);
            rows.extend(untimed_users.into_iter().take(missing).map(|user| vec![text(user), Value::Null]));
        }
        rows
    }

    fn q6(&self, threads: &Threads) -> Vec<Row> {
        let distinct = self.texts.languages.len();
        let posts = self.created_of(POST);
        let parts = threads.map(posts, |rows| count_mixed(&self.language[rows], distinct));
        by_count(&self.texts.languages, sums(parts))
    }
}

/// Range of the rows in `within` whose code is that of `text`; `codes` must be sorted there.
fn range_of(codes: &[u32], within: &Range<usize>, texts: &Dictionary, text: &str) -> Range<usize> {
    let Some(code) = texts.find(text) else { return within.start..within.start };
    let codes = &codes[within.clone()];
    let start = codes.partition_point(|other| *other < code);
    let length = codes[start..].partition_point(|other| *other == code);
    within.start + start..within.start + start + length
}

fn sums(parts: Vec<Vec<u64>>) -> Vec<u64> {
    let mut parts = parts.into_iter();
    let mut sums = parts.next().unwrap_or_default();
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, count)| *sum += count);
    }
    sums
}

/// Texts with their counts in descending order, equal counts by text; texts without rows are left out.
fn by_count(texts: &Dictionary, counts: Vec<u64>) -> Vec<Row> {
    let codes = std::iter::once(None).chain((0..texts.len() as u32).map(Some));
    let mut rows: Vec<(Option<&str>, u64)> = codes
        .map(|code| (code.and_then(|code| texts.text(code)), code.map_or(0, count_index)))
        .map(|(text, index)| (text, counts[index]))
        .filter(|(_, count)| *count > 0)
        .collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| nulls_last(a.0, b.0)));
    rows.into_iter().map(|(text, count)| vec![Value::text_or_null(text), Value::count(count)]).collect()
}

fn nulls_last<T: Ord>(a: Option<T>, b: Option<T>) -> Ordering {
    a.is_none().cmp(&b.is_none()).then_with(|| a.cmp(&b))
}
