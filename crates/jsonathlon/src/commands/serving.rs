//! Converts the arguments of `jsonathlon run serving` into settings.

use std::path::Path;

use jsonathlon_dataset::records::{KeyOrder, KeyType, Kind, Records, Values};
use jsonathlon_dataset::source::Source;
use jsonathlon_loadgen::mix::Mix;
use jsonathlon_loadgen::paths::{Position, Projection};
use jsonathlon_workloads::serving::settings::{ArrivalPattern, EncodedSample, ServingSettings};
use jsonathlon_workloads::serving::{Serving, mixes};
use jsonathlon_workloads::stopping::StoppingRule;

use super::memory::default_budget;
use super::run_request::{RunDefaults, RunRequest};
use crate::cli::serving::{
    ArrivalChoice, Documents, KeyOrderChoice, KeyTypeChoice, PositionChoice, ServingArguments, ValuesChoice,
};
use crate::cli::{RunArguments, USUAL_SCALE};
use crate::exit::Failure;

/// Default of `--systems`: two servers in which documents are commonly kept, and an embedded engine.
const SYSTEMS: &str = "postgresql,mongodb,sqlite";
/// Default of `--rounds` for this workload.
const ROUNDS: u32 = 4;
/// Maximum number of retries of an operation that failed because of a conflict.
const RETRIES: u32 = 10;

pub(super) fn asked(arguments: &ServingArguments) -> Result<RunRequest<'_>, Failure> {
    let run = &arguments.run;
    not_of_serving(run)?;
    let records = records(arguments);
    let encode = samples(arguments.encode.as_deref().unwrap_or_default(), &records)?;
    let mixes = mixes(arguments, encode.is_empty())?;
    let budget = run.memory.unwrap_or_else(default_budget);
    let documents = match arguments.ratio {
        Some(ratio) => of_memory(&records, ratio * budget as f64)?,
        None => run.scale.unwrap_or(USUAL_SCALE),
    };
    let source = Source::Records { records: records.clone(), documents };
    let settings = settings(arguments, records, mixes, encode);
    let enough = match (run.rounds, run.budget) {
        (None, Some(seconds)) => StoppingRule::Budget { seconds, strict: true },
        _ => StoppingRule::Rounds,
    };
    let usual = RunDefaults {
        systems: Some(SYSTEMS),
        rounds: ROUNDS,
        enough,
        load_rounds: Some(run.load_rounds.unwrap_or(1)),
        durability: Some(arguments.durability.clone()),
        memory: None,
        memory_limit_bytes: arguments.ratio.map(|_| budget),
    };
    let workload = Serving::new(settings).map_err(Failure::usage)?;
    Ok(RunRequest { arguments: run, source: Some(source), usual, workload: Box::new(workload), own: None })
}

/// Settings that the options describe, with what was parsed of them before.
fn settings(
    arguments: &ServingArguments,
    records: Records,
    mixes: Vec<Mix>,
    encode: Vec<EncodedSample>,
) -> ServingSettings {
    let mut clients = arguments.clients.clone();
    clients.sort_unstable();
    clients.dedup();
    ServingSettings {
        records,
        mixes,
        clients,
        rates: arguments.rates.clone().map(|rates| rates.0).unwrap_or_default(),
        spread: match arguments.arrival {
            ArrivalChoice::Poisson => ArrivalPattern::Poisson,
            ArrivalChoice::Fixed => ArrivalPattern::Fixed,
        },
        objective: arguments.slo,
        ramp_s: arguments.ramp,
        measured_s: arguments.measure,
        long_s: arguments.long,
        operations: arguments.operations,
        encode,
        durability: arguments.durability.clone(),
        prepare: !arguments.no_prepare,
        batch: arguments.batch,
        scan: arguments.scan_length,
        limit: arguments.find_limit,
        projection: Projection {
            count: arguments.paths,
            position: match arguments.positions {
                PositionChoice::First => Position::First,
                PositionChoice::Spread => Position::Spread,
                PositionChoice::Last => Position::Last,
            },
        },
        server_cpus: arguments.server_cpus.clone(),
        timeout_s: arguments.operation_timeout,
        retries: RETRIES,
    }
}

/// Records that the options describe.
fn records(arguments: &ServingArguments) -> Records {
    let kind = match arguments.documents {
        Documents::Small => Kind::Small,
        Documents::Flat => Kind::Flat,
        Documents::Large => Kind::Large,
        Documents::Nested => Kind::Nested,
        Documents::Size => Kind::Size { bytes: arguments.doc_size },
        Documents::Items => Kind::Items { members: arguments.members },
    };
    Records {
        kind,
        values: match arguments.values {
            ValuesChoice::Text => Values::Text,
            ValuesChoice::Random => Values::Random,
        },
        seed: arguments.run.seed,
        key_order: match arguments.key_order {
            KeyOrderChoice::Hashed => KeyOrder::Hashed,
            KeyOrderChoice::Ordered => KeyOrder::Ordered,
        },
        key_type: match arguments.key_type {
            KeyTypeChoice::Text => KeyType::Text,
            KeyTypeChoice::Bigint => KeyType::Bigint,
        },
        key_member: None,
    }
}

/// Mixes that `--mixes` names, without duplicates. None is an error, unless documents are encoded.
fn mixes(arguments: &ServingArguments, is_needed: bool) -> Result<Vec<Mix>, Failure> {
    let mut mixes = Vec::new();
    let wanted = if arguments.mixes == NONE && !is_needed { "" } else { &arguments.mixes };
    for name in wanted.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let mix = match mixes::named(name) {
            Some(mix) => mix,
            None if name.ends_with(".toml") => mixes::from_file(Path::new(name)).map_err(Failure::usage)?,
            None => {
                return Err(Failure::usage(format!(
                    "no mix is called `{name}`: use {}, or a file that ends in .toml",
                    mixes::names().join(", ")
                )));
            }
        };
        if !mixes.contains(&mix) {
            mixes.push(mix);
        }
    }
    if mixes.is_empty() && is_needed {
        return Err(Failure::usage("--mixes names no mix"));
    }
    Ok(mixes)
}

/// Value of `--mixes` for a run that only measures the stored size of documents (`--encode`).
const NONE: &str = "none";

/// Parses `--encode`: documents whose stored size each system is asked for, as JSON objects or names of
/// kinds.
fn samples(text: &str, records: &Records) -> Result<Vec<EncodedSample>, Failure> {
    let kinds =
        [("small", Kind::Small), ("flat", Kind::Flat), ("large", Kind::Large), ("nested", Kind::Nested)];
    let mut all = Vec::new();
    for name in text.split(';').map(str::trim).filter(|name| !name.is_empty()) {
        let text = match kinds.iter().find(|(known, _)| *known == name) {
            Some((_, kind)) => {
                let of_kind = Records { kind: kind.clone(), ..records.clone() };
                let set = of_kind.prepare().map_err(|error| Failure::usage(error.to_string()))?;
                let mut one = Vec::new();
                set.document(0, 0, &mut one);
                String::from_utf8_lossy(&one).into_owned()
            }
            None => match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(name) {
                Ok(_) => name.to_owned(),
                Err(error) => {
                    return Err(Failure::usage(format!(
                        "--encode: `{name}` is no object of JSON ({error}) and none of small, flat, large, nested"
                    )));
                }
            },
        };
        all.push(EncodedSample { name: name.to_owned(), text });
    }
    Ok(all)
}

/// Rejects shared options that do not apply to this workload, with the alternative or the reason.
fn not_of_serving(run: &RunArguments) -> Result<(), Failure> {
    let told = [
        (
            "--data",
            run.data.is_some(),
            "records are generated: --documents, --values and --records say which",
        ),
        ("--malformed", run.malformed > 0, "records are generated whole"),
        ("--precision", run.precision.is_some(), "use --rounds or --budget"),
    ];
    match told.into_iter().find(|(_, is_told, _)| *is_told) {
        Some((option, _, why)) => Err(Failure::usage(format!("{option} is not for serving: {why}"))),
        None => Ok(()),
    }
}

/// Number of records whose JSON text takes this many bytes, computed from the size of the first record.
fn of_memory(records: &Records, bytes: f64) -> Result<u64, Failure> {
    let mut one = Vec::new();
    let set = records.prepare().map_err(|error| Failure::usage(error.to_string()))?;
    set.document(0, 0, &mut one);
    Ok(((bytes / one.len().max(1) as f64).ceil() as u64).max(1))
}
