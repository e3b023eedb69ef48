//! Groups of command-line options that several workloads of `jsonathlon run` have.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use jsonathlon_dataset::source::{Form, InputOptions};
use jsonathlon_schema::transport::Transport;
use jsonathlon_workloads::quiet_machine::BusyMachinePolicy;

use super::{CatalogueArguments, InstallOptions, TableChoice};
use crate::parse;

/// Default of `--scale`: the number of documents or records to generate.
pub(crate) const DEFAULT_SCALE: u64 = 100_000;

/// Environment variable with the default of `--wait-quiet`.
const WAIT_QUIET: &str = "JSONATHLON_WAIT_QUIET";

/// Help heading of the options of workloads that ask questions.
pub(super) const ASKING: &str = "How questions are asked";

/// What every workload can be told.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct CommonArguments {
    #[command(flatten)]
    pub(crate) systems: SystemOptions,
    #[command(flatten)]
    pub(crate) execution: ExecutionOptions,
    /// Resume an interrupted run with its original settings (no other run options allowed)
    #[arg(long, value_name = "DIR")]
    pub(crate) resume: Option<PathBuf>,
    /// Print the summary as JSON on standard output instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Columns of the tables
    #[arg(long, value_enum, default_value = "compact", conflicts_with = "json")]
    pub(crate) tables: TableChoice,
    /// Keep whole paths of this machine on the page, e.g. in messages of systems
    #[arg(long)]
    pub(crate) show_paths: bool,
    #[command(flatten)]
    pub(crate) quiet: QuietOptions,
    #[command(flatten)]
    pub(crate) install: InstallOptions,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArguments,
}

/// Whether a run waits for other programs that use the processors.
#[derive(Debug, Clone, Copy, Default, Args)]
#[group(skip)]
pub(crate) struct QuietOptions {
    /// Before anything is measured, wait until other programs leave the processors alone for some seconds, at most
    /// this long, e.g. 2m, and begin with a warning afterwards; 0 neither waits nor warns [default: warn at once]
    #[arg(long, value_name = "TIME", env = WAIT_QUIET, hide_env_values = true, value_parser = parse::seconds_or_zero)]
    pub(crate) wait_quiet: Option<f64>,
}

impl QuietOptions {
    /// What the options say about other programs.
    pub(crate) fn policy(self) -> BusyMachinePolicy {
        match self.wait_quiet {
            Some(seconds) if seconds <= 0.0 => BusyMachinePolicy::Ignore,
            Some(seconds) => BusyMachinePolicy::Wait(Duration::from_secs_f64(seconds)),
            None => BusyMachinePolicy::Warn,
        }
    }
}

/// Which systems are measured, and how they are set up.
#[derive(Debug, Args)]
#[group(conflicts_with = "resume")]
pub(crate) struct SystemOptions {
    /// Systems, as NAME or NAME@VERSION, separated by commas, or `all` [default: the embedded engines; of serving,
    /// documents and durability postgresql,mongodb,sqlite; of mixed postgresql,clickhouse,mongodb]
    #[arg(long, short = 's', value_name = "NAMES")]
    pub(crate) systems: Option<String>,
    /// Variants of the systems' configurations: a preparation class (`as-is`, `prepared`, `extracted`) for its default
    /// variant, `default` for that of every class, `all` for all that are ranked, or names, of one system alone as
    /// SYSTEM/NAME, separated by commas
    #[arg(long, value_name = "NAMES", default_value = "default")]
    pub(crate) variants: String,
    /// Storage settings: `default`, `best`, or `all`
    #[arg(long, value_name = "NAMES", default_value = "default")]
    pub(crate) storage: String,
    /// Memory settings: the same budget for every system, spent as its vendor advises; those of the package; or both,
    /// which are never ranked together
    #[arg(long, value_enum, default_value = "sized")]
    pub(crate) profile: ProfileChoice,
    /// Memory that each system may use under the profile `sized`, such as 8GB, or 8GiB in units of
    /// 1,024 [default: half of what the machine, or its container, has; of fidelity and durability 4GB]
    #[arg(long, value_name = "SIZE", value_parser = parse::bytes)]
    pub(crate) memory: Option<u64>,
    /// How servers that are started are reached
    #[arg(long, value_enum, default_value = "tcp")]
    pub(crate) transport: TransportChoice,
}

/// Systems that the program does not install.
#[derive(Debug, Default, Args)]
#[group(conflicts_with = "resume")]
pub(crate) struct ExternalOptions {
    /// A server that you operate, as NAME=ADDRESS (postgres://USER@HOST:PORT/DATABASE, mysql://, mongodb://,
    /// http(s)://), or your own binaries, as NAME=PATH; may be repeated. The run creates its own database there
    /// and drops it at the end. Passwords come from JSONATHLON_PASSWORD_<NAME>
    #[arg(long, value_name = "NAME=WHERE")]
    pub(crate) system: Vec<String>,
    /// Shell command that restarts a server by address, as NAME=COMMAND, so that it can be asked cold; may be
    /// repeated
    #[arg(long, value_name = "NAME=COMMAND")]
    pub(crate) restart_command: Vec<String>,
}

/// Where a run's results go, and its timeouts.
#[derive(Debug, Args)]
#[group(conflicts_with = "resume")]
pub(crate) struct ExecutionOptions {
    /// Timeout per trial, e.g. 90s, 10m, 1h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse::seconds)]
    pub(crate) timeout: f64,
    /// Timeout per load, and per wait for background work
    #[arg(long, value_name = "TIME", default_value = "12h", value_parser = parse::seconds)]
    pub(crate) load_timeout: f64,
    /// Folder for the run's results [default: runs/DATE-TIME]
    #[arg(long, short = 'o', value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Keep the systems' data folders
    #[arg(long)]
    pub(crate) keep_data: bool,
}

/// Events to generate, or documents to load in place of them.
#[derive(Debug, Args)]
#[group(conflicts_with = "resume")]
pub(crate) struct EventOptions {
    /// Number of documents to generate, e.g. 5000, 100k, 1m, 1g [default: 100k]
    #[arg(long, alias = "records", short = 'n', value_name = "COUNT", value_parser = parse::count)]
    pub(crate) scale: Option<u64>,
    /// Documents to load instead: a file, a folder, an archive (tar, zip), `-` for standard input, or an http(s)
    /// address; JSON in any form of --input, plain or compressed (gzip, zstd, bzip2, xz)
    #[arg(long, short = 'd', value_name = "PATH|URL", conflicts_with_all = ["scale", "malformed", "seed"])]
    pub(crate) data: Option<String>,
    /// Number of malformed lines to plant among the generated documents
    #[arg(long, value_name = "COUNT", default_value = "0", value_parser = parse::count_or_zero)]
    pub(crate) malformed: u64,
    /// Seed of the generated documents
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_SEED)]
    pub(crate) seed: u64,
}

/// Form of the files that `--data` names. Stands beside the other groups of a command, because a group with a
/// nested group loses its own conflicts.
#[derive(Debug, Clone, Copy, Default, Args)]
#[group(skip)]
pub(crate) struct InputArguments {
    /// Form of every file of --data [default: found from the first bytes of each file]
    #[arg(long, value_name = "FORM", value_enum, requires = "data")]
    pub(crate) input: Option<FormChoice>,
    /// What is done with the action lines of bulk files, in which they alternate with documents [default: refuse]
    #[arg(long, value_name = "CHOICE", value_enum, requires = "data")]
    pub(crate) bulk_actions: Option<BulkActionsChoice>,
}

impl InputArguments {
    /// Options of reading that the arguments name.
    pub(crate) fn options(self) -> InputOptions {
        InputOptions {
            form: self.input.map(Form::from),
            skip_bulk_actions: self.bulk_actions == Some(BulkActionsChoice::Skip),
        }
    }

    /// The same arguments as on a command line, each with a space before it.
    pub(crate) fn command_line(self) -> String {
        let InputOptions { form, skip_bulk_actions } = self.options();
        let form = form.map(|form| format!(" --input {form}")).unwrap_or_default();
        let actions = if skip_bulk_actions { " --bulk-actions skip" } else { "" };
        form + actions
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormChoice {
    /// Newline-delimited JSON: one document on each line
    Lines,
    /// One array, whose elements are the documents
    Array,
    /// Documents one after the other, on any number of lines each
    Stream,
    /// One document in each file
    File,
}

impl From<FormChoice> for Form {
    fn from(choice: FormChoice) -> Self {
        match choice {
            FormChoice::Lines => Self::Lines,
            FormChoice::Array => Self::Array,
            FormChoice::Stream => Self::Stream,
            FormChoice::File => Self::File,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BulkActionsChoice {
    /// Bulk files are an error
    Refuse,
    /// Action lines are skipped
    Skip,
}

/// Default of `--seed` for all workloads.
pub(crate) const DEFAULT_SEED: u64 = 1;

/// When a run that asks questions stops.
#[derive(Debug, Args)]
#[group(conflicts_with = "resume")]
pub(crate) struct PaceOptions {
    /// Number of rounds; intervals need at least two [default: as many as fit into the budget, at least five]
    #[arg(long, short = 'r', value_name = "N", conflicts_with_all = ["precision", "budget"], value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: Option<u32>,
    /// Time for the whole run once systems are installed, loads included, such as 10m; refused after the first round
    /// if five rounds do not fit [default: 85s, or as long as five rounds take]
    #[arg(long, value_name = "TIME", value_parser = parse::seconds)]
    pub(crate) budget: Option<f64>,
    /// Run until every ranked result's 95 % interval is within ±PCT of its median, or the time budget is
    /// spent [budget: 30m]
    #[arg(long, value_name = "PCT", value_parser = parse::precision)]
    pub(crate) precision: Option<f64>,
    /// Number of rounds that start with a fresh load [default: 3 if a load takes less than a minute, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) load_rounds: Option<u32>,
}

/// How questions are asked, no matter who wrote them.
#[derive(Debug, Args)]
#[group(conflicts_with = "resume")]
pub(crate) struct QuestionOptions {
    /// Hot trials per round and question [default: 0.3 s worth of them, at least 3 and at most 20;
    /// of a plain run 0.06 s worth, at least 2]
    #[arg(long, short = 't', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = ASKING)]
    pub(crate) trials: Option<u32>,
    /// State of the data in which questions are asked
    #[arg(long, value_enum, default_value = "drained", help_heading = ASKING)]
    pub(crate) data_state: DataStates,
    /// Number of rounds with cold trials, from the first; 0 for none [default: all; of a plain run the first 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000), help_heading = ASKING)]
    pub(crate) cold_rounds: Option<u32>,
    /// Also measure cold as published: page cache dropped, engine left running
    #[arg(long, help_heading = ASKING)]
    pub(crate) cold_page_cache: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataStates {
    /// Background work has finished by itself
    Drained,
    /// The system was told to put its data in its best order
    Compacted,
    /// One after the other; results of the two are never mixed
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileChoice {
    /// The same budget for every system, spent as its vendor advises
    Sized,
    /// The memory settings of the package
    Stock,
    /// Each system twice, ranked separately
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransportChoice {
    /// TCP on the loopback interface
    Tcp,
    /// Encrypted TCP, for systems whose folder says how
    Tls,
    /// A Unix socket in the server's own folder, for systems that have one
    Unix,
}

impl From<TransportChoice> for Transport {
    fn from(choice: TransportChoice) -> Self {
        match choice {
            TransportChoice::Tcp => Self::Tcp,
            TransportChoice::Tls => Self::Tls,
            TransportChoice::Unix => Self::Unix,
        }
    }
}
