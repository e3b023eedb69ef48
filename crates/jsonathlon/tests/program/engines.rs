//! Tests of the drivers of real engines, each in a worker process of the program. Missing engines are
//! installed into the user's cache; the tests fail on machines where that is impossible.

use std::path::{Path, PathBuf};

use jsonathlon_catalogue::Catalogue;
use jsonathlon_driver_api::SessionOptions;
use jsonathlon_schema::value::{Row, Value};
use jsonathlon_worker::{
    Worker, WorkerError,
    protocol::{
        AskReply, FailureKind, LoadMethod, LoadReply, Op, OpenReply, PROTOCOL_VERSION, PlanReply, RowByName,
        RunReply,
    },
};

use crate::support::{LIMIT, real};

fn library(system: &str) -> PathBuf {
    let catalogue = Catalogue::load(&[]).unwrap();
    let system = catalogue.get(system).unwrap();
    let artifact = system.artifact(system.default_version()).unwrap().unwrap();
    real::installed(artifact).library().unwrap().to_owned()
}

fn chdb_library() -> PathBuf {
    library("clickhouse")
}

fn duckdb_library() -> PathBuf {
    library("duckdb")
}

struct Engine {
    protocol: &'static str,
    library: PathBuf,
    settings: &'static [(&'static str, &'static str)],
    cores: usize,
}

fn chdb() -> Engine {
    Engine { protocol: "chdb", library: chdb_library(), settings: &[], cores: 0 }
}

fn duckdb() -> Engine {
    Engine { protocol: "duckdb", library: duckdb_library(), settings: &[], cores: 0 }
}

struct Session {
    worker: Worker,
    opened: OpenReply,
}

impl Engine {
    fn try_open(&self, folder: &Path) -> Result<Session, WorkerError> {
        let program = Path::new(env!("CARGO_BIN_EXE_jsonathlon"));
        let mut worker = Worker::spawn(program, &["worker"], &folder.join("worker.log"), &[])?;
        let open = SessionOptions {
            protocol: self.protocol.into(),
            library: Some(self.library.clone()),
            folder: folder.join("data"),
            settings: self.settings.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect(),
            cores: self.cores,
            ..SessionOptions::default()
        };
        let opened =
            worker.request(&Op::Open { protocol: PROTOCOL_VERSION, open }, LIMIT, &|| false, &mut |_| {})?;
        Ok(Session { worker, opened })
    }

    fn open(&self, folder: &Path) -> Session {
        self.try_open(folder).unwrap()
    }
}

impl Session {
    fn request<R: serde::de::DeserializeOwned>(&mut self, op: &Op) -> Result<R, WorkerError> {
        self.worker.request(op, LIMIT, &|| false, &mut |_| {})
    }

    fn ask(&mut self, statement: &str) -> Result<AskReply, WorkerError> {
        self.request(&Op::Ask { statement: statement.into() })
    }

    fn rows(&mut self, statement: &str) -> Vec<Row> {
        self.ask(statement).unwrap_or_else(|error| panic!("{statement}: {error}")).outcome.rows
    }

    /// The message of a statement that must fail with the expected kind of failure.
    fn error(&mut self, statement: &str, expected: FailureKind) -> String {
        match self.ask(statement) {
            Err(WorkerError::RequestFailed { kind, message }) if kind == expected => message,
            other => panic!("{statement}: {other:?}"),
        }
    }

    fn close(mut self) {
        self.worker.close(LIMIT).unwrap();
    }
}

fn int(number: i64) -> Value {
    Value::Int(number)
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

/// Checks that values arrive exactly. `engine` decides how they are written.
fn typed_values(engine: &Engine, statement: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut session = engine.open(folder.path());
    let expected = vec![
        int(i64::MIN),
        int(i64::MAX),
        int(255),
        Value::Null,
        Value::Bool(true),
        Value::Float(0.1),
        Value::Float(-0.0),
        Value::Float(f64::INFINITY),
        Value::Float(f64::MIN_POSITIVE / 4.0),
        Value::Float(1.25),
        text("\0a\0"),
        text("é😀\u{10FFFF}"),
        text("a\nb\tc\"\\\r"),
        text(""),
        text(&"long ".repeat(20_000)),
    ];
    let rows = session.rows(statement);
    assert_eq!(rows.len(), 1);
    for (index, (found, wanted)) in rows[0].iter().zip(&expected).enumerate() {
        match (found, wanted) {
            (Value::Float(found), Value::Float(wanted)) => {
                assert_eq!(found.to_bits(), wanted.to_bits(), "column {index}");
            }
            _ => assert_eq!(found, wanted, "column {index}"),
        }
    }
    assert_eq!(rows[0].len(), expected.len() + 1);
    assert!(matches!(rows[0].last(), Some(Value::Float(number)) if number.is_nan()));
    session.close();
}

#[test]
fn chdb_gives_typed_values_with_every_bit() {
    if real::excluded(&["clickhouse"]) {
        return;
    }
    typed_values(
        &chdb(),
        "SELECT toInt64('-9223372036854775808'), toInt64('9223372036854775807'), toUInt8(255), NULL, true, 0.1, \
         -0.0, inf, 5.562684646268003e-309, toDecimal64('1.25', 2), '\\0a\\0', 'é😀\u{10FFFF}', \
         'a\\nb\\tc\"\\\\\\r', toLowCardinality(''), repeat('long ', 20000), nan",
    );
}

#[test]
fn duckdb_gives_typed_values_with_every_bit() {
    if real::excluded(&["duckdb"]) {
        return;
    }
    typed_values(
        &duckdb(),
        "SELECT CAST('-9223372036854775808' AS BIGINT), 9223372036854775807::HUGEINT, 255::UTINYINT, NULL, true, \
         0.1::DOUBLE, '-0.0'::DOUBLE, 'inf'::DOUBLE, '5.562684646268003e-309'::DOUBLE, 1.25::DECIMAL(30, 2), \
         chr(0) || 'a' || chr(0), 'é😀\u{10FFFF}', 'a' || chr(10) || 'b' || chr(9) || 'c\"\\' || chr(13), '', \
         repeat('long ', 20000), 'nan'::FLOAT",
    );
}

fn answers_of_all_lengths(engine: &Engine, numbers: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut session = engine.open(folder.path());
    for count in [0, 1, 2047, 2048, 2049, 65_409, 100_000] {
        let answered = session.ask(&numbers.replace("COUNT", &count.to_string())).unwrap();
        assert_eq!(answered.outcome.columns, ["n", "t", "x"]);
        let rows = answered.outcome.rows;
        assert_eq!(rows.len(), count);
        for (index, row) in rows.iter().enumerate() {
            let number = i64::try_from(index).unwrap();
            let nothing = if number % 3 == 0 { Value::Null } else { int(number) };
            assert_eq!(row, &vec![int(number), text(&format!("text number {number}")), nothing]);
        }
    }
    session.close();
}

#[test]
fn chdb_gives_all_rows_of_answers_of_any_length() {
    if real::excluded(&["clickhouse"]) {
        return;
    }
    answers_of_all_lengths(
        &chdb(),
        "SELECT number AS n, concat('text number ', toString(number)) AS t, if(number % 3 = 0, NULL, number) AS x \
         FROM numbers(COUNT) ORDER BY n",
    );
}

#[test]
fn duckdb_gives_all_rows_of_answers_of_any_length() {
    if real::excluded(&["duckdb"]) {
        return;
    }
    answers_of_all_lengths(
        &duckdb(),
        "SELECT n, 'text number ' || n AS t, CASE WHEN n % 3 = 0 THEN NULL ELSE n END AS x \
         FROM range(COUNT) r(n) ORDER BY n",
    );
}

/// Checks statements that fail and parts of their messages; the session must work after each failure.
fn errors(engine: &Engine, failing: &[(&str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let mut session = engine.open(folder.path());
    for (statement, words) in failing {
        let message = session.error(statement, FailureKind::Refused);
        assert!(message.contains(words), "{message}");
        assert_eq!(session.rows("SELECT 41 + 1 AS answer"), vec![vec![int(42)]], "after {statement}");
    }
    session.close();
}

#[test]
fn chdb_errors_are_its_own_and_leave_nothing_in_the_next_answer() {
    if real::excluded(&["clickhouse"]) {
        return;
    }
    errors(
        &chdb(),
        &[
            ("SELECT FROM WHERE", "SYNTAX_ERROR"),
            ("SELECT * FROM nowhere", "UNKNOWN_TABLE"),
            // One fails before its first row, the other after many rows have been written.
            ("SELECT throwIf(number = 5, 'five') FROM numbers(10)", "five"),
            (
                "SELECT throwIf(number = 70000, 'late'), number FROM numbers(100000) \
                 SETTINGS max_block_size = 1000, max_threads = 1",
                "late",
            ),
            ("SELECT 1; SELECT nonsense; SELECT 3", "UNKNOWN_IDENTIFIER"),
        ],
    );
}

#[test]
fn duckdb_errors_are_its_own_and_leave_the_session_usable() {
    if real::excluded(&["duckdb"]) {
        return;
    }
    errors(
        &duckdb(),
        &[
            ("SELECT FROM WHERE", "syntax error"),
            ("SELECT * FROM nowhere", "nowhere"),
            ("SELECT CASE WHEN n = 70000 THEN error('late') ELSE n END FROM range(100000) r(n)", "late"),
            ("SELECT 1; SELECT nonsense; SELECT 3", "nonsense"),
            ("SELECT 1; SELECT error('second'); SELECT 3", "second"),
        ],
    );
}

fn unreadable(engine: &Engine, statements: &[(&str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let mut session = engine.open(folder.path());
    for (statement, words) in statements {
        let message = session.error(statement, FailureKind::Unsupported);
        assert!(message.contains(words) && message.contains("`c`"), "{message}");
        assert_eq!(session.rows("SELECT 1"), vec![vec![int(1)]], "after {statement}");
    }
    session.close();
}

#[test]
fn chdb_types_without_a_place_in_an_answer_are_refused_with_advice() {
    if real::excluded(&["clickhouse"]) {
        return;
    }
    unreadable(
        &chdb(),
        &[
            ("SELECT [1, 2] AS c", "Array(UInt8): cast it to String"),
            ("SELECT '{\"a\":1}'::JSON AS c", "JSON: cast it to String"),
            ("SELECT CAST('a', 'Enum8(\\'a\\' = 1)') AS c", "cast it to String"),
            ("SELECT 18446744073709551615 AS c", "64 bits"),
            ("SELECT unhex('ff') AS c", "not UTF-8"),
        ],
    );
}

#[test]
fn duckdb_types_without_a_place_in_an_answer_are_refused_with_advice() {
    if real::excluded(&["duckdb"]) {
        return;
    }
    unreadable(
        &duckdb(),
        &[
            ("SELECT TIME '03:04:05' AS c", "TIME: cast it to VARCHAR"),
            ("SELECT TIMESTAMP 'infinity' AS c", "beyond all times"),
            ("SELECT DATE '-infinity' AS c", "beyond all times"),
            ("SELECT [1, 2] AS c", "LIST: cast it to VARCHAR"),
            ("SELECT {'a': 1} AS c", "STRUCT: cast it to VARCHAR"),
            ("SELECT '{\"a\":1}'::JSON::VARIANT AS c", "VARIANT: cast it to VARCHAR"),
            ("SELECT 18446744073709551615::UBIGINT AS c", "64 bits"),
            ("SELECT 'a'::BLOB AS c", "BLOB: cast it to VARCHAR"),
        ],
    );
}

fn several(engine: &Engine, text_of: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut session = engine.open(folder.path());
    assert_eq!(session.rows(text_of), vec![vec![int(3), text(";")]]);
    assert_eq!(session.rows("SELECT 1;\n"), vec![vec![int(1)]]);
    session.close();
}

#[test]
fn chdb_runs_several_statements_and_gives_the_last_ones_answer() {
    if real::excluded(&["clickhouse"]) {
        return;
    }
    several(
        &chdb(),
        "CREATE TABLE t (n Int64) ENGINE = MergeTree ORDER BY n; -- one; two\nINSERT INTO t VALUES (1), (2);\n\
         SELECT 'first' AS a, 'row' AS b; SELECT sum(n) AS s, ';' FROM t;\n/* end; */",
    );
}

#[test]
fn duckdb_runs_several_statements_and_gives_the_last_ones_answer() {
    if real::excluded(&["duckdb"]) {
        return;
    }
    several(
        &duckdb(),
        "CREATE TABLE t (n BIGINT); -- one; two\nINSERT INTO t VALUES (1), (2);\nSELECT 'first' AS a, 'row' AS b; \
         SELECT sum(n) AS s, ';' FROM t;\n/* end; */",
    );
}

/// Loads, closes, and asks again in another process; the second time the worker is killed instead of closed.
fn persistence(engine: &Engine, create: &str, load: &str, count: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("documents.ndjson");
    // A name that engines could read as a pattern.
    let data = folder.path().join("a{b,c}*");
    std::fs::create_dir(&data).unwrap();
    let documents: String = (0..5000).map(|n| format!("{{\"n\":{n},\"t\":\"é😀\"}}\n")).collect();
    std::fs::write(&file, documents).unwrap();
    let load = LoadMethod::Statement { statements: vec![load.replace("FILE", file.to_str().unwrap())] };

    let mut session = engine.open(&data);
    let pid = session.worker.pid();
    let _: RunReply = session.request(&Op::Run { statements: vec![create.into()] }).unwrap();
    let loaded: LoadReply = session.request(&Op::Load { load: load.clone(), sync: true }).unwrap();
    assert!(loaded.sync_seconds.is_some_and(|sync| sync <= loaded.seconds));
    assert!(loaded.usage.cpu_s > Some(0.0));
    session.close();

    let mut session = engine.open(&data);
    assert_ne!(session.worker.pid(), pid);
    let figures: RowByName = session.request(&Op::Sizes { statement: count.into() }).unwrap();
    assert_eq!(figures["count"], int(5000));
    let _: LoadReply = session.request(&Op::Load { load, sync: true }).unwrap();
    // A killed engine must recover everything that it has reported as loaded.
    session.worker.kill();

    let mut session = engine.open(&data);
    let figures: RowByName = session.request(&Op::Sizes { statement: count.into() }).unwrap();
    assert_eq!(figures["count"], int(10_000));
    session.close();
}

#[test]
fn chdb_keeps_its_data_from_process_to_process_and_over_a_kill() {
    if real::excluded(&["clickhouse"]) {
        return;
    }
    persistence(
        &chdb(),
        "CREATE TABLE t (j JSON) ENGINE = MergeTree ORDER BY tuple()",
        "INSERT INTO t SELECT json FROM file('FILE', JSONAsObject)",
        "SELECT count() AS count FROM t",
    );
}

#[test]
fn duckdb_keeps_its_data_from_process_to_process_and_over_a_kill() {
    if real::excluded(&["duckdb"]) {
        return;
    }
    persistence(
        &duckdb(),
        "CREATE TABLE t (j JSON)",
        "INSERT INTO t SELECT json FROM read_ndjson_objects('FILE')",
        "SELECT count(*) AS count FROM t",
    );
}

#[test]
fn duckdb_says_which_folder_it_cannot_use() {
    if real::excluded(&["duckdb"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["what?", r"back\slash"] {
        let odd = folder.path().join(name);
        std::fs::create_dir(&odd).unwrap();
        let Err(error) = duckdb().try_open(&odd) else { panic!("{name} cannot be used") };
        assert!(error.to_string().contains("choose another, e.g. with --out"), "{error}");
    }
}

#[test]
fn plans_are_text() {
    if real::excluded(&["clickhouse", "duckdb"]) {
        return;
    }
    for (engine, statement, words) in [
        (
            chdb(),
            "EXPLAIN indexes = 1 SELECT count() FROM numbers(10) WHERE number = 3",
            "ReadFromSystemNumbers",
        ),
        (duckdb(), "EXPLAIN SELECT count(*) FROM range(10) r(n) WHERE n = 3", "physical_plan"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut session = engine.open(folder.path());
        let plan: PlanReply = session.request(&Op::Plan { statement: statement.into() }).unwrap();
        assert!(plan.text.contains(words) && plan.text.lines().count() > 1, "{}", plan.text);
        session.close();
    }
}

#[test]
fn what_is_misspelt_or_of_another_engine_is_refused() {
    if real::excluded(&["clickhouse", "duckdb"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (engine, words) in [
        (Engine { settings: &[("max_thread", "1")], ..chdb() }, "max_thread"),
        (Engine { settings: &[("thread", "1")], ..duckdb() }, "thread"),
        (Engine { library: duckdb_library(), ..chdb() }, "has no function `chdb_"),
        (Engine { library: chdb_library(), ..duckdb() }, "has no function `duckdb_"),
        (Engine { library: folder.path().join("none.so"), ..chdb() }, "none.so"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let Err(WorkerError::RequestFailed { message, .. }) = engine.try_open(folder.path()) else {
            panic!("opened")
        };
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn settings_and_cores_are_in_force() {
    if real::excluded(&["clickhouse", "duckdb"]) {
        return;
    }
    for (engine, statement) in [
        (Engine { settings: &[("max_threads", "1")], ..chdb() }, "SELECT toInt64(getSetting('max_threads'))"),
        (Engine { cores: 1, ..chdb() }, "SELECT toInt64(getSetting('max_threads'))"),
        (Engine { settings: &[("threads", "1")], ..duckdb() }, "SELECT current_setting('threads')"),
        (Engine { cores: 1, ..duckdb() }, "SELECT current_setting('threads')"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut session = engine.open(folder.path());
        assert_eq!(session.rows(statement), vec![vec![int(1)]]);
        session.close();
    }
}

#[test]
fn an_engine_that_prints_does_not_spoil_the_protocol() {
    if real::excluded(&["clickhouse", "duckdb"]) {
        return;
    }
    // chDB prints rows of statements with INTO OUTFILE to standard output; other code may print there too.
    let folder = tempfile::tempdir().unwrap();
    let mut session = chdb().open(folder.path());
    session.ask("SELECT 'spoilt' INTO OUTFILE '/dev/stdout' APPEND FORMAT TSV").ok();
    assert_eq!(session.rows("SELECT 1"), vec![vec![int(1)]]);
    session.close();
    let folder = tempfile::tempdir().unwrap();
    let mut session = duckdb().open(folder.path());
    session.rows("COPY (SELECT 'spoilt') TO '/dev/stdout'");
    assert_eq!(session.rows("SELECT 1"), vec![vec![int(1)]]);
    session.close();
    assert!(std::fs::read_to_string(folder.path().join("worker.log")).unwrap().contains("spoilt"));
}

#[test]
fn chdbs_own_time_is_within_a_millisecond_of_the_clock() {
    if real::excluded(&["clickhouse"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut session = chdb().open(folder.path());
    assert!(session.opened.version.starts_with("26.7."), "{}", session.opened.version);
    let mut gaps: Vec<f64> = (0..31)
        .map(|_| {
            let answered =
                session.ask("SELECT number % 20 AS n, count() FROM numbers(200000) GROUP BY n").unwrap();
            assert_eq!(answered.outcome.rows_read, Some(200_000));
            answered.seconds - answered.outcome.server_seconds.unwrap()
        })
        .collect();
    gaps.sort_by(f64::total_cmp);
    assert!(gaps[15] >= 0.0 && gaps[15] <= 1e-3, "median {} s", gaps[15]);
    session.close();
}

#[test]
fn duckdb_tells_its_version_and_no_time_of_its_own() {
    if real::excluded(&["duckdb"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut session = duckdb().open(folder.path());
    assert_eq!(session.opened.version, "v2.0.0");
    assert_eq!(session.ask("SELECT 1").unwrap().outcome.server_seconds, None);
    session.close();
}
