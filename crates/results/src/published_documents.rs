//! Published results on large documents: "JSON Showdown: Dolt vs Postgres", as they were published.
//!
//! They come from another machine, and their times include the start of a client (`docs/published.md`). They
//! are embedded to be read next to a run's results, and are never ranked with them.

use serde::Serialize;

use crate::ResultsError;
use crate::tsv::lines;

/// Machine of all these results.
pub const MACHINE: &str = "Apple M2 Pro, 32 GB memory";
/// Title, publisher and year of the publication.
pub const SOURCE: &str = "JSON Showdown: Dolt vs Postgres, DoltHub, 2024";

const RESULTS: &str = include_str!("../published/documents-2024.tsv");
const SUSPECTED: &str = include_str!("../published/documents-suspected.tsv");
const COLUMNS: [&str; 9] = ["test", "system", "variant", "index", "n", "documents", "mean_s", "sd_s", "disk"];
const SUSPECTED_COLUMNS: [&str; 6] = ["test", "system", "variant", "index", "n", "reason"];

/// One published result of a test.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PublishedDocumentsResult {
    /// Test by this program's name: `export`, `import`, `copy`, `extract`, `filter`, `order`, `index` or
    /// `disk`.
    pub test: String,
    /// Name of the system, as published.
    pub system: String,
    /// Type of the column: `json` or `jsonb`.
    pub variant: String,
    /// Kind of index in the test `index`. `None` in other tests.
    pub index: Option<String>,
    /// Ordinal n of the documents D(n), see `docs/documents.md`. Such a document has about 2^(n + 4) bytes.
    pub n: u32,
    /// Number of documents in the test.
    pub documents: u64,
    /// Mean time in seconds. `None` for the test `disk`.
    pub mean_s: Option<f64>,
    /// Standard deviation of the time in seconds. `None` if not published.
    pub sd_s: Option<f64>,
    /// Size on disk, published without a unit. `None` for other tests.
    pub disk: Option<f64>,
    /// Reasons why the result is probably an error. They are conclusions of this project from the numbers
    /// alone; the publisher has not confirmed them.
    pub suspected_errors: Vec<String>,
}

/// All published results by test, smallest documents first.
///
/// # Errors
/// [`ResultsError::Corrupt`] if the embedded data is invalid; a test ensures that it is valid.
pub fn published_documents() -> Result<Vec<PublishedDocumentsResult>, ResultsError> {
    let mut results = Vec::new();
    for line in lines("documents-2024", RESULTS, &COLUMNS)? {
        let [test, system, variant, index, n, documents, mean_s, sd_s, disk] = line.fields()?;
        results.push(PublishedDocumentsResult {
            test: test.to_owned(),
            system: system.to_owned(),
            variant: variant.to_owned(),
            index: (!index.is_empty()).then(|| index.to_owned()),
            n: line.number(n)?.unwrap_or_default(),
            documents: line.number(documents)?.unwrap_or_default(),
            mean_s: line.number(mean_s)?,
            sd_s: line.number(sd_s)?,
            disk: line.number(disk)?,
            suspected_errors: Vec::new(),
        });
    }
    for line in lines("documents-suspected", SUSPECTED, &SUSPECTED_COLUMNS)? {
        let [test, system, variant, index, n, reason] = line.fields()?;
        let n: Option<u32> = line.number(n)?;
        // An empty field matches everything.
        let is_match = |pattern: &str, value: &str| pattern.is_empty() || pattern == value;
        let mut matches = 0;
        for result in results.iter_mut().filter(|result| {
            is_match(test, &result.test)
                && is_match(system, &result.system)
                && is_match(variant, &result.variant)
                && is_match(index, result.index.as_deref().unwrap_or_default())
                && n.is_none_or(|n| n == result.n)
        }) {
            result.suspected_errors.push(reason.to_owned());
            matches += 1;
        }
        if matches == 0 {
            return Err(line.corrupt("no result is meant".to_owned()));
        }
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_read() {
        let results = published_documents().unwrap();
        let count_of = |test: &str| results.iter().filter(|result| result.test == test).count();
        assert_eq!(["export", "import", "copy", "extract", "filter", "order"].map(count_of), [15; 6]);
        assert_eq!((count_of("index"), count_of("disk"), results.len()), (30, 15, 135));
        assert!(results.iter().all(|result| result.mean_s.is_some() == result.disk.is_none()));
        // The total is 64 MiB for export and import, 512 MiB for the rest.
        for result in &results {
            let total = result.documents << (result.n + 4);
            let expected = if matches!(result.test.as_str(), "export" | "import") { 64 } else { 512 };
            assert_eq!(total >> 20, expected, "{result:?}");
        }
        let is_dolt_copy = |result: &&PublishedDocumentsResult| {
            result.test == "copy" && result.system == "Dolt" && result.n == 12
        };
        let dolt = results.iter().find(is_dolt_copy).unwrap();
        assert_eq!((dolt.mean_s, dolt.sd_s, dolt.suspected_errors.len()), (Some(0.966), Some(0.032), 0));
    }

    #[test]
    fn both_rows_of_gin_are_the_same_and_said_to_be_suspect() {
        let results = published_documents().unwrap();
        let results_of = |index: &str| -> Vec<_> {
            results.iter().filter(|result| result.index.as_deref() == Some(index)).collect()
        };
        let (default_class, path_class) = (results_of("GIN, jsonb_ops"), results_of("GIN, jsonb_path_ops"));
        assert_eq!(default_class.len(), 5);
        assert!(default_class.iter().zip(&path_class).all(|(a, b)| (a.mean_s, a.sd_s) == (b.mean_s, b.sd_s)));
        assert!(default_class.iter().chain(&path_class).all(|result| result.suspected_errors.len() == 1));
    }
}
