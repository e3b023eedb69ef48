//! Converts the arguments of `jsonathlon run mixed` into settings.

use jsonathlon_dataset::source::Source;
use jsonathlon_schema::durability::DurabilityTier;
use jsonathlon_schema::settings::StoppingRule;
use jsonathlon_schema::settings::mixed::{InsertRate, MixedSettings};
use jsonathlon_workloads::mixed::Mixed;

use super::run_request::{RunDefaults, RunRequest, events_of};
use crate::cli::mixed::{MixedArguments, MixedOptions, RateOption};
use crate::cli::run_options::EventRunArguments;
use crate::exit::Failure;

/// Default of `--systems` for this workload.
const SYSTEMS: &str = "postgresql,clickhouse,mongodb";
/// Default of `--variants` for this workload: one of each system, because its phases take half a minute a round.
pub(super) const VARIANTS: &str = "main";
/// Default of `--rounds` for this workload.
const ROUNDS: u32 = 3;
/// Default of `--streams` on still data.
const STILL_STREAMS: [u32; 3] = [1, 4, 16];
/// A batch counts as ingested when it survives a crash; the workload knows no other tier.
pub(super) const DURABILITY: DurabilityTier = DurabilityTier::Synced;

pub(super) fn build_request(arguments: &MixedArguments) -> Result<RunRequest<'_>, Failure> {
    let MixedArguments { run, options } = arguments;
    let EventRunArguments { common, external, events, .. } = run;
    let settings = mixed_settings(options).map_err(Failure::usage)?;
    let (settings, source) = match events_of(run)? {
        // `--scale` is what systems load; the documents that come in are generated in addition.
        Source::Generated { seed, start, documents, malformed } => {
            let (settings, documents) = Mixed::of_generated(settings, documents);
            (settings, Source::Generated { seed, start, documents, malformed })
        }
        source => (settings, source),
    };
    let defaults = RunDefaults {
        systems: Some(SYSTEMS),
        variants: VARIANTS,
        rounds: options.rounds.unwrap_or(ROUNDS),
        stopping: StoppingRule::Rounds,
        load_rounds: Some(1),
        durability: Some(DURABILITY),
        memory: None,
        memory_limit_bytes: None,
    };
    let workload = Mixed::new(settings).map_err(Failure::usage)?;
    Ok(RunRequest {
        common,
        external: Some(external),
        source: Some(source),
        seed: events.seed,
        has_yardstick: false,
        defaults,
        workload: Box::new(workload),
        user_questions: None,
        reports: None,
    })
}

/// Settings of what the user gave, with defaults for the rest.
fn mixed_settings(options: &MixedOptions) -> Result<MixedSettings, String> {
    let defaults = MixedSettings::default();
    let (rate, frontier) = match &options.rate {
        RateOption::Same(InsertRate::PerSecond(0.0)) => return still_settings(options),
        RateOption::Same(rate) => (*rate, Vec::new()),
        RateOption::Frontier(rates) => (InsertRate::FullSpeed, rates.clone()),
    };
    let streams = match options.streams.as_slice() {
        [] => defaults.streams,
        [streams] => *streams,
        _ => {
            return Err(
                "several numbers of --streams cannot be measured beside writers: give one number, or \
                        --rate 0 for streams on still data"
                    .to_owned(),
            );
        }
    };
    Ok(MixedSettings {
        writers: options.writers.unwrap_or(defaults.writers),
        streams,
        batch: options.batch.unwrap_or(defaults.batch),
        rate,
        frontier,
        growth: options.growth.unwrap_or(defaults.growth),
        measure_s: options.measure,
        server_cpus: options.server_cpus.clone(),
        ..defaults
    })
}

/// Settings of streams on still data, beside which options of writers mean nothing.
fn still_settings(options: &MixedOptions) -> Result<MixedSettings, String> {
    let given = [
        ("--writers", options.writers.is_some()),
        ("--batch", options.batch.is_some()),
        ("--growth", options.growth.is_some()),
    ];
    if let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) {
        return Err(format!(
            "{option} means nothing with --rate 0, where no documents come in: leave it out, or give another --rate"
        ));
    }
    let mut still_streams = options.streams.clone();
    if still_streams.is_empty() {
        still_streams = STILL_STREAMS.to_vec();
    }
    still_streams.sort_unstable();
    if let Some(twice) = still_streams.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("--streams names {} twice: give each number once", twice[0]));
    }
    let streams = still_streams.last().copied().unwrap_or_default();
    Ok(MixedSettings {
        writers: 0,
        streams,
        still_streams,
        rate: InsertRate::PerSecond(0.0),
        growth: 0.0,
        measure_s: options.measure,
        server_cpus: options.server_cpus.clone(),
        ..MixedSettings::default()
    })
}
