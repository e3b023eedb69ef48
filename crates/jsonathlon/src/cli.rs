//! Definitions of the command line, from which help, completions and the man page are generated.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::parse;

pub(crate) mod choose;
pub(crate) mod documents;
pub(crate) mod durability;
pub(crate) mod fidelity;
pub(crate) mod mixed;
pub(crate) mod questions;
pub(crate) mod run;
pub(crate) mod run_options;
pub(crate) mod serving;
pub(crate) mod study;

/// Which database should hold my JSON, on my hardware, for my load? An answer with evidence.
///
/// Without any option, `jsonathlon run` loads 100,000 generated events into the embedded engines, asks
/// them the questions of the billion-document JSON challenge, checks every answer and prints the tables.
#[derive(Debug, Parser)]
#[command(name = "jsonathlon", version, about, propagate_version = true, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 success; 1 failed result, broken durability promise or regression; 2 usage error; 3 missing prerequisite \
(a client, disk, memory); 4 interrupted, resumable; 70 internal error.

The cache of installed systems is ~/.cache/jsonathlon; JSONATHLON_CACHE moves it. Baselines are in \
~/.local/share/jsonathlon/baselines; JSONATHLON_BASELINES moves them. JSONATHLON_WAIT_QUIET is the default of \
--wait-quiet.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say which system should hold your documents, for your load and your needs
    Choose(Box<choose::ChooseCommand>),
    /// Load documents, ask questions, check answers, print tables
    Run(Box<run::RunCommand>),
    /// Answer a published question with a few runs, one table, one sentence and one chart
    Study(study::StudyArguments),
    /// List, install, check or remove the systems that can be tested
    Systems(SystemsArguments),
    /// Generate documents, or describe a data set
    Data(DataArguments),
    /// Write first questions about your own documents, or check those that you have written
    Questions(questions::QuestionsArguments),
    /// Write one self-contained page of one or several runs
    Report(ReportArguments),
    /// Print a run's results in another format
    Export(ExportArguments),
    /// Compare two runs cell by cell: what is slower, faster, or fails now
    Compare(CompareArguments),
    /// Show published results of the challenge with their scores, next to runs or result files
    Published(PublishedArguments),
    /// Test the benchmark itself: false-alarm rate and scaling of metrics
    Check(CheckArguments),
    /// Print completions for a shell
    Completions {
        /// Shell whose completions are printed
        shell: clap_complete::Shell,
    },
    /// Print the man page
    Man,
    /// Serve one engine session over standard input and output (worker protocol 3)
    #[command(hide = true)]
    Worker,
    /// Watch over a server for a worker
    #[command(hide = true, name = jsonathlon_servers::GUARD)]
    ServerGuard,
    /// Become a server that ends with its guard
    #[command(hide = true, name = jsonathlon_servers::EXEC)]
    ServerExec {
        /// Guard process, signal, and command, in this order
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<std::ffi::OsString>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct InstallOptions {
    /// If a pinned version is no longer available, install the newest one; results name the version used
    #[arg(long)]
    pub(crate) allow_newer: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CatalogueArguments {
    /// Folder with more system folders, which replace built-in ones of the same name; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) systems_dir: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SystemsArguments {
    #[command(subcommand)]
    pub(crate) action: SystemsAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SystemsAction {
    /// List the systems, and show which are installed and what is missing for the others
    List {
        /// Systems, as NAME or NAME@VERSION; all of them unless named
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Print the list as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        catalogue: CatalogueArguments,
    },
    /// Fetch, verify and unpack systems into the cache
    Install(SystemNames),
    /// Prove that systems work: compare their files with the record, load a thousand documents into each, ask
    /// every question and check the answers
    Check(SystemNames),
    /// Remove systems from the cache
    Remove(SystemNames),
    /// Look up packages of a Debian suite with all that they depend on, and print them as a system's folder pins them
    Packages(PackagesArguments),
}

#[derive(Debug, Args)]
pub(crate) struct PackagesArguments {
    /// The suite, such as bookworm; its updates and its security count as parts of it
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: String,
    /// Packages; the first is the one whose version is the artifact's
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SystemNames {
    /// Systems, as NAME or NAME@VERSION
    #[arg(value_name = "NAME", required_unless_present = "all")]
    pub(crate) names: Vec<String>,
    /// Every system of the catalogue
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) install: InstallOptions,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArguments,
}

#[derive(Debug, Args)]
pub(crate) struct DataArguments {
    #[command(subcommand)]
    pub(crate) action: DataAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DataAction {
    /// Write generated events as newline-delimited JSON
    Generate {
        /// Documents: a number, or one with k, m or g behind it
        #[arg(long, short = 'n', value_name = "COUNT", default_value = "100k", value_parser = parse::count)]
        scale: u64,
        /// Number of the first event, so that shards can be made apart
        #[arg(long, value_name = "NUMBER", default_value = "0", value_parser = parse::count_or_zero)]
        start: u64,
        /// Seed of the generated documents
        #[arg(long, value_name = "NUMBER", default_value_t = 1)]
        seed: u64,
        /// Number of malformed lines to plant among the documents
        #[arg(long, value_name = "COUNT", default_value = "0", value_parser = parse::count_or_zero)]
        malformed: u64,
        /// File to write; `-` is standard output. A name that ends with .gz or .zst is compressed
        #[arg(long, short = 'o', value_name = "FILE", default_value = "-")]
        out: PathBuf,
    },
    /// Print the profile of a data set: counts, sizes, candidates for a key, what systems may change, paths
    Describe {
        /// A file, a folder, an archive, `-`, or an http(s) address [default: 100k generated events]
        #[arg(value_name = "PATH|URL")]
        data: Option<String>,
        #[command(flatten)]
        input: run_options::InputArguments,
        /// Print the profile as JSON
        #[arg(long)]
        json: bool,
        /// Columns of the tables
        #[arg(long, value_enum, default_value = "compact")]
        tables: TableChoice,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    #[command(subcommand)]
    pub(crate) action: CheckAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CheckAction {
    /// Compare a system with itself and count how often the two are called different
    Noise(NoiseArguments),
    /// Show how every figure grows with the number of documents, over runs of different scales
    Growth(GrowthArguments),
}

#[derive(Debug, Args)]
pub(crate) struct NoiseArguments {
    /// The system, as NAME or NAME@VERSION [default: the first of the default systems]
    #[arg(long, short = 's', value_name = "NAME")]
    pub(crate) system: Option<String>,
    /// Variant of the system [default: the prepared one]
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Option<String>,
    /// Number of documents to generate
    #[arg(long, short = 'n', value_name = "COUNT", default_value = "100k", value_parser = parse::count)]
    pub(crate) scale: u64,
    /// Comparisons at least; each round of questions gives six
    #[arg(long, short = 'c', value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) comparisons: u32,
    /// Number of rounds of each comparison
    #[arg(long, short = 'r', value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) rounds: u32,
    /// Folder for the trials [default: runs/DATE-TIME]
    #[arg(long, short = 'o', value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) quiet: run_options::QuietOptions,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArguments,
}

#[derive(Debug, Args)]
pub(crate) struct GrowthArguments {
    /// Folders of the runs to compare
    #[arg(value_name = "DIR", num_args = 2.., required = true)]
    pub(crate) runs: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableChoice {
    /// Those that fit into the terminal, or into 100 columns elsewhere; what all rows share is said once
    Compact,
    /// All of them, however wide that is
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The tables that end a run, and its answer
    Table,
    /// The summary (schema 1)
    Json,
    /// The same tables, for pull requests and notes
    Markdown,
    /// One line a result, for spreadsheets
    Csv,
    /// The published format of the billion-document JSON challenge
    Jsonbench,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Folders of runs; several are shown side by side
    #[arg(value_name = "DIR", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// File of the page, which is replaced [default: report.html in the folder of a single run, else
    /// jsonathlon-report.html here]
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Keep whole paths of the machine on the page, e.g. in messages of systems
    #[arg(long)]
    pub(crate) show_paths: bool,
    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// Folder of the run to export
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// Format of the results on standard output
    #[arg(long, short = 'f', value_enum, default_value = "table")]
    pub(crate) format: Format,
    /// Columns of `--format table`; Markdown always has all of them
    #[arg(long, value_enum, default_value = "compact")]
    pub(crate) tables: TableChoice,
    /// Also means with standard deviations, in tables of large documents and in CSV; JSON always has them
    #[arg(long)]
    pub(crate) means: bool,
    /// Folder for the files of `--format jsonbench`, one a configuration [default: a list on standard output]
    #[arg(long, short = 'o', value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// Tables for the terminal
    Table,
    /// For a pull request: what differs in sight, all the rest folded
    Markdown,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// A, the baseline, and B, the run compared with it: folders of runs, or names of saved baselines. With
    /// --baseline, --save-baseline or --between one run alone
    #[arg(value_name = "RUN", num_args = 1..=2, required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Take the saved baseline of this name for A
    #[arg(long, value_name = "NAME", conflicts_with = "save_baseline")]
    pub(crate) baseline: Option<String>,
    /// Compare two sides of one run, paired by round: systems (`duckdb#1,duckdb#2`), versions
    /// (`mongodb@6.0.5,mongodb@6.0.27`) or configurations (`sqlite/text,sqlite/indexed`), each
    /// SYSTEM[@VERSION][/VARIANT[/STORAGE[/PROFILE]]]
    #[arg(long, value_name = "A,B", conflicts_with_all = ["baseline", "save_baseline", "different_data"])]
    pub(crate) between: Option<String>,
    /// Keep a run as the baseline of this name, and compare nothing
    #[arg(long, value_name = "NAME", conflicts_with_all = ["fail_on_regression", "allow_missing", "different_data", "format", "json"])]
    pub(crate) save_baseline: Option<String>,
    /// Replace a baseline of the same name; what is no baseline is left alone
    #[arg(long, requires = "save_baseline")]
    pub(crate) force: bool,
    /// End with exit code 1 when a load or a hot question is shown to be slower by more than PCT (such as 5 or 5%),
    /// when a cell that was right fails, is missing or is not comparable, when B is not complete, or when nothing
    /// could be tested
    #[arg(long, value_name = "PCT", value_parser = parse::percentage)]
    pub(crate) fail_on_regression: Option<f64>,
    /// Pass even if results present in A are missing from B (e.g. a deliberately smaller run); how many is reported
    #[arg(long, requires = "fail_on_regression")]
    pub(crate) allow_missing: bool,
    /// Compare runs of different documents, of the same number
    #[arg(long)]
    pub(crate) different_data: bool,
    /// Format of the comparison on standard output
    #[arg(long, short = 'f', value_enum, default_value = "table")]
    pub(crate) format: CompareFormat,
    /// Print the comparison as JSON on standard output instead of tables
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortChoice {
    /// The better of runs 2 and 3
    Hot,
    /// The time of the first run
    Cold,
    /// Total size in bytes
    Size,
}

#[derive(Debug, Args)]
pub(crate) struct PublishedArguments {
    /// Folders of runs, result files, or folders of result files: each gets a table of its own
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Documents: 1m, 10m, 100m or 1000m
    #[arg(long, short = 'n', value_name = "COUNT", default_value = "1000m", value_parser = parse::count)]
    pub(crate) scale: u64,
    /// Month in which the results stood so: 2025-02 or 2025-11
    #[arg(long, value_name = "MONTH", default_value = "2025-11")]
    pub(crate) snapshot: String,
    /// What rows are ordered by, and whose times are shown
    #[arg(long = "by", value_name = "BY", value_enum, default_value = "hot")]
    pub(crate) sort_key: SortChoice,
    /// Only systems whose names begin with one of these, separated by commas
    #[arg(long, short = 's', value_name = "NAMES", value_delimiter = ',')]
    pub(crate) systems: Vec<String>,
    /// Also systems that are said not to keep the structure of documents
    #[arg(long)]
    pub(crate) any_structure: bool,
    /// Leave out results with a figure that is likely to be an error
    #[arg(long)]
    pub(crate) without_suspected: bool,
    /// Print the published results as JSON
    #[arg(long, conflicts_with = "paths")]
    pub(crate) json: bool,
    /// What is published about large documents instead: times and sizes of Dolt and PostgreSQL, 2024
    #[arg(long, conflicts_with_all = ["paths", "scale", "snapshot", "sort_key", "any_structure"])]
    pub(crate) documents: bool,
}
