//! Tests of the sections and statement files of workloads in system folders: what belongs where, and errors.

use crate::support;

use std::{fs, path::Path};

use jsonathlon_catalogue::{Catalogue, CatalogueError, LoadMode};

use support::copy;

/// A section for a second workload, and a variant of its own that overrides it.
const SECTION: &str = r#"
[fidelity]
load = "rows"

[variants.whole]
title = "whole documents"
workloads = ["fidelity"]
default = true

[variants.whole.fidelity]
one_line = true
"#;

/// A changed copy of the example with a section for a second workload, in a temporary folder.
fn world(change: impl Fn(&Path)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let example = folder.path().join("example");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/systems/example"), &example);
    append(&example, "system.toml", SECTION);
    fs::create_dir_all(example.join("fidelity/whole")).unwrap();
    for (name, statement) in [
        ("create", "CREATE TABLE {{table}} (doc);"),
        ("load", "INSERT INTO {{table}} VALUES (:doc);"),
        ("read", "SELECT doc FROM {{table}};"),
        ("drop", "DROP TABLE {{table}};"),
        ("whole/value", "SELECT '{{codec}}', doc -> '{{member}}' FROM {{table}};"),
    ] {
        fs::write(example.join(format!("fidelity/{name}.sql")), statement).unwrap();
    }
    change(&example);
    folder
}

fn append(example: &Path, file: &str, text: &str) {
    let path = example.join(file);
    let before = fs::read_to_string(&path).unwrap_or_default();
    fs::write(path, before + text).unwrap();
}

fn load(folder: &Path) -> Result<Catalogue, CatalogueError> {
    Catalogue::load(&[folder.to_path_buf()])
}

fn error_after(change: impl Fn(&Path)) -> String {
    let folder = world(change);
    let error = load(folder.path()).unwrap_err().to_string();
    error.replace(&format!("{}/example/", folder.path().display()), "")
}

/// Line number of the last line that equals this text.
fn line_of(example: &str, text: &str) -> usize {
    example.lines().enumerate().filter(|(_, line)| *line == text).last().unwrap().0 + 1
}

fn with_section() -> String {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/systems/example/system.toml");
    fs::read_to_string(example).unwrap() + SECTION
}

#[test]
fn a_folder_has_a_part_for_each_workload_by_its_own_rules() {
    let folder = world(|_| {});
    let catalogue = load(folder.path()).unwrap();
    assert_eq!(
        catalogue.workloads(),
        ["analytics", "serving", "mixed", "documents", "questions", "fidelity"]
    );
    let example = catalogue.get("example").unwrap();
    assert_eq!(example.workloads(), ["analytics", "fidelity"]);
    let whole = example.configuration("2.0", "whole", "default").unwrap();
    let fidelity = whole.fidelity().unwrap();
    assert_eq!(
        (fidelity.load, fidelity.one_document_per_line),
        (LoadMode::Rows, true),
        "the variant overrides the base"
    );
    assert_eq!(
        (fidelity.can_extract, fidelity.can_insert),
        (true, false),
        "the variant has a file of its own, and none has `insert`"
    );
    let part = &whole.setups["fidelity"];
    assert_eq!(part.statement("read"), Some("SELECT doc FROM {{table}}"));
    assert_eq!(part.statement("value"), Some("SELECT 'lz4', doc -> '{{member}}' FROM {{table}}"));
    assert_eq!(part.statements("insert"), [""; 0]);
    assert!(whole.analytics().is_none(), "the variant is of one workload");
    let ordered = example.configuration("2.0", "ordered", "default").unwrap();
    assert_eq!(ordered.analytics().unwrap().load, LoadMode::File, "each loads in its own way");
    assert!(ordered.fidelity().is_none());
}

#[test]
fn a_digest_covers_the_workloads_of_a_run_and_no_others() {
    let digests = |change: &dyn Fn(&Path)| {
        let folder = world(change);
        let catalogue = load(folder.path()).unwrap();
        let example = catalogue.get("example").unwrap();
        let of = |variant: &str, workload: &str| {
            example.configuration("2.0", variant, "default").unwrap().for_workloads(&[workload]).digest
        };
        [of("ordered", "analytics"), of("whole", "fidelity")]
    };
    let before = digests(&|_| {});
    let statement = digests(&|example| {
        fs::write(example.join("fidelity/read.sql"), "SELECT doc FROM {{table}} LIMIT 1;").unwrap();
    });
    let rule = digests(&|example| {
        let text = fs::read_to_string(example.join("system.toml")).unwrap();
        fs::write(example.join("system.toml"), text.replace("one_line = true", "one_line = false")).unwrap();
    });
    for after in [statement, rule] {
        assert_eq!(before[0], after[0]);
        assert_ne!(before[1], after[1]);
    }
    let general = digests(&|example| {
        let text = fs::read_to_string(example.join("system.toml")).unwrap();
        fs::write(example.join("system.toml"), text.replace("sync = true", "sync = false")).unwrap();
    });
    assert!(before.iter().zip(&general).all(|(before, after)| before != after));

    // A section for another workload does not change the digest of a configuration for analytics.
    let alone =
        Catalogue::load(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/systems")]).unwrap();
    let alone = alone.get("example").unwrap().configuration("2.0", "ordered", "default").unwrap();
    assert_eq!(alone.digest, before[0]);
}

#[test]
fn sections_that_no_workload_reads_are_named_with_those_that_there_are() {
    let text = with_section();
    let replaced = |old: &'static str, new: &'static str| {
        error_after(move |example| {
            assert!(text.contains(old), "{old}");
            fs::write(example.join("system.toml"), text.replacen(old, new, 1)).unwrap();
        })
    };
    let message = replaced("[fidelity]", "[fidelty]");
    // The variant's section without a general section is reported first.
    assert!(message.contains("there is no [fidelity] to which this could belong"), "{message}");
    let message = error_after(|example| append(example, "system.toml", "\n[fidelty]\none_line = true\n"));
    let expected = "there is no such table and no workload of this name (did you mean `fidelity`?); workloads are \
                    analytics, serving, mixed, documents, questions, fidelity";
    assert_eq!(message, format!("system.toml:{}: `fidelty`: {expected}", with_section().lines().count() + 2));
    let message = error_after(|example| append(example, "system.toml", "\n[servr]\nx = 1\n"));
    assert!(
        message.contains("`servr`: there is no such table") && message.contains("did you mean `server`?")
    );
    let message = error_after(|example| {
        append(example, "system.toml", "\n[variants.plain.fidelty]\none_line = true\n");
    });
    assert!(message.contains("unknown field `fidelty`") && message.contains("expected one of"), "{message}");
    let message = error_after(|example| {
        let text = fs::read_to_string(example.join("system.toml")).unwrap();
        fs::write(example.join("system.toml"), format!("fidelity = 1\n{}", text.replace(SECTION, "")))
            .unwrap();
    });
    assert_eq!(message, "system.toml:1: `fidelity`: is a table: [fidelity]");
}

#[test]
fn a_rule_in_another_workloads_section_is_named_with_its_own() {
    let text = with_section();
    let inserted = |after: &'static str, line: &'static str| {
        let text = text.replacen(after, &format!("{after}\n{line}"), 1);
        let number = line_of(&text, line);
        let message = error_after(|example| fs::write(example.join("system.toml"), &text).unwrap());
        let start = format!("system.toml:{number}: ");
        assert!(message.starts_with(&start), "{start}: {message}");
        message
    };
    let message = inserted("[fidelity]", "suspects = []");
    assert!(
        message.contains("`fidelity.suspects`: unknown field `suspects`, expected one of `load`, `one_line`"),
        "{message}"
    );
    assert!(message.ends_with("(`suspects` is a rule of [analytics])"), "{message}");
    let message = inserted("[analytics]", "one_line = false");
    assert!(
        message.contains("`analytics.one_line`: unknown field `one_line`, expected one of `load`"),
        "{message}"
    );
    assert!(message.ends_with("(`one_line` is a rule of [fidelity])"), "{message}");
    let message = inserted("[variants.whole.fidelity]", "questions = {}");
    assert!(
        message.contains("`variants.whole.fidelity.questions`") && message.contains("[analytics]"),
        "{message}"
    );
    let message = inserted("[variants.hidden]", "one_line = false");
    assert!(message.contains("`variants.hidden.one_line`: unknown field"), "{message}");
    let message = error_after(|example| {
        fs::write(example.join("system.toml"), with_section().replace("one_line = true", "one_line = 8"))
            .unwrap();
    });
    assert!(message.contains("`variants.whole.fidelity.one_line`: invalid type"), "{message}");
    // Both forms of a variant's section must not be combined.
    let both = "[variants.plain.analytics.questions]\nq1 = {}\n";
    let message = error_after(|example| append(example, "system.toml", both));
    assert!(message.contains("there is a [variants.plain.analytics]: put it there"), "{message}");
}

#[test]
fn a_statement_file_that_no_workload_reads_is_named() {
    let add = |name: &'static str| {
        error_after(move |example| {
            fs::create_dir_all(example.join(name).parent().unwrap()).unwrap();
            fs::write(example.join(name), "SELECT 1;").unwrap();
        })
    };
    assert_eq!(
        add("fidelity/q1.sql"),
        "fidelity/q1.sql: is no statement file of fidelity (`q1` is a file of analytics/); there is create, load, \
         insert, read, read_hex, value, drop"
    );
    assert!(add("analytics/value.sql").contains("(`value` is a file of fidelity/); there is create, "));
    let message = add("fidelty/read.sql");
    assert!(
        message.contains(
            "for each workload that it runs, of analytics, serving, mixed, documents, questions, fidelity (did you \
             mean `fidelity`?)"
        ),
        "{message}"
    );
    let foreign =
        error_after(|example| fs::write(example.join("analytics/q1.sql"), "SELECT {{member}};").unwrap());
    assert!(foreign.starts_with("analytics/q1.sql:1: `{{member}}` has no value"), "{foreign}");
    let message =
        error_after(|example| fs::write(example.join("fidelity/drop.sql"), "DROP {{document}};").unwrap());
    assert!(message.contains("fidelity/drop.sql:1: `{{document}}` has no value in `drop`"), "{message}");
    let message = error_after(|example| fs::remove_file(example.join("fidelity/read.sql")).unwrap());
    assert!(
        message.contains("fidelity/read.sql: is missing: the fidelity workload cannot do without it"),
        "{message}"
    );
    let message = error_after(|example| {
        let text = fs::read_to_string(example.join("system.toml")).unwrap();
        fs::write(example.join("system.toml"), text.replace(SECTION, "")).unwrap();
    });
    assert!(message.contains("is there, but system.toml has no [fidelity]"), "{message}");
}

#[test]
fn a_workload_that_no_chosen_system_runs_is_refused_with_the_reasons() {
    let folder = world(|example| {
        let above = example.parent().unwrap();
        let text = fs::read_to_string(example.join("system.toml")).unwrap();
        for (name, not) in [("silent", "\n[not.fidelity]\nwhy = \"It keeps nothing.\"\n"), ("mute", "")] {
            copy(example, &above.join(name));
            fs::remove_dir_all(above.join(name).join("fidelity")).unwrap();
            let text = text.replace(SECTION, not).replace("\"example\"", &format!("\"{name}\""));
            fs::write(above.join(name).join("system.toml"), text).unwrap();
        }
    });
    let catalogue = load(folder.path()).unwrap();
    let systems = ["silent", "mute", "example"].map(|name| catalogue.get(name).unwrap());
    let running = catalogue.supporting_systems("fidelity", &systems).unwrap();
    assert_eq!(running.iter().map(|system| system.name()).collect::<Vec<_>>(), ["example"]);
    let error = catalogue.supporting_systems("fidelity", &systems[..2]).unwrap_err().to_string();
    let file = |name: &str| folder.path().join(name).join("system.toml");
    let line = line_of(&fs::read_to_string(file("silent")).unwrap(), "why = \"It keeps nothing.\"");
    let expected = format!(
        "no chosen system runs fidelity: {}:{line}: `not.fidelity.why`: It keeps nothing.; {} has no [fidelity]; it is \
         run by ",
        file("silent").display(),
        file("mute").display()
    );
    let by = error.strip_prefix(&expected).unwrap_or_else(|| panic!("{error}"));
    assert!(by.contains("example") && by.contains("sqlite") && !by.contains("silent"), "{by}");
    let error = catalogue.supporting_systems("fidelty", &systems).unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no workload `fidelty` (did you mean `fidelity`?); workloads are analytics, serving, mixed, \
         documents, questions and fidelity"
    );

    let system = |name: &str| catalogue.get(name).unwrap();
    assert_eq!(system("silent").unsupported_workloads()["fidelity"], "It keeps nothing.");
    assert_eq!(system("mute").unsupported_workloads()["fidelity"], "its folder has no [fidelity]");
    assert_eq!(system("example").workloads(), ["analytics", "fidelity"]);
    assert_eq!(system("example").unsupported_workloads()["serving"], "its folder has no [serving]");
}

#[test]
fn what_a_system_does_not_run_is_a_workload_and_has_a_reason() {
    let message = error_after(|example| append(example, "system.toml", "[not.fidelty]\nwhy = \"No.\"\n"));
    assert!(
        message.contains("`not.fidelty`: there is no such workload (did you mean `fidelity`?)"),
        "{message}"
    );
    let message = error_after(|example| append(example, "system.toml", "[not.fidelity]\nwhy = \"No.\"\n"));
    assert!(message.contains("`not.fidelity`: there is a [fidelity]: keep one of them"), "{message}");
    let empty = with_section().replace(SECTION, "\n[not.fidelity]\nwhy = \" \"\n");
    let message = error_after(|example| fs::write(example.join("system.toml"), &empty).unwrap());
    assert!(message.contains("`not.fidelity.why`: is empty"), "{message}");
}
