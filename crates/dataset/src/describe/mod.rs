//! Data profile: sizes, depths, paths, keys and faulty lines of a data set, and what systems may change in it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::scan::{Scan, Scanner, Traits};
use crate::skipped_entries::SkippedEntry;
use crate::source::{Inputs, Place, Places, ReaderEvent, ReaderThread, Source};
use crate::stage::{Progress, Sampler};

mod distribution;
mod events;
mod hazards;
mod key_candidates;
pub mod key_proposal;
mod options;
mod paths;
mod staged_proposals;
mod suggest;
mod tokens;

pub use distribution::Distribution;
pub use events::{CollectionProfile, EventProfile, KindProfile};
pub use hazards::{Hazard, HazardFinding};
pub use key_proposal::{KeyCandidate, KeyFault, KeyProposal, RejectedKey, ScalarType, UpdateProposal};
pub use options::DescribeOptions;
pub use staged_proposals::{NamedPaths, Proposals, propose_for_staged};
pub use suggest::{SuggestedQuestion, WrittenZone, suggest_questions};

pub use paths::{JsonType, Lengths, PathProfile, Steps, TypeProfile};

use distribution::{DistributionTally, Outline};
use events::EventTally;
use hazards::HazardTally;
use key_candidates::KeyCandidates;
use key_proposal::{Excluded, propose_key, propose_update};
use paths::Paths;
use tokens::Tokens;

/// Data profile of a source, as written to a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Version of this file format, currently 2.
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
    pub lengths: Option<Distribution>,
    /// Depths of the documents: nested arrays and objects, 1 for an object without any. `None` if there is no
    /// document.
    pub depths: Option<Distribution>,
    /// Numbers of members of all objects in a document. `None` if there is no document.
    pub keys: Option<Distribution>,
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
    /// What systems may change or refuse, in order of [`Hazard`].
    pub hazards: Vec<HazardFinding>,
    /// Proposed key. `None` if there is no document.
    pub key: Option<KeyProposal>,
    /// Proposed path for updates. `None` if no path is fit.
    pub update: Option<UpdateProposal>,
    /// Paths that can be the key, the preferred one first.
    pub key_candidates: Vec<KeyCandidate>,
    /// Number of paths that could be the key in the first 1,000 documents and were not observed further,
    /// because [`DescribeOptions::max_keys`] others are preferred.
    pub further_key_candidates: u64,
    /// Paths that are named like a key and cannot be it; at most 8.
    pub rejected_keys: Vec<RejectedKey>,
    /// Kinds, collections and users. `None`, and left out of the file, if fewer than half of the documents are
    /// Bluesky events with `did`, `time_us` and `kind`.
    #[serde(flatten)]
    pub events: Option<EventProfile>,
    /// Number of different paths without that of the document itself. There are more if `values_left_out` or
    /// `documents_left_out` is not zero.
    pub distinct_paths: u64,
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
const SCHEMA: u32 = 2;
/// Reads a source once and computes its profile.
///
/// Memory grows with the number of distinct users of events, and up to the limits in `options` with paths,
/// names and values of candidates for the key.
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
        |description: Description, sampler: Sampler, inputs: Inputs, blank_lines: u64, is_whole: bool| {
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
struct Description {
    documents: u64,
    bytes: u64,
    suspects: u64,
    lengths: DistributionTally,
    depths: DistributionTally,
    keys: DistributionTally,
    no_documents: BTreeMap<String, NoDocuments>,
    traits: BTreeMap<String, u64>,
    hazards: HazardTally,
    key_candidates: KeyCandidates,
    events: EventTally,
    paths: Paths,
    documents_left_out: u64,
}

impl Description {
    fn new(options: &DescribeOptions) -> Self {
        Description {
            documents: 0,
            bytes: 0,
            suspects: 0,
            lengths: DistributionTally::new(),
            depths: DistributionTally::new(),
            keys: DistributionTally::new(),
            no_documents: BTreeMap::new(),
            traits: BTreeMap::new(),
            hazards: HazardTally::default(),
            key_candidates: KeyCandidates::new(options.max_keys, options.max_key_hashes),
            events: EventTally::new(options.max_names),
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
        self.observe_tokens(line, scan.traits, place);
        if !scan.traits.intersects(Traits::UNREADABLE) {
            self.events.observe(&scan.event);
        }
        self.documents_left_out += u64::from(!self.paths.observe_document(line, scan.traits));
    }

    fn observe_tokens(&mut self, line: &[u8], traits: Traits, place: &dyn Fn() -> Place) {
        let mut outline = Outline::default();
        self.hazards.start(traits, line.len(), place);
        self.key_candidates.start(line);
        for token in Tokens::new(line) {
            outline.token(&token);
            self.hazards.token(&token, place);
            self.key_candidates.token(&token);
        }
        self.key_candidates.end(Some(place));
        self.depths.add(outline.depth);
        self.keys.add(outline.keys);
    }

    fn finish(self) -> Profile {
        let paths = self.paths.finish();
        let found_keys = self.key_candidates.finish();
        let key = (self.documents > 0).then(|| propose_key(&found_keys.candidates));
        let update = key.as_ref().and_then(|key| {
            let excluded = Excluded { key: key.pointer.as_deref(), large: &self.paths.with_large_integers() };
            propose_update(&paths, self.documents, &excluded)
        });
        Profile {
            schema: SCHEMA,
            source: String::new(),
            documents: self.documents,
            bytes: self.bytes,
            blank_lines: 0,
            lengths: self.lengths.finish(),
            depths: self.depths.finish(),
            keys: self.keys.finish(),
            no_documents: self.no_documents,
            left_out: Vec::new(),
            input_notes: Vec::new(),
            traits: self.traits,
            hazards: self.hazards.finish(),
            key,
            update,
            key_candidates: found_keys.candidates,
            further_key_candidates: found_keys.further,
            rejected_keys: found_keys.rejected,
            events: self.events.finish(self.documents),
            // The document itself has a path, too.
            distinct_paths: paths.len() as u64 - 1,
            paths,
            values_left_out: self.paths.left_out(),
            documents_left_out: self.documents_left_out,
        }
    }
}
