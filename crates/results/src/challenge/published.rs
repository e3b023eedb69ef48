//! What others have published: the results of the public benchmark JSONBench at two dates, as they stood.
//!
//! The figures are from another machine and were made by another method (`docs/published.md`). They are
//! kept to be read beside a run's own, never to be ranked with them.

use serde::Serialize;

use crate::ResultsError;
use crate::challenge::score::{Entrant, QUESTIONS, Suspects, Times, hot};
use crate::tsv::{Line, lines};

/// The machine of all published results that are kept here.
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
pub struct Published {
    /// Month in which the results stood so, `YYYY-MM`.
    pub snapshot: String,
    /// System.
    pub system: String,
    /// Version.
    pub version: String,
    /// Day of the measurement, `YYYY-MM-DD`, as published; none where that was not kept.
    pub date: Option<String>,
    /// The machine, see [`MACHINE`].
    pub machine: &'static str,
    /// Whether documents are said to come back as they were; none where that was not kept.
    pub retains_structure: Option<bool>,
    /// What tells configurations of a system apart, from the names of their files.
    pub tags: Vec<String>,
    /// Documents offered.
    pub scale: u64,
    /// Documents loaded.
    pub loaded: u64,
    /// Bytes in all.
    pub total_bytes: Option<u64>,
    /// Bytes of data.
    pub data_bytes: Option<u64>,
    /// Bytes of indexes.
    pub index_bytes: Option<u64>,
    /// Seconds of the first run of each question.
    pub cold: Times,
    /// Seconds of the better of the second and third run.
    pub hot: Times,
    /// The file in the repository from which it is.
    pub source: String,
    /// Figures that are likely to be errors. The figures themselves are left as they were published.
    pub suspected: Vec<Suspected>,
}

/// A figure that is likely to be an error: this project's inference, confirmed by nobody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suspected {
    /// Field of [`Published`], or `seconds` for all times.
    pub field: String,
    /// What is odd about it, and what probably happened.
    pub reason: String,
}

impl Published {
    /// What its score is made of.
    #[must_use]
    pub fn entrant(&self) -> Entrant {
        let is_suspected = |field: &str| self.suspected.iter().any(|one| one.field == field);
        let suspected = Suspects { times: is_suspected("seconds"), size: is_suspected("total_bytes") };
        Entrant { cold: self.cold, hot: self.hot, total_bytes: self.total_bytes, suspected }
    }
}

/// All published results, in the order of their files, older snapshots first.
///
/// # Errors
/// When the data that is part of the program cannot be understood, which a test excludes.
pub fn published() -> Result<Vec<Published>, ResultsError> {
    let mut all = Vec::new();
    for (snapshot, text) in SNAPSHOTS {
        for line in lines(snapshot, text, &COLUMNS)? {
            all.push(of_line(&line, snapshot)?);
        }
    }
    for line in lines("suspected", SUSPECTED, &SUSPECTED_COLUMNS)? {
        let [snapshot, source, field, reason] = line.fields()?;
        let mut concerned = 0;
        for one in all.iter_mut().filter(|one| one.snapshot == snapshot && one.source == source) {
            one.suspected.push(Suspected { field: field.to_owned(), reason: reason.to_owned() });
            concerned += 1;
        }
        if concerned != 1 {
            return Err(line.corrupt(format!("{concerned} results are of {source} in {snapshot}")));
        }
    }
    Ok(all)
}

/// The months of which results are kept, the newest last.
pub fn snapshots() -> impl DoubleEndedIterator<Item = &'static str> {
    SNAPSHOTS.iter().map(|(snapshot, _)| *snapshot)
}

/// The result of a line of a snapshot.
fn of_line(line: &Line<'_>, snapshot: &str) -> Result<Published, ResultsError> {
    let [source, system, version, date, retains, tags, scale, loaded, total, data, index, seconds] =
        line.fields()?;
    let retains_structure = match retains {
        "yes" => Some(true),
        "no" => Some(false),
        "" => None,
        other => return Err(line.corrupt(format!("retains_structure is {other}"))),
    };
    let runs: Vec<Vec<Option<f64>>> =
        serde_json::from_str(seconds).map_err(|error| line.corrupt(format!("seconds: {error}")))?;
    let runs: [Vec<Option<f64>>; QUESTIONS] =
        runs.try_into().map_err(|_| line.corrupt(format!("seconds are not of {QUESTIONS} questions")))?;
    Ok(Published {
        snapshot: snapshot.to_owned(),
        system: system.to_owned(),
        version: version.to_owned(),
        date: (!date.is_empty()).then(|| date.to_owned()),
        machine: MACHINE,
        retains_structure,
        tags: tags.split(',').filter(|tag| !tag.is_empty()).map(str::to_owned).collect(),
        scale: line.number(scale)?.unwrap_or(0),
        loaded: line.number(loaded)?.unwrap_or(0),
        total_bytes: line.number(total)?,
        data_bytes: line.number(data)?,
        index_bytes: line.number(index)?,
        cold: runs.each_ref().map(|runs| runs.first().copied().flatten()),
        hot: runs.each_ref().map(|runs| hot(runs)),
        source: source.to_owned(),
        suspected: Vec::new(),
    })
}
