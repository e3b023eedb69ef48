//! Tests of the documents section of system folders: own variants, reasons, indexes with their queries, and
//! errors.

use crate::support;

use std::{fs, path::Path};

use support::copy;

use jsonathlon_catalogue::{
    Catalogue, CatalogueError, DOCUMENTS, Operation, QueryAnswer, TargetKind, select_variants_of,
};

const SECTION: &str = r#"
[documents]
load = "rows"
largest = { n = 19, why = "16 MiB" }
vain = ['Full']

[documents.not]
copy = "it has no setter"
export = "no"

[documents.index.plain]
title = "plain"
best = true
create = ["CREATE INDEX {{table}}_l ON {{table}} (l)"]
drop = ["DROP INDEX {{table}}_l"]

[[documents.index.plain.ask]]
operation = "filter"
form = "column"
statement = "SELECT key FROM {{table}} WHERE l = 10"
used = ['Index .*_l']
force = ["SET scan = off"]
unforce = ["RESET scan"]

[documents.index.other]
title = "other"
create = ["CREATE INDEX {{table}}_o ON {{table}} (o)"]
used = ['Other']

[[documents.index.other.ask]]
operation = "exists"
form = "?"
statement = "SELECT key FROM {{table}} WHERE o"

[[documents.ask]]
operation = "exists"
form = "?"
statement = "SELECT key FROM {{table}}{{hint}} WHERE doc ? 'l'"
used = ['Index']
answer = "all"

[variants.text]
title = "text"
workloads = ["documents"]
default = true

[variants.binary]
title = "binary"
workloads = ["documents"]
default = true

[variants.binary.documents]
not = { filter = "nor this" }
hint = " USE {{table}}_l"
ask = [{ operation = "order", form = "->>", statement = "SELECT key FROM {{table}}{{hint}}", used = ["Sorted"] }]
"#;

const FILES: [(&str, &str); 8] = [
    ("create", "CREATE TABLE {{table}} (key INT, doc JSON);"),
    ("load", "INSERT INTO {{table}} VALUES (:key, :doc);"),
    ("plan", "EXPLAIN {{statement}};"),
    ("count", "SELECT count(*) FROM {{table}};"),
    ("sizes", "SELECT 1 AS total_bytes;"),
    ("drop", "DROP TABLE {{table}};"),
    ("extract", "SELECT doc ->> 'l' FROM {{table}};"),
    ("binary/copy", "INSERT INTO {{copy}} SELECT * FROM {{table}};"),
];

fn world(change: impl Fn(&Path)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let example = folder.path().join("example");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/systems/example"), &example);
    let text = fs::read_to_string(example.join("system.toml")).unwrap();
    fs::write(example.join("system.toml"), text + SECTION).unwrap();
    for (file, text) in FILES {
        let path = example.join("documents").join(format!("{file}.sql"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    change(&example);
    folder
}

fn load(folder: &Path) -> Result<Catalogue, CatalogueError> {
    Catalogue::load(&[folder.to_path_buf()])
}

/// Replaces a text of the definition. Returns the error.
fn replaced(old: &str, new: &str) -> String {
    let folder = world(|example| {
        let text = fs::read_to_string(example.join("system.toml")).unwrap();
        assert!(text.contains(old), "{old}");
        fs::write(example.join("system.toml"), text.replacen(old, new, 1)).unwrap();
    });
    load(folder.path()).unwrap_err().to_string()
}

#[test]
fn several_variants_stand_for_the_system_and_each_says_what_it_lacks() {
    let folder = world(|_| {});
    let catalogue = load(folder.path()).unwrap();
    let example = catalogue.get("example").unwrap();
    let chosen = select_variants_of(DOCUMENTS, &[example], "default", TargetKind::Started).unwrap();
    let names: Vec<&str> = chosen[0].iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["binary", "text"]);
    let of = |variant: &str| {
        let version = example.default_version();
        example.configuration(version, variant, "default").unwrap().documents().unwrap()
    };
    let (text, binary) = (of("text"), of("binary"));
    assert_eq!(text.largest.as_ref().map(|largest| largest.n), Some(19));
    assert_eq!(text.skip_reason("copy").as_deref(), Some("it has no setter"));
    assert_eq!(text.skip_reason("filter").as_deref(), Some("its folder has no statement for this"));
    assert_eq!(binary.skip_reason("filter").as_deref(), Some("nor this"));
    assert_eq!((text.skip_reason("extract"), text.skip_reason("index")), (None, None));
    let index = text.best_index().unwrap();
    assert_eq!((index.name.as_str(), index.queries.len()), ("plain", 2));
    assert_eq!(
        (index.queries[0].answer, index.queries[0].full_scan_patterns.join(" ")),
        (QueryAnswer::KeysOfTen, "Full".to_owned())
    );
    assert_eq!(index.queries[1].answer, QueryAnswer::AllKeys);
    assert_eq!(index.queries[1].statement, "SELECT key FROM {{table}} WHERE doc ? 'l'");
    assert_eq!((index.queries[1].forced_statement.clone(), index.queries[1].can_be_forced()), (None, false));
    assert!(index.timed_query(Operation::Filter).is_some() && index.timed_query(Operation::Exists).is_none());
    // A query that an index defines in the same form replaces the one defined for all indexes.
    let [ask] = text.indexes[0].queries.as_slice() else { panic!("{:?}", text.indexes[0]) };
    assert_eq!(
        (ask.statement.as_str(), ask.answer),
        ("SELECT key FROM {{table}} WHERE o", QueryAnswer::KeysWithRare)
    );
    assert_eq!(ask.used_patterns, ["Other"]);
    // The queries of a variant replace all that are defined for all indexes, and use the variant's hint.
    let [filter, order] = binary.best_index().unwrap().queries.as_slice() else { panic!("{binary:?}") };
    assert_eq!((filter.operation, order.operation), (Operation::Filter, Operation::Order));
    assert_eq!(order.forced_statement.as_deref(), Some("SELECT key FROM {{table}} USE {{table}}_l"));
}

#[test]
fn what_is_wrong_is_named() {
    for (old, new, words) in [
        ("copy = \"it has", "coppy = \"it has", "did you mean `copy`"),
        ("copy = \"it has no setter\"", "copy = \" \"", "is empty"),
        ("best = true", "best = false", "none of them is the best"),
        ("used = ['Index .*_l']", "used = ['(']", "unclosed group"),
        ("used = ['Index .*_l']", "", "no `used` says which plans"),
        ("vain = ['Full']", "vain = ['[']", "unclosed character class"),
        (
            "form = \"?\"\nstatement = \"SELECT key FROM {{table}}{{hint}}",
            "form = \"?\"\nforced = \"x\"\nstatement = \"SELECT key FROM {{table}}{{hint}}",
            "says so already",
        ),
        ("hint = \" USE {{table}}_l\"", "hint = \" USE {{it}}\"", "`{{it}}` has no value here"),
        ("unforce = [\"RESET scan\"]", "unforce = []", "must be set back"),
        ("(l)\"]", "({{l}})\"]", "`{{l}}` has no value here"),
        ("operation = \"filter\"", "operation = \"find\"", "unknown variant `find`"),
    ] {
        let told = replaced(old, new);
        assert!(told.contains(words), "{old} → {new}: {told}");
    }
}
