//! Converts the arguments of `jsonathlon run serving` into settings.

use std::path::Path;

use jsonathlon_catalogue::UserQuestions;
use jsonathlon_dataset::records::{KeyOrder, KeyType, Kind, Records, Values};
use jsonathlon_dataset::source::Source;
use jsonathlon_loadgen::mix::Mix;
use jsonathlon_loadgen::paths::{Position, Projection};
use jsonathlon_schema::settings::{StoppingRule, questions::QuestionSettings};
use jsonathlon_workloads::questions::build_settings;
use jsonathlon_workloads::serving::settings::{
    ArrivalPattern, EncodedSample, OwnDocuments, ReportSettings, ServedRecords, ServingSettings,
};
use jsonathlon_workloads::serving::{Serving, mixes};

use super::memory::default_budget_bytes;
use super::run_request::{DEFAULT_VARIANTS, RunDefaults, RunRequest, document_source, read_as};
use crate::cli::run_options::DEFAULT_SCALE;
use crate::cli::serving::{
    ArrivalChoice, DocumentsChoice, KeyOrderChoice, KeyTypeChoice, PositionChoice, ServingArguments,
    ServingOptions, ValuesChoice,
};
use crate::exit::Failure;

/// Default of `--systems`: two servers in which documents are commonly kept, and an embedded engine.
const SYSTEMS: &str = "postgresql,mongodb,sqlite";
/// Default of `--rounds` for this workload.
const ROUNDS: u32 = 4;
/// Default of `--document-size`, in bytes.
const DEFAULT_DOCUMENT_BYTES: u32 = 1_000;
/// Default of `--members`: members of each container.
const DEFAULT_MEMBERS: u32 = 20;
/// Default of `--streams`: connections that ask questions beside the load.
const DEFAULT_STREAMS: u32 = 1;
/// Maximum number of retries of an operation that failed because of a conflict.
const RETRIES: u32 = 10;

pub(super) fn build_request(arguments: &ServingArguments) -> Result<RunRequest<'_>, Failure> {
    let (common, options) = (&arguments.common, &arguments.options);
    let budget = common.systems.memory.unwrap_or_else(default_budget_bytes);
    let (source, records, stored_samples) = match &options.data {
        Some(data) => {
            (read_as(document_source(data)?, arguments.input, common)?, own_records(options)?, Vec::new())
        }
        None => {
            let records = records(options);
            let documents = match options.data_to_memory {
                Some(ratio) => document_count(&records, ratio * budget as f64)?,
                None => options.scale.unwrap_or(DEFAULT_SCALE),
            };
            let samples = samples(options.stored_size.as_deref().unwrap_or_default(), &records)?;
            (Source::Records { records: records.clone(), documents }, records.into(), samples)
        }
    };
    let mixes = mixes(options, stored_samples.is_empty())?;
    let reports = options.reports.as_deref().map(UserQuestions::read).transpose()?;
    let settings = ServingSettings {
        reports: reports.as_ref().map(|questions| report_settings(questions, options)),
        ..settings(options, records, mixes, stored_samples)
    };
    let stopping = match (options.rounds, options.budget) {
        (None, Some(seconds)) => StoppingRule::Budget { seconds, strict: true },
        _ => StoppingRule::Rounds,
    };
    let defaults = RunDefaults {
        systems: Some(SYSTEMS),
        variants: DEFAULT_VARIANTS,
        rounds: options.rounds.unwrap_or(ROUNDS),
        stopping,
        load_rounds: Some(options.load_rounds.unwrap_or(1)),
        durability: Some(options.durability),
        memory: None,
        memory_limit_bytes: options.data_to_memory.map(|_| budget),
    };
    let workload = Serving::new(settings).map_err(Failure::usage)?;
    Ok(RunRequest {
        common,
        external: Some(&arguments.external),
        source: Some(source),
        seed: options.seed,
        has_yardstick: true,
        defaults,
        workload: Box::new(workload),
        user_questions: None,
        reports,
    })
}

/// Settings that the options describe, with what was parsed of them before.
fn settings(
    options: &ServingOptions,
    records: ServedRecords,
    mixes: Vec<Mix>,
    stored_samples: Vec<EncodedSample>,
) -> ServingSettings {
    let mut clients = options.clients.clone();
    clients.sort_unstable();
    clients.dedup();
    ServingSettings {
        records,
        mixes,
        clients,
        rates: options.rates.clone().map(|rates| rates.0).unwrap_or_default(),
        arrival: match options.arrival {
            ArrivalChoice::Poisson => ArrivalPattern::Poisson,
            ArrivalChoice::Fixed => ArrivalPattern::Fixed,
        },
        slo: options.slo,
        warmup_s: options.warmup,
        duration_s: options.duration,
        soak_s: options.soak,
        operation_count: options.operation_count,
        stored_size_samples: stored_samples,
        durability: options.durability,
        prepare: !options.no_prepare,
        batch_size: options.batch_size,
        max_scan_length: options.scan_length,
        find_limit: options.find_limit,
        projection: Projection {
            count: options.read_paths,
            position: match options.read_positions {
                PositionChoice::First => Position::First,
                PositionChoice::Spread => Position::Spread,
                PositionChoice::Last => Position::Last,
            },
        },
        server_cpus: options.server_cpus.clone(),
        timeout_s: options.operation_timeout,
        retries: RETRIES,
        reports: None,
    }
}

/// Reports that the options describe: the questions of a user's folder, asked by a number of streams.
fn report_settings(questions: &UserQuestions, options: &ServingOptions) -> ReportSettings {
    ReportSettings {
        streams: options.streams.unwrap_or(DEFAULT_STREAMS),
        // Reports are asked in a closed loop, so that numbers of hot and cold trials mean nothing here.
        questions: build_settings(questions, QuestionSettings::default()),
    }
}

/// A user's own documents as the options describe them.
///
/// # Errors
/// If an option describes generated records; the text names it and says why it has no meaning.
fn own_records(options: &ServingOptions) -> Result<ServedRecords, Failure> {
    let generated = [
        ("--scale", options.scale.is_some(), "there are as many records as documents"),
        ("--documents", options.documents.is_some(), "documents have the shape that they have"),
        ("--document-size", options.document_size.is_some(), "documents have the size that they have"),
        ("--members", options.members.is_some(), "documents have the shape that they have"),
        ("--value-content", options.value_content.is_some(), "values are not generated"),
        ("--key-order", options.key_order.is_some(), "documents are loaded in the order of the data"),
        ("--key-type", options.key_type.is_some(), "the type of the keys is that of the values at --key"),
        ("--data-to-memory", options.data_to_memory.is_some(), "there are as many records as documents"),
        ("--stored-size", options.stored_size.is_some(), "it measures generated documents: run it without"),
    ];
    match generated.into_iter().find(|(_, is_given, _)| *is_given) {
        Some((option, _, reason)) => {
            Err(Failure::usage(format!("{option} cannot be used with --data: {reason}")))
        }
        None => Ok(ServedRecords::Own {
            own: OwnDocuments {
                key: options.key.clone(),
                update: options.update.clone(),
                ..OwnDocuments::default()
            },
        }),
    }
}

/// Records that the options describe.
fn records(options: &ServingOptions) -> Records {
    let kind = match options.documents.unwrap_or(DocumentsChoice::Flat) {
        DocumentsChoice::Small => Kind::Small,
        DocumentsChoice::Flat => Kind::Flat,
        DocumentsChoice::Large => Kind::Large,
        DocumentsChoice::Nested => Kind::Nested,
        DocumentsChoice::Size => {
            Kind::Size { bytes: options.document_size.unwrap_or(DEFAULT_DOCUMENT_BYTES) }
        }
        DocumentsChoice::Items => Kind::Items { members: options.members.unwrap_or(DEFAULT_MEMBERS) },
    };
    Records {
        kind,
        values: match options.value_content.unwrap_or(ValuesChoice::Text) {
            ValuesChoice::Text => Values::Text,
            ValuesChoice::Random => Values::Random,
        },
        seed: options.seed,
        key_order: match options.key_order.unwrap_or(KeyOrderChoice::Hashed) {
            KeyOrderChoice::Hashed => KeyOrder::Hashed,
            KeyOrderChoice::Ordered => KeyOrder::Ordered,
        },
        key_type: match options.key_type.unwrap_or(KeyTypeChoice::Text) {
            KeyTypeChoice::Text => KeyType::Text,
            KeyTypeChoice::Bigint => KeyType::Bigint,
        },
        key_member: None,
    }
}

/// Mixes that `--mixes` names, without duplicates. None is an error, unless documents are encoded.
fn mixes(options: &ServingOptions, is_needed: bool) -> Result<Vec<Mix>, Failure> {
    let mut mixes = Vec::new();
    let names = if options.mixes == NONE && !is_needed { "" } else { &options.mixes };
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let mix = match mixes::built_in(name) {
            Some(mix) => mix,
            None if name.ends_with(".toml") => mixes::from_file(Path::new(name)).map_err(Failure::usage)?,
            None => {
                return Err(Failure::usage(format!(
                    "no mix is called `{name}`: use {}, or a file that ends in .toml",
                    mixes::built_in_names().join(", ")
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

/// Value of `--mixes` for a run that only measures the stored size of documents (`--stored-size`).
const NONE: &str = "none";

/// Parses `--stored-size`: documents whose stored size each system reports. Each is a JSON object or the name
/// of a kind.
fn samples(text: &str, records: &Records) -> Result<Vec<EncodedSample>, Failure> {
    let kinds =
        [("small", Kind::Small), ("flat", Kind::Flat), ("large", Kind::Large), ("nested", Kind::Nested)];
    let mut samples = Vec::new();
    for name in text.split(';').map(str::trim).filter(|name| !name.is_empty()) {
        let text = match kinds.iter().find(|(kind_name, _)| *kind_name == name) {
            Some((_, kind)) => {
                let kind_records = Records { kind: kind.clone(), ..records.clone() };
                let set = kind_records.prepare().map_err(|error| Failure::usage(error.to_string()))?;
                let mut document = Vec::new();
                set.document(0, 0, &mut document);
                String::from_utf8_lossy(&document).into_owned()
            }
            None => match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(name) {
                Ok(_) => name.to_owned(),
                Err(error) => {
                    return Err(Failure::usage(format!(
                        "--stored-size: `{name}` is no object of JSON ({error}) and none of small, flat, \
                         large, nested"
                    )));
                }
            },
        };
        samples.push(EncodedSample { name: name.to_owned(), text });
    }
    Ok(samples)
}

/// Number of records whose JSON text takes this many bytes, computed from the size of the first record.
fn document_count(records: &Records, bytes: f64) -> Result<u64, Failure> {
    let mut document = Vec::new();
    let set = records.prepare().map_err(|error| Failure::usage(error.to_string()))?;
    set.document(0, 0, &mut document);
    Ok(((bytes / document.len().max(1) as f64).ceil() as u64).max(1))
}
