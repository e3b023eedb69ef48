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
pub struct PublishedDocuments {
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
    pub suspected: Vec<String>,
}

/// All published results by test, smallest documents first.
///
/// # Errors
/// [`ResultsError::Corrupt`] if the embedded data is invalid; a test ensures that it is valid.
pub fn published_documents() -> Result<Vec<PublishedDocuments>, ResultsError> {
    let mut all = Vec::new();
    for line in lines("documents-2024", RESULTS, &COLUMNS)? {
        let [test, system, variant, index, n, documents, mean_s, sd_s, disk] = line.fields()?;
        all.push(PublishedDocuments {
            test: test.to_owned(),
            system: system.to_owned(),
            variant: variant.to_owned(),
            index: (!index.is_empty()).then(|| index.to_owned()),
            n: line.number(n)?.unwrap_or_default(),
            documents: line.number(documents)?.unwrap_or_default(),
            mean_s: line.number(mean_s)?,
            sd_s: line.number(sd_s)?,
            disk: line.number(disk)?,
            suspected: Vec::new(),
        });
    }
    for line in lines("documents-suspected", SUSPECTED, &SUSPECTED_COLUMNS)? {
        let [test, system, variant, index, n, reason] = line.fields()?;
        let n: Option<u32> = line.number(n)?;
        // An empty field matches everything.
        let is = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
        let mut concerned = 0;
        for one in all.iter_mut().filter(|one| {
            is(test, &one.test)
                && is(system, &one.system)
                && is(variant, &one.variant)
                && is(index, one.index.as_deref().unwrap_or_default())
                && n.is_none_or(|n| n == one.n)
        }) {
            one.suspected.push(reason.to_owned());
            concerned += 1;
        }
        if concerned == 0 {
            return Err(line.corrupt("no figure is meant".to_owned()));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_read() {
        let all = published_documents().unwrap();
        let of = |test: &str| all.iter().filter(|one| one.test == test).count();
        assert_eq!(["export", "import", "copy", "extract", "filter", "order"].map(of), [15; 6]);
        assert_eq!((of("index"), of("disk"), all.len()), (30, 15, 135));
        assert!(all.iter().all(|one| one.mean_s.is_some() == one.disk.is_none()));
        // The total is 64 MiB for export and import, 512 MiB for the rest.
        for one in &all {
            let total = one.documents << (one.n + 4);
            let expected = if matches!(one.test.as_str(), "export" | "import") { 64 } else { 512 };
            assert_eq!(total >> 20, expected, "{one:?}");
        }
        let dolt = all.iter().find(|one| one.test == "copy" && one.system == "Dolt" && one.n == 12).unwrap();
        assert_eq!((dolt.mean_s, dolt.sd_s, dolt.suspected.len()), (Some(0.966), Some(0.032), 0));
    }

    #[test]
    fn both_rows_of_gin_are_the_same_and_said_to_be_suspect() {
        let all = published_documents().unwrap();
        let of = |index: &str| -> Vec<_> {
            all.iter().filter(|one| one.index.as_deref() == Some(index)).collect()
        };
        let (one, other) = (of("GIN, jsonb_ops"), of("GIN, jsonb_path_ops"));
        assert_eq!(one.len(), 5);
        assert!(one.iter().zip(&other).all(|(a, b)| (a.mean_s, a.sd_s) == (b.mean_s, b.sd_s)));
        assert!(one.iter().chain(&other).all(|one| one.suspected.len() == 1));
    }
}
