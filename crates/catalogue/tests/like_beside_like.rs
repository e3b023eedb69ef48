//! Tests of properties that all built-in folders must share, so that no system is compared with better
//! equipped ones.

use std::collections::BTreeMap;

use jsonathlon_catalogue::{Catalogue, Configuration, MemoryProfile, SERVING, System};

const DOCUMENTS: &str = "documents";

fn catalogue() -> Catalogue {
    Catalogue::load(&[]).unwrap()
}

fn one(system: &System, variant: &str, storage: &str) -> Configuration {
    system.configuration(system.default_version(), variant, storage).unwrap()
}

/// The default variants of a system in a workload.
fn defaults<'a>(system: &'a System, workload: &str) -> Vec<&'a str> {
    let all = system.variants_of(workload).iter();
    all.filter(|variant| variant.is_default).map(|variant| variant.name.as_str()).collect()
}

fn statements<'a>(configuration: &'a Configuration, workload: &str, file: &str) -> &'a [String] {
    configuration.setups[workload].files.get(file).map_or(&[], |file| &file.statements)
}

/// Parses `4096MB` or `4096M`. Returns the number before the unit.
fn megabytes(text: &str) -> Option<u64> {
    text.trim_end_matches('B').strip_suffix('M')?.parse().ok()
}

#[test]
fn every_log_that_a_folder_sizes_has_the_same_room() {
    for (budget, expected) in [(1 << 30, 256), (4 << 30, 1024), (12 << 30, 2048), (64 << 30, 2048)] {
        let mut logs = BTreeMap::new();
        for system in catalogue().systems() {
            let variant = &system.variants()[0].name;
            let Ok(sized) = one(system, variant, "default").with_memory(MemoryProfile::Sized, budget) else {
                continue;
            };
            for setting in sized.memory_settings {
                let of_a_log = ["wal_size", "log_file_size", "log_capacity", "journal_size", "log_size"];
                if of_a_log.iter().any(|part| setting.name.contains(part)) {
                    assert_eq!(sized.open.settings[&setting.name], setting.value);
                    logs.insert(format!("{} {}", sized.system, setting.name), megabytes(&setting.value));
                }
            }
        }
        assert!(logs.len() >= 3, "PostgreSQL, MySQL and MariaDB: {logs:?}");
        assert!(logs.values().all(|size| *size == Some(expected)), "{budget}: {logs:?}");
    }
    // The stock profile keeps the package's default for logs, as for memory.
    let catalogue = catalogue();
    let mysql = catalogue.get("mysql").unwrap();
    let stock = one(mysql, "no-index", "default").with_memory(MemoryProfile::Stock, 1 << 30).unwrap();
    assert!(!stock.open.settings.contains_key("innodb_redo_log_capacity"), "{:?}", stock.open.settings);
}

#[test]
fn whoever_serves_has_read_its_documents_before() {
    for system in catalogue().systems().iter().filter(|system| system.supports_workload(SERVING)) {
        // It has no document cache besides the kernel's, and no query that reads all documents with a small
        // answer.
        let has_no_way = system.name() == "elasticsearch";
        for variant in system.variants_of(SERVING) {
            let configuration = one(system, &variant.name, "default");
            let reads = !statements(&configuration, SERVING, "warm").is_empty();
            assert_eq!(reads, !has_no_way, "{} {}", system.name(), variant.name);
        }
    }
}

#[test]
fn postgresql_compresses_documents_with_lz4_unless_told_otherwise() {
    let catalogue = catalogue();
    let postgresql = catalogue.get("postgresql").unwrap();
    let compresses = |workload: &str, variant: &str, storage: &str| {
        let configuration = one(postgresql, variant, storage);
        let create = statements(&configuration, workload, "create").join(";");
        ["lz4", "pglz"].map(|one| create.contains(&format!("COMPRESSION {one} ")))
    };
    for workload in ["analytics", "questions", SERVING, DOCUMENTS] {
        for variant in defaults(postgresql, workload) {
            assert_eq!(compresses(workload, variant, "default"), [true, false], "{workload} {variant}");
            assert_eq!(compresses(workload, variant, "best"), [false, true], "{workload} {variant}");
        }
    }
    for (workload, variant) in [(SERVING, "jsonb-key-pglz"), (DOCUMENTS, "jsonb-pglz")] {
        assert_eq!(compresses(workload, variant, "default"), [false, true], "{variant}");
    }
    // It differs from the package's defaults, which must be declared.
    let said = one(postgresql, "jsonb-key", "default").exceptions;
    assert!(said.iter().any(|exception| exception.what.starts_with("COMPRESSION lz4")), "{said:?}");
}

#[test]
fn mysql_copies_documents_whole_and_changes_them_in_place() {
    let catalogue = catalogue();
    let mysql = catalogue.get("mysql").unwrap();
    let copy = |variant: &str| statements(&one(mysql, variant, "default"), DOCUMENTS, "copy").to_vec();
    assert_eq!(defaults(mysql, DOCUMENTS), ["json"]);
    let steps = copy("json");
    let words: Vec<&str> = steps.iter().filter_map(|step| step.split_whitespace().next()).collect();
    assert_eq!(words, ["START", "INSERT", "UPDATE", "COMMIT"], "in one transaction");
    assert!(!steps[1].contains("JSON_SET") && steps[2].contains("SET doc = JSON_SET(doc, "), "{steps:?}");
    let at_once = copy("json-one-statement");
    assert!(matches!(&at_once[..], [only] if only.contains("JSON_SET")), "{at_once:?}");
    for (workload, variant) in [(SERVING, "json-key-partial"), (DOCUMENTS, "json-partial")] {
        let configuration = one(mysql, variant, "default");
        assert!(configuration.setups.contains_key(workload), "{variant}");
        let settings = configuration.open.settings;
        assert_eq!(settings["binlog_row_value_options"], "PARTIAL_JSON", "{variant}");
        assert_eq!(settings["binlog_row_image"], "MINIMAL", "{variant}");
    }
}

#[test]
fn documents_kept_as_text_are_ranked_with_text() {
    let catalogue = catalogue();
    for (system, variant) in
        [("clickhouse", "string"), ("duckdb", "json-table"), ("mariadb", "json"), ("postgresql", "json")]
    {
        let system = catalogue.get(system).unwrap();
        assert_eq!(one(system, variant, "default").ranks_with, "text", "{} {variant}", system.name());
    }
    // A text in a JSON column is beside other JSON columns.
    assert_eq!(one(catalogue.get("mysql").unwrap(), "json", "default").ranks_with, "");
}
