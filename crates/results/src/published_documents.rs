//! What others have published about large documents: "JSON Showdown: Dolt vs Postgres", as it stood.
//!
//! The figures are from another machine, and their times hold the start of a client (`docs/published.md`). They are kept to
//! be read beside a run's own, never to be ranked with them.

use serde::Serialize;

use crate::ResultsError;
use crate::tsv::lines;

/// The machine of all of them.
pub const MACHINE: &str = "Apple M2 Pro, 32 GB memory";
/// Where and when they were published.
pub const SOURCE: &str = "JSON Showdown: Dolt vs Postgres, DoltHub, 2024";

const RESULTS: &str = include_str!("../published/documents-2024.tsv");
const SUSPECTED: &str = include_str!("../published/documents-suspected.tsv");
const COLUMNS: [&str; 9] = ["test", "system", "variant", "index", "n", "documents", "mean_s", "sd_s", "disk"];
const SUSPECTED_COLUMNS: [&str; 6] = ["test", "system", "variant", "index", "n", "reason"];

/// One published figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedDocuments {
    /// Test, as this program calls it: `export`, `import`, `copy`, `extract`, `filter`, `order`, `index` or `disk`.
    pub test: String,
    /// System.
    pub system: String,
    /// `json` or `jsonb`.
    pub variant: String,
    /// The kind of index, of the test of that name.
    pub index: Option<String>,
    /// The ordinal of its documents.
    pub n: u32,
    /// How many.
    pub documents: u64,
    /// Mean seconds.
    pub mean_s: Option<f64>,
    /// Their standard deviation.
    pub sd_s: Option<f64>,
    /// What it takes on the disk; no unit is given.
    pub disk: Option<f64>,
    /// Why it is likely to be an error: inferences of this project from the figures alone, confirmed by nobody.
    pub suspected: Vec<String>,
}

/// All of them, test by test, the smallest documents first.
///
/// # Errors
/// When the data that is part of the program cannot be understood, which a test excludes.
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
        // Nothing stands for anything.
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
        // 64 MiB out and in, 512 MiB for the rest.
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
