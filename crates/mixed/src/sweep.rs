//! Right answers over the base and any prefixes of the writers, without starting again for each.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use jsonathlon_dataset::questions::{LIKE, POST, Question, REPOST, VETERANS};
use jsonathlon_schema::value::{Row, Value};

use crate::documents::{Document, Documents};
use crate::pool::Pool;
use crate::posters::Posters;
use crate::prefixes::Prefixes;

const HOUR_US: i64 = 3_600_000_000;
/// The 24 hours of a day, and one slot for a null time.
const HOURS: usize = 25;
const NO_HOUR: usize = 24;

/// Error of moving a sweep to documents that it cannot know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SweepError {
    /// The base or the pool names a document that was never observed.
    #[error("document {index} of the base or pool is not among the {documents} documents that were observed")]
    UnknownDocument {
        /// Index of the document.
        index: usize,
        /// Number of observed documents.
        documents: usize,
    },
    /// More documents of a writer are asked for than the pool has for it.
    #[error("{prefix} documents of writer {writer} were asked for, but the pool has {documents} for it")]
    BeyondPool {
        /// Number of the writer.
        writer: usize,
        /// Number of documents that was asked for.
        prefix: u64,
        /// Number of documents that the writer has.
        documents: u64,
    },
}

/// Counts for one event type.
#[derive(Clone, Debug, Default)]
struct EventTypeCounts {
    documents: u64,
    created: u64,
    /// Distinct users of created records; null is not one of them.
    users: u64,
    hours: [u64; HOURS],
}

/// Number of documents that a sweep has added and taken back since its base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Number of documents added.
    pub pushes: u64,
    /// Number of documents taken back.
    pub pops: u64,
}

/// One state that holds the answers over base and prefixes, and moves from prefixes to prefixes by adding and
/// taking back single documents.
///
/// Answers are those of [`Reference`] over the same documents. What questions see while writers work is
/// almost always a chain: if they are visited in the order of their sums, all of them together cost little
/// more than adding the pool once.
///
/// [`Reference`]: jsonathlon_dataset::reference::Reference
#[derive(Debug)]
pub struct Sweep<'d> {
    documents: &'d Documents,
    pool: &'d Pool,
    base_documents: u64,
    prefixes: Prefixes,
    steps: Steps,
    /// Counts by the number of the event type; those of documents without one are last.
    event_types: Vec<EventTypeCounts>,
    /// Number of created records by event type and user, without posts, which `posters` counts.
    records: HashMap<(u32, u32), u32, FixedState>,
    posters: Posters,
    /// Created posts by the number of their first language; those without one are last.
    languages: Vec<u64>,
}

impl<'d> Sweep<'d> {
    /// Begins with what a system holds before the writers do. `base` are indexes of documents, without those
    /// that the system has rejected.
    ///
    /// # Errors
    /// If base or pool contain an index that is not among the documents.
    pub fn new(
        documents: &'d Documents,
        pool: &'d Pool,
        base: impl IntoIterator<Item = usize>,
    ) -> Result<Self, SweepError> {
        let known = |index| {
            let unknown = SweepError::UnknownDocument { index, documents: documents.len() };
            documents.get(index).ok_or(unknown)
        };
        for index in pool.indexes() {
            known(*index)?;
        }
        let mut sweep = Self {
            documents,
            pool,
            base_documents: 0,
            prefixes: Prefixes::none(pool.writers()),
            steps: Steps::default(),
            event_types: vec![EventTypeCounts::default(); documents.event_types.len() as usize + 1],
            records: HashMap::default(),
            posters: Posters::new(documents.users.len()),
            languages: vec![0; documents.languages.len() as usize + 1],
        };
        for index in base {
            sweep.push(known(index)?);
            sweep.base_documents += 1;
        }
        Ok(sweep)
    }

    /// Prefixes that the answers are over at present.
    #[must_use]
    pub fn prefixes(&self) -> &Prefixes {
        &self.prefixes
    }

    /// Number of documents of the base.
    #[must_use]
    pub fn base_documents(&self) -> u64 {
        self.base_documents
    }

    /// Number of steps from the base until now.
    #[must_use]
    pub fn steps(&self) -> Steps {
        self.steps
    }

    /// Moves the answers to other prefixes. A writer that `prefixes` does not mention has an empty one.
    ///
    /// # Errors
    /// If a prefix is longer than what the pool has for its writer. The answers then stay where they are.
    pub fn move_to(&mut self, prefixes: &Prefixes) -> Result<(), SweepError> {
        for (writer, &prefix) in prefixes.as_slice().iter().enumerate() {
            let documents = self.pool.documents_of(writer);
            if prefix > documents {
                return Err(SweepError::BeyondPool { writer, prefix, documents });
            }
        }
        for writer in 0..self.pool.writers() {
            let (mut prefix, target) = (self.prefixes.of(writer), prefixes.of(writer));
            while prefix < target {
                if let Some(document) = self.pool_document(writer, prefix) {
                    self.push(document);
                    self.steps.pushes += 1;
                }
                prefix += 1;
            }
            while prefix > target {
                prefix -= 1;
                if let Some(document) = self.pool_document(writer, prefix) {
                    self.pop(document);
                    self.steps.pops += 1;
                }
            }
            self.prefixes.set(writer, target);
        }
        Ok(())
    }

    fn pool_document(&self, writer: usize, number: u64) -> Option<&'d Document> {
        self.documents.get(self.pool.document(writer, number)?)
    }

    fn is_post(&self, document: &Document) -> bool {
        self.documents.post == Some(document.event_type)
    }

    #[inline]
    fn push(&mut self, document: &Document) {
        let is_post = self.is_post(document);
        let counts = &mut self.event_types[document.event_type as usize];
        counts.documents += 1;
        if !document.is_created {
            return;
        }
        counts.created += 1;
        counts.hours[hour(document)] += 1;
        let is_first = if is_post {
            self.languages[document.language as usize] += 1;
            self.posters.add(document.user, document.time_us())
        } else {
            let records = self.records.entry((document.event_type, document.user)).or_insert(0);
            *records += 1;
            *records == 1
        };
        let is_somebody = document.user < self.documents.users.len();
        counts.users += u64::from(is_first && is_somebody);
    }

    #[inline]
    fn pop(&mut self, document: &Document) {
        let is_post = self.is_post(document);
        let counts = &mut self.event_types[document.event_type as usize];
        counts.documents -= 1;
        if !document.is_created {
            return;
        }
        counts.created -= 1;
        counts.hours[hour(document)] -= 1;
        let was_last = if is_post {
            self.languages[document.language as usize] -= 1;
            self.posters.remove(document.user, document.time_us())
        } else {
            // Stays in the map with 0: the next prefixes probably contain the document again.
            let records = self.records.entry((document.event_type, document.user)).or_insert(1);
            *records -= 1;
            *records == 0
        };
        let is_somebody = document.user < self.documents.users.len();
        counts.users -= u64::from(was_last && is_somebody);
    }

    /// Right answer to a question over base and prefixes, in the order and the types of [`Answers`].
    ///
    /// [`Answers`]: jsonathlon_dataset::reference::Answers
    #[must_use]
    pub fn rows(&self, question: Question) -> Vec<Row> {
        let mut rows = match question {
            Question::Q1 => self.q1(),
            Question::Q2 => self.q2(),
            Question::Q3 => self.q3(),
            Question::Q4 => self.users(self.posters.earliest(VETERANS)),
            Question::Q5 => self.users(self.posters.longest_active(VETERANS)),
            Question::Q6 => self.q6(),
        };
        question.sort(&mut rows);
        rows
    }

    /// Names and counts of all event types, those without documents included.
    fn named_counts(&self) -> impl Iterator<Item = (Option<&'d str>, &EventTypeCounts)> {
        let names = &self.documents.event_types;
        (0_u32..).map(move |number| names.get(number)).zip(&self.event_types)
    }

    fn q1(&self) -> Vec<Row> {
        let present = self.named_counts().filter(|(_, counts)| counts.documents > 0);
        present
            .map(|(event, counts)| vec![Value::text_or_null(event), Value::count(counts.documents)])
            .collect()
    }

    fn q2(&self) -> Vec<Row> {
        let present = self.named_counts().filter(|(_, counts)| counts.created > 0);
        let row = |(event, counts): (Option<&str>, &EventTypeCounts)| {
            vec![Value::text_or_null(event), Value::count(counts.created), Value::count(counts.users)]
        };
        present.map(row).collect()
    }

    fn q3(&self) -> Vec<Row> {
        let counted = self.named_counts().filter(|(event, _)| matches!(*event, Some(POST | REPOST | LIKE)));
        let rows = counted.flat_map(|(event, counts)| {
            let hours = counts.hours.iter().enumerate().filter(|(_, count)| **count > 0);
            hours.map(move |(hour, &count)| {
                let hour = if hour == NO_HOUR { Value::Null } else { Value::Int(hour as i64) };
                vec![Value::text_or_null(event), hour, Value::count(count)]
            })
        });
        rows.collect()
    }

    fn users(&self, ranked: impl Iterator<Item = (u32, Value)>) -> Vec<Row> {
        ranked.map(|(user, value)| vec![Value::text_or_null(self.documents.users.get(user)), value]).collect()
    }

    fn q6(&self) -> Vec<Row> {
        let languages = (0_u32..).zip(&self.languages).filter(|(_, count)| **count > 0);
        languages
            .map(|(number, &count)| {
                vec![Value::text_or_null(self.documents.languages.get(number)), Value::count(count)]
            })
            .collect()
    }
}

/// Hour of the day in UTC of a document's time, or [`NO_HOUR`].
fn hour(document: &Document) -> usize {
    document.time_us().map_or(NO_HOUR, |time| time.div_euclid(HOUR_US).rem_euclid(24) as usize)
}
