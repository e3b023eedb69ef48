//! Published results of JSONBench at two dates, as they were published.
//!
//! They come from another machine and another method (`docs/published.md`). They are embedded to be read next
//! to a run's results, and are never ranked with them.

use serde::Serialize;

use crate::ResultsError;
use crate::challenge::score::{QUESTIONS, ScoreInput, Suspects, Times, hot_time};
use crate::tsv::{Line, lines};

/// Machine of all published results that are embedded.
pub const MACHINE: &str = "m6i.8xlarge (32 vCPU, 128 GB memory)";

const SNAPSHOTS: [(&str, &str); 2] = [
    ("2025-02", include_str!("../../published/2025-02.tsv")),
    ("2025-11", include_str!("../../published/2025-11.tsv")),
];
const SUSPECTED: &str = include_str!("../../published/suspected.tsv");
const COLUMNS: [&str; 12] = [
    "source",
    "system",
    "version",
    "date",
    "retains_structure",
    "tags",
    "scale",
    "loaded",
    "total_bytes",
    "data_bytes",
    "index_bytes",
    "seconds",
];
const SUSPECTED_COLUMNS: [&str; 4] = ["snapshot", "source", "field", "reason"];

/// One published result: a system in one configuration at one scale.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PublishedResult {
    /// Month of the snapshot that contains the result, `YYYY-MM`.
    pub snapshot: String,
    /// Name of the system, as published.
    pub system: String,
    /// Version of the system, as published.
    pub version: String,
    /// Day of the measurement, `YYYY-MM-DD`. `None` if the snapshot does not contain it.
    pub date: Option<String>,
    /// Machine of the measurement, always [`MACHINE`].
    pub machine: &'static str,
    /// Whether documents are returned unchanged, as published. `None` if the snapshot does not contain it.
    pub retains_structure: Option<bool>,
    /// Keywords that distinguish configurations of a system, taken from their file names.
    pub tags: Vec<String>,
    /// Number of documents offered.
    pub scale: u64,
    /// Number of documents loaded.
    pub loaded_documents: u64,
    /// Total size in bytes. `None` if not published.
    pub total_bytes: Option<u64>,
    /// Size of the data in bytes. `None` if not published.
    pub data_bytes: Option<u64>,
    /// Size of the indexes in bytes. `None` if not published.
    pub index_bytes: Option<u64>,
    /// Seconds of the first run of each question.
    pub cold: Times,
    /// Seconds of the better of the second and third run of each question.
    pub hot: Times,
    /// File of the benchmark's repository that contains the result.
    pub source: String,
    /// Values that are probably errors. The values themselves are unchanged.
    pub suspected_errors: Vec<SuspectedError>,
}

/// Published value that is probably an error, as this project concluded; the publisher has not confirmed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SuspectedError {
    /// Name of the field of [`PublishedResult`], or `seconds` for all times.
    pub field: String,
    /// What is conspicuous, and what probably happened.
    pub reason: String,
}

impl PublishedResult {
    /// Times and size from which the score is computed.
    #[must_use]
    pub fn score_input(&self) -> ScoreInput {
        let is_suspected = |field: &str| self.suspected_errors.iter().any(|error| error.field == field);
        let suspected = Suspects { times: is_suspected("seconds"), size: is_suspected("total_bytes") };
        ScoreInput { cold: self.cold, hot: self.hot, total_bytes: self.total_bytes, suspected }
    }
}

/// All published results in the order of their files, older snapshots first.
///
/// # Errors
/// [`ResultsError::Corrupt`] if the embedded data is invalid; a test ensures that it is valid.
pub fn published_results() -> Result<Vec<PublishedResult>, ResultsError> {
    let mut results = Vec::new();
    for (snapshot, text) in SNAPSHOTS {
        for line in lines(snapshot, text, &COLUMNS)? {
            results.push(parse_line(&line, snapshot)?);
        }
    }
    for line in lines("suspected", SUSPECTED, &SUSPECTED_COLUMNS)? {
        let [snapshot, source, field, reason] = line.fields()?;
        let mut matches = 0;
        let is_meant = |result: &&mut PublishedResult| result.snapshot == snapshot && result.source == source;
        for result in results.iter_mut().filter(is_meant) {
            result
                .suspected_errors
                .push(SuspectedError { field: field.to_owned(), reason: reason.to_owned() });
            matches += 1;
        }
        if matches != 1 {
            return Err(line.corrupt(format!("{matches} results are of {source} in {snapshot}")));
        }
    }
    Ok(results)
}

/// Months of the embedded snapshots as `YYYY-MM`, oldest first.
pub fn snapshots() -> impl DoubleEndedIterator<Item = &'static str> {
    SNAPSHOTS.iter().map(|(snapshot, _)| *snapshot)
}

/// Parses one line of a snapshot.
fn parse_line(line: &Line<'_>, snapshot: &str) -> Result<PublishedResult, ResultsError> {
    let [source, system, version, date, retains, tags, scale, loaded, total, data, index, seconds] =
        line.fields()?;
    let retains_structure = match retains {
        "yes" => Some(true),
        "no" => Some(false),
        "" => None,
        value => return Err(line.corrupt(format!("retains_structure is {value}"))),
    };
    let runs: Vec<Vec<Option<f64>>> =
        serde_json::from_str(seconds).map_err(|error| line.corrupt(format!("seconds: {error}")))?;
    let runs: [Vec<Option<f64>>; QUESTIONS] =
        runs.try_into().map_err(|_| line.corrupt(format!("seconds are not of {QUESTIONS} questions")))?;
    Ok(PublishedResult {
        snapshot: snapshot.to_owned(),
        system: system.to_owned(),
        version: version.to_owned(),
        date: (!date.is_empty()).then(|| date.to_owned()),
        machine: MACHINE,
        retains_structure,
        tags: tags.split(',').filter(|tag| !tag.is_empty()).map(str::to_owned).collect(),
        scale: line.number(scale)?.unwrap_or(0),
        loaded_documents: line.number(loaded)?.unwrap_or(0),
        total_bytes: line.number(total)?,
        data_bytes: line.number(data)?,
        index_bytes: line.number(index)?,
        cold: runs.each_ref().map(|times| times.first().copied().flatten()),
        hot: runs.each_ref().map(|times| hot_time(times)),
        source: source.to_owned(),
        suspected_errors: Vec::new(),
    })
}
