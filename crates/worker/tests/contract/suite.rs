//! The contract that every connection must fulfil, for any protocol. Systems that need no installation are
//! tested next to this file, the others by the tests of the program.

use jsonathlon_driver_api::{
    Cell, Connection, DocumentSource, DriverError, LoadSink, NonblockingConnection, Parameter,
    PreparedStatement, Result, ResultSet, RowSink, StatementStats,
};
use jsonathlon_schema::value::{Row, Value};

/// Statements of a system for the contract: a table `contract` with columns `n` (64-bit integers), `t` (text
/// or null) and `x` (doubles or null).
pub(crate) struct Table<'a> {
    /// Creates the table, empty.
    pub(crate) make: &'a [&'a str],
    /// Inserts a row; its parameters are `n`, `t` and `x`.
    pub(crate) insert: &'a str,
    /// Returns `t` and `x` of the row whose `n` is the parameter.
    pub(crate) read: &'a str,
    /// Returns `n` of the rows whose `t` is the parameter.
    pub(crate) find: &'a str,
}

/// Texts that incorrect quoting would damage.
const TEXTS: [&str; 14] = [
    "plain",
    "",
    "'; DROP TABLE contract; --",
    "\"}, {\"$where\": \"1",
    "a\tb\nc\r\\d",
    "\\N",
    "\\",
    "%27%00+&param_p1=1",
    "é😀",
    ":1",
    "$1",
    "?",
    "{p1:String}",
    "null",
];

/// Executes a prepared statement. Returns its rows.
fn run(
    connection: &mut dyn Connection,
    prepared: &PreparedStatement,
    parameters: &[Parameter<'_>],
) -> Result<Vec<Row>> {
    let mut outcome = ResultSet::default();
    connection.execute(prepared, parameters, &mut outcome)?;
    Ok(outcome.rows)
}

/// Checks that parameters are returned unchanged and never interpreted as part of a statement.
pub(crate) fn values_are_values(connection: &mut dyn Connection, table: &Table<'_>) {
    for statement in table.make {
        connection.collect(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    let prepare = |connection: &mut dyn Connection, text: &str| {
        connection.prepare(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    };
    let insert = prepare(connection, table.insert);
    let (read, find) = (prepare(connection, table.read), prepare(connection, table.find));
    let long = "x".repeat(10_000);
    let numbers = [0, -1, 1 << 40, i64::MAX, i64::MIN + 1];
    for (index, text) in TEXTS.into_iter().chain([long.as_str()]).enumerate() {
        // Numbers of all widths, each used once.
        let number = numbers.get(index).copied().unwrap_or(100 + index as i64);
        let float = 0.1 + index as f64;
        let row = [Parameter::Int(number), Parameter::Text(text), Parameter::Float(float)];
        run(connection, &insert, &row).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        let found = run(connection, &read, &[Parameter::Int(number)]).unwrap();
        assert_eq!(found, [vec![Value::Text(text.into()), Value::Float(float)]], "{text:?}");
        let found = run(connection, &find, &[Parameter::Text(text)]).unwrap();
        assert_eq!(found, [vec![Value::Int(number)]], "{text:?}");
    }
    run(connection, &insert, &[Parameter::Int(7), Parameter::Null, Parameter::Null]).unwrap();
    assert_eq!(
        run(connection, &read, &[Parameter::Int(7)]).unwrap(),
        [vec![Value::Null, Value::Null]],
        "null goes in and comes out"
    );
    assert_eq!(run(connection, &read, &[Parameter::Int(8)]).unwrap(), [] as [Row; 0]);
    // Missing parameters are refused, and the session remains usable.
    assert!(run(connection, &read, &[]).is_err(), "a parameter is lacking");
    assert_eq!(run(connection, &read, &[Parameter::Int(7)]).unwrap().len(), 1);
}

/// Statements of a system for one instant in each of its types: 2026-01-02T03:04:05.678901Z, as precisely as
/// the type allows.
pub(crate) struct Instants<'a> {
    /// Statements to execute first.
    pub(crate) make: &'a [&'a str],
    /// Statements that return one such value, and its microseconds since 1970.
    pub(crate) queries: &'a [(&'a str, i64)],
}

pub(crate) const INSTANT: i64 = 1_767_323_045_678_901;
pub(crate) const MILLISECOND: i64 = INSTANT / 1_000 * 1_000;
pub(crate) const SECOND: i64 = INSTANT / 1_000_000 * 1_000_000;
pub(crate) const DAY: i64 = 20_455 * 86_400_000_000;

/// Checks that instants are returned as microseconds since 1970 for all types, prepared or not.
pub(crate) fn instants_are_microseconds(connection: &mut dyn Connection, instants: &Instants<'_>) {
    for statement in instants.make {
        connection.collect(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    for (statement, expected) in instants.queries {
        let expected = [vec![Value::Int(*expected)]];
        let asked = connection.collect(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        assert_eq!(asked.rows, expected, "{statement}");
        let prepared = connection.prepare(statement).unwrap();
        assert_eq!(run(connection, &prepared, &[]).unwrap(), expected, "{statement}, prepared");
    }
}

/// A statement that returns some rows.
pub(crate) struct Query<'a> {
    pub(crate) statement: &'a str,
    pub(crate) columns: &'a [&'a str],
    /// A statement that the system refuses.
    pub(crate) refused: &'a str,
}

/// Counts rows and fails after more than `most` of them.
#[derive(Default)]
struct Reluctant {
    columns: usize,
    rows: usize,
    most: usize,
}

impl RowSink for Reluctant {
    fn columns(&mut self, names: &[&str]) -> Result<()> {
        assert_eq!(self.rows, 0, "columns come before rows");
        self.columns = names.len();
        Ok(())
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        assert_eq!(cells.len(), self.columns);
        self.rows += 1;
        if self.rows > self.most { Err(DriverError::Unsupported("enough".into())) } else { Ok(()) }
    }
}

/// Checks that a statement returns the same answer however it is executed, and that errors do not affect
/// later statements.
pub(crate) fn asking_is_asking(connection: &mut dyn Connection, query: &Query<'_>) {
    assert!(!connection.version().unwrap().is_empty());
    let asked = connection.collect(query.statement).unwrap();
    assert_eq!(asked.columns, query.columns);
    assert!(!asked.rows.is_empty());
    let prepared = connection.prepare(query.statement).unwrap();
    for _ in 0..3 {
        let mut outcome = ResultSet::default();
        let _: StatementStats = connection.execute(&prepared, &[], &mut outcome).unwrap();
        assert_eq!((&outcome.columns, &outcome.rows), (&asked.columns, &asked.rows));
    }
    // The receiver of the rows may stop early.
    let mut reluctant = Reluctant::default();
    let error = connection.ask(query.statement, &mut reluctant).unwrap_err();
    assert_eq!((error.to_string().as_str(), reluctant.rows), ("enough", 1));
    let error = connection.execute(&prepared, &[], &mut Reluctant::default()).unwrap_err();
    assert_eq!(error.to_string(), "enough");
    for _ in 0..2 {
        let refused = connection.collect(query.refused).unwrap_err();
        assert!(
            matches!(refused, DriverError::Refused(_) | DriverError::Unsupported(_)),
            "{}: {refused:?}",
            query.refused
        );
        assert_eq!(connection.collect(query.statement).unwrap().rows, asked.rows);
    }
}

/// Checks that a prepared statement can be used only by the connection that prepared it.
pub(crate) fn statements_are_not_shared(
    one: &mut dyn Connection,
    other: &mut dyn Connection,
    query: &Query<'_>,
) {
    let prepared = one.prepare(query.statement).unwrap();
    let error = other.execute(&prepared, &[], &mut ResultSet::default()).unwrap_err();
    assert!(error.to_string().contains("another connection"), "{error}");
}

/// A source of documents in memory.
pub(crate) struct Lines<'a>(pub(crate) std::slice::Iter<'a, &'a str>);

impl DocumentSource for Lines<'_> {
    fn next_document(&mut self) -> Result<Option<&[u8]>> {
        Ok(self.0.next().map(|line| line.as_bytes()))
    }
}

#[derive(Default)]
struct Told {
    refused: Vec<u64>,
    offered: u64,
}

impl LoadSink for Told {
    fn reject(&mut self, ordinal: u64, reason: String) {
        assert!(!reason.is_empty());
        self.refused.push(ordinal);
    }

    fn report_offered(&mut self, documents: u64) {
        self.offered = documents;
    }
}

/// Checks that a bulk load with a refused statement fails with the system's message and blames no document.
pub(crate) fn bulk_blames_a_statement(connection: &mut dyn Connection, statement: &str, words: &str) {
    let mut told = Told::default();
    let lines = [r#"{"n":1}"#, r#"{"n":2}"#];
    let error = connection.bulk_in(statement, &mut Lines(lines.iter()), &mut told).unwrap_err();
    assert!(error.to_string().contains(words), "{statement}: {error}");
    assert_eq!(told.refused, [0; 0], "{statement}");
}

/// Checks that rejected documents are reported and all others are loaded.
pub(crate) fn bulk_names_what_is_refused(connection: &mut dyn Connection, statement: &str) {
    let documents = [
        r#"{"did":"a","time_us":1,"n":1}"#,
        r#"{"n":"#,
        r#"{"did":"b","time_us":2,"n":2}"#,
        "no JSON",
        r#"{"did":"c","time_us":3,"n":3}"#,
    ];
    let mut told = Told::default();
    let accepted = connection.bulk_in(statement, &mut Lines(documents.iter()), &mut told).unwrap();
    assert_eq!((accepted, told.offered, told.refused), (3, 5, vec![1, 3]));
}

/// Statements of a system for writes: a table `keyed` with text `v` by unique text `k`.
pub(crate) struct Keyed<'a> {
    /// Inserts a row; its parameters are `k` and `v`.
    pub(crate) insert: &'a str,
    /// Sets `v` of a row; its parameters are `v` and `k`.
    pub(crate) update: &'a str,
    /// Returns `v` of the row whose `k` is the parameter.
    pub(crate) read: &'a str,
    /// A statement that the system refuses.
    pub(crate) refused: &'a str,
    /// Whether the system reports the number of changed rows, and keeps keys unique.
    pub(crate) counts: bool,
    /// Whether an update of a missing row reports zero rows.
    pub(crate) updates_nothing: bool,
    /// Statements with the index of one of two connections; the last one must fail with a conflict.
    pub(crate) conflict: &'a [(usize, &'a str)],
}

/// Sends a statement and waits for its answer.
fn run_on(
    lane: &mut dyn NonblockingConnection,
    prepared: &PreparedStatement,
    parameters: &[Parameter<'_>],
    sink: &mut dyn RowSink,
) -> Result<StatementStats> {
    lane.send(prepared, parameters)?;
    // First polls, like a loop over many connections; then blocks.
    for _ in 0..3 {
        if let Some(report) = lane.receive(false, sink)? {
            return Ok(report);
        }
    }
    lane.receive(true, sink).map(|report| report.unwrap_or_else(|| panic!("it was waited for")))
}

/// Checks the contract of nonblocking connections, with and without prepared statements.
pub(crate) fn lanes_keep_it(open: &mut dyn FnMut(bool) -> Box<dyn NonblockingConnection>, keyed: &Keyed<'_>) {
    for prepare in [true, false] {
        let mut lane = open(prepare);
        let lane = &mut *lane;
        let mut prepare_one =
            |text: &str| lane.prepare(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let (insert, update, read) =
            (prepare_one(keyed.insert), prepare_one(keyed.update), prepare_one(keyed.read));
        let value = |lane: &mut dyn NonblockingConnection, key: &str| -> Vec<Row> {
            let mut outcome = ResultSet::default();
            run_on(lane, &read, &[Parameter::Text(key)], &mut outcome)
                .unwrap_or_else(|error| panic!("{key}: {error}"));
            outcome.rows
        };
        let key = |index: usize| format!("{prepare}{index}");
        let mut nothing = ResultSet::default();
        // More than a socket accepts at once.
        let long = "é".repeat(1_000_000);
        for (index, text) in TEXTS.into_iter().chain([long.as_str()]).enumerate() {
            let key = key(index);
            let row = [Parameter::Text(&key), Parameter::Text(text)];
            let report =
                run_on(lane, &insert, &row, &mut nothing).unwrap_or_else(|error| panic!("{text:?}: {error}"));
            assert_eq!(report.affected.filter(|_| keyed.counts), keyed.counts.then_some(1));
            let shown: String = text.chars().take(40).collect();
            assert!(value(lane, &key) == [vec![Value::Text(text.into())]], "{shown:?}");
        }
        if keyed.counts {
            let row = [Parameter::Text(&key(0)), Parameter::Text("again")];
            let error = run_on(lane, &insert, &row, &mut nothing).unwrap_err();
            assert!(matches!(error, DriverError::Duplicate(_)), "{error:?}");
            let report =
                run_on(lane, &update, &[Parameter::Text("other"), Parameter::Text(&key(0))], &mut nothing);
            assert_eq!(report.unwrap().affected, Some(1));
            assert_eq!(value(lane, &key(0)), [vec![Value::Text("other".into())]]);
        }
        if keyed.updates_nothing {
            let report =
                run_on(lane, &update, &[Parameter::Text("x"), Parameter::Text("none")], &mut nothing);
            assert_eq!(report.unwrap().affected, Some(0));
        }
        assert_eq!(value(lane, "none"), [] as [Row; 0]);
        // Errors do not affect later statements.
        assert!(run_on(lane, &read, &[], &mut nothing).is_err(), "a parameter is lacking");
        let parameters = [Parameter::Text("true0")];
        let error = run_on(lane, &read, &parameters, &mut Reluctant::default()).unwrap_err();
        assert_eq!(error.to_string(), "enough");
        let refused =
            lane.prepare(keyed.refused).and_then(|prepared| run_on(lane, &prepared, &[], &mut nothing));
        let refused = refused.unwrap_err();
        assert!(matches!(refused, DriverError::Refused(_) | DriverError::Unsupported(_)), "{refused:?}");
        assert_eq!(value(lane, "true1"), [vec![Value::Text(String::new())]]);
    }
    let mut lanes = [open(true), open(true)];
    for (number, (lane, statement)) in keyed.conflict.iter().enumerate() {
        let lane = &mut *lanes[*lane];
        let ran = lane
            .prepare(statement)
            .and_then(|prepared| run_on(lane, &prepared, &[], &mut ResultSet::default()));
        match ran {
            Err(DriverError::Conflict(_)) if number + 1 == keyed.conflict.len() => {}
            Ok(_) if number + 1 < keyed.conflict.len() => {}
            other => panic!("{statement}: {other:?}"),
        }
    }
    for lane in lanes {
        lane.close();
    }
}
