//! Converts the arguments of `jsonathlon run durability` into settings.

use jsonathlon_dataset::records::{KeyOrder, KeyType, Kind, Records, Values};
use jsonathlon_dataset::source::Source;
use jsonathlon_schema::durability::{CrashKind, DurabilityTier};
use jsonathlon_schema::settings::StoppingRule;
use jsonathlon_workloads::durability::Durability;
use jsonathlon_workloads::durability::settings::DurabilitySettings;

use super::run_request::{DEFAULT_VARIANTS, RunDefaults, RunRequest, UNTIMED_MEMORY};
use crate::cli::durability::DurabilityArguments;
use crate::exit::Failure;
use crate::parse;

/// Default of `--systems` for this workload.
const SYSTEMS: &str = "postgresql,mongodb,sqlite";
/// Default of `--scale`. All records are read after each crash.
const RECORDS: u64 = 5_000;
/// Timeout of one operation, in seconds.
const OPERATION_TIMEOUT_S: f64 = 10.0;
/// Earliest moment of a crash, as a share of the latest one (`--crash-within`).
const EARLIEST_SHARE: f64 = 0.1;

pub(super) fn build_request(arguments: &DurabilityArguments) -> Result<RunRequest<'_>, Failure> {
    let options = &arguments.options;
    let records = Records {
        kind: Kind::Flat,
        values: Values::Text,
        seed: options.seed,
        key_order: KeyOrder::Hashed,
        key_type: KeyType::Text,
        key_member: None,
    };
    let documents = options.scale.unwrap_or(RECORDS);
    let source = Source::Records { records: records.clone(), documents };
    let mut crash_kinds: Vec<CrashKind> = options.crash.iter().copied().map(CrashKind::from).collect();
    crash_kinds.sort_unstable();
    crash_kinds.dedup();
    let settings = DurabilitySettings {
        records,
        tiers: tiers(&options.durability)?,
        crash_kinds,
        crashes: options.crashes,
        clients: options.clients,
        crash_within_s: (EARLIEST_SHARE * options.crash_within, options.crash_within),
        recovery_timeout_s: options.recovery_timeout,
        disk_bytes: options.disk_size,
        timeout_s: OPERATION_TIMEOUT_S,
    };
    settings.enter_namespace().map_err(Failure::environment)?;
    let defaults = RunDefaults {
        systems: Some(SYSTEMS),
        variants: DEFAULT_VARIANTS,
        rounds: 1,
        stopping: StoppingRule::Rounds,
        load_rounds: Some(1),
        durability: None,
        // No speed is measured, and logs as large as those of half of this machine would fill the disk.
        memory: Some(UNTIMED_MEMORY),
        memory_limit_bytes: None,
    };
    let workload = Durability::new(settings).map_err(Failure::usage)?;
    Ok(RunRequest {
        common: &arguments.common,
        // A server that somebody else operates must not be crashed.
        external: None,
        source: Some(source),
        seed: options.seed,
        has_yardstick: true,
        defaults,
        workload: Box::new(workload),
        user_questions: None,
        reports: None,
    })
}

/// Parses `--durability` into tiers in the order of [`DurabilityTier::ALL`]. `all` gives an empty list, which
/// stands for every tier.
fn tiers(text: &str) -> Result<Vec<DurabilityTier>, Failure> {
    let words: Vec<&str> = text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    if words == ["all"] {
        return Ok(Vec::new());
    }
    match words.iter().find(|word| DurabilityTier::from_word(word).is_none()) {
        Some(unknown) => Err(Failure::usage(format!(
            "--durability: there is no durability tier `{unknown}`: use {}, or all",
            parse::durability_tier_names()
        ))),
        None if words.is_empty() => Err(Failure::usage("--durability names no tier")),
        None => Ok(DurabilityTier::ALL.into_iter().filter(|tier| words.contains(&tier.word())).collect()),
    }
}

#[cfg(test)]
mod tests {
    use jsonathlon_catalogue::log_bytes;

    use super::*;
    use crate::cli::durability::DEFAULT_DISK_SIZE;

    #[test]
    fn the_default_disk_has_room_for_every_log_twice() {
        let disk = parse::bytes(DEFAULT_DISK_SIZE).unwrap();
        // No system's folder can give its log more.
        let log = log_bytes(UNTIMED_MEMORY);
        assert!(2 * log <= disk, "a log of {log} bytes on a disk of {DEFAULT_DISK_SIZE}");
    }
}
