//! Command-line options of `jsonathlon run documents`.

use clap::Args;
use jsonathlon_dataset::nested::NestedTable;

use super::RunArguments;
use crate::parse;

/// Help heading of the options that only this workload has.
const DOCUMENTS: &str = "Options of documents";

/// Without any option: 8 MiB of documents of 64 KiB, and as much of 1 MiB.
#[derive(Debug, Args)]
pub(crate) struct DocumentsArguments {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Sizes of documents, a table each: powers of two such as 64KiB, 256KiB, 1MiB, 4MiB, 16MiB [default: 64KiB,1MiB]
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = ordinal, conflicts_with = "resume", help_heading = DOCUMENTS)]
    pub(crate) sizes: Option<Vec<u32>>,
    /// Bytes of each table, such as 64MiB; one document at least [default: 8MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse::bytes, conflicts_with = "resume", help_heading = DOCUMENTS)]
    pub(crate) total: Option<u64>,
    /// Five sizes from 64KiB to 16MiB, 64 MiB each, both data sets, every variant of an index with its plans, reads twice a
    /// round, and once with nothing in memory
    #[arg(long, conflicts_with = "resume", help_heading = DOCUMENTS)]
    pub(crate) full: bool,
    /// Change a number at three depths of a document too
    #[arg(long, conflicts_with = "resume", help_heading = DOCUMENTS)]
    pub(crate) update_path: bool,
    /// Write so many versions of one document, one after the other: time and bytes of each [default: 100]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "100", value_parser = clap::value_parser!(u32).range(1..=10_000), conflicts_with = "resume", help_heading = DOCUMENTS)]
    pub(crate) history: Option<u32>,
    /// Offer single documents of these sizes too, each for two minutes at most, until one is refused [default:
    /// 32MiB,64MiB,128MiB,256MiB,512MiB,1GiB]
    #[arg(long, value_name = "SIZES", num_args = 0..=1, default_missing_values = ["32MiB", "64MiB", "128MiB", "256MiB", "512MiB", "1GiB"], value_delimiter = ',', value_parser = ordinal, conflicts_with = "resume", help_heading = DOCUMENTS)]
    pub(crate) limits: Option<Vec<u32>>,
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
