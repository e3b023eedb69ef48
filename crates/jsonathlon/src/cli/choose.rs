//! Command-line options of `jsonathlon choose`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::run_options::{InputArguments, QuietOptions};
use super::{CatalogueArguments, InstallOptions, TableChoice};
use crate::parse;

/// Says which system should hold your documents. Serves them, asks questions about them, measures their sizes, and
/// compares what was found with what you need.
///
/// Without --needs, it says what each system is good and bad at. `jsonathlon choose new needs.toml --data FOLDER`
/// writes a file of needs to edit.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct ChooseCommand {
    #[command(subcommand)]
    pub(crate) action: Option<ChooseAction>,
    #[command(flatten)]
    pub(crate) arguments: ChooseArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChooseAction {
    /// Look at documents and write a file of needs with every line explained, to edit
    New {
        /// File to write, which must not exist
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The documents: a file, a folder, an archive (tar, zip), or an http(s) address; JSON in any form of --input,
        /// plain or compressed (gzip, zstd, bzip2, xz)
        #[arg(long, short = 'd', value_name = "PATH|URL")]
        data: String,
        #[command(flatten)]
        input: InputArguments,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ChooseArguments {
    /// Your documents: a file, a folder, an archive (tar, zip), `-` for standard input, or an http(s) address; JSON in
    /// any form of --input, plain or compressed (gzip, zstd, bzip2, xz)
    #[arg(
        long,
        short = 'd',
        value_name = "PATH|URL",
        required_unless_present = "resume",
        conflicts_with = "resume"
    )]
    pub(crate) data: Option<String>,
    #[command(flatten)]
    pub(crate) input: InputArguments,
    /// File of needs; see docs/choosing.md
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub(crate) needs: Option<PathBuf>,
    /// Systems, as NAME or NAME@VERSION, separated by commas, or `all` [default: the embedded engines, postgresql and
    /// mongodb, as far as this machine can run them]
    #[arg(long, short = 's', value_name = "NAMES", conflicts_with = "resume")]
    pub(crate) systems: Option<String>,
    /// Variants in which systems serve documents, one for each: `default`, or names, of one system alone as SYSTEM/NAME,
    /// separated by commas [default: that of each system]
    #[arg(long, value_name = "NAMES", conflicts_with = "resume")]
    pub(crate) variants: Option<String>,
    /// Memory that each system may use, such as 8GB, or 8GiB in units of 1,024 [default: half of what the machine, or
    /// its container, has]
    #[arg(long, value_name = "SIZE", value_parser = parse::bytes, conflicts_with = "resume")]
    pub(crate) memory: Option<u64>,
    /// Time for all runs once systems are installed, such as 30m; what does not fit is left out, and said [default: 10m,
    /// or as long as the least takes]
    #[arg(long, value_name = "TIME", value_parser = parse::seconds, conflicts_with = "resume")]
    pub(crate) budget: Option<f64>,
    /// Measurement duration of each trial of clients; longer ones see rarer events, such as checkpoints [default: 2s, or
    /// up to 30s if the response times that count are rare at the rate]
    #[arg(long, value_name = "TIME", value_parser = parse::seconds, conflicts_with = "resume")]
    pub(crate) duration: Option<f64>,
    /// Prove durability, too: crash every system three times by each kind that this user may (power cuts need root)
    #[arg(long, conflicts_with = "resume")]
    pub(crate) prove: bool,
    /// Folder for the runs and the page [default: runs/DATE-TIME]
    #[arg(long, short = 'o', value_name = "DIR", conflicts_with = "resume")]
    pub(crate) out: Option<PathBuf>,
    /// Resume what was interrupted, or print a finished decision again
    #[arg(long, value_name = "DIR")]
    pub(crate) resume: Option<PathBuf>,
    /// Print the decision as JSON on standard output instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Columns of the tables
    #[arg(long, value_enum, default_value = "compact", conflicts_with = "json")]
    pub(crate) tables: TableChoice,
    #[command(flatten)]
    pub(crate) quiet: QuietOptions,
    #[command(flatten)]
    pub(crate) install: InstallOptions,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArguments,
}
