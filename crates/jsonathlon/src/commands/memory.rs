//! Memory that systems may use, from `--profile` and `--memory`.

use jsonathlon_catalogue::{Configuration, MemoryProfile};
use jsonathlon_report::format;
use jsonathlon_schema::{manifest, ranking};
use jsonathlon_telemetry::machine::memory_bytes;

use crate::{
    cli::{ProfileChoice, RunArguments},
    exit::Failure,
};

/// Memory profiles of a run, and the budget of the profile `sized`.
pub(super) struct Memory {
    profiles: Vec<MemoryProfile>,
    budget_bytes: u64,
}

impl Memory {
    /// Reads `--profile` and `--memory`. `usual` is the workload's default in bytes, at most half of the
    /// memory; `None` means that half. Fails if `--memory` exceeds the machine's memory or is given for
    /// `stock` alone.
    pub(super) fn of(arguments: &RunArguments, usual: Option<u64>) -> Result<Self, Failure> {
        let profiles = match arguments.profile {
            ProfileChoice::Sized => vec![MemoryProfile::Sized],
            ProfileChoice::Stock => vec![MemoryProfile::Stock],
            ProfileChoice::Both => vec![MemoryProfile::Sized, MemoryProfile::Stock],
        };
        if arguments.memory.is_some() && profiles == [MemoryProfile::Stock] {
            return Err(Failure::usage(
                "--memory is the budget of the profile `sized`, and `stock` has the package's own settings: leave \
                 one of the two out",
            ));
        }
        let machine = memory_bytes().unwrap_or(0);
        if let Some(wanted) = arguments.memory.filter(|wanted| *wanted > machine && machine > 0) {
            return Err(Failure::usage(format!(
                "--memory: {} is more than this machine, or its container, has ({})",
                format::bytes(wanted as f64),
                format::bytes(machine as f64)
            )));
        }
        let half = default_budget();
        let budget_bytes = arguments.memory.unwrap_or_else(|| usual.map_or(half, |usual| usual.min(half)));
        Ok(Self { profiles, budget_bytes })
    }

    /// Sets the memory of a configuration, once per memory profile.
    pub(super) fn set(&self, configuration: Configuration) -> Result<Vec<Configuration>, Failure> {
        let one =
            |profile: &MemoryProfile| Ok(configuration.clone().with_memory(*profile, self.budget_bytes)?);
        let mut found = self.profiles.iter().map(one).collect::<Result<Vec<_>, Failure>>()?;
        // A remote server or a yardstick has no memory settings, so its profiles would be equal.
        if configuration.reference || found.iter().all(|one| one.profile.is_none()) {
            found.truncate(1);
        }
        Ok(found)
    }
}

/// Default memory budget in bytes: half of the memory of the machine or its container. It is rounded down to
/// 256 MiB, so that machines of one kind get the same budget, and is at least 256 MiB.
pub(super) fn default_budget() -> u64 {
    const STEP: u64 = 256 << 20;
    (memory_bytes().unwrap_or(0) / 2 / STEP * STEP).max(STEP)
}

/// Sets the memory of a configuration as recorded in the manifest of a run that is resumed.
pub(super) fn restore_memory(
    now: Configuration,
    then: &manifest::Configuration,
) -> Result<Configuration, Failure> {
    Ok(match then.profile {
        Some(ranking::MemoryProfile::Sized) => {
            now.with_memory(MemoryProfile::Sized, then.memory_bytes.unwrap_or_else(default_budget))?
        }
        Some(ranking::MemoryProfile::Stock) => now.with_memory(MemoryProfile::Stock, 0)?,
        None => now,
    })
}
