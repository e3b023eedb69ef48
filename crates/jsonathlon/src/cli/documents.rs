//! Command-line options of `jsonathlon run documents`.

use clap::{Args, ValueEnum};
use jsonathlon_dataset::nested::NestedTable;

use super::run_options::{CommonArguments, DEFAULT_SEED, ExternalOptions};
use crate::parse;

/// Help heading of the options that only this workload has.
const DOCUMENTS: &str = "Options of documents";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContentChoice {
    /// Documents that are near-copies of each other
    Identical,
    /// Documents that are alike nowhere
    Distinct,
}

/// Without any option: 8 MiB of documents of 64 KiB, and as much of 1 MiB.
#[derive(Debug, Args)]
pub(crate) struct DocumentsArguments {
    #[command(flatten)]
    pub(crate) common: CommonArguments,
    #[command(flatten)]
    pub(crate) external: ExternalOptions,
    #[command(flatten)]
    pub(crate) options: DocumentsOptions,
}

/// Options that only this workload has, and its rounds.
#[derive(Debug, Args)]
#[group(conflicts_with = "resume")]
pub(crate) struct DocumentsOptions {
    /// Number of rounds, each of which imports the documents; intervals need at least two [default: 3]
    #[arg(long, short = 'r', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: Option<u32>,
    /// Seed of the content `distinct`
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_SEED)]
    pub(crate) seed: u64,
    /// Content of the documents of a table: near-copies of each other, alike nowhere, or both in turn, separated by
    /// a comma [default: identical; with --full both]
    #[arg(long, value_enum, value_name = "CONTENT", value_delimiter = ',', help_heading = DOCUMENTS)]
    pub(crate) content: Vec<ContentChoice>,
    /// Sizes of documents, a table each: powers of two such as 64KiB, 256KiB, 1MiB, 4MiB, 16MiB [default: 64KiB,1MiB]
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = ordinal, help_heading = DOCUMENTS)]
    pub(crate) sizes: Option<Vec<u32>>,
    /// Size of each table, such as 64MiB; at least one document [default: 8MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse::bytes, help_heading = DOCUMENTS)]
    pub(crate) table_size: Option<u64>,
    /// Five sizes from 64KiB to 16MiB, 64 MiB each, both data sets, every variant of an index with its plans, two reads per
    /// round, and one with nothing in memory
    #[arg(long, help_heading = DOCUMENTS)]
    pub(crate) full: bool,
    /// Also change a number at three depths of a document
    #[arg(long, help_heading = DOCUMENTS)]
    pub(crate) update_path: bool,
    /// Also write N versions of one document, one after the other: time and bytes of each [default: 100]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "100", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = DOCUMENTS)]
    pub(crate) versions: Option<u32>,
    /// Also search the largest accepted document: single ones of these sizes, each for at most two minutes, until one
    /// is refused [default: 32MiB,64MiB,128MiB,256MiB,512MiB,1GiB]
    #[arg(long, value_name = "SIZES", num_args = 0..=1, default_missing_values = ["32MiB", "64MiB", "128MiB", "256MiB", "512MiB", "1GiB"], value_delimiter = ',', value_parser = ordinal, help_heading = DOCUMENTS)]
    pub(crate) max_size_search: Option<Vec<u32>>,
}

/// Parses a size such as `64KiB` into the ordinal of the document that has this size.
fn ordinal(text: &str) -> Result<u32, String> {
    NestedTable::ordinal_of(parse::bytes(text)?).ok_or_else(|| {
        format!("{text:?} is the size of no document: choose a power of two up to 1GiB, such as 64KiB (of 1,024 bytes)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_two() {
        assert_eq!(
            ["64KiB", "256kib", "1MiB", "16 MiB"].map(|text| ordinal(text).unwrap()),
            [12, 14, 16, 20]
        );
        for wrong in ["", "64", "65KiB", "64KB", "1MB", "0KiB", "-1MiB", "2GiB", "1TiB", "1.5MiB"] {
            assert!(ordinal(wrong).is_err(), "{wrong}");
        }
    }
}
