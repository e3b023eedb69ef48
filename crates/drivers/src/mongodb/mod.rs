//! Driver for the MongoDB protocol over TCP or a Unix socket: commands and answers as BSON in OP_MSG
//! messages.
//!
//! This crate has its own client, because only one message and two formats are needed. The usual client
//! library monitors servers from threads of its own and copies documents several times.

mod bson;
mod encode;
#[cfg(test)]
mod format_tests;
mod load;
mod nonblocking;
mod replica_set;
mod request;
mod wire;

use std::io;

use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use jsonathlon_driver_api::codecs::json_rows::{self, Mapping, Tree};
use jsonathlon_driver_api::driver::{
    Connection, DocumentSource, DriverError, EngineLocation, LoadSink, Result, SessionOptions,
};
use jsonathlon_driver_api::endpoint::{ConnectFailure, Endpoint};
use jsonathlon_driver_api::prepared::{Parameter, PreparedStatement, StatementTable};
use jsonathlon_driver_api::rows::{Cell, RowSink, StatementStats, single_text_row};

use crate::bulk;
use crate::scram::Scram;
use bson::Bson;
pub use nonblocking::open_nonblocking;
use replica_set::PrimaryState;
use request::{Command, Statement, Template};
use wire::Wire;

/// Codes for exhausted resources, which do not depend on a document. 14031 is the server's code for a full
/// disk. 12 and 28 are the operating system's for memory and disk, which precede the text of some messages.
const EXHAUSTED: [i64; 3] = [14031, 12, 28];

/// Codes for conflicts: write conflict (112), lock timeout (24), snapshot no longer available (246).
const CONFLICTS: [i64; 3] = [112, 24, 246];
/// Code for a duplicate key.
const DUPLICATE: i64 = 11000;

/// Limits that the server reports for inserts.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Maximum size of a document in bytes.
    document: usize,
    /// Maximum number of documents in an insert.
    batch: usize,
}

/// Session with one server.
pub struct Mongodb {
    wire: Wire,
    endpoint: Endpoint,
    limits: Limits,
    /// Number of concurrent inserts of a bulk load.
    connections: usize,
    prepared: StatementTable<Template>,
}

impl Mongodb {
    /// Connects to the server of `open`.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] if the server cannot be reached or denies the session.
    pub fn open(open: &SessionOptions) -> Result<Self> {
        let endpoint = Endpoint::from_options(open)?;
        let (wire, limits) = endpoint.connect_with_retry(connect)?;
        let connections = bulk::connections(open.cores);
        let mut session = Self { wire, endpoint, limits, connections, prepared: StatementTable::default() };
        session.check_server_process()?;
        Ok(session)
    }

    /// Checks that the server's process listens on the port. Without a login, any other program could answer
    /// there.
    fn check_server_process(&mut self) -> Result<()> {
        if self.endpoint.process.is_none() {
            return Ok(());
        }
        let status = Statement::read(
            r#"{"command": {"serverStatus": 1, "metrics": 0, "tcmalloc": 0, "wiredTiger": 0}}"#,
        )?;
        let pid = self.reply(&status.command("admin")?.body)?.int("pid");
        if self.endpoint.owns_process(pid.and_then(|pid| u32::try_from(pid).ok())) {
            return Ok(());
        }
        Err(DriverError::Unavailable("the port is answered by another server: try again".into()))
    }

    /// Sends a command and returns the answer, which may report a failure.
    fn exchange(&mut self, body: &[u8]) -> Result<Bson<'_>> {
        let received = self.wire.send(body, None).and_then(|()| self.wire.receive());
        match received {
            Ok(answer) => Bson::read(answer),
            Err(error) => Err(self.endpoint.with_server_context(DriverError::Crashed(error.to_string()))),
        }
    }

    /// Sends a command and returns the answer, or an error if the command failed.
    fn reply(&mut self, body: &[u8]) -> Result<Bson<'_>> {
        self.exchange(body).and_then(well)
    }

    /// Executes a command and passes the rows that `mapping` finds in its answer to `sink`; without a
    /// mapping, the answer as JSON. Fetches all further batches of a cursor.
    fn answer(
        &mut self,
        command: &Command,
        mapping: Option<&Mapping>,
        sink: &mut dyn RowSink,
    ) -> Result<StatementStats> {
        let mapping = mapping.filter(|_| !command.is_explained);
        let (mut text, mut next_command) = (String::new(), None::<Vec<u8>>);
        let mut report = StatementStats::default();
        loop {
            let is_first = next_command.is_none();
            let answer = self.reply(next_command.as_ref().unwrap_or(&command.body))?;
            if command.is_explained {
                single_text_row("plan", &answer.pretty(), sink)?;
            } else {
                if is_first {
                    begin(mapping, sink)?;
                    report = reported(answer);
                }
                hand_over(answer, mapping, &mut text, sink)?;
            }
            let Some((id, collection)) = cursor_left(answer) else { return Ok(report) };
            next_command = Some(more_of(id, collection, &command.database)?);
        }
    }
}

/// Passes the column names of an answer to `sink`.
fn begin(mapping: Option<&Mapping>, sink: &mut dyn RowSink) -> Result<()> {
    match mapping {
        Some(mapping) => json_rows::columns(mapping, sink),
        None => sink.columns(&["answer"]),
    }
}

/// Passes the rows of one batch to `sink`, or the whole answer as JSON if there is no mapping.
fn hand_over(
    answer: Bson<'_>,
    mapping: Option<&Mapping>,
    text: &mut String,
    sink: &mut dyn RowSink,
) -> Result<()> {
    let Some(mapping) = mapping else {
        text.clear();
        answer.write(text);
        return sink.row(&[Cell::Text(text)]);
    };
    json_rows::rows(answer, mapping, text, sink)
}

/// Extracts statistics from an answer. `nModified` counts the changes of an update, `n` those of other
/// writes.
fn reported(answer: Bson<'_>) -> StatementStats {
    let affected = answer.int("nModified").or_else(|| answer.int("n"));
    StatementStats {
        affected: affected.and_then(|count| u64::try_from(count).ok()),
        ..StatementStats::default()
    }
}

/// Returns id and collection of the answer's cursor. `None` if the cursor is exhausted or there is none.
fn cursor_left(answer: Bson<'_>) -> Option<(i64, &str)> {
    let cursor = answer.member("cursor")?;
    let id = cursor.int("id").filter(|id| *id != 0)?;
    let (_, collection) = cursor.text("ns")?.split_once('.')?;
    Some((id, collection))
}

/// Encodes the command that fetches the next batch of a cursor.
fn more_of(id: i64, collection: &str, database: &str) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    let start = encode::open(&mut body);
    // The id of a cursor must be a 64-bit integer, even if it fits into 32 bits.
    body.extend_from_slice(b"\x12getMore\0");
    body.extend_from_slice(&id.to_le_bytes());
    for (name, text) in [("collection", collection), ("$db", database)] {
        encode::element(name, &serde_json::Value::from(text).to_string(), &mut body)
            .map_err(DriverError::Protocol)?;
    }
    encode::close(start, &mut body).map_err(DriverError::Protocol)?;
    Ok(body)
}

/// Returns the answer unless it reports a failure; an answer whose `ok` is 1 can report write errors too.
fn well(answer: Bson<'_>) -> Result<Bson<'_>> {
    if answer.int("ok") != Some(1) {
        return Err(refused(answer));
    }
    let first_error =
        answer.member("writeErrors").and_then(Tree::elements).and_then(|mut errors| errors.next());
    match first_error.or(answer.member("writeConcernError")) {
        Some(error) => Err(refused(error)),
        None => Ok(answer),
    }
}

/// Classifies an error of the server by its code and message.
fn refused(error: Bson<'_>) -> DriverError {
    let system_code = error.text("errmsg").and_then(|message| message.split_once(": ")?.0.parse().ok());
    let code = error.int("code");
    let is_code_in = |codes: &[i64]| [code, system_code].iter().flatten().any(|code| codes.contains(code));
    let kind = match code {
        Some(code) if CONFLICTS.contains(&code) => DriverError::Conflict,
        Some(DUPLICATE) => DriverError::Duplicate,
        _ if is_code_in(&EXHAUSTED) => DriverError::Exhausted,
        _ => DriverError::Refused,
    };
    kind(refusal(error))
}

/// Returns the server's error message, or the whole answer as JSON if there is neither message nor code.
fn refusal(error: Bson<'_>) -> String {
    match (error.text("errmsg").filter(|message| !message.is_empty()), error.int("code")) {
        (Some(message), _) => message.to_owned(),
        (None, Some(code)) => format!("error {code}, without a message"),
        (None, None) => error.json(),
    }
}

impl Connection for Mongodb {
    fn version(&mut self) -> Result<String> {
        let command = Statement::read(r#"{"command": {"buildInfo": 1}}"#)?.command("admin")?;
        let answer = self.reply(&command.body)?;
        match answer.text("version") {
            Some(version) => Ok(version.to_owned()),
            None => Err(DriverError::Protocol("a server without a version".into())),
        }
    }

    fn ask(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<StatementStats> {
        let statement = Statement::read(statement)?;
        let command = statement.command(&self.endpoint.database)?;
        self.answer(&command, statement.rows.as_ref(), sink)
    }

    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        let template = Template::read(statement, &self.endpoint.database)?;
        Ok(self.prepared.insert(template))
    }

    fn execute(
        &mut self,
        prepared: &PreparedStatement,
        parameters: &[Parameter<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<StatementStats> {
        let template = self.prepared.get(prepared)?;
        let mut body = Vec::new();
        template.write(parameters, &mut body)?;
        let (database, mapping) = (template.database.clone(), template.rows.clone());
        let command = Command { database, body, is_explained: false };
        self.answer(&command, mapping.as_deref(), sink)
    }

    fn bulk_in(
        &mut self,
        statement: &str,
        documents: &mut dyn DocumentSource,
        sink: &mut dyn LoadSink,
    ) -> Result<u64> {
        let insert = Statement::read(statement)?.insert(&self.endpoint.database)?;
        load::insert(self, &insert, documents, sink)
    }

    fn location(&self) -> EngineLocation {
        self.endpoint.location()
    }

    fn close(self: Box<Self>) -> Result<()> {
        drop(self.wire);
        Ok(())
    }
}

/// Opens a connection, and logs in if the endpoint has a user.
fn dial(endpoint: &Endpoint) -> std::result::Result<Wire, ConnectFailure> {
    let transient = |error: io::Error| ConnectFailure::Transient(error.to_string());
    let mut wire = Wire::connect(endpoint, endpoint.step_timeout())?;
    if endpoint.user.is_empty() {
        return Ok(wire);
    }
    wire.wait(Some(endpoint.step_timeout())).map_err(transient)?;
    login(&mut wire, endpoint)?;
    wire.wait(None).map_err(transient)?;
    Ok(wire)
}

/// Encodes a command for the database `admin`. The command's name must be the first of `members`.
fn administrative(members: &str) -> Result<Vec<u8>> {
    let text = format!(r#"{{"command": {{{members}}}}}"#);
    Ok(Statement::read(&text)?.command("admin")?.body)
}

/// Executes a command before there is a session and returns the answer, which may report a failure.
/// `permanent` makes the error for what a retry cannot fix.
fn ask<'a>(
    wire: &'a mut Wire,
    members: &str,
    permanent: impl Fn(String) -> ConnectFailure,
) -> std::result::Result<Bson<'a>, ConnectFailure> {
    let transient = |error: io::Error| ConnectFailure::Transient(error.to_string());
    let body = administrative(members).map_err(|error| permanent(error.to_string()))?;
    wire.send(&body, None).map_err(transient)?;
    Bson::read(wire.receive().map_err(transient)?).map_err(|error| permanent(error.to_string()))
}

/// Logs in. Users must be defined in the database `admin`.
fn login(wire: &mut Wire, endpoint: &Endpoint) -> std::result::Result<(), ConnectFailure> {
    let transient = |error: io::Error| ConnectFailure::Transient(error.to_string());
    let permanent =
        |reason: String| ConnectFailure::Permanent(format!("the server refused the session: {reason}"));
    let mut run_step = |command: String| -> std::result::Result<(i64, String), ConnectFailure> {
        let answer = well(ask(wire, &command, permanent)?).map_err(|error| permanent(error.to_string()))?;
        // The payload is sent as a string in base64, and the server answers in the same way.
        let payload = BASE64.decode(answer.text("payload").unwrap_or_default());
        let payload = payload.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        Ok((answer.int("conversationId").unwrap_or(1), payload.unwrap_or_default()))
    };
    let mut scram = Scram::new(&endpoint.user, &endpoint.password.0).map_err(transient)?;
    let first_message = BASE64.encode(scram.first());
    let (conversation, server_message) = run_step(format!(
        r#""saslStart": 1, "mechanism": "SCRAM-SHA-256", "payload": "{first_message}", "options": {{"skipEmptyExchange": true}}"#
    ))?;
    let last_message = BASE64.encode(scram.answer(&server_message).map_err(permanent)?);
    let (_, server_message) = run_step(format!(
        r#""saslContinue": 1, "conversationId": {conversation}, "payload": "{last_message}""#
    ))?;
    scram.verify(&server_message).map_err(permanent)
}

/// Opens a connection and reads the server's limits.
fn connect(endpoint: &Endpoint) -> std::result::Result<(Wire, Limits), ConnectFailure> {
    let transient = |error: io::Error| ConnectFailure::Transient(error.to_string());
    let permanent =
        |reason: String| ConnectFailure::Permanent(format!("the server refused the session: {reason}"));
    let mut wire = dial(endpoint)?;
    wire.wait(Some(endpoint.step_timeout())).map_err(transient)?;
    let answer = ask(&mut wire, r#""hello": 1"#, permanent)?;
    let answer = well(answer).map_err(|error| permanent(error.to_string()))?;
    let limit = |name: &str, default: usize| {
        answer
            .int(name)
            .and_then(|limit| usize::try_from(limit).ok())
            .filter(|limit| *limit > 0)
            .unwrap_or(default)
    };
    let limits =
        Limits { document: limit("maxBsonObjectSize", 16 << 20), batch: limit("maxWriteBatchSize", 1000) };
    // A remote server is used as it is; its replica set is the user's responsibility.
    match PrimaryState::from_hello(answer) {
        PrimaryState::Writable => {}
        _ if endpoint.process.is_none() => {}
        PrimaryState::Electing => {
            return Err(ConnectFailure::Transient("its replica set has no primary".to_owned()));
        }
        PrimaryState::Uninitiated => {
            replica_set::make(&mut wire)?;
            return Err(ConnectFailure::Transient("its replica set was made, and has no primary".to_owned()));
        }
    }
    wire.wait(None).map_err(transient)?;
    Ok((wire, limits))
}
