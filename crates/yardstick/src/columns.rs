//! The table: one array per path, with rows in the order of the engines' keys.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use rayon::slice::ParallelSliceMut;

use super::dictionary::Dictionary;
use super::extract::extract;
use super::threads::Threads;
use crate::error::{Result, YardstickError};

/// Bits per word of [`Table::untimed`].
pub(super) const WORD: usize = 64;

/// Columns in memory. Rows are ordered by kind, operation, collection, user and time, each by its code, nulls
/// last.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub(super) kind: Vec<u32>,
    pub(super) operation: Vec<u32>,
    pub(super) collection: Vec<u32>,
    pub(super) user: Vec<u32>,
    /// Microseconds since the Unix epoch; `i64::MAX` if null, but also a valid time: see `untimed`.
    pub(super) time: Vec<i64>,
    /// One bit per row, set if the time is null.
    pub(super) untimed: Vec<u64>,
    pub(super) language: Vec<u32>,
    pub(super) texts: Dictionaries,
}

/// Dictionaries of the text columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Dictionaries {
    pub(super) kinds: Dictionary,
    pub(super) operations: Dictionary,
    pub(super) collections: Dictionary,
    pub(super) users: Dictionary,
    pub(super) languages: Dictionary,
}

impl Table {
    /// Number of documents in the table.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.time.len()
    }

    /// Returns `true` if the time of a row is null.
    pub(super) fn is_untimed(&self, row: usize) -> bool {
        self.untimed[row / WORD] >> (row % WORD) & 1 == 1
    }
}

/// A row before it is sorted; the order of the fields is the sort order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UnsortedRow {
    /// Number of the group in the upper 32 bits, code of the user in the lower 32.
    group_and_user: u64,
    untimed: bool,
    time: i64,
    language: u32,
}

/// Collects documents and builds a [`Table`] from them.
#[derive(Debug, Default)]
pub struct TableBuilder {
    texts: Dictionaries,
    rows: Vec<UnsortedRow>,
    /// Numbers of the groups of kind, operation and collection, in order of appearance. Sorting compares one
    /// number instead of three codes.
    group_numbers: HashMap<[u32; 3], u32, FixedState>,
    groups: Vec<[u32; 3]>,
    /// Group of the last row, which the next row often shares.
    last: Option<([u32; 3], u32)>,
}

impl TableBuilder {
    /// Makes a builder with the rows of `table`, to which documents can be added.
    ///
    /// # Errors
    /// [`YardstickError::TooMany`] if the table has more groups than codes can number.
    pub fn extending(table: &Table) -> Result<Self> {
        let mut builder = Self { texts: table.texts.clone(), ..Self::default() };
        builder.rows.reserve(table.rows());
        for row in 0..table.rows() {
            let group = builder.group([table.kind[row], table.operation[row], table.collection[row]])?;
            builder.rows.push(UnsortedRow {
                group_and_user: joined(group, table.user[row]),
                untimed: table.is_untimed(row),
                time: table.time[row],
                language: table.language[row],
            });
        }
        Ok(builder)
    }

    /// Adds one document; the inner error says why it is rejected.
    ///
    /// # Errors
    /// [`YardstickError::TooMany`] if there are more distinct texts than codes can number.
    pub fn push(&mut self, document: &[u8]) -> Result<std::result::Result<(), String>> {
        let event = match extract(document) {
            Ok(event) => event,
            Err(reason) => return Ok(Err(reason)),
        };
        let group = [
            self.texts.kinds.code(event.kind.as_deref())?,
            self.texts.operations.code(event.operation.as_deref())?,
            self.texts.collections.code(event.collection.as_deref())?,
        ];
        let group = self.group(group)?;
        let user = self.texts.users.code(event.user.as_deref())?;
        self.rows.push(UnsortedRow {
            group_and_user: joined(group, user),
            untimed: event.time.is_none(),
            time: event.time.unwrap_or(i64::MAX),
            language: self.texts.languages.code(event.language.as_deref())?,
        });
        Ok(Ok(()))
    }

    #[inline]
    fn group(&mut self, codes: [u32; 3]) -> Result<u32> {
        if let Some((last, number)) = self.last
            && last == codes
        {
            return Ok(number);
        }
        let number = match self.group_numbers.get(&codes) {
            Some(&number) => number,
            None => {
                let number = u32::try_from(self.groups.len()).map_err(|_| {
                    YardstickError::TooMany("more than 4 294 967 295 kinds of events".to_owned())
                })?;
                self.group_numbers.insert(codes, number);
                self.groups.push(codes);
                number
            }
        };
        self.last = Some((codes, number));
        Ok(number)
    }

    /// Sorts the rows and converts them to columns.
    #[must_use]
    pub fn finish(mut self, threads: &Threads) -> Table {
        let mut order: Vec<u32> = (0..self.groups.len() as u32).collect();
        order.sort_unstable_by_key(|&number| self.groups[number as usize]);
        let mut ranks = vec![0_u32; order.len()];
        for (rank, &number) in order.iter().enumerate() {
            ranks[number as usize] = rank as u32;
        }
        for row in &mut self.rows {
            let (number, user) = split(row.group_and_user);
            row.group_and_user = joined(ranks[number as usize], user);
        }
        match threads.pool() {
            None => self.rows.sort_unstable(),
            Some(pool) => pool.install(|| self.rows.par_sort_unstable()),
        }
        let groups: Vec<[u32; 3]> = order.iter().map(|&number| self.groups[number as usize]).collect();
        let rows = &self.rows;
        let group_column = |index: usize| {
            rows.iter().map(|row| groups[split(row.group_and_user).0 as usize][index]).collect()
        };
        let word = |rows: &[UnsortedRow]| {
            rows.iter().enumerate().fold(0, |word, (bit, row)| word | u64::from(row.untimed) << bit)
        };
        Table {
            kind: group_column(0),
            operation: group_column(1),
            collection: group_column(2),
            user: rows.iter().map(|row| split(row.group_and_user).1).collect(),
            time: rows.iter().map(|row| row.time).collect(),
            untimed: rows.chunks(WORD).map(word).collect(),
            language: rows.iter().map(|row| row.language).collect(),
            texts: self.texts,
        }
    }
}

fn joined(group: u32, user: u32) -> u64 {
    u64::from(group) << 32 | u64::from(user)
}

fn split(group_and_user: u64) -> (u32, u32) {
    ((group_and_user >> 32) as u32, group_and_user as u32)
}
