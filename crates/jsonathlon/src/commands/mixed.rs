//! Converts the arguments of `jsonathlon run mixed` into settings.

use jsonathlon_dataset::source::Source;
use jsonathlon_schema::durability::DurabilityTier;
use jsonathlon_schema::settings::StoppingRule;
use jsonathlon_schema::settings::mixed::MixedSettings;
use jsonathlon_workloads::mixed::Mixed;

use super::run_request::{RunDefaults, RunRequest, event_source, read_as};
use crate::cli::mixed::MixedArguments;
use crate::exit::Failure;

/// Default of `--systems` for this workload.
const SYSTEMS: &str = "postgresql,clickhouse,mongodb";
/// Default of `--rounds` for this workload.
const ROUNDS: u32 = 3;
/// A batch counts as ingested when it survives a crash; the workload knows no other tier.
pub(super) const DURABILITY: DurabilityTier = DurabilityTier::Synced;

pub(super) fn build_request(arguments: &MixedArguments) -> Result<RunRequest<'_>, Failure> {
    let MixedArguments { common, external, events, input, options } = arguments;
    let settings = MixedSettings {
        writers: options.writers,
        streams: options.streams,
        batch: options.batch,
        rate: options.rate,
        growth: options.growth,
        measure_s: options.measure,
        pool: None,
    };
    let source = match event_source(events)? {
        // `--scale` is what systems load; the documents that come in are generated in addition.
        Source::Generated { seed, start, documents, malformed } => {
            let documents = Mixed::documents_needed(documents, options.growth);
            Source::Generated { seed, start, documents, malformed }
        }
        source => source,
    };
    let defaults = RunDefaults {
        systems: Some(SYSTEMS),
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
        source: Some(read_as(source, *input, common)?),
        seed: events.seed,
        has_yardstick: false,
        defaults,
        workload: Box::new(workload),
        user_questions: None,
    })
}
