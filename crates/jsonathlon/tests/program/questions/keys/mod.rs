//! Tests that any key can be asked about: generated questions about members of any name are answered as
//! expected, or left out with a reason.

mod corpus;

use std::path::Path;

use corpus::{Cell, Corpus, Question};
use proptest::test_runner::{Config, TestRunner};
use serde::de::DeserializeOwned;

use jsonathlon_catalogue::{
    Catalogue, Configuration, FirstQuestion, FirstQuestionError, LoadMode, QUESTIONS, StatementKind,
    UserQuestions, WorkloadSetup, fill, question_file,
};
use jsonathlon_driver_api::{
    Connection,
    driver::{DocumentSource, LoadSink},
};
use jsonathlon_schema::value::{Row, Value};
use jsonathlon_worker::protocol::{AskReply, LoadMethod, LoadReply, Op};
use jsonathlon_workloads::{
    engine::{EngineHandle, WorkerCommand},
    target::Target,
};

use crate::support::{
    LIMIT,
    real::{included, installed},
};

/// Number of batches of random paths, which differ on each run; `PATHS` is the number of paths per batch.
const BATCHES: usize = 4;
const PATHS: usize = 40;

const TABLE: &str = "of_keys";
/// Maximum number of wrong answers shown.
const SHOWN: usize = 20;

/// A session that executes statements on a system.
pub(crate) trait Session {
    fn ask(&mut self, statement: &str) -> Result<Vec<Row>, String>;
    /// Loads one document per line. Returns the positions of the rejected ones.
    fn load(&mut self, statement: &str, file: &Path) -> Vec<usize>;
}

impl Session for EngineHandle {
    fn ask(&mut self, statement: &str) -> Result<Vec<Row>, String> {
        let op = Op::Ask { statement: statement.to_owned() };
        let answered: AskReply =
            self.request(&op, LIMIT, &|| false, &mut |_| {}).map_err(|error| error.to_string())?;
        Ok(answered.outcome.rows)
    }

    fn load(&mut self, statement: &str, file: &Path) -> Vec<usize> {
        let load = LoadMethod::Rows { statement: statement.to_owned(), file: file.to_owned() };
        let loaded: LoadReply = of_worker(self, &Op::Load { load, sync: false });
        loaded.rejects.iter().map(|one| one.line as usize).collect()
    }
}

fn of_worker<R: DeserializeOwned>(worker: &mut EngineHandle, op: &Op) -> R {
    worker.request(op, LIMIT, &|| false, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

struct Lines(std::vec::IntoIter<String>, String);

impl DocumentSource for Lines {
    fn next_document(&mut self) -> jsonathlon_driver_api::Result<Option<&[u8]>> {
        let Some(line) = self.0.next() else { return Ok(None) };
        self.1 = line;
        Ok(Some(self.1.as_bytes()))
    }
}

#[derive(Default)]
struct Refused(Vec<usize>);

impl LoadSink for Refused {
    fn reject(&mut self, ordinal: u64, reason: String) {
        println!("refused {ordinal}: {reason}");
        self.0.push(ordinal as usize);
    }
    fn report_offered(&mut self, _: u64) {}
}

impl Session for Box<dyn Connection> {
    fn ask(&mut self, statement: &str) -> Result<Vec<Row>, String> {
        self.collect(statement).map(|outcome| outcome.rows).map_err(|error| error.to_string())
    }

    fn load(&mut self, statement: &str, file: &Path) -> Vec<usize> {
        let text = std::fs::read_to_string(file).unwrap();
        let lines: Vec<String> = text.split_terminator('\n').map(str::to_owned).collect();
        let mut refused = Refused::default();
        self.bulk_in(statement, &mut Lines(lines.into_iter(), String::new()), &mut refused).unwrap();
        refused.0
    }
}

/// Questions that a system was not asked: the keys of the path and the reason.
type Left = Vec<(Vec<String>, String)>;

/// Writes generated questions about the documents as `questions new` does, reads them as a run does, and asks
/// them.
fn ask_all(session: &mut dyn Session, configuration: Configuration, corpus: &Corpus) -> Left {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("documents.ndjson");
    corpus::write(&file, &corpus.lines);
    let part = configuration.setups[QUESTIONS].clone();
    let system = configuration.system.clone();
    let (asked, left) = written(&part, corpus, &folder.path().join("q").join(&system));
    if asked.is_empty() {
        return left;
    }
    let own = UserQuestions::read(&folder.path().join("q")).unwrap_or_else(|error| panic!("{error}"));
    let part = own.apply_folder(&own.folders[0], configuration).setups[QUESTIONS].clone();
    let path = file.display().to_string();
    let values = [("table", TABLE), ("file", path.as_str()), ("cores", "2"), ("folder", "")];
    let filled = |name: &str| -> Vec<String> {
        part.statements(name).iter().map(|text| fill(text, &values).unwrap()).collect()
    };
    let run = |session: &mut dyn Session, name: &str| {
        for statement in filled(name) {
            session.ask(&statement).unwrap_or_else(|error| panic!("{system} {name}: {error}"));
        }
    };
    run(session, "create");
    let refused = match part.load {
        LoadMode::File => {
            run(session, "load");
            Vec::new()
        }
        _ => session.load(&filled("load").remove(0), &file),
    };
    run(session, "drain");
    let mut wrong = Vec::new();
    for question in asked {
        let statement = filled(&question_file(&question.name)).remove(0);
        let Some(expected) = corpus.answer(question, &refused) else { continue };
        match session.ask(&statement) {
            Ok(rows) if is_same(&rows, &expected) => {}
            answer => wrong.push(format!(
                "{system}, {:?}, {:?}, {:?}: {answer:?} is not {expected:?}\n{statement}",
                question.keys, question.second, question.value
            )),
        }
    }
    run(session, "drop");
    let count = wrong.len();
    wrong.truncate(SHOWN);
    assert!(wrong.is_empty(), "{count} wrong:\n{}", wrong.join("\n\n"));
    left
}

/// Writes the questions that can be asked into a folder. Returns them, and those that cannot be asked.
fn written<'c>(part: &WorkloadSetup, corpus: &'c Corpus, folder: &Path) -> (Vec<&'c Question>, Left) {
    std::fs::create_dir_all(folder).unwrap();
    let (mut asked, mut left) = (Vec::new(), Vec::new());
    let mut toml = String::new();
    for question in &corpus.questions {
        let Question { name, kind, keys, second, bucket, value, is_mixed } = question;
        let first = FirstQuestion {
            kind: *kind,
            keys,
            second_keys: second,
            bucket: *bucket,
            value,
            is_mixed: *is_mixed,
            paths: &corpus.paths,
        };
        let statement = match part.first_question(&first) {
            Ok(statement) => statement,
            Err(error @ FirstQuestionError::NoTemplate) => panic!("{name}: {error}"),
            // The folder says why the system is not asked questions of the kind.
            Err(FirstQuestionError::NotAsked(_)) => continue,
            Err(FirstQuestionError::Unreachable(why)) => {
                left.push((keys.clone(), why));
                continue;
            }
        };
        let (ending, end) = match part.files["load"].kind {
            StatementKind::Json => ("json", ""),
            StatementKind::Sql => ("sql", ";"),
        };
        std::fs::write(folder.join(format!("{name}.{ending}")), format!("{statement}{end}\n")).unwrap();
        let column = r#"columns = [{ name = "n", type = "number" }]"#;
        toml += &format!("[[question]]\nname = \"{name}\"\ntitle = \"{name}\"\n{column}\n");
        asked.push(question);
    }
    std::fs::write(folder.with_file_name("questions.toml"), toml).unwrap();
    (asked, left)
}

fn is_same(rows: &[Row], expected: &[Vec<Cell>]) -> bool {
    let same = |cell: &Value, expected: &Cell| match (cell, expected) {
        (Value::Text(text), Cell::Text(expected)) => text == expected,
        (Value::Int(number), Cell::Number(expected)) => *number as f64 == *expected,
        (Value::Float(number), Cell::Number(expected)) => (number - expected).abs() <= 1e-9 * expected.abs(),
        _ => false,
    };
    rows.len() == expected.len()
        && rows.iter().zip(expected).all(|(row, expected)| {
            row.len() == expected.len()
                && row.iter().zip(expected).all(|(cell, expected)| same(cell, expected))
        })
}

/// The default configuration for users' questions, read from the catalogue's source folder.
fn usual(system: &str) -> Configuration {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue/systems");
    let catalogue = Catalogue::load(&[folders]).unwrap();
    let system = catalogue.get(system).unwrap();
    let variant = system.variants_of(QUESTIONS).iter().find(|one| one.is_default).unwrap();
    system.configuration(system.default_version(), &variant.name, "default").unwrap()
}

/// Asks an already started system about the fixed keys.
pub(crate) fn are_asked_about(system: &str, session: &mut dyn Session) {
    let corpus = Corpus::of(corpus::fixed());
    let left = ask_all(session, usual(system), &corpus);
    report(system, &left);
    is_the_exception(system, left.len(), corpus.questions.len());
}

/// Prints the questions that are not asked; each must have a reason.
fn report(system: &str, left: &Left) {
    for (keys, why) in left {
        println!("{system} is not asked about {keys:?}: {why}");
        assert!(!why.is_empty());
    }
}

fn is_the_exception(system: &str, left: usize, questions: usize) {
    assert!(left * 3 < questions, "{system}: {left} of {questions}");
}

fn of_an_embedded_engine(system: &str) {
    if included(&[system]).is_empty() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("data");
    let configuration = usual(system);
    let artifact = configuration.artifact.clone();
    let target = match &artifact {
        Some(artifact) => Target::new(configuration.clone(), QUESTIONS, installed(artifact)).unwrap(),
        None => panic!("{system} has nothing to install"),
    };
    let open = target.session_options(&folder, 2).unwrap();
    let command =
        WorkerCommand { program: env!("CARGO_BIN_EXE_jsonathlon").into(), arguments: vec!["worker".into()] };
    let opened = EngineHandle::open(
        &command,
        &folder.with_extension("log"),
        &open,
        None,
        LIMIT,
        &|| false,
        &mut |_| {},
    );
    let (mut worker, _) = opened.unwrap_or_else(|error| panic!("{error}"));
    let mut runner = TestRunner::new(Config::default());
    let batches = (0..BATCHES).map(|_| corpus::drawn(PATHS, &mut runner));
    let (mut all_left, mut questions) = (0, 0);
    for paths in std::iter::once(corpus::fixed()).chain(batches) {
        let corpus = Corpus::of(paths);
        let left = ask_all(&mut worker, configuration.clone(), &corpus);
        report(system, &left);
        all_left += left.len();
        questions += corpus.questions.len();
    }
    // Over all batches, because a single random batch may contain an unusual share of keys that the system
    // cannot name.
    is_the_exception(system, all_left, questions);
    worker.close(LIMIT).unwrap();
}

#[test]
fn any_key_is_asked_about_in_sqlite() {
    of_an_embedded_engine("sqlite");
}

#[test]
fn any_key_is_asked_about_in_duckdb() {
    of_an_embedded_engine("duckdb");
}

#[test]
fn any_key_is_asked_about_in_clickhouse() {
    of_an_embedded_engine("clickhouse");
}
