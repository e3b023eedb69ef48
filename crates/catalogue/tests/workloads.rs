//! Tests of workloads registered in addition to the built-in ones: sections of system folders, rules, and
//! errors.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod support;

use std::{fs, path::Path};

use serde::Deserialize;
use support::copy;

use jsonathlon_catalogue::{
    Catalogue, CatalogueError, LoadMode, Said, Section, StatementRule, WorkloadRules,
};

/// A workload that stores documents and reads them back.
#[derive(Debug)]
struct Echo;

static ECHO: Echo = Echo;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct EchoDefinition {
    load: Option<LoadMode>,
    sessions: Option<u64>,
}

impl WorkloadRules for Echo {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn files(&self) -> &'static [StatementRule] {
        const FILES: [StatementRule; 3] = [
            StatementRule::required("load").holding("file"),
            StatementRule::required("get").single().holding("id"),
            StatementRule::optional("warm"),
        ];
        &FILES
    }

    fn placeholders(&self) -> &'static [&'static str] {
        &["id"]
    }

    fn keys(&self) -> &'static [&'static str] {
        &["load", "sessions"]
    }

    fn read(&self, sections: &[Section<'_>]) -> Result<Said, CatalogueError> {
        let mut said = EchoDefinition::default();
        for section in sections {
            let EchoDefinition { load, sessions } = section.read()?;
            if sessions == Some(0) {
                return Err(section.error(&["sessions"], "is 1 at least"));
            }
            said = EchoDefinition { load: load.or(said.load), sessions: sessions.or(said.sessions) };
        }
        let rules = serde_json::json!({ "sessions": said.sessions });
        Ok(Said { load: said.load, rules, ..Said::default() })
    }
}

const SECTION: &str = "\n[echo]\nload = \"rows\"\nsessions = 4\n\n[variants.plain.echo]\nsessions = 8\n";

/// A changed copy of the example with a section for the additional workload, in a temporary folder.
fn world(change: impl Fn(&Path)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let example = folder.path().join("example");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/systems/example"), &example);
    append(&example, "system.toml", SECTION);
    fs::create_dir_all(example.join("echo/plain")).unwrap();
    fs::write(example.join("echo/load.sql"), "INSERT INTO {{table}} VALUES (:doc);").unwrap();
    fs::write(example.join("echo/get.sql"), "SELECT doc FROM {{table}} WHERE id = {{id}};").unwrap();
    fs::write(example.join("echo/plain/warm.sql"), "SELECT '{{codec}}';").unwrap();
    change(&example);
    folder
}

fn append(example: &Path, file: &str, text: &str) {
    let path = example.join(file);
    let before = fs::read_to_string(&path).unwrap_or_default();
    fs::write(path, before + text).unwrap();
}

fn load(folder: &Path) -> Result<Catalogue, CatalogueError> {
    Catalogue::load_with(&[folder.to_path_buf()], &[&ECHO])
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
    assert_eq!(catalogue.workloads(), ["analytics", "serving", "documents", "questions", "fidelity", "echo"]);
    let example = catalogue.get("example").unwrap();
    assert_eq!(example.workloads(), ["analytics", "echo"]);
    let ordered = example.configuration("2.0", "ordered", "default").unwrap();
    let echo = &ordered.parts["echo"];
    assert_eq!((echo.load, echo.rules["sessions"].as_u64()), (Some(LoadMode::Rows), Some(4)));
    assert_eq!(echo.statement("get"), Some("SELECT doc FROM {{table}} WHERE id = {{id}}"));
    assert_eq!(echo.statements("warm"), [""; 0]);
    let plain = example.configuration("2.0", "plain", "default").unwrap();
    assert_eq!(plain.parts["echo"].rules["sessions"].as_u64(), Some(8), "the variant lies over the base");
    assert_eq!(plain.parts["echo"].statement("warm"), Some("SELECT 'lz4'"));
    assert_eq!(plain.analytics().unwrap().load, LoadMode::File, "each loads in its own way");
    assert!(echo.read_rules::<EchoDefinition>().is_ok());

    let without = Catalogue::load(&[folder.path().to_path_buf()]).unwrap_err().to_string();
    assert!(without.contains("`echo`: there is no such table and no workload of this name"), "{without}");
}

#[test]
fn a_digest_covers_the_workloads_of_a_run_and_no_others() {
    let digests = |change: &dyn Fn(&Path)| {
        let folder = world(change);
        let catalogue = load(folder.path()).unwrap();
        let example = catalogue.get("example").unwrap();
        let of = |workloads: &[&str]| {
            example.configuration("2.0", "ordered", "default").unwrap().only(workloads).digest
        };
        [of(&["analytics"]), of(&["echo"]), of(&["analytics", "echo"])]
    };
    let before = digests(&|_| {});
    let statement = digests(&|example| {
        fs::write(example.join("echo/get.sql"), "SELECT doc FROM {{table}} WHERE key = {{id}};").unwrap();
    });
    let rule = digests(&|example| {
        let text = fs::read_to_string(example.join("system.toml")).unwrap();
        fs::write(example.join("system.toml"), text.replace("sessions = 4", "sessions = 5")).unwrap();
    });
    for after in [statement, rule] {
        assert_eq!(before[0], after[0]);
        assert!(before[1] != after[1] && before[2] != after[2]);
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
    let message = replaced("[echo]", "[ecko]");
    let expected = "there is no such table and no workload of this name (did you mean `echo`?); workloads are analytics, serving, documents, questions, fidelity, echo";
    // The variant's section without a general section is reported first.
    assert!(message.contains("there is no [echo] to which this could belong"), "{message}");
    let message = error_after(|example| append(example, "system.toml", "\n[ecko]\nsessions = 1\n"));
    assert_eq!(message, format!("system.toml:{}: `ecko`: {expected}", with_section().lines().count() + 2));
    let message = error_after(|example| append(example, "system.toml", "\n[servr]\nx = 1\n"));
    assert!(
        message.contains("`servr`: there is no such table") && message.contains("did you mean `server`?")
    );
    let message =
        error_after(|example| append(example, "system.toml", "\n[variants.plain.ecko]\nsessions = 1\n"));
    assert!(message.contains("unknown field `ecko`") && message.contains("expected one of"), "{message}");
    let message = error_after(|example| {
        let text = fs::read_to_string(example.join("system.toml")).unwrap();
        fs::write(example.join("system.toml"), format!("echo = 1\n{}", text.replace(SECTION, ""))).unwrap();
    });
    assert_eq!(message, "system.toml:1: `echo`: is a table: [echo]");
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
    let message = inserted("[echo]", "suspects = []");
    assert!(
        message.contains("`echo.suspects`: unknown field `suspects`, expected `load` or `sessions`"),
        "{message}"
    );
    assert!(message.ends_with("(`suspects` is a rule of [analytics])"), "{message}");
    let message = inserted("[analytics]", "sessions = 1");
    assert!(
        message.contains("`analytics.sessions`: unknown field `sessions`, expected one of `load`"),
        "{message}"
    );
    assert!(message.ends_with("(`sessions` is a rule of [echo])"), "{message}");
    let message = inserted("[variants.plain.echo]", "questions = {}");
    assert!(
        message.contains("`variants.plain.echo.questions`") && message.contains("[analytics]"),
        "{message}"
    );
    let message = inserted("[variants.hidden]", "sessions = 3");
    assert!(message.contains("`variants.hidden.sessions`: unknown field"), "{message}");
    let message = error_after(|example| {
        fs::write(example.join("system.toml"), with_section().replace("sessions = 8", "sessions = 0"))
            .unwrap()
    });
    assert!(message.contains("`variants.plain.echo.sessions`: is 1 at least"), "{message}");
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
        add("echo/q1.sql"),
        "echo/q1.sql: is no statement file of echo (`q1` is a file of analytics/); there is load, get, warm"
    );
    assert!(add("analytics/get.sql").contains("(`get` is a file of echo/); there is create, "));
    let message = add("ecko/get.sql");
    assert!(
        message.contains(
            "for each workload that it runs, of analytics, serving, documents, questions, fidelity, echo (did you mean `echo`?)"
        ),
        "{message}"
    );
    let foreign =
        error_after(|example| fs::write(example.join("analytics/q1.sql"), "SELECT {{id}};").unwrap());
    assert!(foreign.starts_with("analytics/q1.sql:1: `{{id}}` has no value"), "{foreign}");
    let message = error_after(|example| fs::write(example.join("echo/warm.sql"), "SELECT {{id}};").unwrap());
    assert!(message.contains("echo/warm.sql:1: `{{id}}` has a value only in `get`"), "{message}");
    let message = error_after(|example| fs::remove_file(example.join("echo/get.sql")).unwrap());
    assert!(
        message.contains("echo/get.sql: is missing: the echo workload cannot do without it"),
        "{message}"
    );
    let message = error_after(|example| {
        let text = fs::read_to_string(example.join("system.toml")).unwrap();
        fs::write(example.join("system.toml"), text.replace(SECTION, "")).unwrap();
    });
    assert!(message.contains("is there, but system.toml has no [echo]"), "{message}");
}

#[test]
fn a_workload_that_no_chosen_system_runs_is_refused_with_the_reasons() {
    let folder = world(|example| {
        let (above, name) = (example.parent().unwrap(), "silent");
        copy(example, &above.join(name));
        fs::remove_dir_all(above.join(name).join("echo")).unwrap();
        let text = fs::read_to_string(example.join("system.toml")).unwrap();
        let text = text.replace(SECTION, "\n[not.echo]\nwhy = \"It keeps nothing.\"\n");
        fs::write(above.join(name).join("system.toml"), text.replace("\"example\"", "\"silent\"")).unwrap();
    });
    let catalogue = load(folder.path()).unwrap();
    let systems = ["silent", "sqlite", "example"].map(|name| catalogue.get(name).unwrap());
    let running = catalogue.running("echo", &systems).unwrap();
    assert_eq!(running.iter().map(|system| system.name()).collect::<Vec<_>>(), ["example"]);
    let error = catalogue.running("echo", &systems[..2]).unwrap_err().to_string();
    let file = folder.path().join("silent/system.toml");
    let line = line_of(&fs::read_to_string(&file).unwrap(), "why = \"It keeps nothing.\"");
    assert_eq!(
        error,
        format!(
            "no chosen system runs echo: {}:{line}: `not.echo.why`: It keeps nothing.; built-in sqlite/system.toml has \
             no [echo]; it is run by example",
            file.display()
        )
    );
    let error = catalogue.running("ecko", &systems).unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no workload `ecko` (did you mean `echo`?); workloads are analytics, serving, documents, questions, fidelity and echo"
    );

    let system = |name: &str| catalogue.get(name).unwrap();
    assert_eq!(system("silent").does_not_run()["echo"], "It keeps nothing.");
    assert_eq!(system("sqlite").does_not_run()["echo"], "its folder has no [echo]");
    assert_eq!(system("example").workloads(), ["analytics", "echo"]);
    assert_eq!(system("example").does_not_run()["serving"], "its folder has no [serving]");
}

#[test]
fn what_a_system_does_not_run_is_a_workload_and_has_a_reason() {
    let message = error_after(|example| append(example, "system.toml", "[not.ecko]\nwhy = \"No.\"\n"));
    assert!(message.contains("`not.ecko`: there is no such workload (did you mean `echo`?)"), "{message}");
    let message = error_after(|example| append(example, "system.toml", "[not.echo]\nwhy = \"No.\"\n"));
    assert!(message.contains("`not.echo`: there is a [echo]: keep one of them"), "{message}");
    let empty = with_section().replace(SECTION, "\n[not.echo]\nwhy = \" \"\n");
    let message = error_after(|example| fs::write(example.join("system.toml"), &empty).unwrap());
    assert!(message.contains("`not.echo.why`: is empty"), "{message}");
}
