//! Command-line options of `jsonathlon run questions` and `jsonathlon questions`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::run_options::{CommonArguments, ExternalOptions, InputArguments, PaceOptions, QuestionOptions};
use super::{CatalogueArguments, InstallOptions};

/// Help heading of the options that only this workload has.
const QUESTIONS: &str = "Options of questions";

/// Loads the documents of --data, asks every system the questions of a folder, and compares the answers with each other.
/// Systems that are not named are the embedded engines that the folder has statements for.
#[derive(Debug, Args)]
pub(crate) struct RunQuestions {
    #[command(flatten)]
    pub(crate) common: CommonArguments,
    #[command(flatten)]
    pub(crate) external: ExternalOptions,
    #[command(flatten)]
    pub(crate) pace: PaceOptions,
    /// Folder of questions: questions.toml, and a folder of statements for each system
    #[arg(long, short = 'q', value_name = "DIR", required_unless_present = "resume", conflicts_with = "resume", help_heading = QUESTIONS)]
    pub(crate) questions: Option<PathBuf>,
    /// Your documents: a file, a folder, an archive (tar, zip), `-` for standard input, or an http(s) address; JSON in
    /// any form of --input, plain or compressed (gzip, zstd, bzip2, xz)
    #[arg(long, short = 'd', value_name = "PATH|URL", required_unless_present = "resume", conflicts_with = "resume", help_heading = QUESTIONS)]
    pub(crate) data: Option<String>,
    #[command(flatten)]
    pub(crate) input: InputArguments,
    #[command(flatten)]
    pub(crate) question_options: QuestionOptions,
}

#[derive(Debug, Args)]
pub(crate) struct QuestionsArguments {
    #[command(subcommand)]
    pub(crate) action: QuestionsAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum QuestionsAction {
    /// Look at documents and write first questions about them, in every system's statements
    New {
        /// Folder to write, which must not be there or must be empty
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// The documents: a file, a folder, an archive (tar, zip), or an http(s) address; JSON in any form of --input,
        /// plain or compressed (gzip, zstd, bzip2, xz)
        #[arg(long, short = 'd', value_name = "PATH|URL")]
        data: String,
        #[command(flatten)]
        input: InputArguments,
        #[command(flatten)]
        catalogue: CatalogueArguments,
    },
    /// Say what is missing or misspelt in a folder of questions; with documents, ask each system over the first 1,000
    Check {
        /// The folder of questions
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Documents, of which the first 1,000 are loaded
        #[arg(long, short = 'd', value_name = "PATH|URL")]
        data: Option<String>,
        #[command(flatten)]
        input: InputArguments,
        /// Systems to ask, as NAME or NAME@VERSION, separated by commas, or `all` [default: the embedded engines]
        #[arg(long, short = 's', value_name = "NAMES", requires = "data")]
        systems: Option<String>,
        #[command(flatten)]
        install: InstallOptions,
        #[command(flatten)]
        catalogue: CatalogueArguments,
    },
}
