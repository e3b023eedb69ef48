//! Batches of documents with the number of their writer and their sequence: one transaction or request each.
//!
//! A form describes how documents become a request, and by which statements it is sent. Requests are encoded
//! before they are timed. Documents are copied as text and never parsed.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::driver::{Connection, DriverError, Result};
use crate::prepared::{Parameter, PreparedStatement};
use crate::rows::ResultSet;
use crate::text_template::TextTemplate;

/// Placeholder of all rows in the statement of [`BatchTransfer::Inline`].
const ROWS: &str = "{{rows}}";

/// How the rows of a batch reach the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchTransfer {
    /// Beside one statement, which reads them from the connection: [`Connection::send_rows`].
    Stream,
    /// In the text of one statement, in place of `{{rows}}`.
    Inline,
    /// One by one, as parameters of a prepared statement between others that begin and end a transaction.
    Each,
    /// All in one parameter of a prepared statement.
    Whole,
}

/// Value that a statement gets as a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchParameter {
    /// Number of the writer.
    Writer,
    /// Sequence of one document.
    Sequence,
    /// Text of one document.
    Document,
    /// Sequence of the first document.
    First,
    /// Sequence after that of the last document.
    End,
    /// All rows as one text.
    Rows,
    /// All rows as one JSON value or, where a request has it, as its body.
    JsonRows,
}

/// One statement of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchStatement {
    /// Text with the protocol's parameter markers.
    pub text: String,
    /// Values of its parameters in the order of their markers. Empty for a statement that is executed as
    /// text.
    pub parameters: Vec<BatchParameter>,
}

/// How documents become the rows of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchRows {
    /// Text of one document, with `{{writer}}`, `{{sequence}}` and either `{{document}}`, its text, or
    /// `{{members}}`, what follows the opening brace of the document, after a comma if that is a member.
    pub row: String,
    /// Text between two rows.
    pub separator: String,
    /// Text before the first row.
    pub start: String,
    /// Text after the last row.
    pub end: String,
    /// Characters of a document that are written as another text, each with this text.
    pub escapes: Vec<(char, String)>,
}

/// How a batch of documents is inserted by one transaction or request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchForm {
    /// How the rows reach the system.
    pub transfer: BatchTransfer,
    /// Statements of one batch, in order; a single one unless rows are sent one by one.
    pub statements: Vec<BatchStatement>,
    /// How documents become rows. Unused if rows are sent one by one.
    pub rows: BatchRows,
    /// Statement that ends a transaction in which a statement has failed. `None` if there is none to end.
    pub undo: Option<String>,
    /// Whether a batch of unknown outcome can be sent again, because the system refuses documents that
    /// exist.
    pub is_idempotent: bool,
}

/// A batch in the form of its request. It can be sent several times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedBatch {
    writer: u32,
    first: u64,
    count: usize,
    content: BatchContent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum BatchContent {
    /// All rows, with the text before and after them.
    Rows(String),
    Documents(Vec<String>),
}

impl EncodedBatch {
    /// Returns the number of documents in the batch.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the bytes of its rows or, if rows are sent one by one, of its documents.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.content {
            BatchContent::Rows(rows) => rows.len(),
            BatchContent::Documents(documents) => documents.iter().map(String::len).sum(),
        }
    }

    /// Returns the rows with the text before and after them. Empty if rows are sent one by one.
    #[must_use]
    pub fn rows(&self) -> &str {
        match &self.content {
            BatchContent::Rows(rows) => rows,
            BatchContent::Documents(_) => "",
        }
    }

    /// Returns the value of a parameter. `document` is the position of the document in the batch; 0 if all
    /// are sent at once.
    fn parameter(&self, parameter: BatchParameter, document: usize) -> Parameter<'_> {
        let sequence = |position: usize| {
            let number = self.first.saturating_add(position as u64);
            Parameter::Int(i64::try_from(number).unwrap_or(i64::MAX))
        };
        match parameter {
            BatchParameter::Writer => Parameter::Int(self.writer.into()),
            BatchParameter::Sequence => sequence(document),
            BatchParameter::First => sequence(0),
            BatchParameter::End => sequence(self.count),
            BatchParameter::Rows => Parameter::Text(self.rows()),
            BatchParameter::JsonRows => Parameter::Json(self.rows()),
            BatchParameter::Document => match &self.content {
                BatchContent::Documents(documents) => {
                    documents.get(document).map_or(Parameter::Null, |text| Parameter::Text(text))
                }
                BatchContent::Rows(_) => Parameter::Null,
            },
        }
    }
}

impl BatchForm {
    /// Makes the request that inserts `documents`, of which the first gets the sequence `first`, the next
    /// `first + 1` and so on.
    ///
    /// # Errors
    /// If a document is not UTF-8, if it has several lines and a row may have one only, or if its members are
    /// needed and it is no object.
    pub fn encode(
        &self,
        writer: u32,
        first: u64,
        documents: &[&[u8]],
    ) -> std::result::Result<EncodedBatch, String> {
        let mut texts = Vec::with_capacity(documents.len());
        for (sequence, document) in (first..).zip(documents) {
            let text = std::str::from_utf8(document)
                .map_err(|error| format!("document {sequence} of writer {writer} is not UTF-8: {error}"))?;
            texts.push(text);
        }
        let content = match self.transfer {
            BatchTransfer::Each => {
                BatchContent::Documents(texts.iter().map(|text| (*text).to_owned()).collect())
            }
            BatchTransfer::Stream | BatchTransfer::Inline | BatchTransfer::Whole => {
                BatchContent::Rows(self.rows.write(writer, first, &texts)?)
            }
        };
        Ok(EncodedBatch { writer, first, count: documents.len(), content })
    }

    /// Prepares the statements on a connection.
    ///
    /// # Errors
    /// As [`Connection::prepare`]; [`DriverError::Unsupported`] if the form has no place for rows.
    pub fn prepare(&self, connection: &mut dyn Connection) -> Result<BatchInserter> {
        let mut steps = Vec::with_capacity(self.statements.len());
        for statement in &self.statements {
            steps.push(self.step(statement, connection)?);
        }
        Ok(BatchInserter { steps, undo: self.undo.clone(), is_idempotent: self.is_idempotent })
    }

    fn step(&self, statement: &BatchStatement, connection: &mut dyn Connection) -> Result<Step> {
        let BatchStatement { text, parameters } = statement;
        match self.transfer {
            BatchTransfer::Stream => Ok(Step::Stream(text.clone())),
            BatchTransfer::Inline => match text.split_once(ROWS) {
                Some((before, after)) => Ok(Step::Inline(before.to_owned(), after.to_owned())),
                None => Err(DriverError::Unsupported(format!("the statement has no {ROWS}: {text}"))),
            },
            BatchTransfer::Each | BatchTransfer::Whole if parameters.is_empty() => {
                Ok(Step::Ask(text.clone()))
            }
            BatchTransfer::Each => Ok(Step::Each(connection.prepare(text)?, parameters.clone())),
            BatchTransfer::Whole => Ok(Step::Whole(connection.prepare(text)?, parameters.clone())),
        }
    }
}

impl BatchRows {
    /// Writes the rows of documents, with the text before and after them.
    fn write(&self, writer: u32, first: u64, documents: &[&str]) -> std::result::Result<String, String> {
        let template = TextTemplate::parse(&self.row);
        let is_line = [&self.row, &self.separator].iter().any(|text| text.contains('\n'));
        let is_one_line = is_line && !self.escapes.iter().any(|(character, _)| *character == '\n');
        let length = documents.iter().map(|document| document.len() + self.row.len()).sum::<usize>();
        let mut out = String::with_capacity(self.start.len() + length + length / 16 + self.end.len());
        out.push_str(&self.start);
        for (position, (sequence, document)) in (first..).zip(documents).enumerate() {
            if position > 0 {
                out.push_str(&self.separator);
            }
            if is_one_line && document.contains('\n') {
                return Err(format!(
                    "document {sequence} of writer {writer} has several lines: a row has one"
                ));
            }
            template.write(&mut out, |name, out| {
                match name {
                    "writer" => out.push_str(&writer.to_string()),
                    "sequence" => out.push_str(&sequence.to_string()),
                    "document" => self.escape(document, out),
                    "members" => self.escape(&members(document)?, out),
                    other => return Err(format!("`{{{{{other}}}}}` has no value in a row")),
                }
                Ok(())
            })?;
        }
        out.push_str(&self.end);
        Ok(out)
    }

    /// Appends a text with its escapes.
    fn escape(&self, text: &str, out: &mut String) {
        let escape_of = |character: char| self.escapes.iter().find(|(escaped, _)| *escaped == character);
        let mut rest = text;
        while let Some(position) = rest.find(|character: char| escape_of(character).is_some()) {
            let (plain, special) = rest.split_at(position);
            out.push_str(plain);
            let character = special.chars().next().unwrap_or_default();
            if let Some((_, replacement)) = escape_of(character) {
                out.push_str(replacement);
            }
            rest = &special[character.len_utf8()..];
        }
        out.push_str(rest);
    }
}

/// Returns what follows the opening brace of an object, after a comma if that is a member.
fn members(document: &str) -> std::result::Result<Cow<'_, str>, String> {
    let inside = document.trim_ascii().strip_prefix('{').map(str::trim_ascii_start);
    match inside {
        Some(inside) if inside.starts_with('}') => Ok(Cow::Borrowed(inside)),
        Some(inside) => Ok(Cow::Owned(format!(",{inside}"))),
        None => Err("a document is no object, so that it has no place for a further member".to_owned()),
    }
}

/// Statements of a batch, prepared on one connection.
#[derive(Debug)]
pub struct BatchInserter {
    steps: Vec<Step>,
    undo: Option<String>,
    is_idempotent: bool,
}

/// Execution of one statement.
#[derive(Debug)]
enum Step {
    /// A statement without parameters.
    Ask(String),
    /// A statement that reads rows from the connection.
    Stream(String),
    /// Text of a statement before and after its rows.
    Inline(String, String),
    /// A prepared statement that is executed for each document.
    Each(PreparedStatement, Vec<BatchParameter>),
    /// A prepared statement that is executed once.
    Whole(PreparedStatement, Vec<BatchParameter>),
}

impl Step {
    fn execute(&self, connection: &mut dyn Connection, batch: &EncodedBatch) -> Result<()> {
        let mut ignored_answer = ResultSet::default();
        match self {
            Self::Ask(text) => connection.ask(text, &mut ignored_answer).map(drop),
            Self::Stream(text) => connection.send_rows(text, batch.rows()),
            Self::Inline(before, after) => {
                let text = [before.as_str(), batch.rows(), after.as_str()].concat();
                connection.ask(&text, &mut ignored_answer).map(drop)
            }
            Self::Each(prepared, parameters) => (0..batch.count).try_for_each(|document| {
                let values: Vec<Parameter<'_>> =
                    parameters.iter().map(|parameter| batch.parameter(*parameter, document)).collect();
                connection.execute(prepared, &values, &mut ignored_answer).map(drop)
            }),
            Self::Whole(prepared, parameters) => {
                let values: Vec<Parameter<'_>> =
                    parameters.iter().map(|parameter| batch.parameter(*parameter, 0)).collect();
                connection.execute(prepared, &values, &mut ignored_answer).map(drop)
            }
        }
    }
}

impl BatchInserter {
    /// Inserts a batch. When this returns, the batch is as durable as the session's settings ask. With an
    /// idempotent form, documents that exist already are accepted.
    ///
    /// # Errors
    /// [`DriverError::Conflict`] if the system is too busy, or waited for another writer in vain: the batch
    /// may be sent again, and none of it is there; with an idempotent form a part may be. After
    /// [`DriverError::Crashed`] the outcome is unknown.
    pub fn insert(&self, connection: &mut dyn Connection, batch: &EncodedBatch) -> Result<()> {
        match self.run(connection, batch) {
            Err(DriverError::Duplicate(_)) if self.is_idempotent => Ok(()),
            Err(error) => {
                if let Some(undo) = &self.undo
                    && !matches!(error, DriverError::Crashed(_))
                {
                    // The first failure is returned. A statement that failed to begin a transaction has left
                    // none to end.
                    connection.ask(undo, &mut ResultSet::default()).ok();
                }
                Err(error)
            }
            Ok(()) => Ok(()),
        }
    }

    fn run(&self, connection: &mut dyn Connection, batch: &EncodedBatch) -> Result<()> {
        for step in &self.steps {
            step.execute(connection, batch)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::driver::{DocumentSource, LoadSink};
    use crate::prepared::StatementTable;
    use crate::rows::{RowSink, StatementStats};

    /// Records what is executed, and fails the statement whose text holds `failing`.
    #[derive(Default)]
    struct Recorder {
        executed: Vec<String>,
        prepared: StatementTable<String>,
        failing: Option<(&'static str, DriverError)>,
    }

    impl Recorder {
        fn record(&mut self, text: String) -> Result<()> {
            let failure = self.failing.as_ref().filter(|(failing, _)| text.contains(failing));
            let result = failure.map_or(Ok(()), |(_, error)| Err(error.clone()));
            self.executed.push(text);
            result
        }
    }

    impl Connection for Recorder {
        fn version(&mut self) -> Result<String> {
            Ok(String::new())
        }

        fn ask(&mut self, statement: &str, _: &mut dyn RowSink) -> Result<StatementStats> {
            self.record(statement.to_owned()).map(|()| StatementStats::default())
        }

        fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
            Ok(self.prepared.insert(statement.to_owned()))
        }

        fn execute(
            &mut self,
            prepared: &PreparedStatement,
            parameters: &[Parameter<'_>],
            _: &mut dyn RowSink,
        ) -> Result<StatementStats> {
            let text = format!("{} {parameters:?}", self.prepared.get(prepared)?);
            self.record(text).map(|()| StatementStats::default())
        }

        fn bulk_in(&mut self, _: &str, _: &mut dyn DocumentSource, _: &mut dyn LoadSink) -> Result<u64> {
            Ok(0)
        }

        fn send_rows(&mut self, statement: &str, rows: &str) -> Result<()> {
            self.record(format!("{statement} < {rows}"))
        }

        fn close(self: Box<Self>) -> Result<()> {
            Ok(())
        }
    }

    fn form(transfer: BatchTransfer, statements: &[(&str, &[BatchParameter])], row: &str) -> BatchForm {
        BatchForm {
            transfer,
            statements: statements
                .iter()
                .map(|(text, parameters)| BatchStatement {
                    text: (*text).to_owned(),
                    parameters: parameters.to_vec(),
                })
                .collect(),
            rows: BatchRows { row: row.to_owned(), ..BatchRows::default() },
            undo: None,
            is_idempotent: false,
        }
    }

    fn escapes(pairs: &[(char, &str)]) -> Vec<(char, String)> {
        pairs.iter().map(|(character, text)| (*character, (*text).to_owned())).collect()
    }

    /// Inserts two documents of writer 3 and returns what was executed, and with which result.
    fn insert(form: &BatchForm, mut connection: Recorder) -> (Vec<String>, Result<()>) {
        let batch = form.encode(3, 7, &[br#"{"a":"it's"}"#, b"{}"]).unwrap();
        assert_eq!(batch.count(), 2);
        let inserter = form.prepare(&mut connection).unwrap();
        let result = inserter.insert(&mut connection, &batch);
        (connection.executed, result)
    }

    const EACH: [(&str, &[BatchParameter]); 3] = [
        ("BEGIN", &[]),
        ("INSERT", &[BatchParameter::Writer, BatchParameter::Sequence, BatchParameter::Document]),
        ("COMMIT", &[]),
    ];

    #[test]
    fn rows_stand_beside_a_statement_or_in_it() {
        let row = "{{writer}}\t{{sequence}}\t{{document}}\n";
        let mut stream = form(BatchTransfer::Stream, &[("COPY", &[])], row);
        stream.rows.escapes = escapes(&[('"', "\\q")]);
        let (executed, result) = insert(&stream, Recorder::default());
        assert_eq!(executed, ["COPY < 3\t7\t{\\qa\\q:\\qit's\\q}\n3\t8\t{}\n"]);
        assert!(result.is_ok());

        let text = "INSERT VALUES {{rows}} END";
        let mut inline = form(BatchTransfer::Inline, &[(text, &[])], "({{sequence}}, '{{document}}')");
        inline.rows.escapes = escapes(&[('\'', "''")]);
        inline.rows.separator = ", ".to_owned();
        let (executed, _) = insert(&inline, Recorder::default());
        assert_eq!(executed, [r#"INSERT VALUES (7, '{"a":"it''s"}'), (8, '{}') END"#]);
        let without_place = form(BatchTransfer::Inline, &[("INSERT", &[])], "");
        assert!(without_place.prepare(&mut Recorder::default()).is_err());
    }

    #[test]
    fn documents_are_parameters_one_by_one_or_all_at_once() {
        let (executed, result) = insert(&form(BatchTransfer::Each, &EACH, ""), Recorder::default());
        assert!(result.is_ok());
        assert_eq!(
            executed,
            [
                "BEGIN",
                r#"INSERT [Int(3), Int(7), Text("{\"a\":\"it's\"}")]"#,
                r#"INSERT [Int(3), Int(8), Text("{}")]"#,
                "COMMIT"
            ]
        );
        let parameters = [BatchParameter::First, BatchParameter::End, BatchParameter::JsonRows];
        let mut whole = form(
            BatchTransfer::Whole,
            &[("insert", &parameters)],
            r#"{"writer":{{writer}},"sequence":{{sequence}}{{members}}"#,
        );
        (whole.rows.start, whole.rows.separator, whole.rows.end) = ("[".into(), ",".into(), "]".into());
        let (executed, _) = insert(&whole, Recorder::default());
        let rows = r#"[{"writer":3,"sequence":7,"a":"it's"},{"writer":3,"sequence":8}]"#;
        assert_eq!(executed, [format!("insert [Int(7), Int(9), Json({rows:?})]")]);
    }

    #[test]
    fn a_failed_batch_is_undone_unless_the_connection_is_gone() {
        let each = BatchForm { undo: Some("ROLLBACK".to_owned()), ..form(BatchTransfer::Each, &EACH, "") };
        let fail = |error: DriverError| {
            let failing = Some(("COMMIT", error));
            insert(&each, Recorder { failing, ..Recorder::default() })
        };
        let (executed, result) = fail(DriverError::Conflict("busy".to_owned()));
        assert_eq!(executed.last().map(String::as_str), Some("ROLLBACK"));
        assert_eq!(result, Err(DriverError::Conflict("busy".to_owned())));
        let (executed, result) = fail(DriverError::Crashed("gone".to_owned()));
        assert_eq!(executed.last().map(String::as_str), Some("COMMIT"));
        assert!(matches!(result, Err(DriverError::Crashed(_))));
    }

    #[test]
    fn what_exists_is_accepted_only_where_batches_are_idempotent() {
        for is_idempotent in [true, false] {
            let form = BatchForm { is_idempotent, ..form(BatchTransfer::Stream, &[("COPY", &[])], "x") };
            let failing = Some(("COPY", DriverError::Duplicate("exists".to_owned())));
            let (_, result) = insert(&form, Recorder { failing, ..Recorder::default() });
            assert_eq!(result.is_ok(), is_idempotent);
        }
    }

    #[test]
    fn a_document_that_no_row_can_hold_is_refused() {
        let lines = form(BatchTransfer::Stream, &[], "{{document}}\n");
        let message = lines.encode(0, 0, &[b"{\n}"]).unwrap_err();
        assert!(message.contains("document 0 of writer 0 has several lines"), "{message}");
        assert!(lines.encode(0, 4, &[b"{}", b"\xff"]).unwrap_err().contains("document 5 of writer 0"));
        let mut escaped = lines.clone();
        escaped.rows.escapes = escapes(&[('\n', "\\n")]);
        assert!(escaped.encode(0, 0, &[b"{\n}"]).is_ok());
        let with_members = form(BatchTransfer::Whole, &[], "{{{members}}");
        assert!(with_members.encode(0, 0, &[b"[1]"]).unwrap_err().contains("no object"));
        assert!(form(BatchTransfer::Stream, &[], "{{doc}}").encode(0, 0, &[b"1"]).is_err());
    }

    proptest! {
        #[test]
        fn every_document_can_be_read_back(
            documents in prop::collection::vec("[a-z\t\n\\\\'é]{0,20}", 1..20), first in 0_u64..1000
        ) {
            let mut lines = form(BatchTransfer::Stream, &[], "{{sequence}}\t{{document}}\n");
            lines.rows.escapes = escapes(&[('\\', "\\\\"), ('\t', "\\t"), ('\n', "\\n")]);
            let bytes: Vec<&[u8]> = documents.iter().map(String::as_bytes).collect();
            let batch = lines.encode(0, first, &bytes).unwrap();
            let mut read = Vec::new();
            for line in batch.rows().strip_suffix('\n').unwrap().split('\n') {
                let (sequence, text) = line.split_once('\t').unwrap();
                let (mut plain, mut characters) = (String::new(), text.chars());
                while let Some(character) = characters.next() {
                    plain.push(match character {
                        '\\' => match characters.next().unwrap() {
                            't' => '\t',
                            'n' => '\n',
                            other => other,
                        },
                        other => other,
                    });
                }
                read.push((sequence.parse::<u64>().unwrap(), plain));
            }
            prop_assert_eq!(read, (first..).zip(documents).collect::<Vec<_>>());
        }
    }
}
