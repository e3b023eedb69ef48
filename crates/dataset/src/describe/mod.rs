//! Data profile: kinds of events, users, types and lengths in a data set, and its faulty lines.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::left_out::SkippedEntry;
use crate::questions::{COMMIT, CREATE};
use crate::reference::{User, Users};
use crate::scan::{Event, Scan, Scanner, Traits};
use crate::source::{Inputs, Place, Places, ReaderEvent, ReaderThread, Source};
use crate::stage::{Progress, Sampler};

mod paths;
mod suggest;

pub use suggest::{SuggestedQuestion, SuggestionKind, suggest_questions};

pub use paths::{JsonType, Lengths, PathProfile, Steps, TypeProfile};

use paths::{Collected, Paths};

/// Limits of the number of paths and names that a profile distinguishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribeOptions {
    /// Maximum number of JSON paths. Values on further paths are only counted. Default: 2,000.
    pub max_paths: usize,
    /// Maximum number each of kinds, operations (per collection) and collections. Further ones are counted
    /// together. Default: 1,000.
    pub max_names: usize,
}

impl Default for DescribeOptions {
    fn default() -> Self {
        DescribeOptions { max_paths: 2_000, max_names: 1_000 }
    }
}

/// Data profile of a source, as written to a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Version of this file format, currently 1.
    pub schema: u32,
    /// Display name of the source.
    pub source: String,
    /// Number of documents: lines that are JSON.
    pub documents: u64,
    /// Size of the documents in bytes, each with one newline.
    pub bytes: u64,
    /// Number of lines with white space only.
    pub blank_lines: u64,
    /// Lengths of the documents in bytes, without newlines. `None` if there is no document.
    pub lengths: Option<Lengths>,
    /// Lines that are not JSON or not UTF-8 and therefore not documents, by kind of fault.
    pub no_documents: BTreeMap<String, NoDocuments>,
    /// Entries of the source's folders and archives that were not read.
    pub left_out: Vec<SkippedEntry>,
    /// One sentence each on how the source's files were read: their forms, bulk files, Extended JSON. Empty for
    /// generated documents.
    #[serde(default)]
    pub input_notes: Vec<String>,
    /// Number of documents by trait name; a document with several traits counts several times.
    pub traits: BTreeMap<String, u64>,
    /// Earliest `time_us`: microseconds since 1970, UTC. `None` if no document has one.
    pub first_us: Option<i64>,
    /// Latest `time_us`: microseconds since 1970, UTC. `None` if no document has one.
    pub last_us: Option<i64>,
    /// Number of distinct `did` in documents that are JSON objects.
    pub users: u64,
    /// JSON objects by `kind`, the most frequent first.
    pub kinds: Vec<KindProfile>,
    /// JSON objects by `commit.collection`, the most frequent first.
    pub collections: Vec<CollectionProfile>,
    /// Values by JSON path, in bytewise order of the paths.
    pub paths: Vec<PathProfile>,
    /// Number of values on paths beyond [`DescribeOptions::max_paths`].
    pub values_left_out: u64,
    /// Number of documents that `paths` does not cover. They are no objects, nested too deep, or contain
    /// values that cannot be represented (too large numbers, halves of surrogate pairs).
    pub documents_left_out: u64,
}

/// Lines with the same kind of fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoDocuments {
    /// Number of lines with this fault.
    pub lines: u64,
    /// Input and line number of the first one, as text.
    pub first: String,
}

/// Value of [`Profile::schema`] in new profiles.
const SCHEMA: u32 = 1;
/// Name that stands for all names beyond the limit.
const OTHERS: &str = "(others)";

/// Events of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindProfile {
    /// Value of `kind`. `None` if it is absent or not a string.
    pub kind: Option<String>,
    /// Number of events of this kind.
    pub documents: u64,
}

/// Events of one collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionProfile {
    /// Value of `commit.collection`. `None` if it is absent or not a string.
    pub collection: Option<String>,
    /// Number of events of this collection.
    pub documents: u64,
    /// Number of events by `commit.operation`; events without an operation are not counted.
    pub operations: BTreeMap<String, u64>,
    /// Number of distinct `did` among the commits that create a record.
    pub users_of_creates: u64,
}

#[derive(Debug, Default)]
struct Collection {
    documents: u64,
    operations: BTreeMap<String, u64>,
    creators: HashSet<User, FixedState>,
}

/// Reads a source once and computes its profile.
///
/// Memory grows with the number of distinct users, and with paths and names up to the limits in `options`.
/// `progress` is called after every block of documents, and `cancelled` at least twenty times a second.
///
/// # Errors
///
/// If the source cannot be read to its end, and [`DataError::Cancelled`] if `cancelled` returned `true`.
/// Lines that are not JSON are counted and are no error.
pub fn describe(
    source: &Source,
    options: &DescribeOptions,
    progress: &mut dyn FnMut(Progress),
    cancelled: &dyn Fn() -> bool,
) -> Result<Profile, DataError> {
    let limits = SampleLimits { max_bytes: u64::MAX, max_time: Duration::MAX, max_documents: 0 };
    read(source, options, limits, progress, cancelled).map(|sampled| sampled.profile)
}

/// Limits after which sampling stops reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleLimits {
    /// Maximum size of all non-blank lines in bytes, checked after each block.
    pub max_bytes: u64,
    /// Maximum duration of reading, checked after each block.
    pub max_time: Duration,
    /// Maximum number of documents that are kept.
    pub max_documents: usize,
}

/// Profile and samples of the first documents of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleProfile {
    /// Profile of the documents that were read.
    pub profile: Profile,
    /// JSON objects spread evenly over the documents that were read, without newlines.
    pub documents: Vec<Vec<u8>>,
    /// Whether the source was read to its end before a limit was reached.
    pub is_whole: bool,
}

/// Reads a source up to some limits and computes the profile of that part.
///
/// # Errors
///
/// See [`describe`].
pub fn sample(
    source: &Source,
    limits: SampleLimits,
    cancelled: &dyn Fn() -> bool,
) -> Result<SampleProfile, DataError> {
    read(source, &DescribeOptions::default(), limits, &mut |_| {}, cancelled)
}

fn read(
    source: &Source,
    options: &DescribeOptions,
    limits: SampleLimits,
    progress: &mut dyn FnMut(Progress),
    cancelled: &dyn Fn() -> bool,
) -> Result<SampleProfile, DataError> {
    let start = Instant::now();
    let reading = ReaderThread::start(source.clone())?;
    let mut description = Description::new(options);
    let mut scanner = Scanner::new();
    let mut sampler = Sampler::new(limits.max_documents);
    let mut offered = 0;
    let (mut places, mut inputs_read) = (Places::default(), Inputs::default());
    let finish =
        |description: Description<'_>, sampler: Sampler, inputs: Inputs, blank_lines: u64, is_whole: bool| {
            let mut profile = description.finish();
            profile.source = source.to_string();
            profile.left_out = inputs.left_out();
            profile.input_notes = inputs.notes();
            profile.blank_lines = blank_lines;
            let documents = sampler.finish().into_iter().map(|sample| sample.line).collect();
            Ok(SampleProfile { profile, documents, is_whole })
        };
    loop {
        match reading.next(cancelled)? {
            ReaderEvent::Opened { inputs, .. } => {
                (places, inputs_read) = (Places::new(inputs.clone()), inputs);
            }
            ReaderEvent::Read { block, tally } => {
                let mut index = 0;
                block.scan(&mut scanner, |line, scan| {
                    let place = || places.place_of(&block, index);
                    description.observe(line, &scan, &place);
                    if !scan.traits.intersects(Traits::UNREADABLE) {
                        sampler.offer(offered, offered, line);
                        offered += 1;
                    }
                    index += 1;
                    Ok::<_, DataError>(())
                })?;
                progress(Progress {
                    documents: description.documents,
                    bytes: tally.bytes,
                    suspects: description.suspects,
                    done: tally.done,
                    total: tally.total,
                });
                reading.give_back(block.into());
                if tally.bytes >= limits.max_bytes || start.elapsed() >= limits.max_time {
                    return finish(description, sampler, inputs_read, tally.blank_lines, false);
                }
            }
            ReaderEvent::Ended { tally } => {
                return finish(description, sampler, inputs_read, tally.blank_lines, true);
            }
        }
    }
}

/// A profile under construction.
struct Description<'o> {
    options: &'o DescribeOptions,
    documents: u64,
    bytes: u64,
    suspects: u64,
    lengths: Collected,
    no_documents: BTreeMap<String, NoDocuments>,
    traits: BTreeMap<String, u64>,
    times: Option<(i64, i64)>,
    users: Users,
    distinct_users: HashSet<User, FixedState>,
    kinds: HashMap<Option<Box<str>>, u64, FixedState>,
    collections: HashMap<Option<Box<str>>, Collection, FixedState>,
    paths: Paths,
    documents_left_out: u64,
}

impl<'o> Description<'o> {
    fn new(options: &'o DescribeOptions) -> Self {
        Description {
            options,
            documents: 0,
            bytes: 0,
            suspects: 0,
            lengths: Collected::default(),
            no_documents: BTreeMap::new(),
            traits: BTreeMap::new(),
            times: None,
            users: Users::default(),
            distinct_users: HashSet::default(),
            kinds: HashMap::default(),
            collections: HashMap::default(),
            paths: Paths::new(options.max_paths),
            documents_left_out: 0,
        }
    }

    fn observe(&mut self, line: &[u8], scan: &Scan<'_>, place: &dyn Fn() -> Place) {
        if let Some(fault) = scan.fault {
            let first = || NoDocuments { lines: 0, first: place().to_string() };
            self.no_documents.entry(fault.reason.to_string()).or_insert_with(first).lines += 1;
            return;
        }
        self.documents += 1;
        self.bytes += line.len() as u64 + 1;
        self.lengths.add(line.len() as u64);
        self.suspects += u64::from(scan.traits.intersects(Traits::SUSPECT));
        for name in scan.traits.names() {
            *self.traits.entry(name.to_string()).or_default() += 1;
        }
        if !scan.traits.intersects(Traits::UNREADABLE) {
            self.observe_event(&scan.event);
        }
        let unprofiled = Traits::UNREADABLE | Traits::DEEP | Traits::LONE_SURROGATE | Traits::BIG_NUMBER;
        let is_profiled = !scan.traits.intersects(unprofiled)
            && std::str::from_utf8(line).is_ok_and(|line| self.paths.observe(line).is_ok());
        self.documents_left_out += u64::from(!is_profiled);
    }

    fn observe_event(&mut self, event: &Event<'_>) {
        if let Some(time) = event.time_us {
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
        }
        let user = self.users.user(event.did.as_deref());
        if user != User::NOBODY {
            self.distinct_users.insert(user);
        }
        *entry(&mut self.kinds, event.kind.as_deref(), self.options.max_names) += 1;
        let collection = entry(&mut self.collections, event.collection.as_deref(), self.options.max_names);
        collection.documents += 1;
        let Some(operation) = event.operation.as_deref() else {
            return;
        };
        match collection.operations.get_mut(operation) {
            Some(count) => *count += 1,
            None => {
                let is_full = collection.operations.len() >= self.options.max_names;
                *collection
                    .operations
                    .entry(if is_full { OTHERS } else { operation }.to_string())
                    .or_default() += 1;
            }
        }
        if event.kind.as_deref() == Some(COMMIT) && operation == CREATE && user != User::NOBODY {
            collection.creators.insert(user);
        }
    }

    fn finish(self) -> Profile {
        let mut kinds: Vec<_> = self.kinds.into_iter().collect();
        kinds.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let mut collections: Vec<_> = self.collections.into_iter().collect();
        collections.sort_unstable_by(|a, b| b.1.documents.cmp(&a.1.documents).then_with(|| a.0.cmp(&b.0)));
        Profile {
            schema: SCHEMA,
            source: String::new(),
            documents: self.documents,
            bytes: self.bytes,
            blank_lines: 0,
            lengths: self.lengths.lengths(),
            no_documents: self.no_documents,
            left_out: Vec::new(),
            input_notes: Vec::new(),
            traits: self.traits,
            first_us: self.times.map(|(first, _)| first),
            last_us: self.times.map(|(_, last)| last),
            users: self.distinct_users.len() as u64,
            kinds: kinds
                .into_iter()
                .map(|(kind, documents)| KindProfile { kind: kind.map(String::from), documents })
                .collect(),
            collections: collections
                .into_iter()
                .map(|(collection, counts)| CollectionProfile {
                    collection: collection.map(String::from),
                    documents: counts.documents,
                    operations: counts.operations,
                    users_of_creates: counts.creators.len() as u64,
                })
                .collect(),
            values_left_out: self.paths.left_out(),
            paths: self.paths.finish(),
            documents_left_out: self.documents_left_out,
        }
    }
}

/// Returns the entry of a name, or that of all further names if the map has `limit` entries.
fn entry<'m, T: Default>(
    map: &'m mut HashMap<Option<Box<str>>, T, FixedState>,
    name: Option<&str>,
    limit: usize,
) -> &'m mut T {
    let key = match name {
        Some(name) if map.len() >= limit && !map.contains_key(&Some(Box::from(name))) => Some(OTHERS),
        name => name,
    };
    map.entry(key.map(Box::from)).or_default()
}
