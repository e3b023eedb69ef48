//! Tests of the mixed section of system folders: variants, statements around questions, batches, and errors.

use crate::support::changed;

use jsonathlon_catalogue::{
    Catalogue, Configuration, ExternalKind, LoadMode, MIXED, MixedSetup, PreparationClass,
};
use jsonathlon_driver_api::{
    batch::{BatchParameter, BatchTransfer},
    rows::ResultSet,
    seen::WriterSeen,
};
use jsonathlon_schema::{durability::DurabilityTier, value::Value, visibility::Visibility};

const DOCUMENT: &[u8] = br#"{"a":"it's \\"}"#;

fn catalogue() -> Catalogue {
    Catalogue::load(&[]).unwrap()
}

fn configuration(catalogue: &Catalogue, system: &str, variant: &str) -> Configuration {
    let system = catalogue.get(system).unwrap();
    system.configuration(system.default_version(), variant, "default").unwrap().for_workloads(&[MIXED])
}

fn setup(system: &str, variant: &str) -> MixedSetup {
    configuration(&catalogue(), system, variant).mixed().unwrap()
}

/// The names of a system's variants, and of those that are defaults.
fn variants<'c>(catalogue: &'c Catalogue, system: &str, workload: &str) -> (Vec<&'c str>, Vec<&'c str>) {
    let all = catalogue.get(system).unwrap().variants_of(workload);
    let defaults = all.iter().filter(|variant| variant.is_default);
    let defaults = defaults.map(|variant| variant.name.as_str()).collect();
    (all.iter().map(|variant| variant.name.as_str()).collect(), defaults)
}

#[test]
fn every_system_asks_the_questions_of_analytics_and_what_it_sees_of_each_writer() {
    let catalogue = catalogue();
    let mut systems = Vec::new();
    for system in catalogue.systems().iter().filter(|system| system.supports_workload(MIXED)) {
        systems.push(system.name());
        for variant in system.variants_of(MIXED) {
            let name = format!("{} {}", system.name(), variant.name);
            let setup = configuration(&catalogue, system.name(), &variant.name).mixed().unwrap();
            let form = setup.seen_form("documents").unwrap();
            for question in ["q1", "q2", "q3", "q4", "q5"] {
                let text = setup.statement(question).unwrap().replace("{{table}}", "documents");
                let asked = form.statement(&text, &[8000, 7000]).unwrap();
                assert!(asked.contains("8000") && asked.contains("7000"), "{name}: {asked}");
                assert!(!asked.contains("{{"), "{name}: {asked}");
                if text.starts_with('{') {
                    assert!(serde_json::from_str::<serde_json::Value>(&asked).is_ok(), "{name}: {asked}");
                }
            }
            assert!(setup.statement("q6").is_none(), "{name}");
            assert!(setup.statement("own_prefix").unwrap().contains("{{writer}}"), "{name}");
            let create = setup.statements("create").join(";");
            assert!(create.contains("writer") && create.contains("sequence"), "{name}: {create}");
            let batch = setup.batch_form("documents").unwrap();
            assert!(batch.statements.iter().all(|statement| !statement.text.contains("{{table}}")), "{name}");
            assert_eq!(batch.encode(1, 5, &[DOCUMENT]).unwrap().count(), 1, "{name}");
        }
    }
    let expected = [
        "clickhouse",
        "dolt",
        "duckdb",
        "elasticsearch",
        "mariadb",
        "mongodb",
        "mysql",
        "postgresql",
        "sqlite",
    ];
    assert_eq!(systems, expected);
}

#[test]
fn ranked_variants_are_shared_and_some_systems_have_their_own() {
    let catalogue = catalogue();
    let (all, defaults) = variants(&catalogue, "postgresql", MIXED);
    assert_eq!(all, ["count-distinct", "generated", "json-only", "no-index"]);
    assert_eq!(defaults, ["generated", "json-only", "no-index"]);
    let (all, defaults) = variants(&catalogue, "elasticsearch", MIXED);
    assert_eq!((all, defaults), (vec!["refresh-1s", "refresh-5s", "wait-for"], vec!["refresh-1s"]));
    let (all, defaults) = variants(&catalogue, "mongodb", MIXED);
    assert_eq!((all, defaults), (vec!["local", "snapshot"], vec!["snapshot"]));
    for (system, variant) in [("elasticsearch", "refresh-1s"), ("mongodb", "snapshot")] {
        assert!(!variants(&catalogue, system, "analytics").0.contains(&variant));
        assert_eq!(configuration(&catalogue, system, variant).preparation, PreparationClass::Prepared);
    }
    // A variant that asks other questions than the stated ones is not shared.
    let published = catalogue.get("postgresql").unwrap().configuration("18.6", "as-published", "default");
    assert!(published.unwrap().mixed().is_none());
}

#[test]
fn a_variant_states_what_differs_from_the_one_on_which_it_is_based() {
    let (snapshot, local) = (setup("mongodb", "snapshot"), setup("mongodb", "local"));
    assert!(snapshot.snapshot && !local.snapshot);
    assert_eq!((snapshot.max_atomic_batch, local.max_atomic_batch), (Some(500), Some(500)));
    assert!(snapshot.statements("index")[0].contains("commit.operation"), "that of `indexed`");
    assert!(!snapshot.questions["q1"].expect.is_empty(), "those of `indexed`");
    for (setup, level) in [(&snapshot, "snapshot"), (&local, "local")] {
        let form = setup.seen_form("documents").unwrap();
        let asked = form.statement(setup.statement("q4").unwrap(), &[0]).unwrap();
        assert!(asked.contains(&format!(r#""readConcern":{{"level": "{level}"}}"#)), "{asked}");
    }
    let mongodb = configuration(&catalogue(), "mongodb", "snapshot");
    assert!(mongodb.server.unwrap().start.contains(&"--replSet".to_owned()));
    assert_eq!(mongodb.open.settings["internalQueryPlannerGenerateCoveredWholeIndexScans"], "true");

    let elasticsearch = setup("elasticsearch", "refresh-5s");
    assert_eq!(elasticsearch.visible, Visibility::Refresh);
    assert!(elasticsearch.statements("index")[0].contains(r#""refresh_interval": "5s""#));
    assert_eq!(elasticsearch.questions["q2"].approximate, [2]);
    let waiting = setup("elasticsearch", "wait-for");
    assert_eq!(waiting.visible, Visibility::Commit);
    let text = waiting.batch_form("documents").unwrap().statements.remove(0).text;
    assert!(text.contains("/documents/_bulk?refresh=wait_for&"), "{text}");
}

#[test]
fn a_question_stands_in_one_statement_with_what_it_sees() {
    let asked = |system: &str, variant: &str| {
        let form = setup(system, variant).seen_form("t").unwrap();
        form.statement("SELECT 1 AS event", &[8, 7]).unwrap()
    };
    assert_eq!(
        asked("postgresql", "generated"),
        "WITH a AS (\nSELECT 1 AS event\n), seen AS (\nSELECT writer, count(*) AS documents, max(sequence) AS \
         highest\nFROM t\nWHERE (writer = 0 AND sequence >= 8) OR (writer = 1 AND sequence >= 7)\nGROUP BY \
         writer\n)\nSELECT (SELECT json_agg(json_build_array(writer, documents, highest)) FROM seen)::text AS \
         seen, a.*\nFROM a"
    );
    let sqlite = asked("sqlite", "indexed");
    let range = |writer: u32, floor: u64| {
        format!(
            "SELECT {writer} AS writer, count(*) AS documents, max(sequence) AS highest\nFROM t\nWHERE writer = \
             {writer} AND sequence >= {floor}"
        )
    };
    assert!(sqlite.contains(&format!("{} UNION ALL {}", range(0, 8), range(1, 7))), "{sqlite}");
}

#[test]
fn answers_of_systems_without_sql_tell_what_was_seen() {
    let columns = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let elasticsearch = setup("elasticsearch", "refresh-1s").seen_form("t").unwrap();
    let seen = concat!(
        r#"[{"key":1,"doc_count":3,"highest":{"value":2.0}},"#,
        r#"{"key":0,"doc_count":1,"highest":{"value":0.0}}]"#
    );
    let answer = ResultSet {
        columns: columns(&["event", "count", "seen"]),
        rows: vec![vec![Value::Null, Value::Int(4), Value::Text(seen.to_owned())]],
        ..ResultSet::default()
    };
    let (answer, seen) = elasticsearch.decode(answer).unwrap();
    assert_eq!(answer.rows, [vec![Value::Null, Value::Int(4)]]);
    let expected =
        [WriterSeen { writer: 0, count: 1, highest: 0 }, WriterSeen { writer: 1, count: 3, highest: 2 }];
    assert_eq!(seen, expected);

    let mongodb = setup("mongodb", "snapshot").seen_form("t").unwrap();
    let null = || Value::Null;
    let answer = ResultSet {
        columns: columns(&["event", "count", "seen_writer", "seen_documents", "seen_highest"]),
        rows: vec![
            vec![null(), Value::Int(4), null(), null(), null()],
            vec![null(), null(), Value::Int(0), Value::Int(2), Value::Int(9)],
        ],
        ..ResultSet::default()
    };
    let (answer, seen) = mongodb.decode(answer).unwrap();
    assert_eq!(answer.rows, [vec![Value::Null, Value::Int(4)]]);
    assert_eq!(seen, [WriterSeen { writer: 0, count: 2, highest: 9 }]);
}

#[test]
fn a_batch_is_one_transaction_or_request_of_its_system() {
    let rows = |system: &str, variant: &str| {
        let form = setup(system, variant).batch_form("t").unwrap();
        let text = form.encode(1, 5, &[DOCUMENT]).unwrap().rows().to_owned();
        (form, text)
    };
    let lines = "1\t5\t{\"a\":\"it's \\\\\\\\\"}\n";
    let (postgresql, text) = rows("postgresql", "generated");
    assert_eq!(postgresql.statements[0].text, "COPY t (writer, sequence, doc) FROM STDIN");
    assert_eq!((postgresql.transfer, text.as_str()), (BatchTransfer::Stream, lines));
    let (clickhouse, text) = rows("clickhouse", "challenge");
    assert_eq!(clickhouse.statements[0].text, "INSERT INTO t (writer, sequence, data) FORMAT TSV");
    assert_eq!((clickhouse.transfer, text.as_str()), (BatchTransfer::Stream, lines));
    for system in ["mysql", "mariadb", "dolt"] {
        let (form, text) = rows(system, "generated");
        assert_eq!(form.statements[0].text, "INSERT INTO t (writer, `sequence`, doc) VALUES {{rows}}");
        assert_eq!(text, r#"(1,5,'{"a":"it''s \\\\"}')"#);
    }
    let (sqlite, text) = rows("sqlite", "indexed");
    let texts: Vec<&str> = sqlite.statements.iter().map(|statement| statement.text.as_str()).collect();
    let insert = "INSERT INTO t (writer, sequence, doc) VALUES (?1, ?2, jsonb(?3))";
    assert_eq!(texts, ["BEGIN IMMEDIATE", insert, "COMMIT"]);
    assert_eq!((sqlite.undo.as_deref(), text.as_str()), (Some("ROLLBACK"), ""));
    let (duckdb, text) = rows("duckdb", "variant");
    assert!(duckdb.statements[0].text.contains("string_split($4, chr(10)))::JSON::VARIANT"));
    let parameters =
        [BatchParameter::Writer, BatchParameter::First, BatchParameter::End, BatchParameter::Rows];
    assert_eq!(duckdb.statements[0].parameters, parameters);
    assert_eq!(text.as_bytes(), DOCUMENT);
    let (mongodb, text) = rows("mongodb", "snapshot");
    assert!(mongodb.statements[0].text.contains(r#""documents": ":1""#));
    assert_eq!(text, r#"[{"writer":1,"sequence":5,"a":"it's \\"}]"#);
    let (elasticsearch, text) = rows("elasticsearch", "refresh-1s");
    assert_eq!(text, "{\"create\":{\"_id\":\"1-5\"}}\n{\"writer\":1,\"sequence\":5,\"a\":\"it's \\\\\"}\n");
    let idempotent: Vec<bool> =
        [&postgresql, &sqlite, &mongodb, &elasticsearch].map(|form| form.is_idempotent).into();
    assert_eq!(idempotent, [false, false, false, true]);
}

#[test]
fn documents_are_loaded_beside_the_added_columns() {
    let load = |system: &str, variant: &str| setup(system, variant).statements("load").to_vec();
    assert_eq!(load("postgresql", "json-only"), ["COPY {{table}} (doc) FROM STDIN"]);
    let columns = "INSERT INTO {{table}} (doc) SELECT json";
    let from = "FROM read_ndjson_objects('{{file}}')";
    assert_eq!(load("duckdb", "variant"), [format!("{columns}::VARIANT {from}")]);
    assert_eq!(load("duckdb", "json"), [format!("{columns} {from}")]);
    assert!(load("duckdb", "sorted")[0].contains("ORDER BY json_extract_string"));
    let chdb = "INSERT INTO {{table}} (data) FROM INFILE '{{file}}' FORMAT JSONAsObject";
    assert_eq!(load("clickhouse", "challenge"), [chdb]);
    let catalogue = catalogue();
    let clickhouse = catalogue.get("clickhouse").unwrap();
    let remote = clickhouse
        .external_configuration(ExternalKind::Address, "26.7", None, "challenge", "default")
        .unwrap();
    let remote = remote.for_workloads(&[MIXED]).mixed().unwrap();
    assert_eq!(remote.load, LoadMode::Stream);
    assert_eq!(remote.statements("load"), ["INSERT INTO {{table}} (data) FORMAT JSONAsObject"]);
}

#[test]
fn acknowledged_batches_are_durable_and_analytics_does_not_notice() {
    let catalogue = catalogue();
    let synced = configuration(&catalogue, "sqlite", "indexed").with_durability(DurabilityTier::Synced);
    let synced = synced.unwrap();
    assert_eq!(synced.open.settings["synchronous"], "FULL");
    assert_eq!(synced.open.settings["journal_mode"], "wal");
    let sqlite = catalogue.get("sqlite").unwrap();
    let analytics = sqlite.configuration(sqlite.default_version(), "indexed", "default").unwrap();
    let analytics = analytics.for_workloads(&["analytics"]);
    assert!(analytics.open.settings.is_empty() && analytics.mixed().is_none());
    assert!(analytics.analytics().unwrap().statement("q6").is_some());
}

#[test]
fn systems_state_how_many_connections_they_admit() {
    let limit = |system: &str, variant: &str| setup(system, variant).max_connections;
    assert_eq!(limit("postgresql", "generated"), Some(96));
    assert_eq!(limit("mysql", "generated"), Some(150));
    assert_eq!(limit("mariadb", "generated"), Some(150));
    assert_eq!(limit("dolt", "generated"), Some(999));
    // Each connection of the others takes no more than memory and open files.
    assert_eq!(limit("sqlite", "indexed"), None);
}

#[test]
fn sqlite_is_drained_of_its_log() {
    let drain = setup("sqlite", "indexed").statements("drain").to_vec();
    assert_eq!(drain, ["ANALYZE", "PRAGMA wal_checkpoint(TRUNCATE)"]);
}

#[test]
fn what_a_section_cannot_mean_is_refused_with_its_line() {
    let error = |system: &str, old: &str, new: &str| {
        let message = changed(system, old, new).unwrap_err().to_string();
        message.rsplit_once(&format!("/{system}/")).map_or(message.clone(), |(_, rest)| rest.to_owned())
    };
    let message = error("postgresql", r"{{document}}\n", r"{{doc}}\n");
    assert!(message.contains("`mixed.insert.row`: `{{doc}}` has no value in a row"), "{message}");
    let message = error("sqlite", "transfer = \"each\"", "transfer = \"whole\"");
    assert!(message.contains("`mixed.insert.row`: is missing"), "{message}");
    let message = error("sqlite", "transfer = \"each\"", "transfer = \"each\"\nrow = \"{{document}}\"");
    assert!(message.contains("`mixed.insert.row`: is of no use"), "{message}");
    let message = error("mongodb", "max_atomic_batch = 500", "max_atomic_batch = 0");
    assert!(message.contains("`mixed.max_atomic_batch`: is 1 at least"), "{message}");
    let message = error("mongodb", "based_on = \"indexed\"", "based_on = \"indexes\"");
    assert!(message.contains("there is no variant `indexes` (did you mean `indexed`?)"), "{message}");
    let message = error("mongodb", "based_on = \"indexed\"", "based_on = \"bson\"");
    assert!(message.contains("`bson` is a variant of other workloads"), "{message}");
    let message = error("sqlite", "visible = \"commit\"", "visible = \"soon\"");
    assert!(message.contains("`mixed.visible`"), "{message}");
}

/// A system that runs nothing else.
const WITHOUT_ANALYTICS: &str = r#"
name = "relative"
title = "Relative"
summary = "A system that exists only to test its section."
protocol = "sqlite"
default_version = "1.0"
licence = "MIT"
embedded = true

[[artifact]]
version = "1.0"
reports = "1.0"
platform = "any"

[[artifact.source]]
kind = "bundled"

[mixed]
snapshot = true
visible = "commit"

[mixed.insert]
transfer = "each"

[mixed.durability.synced]
process_crash = "nothing"
power_loss = "nothing"

[variants.alone]
title = "nothing but documents"
workloads = ["mixed"]
default = true
"#;

#[test]
fn a_system_without_analytics_has_no_questions_to_ask() {
    let folder = tempfile::tempdir().unwrap();
    let system = folder.path().join("relative");
    std::fs::create_dir(&system).unwrap();
    std::fs::write(system.join("system.toml"), WITHOUT_ANALYTICS).unwrap();
    let message = Catalogue::load(&[folder.path().to_path_buf()]).unwrap_err().to_string();
    assert!(message.contains("`mixed`: needs an [analytics]"), "{message}");
}
