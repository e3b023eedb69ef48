//! Tests of the serving section of system folders: own variants, durability tiers, operations, and errors.

use crate::support;

use std::{fs, path::Path};

use support::copy;

use jsonathlon_catalogue::{
    Catalogue, CatalogueError, ExternalKind, PathStep, QUESTIONS, Reports, SERVING, TargetKind,
    UserQuestions, question_file, select_variants, select_variants_of,
};
use jsonathlon_schema::durability::DurabilityTier;

const SECTION: &str = r#"
[serving]
load = "rows"
key_types = { text = "text" }

[serving.durability.synced]
process_crash = "nothing"
power_loss = "nothing"
values = { concern = "all" }

[serving.durability.window]
process_crash = "a second"
power_loss = "a second"
open = { settings = { sync = "off" }, statements = ["SET careless"] }
values = { concern = "none" }

[[serving.durability.window.exception]]
what = "sync = off"
why = "The tier."

[serving.operations]
read = { expect = ['Unique'], forbid = ['Scan'] }
update = { expect = ['Unique'], plan = "SELECT {{key}}" }

[serving.operations.read_paths]
path = "doc -> '{{path}}'"

[serving.operations.read_modify_write]
answers = ["turn"]
undo = "ROLLBACK"

[variants.by-key]
title = "by key"
workloads = ["serving"]
default = true

[variants.inside]
title = "key inside"
workloads = ["serving"]
ranks_with = "inside"

[variants.inside.serving]
key_member = "id"

[variants.inside.serving.operations.read]
expect = ['Inside']
"#;

const FILES: [(&str, &str); 12] = [
    ("create", "CREATE TABLE {{table}} (key {{key_type}}, doc JSON);"),
    ("load", "INSERT INTO {{table}} VALUES (:doc);"),
    ("plan", "EXPLAIN {{statement}};"),
    ("count", "SELECT count(*) FROM {{table}};"),
    ("sizes", "SELECT 1 AS total_bytes;"),
    ("drop", "DROP TABLE {{table}};"),
    ("read", "SELECT doc FROM {{table}} WHERE key = {{key}};"),
    ("read_paths", "SELECT {{paths}} FROM {{table}} WHERE key = {{key}};"),
    ("update", "UPDATE {{table}} SET '{{braced}}' = {{value}} WHERE key = {{key}} WITH {{concern}};"),
    ("inside/read", "SELECT doc FROM {{table}} WHERE doc ->> 'id' = {{key}};"),
    (
        "read_modify_write",
        "BEGIN;\nSELECT doc, turn FROM {{table}};\nUPDATE {{table}} SET {{value}} IF {{turn}};\nCOMMIT;",
    ),
    ("inside/update", "-- It has no such operation.\n"),
];

fn write(example: &Path, file: &str, text: &str) {
    let path = example.join("serving").join(format!("{file}.sql"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A changed copy of the example with a serving section, in a temporary folder.
fn world(change: impl Fn(&Path)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let example = folder.path().join("example");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/systems/example"), &example);
    let text = fs::read_to_string(example.join("system.toml")).unwrap();
    fs::write(example.join("system.toml"), text + SECTION).unwrap();
    for (file, text) in FILES {
        write(&example, file, text);
    }
    change(&example);
    folder
}

fn load(folder: &Path) -> Result<Catalogue, CatalogueError> {
    Catalogue::load(&[folder.to_path_buf()])
}

fn error_after(change: impl Fn(&Path)) -> String {
    let folder = world(change);
    let error = load(folder.path()).unwrap_err().to_string();
    error.replace(&format!("{}/example/", folder.path().display()), "")
}

/// Replaces a text of the definition. Returns the error.
fn replaced(old: &str, new: &str) -> String {
    error_after(|example| {
        let text = fs::read_to_string(example.join("system.toml")).unwrap();
        assert!(text.contains(old), "{old}");
        fs::write(example.join("system.toml"), text.replacen(old, new, 1)).unwrap();
    })
}

#[test]
fn serving_has_variants_of_its_own_and_analytics_keeps_its_own() {
    let folder = world(|_| {});
    let catalogue = load(folder.path()).unwrap();
    let example = catalogue.get("example").unwrap();
    let names = |variants: &[jsonathlon_catalogue::Variant]| -> Vec<String> {
        variants.iter().map(|variant| variant.name.clone()).collect()
    };
    assert_eq!(names(example.variants_of(SERVING)), ["by-key", "inside"]);
    assert!(names(example.variants()).iter().all(|name| name != "by-key" && name != "inside"));
    let chosen = |text: &str| -> Vec<String> {
        let all = select_variants_of(SERVING, &[example], text, TargetKind::Started).unwrap();
        all.into_iter().flatten().map(|variant| variant.name.clone()).collect()
    };
    assert_eq!(chosen("default"), ["by-key"]);
    assert_eq!(chosen("all"), ["by-key", "inside"]);
    for text in ["ordered", "example/ordered"] {
        let error =
            select_variants_of(SERVING, &[example], text, TargetKind::Started).unwrap_err().to_string();
        assert!(error.contains(&format!("`{text}` for other workloads than serving")), "{error}");
        assert!(error.contains("by-key and inside") && error.contains("the default is by-key: "), "{error}");
    }
    let error = select_variants(&[example], "inside", TargetKind::Started).unwrap_err().to_string();
    assert!(error.contains("no variant `inside`") && !error.contains("by-key"), "{error}");
    let of_analytics = example.configuration("2.0", "ordered", "default").unwrap();
    assert!(of_analytics.analytics().is_some() && of_analytics.serving().is_none());
    let alone = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/systems");
    let alone = load(&alone).unwrap();
    let alone = alone.get("example").unwrap().configuration("2.0", "ordered", "default").unwrap();
    assert_eq!(of_analytics.digest, alone.digest, "a part for serving is nothing to analytics");
}

#[test]
fn operations_have_statements_and_rules_and_a_variant_may_lack_one() {
    let folder = world(|_| {});
    let catalogue = load(folder.path()).unwrap();
    let example = catalogue.get("example").unwrap();
    let by_key = example.configuration("2.0", "by-key", "default").unwrap();
    assert!(by_key.analytics().is_none());
    let serving = by_key.serving().unwrap();
    assert_eq!(
        (serving.text_key.as_str(), serving.bigint_key.clone(), serving.key_member.clone()),
        ("text", None, None)
    );
    assert_eq!(serving.supported_operations(), ["read", "read_paths", "update", "read_modify_write"]);
    assert_eq!(serving.statements("read_modify_write").len(), 4);
    assert_eq!(serving.rules("read_modify_write").undo.as_deref(), Some("ROLLBACK"));
    assert_eq!(serving.asserted_plan_statement("update").as_deref(), Some("SELECT {{key}}"));
    assert_eq!(serving.asserted_plan_statement("read_paths"), None, "nothing is promised");
    assert_eq!(serving.rules("read").violations("Scan"), ["the plan lacks `Unique`", "the plan has `Scan`"]);
    let path = [PathStep::Member("n".into()), PathStep::Element(2)];
    let (paths, columns) = serving.read_paths(&[path.to_vec(), path[..1].to_vec()]);
    assert_eq!((paths.as_str(), columns.trim_matches(',')), ("doc -> '$.n[2]',doc -> '$.n'", ""));

    let inside = example.configuration("2.0", "inside", "default").unwrap().serving().unwrap();
    assert_eq!(inside.key_member.as_deref(), Some("id"));
    assert_eq!(inside.supported_operations(), ["read", "read_paths", "read_modify_write"]);
    assert_eq!(inside.rules("read").expect, ["Inside"]);
    assert_eq!(inside.rules("read").forbid, ["Scan"], "the base's");
}

#[test]
fn a_durability_tier_sets_settings_statements_and_values_and_is_part_of_the_digest() {
    let folder = world(|_| {});
    let catalogue = load(folder.path()).unwrap();
    let example = catalogue.get("example").unwrap();
    let unset = || example.configuration("2.0", "by-key", "default").unwrap();
    let tiers: Vec<DurabilityTier> = unset().durabilities().map(|durability| durability.tier).collect();
    assert_eq!(tiers, [DurabilityTier::Synced, DurabilityTier::Window]);
    let [synced, window] =
        [DurabilityTier::Synced, DurabilityTier::Window].map(|tier| unset().with_durability(tier).unwrap());
    let update =
        |one: &jsonathlon_catalogue::Configuration| one.serving().unwrap().statements("update")[0].clone();
    assert!(update(&synced).ends_with("WITH all") && update(&window).ends_with("WITH none"));
    assert_eq!(window.open.settings["sync"], "off");
    assert_eq!(window.open.statements.last().map(String::as_str), Some("SET careless"));
    assert_eq!(window.durability.as_ref().unwrap().process_crash, "a second");
    assert_eq!(window.exceptions.len(), synced.exceptions.len() + 1);
    assert!(unset().digest != synced.digest && synced.digest != window.digest);
    let error = unset().with_durability(DurabilityTier::Process).unwrap_err().to_string();
    assert_eq!(error, "example has no durability tier `process`; it has synced and window");
    let analytics = example.configuration("2.0", "ordered", "default").unwrap();
    assert!(analytics.with_durability(DurabilityTier::Synced).is_err());
}

#[test]
fn by_address_a_tier_is_left_to_the_owner() {
    let catalogue = Catalogue::load(&[]).unwrap();
    let of = |tier| {
        let mysql = catalogue.get("mysql").unwrap();
        let one = mysql.external_configuration(ExternalKind::Address, "9.7.4", None, "json-key", "default");
        one.unwrap().with_durability(tier).unwrap()
    };
    assert!(of(DurabilityTier::Synced).durability.unwrap().ranked, "it sets nothing");
    let process = of(DurabilityTier::Process);
    assert!(process.open.settings.is_empty() && !process.durability.unwrap().ranked);
    assert!(process.exceptions.iter().any(|one| one.what.contains("durability process, not set")));
}

#[test]
fn what_serves_has_one_default_variant_and_the_same_tiers_as_promised() {
    let catalogue = Catalogue::load(&[]).unwrap();
    let systems: Vec<_> =
        catalogue.systems().iter().filter(|system| system.supports_workload(SERVING)).collect();
    assert!(systems.len() >= 9);
    for system in systems {
        let defaults = system.variants_of(SERVING).iter().filter(|variant| variant.is_default).count();
        assert_eq!(defaults, 1, "{}", system.name());
        for variant in system.variants_of(SERVING) {
            let one = system.configuration(system.default_version(), &variant.name, "default").unwrap();
            let first = one.durabilities().next().unwrap();
            assert_eq!((first.tier, first.process_crash.as_str()), (DurabilityTier::Synced, "nothing"));
            let serving = one.serving().unwrap();
            assert!(
                serving.supported_operations().contains(&"read")
                    && serving.supported_operations().contains(&"update"),
                "{}",
                system.name()
            );
        }
    }
}

/// Only engines inside the clients' process take turns; servers queue writers themselves.
#[test]
fn writers_take_turns_where_a_folder_says_so_unless_a_variant_says_otherwise() {
    let catalogue = Catalogue::load(&[]).unwrap();
    let takes_turns = |variant: &str| {
        let sqlite = catalogue.get("sqlite").unwrap();
        let one = sqlite.configuration(sqlite.default_version(), variant, "default").unwrap();
        one.serving().unwrap().writers_take_turns
    };
    assert_eq!(["key", "without-rowid", "busy-timeout"].map(takes_turns), [true, true, false]);
    for system in
        catalogue.systems().iter().filter(|system| system.supports_workload(SERVING) && !system.is_embedded())
    {
        for variant in system.variants_of(SERVING) {
            let one = system.configuration(system.default_version(), &variant.name, "default").unwrap();
            assert!(!one.serving().unwrap().writers_take_turns, "{}", system.name());
        }
    }
}

#[test]
fn every_system_says_what_questions_are_asked_over() {
    let catalogue = Catalogue::load(&[]).unwrap();
    for system in catalogue.systems().iter().filter(|system| system.supports_workload(SERVING)) {
        for variant in system.variants_of(SERVING) {
            let configuration =
                system.configuration(system.default_version(), &variant.name, "default").unwrap();
            let reports = configuration.serving().unwrap().reports;
            let name = format!("{} {}", system.name(), variant.name);
            match &reports {
                Reports::Table(table) => assert!(table.contains("{{table}}"), "{name}: {table}"),
                Reports::Refused(reason) => assert_eq!(reports.refusal(), Some(reason.as_str()), "{name}"),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}

/// Writes a folder of the user's with one question.
fn user_questions(folder: &Path, files: &[(&str, &str)]) -> UserQuestions {
    let definition = "[[question]]\nname = 'n'\ntitle = 'n'\ncolumns = [{ name = 'n', type = 'number' }]\n";
    for (path, text) in [&[("questions.toml", definition)], files].concat() {
        let file = folder.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    UserQuestions::read(folder).unwrap()
}

#[test]
fn statements_of_questions_become_part_of_the_setup() {
    let catalogue = Catalogue::load(&[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let ask = "SELECT count(*) AS n FROM {{table}} AS t;\n";
    let files = [
        ("postgresql/n.sql", ask),
        ("postgresql/index.sql", "CREATE INDEX i ON {{table}} (doc);\n"),
        ("postgresql+json-key/n.sql", "SELECT 1 AS n FROM {{table}};\n"),
        ("postgresql+other/n.sql", ask),
        ("duckdb/n.sql", ask),
        ("sqlite/n.sql", ask),
        ("sqlite/load.sql", "INSERT INTO {{table}} VALUES (:doc);\n"),
        ("elasticsearch/n.json", "{\"path\": \"/{{table}}/_count\"}\n"),
    ];
    let questions = user_questions(folder.path(), &files);
    let configured = |system: &str, variant: &str| {
        let system = catalogue.get(system).unwrap();
        let made = |variant| system.configuration(system.default_version(), variant, "default").unwrap();
        let question_setup = made(&system.variants_of(QUESTIONS)[0].name).setups[QUESTIONS].clone();
        let before = made(variant).for_workloads(&[SERVING]);
        (questions.apply_reports(before.clone(), Some(&question_setup)), before)
    };
    let statement = |system: &str, variant: &str| {
        let (configuration, before) = configured(system, variant);
        assert_ne!(configuration.digest, before.digest, "what is asked is part of what is measured");
        let serving = configuration.serving().unwrap();
        assert!(matches!(serving.reports, Reports::Asked { .. }), "{:?}", serving.reports);
        serving.statement(&question_file("n")).unwrap().to_owned()
    };
    assert_eq!(statement("postgresql", "jsonb-key"), "SELECT count(*) AS n FROM {{table}} AS t");
    // The user's folder of the variant comes first, and the variant's own layout counts.
    let converted = "SELECT 1 AS n FROM (SELECT doc::jsonb AS doc FROM {{table}})";
    assert_eq!(statement("postgresql", "json-key"), converted);
    let converted = "SELECT count(*) AS n FROM (SELECT doc::VARIANT AS doc FROM {{table}}) AS t";
    assert_eq!(statement("duckdb", "json-key"), converted);
    let serving = configured("postgresql", "jsonb-key").0.serving().unwrap();
    assert_eq!(serving.statement("read_only"), Some("SET default_transaction_read_only = on"));
    let refusal = |system: &str, variant: &str| {
        let (configuration, before) = configured(system, variant);
        assert_eq!(configuration.digest, before.digest, "nothing is asked");
        configuration.serving().unwrap().reports.refusal().unwrap().to_owned()
    };
    assert!(refusal("sqlite", "key").contains("makes a table of its own (load)"));
    assert!(refusal("mysql", "json-key").contains("has no folder mysql/"));
    assert!(refusal("elasticsearch", "id-key").contains("maps their key alone"));
    let notes = questions.report_notes(&[configured("postgresql", "jsonb-key").1]);
    let texts =
        ["postgresql builds indexes (index)", "postgresql+json-key is asked by `run questions` alone"];
    for text in texts {
        assert!(notes.iter().any(|note| note.contains(text)), "{text}: {notes:?}");
    }
}

#[test]
fn mistakes_in_the_section_are_named_with_file_line_and_key() {
    for (old, new, messages) in [
        (
            "[serving.durability.synced]",
            "[serving.durability.sinced]",
            &["unknown field `sinced`", "did you mean `synced`?"][..],
        ),
        ("key_types = { text = \"text\" }\n", "", &["missing field `key_types`"]),
        (
            "key_types = { text",
            "key_typs = { text",
            &["`serving.key_typs`: unknown field", "did you mean `key_types`?"],
        ),
        (
            "load = \"rows\"\nkey_types",
            "load = \"rows\"\nclients = 0\nkey_types",
            &["`serving.clients`: is 1 at least"],
        ),
        (
            "process_crash = \"nothing\"",
            "process_crash = \"\"",
            &["`serving.durability.synced.process_crash`: is empty"],
        ),
        (
            "values = { concern = \"all\" }",
            "values = { concern = \"all\", other = 1 }",
            &["`serving.durability.synced.values.other`", "no statement or setting uses `{{other}}`"],
        ),
        (
            "sync = \"off\" }",
            "sync = \"{{cors}}\" }",
            &["`{{cors}}` has no value here (did you mean `cores`?)"],
        ),
        (
            "read = { expect",
            "raed = { expect",
            &["`serving.operations.raed`: unknown operation (did you mean `read`?)"],
        ),
        ("expect = ['Unique'], forbid", "expect = ['('], forbid", &["`serving.operations.read.expect.0`"]),
        (
            "plan = \"SELECT {{key}}\"",
            "plan = \"SELECT {{kee}}\"",
            &["`{{kee}}` has no value here (did you mean `key`?)"],
        ),
        (
            "plan = \"SELECT {{key}}\"",
            "path = \"{{path}}\"",
            &["`serving.operations.update.path`: belongs to `read_paths`"],
        ),
        (
            "[serving.durability.synced]",
            "[serving.names.braces]\nmember = '{{key}}'\n[serving.durability.synced]",
            &["`serving.names.braces`", "no notation of paths", "braced"],
        ),
        (
            "[serving.durability.synced]",
            "[serving.names.path]\nmember = '.{{kee}}'\n[serving.durability.synced]",
            &["`serving.names.path.member`: holds `{{key}}` once"],
        ),
        (
            "[serving.durability.synced]",
            "[serving.names.patch]\nmember = '{{key}} {{inner}}'\n[serving.durability.synced]",
            &["`serving.names.patch`: has a `value` if it is `patch`"],
        ),
        (
            "[serving.durability.synced]",
            "[serving.names.path]\nmember = '{{key}}'\nunreachable = [{ keys = '(', why = 'x' }]\n[serving.durability.synced]",
            &["`serving.names.path.unreachable`"],
        ),
        (
            "[serving.durability.synced]",
            "[serving.reports]\ntable = '{{tabel}}'\n[serving.durability.synced]",
            &["`serving.reports.table`: `{{tabel}}` has no value here"],
        ),
        (
            "[serving.durability.synced]",
            "[serving.reports]\ntable = 'records'\n[serving.durability.synced]",
            &["`serving.reports.table`: does not use `{{table}}`"],
        ),
        (
            "[serving.durability.synced]",
            "[serving.reports]\ntable = '{{table}}'\nnot = 'never'\n[serving.durability.synced]",
            &["`serving.reports`: says either `table`"],
        ),
        ("answers = [\"turn\"]", "answers = [\"key\"]", &["`key` is no name for a column"]),
        (
            "answers = [\"turn\"]",
            "answers = []",
            &["serving/read_modify_write.sql:3: `{{turn}}` has no value"],
        ),
        (
            "workloads = [\"serving\"]\ndefault = true",
            "workloads = [\"servin\"]\ndefault = true",
            &["`variants.by-key.workloads`", "did you mean `serving`?"],
        ),
        (
            "workloads = [\"serving\"]\ndefault = true",
            "workloads = [\"analytics\"]\ndefault = true",
            &["`analytics` is no workload with variants of its own"],
        ),
        (
            "workloads = [\"serving\"]\ndefault = true",
            "workloads = []\ndefault = true",
            &["`variants.by-key.workloads`: is empty"],
        ),
        (
            "workloads = [\"serving\"]\ndefault = true",
            "workloads = [\"serving\"]",
            &["`serving`: has no variant that is the default"],
        ),
        ("ranks_with = \"inside\"", "default = true", &["`by-key` and `inside` are both the default"]),
        (
            "ranks_with = \"inside\"",
            "preparation = \"as-is\"",
            &["`variants.inside.preparation`: is a class of questions"],
        ),
        (
            "[serving.operations]\nread",
            "[serving.questions]\nq1 = {}\n[serving.operations]\nread",
            &["unknown field `questions`", "(`questions` is a rule of [analytics])"],
        ),
    ] {
        let error = replaced(old, new);
        for message in messages {
            assert!(error.contains(message), "{new}: {error}");
        }
        assert!(error.contains("system.toml:") || error.contains(".sql:"), "{error}");
    }
}

#[test]
fn mistakes_in_statements_are_named_with_file_and_line() {
    let written = |file: &'static str, text: &'static str| error_after(|example| write(example, file, text));
    for (file, text, message) in [
        ("read", "SELECT doc\nFROM {{tabel}} WHERE {{key}};", "serving/read.sql:2: `{{tabel}}` has no value"),
        (
            "read",
            "SELECT doc FROM {{table}};",
            "serving/read.sql: does not use `{{key}}`, which it is there for",
        ),
        ("read", "SELECT {{key}}, {{value}};", "serving/read.sql:1: `{{value}}` has no value in `read`"),
        ("create", "CREATE {{key}};", "serving/create.sql:1: `{{key}}` has no value in `create`"),
        ("insert", "INSERT 1;", "does not use `{{document}}` or `{{keyed_document}}`"),
        ("reed", "SELECT 1;", "serving/reed.sql: is no statement file of serving (did you mean `read`?)"),
        ("q1", "SELECT 1;", "(`q1` is a file of analytics/)"),
        ("ordered/read", "SELECT {{key}};", "`ordered` is no variant of example"),
    ] {
        let error = written(file, text);
        assert!(error.contains(message), "{file}: {error}");
    }
    let error = error_after(|example| {
        fs::write(example.join("analytics/read_paths.sql"), "SELECT 1;").unwrap();
    });
    assert!(error.contains("(`read_paths` is a file of serving/)"), "{error}");
    let error = error_after(|example| {
        fs::create_dir_all(example.join("analytics/by-key")).unwrap();
        fs::write(example.join("analytics/by-key/q1.sql"), "SELECT 1;").unwrap();
    });
    assert!(error.contains("`by-key` is no variant of example"), "{error}");
    let error = error_after(|example| fs::remove_file(example.join("serving/count.sql")).unwrap());
    assert!(
        error.contains("serving/count.sql: is missing: the serving workload cannot do without it"),
        "{error}"
    );
}
