//! The MongoDB protocol over TCP or a Unix socket: commands and answers as BSON in OP_MSG messages.
//!
//! The client is written out here, because all that is needed of one is a message and two formats, while the
//! usual one watches its servers from threads of its own and copies documents several times on their way.

mod bson;
mod encode;
#[cfg(test)]
mod format_tests;
mod load;
mod request;
mod scram;
mod wire;

use std::io;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;

use crate::bulk;
use crate::driver::{Connection, DocumentSource, DriverError, LoadSink, Open, Place, Result};
use crate::endpoint::{Endpoint, NotReady};
use crate::json_rows::{self, Mapping, Tree};
use crate::prepared::{Parameter, Prepared, Statements};
use crate::rows::{Report, RowSink, one_text};
use bson::Bson;
use request::{Command, Statement, Template};
use scram::Scram;
use wire::Wire;

/// A connection that takes longer than this will not come.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// Codes that blame what the machine lacks, and no document: the server's for a full disk, and those of the
/// operating system, which stand before the words of some messages, for memory and disk.
const EXHAUSTED: [i64; 3] = [14031, 12, 28];

/// What a server takes.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Bytes of a document.
    document: usize,
    /// Documents of an insert.
    batch: usize,
}

/// A session with one server.
pub(crate) struct Mongodb {
    wire: Wire,
    endpoint: Endpoint,
    limits: Limits,
    /// Inserts that run at a time while documents are loaded.
    connections: usize,
    prepared: Statements<Template>,
}

impl Mongodb {
    /// Connects to the server of `open`.
    pub(crate) fn open(open: &Open) -> Result<Self> {
        let endpoint = Endpoint::of(open)?;
        let (wire, limits) = endpoint.reach(connect)?;
        let connections = bulk::connections(open.cores);
        let mut session = Self { wire, endpoint, limits, connections, prepared: Statements::default() };
        session.is_its_own()?;
        Ok(session)
    }

    /// Nobody logs in, so that whatever listens on the port would pass for the server.
    fn is_its_own(&mut self) -> Result<()> {
        if self.endpoint.process.is_none() {
            return Ok(());
        }
        let status = Statement::read(
            r#"{"command": {"serverStatus": 1, "metrics": 0, "tcmalloc": 0, "wiredTiger": 0}}"#,
        )?;
        let answer = self.reply(&status.command("admin")?.body)?;
        if self.endpoint.is_of_server(answer.int("pid").and_then(|pid| u32::try_from(pid).ok())) {
            return Ok(());
        }
        Err(DriverError::Unavailable("the port is answered by another server: try again".into()))
    }

    fn send(&mut self, body: &[u8], documents: Option<&wire::Documents<'_>>) -> Result<()> {
        self.wire.send(body, documents).map_err(|error| self.lost(&error))
    }

    /// The next answer, whatever it says.
    fn receive(&mut self) -> Result<Bson> {
        match self.wire.receive() {
            Ok(answer) => Bson::read(answer),
            Err(error) => Err(self.lost(&error)),
        }
    }

    fn lost(&mut self, error: &io::Error) -> DriverError {
        self.endpoint.told(DriverError::Crashed(error.to_string()))
    }

    /// Runs a command and hands over the rows that `mapping` finds in its answer; without one, the answer whole as
    /// JSON.
    fn answer(
        &mut self,
        command: &Command,
        mapping: Option<&Mapping>,
        sink: &mut dyn RowSink,
    ) -> Result<Report> {
        let answer = self.run(command)?;
        match mapping {
            Some(mapping) if !command.is_explained => json_rows::rows(&answer, mapping, sink)?,
            _ if command.is_explained => one_text("plan", &answer.pretty(), sink)?,
            _ => one_text("answer", &answer.json(), sink)?,
        }
        Ok(Report::default())
    }

    /// The answer to a command that went well.
    fn reply(&mut self, body: &[u8]) -> Result<Bson> {
        self.send(body, None)?;
        let answer = self.receive()?;
        well(answer)
    }

    /// The answer to a command; that of a cursor in one piece.
    fn run(&mut self, command: &Command) -> Result<Bson> {
        let mut answer = self.reply(&command.body)?;
        while let Some((id, collection)) = cursor_left(&answer) {
            let mut body = Vec::new();
            let start = encode::open(&mut body);
            // A cursor's number must be of 64 bits, even where it would fit into 32.
            body.extend_from_slice(b"\x12getMore\0");
            body.extend_from_slice(&id.to_le_bytes());
            let texts = [("collection", collection), ("$db", command.database.clone())];
            for (name, text) in texts {
                encode::element(name, &serde_json::Value::from(text).to_string(), &mut body)
                    .map_err(DriverError::Protocol)?;
            }
            encode::close(start, &mut body).map_err(DriverError::Protocol)?;
            let mut more = self.reply(&body)?;
            append(&mut answer, &mut more)
                .ok_or_else(|| DriverError::Protocol("the rest of a cursor has no batch".into()))?;
        }
        Ok(answer)
    }
}

/// The cursor that has more to give, and its collection.
fn cursor_left(answer: &Bson) -> Option<(i64, String)> {
    let cursor = answer.member("cursor")?;
    let id = cursor.int("id").filter(|id| *id != 0)?;
    let (_, collection) = cursor.text("ns")?.split_once('.')?;
    Some((id, collection.to_owned()))
}

/// Appends a later batch to the first, and takes over whether more follows.
fn append(answer: &mut Bson, more: &mut Bson) -> Option<()> {
    let more = more.get_mut("cursor")?;
    let id = more.take("id")?;
    let Bson::List(later) = more.take("nextBatch")? else { return None };
    let cursor = answer.get_mut("cursor")?;
    *cursor.get_mut("id")? = id;
    let Bson::List(first) = cursor.get_mut("firstBatch")? else { return None };
    first.extend(later);
    Some(())
}

/// The answer, unless it tells of a failure; an answer that is `ok` can do so, too.
fn well(answer: Bson) -> Result<Bson> {
    if answer.int("ok") != Some(1) {
        return Err(refused(&answer));
    }
    let first = answer.member("writeErrors").and_then(Tree::elements).and_then(<[Bson]>::first);
    match first.or(answer.member("writeConcernError")) {
        Some(error) => Err(refused(error)),
        None => Ok(answer),
    }
}

/// A refusal, by what it blames.
fn refused(error: &Bson) -> DriverError {
    let system = error.text("errmsg").and_then(|message| message.split_once(": ")?.0.parse().ok());
    let exhausted = [error.int("code"), system].iter().flatten().any(|code| EXHAUSTED.contains(code));
    let kind = if exhausted { DriverError::Exhausted } else { DriverError::Refused };
    kind(refusal(error))
}

/// The system's own words.
fn refusal(error: &Bson) -> String {
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

    fn ask(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<Report> {
        let statement = Statement::read(statement)?;
        let command = statement.command(&self.endpoint.database)?;
        self.answer(&command, statement.rows.as_ref(), sink)
    }

    fn prepare(&mut self, statement: &str) -> Result<Prepared> {
        let template = Template::read(statement, &self.endpoint.database)?;
        Ok(self.prepared.keep(template))
    }

    fn execute(
        &mut self,
        prepared: &Prepared,
        parameters: &[Parameter<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<Report> {
        let template = self.prepared.get(prepared)?;
        let (command, mapping) = (template.command(parameters)?, template.rows.clone());
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

    fn place(&self) -> Place {
        self.endpoint.place()
    }

    fn close(self: Box<Self>) -> Result<()> {
        drop(self.wire);
        Ok(())
    }
}

/// A connection, logged in where the server is told who comes.
fn dial(endpoint: &Endpoint) -> std::result::Result<Wire, NotReady> {
    let yet = |error: io::Error| NotReady::Yet(error.to_string());
    let mut wire = Wire::connect(endpoint, CONNECT_LIMIT).map_err(yet)?;
    if endpoint.user.is_empty() {
        return Ok(wire);
    }
    wire.wait(Some(CONNECT_LIMIT)).map_err(yet)?;
    login(&mut wire, endpoint)?;
    wire.wait(None).map_err(yet)?;
    Ok(wire)
}

/// Users are those of the database `admin`.
fn login(wire: &mut Wire, endpoint: &Endpoint) -> std::result::Result<(), NotReady> {
    let yet = |error: io::Error| NotReady::Yet(error.to_string());
    let ever = |why: String| NotReady::Ever(format!("the server refused the session: {why}"));
    // The command's own name comes first, whatever else there is.
    let mut say = |command: String| -> std::result::Result<(Bson, String), NotReady> {
        let text = format!(r#"{{"command": {{{command}}}}}"#);
        let body = Statement::read(&text).and_then(|statement| statement.command("admin"));
        let body = body.map_err(|error| ever(error.to_string()))?.body;
        wire.send(&body, None).map_err(yet)?;
        let answer = Bson::read(wire.receive().map_err(yet)?).and_then(well);
        let answer = answer.map_err(|error| ever(error.to_string()))?;
        // Text was sent in base64, and comes back so.
        let payload = BASE64.decode(answer.text("payload").unwrap_or_default());
        let payload = payload.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        Ok((answer, payload.unwrap_or_default()))
    };
    let mut scram = Scram::new(&endpoint.user, &endpoint.password.0).map_err(yet)?;
    let first = BASE64.encode(scram.first());
    let (answer, server) = say(format!(
        r#""saslStart": 1, "mechanism": "SCRAM-SHA-256", "payload": "{first}", "options": {{"skipEmptyExchange": true}}"#
    ))?;
    let conversation = answer.int("conversationId").unwrap_or(1);
    let last = BASE64.encode(scram.answer(&server).map_err(ever)?);
    let (_, server) =
        say(format!(r#""saslContinue": 1, "conversationId": {conversation}, "payload": "{last}""#))?;
    scram.verify(&server).map_err(ever)
}

/// Connects, and asks what the server takes.
fn connect(endpoint: &Endpoint) -> std::result::Result<(Wire, Limits), NotReady> {
    let yet = |error: io::Error| NotReady::Yet(error.to_string());
    let ever = |error: DriverError| NotReady::Ever(format!("the server refused the session: {error}"));
    let mut wire = dial(endpoint)?;
    let hello = Statement::read(r#"{"command": {"hello": 1}}"#)
        .and_then(|statement| statement.command("admin"))
        .map_err(ever)?;
    wire.wait(Some(CONNECT_LIMIT)).and_then(|()| wire.send(&hello.body, None)).map_err(yet)?;
    let answer = wire.receive().map_err(yet)?;
    let answer = Bson::read(answer).and_then(well).map_err(ever)?;
    wire.wait(None).map_err(yet)?;
    let limit = |name: &str, least: usize| {
        answer
            .int(name)
            .and_then(|limit| usize::try_from(limit).ok())
            .filter(|limit| *limit > 0)
            .unwrap_or(least)
    };
    let limits =
        Limits { document: limit("maxBsonObjectSize", 16 << 20), batch: limit("maxWriteBatchSize", 1000) };
    Ok((wire, limits))
}
