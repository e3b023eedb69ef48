//! Command-line options of `jsonathlon run durability`.

use clap::{Args, ValueEnum};

use super::RunArguments;
use crate::parse;

/// Help heading of the options that only this workload has.
const DURABILITY: &str = "Options of durability";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindChoice {
    /// Kill the system's processes
    Process,
    /// Cut the power of its disk, which needs root
    Power,
}

/// Without any option: PostgreSQL, MongoDB and SQLite, stopped three times by each kind in the tiers synced and window.
#[derive(Debug, Args)]
pub(crate) struct DurabilityArguments {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// How systems are stopped, separated by commas
    #[arg(long, value_enum, value_name = "KIND", default_value = "process,power", value_delimiter = ',', conflicts_with = "resume", help_heading = DURABILITY)]
    pub(crate) kind: Vec<KindChoice>,
    /// Stops of each kind in each tier, at random moments
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "resume", help_heading = DURABILITY)]
    pub(crate) stops: u32,
    /// Durability tiers, those of them that a system has: synced, process, window, or all; separated by commas
    #[arg(long, value_name = "TIERS", default_value = "synced,window", conflicts_with = "resume", help_heading = DURABILITY)]
    pub(crate) tier: String,
    /// Clients that insert and update
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u32).range(1..=1024), conflicts_with = "resume", help_heading = DURABILITY)]
    pub(crate) clients: u32,
    /// The longest work before a stop; its moment lies between a tenth of this and this
    #[arg(long, value_name = "TIME", default_value = "1500ms", value_parser = work, conflicts_with = "resume", help_heading = DURABILITY)]
    pub(crate) work: f64,
    /// Limit of coming up again after a stop
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = parse::seconds, conflicts_with = "resume", help_heading = DURABILITY)]
    pub(crate) recovery_limit: f64,
    /// Size of the disk whose power is cut; only what is written on it takes room
    #[arg(long, value_name = "SIZE", default_value = DEFAULT_DISK, value_parser = parse::bytes, conflicts_with = "resume", help_heading = DURABILITY)]
    pub(crate) disk: u64,
}

/// Default of `--disk`. Systems that allocate their whole log at once need room for it.
pub(crate) const DEFAULT_DISK: &str = "4GB";

/// Maximum of `--work`, the longest time under load before a crash, in seconds.
const LONGEST_WORK_S: f64 = 15.0;

fn work(text: &str) -> Result<f64, String> {
    match parse::seconds(text)? {
        seconds if seconds <= LONGEST_WORK_S => Ok(seconds),
        _ => Err(format!("{text:?} is too long: {LONGEST_WORK_S} s at most, more stops tell more")),
    }
}
