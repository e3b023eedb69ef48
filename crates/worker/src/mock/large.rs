//! Mock tables of documents with keys; each is a file in the data folder.
//!
//! Statements with T as the table: `doc_create T`, `doc_drop T`, `doc_count T`, `doc_sizes T`,
//! `doc_export T`, `doc_copy T COPY` (sets `l` to 1), `doc_extract T`, `doc_filter T` (`l` = 10),
//! `doc_order T`, `doc_has T MEMBER`, `doc_index T`, `doc_unindex T`, `doc_settle T`, `doc_read T KEY`,
//! `doc_set T KEY PATH NUMBER` (PATH is names with dots). `doc_load T :key :doc` loads by row. Query plans
//! come from the script, by the name of the statement.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use jsonathlon_driver_api::driver::{DriverError, Result};
use jsonathlon_driver_api::rows::ResultSet;
use jsonathlon_schema::metric::{DATA_BYTES, INDEX_BYTES};
use jsonathlon_schema::value::Value;
use serde_json::Value as Json;

/// Content of an index file: 4,096 bytes.
const INDEX: &[u8] = &[b'i'; 4096];

/// Returns `true` if the statement belongs to these tables.
pub(super) fn is_table_statement(name: &str) -> bool {
    name.starts_with("doc_")
}

/// Returns the table of a `doc_load` statement. `None` for other statements.
pub(super) fn table_of_load(statement: &str) -> Option<&str> {
    statement.strip_prefix("doc_load ")?.split_whitespace().next()
}

/// Appends the line of a document, key and text separated by a tab, to `out`.
pub(super) fn write_line(key: i64, document: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(key.to_string().as_bytes());
    out.push(b'\t');
    out.extend_from_slice(document);
    out.push(b'\n');
}

fn path(folder: &Path, table: &str, extension: &str) -> PathBuf {
    folder.join(format!("{table}.{extension}"))
}

fn refusal(error: &std::io::Error) -> DriverError {
    DriverError::Refused(match error.kind() {
        std::io::ErrorKind::NotFound => "no such table".to_owned(),
        _ => error.to_string(),
    })
}

/// Appends lines to an existing table.
pub(super) fn append(folder: &Path, table: &str, lines: &[u8]) -> Result<()> {
    let file = OpenOptions::new().append(true).open(path(folder, table, "table"));
    file.and_then(|mut file| file.write_all(lines)).map_err(|error| refusal(&error))
}

/// Calls `take` with the key and the text of every document of a table.
fn for_each_document(
    folder: &Path,
    table: &str,
    mut take: impl FnMut(i64, String) -> Result<()>,
) -> Result<()> {
    let file = File::open(path(folder, table, "table")).map_err(|error| refusal(&error))?;
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|error| refusal(&error))?;
        let Some((key, document)) = line.split_once('\t') else { continue };
        take(key.parse().unwrap_or(-1), document.to_owned())?;
    }
    Ok(())
}

fn parse(document: &str) -> Result<Json> {
    serde_json::from_str(document).map_err(|error| DriverError::Refused(error.to_string()))
}

fn member_l(document: &str) -> Result<i64> {
    Ok(parse(document)?["l"].as_i64().unwrap_or_default())
}

fn column(name: &str, values: Vec<Value>) -> ResultSet {
    ResultSet {
        columns: vec![name.to_owned()],
        rows: values.into_iter().map(|value| vec![value]).collect(),
        ..ResultSet::default()
    }
}

/// Executes a statement. If `is_spoilt`, a copy also changes a second number in its first document.
pub(super) fn answer(name: &str, rest: &str, folder: &Path, is_spoilt: bool) -> Result<ResultSet> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let Some((&table, arguments)) = words.split_first() else {
        return Err(DriverError::Refused(format!("`{name}` of which table?")));
    };
    let missing_argument = || DriverError::Refused(format!("`{name}` lacks a word"));
    match name {
        "doc_create" => {
            let created = OpenOptions::new().write(true).create_new(true).open(path(folder, table, "table"));
            created.map_err(|_| DriverError::Refused("the table is there already".into()))?;
        }
        "doc_drop" => {
            std::fs::remove_file(path(folder, table, "table")).map_err(|error| refusal(&error))?;
            std::fs::remove_file(path(folder, table, "index")).ok();
        }
        "doc_settle" => for_each_document(folder, table, |_, _| Ok(()))?,
        "doc_index" => {
            for_each_document(folder, table, |_, document| member_l(&document).map(drop))?;
            std::fs::write(path(folder, table, "index"), INDEX).map_err(|error| refusal(&error))?;
        }
        "doc_unindex" => {
            std::fs::remove_file(path(folder, table, "index")).map_err(|error| refusal(&error))?;
        }
        "doc_copy" => {
            let target = arguments.first().ok_or_else(missing_argument)?;
            copy(folder, table, target, is_spoilt)?;
        }
        "doc_set" => {
            let [key, dotted, number] = arguments else { return Err(missing_argument()) };
            let mut lines = Vec::new();
            for_each_document(folder, table, |document_key, document| {
                let mut document = parse(&document)?;
                if document_key.to_string() == **key {
                    let pointer = format!("/{}", dotted.replace('.', "/"));
                    let value = document.pointer_mut(&pointer).ok_or_else(missing_argument)?;
                    *value = parse(number)?;
                }
                write_line(document_key, document.to_string().as_bytes(), &mut lines);
                Ok(())
            })?;
            std::fs::write(path(folder, table, "table"), lines).map_err(|error| refusal(&error))?;
        }
        "doc_sizes" => return Ok(sizes(folder, table)),
        _ => return query(name, table, arguments, folder),
    }
    Ok(ResultSet::default())
}

/// Appends all documents of a table to `target` with `l` set to 1, and spoils the first one if asked to.
fn copy(folder: &Path, table: &str, target: &str, is_spoilt: bool) -> Result<()> {
    let mut lines = Vec::new();
    for_each_document(folder, table, |key, document| {
        let mut document = parse(&document)?;
        document["l"] = 1.into();
        if is_spoilt && lines.is_empty() {
            document["k0"]["l"] = 77.into();
        }
        write_line(key, document.to_string().as_bytes(), &mut lines);
        Ok(())
    })?;
    append(folder, target, &lines)
}

/// Returns the sizes of a table's files; a missing file has 0 bytes.
fn sizes(folder: &Path, table: &str) -> ResultSet {
    let bytes = |extension| {
        let metadata = std::fs::metadata(path(folder, table, extension));
        Value::Int(metadata.map_or(0, |metadata| i64::try_from(metadata.len()).unwrap_or(i64::MAX)))
    };
    ResultSet {
        columns: [DATA_BYTES, INDEX_BYTES].map(|metric| metric.name.to_owned()).to_vec(),
        rows: vec![vec![bytes("table"), bytes("index")]],
        ..ResultSet::default()
    }
}

/// Executes a statement that only reads.
fn query(name: &str, table: &str, arguments: &[&str], folder: &Path) -> Result<ResultSet> {
    let mut values = Vec::new();
    let integer = Value::Int;
    match name {
        "doc_count" => {
            let mut count = 0;
            for_each_document(folder, table, |_, _| {
                count += 1;
                Ok(())
            })?;
            values.push(integer(count));
        }
        "doc_export" => for_each_document(folder, table, |_, document| {
            values.push(Value::Text(document));
            Ok(())
        })?,
        "doc_extract" => for_each_document(folder, table, |_, document| {
            values.push(integer(member_l(&document)?));
            Ok(())
        })?,
        "doc_filter" => for_each_document(folder, table, |key, document| {
            if member_l(&document)? == 10 {
                values.push(integer(key));
            }
            Ok(())
        })?,
        "doc_has" => for_each_document(folder, table, |key, document| {
            if parse(&document)?.get(arguments.first().copied().unwrap_or_default()).is_some() {
                values.push(integer(key));
            }
            Ok(())
        })?,
        "doc_read" => for_each_document(folder, table, |key, document| {
            if arguments.first().is_some_and(|expected| *expected == key.to_string()) {
                values.push(Value::Text(document));
            }
            Ok(())
        })?,
        "doc_order" => {
            let mut ordered = Vec::new();
            for_each_document(folder, table, |key, document| {
                ordered.push((member_l(&document)?, key));
                Ok(())
            })?;
            ordered.sort_unstable();
            values.extend(ordered.into_iter().map(|(_, key)| integer(key)));
        }
        _ => return Err(DriverError::Refused(format!("unknown statement `{name}`"))),
    }
    Ok(column("answer", values))
}
