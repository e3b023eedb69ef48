//! Command-line options of `jsonathlon run durability`.

use clap::{Args, ValueEnum};
use jsonathlon_schema::durability::CrashKind;

use super::run_options::{CommonArguments, DEFAULT_SEED};
use crate::parse;

/// Help heading of the options that only this workload has.
const DURABILITY: &str = "Options of durability";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CrashChoice {
    /// Kill the system's processes
    Process,
    /// Cut the power of its disk, which needs root
    Power,
}

impl From<CrashChoice> for CrashKind {
    fn from(choice: CrashChoice) -> Self {
        match choice {
            CrashChoice::Process => Self::Process,
            CrashChoice::Power => Self::Power,
        }
    }
}

/// Without any option: PostgreSQL, MongoDB and SQLite, crashed three times by each kind in the tiers synced and window.
#[derive(Debug, Args)]
pub(crate) struct DurabilityArguments {
    #[command(flatten)]
    pub(crate) common: CommonArguments,
    #[command(flatten)]
    pub(crate) options: DurabilityOptions,
}

/// Options that only this workload has, and its records.
#[derive(Debug, Args)]
#[group(conflicts_with = "resume")]
pub(crate) struct DurabilityOptions {
    /// Number of records to generate, all of which are read after each crash [default: 5k]
    #[arg(long, alias = "records", short = 'n', value_name = "COUNT", value_parser = parse::count)]
    pub(crate) scale: Option<u64>,
    /// Seed of the generated records and of the moments of crashes
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_SEED)]
    pub(crate) seed: u64,
    /// Kinds of crashes, separated by commas
    #[arg(long, value_enum, value_name = "KINDS", default_value = "process,power", value_delimiter = ',', help_heading = DURABILITY)]
    pub(crate) crash: Vec<CrashChoice>,
    /// Number of crashes of each kind in each tier, at random moments
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = DURABILITY)]
    pub(crate) crashes: u32,
    /// Durability tiers, those of them that a system has: synced, process, window, or all; separated by commas
    #[arg(long, value_name = "TIERS", default_value = "synced,window", help_heading = DURABILITY)]
    pub(crate) durability: String,
    /// Number of clients that insert and update
    #[arg(long, short = 'c', value_name = "N", default_value = "4", value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = DURABILITY)]
    pub(crate) clients: u32,
    /// Latest moment of a crash; the earliest is a tenth of it
    #[arg(long, value_name = "TIME", default_value = "1500ms", value_parser = moment, help_heading = DURABILITY)]
    pub(crate) crash_within: f64,
    /// Timeout per recovery after a crash
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = parse::seconds, help_heading = DURABILITY)]
    pub(crate) recovery_timeout: f64,
    /// Size of the disk whose power is cut; only what is written to it takes space
    #[arg(long, value_name = "SIZE", default_value = DEFAULT_DISK_SIZE, value_parser = parse::bytes, help_heading = DURABILITY)]
    pub(crate) disk_size: u64,
}

/// Default of `--disk-size`. Systems that allocate their whole log at once need room for it.
pub(crate) const DEFAULT_DISK_SIZE: &str = "4GB";

/// Maximum of `--crash-within`, in seconds.
const LATEST_S: f64 = 15.0;

fn moment(text: &str) -> Result<f64, String> {
    match parse::seconds(text)? {
        seconds if seconds <= LATEST_S => Ok(seconds),
        _ => Err(format!("{text:?} is too long: at most {LATEST_S} s; more crashes tell more")),
    }
}
