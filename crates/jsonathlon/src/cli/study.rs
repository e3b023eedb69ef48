//! Command-line options of `jsonathlon study`.

use std::path::PathBuf;

use clap::Args;

use super::{CatalogueArguments, InstallOptions, TableChoice, run_options::QuietOptions};

/// Answers a question on this machine, often a published one: runs of a workload over what it varies, a table next to
/// the published results, one sentence with its intervals, and a page with its chart.
#[derive(Debug, Args)]
pub(crate) struct StudyArguments {
    /// A study, a file of your own that ends in .toml, or `list` for all that there are
    #[arg(value_name = "NAME|FILE|list", required_unless_present = "resume")]
    pub(crate) study: Option<String>,
    /// Systems, as NAME or NAME@VERSION, separated by commas [default: those of the study]
    #[arg(long, short = 's', value_name = "NAMES", conflicts_with = "resume")]
    pub(crate) systems: Option<String>,
    /// Everything that the study can vary, however long it takes
    #[arg(long, conflicts_with = "resume")]
    pub(crate) full: bool,
    /// An option of the study's runs in place of its own value, such as records=1k; of one that varies its values,
    /// separated by commas; may be repeated
    #[arg(long, value_name = "OPTION=VALUE", value_parser = set, conflicts_with = "resume")]
    pub(crate) set: Vec<(String, String)>,
    /// Folder for the study's runs [default: runs/DATE-TIME]
    #[arg(long, short = 'o', value_name = "DIR", conflicts_with = "resume")]
    pub(crate) out: Option<PathBuf>,
    /// Resume an interrupted study, or print a finished one again
    #[arg(long, value_name = "DIR", conflicts_with = "study")]
    pub(crate) resume: Option<PathBuf>,
    /// Print the tables as Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Columns of the tables
    #[arg(long, value_enum, default_value = "compact", conflicts_with = "markdown")]
    pub(crate) tables: TableChoice,
    #[command(flatten)]
    pub(crate) quiet: QuietOptions,
    #[command(flatten)]
    pub(crate) install: InstallOptions,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArguments,
}

fn set(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((option, value)) if !option.is_empty() && !value.is_empty() => {
            Ok((option.trim_start_matches("--").to_owned(), value.to_owned()))
        }
        _ => Err(format!("`{text}` is no option with a value: write it as records=1k")),
    }
}
