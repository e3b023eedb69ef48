//! Verifies single values of documents, as read-paths asks for them.

use std::io;

use super::description::UpdateKind;
use super::pointer::OwnPath;
use super::set::{OwnRecordSet, OwnScratch};
use super::versions;
use crate::records::{AnswerError, AnswerFault, KeyType, PathSegment, SeenVersions};
use crate::value_digest::{
    CapturePlan, Captured, CapturedKind, ValueDigester, integer_value_hash, number_text_hash, text_value_hash,
};

/// Value of an answer, as a protocol hands it over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OwnCell<'a> {
    /// No value, or `null`.
    Null,
    /// `true` or `false`, however the system wrote it.
    Bool(bool),
    /// Number without fraction that 64 bits hold.
    Int(i64),
    /// Any other number, as a double.
    Float(f64),
    /// Characters of a text, or the text of another value.
    Text(&'a str),
    /// Value of a JSON text, whose type is known.
    Json {
        /// Type of the value; neither absent nor null.
        kind: CapturedKind,
        /// Hash of the value, as in [`Captured::hash`].
        hash: u64,
        /// The value as it is written. Empty for an array or object.
        text: &'a str,
    },
}

impl OwnRecordSet {
    /// Verifies the values at some of `OwnRecords::paths`, given as one cell each, as one JSON array
    /// of all values, or as one JSON object that holds the values at their paths. Values must be those of the
    /// data, or, in a document that the load changed, those that the system gave back.
    ///
    /// # Errors
    ///
    /// What is wrong; the position is the number of the value.
    pub fn check_projection(
        &self,
        number: u64,
        paths: &[usize],
        cells: &[OwnCell<'_>],
        scratch: &mut OwnScratch,
    ) -> Result<SeenVersions, AnswerError> {
        if cells.len() == paths.len() {
            let outcome = self.check_cells(number, paths, cells, scratch);
            if outcome.is_ok() || paths.len() > 1 {
                return outcome;
            }
        }
        let [OwnCell::Text(text)] = cells else {
            let fault = if cells.len() > paths.len() { AnswerFault::Surplus } else { AnswerFault::Missing };
            return Err(AnswerError { fault, position: cells.len() });
        };
        let mut digester = ValueDigester::new();
        let values = self.read_json(paths, text, &mut digester)?;
        let cells: Vec<OwnCell<'_>> = values.iter().map(|value| json_cell(value, text)).collect();
        self.check_cells(number, paths, &cells, scratch)
    }

    /// Reads an answer that is one JSON array of the values at these paths, or one object that holds them there.
    fn read_json<'d>(
        &self,
        paths: &[usize],
        text: &str,
        digester: &'d mut ValueDigester,
    ) -> Result<&'d [Captured], AnswerError> {
        let syntax = AnswerError { fault: AnswerFault::Syntax, position: 0 };
        let answer: serde_json::Value = serde_json::from_str(text).map_err(|_| syntax)?;
        let mut plan = CapturePlan::default();
        match &answer {
            serde_json::Value::Array(values) if values.len() == paths.len() => {
                for index in 0..u32::try_from(values.len()).map_err(|_| syntax)? {
                    plan.add(&[PathSegment::Element(index)], false);
                }
            }
            serde_json::Value::Object(_) => {
                for path in paths {
                    if let Some(path) = self.records().paths.get(*path) {
                        plan.add(&path.steps, false);
                    }
                }
            }
            _ => return Err(syntax),
        }
        digester.digest(text.as_bytes(), &plan)?;
        let values = digester.captured();
        let found = values.iter().filter(|value| value.kind != CapturedKind::Absent).count();
        if answer.is_object() && leaves(&answer) > found {
            return Err(AnswerError { fault: AnswerFault::Additional, position: 0 });
        }
        Ok(values)
    }

    fn check_cells(
        &self,
        number: u64,
        paths: &[usize],
        cells: &[OwnCell<'_>],
        scratch: &mut OwnScratch,
    ) -> Result<SeenVersions, AnswerError> {
        let records = self.records();
        let mut plan = CapturePlan::default();
        for path in paths {
            if let Some(path) = records.paths.get(*path) {
                plan.add(&path.steps, false);
            }
        }
        let files_error = |_: io::Error| AnswerError { fault: AnswerFault::Files, position: 0 };
        let (mut digester, mut document) = (ValueDigester::new(), Vec::new());
        let is_changed =
            self.read_given_back(number, &plan, &mut digester, &mut document).map_err(files_error)?;
        let given_back = CapturedValues { document: &document, captured: digester.captured() };
        self.read_source_with(number, &plan, scratch).map_err(files_error)?;
        let OwnScratch { digester, document, buffer } = scratch;
        let written = CapturedValues { document: document.as_slice(), captured: digester.captured() };
        let loaded = if is_changed { &given_back } else { &written };
        let mut seen = SeenVersions::default();
        let is_updatable = self.update_of(number).is_some();
        for (position, (path, cell)) in paths.iter().zip(cells).enumerate() {
            let path = records.paths.get(*path);
            let is_path = |other: Option<&OwnPath>| other.is_some() && other == path;
            if is_updatable && is_path(records.update.as_ref().map(|update| &update.path)) {
                let is_loaded = number < records.documents && loaded.is_equal(position, cell);
                let version = if is_loaded { Some(0) } else { self.version_in_cell(number, cell, buffer) };
                seen.version = Some(version.ok_or(AnswerError { fault: AnswerFault::Value, position })?);
                continue;
            }
            let is_right = if is_path(records.key.as_ref()) && number >= records.documents {
                self.is_key(number, cell, buffer)
            } else {
                // A system may give back what clients write as a whole, even if its bulk load had changed it.
                loaded.is_equal(position, cell) || written.is_equal(position, cell)
            };
            if !is_right {
                return Err(AnswerError { fault: AnswerFault::Value, position });
            }
        }
        Ok(seen)
    }

    fn version_in_cell(&self, number: u64, cell: &OwnCell<'_>, buffer: &mut Vec<u8>) -> Option<u32> {
        let (update, length) = self.update_of(number)?;
        match (update.kind, cell) {
            (UpdateKind::Text, OwnCell::Text(text)) => {
                let unquoted = unquoted(text);
                let text = unquoted.as_deref().unwrap_or(text);
                versions::of_text(text.as_bytes(), number, length, buffer)
            }
            (UpdateKind::Text, OwnCell::Json { kind: CapturedKind::Text, text, .. }) => {
                versions::of_text(unquoted(text)?.as_bytes(), number, length, buffer)
            }
            (UpdateKind::Integer, OwnCell::Int(value)) => versions::of_integer(*value),
            (UpdateKind::Integer, OwnCell::Float(value)) if value.fract() == 0.0 => {
                versions::of_integer(*value as i64)
            }
            (UpdateKind::Integer, OwnCell::Text(text))
            | (UpdateKind::Integer, OwnCell::Json { kind: CapturedKind::Number, text, .. }) => {
                let value: f64 = text.parse().ok()?;
                (value.fract() == 0.0).then_some(value as i64).and_then(versions::of_integer)
            }
            _ => None,
        }
    }

    fn is_key(&self, number: u64, cell: &OwnCell<'_>, buffer: &mut Vec<u8>) -> bool {
        buffer.clear();
        if self.write_key(number, buffer).is_err() {
            return false;
        }
        let is_rounded = |value: f64| self.changes_keys && self.rounds_to(number, value);
        match cell {
            OwnCell::Int(value) => *value == self.integer_key(number) || is_rounded(*value as f64),
            OwnCell::Float(value) => is_rounded(*value),
            OwnCell::Text(text) => {
                text.as_bytes() == buffer
                    || unquoted(text).is_some_and(|text| text.as_bytes() == buffer)
                    || text.parse().is_ok_and(is_rounded)
            }
            OwnCell::Json { kind, text, .. } => match (&self.records().key_type, kind) {
                (KeyType::Text, CapturedKind::Text) => {
                    unquoted(text).is_some_and(|text| text.as_bytes() == buffer)
                }
                (KeyType::Bigint, CapturedKind::Number) => {
                    text.as_bytes() == buffer || text.parse().is_ok_and(is_rounded)
                }
                _ => false,
            },
            _ => false,
        }
    }
}

/// Values of one document at the paths that an answer is about.
struct CapturedValues<'a> {
    document: &'a [u8],
    captured: &'a [Captured],
}

impl CapturedValues<'_> {
    fn is_equal(&self, position: usize, cell: &OwnCell<'_>) -> bool {
        self.captured.get(position).is_some_and(|expected| is_equal(expected, self.document, cell))
    }
}

/// Number of scalar values in a JSON value.
fn leaves(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Object(members) => members.values().map(leaves).sum(),
        serde_json::Value::Array(elements) => elements.iter().map(leaves).sum(),
        _ => 1,
    }
}

/// Cell of a value that was captured from a JSON text.
fn json_cell<'t>(value: &Captured, text: &'t str) -> OwnCell<'t> {
    let Captured { kind, hash, start, end, .. } = *value;
    match kind {
        CapturedKind::Absent | CapturedKind::Null => OwnCell::Null,
        kind => OwnCell::Json { kind, hash, text: text.get(start..end).unwrap_or_default() },
    }
}

/// Characters of a text that a system gives back as JSON, in quotation marks. `None` if it is not that.
fn unquoted(text: &str) -> Option<String> {
    if text.starts_with('"') { serde_json::from_str(text).ok() } else { None }
}

/// Compares a value of a document with that of an answer.
fn is_equal(expected: &Captured, document: &[u8], cell: &OwnCell<'_>) -> bool {
    match (expected.kind, cell) {
        (kind, OwnCell::Json { kind: found, hash, .. }) => kind == *found && expected.hash == *hash,
        // Some systems give back an empty text for an absent path.
        (CapturedKind::Absent, OwnCell::Null | OwnCell::Text(""))
        | (CapturedKind::Null, OwnCell::Null | OwnCell::Text("null")) => true,
        (CapturedKind::Bool, cell) => {
            let is_true = expected.raw(document) == b"true";
            match cell {
                OwnCell::Bool(truth) => *truth == is_true,
                OwnCell::Int(number) => *number == i64::from(is_true),
                OwnCell::Text(text) => *text == if is_true { "true" } else { "false" },
                _ => false,
            }
        }
        (CapturedKind::Number, OwnCell::Int(number)) => integer_value_hash(*number) == expected.hash,
        (CapturedKind::Number, OwnCell::Float(number)) => {
            let text = std::str::from_utf8(expected.raw(document)).unwrap_or_default();
            text.parse::<f64>().is_ok_and(|expected| expected == *number)
        }
        (CapturedKind::Number, OwnCell::Text(text)) => number_text_hash(text) == Some(expected.hash),
        (CapturedKind::Text, OwnCell::Text(text)) => {
            text_value_hash(text.as_bytes()) == expected.hash
                || unquoted(text).is_some_and(|text| text_value_hash(text.as_bytes()) == expected.hash)
        }
        // Paths are those of scalar values, but a rare document may have a container there, for which
        // functions that extract scalar values return NULL.
        (CapturedKind::Container, OwnCell::Null) => true,
        (CapturedKind::Container, OwnCell::Text(text)) => {
            let digest = ValueDigester::new().digest(text.as_bytes(), &CapturePlan::default());
            digest.is_ok_and(|digest| digest == expected.hash)
        }
        _ => false,
    }
}
