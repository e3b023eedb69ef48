//! Compiles scripts: replaces placeholders by the protocol's parameter markers and records what fills them.

use jsonathlon_driver_api::parameter_marker;

use crate::job::OperationScript;
use crate::loaded_records::ParameterTypes;
use crate::operation::Operation;

/// Value that fills a parameter; see the table of [`OperationScript`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParameterSource {
    Key,
    Value,
    Document,
    KeyedDocument,
    KeyedDocuments,
    Limit,
    Old,
    Condition,
    /// Column answered by an earlier statement, as an index into [`OperationPlan::columns`].
    Column(usize),
}

impl ParameterSource {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "key" => Self::Key,
            "value" => Self::Value,
            "document" => Self::Document,
            "keyed_document" => Self::KeyedDocument,
            "keyed_documents" => Self::KeyedDocuments,
            "limit" => Self::Limit,
            "old" => Self::Old,
            "condition" => Self::Condition,
            _ => return None,
        })
    }
}

/// One statement with its parameters in the syntax of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedStatement {
    pub(crate) text: String,
    /// Values of the parameters in order, each with the index of its document in the batch. The index is
    /// `None` for the document that the operation currently works on.
    pub(crate) fillers: Vec<(ParameterSource, Option<usize>)>,
    /// Whether the statement is sent once for each document of a batch.
    pub(crate) repeats: bool,
    /// Whether the statement changes documents, so that the number of changed documents is verified.
    pub(crate) writes: bool,
}

/// Compiled statements of one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OperationPlan {
    pub(crate) operation: Operation,
    pub(crate) statements: Vec<PlannedStatement>,
    pub(crate) undo: Option<String>,
    pub(crate) key_member: String,
    pub(crate) may_be_stale: bool,
    /// Names of columns whose values are kept for a later statement.
    pub(crate) columns: Vec<String>,
    needed: Vec<ParameterSource>,
}

impl OperationPlan {
    /// Compiles a script. `batch` is the number of documents of an insert-batch.
    ///
    /// # Errors
    /// If the script has no statement, or uses a keyed document without naming the member that holds the key.
    pub(crate) fn new(
        operation: Operation,
        script: &OperationScript,
        protocol: &str,
        types: ParameterTypes,
        batch: u32,
    ) -> Result<Self, String> {
        if script.statements.is_empty() {
            return Err(format!("{operation} has no statement"));
        }
        let mut columns = Vec::new();
        let statements: Vec<PlannedStatement> = script
            .statements
            .iter()
            .map(|text| {
                let is_batch = operation == Operation::InsertBatch;
                let batch_text = is_batch.then(|| expand_batch(text, batch)).flatten();
                let text = batch_text.as_deref().unwrap_or(text);
                compile_statement(operation, text, protocol, types, &mut columns)
            })
            .collect();
        let needed: Vec<ParameterSource> = statements
            .iter()
            .flat_map(|statement| statement.fillers.iter().map(|(filler, _)| *filler))
            .collect();
        let keyed = |filler: &ParameterSource| {
            matches!(filler, ParameterSource::KeyedDocument | ParameterSource::KeyedDocuments)
        };
        if script.key_member.is_none() && needed.iter().any(keyed) {
            return Err(format!("{operation} names a keyed document, and no member of documents is the key"));
        }
        Ok(Self {
            operation,
            statements,
            undo: script.undo.clone(),
            key_member: script.key_member.clone().unwrap_or_default(),
            may_be_stale: script.may_be_stale,
            columns,
            needed,
        })
    }

    /// Returns `true` if any statement has a parameter with this value.
    pub(crate) fn needs(&self, filler: ParameterSource) -> bool {
        self.needed.contains(&filler)
    }
}

/// Expands a request with an array `lines`, which describe one document, to the lines of a whole batch.
/// `None` if the text is not such a request.
fn expand_batch(text: &str, batch: u32) -> Option<String> {
    let mut request: serde_json::Value = serde_json::from_str(text).ok()?;
    let lines = request.get_mut("lines")?.as_array_mut()?;
    let template_lines = std::mem::take(lines);
    for document in 0..batch.max(1) {
        for line in &template_lines {
            let line = line.to_string();
            let numbered = ["key", "document", "keyed_document"].iter().fold(line, |line, name| {
                line.replace(&format!("{{{{{name}}}}}"), &format!("{{{{{name}#{document}}}}}"))
            });
            lines.push(serde_json::from_str(&numbered).ok()?);
        }
    }
    Some(request.to_string())
}

/// Resolves the name of a placeholder. Any name that is not a parameter stands for a column, which is added
/// to `columns` if it is new.
fn source(name: &str, columns: &mut Vec<String>) -> ParameterSource {
    ParameterSource::of(name).unwrap_or_else(|| {
        let position = columns.iter().position(|column| column == name);
        ParameterSource::Column(position.unwrap_or_else(|| {
            columns.push(name.to_owned());
            columns.len() - 1
        }))
    })
}

/// Returns the marker of the parameter at `index`, counted from 0.
fn marker(protocol: &str, index: usize, is_integer: bool) -> String {
    let text = parameter_marker(protocol, index + 1);
    // A typed marker must have the type of its value.
    if is_integer { text.replace(":String}", ":Int64}") } else { text }
}

fn compile_statement(
    operation: Operation,
    text: &str,
    protocol: &str,
    types: ParameterTypes,
    columns: &mut Vec<String>,
) -> PlannedStatement {
    // If all markers look the same, a parameter that occurs twice is passed twice.
    let is_numbered = parameter_marker(protocol, 1) != parameter_marker(protocol, 2);
    let (mut output, mut fillers, mut rest) = (String::new(), Vec::new(), text);
    while let Some(start) = rest.find("{{") {
        let (before, tail) = rest.split_at(start);
        output.push_str(before);
        let placeholder = tail[2..].split_once("}}").map_or("", |(placeholder, _)| placeholder);
        let (name, document_index) = placeholder.split_once('#').unwrap_or((placeholder, ""));
        if !is_name(name) {
            // Braces that belong to JSON, not to a placeholder.
            output.push('{');
            rest = &tail[1..];
            continue;
        }
        let filler = (source(name, columns), document_index.parse().ok());
        let existing = fillers.iter().position(|entry| *entry == filler).filter(|_| is_numbered);
        let index = existing.unwrap_or_else(|| {
            fillers.push(filler);
            fillers.len() - 1
        });
        let is_integer = match filler.0 {
            ParameterSource::Limit => true,
            ParameterSource::Key => types.integer_key,
            ParameterSource::Value | ParameterSource::Old => types.integer_value,
            _ => false,
        };
        output.push_str(&marker(protocol, index, is_integer));
        rest = &tail[2 + placeholder.len() + 2..];
    }
    output.push_str(rest);
    let uses = |sources: &[ParameterSource]| fillers.iter().any(|(filler, _)| sources.contains(filler));
    let uses_document =
        uses(&[ParameterSource::Key, ParameterSource::Document, ParameterSource::KeyedDocument]);
    let has_batch_index = fillers.iter().any(|(_, document_index)| document_index.is_some());
    let sets_value = uses(&[
        ParameterSource::Value,
        ParameterSource::Document,
        ParameterSource::KeyedDocument,
        ParameterSource::KeyedDocuments,
    ]);
    PlannedStatement {
        text: output,
        repeats: operation == Operation::InsertBatch && uses_document && !has_batch_index,
        writes: operation.writes() && (sets_value || (operation == Operation::Delete && uses_document)),
        fillers,
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(operation: Operation, statements: &[&str], protocol: &str) -> OperationPlan {
        let script = OperationScript {
            statements: statements.iter().map(|text| (*text).to_owned()).collect(),
            undo: None,
            key_member: Some("_id".to_owned()),
            may_be_stale: false,
        };
        OperationPlan::new(operation, &script, protocol, ParameterTypes::default(), 2).unwrap()
    }

    #[test]
    fn placeholders_become_markers_in_their_order() {
        let text = "UPDATE t SET d = f(d, {{value}}) WHERE k = {{key}} AND k <> {{value}}";
        let compile = |protocol: &str| {
            let statement = plan(Operation::Update, &[text], protocol).statements.remove(0);
            assert!(statement.writes && !statement.repeats);
            (statement.text, statement.fillers)
        };
        let (value, key) = ((ParameterSource::Value, None), (ParameterSource::Key, None));
        assert_eq!(
            compile("postgres"),
            ("UPDATE t SET d = f(d, $1) WHERE k = $2 AND k <> $1".to_owned(), vec![value, key])
        );
        assert_eq!(
            compile("mysql"),
            ("UPDATE t SET d = f(d, ?) WHERE k = ? AND k <> ?".to_owned(), vec![value, key, value])
        );
    }

    #[test]
    fn braces_of_json_stay() {
        let text = r#"{"find":"t","filter":{"_id":"{{key}}"},"limit":"{{limit}}","x":{{{}}}}"#;
        let statement = plan(Operation::Scan, &[text], "mongodb").statements.remove(0);
        assert_eq!(statement.text, r#"{"find":"t","filter":{"_id":":1"},"limit":":2","x":{{{}}}}"#);
        assert_eq!(statement.fillers, [(ParameterSource::Key, None), (ParameterSource::Limit, None)]);
        let statement =
            plan(Operation::Scan, &["k >= {{key}} LIMIT {{limit}}"], "clickhouse").statements.remove(0);
        assert_eq!(statement.text, "k >= {p1:String} LIMIT {p2:Int64}");
    }

    #[test]
    fn statements_of_a_transaction_are_told_apart() {
        let transaction = plan(
            Operation::ReadModifyWrite,
            &[
                "BEGIN",
                "SELECT d, n FROM t WHERE k = {{key}}",
                "UPDATE t SET d = {{value}} WHERE n = {{n}}",
                "COMMIT",
            ],
            "postgres",
        );
        assert_eq!(
            transaction.statements.iter().map(|statement| statement.writes).collect::<Vec<_>>(),
            [false, false, true, false]
        );
        assert_eq!(transaction.columns, ["n"]);
        assert_eq!(
            transaction.statements[2].fillers,
            [(ParameterSource::Value, None), (ParameterSource::Column(0), None)]
        );
        assert!(transaction.needs(ParameterSource::Value) && !transaction.needs(ParameterSource::Old));
        let batch =
            plan(Operation::InsertBatch, &["BEGIN", "INSERT {{key}} {{document}}", "COMMIT"], "sqlite");
        assert_eq!(
            batch.statements.iter().map(|statement| statement.repeats).collect::<Vec<_>>(),
            [false, true, false]
        );
        let delete = plan(Operation::Delete, &["DELETE {{key}}"], "sqlite");
        assert!(delete.statements[0].writes);
    }

    #[test]
    fn a_request_of_lines_holds_the_whole_batch() {
        let text = r#"{"path": "/t", "lines": [{"create": {"_id": "{{key}}"}}, "{{document}}"]}"#;
        let batch = plan(Operation::InsertBatch, &[text], "elasticsearch");
        let statement = &batch.statements[0];
        assert_eq!(
            statement.text,
            r#"{"lines":[{"create":{"_id":":1"}},":2",{"create":{"_id":":3"}},":4"],"path":"/t"}"#
        );
        let sources =
            |document| [(ParameterSource::Key, Some(document)), (ParameterSource::Document, Some(document))];
        assert_eq!(statement.fillers, [sources(0), sources(1)].concat());
        assert!(statement.writes && !statement.repeats && batch.needs(ParameterSource::Document));
        // A single insert uses the same lines.
        assert!(plan(Operation::Insert, &[text], "elasticsearch").statements[0].text.contains(":2"));
    }

    #[test]
    fn what_cannot_be_filled_is_refused() {
        let script = |text: &str| OperationScript {
            statements: vec![text.to_owned()],
            undo: None,
            key_member: None,
            may_be_stale: false,
        };
        let compile = |text: &str| {
            OperationPlan::new(Operation::Insert, &script(text), "mongodb", ParameterTypes::default(), 1)
        };
        assert!(compile("{{keyed_document}}").unwrap_err().contains("no member of documents is the key"));
        assert!(compile("{{document}}").is_ok());
        let empty = OperationScript { statements: Vec::new(), ..script("") };
        assert!(
            OperationPlan::new(Operation::Insert, &empty, "mongodb", ParameterTypes::default(), 1).is_err()
        );
    }
}
