//! Compares the sizes of the generated documents in three engines with the published table sizes at one
//! million events. How an engine stores documents says more about them than a general compressor.
//!
//! The published sizes are from older engine versions. ClickHouse and DuckDB have smaller formats by now, but
//! can write the old ones, so equal formats are compared.

use std::{
    io::{BufRead, Write},
    os::unix::fs::PermissionsExt,
    path::Path,
};

use serde::de::DeserializeOwned;

use jsonathlon_catalogue::{ANALYTICS, Catalogue, LoadMode, fill};
use jsonathlon_dataset::generate::Generator;
use jsonathlon_schema::value::Value;
use jsonathlon_worker::protocol::{LoadMethod, LoadReply, Op, RowByName, RunReply, SettleReply};
use jsonathlon_workloads::{
    engine::{EngineHandle, WorkerCommand},
    target::Target,
};

use crate::support::{LIMIT, real};

const DOCUMENTS: u64 = 1_000_000;

/// A published table size, and the settings that reproduce the engine of that time.
struct Published {
    system: &'static str,
    variant: &'static str,
    storage: &'static str,
    /// Start settings in addition to those of the folder.
    settings: &'static [(&'static str, &'static str)],
    /// Table settings in addition to those of the folder.
    of_table: &'static str,
    /// Whether the index was created before the load instead of after it.
    index_first: bool,
    bytes: f64,
}

const EMBEDDED: [Published; 2] = [
    Published {
        system: "clickhouse",
        variant: "challenge",
        storage: "best",
        settings: &[],
        // The version of the published size had only this form for paths without a hint; the current default
        // stores them in buckets, and merged parts in a third form.
        of_table: "object_shared_data_serialization_version = 'map'",
        index_first: false,
        bytes: 98.5e6,
    },
    Published {
        system: "duckdb",
        variant: "json",
        storage: "default",
        // The published size is from before text was compressed with zstd or a dictionary of pieces, which
        // halves it.
        settings: &[("storage_compatibility_version", "v1.0.0")],
        of_table: "",
        index_first: false,
        bytes: 485e6,
    },
];

const SERVERS: [Published; 2] = [
    Published {
        system: "postgresql",
        variant: "json-only",
        storage: "default",
        settings: &[],
        of_table: "",
        // If filled in document order, its pages are two thirds full and the index is a third larger.
        index_first: true,
        bytes: 587e6 + 144e6,
    },
    Published {
        system: "mongodb",
        variant: "indexed",
        storage: "best",
        settings: &[],
        of_table: "",
        index_first: false,
        bytes: 155e6 + 34e6,
    },
];

#[test]
fn a_million_documents_take_the_published_sizes_in_the_engines() {
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = scratch.path().join("events.ndjson");
    generate(&file);
    let names = real::included(&EMBEDDED.each_ref().map(|published| published.system));
    for published in EMBEDDED.iter().filter(|published| names.contains(&published.system)) {
        let folder = scratch.path().join(published.system);
        takes_the_published_size(published, &file, &folder);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn a_million_documents_take_the_published_sizes_in_servers() {
    // The server's user, who is not root, must be able to access the folder.
    let open = std::fs::Permissions::from_mode(0o755);
    let scratch = tempfile::Builder::new().permissions(open).tempdir().unwrap();
    let file = scratch.path().join("events.ndjson");
    // PostgreSQL rejects texts with U+0000, and rejected documents leave dead rows behind.
    let plain = scratch.path().join("plain.ndjson");
    generate(&plain);
    let mut out = std::io::BufWriter::new(std::fs::File::create(&file).unwrap());
    for line in std::io::BufReader::new(std::fs::File::open(&plain).unwrap()).lines() {
        let line = line.unwrap();
        if !line.contains("\\u0000") {
            writeln!(out, "{line}").unwrap();
        }
    }
    drop(out);
    for published in &SERVERS {
        if !real::excluded(&[published.system]) {
            let folder = scratch.path().join(published.system);
            takes_the_published_size(published, &file, &folder);
            std::fs::remove_dir_all(&folder).unwrap();
        }
    }
}

fn takes_the_published_size(published: &Published, file: &Path, folder: &Path) {
    let bytes = loaded_bytes(published, file, folder);
    let ratio = bytes / published.bytes;
    println!(
        "{}: {:.1} MB, published {:.1} MB ({:+.1} %)",
        published.system,
        bytes / 1e6,
        published.bytes / 1e6,
        100.0 * (ratio - 1.0)
    );
    assert!((0.9..1.1).contains(&ratio), "{}: {bytes} against {}", published.system, published.bytes);
}

fn generate(file: &Path) {
    let mut out = std::fs::File::create(file).unwrap();
    let mut generator = Generator::new(1, 0..DOCUMENTS);
    let mut buffer = Vec::new();
    while generator.fill(&mut buffer, 1 << 20) {
        out.write_all(&buffer).unwrap();
        buffer.clear();
    }
}

/// Loads the file with the statements of the system's folder. Returns the bytes that the system's catalogue
/// reports.
fn loaded_bytes(published: &Published, file: &Path, folder: &Path) -> f64 {
    let catalogue = Catalogue::load(&[]).unwrap();
    let system = catalogue.get(published.system).unwrap();
    let configuration =
        system.configuration(system.default_version(), published.variant, published.storage).unwrap();
    let installed = real::installed(configuration.artifact.as_ref().unwrap());
    let target = Target::new(configuration, ANALYTICS, installed).unwrap();
    let cores = std::thread::available_parallelism().unwrap().get();
    let (count, at) = (cores.to_string(), folder.display().to_string());
    let from = file.display().to_string();
    let values = [("table", "documents"), ("file", &from), ("cores", &count), ("folder", &at)];
    let analytics = &target.setup;
    let filled = |name: &str| -> Vec<String> {
        analytics.statements(name).iter().map(|text| fill(text, &values).unwrap()).collect()
    };
    let mut open = target.session_options(folder, cores).unwrap();
    open.settings.extend(published.settings.iter().map(|(name, value)| ((*name).into(), (*value).into())));
    let command =
        WorkerCommand { program: env!("CARGO_BIN_EXE_jsonathlon").into(), arguments: vec!["worker".into()] };
    let (log, server_log) = (folder.with_extension("log"), folder.with_extension("server.log"));
    let launch = target.launch_spec(folder, &server_log, cores, &command.program).unwrap();
    let opened = EngineHandle::open(&command, &log, &open, launch.as_ref(), LIMIT, &|| false, &mut |_| {});
    let (mut worker, _) = opened.unwrap_or_else(|error| panic!("{error}"));
    let mut create = filled("create");
    if !published.of_table.is_empty() {
        let first = create.first_mut().unwrap();
        assert!(first.contains("SETTINGS"), "{first}");
        *first = first.replacen("SETTINGS", &format!("SETTINGS {},", published.of_table), 1);
    }
    if published.index_first {
        create.extend(filled("index"));
    }
    let _: RunReply = ask(&mut worker, &Op::Run { statements: create });
    let load = match analytics.load {
        LoadMode::File => LoadMethod::Statement { statements: filled("load") },
        LoadMode::Rows | LoadMode::Stream => {
            LoadMethod::Rows { statement: filled("load").remove(0), file: file.to_owned() }
        }
    };
    let loaded: LoadReply = ask(&mut worker, &Op::Load { load, sync: false });
    assert!(loaded.rejects.is_empty(), "{:?}", loaded.rejects);
    let kept = loaded.documents.unwrap_or(DOCUMENTS);
    if !published.index_first {
        let _: RunReply = ask(&mut worker, &Op::Run { statements: filled("index") });
    }
    let settle = Op::Settle {
        statements: filled("drain"),
        until_zero: filled("drained").into_iter().next(),
        limit_s: LIMIT.as_secs_f64(),
        sync: false,
    };
    let settled: SettleReply = ask(&mut worker, &settle);
    assert_eq!(settled.remaining, 0);
    let counted: RowByName = ask(&mut worker, &Op::Sizes { statement: filled("count").remove(0) });
    assert_eq!(counted.values().next(), Some(&Value::Int(kept.try_into().unwrap())));
    assert!(kept as f64 > 0.999 * DOCUMENTS as f64, "{kept}");
    let sizes: RowByName = ask(&mut worker, &Op::Sizes { statement: filled("sizes").remove(0) });
    worker.close(LIMIT).unwrap();
    match &sizes["total_bytes"] {
        Value::Int(bytes) => *bytes as f64,
        Value::Float(bytes) => *bytes,
        other => panic!("{other:?} is no size"),
    }
}

fn ask<R: DeserializeOwned>(worker: &mut EngineHandle, op: &Op) -> R {
    worker.request(op, LIMIT, &|| false, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}
