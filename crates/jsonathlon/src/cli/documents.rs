//! `jsonathlon run documents`: its own options.

use clap::Args;
use jsonathlon_dataset::ordinal::Table;

use super::RunArguments;

/// Over the options of this workload alone.
const DOCUMENTS: &str = "Options of documents";

/// Without any option: 8 MiB of documents of 64 KB, and as much of 1 MB.
#[derive(Debug, Args)]
pub(crate) struct DocumentsArguments {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Sizes of documents, a table each: powers of two such as 64KB, 256KB, 1MB, 4MB, 16MB [default: 64KB,1MB]
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = ordinal, conflicts_with = "resume", help_heading = DOCUMENTS)]
    pub(crate) sizes: Option<Vec<u32>>,
    /// Bytes of each table, such as 64MiB; one document at least [default: 8MiB]
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with = "resume", help_heading = DOCUMENTS)]
    pub(crate) total: Option<u64>,
    /// Five sizes from 64KB to 16MB, 64 MiB each, both data sets, every variant of an index with its plans, reads twice a
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
    /// 32MB,64MB,128MB,256MB,512MB,1GB]
    #[arg(long, value_name = "SIZES", num_args = 0..=1, default_missing_values = ["32MB", "64MB", "128MB", "256MB", "512MB", "1GB"], value_delimiter = ',', value_parser = ordinal, conflicts_with = "resume", help_heading = DOCUMENTS)]
    pub(crate) limits: Option<Vec<u32>>,
}

/// A size in units of 1,024: `64KB`, `8MiB`, `1GB`.
fn bytes(text: &str) -> Result<u64, String> {
    let expected = || format!("{text:?} is no size: write one such as 64KB, 8MiB or 1GB");
    let plain = text.trim().to_lowercase();
    let digits = plain.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()).trim_end();
    let unit: u64 = match plain.get(digits.len()..).map(str::trim) {
        Some("kb" | "kib" | "k") => 1 << 10,
        Some("mb" | "mib" | "m") => 1 << 20,
        Some("gb" | "gib" | "g") => 1 << 30,
        _ => return Err(expected()),
    };
    match digits.parse::<u64>() {
        Ok(number) if (1..=1 << 20).contains(&number) => Ok(number * unit),
        _ => Err(expected()),
    }
}

/// The ordinal whose document has this size.
fn ordinal(text: &str) -> Result<u32, String> {
    let bytes = bytes(text)?;
    Table::ordinal_of(bytes).ok_or_else(|| {
        format!("{text:?} is the size of no document: choose a power of two up to 1GB, such as 64KB")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_two() {
        assert_eq!(["64KB", "256kb", "1MB", "16MiB"].map(|text| ordinal(text).unwrap()), [12, 14, 16, 20]);
        for wrong in ["", "64", "65KB", "0KB", "-1MB", "2GB", "1TB", "1.5MB"] {
            assert!(ordinal(wrong).is_err(), "{wrong}");
        }
        assert_eq!((bytes("8MiB"), bytes("3 GB")), (Ok(8 << 20), Ok(3 << 30)));
    }
}
