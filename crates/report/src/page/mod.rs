//! The page: one HTML file that holds its program, its style and its data, needs no network and opens from
//! disk.
//!
//! The program is TypeScript (`web/` of the repository); its build output is in this crate's `page/` folder
//! and part of the binary. `web/src/model.ts`, the types of the data in TypeScript, is generated from those
//! here.

pub(crate) mod cell_link;
mod cells;
mod configurations;
mod data;
mod distributions;
pub(crate) mod evidence;
pub(crate) mod html;
mod number;
pub(crate) mod paths;
mod series;
mod string_table;

use jsonathlon_schema::workload::WorkloadKind;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jsonathlon_results::ResultsError;
use jsonathlon_results::folder::write_atomic;
use jsonathlon_results::published_documents::published_documents;
use jsonathlon_results::summary::Run;

use data::{PageData, RunData};
use evidence::{Evidence, RunEvidence};
use paths::PathHider;

pub use paths::PathDisplay;

/// Version of the shapes of the page's data.
const FORMAT: u32 = 2;

/// Reason why a page cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// A run's files, or the published results, cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The data cannot be serialised or compressed.
    #[error("failed to write the page's data: {0}")]
    Data(#[from] std::io::Error),
}

/// Name of the page in the folder of its run.
pub const FILE: &str = "report.html";

/// The page of one or many runs, with the version of this program and the current time.
///
/// # Errors
/// If the files behind a run, or the published results, cannot be read.
pub fn current_page(runs: &[Run], paths: PathDisplay) -> Result<String, PageError> {
    assemble(runs, env!("CARGO_PKG_VERSION"), &Timestamp::now().to_string(), paths)
}

/// Writes the page of a run to [`FILE`] in its folder, and returns the path.
///
/// # Errors
/// If the files behind the run cannot be read, or the page cannot be written.
pub fn write_page(run: &Run, paths: PathDisplay) -> Result<PathBuf, PageError> {
    let file = Path::new(&run.path).join(FILE);
    write_atomic(&file, current_page(std::slice::from_ref(run), paths)?.as_bytes())?;
    Ok(file)
}

/// The page of one or many runs, as HTML, without paths of the machine. `program` is the version of the
/// program, `created` the time of creation in RFC 3339.
///
/// # Errors
/// If the files behind a run, or the published results, cannot be read.
pub fn page(runs: &[Run], program: &str, created: &str) -> Result<String, PageError> {
    assemble(runs, program, created, PathDisplay::Hidden)
}

fn assemble(runs: &[Run], program: &str, created: &str, paths: PathDisplay) -> Result<String, PageError> {
    let names = names(runs);
    let hider = PathHider::new(runs, paths);
    // Each run has a thread of its own, because intervals are most of the work and runs are independent.
    let contents: Vec<RunContent> = std::thread::scope(|scope| {
        let threads: Vec<_> = runs
            .iter()
            .zip(&names)
            .map(|(run, name)| scope.spawn(move || RunContent::new(run, name)))
            .collect();
        threads.into_iter().map(join).collect::<Result<_, _>>()
    })?;
    let (runs, evidence): (Vec<RunData>, _) =
        contents.into_iter().map(|content| (content.data, content.evidence)).unzip();
    let has_documents = runs.iter().any(|run| run.has_workload(WorkloadKind::Documents));
    let data = PageData {
        format: FORMAT,
        program: program.to_owned(),
        created: created.to_owned(),
        runs,
        published: jsonathlon_results::challenge::published::published_results()?,
        published_documents: if has_documents { published_documents()? } else { Vec::new() },
    };
    Ok(html::page_html(&names, &data, &Evidence { runs: evidence }, hider.as_ref())?)
}

/// Data and evidence of one run.
struct RunContent {
    data: RunData,
    evidence: RunEvidence,
}

impl RunContent {
    fn new(run: &Run, name: &str) -> Result<Self, PageError> {
        let summary = run.summary();
        let data = RunData::new(run, &summary, name);
        let evidence = RunEvidence::new(run, &summary)?;
        Ok(Self { data, evidence })
    }
}

fn join<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Name of each run: the last part of its folder, with a number if an earlier run has the same name.
fn names(runs: &[Run]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(runs.len());
    for run in runs {
        // The folder may be given as `.`, which has no last part.
        let path = std::fs::canonicalize(&run.path).unwrap_or_else(|_| PathBuf::from(&run.path));
        let name =
            path.file_name().map_or_else(|| run.path.clone(), |name| name.to_string_lossy().into_owned());
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        names.extend(
            std::iter::once(name.clone()).chain(numbered).find(|candidate| !names.contains(candidate)),
        );
    }
    names
}

#[cfg(test)]
mod model_tests;
