//! ClickHouse over HTTP. No registry offers its server, so a small HTTP server wraps its engine library:
//! statements, settings, formats and errors are the engine's, the message headers are written by this file.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use jsonathlon_catalogue::{ANALYTICS, Catalogue};
use jsonathlon_schema::value::Value;
use jsonathlon_worker::{
    Worker, WorkerError,
    protocol::{AskReply, Op, OpenReply, PROTOCOL_VERSION},
};
use jsonathlon_workloads::target::Target;

use super::address::guest;
use crate::support::{
    LIMIT, Look, QUESTIONS, World,
    real::{excluded, installed},
};

const PASSWORD: &str = "Basic ZGVmYXVsdDpzZWNyZXQ=";

/// The engine, and the folder for request bodies that it reads.
struct Engine {
    worker: Worker,
    folder: PathBuf,
    statements: Vec<String>,
}

impl Engine {
    fn open(folder: &Path) -> Self {
        let catalogue = Catalogue::load(&[]).unwrap();
        let system = catalogue.get("clickhouse").unwrap();
        let configuration = system.configuration(system.default_version(), "challenge", "default").unwrap();
        let target =
            Target::new(configuration, ANALYTICS, installed(system.artifacts().first().unwrap())).unwrap();
        let mut open = target.session_options(&folder.join("engine"), 0).unwrap();
        open.statements.clear();
        let program = Path::new(env!("CARGO_BIN_EXE_jsonathlon"));
        let mut worker = Worker::spawn(program, &["worker"], &folder.join("worker.log"), &[]).unwrap();
        let op = Op::Open { protocol: PROTOCOL_VERSION, open };
        let _: OpenReply = worker.request(&op, LIMIT, &|| false, &mut |_| {}).unwrap();
        Self { worker, folder: folder.to_owned(), statements: Vec::new() }
    }

    fn ask(&mut self, statement: &str) -> Result<Vec<u8>, String> {
        self.statements.push(statement.to_owned());
        let op = Op::Ask { statement: statement.to_owned() };
        match self.worker.request::<AskReply>(&op, LIMIT, &|| false, &mut |_| {}) {
            Ok(answered) => Ok(encoded(&answered.outcome.columns, &answered.outcome.rows)),
            Err(WorkerError::RequestFailed { message, .. }) => Err(message),
            Err(other) => panic!("{other}"),
        }
    }
}

/// Encodes rows as `RowBinaryWithNamesAndTypes`, with types that fit the values.
fn encoded(columns: &[String], rows: &[Vec<Value>]) -> Vec<u8> {
    let mut out = Vec::new();
    if columns.is_empty() {
        return out;
    }
    let text = |out: &mut Vec<u8>, text: &str| {
        length(out, text.len());
        out.extend_from_slice(text.as_bytes());
    };
    length(&mut out, columns.len());
    columns.iter().for_each(|name| text(&mut out, name));
    for column in 0..columns.len() {
        let kind = rows.iter().find_map(|row| match row[column] {
            Value::Int(_) => Some("Int64"),
            Value::Float(_) => Some("Float64"),
            Value::Bool(_) => Some("Bool"),
            Value::Text(_) => Some("String"),
            Value::Null => None,
        });
        text(&mut out, &format!("Nullable({})", kind.unwrap_or("String")));
    }
    for value in rows.iter().flatten() {
        out.push(u8::from(*value == Value::Null));
        match value {
            Value::Null => {}
            Value::Int(number) => out.extend_from_slice(&number.to_le_bytes()),
            Value::Float(number) => out.extend_from_slice(&number.to_le_bytes()),
            Value::Bool(truth) => out.push(u8::from(*truth)),
            Value::Text(string) => text(&mut out, string),
        }
    }
    out
}

fn length(out: &mut Vec<u8>, mut length: usize) {
    while length >= 128 {
        out.push((length % 128) as u8 | 128);
        length /= 128;
    }
    out.push(length as u8);
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            bytes.push(u8::from_str_radix(std::str::from_utf8(&rest[..2]).unwrap(), 16).unwrap());
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// Serves the requests of one connection until it is closed.
fn serve(stream: TcpStream, engine: &Mutex<Engine>) -> std::io::Result<()> {
    let (mut input, mut output) = (BufReader::new(stream.try_clone()?), stream);
    loop {
        let mut first = String::new();
        if input.read_line(&mut first)? == 0 {
            return Ok(());
        }
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            input.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.insert(name.to_lowercase(), value.to_owned());
        }
        let body = match headers.get("content-length") {
            Some(length) => {
                let mut body = vec![0; length.parse().unwrap()];
                input.read_exact(&mut body)?;
                body
            }
            None => chunked(&mut input)?,
        };
        let target = first.split(' ').nth(1).unwrap();
        let query = target.split_once('?').map_or("", |(_, query)| query);
        let parameters: BTreeMap<&str, String> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name, decoded(value)))
            .collect();
        let (status, code, answer) = if headers.get("authorization").is_none_or(|login| login != PASSWORD) {
            (516, "516", b"Code: 516. DB::Exception: Authentication failed\nstack".to_vec())
        } else {
            match answer(&mut engine.lock().unwrap(), &parameters, &body) {
                Ok(answer) => (200, "", answer),
                Err(words) => (500, "1", format!("{words}\nstack").into_bytes()),
            }
        };
        let mut head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n", answer.len());
        if !code.is_empty() {
            write!(head, "X-ClickHouse-Exception-Code: {code}\r\n").unwrap();
        }
        head += "X-ClickHouse-Summary: {\"read_rows\":\"3\",\"read_bytes\":\"5\",\"elapsed_ns\":\"7000\"}\r\n\r\n";
        output.write_all(head.as_bytes())?;
        output.write_all(&answer)?;
    }
}

fn chunked(input: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        input.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim(), 16).unwrap();
        let start = body.len();
        body.resize(start + length + 2, 0);
        input.read_exact(&mut body[start..])?;
        body.truncate(start + length);
        if length == 0 {
            return Ok(body);
        }
    }
}

fn answer(engine: &mut Engine, parameters: &BTreeMap<&str, String>, body: &[u8]) -> Result<Vec<u8>, String> {
    if let Some(database) = parameters.get("database") {
        engine.ask(&format!("USE {database}"))?;
    }
    match parameters.get("query") {
        None => engine.ask(std::str::from_utf8(body).unwrap()),
        // The request body is the data to insert.
        Some(insert) => {
            let file = engine.folder.join("body");
            std::fs::write(&file, body).unwrap();
            let text = format!("FROM INFILE '{}' FORMAT", file.display());
            engine.ask(&insert.replace("FORMAT", &text))
        }
    }
}

#[test]
fn a_server_over_http_is_measured_as_a_guest() {
    if excluded(&["clickhouse"]) {
        return;
    }
    let world = World::new();
    let engine = Arc::new(Mutex::new(Engine::open(&world.path(""))));
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let answering = Arc::clone(&engine);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let engine = Arc::clone(&answering);
            std::thread::spawn(move || serve(stream, &engine).ok());
        }
    });
    let address = format!("clickhouse=http://localhost:{port}");
    let more = ["-n", "5k", "--malformed", "3"];
    let ended = guest(&world, "out", &address, "secret", &more);
    let summary = ended.summary();
    assert!(summary.failures.is_empty(), "{:?}", summary.failures);
    ended.expect(0);
    let load = summary.entries("clickhouse", "load")[0];
    assert_eq!((load.metrics["documents_loaded"], load.metrics["documents_rejected"]), (4997.0, 0.0));
    for question in QUESTIONS {
        let entries = summary.entries("clickhouse", question);
        assert!(matches!(entries.as_slice(), [one] if one.median_s.is_some()), "{question}");
    }
    let asked = engine.lock().unwrap().statements.join("\n");
    assert!(asked.contains("SET input_format_try_infer_dates = 0"), "{asked}");
    let drops = asked.lines().filter(|line| line.starts_with("DROP DATABASE IF EXISTS jsonathlon_")).count();
    assert!(drops >= 2, "{drops}");
    let left = engine.lock().unwrap().ask("SELECT name FROM system.databases WHERE name LIKE 'jsonathlon%'");
    assert_eq!(left.unwrap().len(), encoded(&["name".into()], &[]).len());

    guest(&world, "wrong", &address, "other", &[]).expect(3).says(&["Authentication failed"]);
}
