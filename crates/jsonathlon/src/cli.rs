//! Definitions of the command line, from which help, completions and the man page are generated.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::parse;

pub(crate) mod documents;
pub(crate) mod durability;
pub(crate) mod fidelity;
pub(crate) mod questions;
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
Exit codes: 0 all well; 1 a failed cell, a broken durability promise or a regression; 2 wrong usage or input; 3 the environment lacks something \
(a client, disk, memory); 4 interrupted, can be resumed; 70 a fault of the program.

The cache of installed systems is ~/.cache/jsonathlon; JSONATHLON_CACHE moves it. Baselines are in \
~/.local/share/jsonathlon/baselines; JSONATHLON_BASELINES moves them.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Load documents, ask questions, check answers, print tables
    Run(Box<RunCommand>),
    /// Answer a published question: a few runs, one table, one sentence, one chart
    Study(study::StudyArguments),
    /// List, install, check or remove the systems that can be tested
    Systems(SystemsArguments),
    /// Generate documents, or describe a data set
    Data(DataArguments),
    /// Write first questions over your own documents, or check those that you have written
    Questions(questions::QuestionsArguments),
    /// Make one self-contained page of one or many runs
    Report(ReportArguments),
    /// Print a run's results in another format
    Export(ExportArguments),
    /// Compare two runs cell by cell: what is slower, faster, or fails now
    Compare(CompareArguments),
    /// Show published results of the challenge with their scores, and runs or result files beside them
    Published(PublishedArguments),
    /// Put the instrument itself to the test: its false alarms, and how figures grow
    Check(CheckArguments),
    /// Print shell completions
    Completions {
        /// The shell
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
        /// The guard, the signal, the command
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<std::ffi::OsString>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataStates {
    /// Background work has ended by itself
    Drained,
    /// The system was told to put its data in its best order
    Compacted,
    /// One after the other; figures of the two are never mixed
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileChoice {
    /// The same budget for every system, spent as its makers advise
    Sized,
    /// The memory settings of the package
    Stock,
    /// Each system twice, ranked apart
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    /// TCP on the loopback interface
    Tcp,
    /// The same, encrypted, for systems whose folder says how
    Tls,
    /// A Unix socket in the server's own folder, for systems that have one
    Unix,
}

/// A workload with its own arguments; without a name it is analytics.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_value_name = "WORKLOAD",
    subcommand_help_heading = "Workloads"
)]
pub(crate) struct RunCommand {
    #[command(subcommand)]
    pub(crate) workload: Option<RunWorkload>,
    #[command(flatten)]
    pub(crate) analytics: AnalyticsArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunWorkload {
    /// The billion-document JSON challenge: load, five questions and one more [default]
    Analytics(Box<AnalyticsArguments>),
    /// Documents read, updated and inserted on line: YCSB's mixes over JSON, by many clients at once
    Serving(Box<serving::ServingArguments>),
    /// Large documents, 64 KiB to 16 MiB: out, in, copied with a small change, asked for one number, indexed
    Documents(Box<documents::DocumentsArguments>),
    /// Your own questions over your own documents: `jsonathlon questions new` writes first ones
    Questions(Box<questions::RunQuestions>),
    /// Does a system give back the document it was given? Hundreds of documents made from the RFCs, in and out both
    /// ways
    Fidelity(Box<fidelity::FidelityArguments>),
    /// Is what a system acknowledged still there after a crash of its processes, or a loss of power, at a random moment?
    Durability(Box<durability::DurabilityArguments>),
}

#[derive(Debug, Args)]
pub(crate) struct AnalyticsArguments {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    #[command(flatten)]
    pub(crate) asking: QuestionOptions,
    /// Ask the challenge's questions even where the documents of --data are none of its events
    #[arg(long, requires = "data", help_heading = ASKING)]
    pub(crate) force: bool,
}

/// How questions are asked, whoever's they are.
#[derive(Debug, Args)]
pub(crate) struct QuestionOptions {
    /// Hot trials a round and question [default: 0.3 s worth of them, 3 at least and 20 at most;
    /// of a plain run 0.06 s worth, 2 at least]
    #[arg(long, short = 't', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), conflicts_with = "resume", help_heading = ASKING)]
    pub(crate) trials: Option<u32>,
    /// In which state of the data questions are asked
    #[arg(long, value_enum, default_value = "drained", conflicts_with = "resume", help_heading = ASKING)]
    pub(crate) state: DataStates,
    /// Measure the published definition of cold too (page cache dropped, engine left running)
    #[arg(long, conflicts_with = "resume", help_heading = ASKING)]
    pub(crate) cold_os: bool,
}

/// Default of `--scale`: the number of documents or records to generate.
pub(crate) const USUAL_SCALE: u64 = 100_000;

/// Help heading of the options of workloads that ask questions.
const ASKING: &str = "How questions are asked";

/// What every workload can be told.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Systems, as NAME or NAME@VERSION, separated by commas, or `all` [default: the embedded engines; of serving and
    /// durability postgresql,mongodb,sqlite]
    #[arg(long, short = 's', value_name = "NAMES")]
    pub(crate) systems: Option<String>,
    /// A server that somebody else runs, as NAME=ADDRESS (postgres://USER@HOST:PORT/DATABASE, mysql://, mongodb://,
    /// http(s)://), or your own programs, as NAME=PATH; may be repeated. The run works in a database of its own
    /// and removes it. Passwords come from JSONATHLON_PASSWORD_<NAME>
    #[arg(long, value_name = "NAME=WHERE")]
    pub(crate) system: Vec<String>,
    /// Shell command that restarts a server by address, as NAME=COMMAND, so that it can be asked cold; may be
    /// repeated
    #[arg(long, value_name = "NAME=COMMAND")]
    pub(crate) restart_command: Vec<String>,
    /// Variants of the systems' configurations: a preparation class (`as-is`, `prepared`, `extracted`) for its default
    /// variant, `default` for that of every class, `all` for all that are ranked, or names, of one system alone as
    /// SYSTEM/NAME, separated by commas
    #[arg(long, alias = "index", value_name = "NAMES", default_value = "default")]
    pub(crate) variants: String,
    /// Storage settings: `default`, `best`, or `all`
    #[arg(long, value_name = "NAMES", default_value = "default")]
    pub(crate) storage: String,
    /// Memory settings: the same budget for every system, spent as its makers advise; those of the package; or both,
    /// which are never ranked together
    #[arg(long, value_enum, default_value = "sized")]
    pub(crate) profile: ProfileChoice,
    /// Memory that each system may use under the profile `sized`, such as 8GB, or 8GiB in units of
    /// 1,024 [default: half of what the machine, or its container, has; of fidelity and durability 4GB]
    #[arg(long, value_name = "SIZE", value_parser = parse::bytes)]
    pub(crate) memory: Option<u64>,
    /// How servers that are started are reached
    #[arg(long, value_enum, default_value = "tcp")]
    pub(crate) transport: Transport,
    /// Documents to generate (--records): a number, or one with k, m or g behind it [default: 100k; of durability 5k]
    #[arg(long, alias = "records", short = 'n', value_name = "COUNT", value_parser = parse::count)]
    pub(crate) scale: Option<u64>,
    /// Documents to load instead: a file, a folder of files, `-` for standard input, or an http(s) address;
    /// newline-delimited JSON, plain, gzip or zstd. Of the workload documents: `identical`, `distinct`, or both
    #[arg(long, short = 'd', value_name = "PATH|URL", conflicts_with_all = ["scale", "malformed", "seed"])]
    pub(crate) data: Option<String>,
    /// Malformed lines to plant among the generated documents
    #[arg(long, value_name = "COUNT", default_value = "0", value_parser = parse::count_or_none)]
    pub(crate) malformed: u64,
    /// Seed of the generator
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Rounds; intervals need two at least [default: as many as fit into the budget, five at least; of serving 4, of
    /// documents 3]
    #[arg(long, short = 'r', value_name = "N", conflicts_with_all = ["precision", "budget"], value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: Option<u32>,
    /// Time for the whole run once systems are installed, loads included, such as 10m; refused after the first round
    /// where five rounds do not fit [default: 85s, or as long as five rounds take]
    #[arg(long, value_name = "TIME", value_parser = parse::seconds)]
    pub(crate) budget: Option<f64>,
    /// Go on with rounds until the interval of every ranked cell lies within so many per cent of its median, or the
    /// budget is spent [budget: 30m]
    #[arg(long, value_name = "PCT", value_parser = parse::precision)]
    pub(crate) precision: Option<f64>,
    /// Rounds that begin with a load into a fresh folder [default: 3 where a load takes less than a minute, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) load_rounds: Option<u32>,
    /// Limit of one trial, such as 90s, 10m or 1h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse::seconds)]
    pub(crate) timeout: f64,
    /// Limit of one load, or of one settling
    #[arg(long, value_name = "TIME", default_value = "12h", value_parser = parse::seconds)]
    pub(crate) load_timeout: f64,
    /// Leave out the yardstick, a hand-written program beside which every time is shown
    #[arg(long)]
    pub(crate) no_yardstick: bool,
    /// Folder for the run's results [default: runs/DATE-TIME]
    #[arg(long, short = 'o', value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Go on with an interrupted run; its own settings are taken, the others must not be given
    #[arg(long, value_name = "DIR", conflicts_with_all = [
        "out", "systems", "system", "restart_command", "variants", "storage", "profile", "memory", "transport", "scale", "data", "malformed", "seed", "rounds", "budget", "precision", "load_rounds",
        "timeout", "load_timeout", "no_yardstick", "keep_data",
    ])]
    pub(crate) resume: Option<PathBuf>,
    /// Keep the systems' data folders
    #[arg(long)]
    pub(crate) keep_data: bool,
    /// Print the summary as JSON on standard output instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) newer: InstallOptions,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArguments,
}

#[derive(Debug, Args)]
pub(crate) struct InstallOptions {
    /// Where a pinned version is gone from its registry, take the newest there is; results name the version
    /// that was really used
    #[arg(long)]
    pub(crate) accept_newer: bool,
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
    /// Show what there is, and what of it is installed
    List {
        /// Systems, as NAME or NAME@VERSION; all of them unless named
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Print JSON
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
    /// All of them
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) newer: InstallOptions,
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
        #[arg(long, value_name = "NUMBER", default_value = "0", value_parser = parse::count_or_none)]
        start: u64,
        /// Seed of the generator
        #[arg(long, value_name = "NUMBER", default_value_t = 1)]
        seed: u64,
        /// Malformed lines to plant
        #[arg(long, value_name = "COUNT", default_value = "0", value_parser = parse::count_or_none)]
        malformed: u64,
        /// File to write; `-` is standard output. A name that ends with .gz or .zst is compressed
        #[arg(long, short = 'o', value_name = "FILE", default_value = "-")]
        out: PathBuf,
    },
    /// Print the profile of a data set: counts, users, paths and their types, lengths, malformed lines
    Describe {
        /// A file, a folder, `-`, or an http(s) address [default: 100k generated events]
        #[arg(value_name = "PATH|URL")]
        data: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
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
    /// Its variant [default: the prepared one]
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Option<String>,
    /// Documents to generate
    #[arg(long, short = 'n', value_name = "COUNT", default_value = "100k", value_parser = parse::count)]
    pub(crate) scale: u64,
    /// Comparisons at least; each round of questions gives six
    #[arg(long, short = 'c', value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) comparisons: u32,
    /// Rounds a comparison
    #[arg(long, short = 'r', value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) rounds: u32,
    /// Folder for the trials [default: runs/DATE-TIME]
    #[arg(long, short = 'o', value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArguments,
}

#[derive(Debug, Args)]
pub(crate) struct GrowthArguments {
    /// Folders of runs
    #[arg(value_name = "DIR", num_args = 2.., required = true)]
    pub(crate) runs: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The tables that end a run
    Table,
    /// Summary schema 1
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
    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// Folder of the run
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// Format
    #[arg(long, short = 'f', value_enum, default_value = "table")]
    pub(crate) format: Format,
    /// Means with standard deviations beside medians, in tables of large documents and in CSV; JSON always has them
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
    /// A, the baseline, and B, the run held against it: folders of runs, or names of saved baselines. With
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
    /// Let B pass though cells that were right in A are missing or not comparable, as in a run that is smaller on
    /// purpose; how many is said
    #[arg(long, requires = "fail_on_regression")]
    pub(crate) allow_missing: bool,
    /// Compare runs of different documents, of the same number
    #[arg(long)]
    pub(crate) different_data: bool,
    /// Format
    #[arg(long, short = 'f', value_enum, default_value = "table")]
    pub(crate) format: CompareFormat,
    /// Print the comparison as JSON on standard output instead of tables
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScoredBy {
    /// The better of runs 2 and 3
    Hot,
    /// The first run
    Cold,
    /// Bytes in all
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
    #[arg(long, value_enum, default_value = "hot")]
    pub(crate) by: ScoredBy,
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
    #[arg(long, conflicts_with_all = ["paths", "scale", "snapshot", "by", "any_structure"])]
    pub(crate) documents: bool,
}
