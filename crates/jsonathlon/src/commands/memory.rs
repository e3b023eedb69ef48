//! Memory settings of systems, from the options `--profile` and `--memory`.

use jsonathlon_catalogue::{Configuration, MemoryProfile};
use jsonathlon_report::format;
use jsonathlon_schema::{manifest, ranking};
use jsonathlon_telemetry::machine::memory_bytes;

use crate::{
    cli::run_options::{ProfileChoice, SystemOptions},
    exit::Failure,
};

/// Selected memory profiles of a run, and the memory budget of the profile `sized`.
pub(super) struct MemoryProfiles {
    profiles: Vec<MemoryProfile>,
    budget_bytes: u64,
}

impl MemoryProfiles {
    /// Evaluates `--profile` and `--memory`. Without `--memory`, the budget is [`default_budget_bytes`], or
    /// `workload_default` bytes if that is less. Fails if `--memory` exceeds the memory of the machine or its
    /// container, or is combined with `stock` as the only profile.
    pub(super) fn from_options(
        options: &SystemOptions,
        workload_default: Option<u64>,
    ) -> Result<Self, Failure> {
        let profiles = match options.profile {
            ProfileChoice::Sized => vec![MemoryProfile::Sized],
            ProfileChoice::Stock => vec![MemoryProfile::Stock],
            ProfileChoice::Both => vec![MemoryProfile::Sized, MemoryProfile::Stock],
        };
        if options.memory.is_some() && profiles == [MemoryProfile::Stock] {
            return Err(Failure::usage(
                "--memory sets the budget of the profile `sized` and has no effect on `stock`: remove \
                 --memory or select another profile",
            ));
        }
        let machine_bytes = memory_bytes().unwrap_or(0);
        let is_too_large = |requested: &u64| *requested > machine_bytes && machine_bytes > 0;
        if let Some(requested) = options.memory.filter(is_too_large) {
            return Err(Failure::usage(format!(
                "--memory: {} exceeds the memory of this machine or its container ({})",
                format::bytes(requested as f64),
                format::bytes(machine_bytes as f64)
            )));
        }
        let default_bytes = default_budget_bytes();
        let budget_bytes = options.memory.unwrap_or_else(|| {
            workload_default.map_or(default_bytes, |workload_bytes| workload_bytes.min(default_bytes))
        });
        Ok(Self { profiles, budget_bytes })
    }

    /// Returns one copy of a configuration per selected memory profile, each with the memory of that profile.
    pub(super) fn per_profile(&self, configuration: Configuration) -> Result<Vec<Configuration>, Failure> {
        let with_profile =
            |profile: &MemoryProfile| Ok(configuration.clone().with_memory(*profile, self.budget_bytes)?);
        let mut copies = self.profiles.iter().map(with_profile).collect::<Result<Vec<_>, Failure>>()?;
        // Remote servers and references have no memory settings, so all copies would be equal.
        if configuration.reference || copies.iter().all(|copy| copy.profile.is_none()) {
            copies.truncate(1);
        }
        Ok(copies)
    }
}

/// Default memory budget in bytes: half of the memory of the machine or its container. It is rounded down to
/// a multiple of 256 MiB, so that machines of one kind get the same budget, and is at least 256 MiB.
pub(super) fn default_budget_bytes() -> u64 {
    const GRANULARITY: u64 = 256 << 20;
    (memory_bytes().unwrap_or(0) / 2 / GRANULARITY * GRANULARITY).max(GRANULARITY)
}

/// Applies the memory settings that the manifest of a resumed run records for a configuration.
pub(super) fn with_recorded_memory(
    configuration: Configuration,
    recorded: &manifest::Configuration,
) -> Result<Configuration, Failure> {
    Ok(match recorded.profile {
        Some(ranking::MemoryProfile::Sized) => {
            let budget_bytes = recorded.memory_bytes.unwrap_or_else(default_budget_bytes);
            configuration.with_memory(MemoryProfile::Sized, budget_bytes)?
        }
        Some(ranking::MemoryProfile::Stock) => configuration.with_memory(MemoryProfile::Stock, 0)?,
        None => configuration,
    })
}
