//! Statements as written in a system's folder: one JSON object with the `command`.

use std::sync::Arc;

use jsonathlon_driver_api::codecs::json_rows::{Mapping, RawMembers};
use jsonathlon_driver_api::driver::{DriverError, Result};
use jsonathlon_driver_api::prepared::{Parameter, parameter_at};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::encode::{self, EnclosingDocument, Slots};

/// Statement before it is encoded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Statement<'a> {
    #[serde(borrow)]
    command: Option<RawMembers<'a>>,
    /// Database of the command. `None` for the session's database.
    database: Option<String>,
    pub(super) rows: Option<Mapping>,
    /// Statement that is to be explained instead of executed.
    #[serde(borrow)]
    explain: Option<Box<Statement<'a>>>,
}

/// Command in its encoded form.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) database: String,
    pub(super) body: Vec<u8>,
    /// Whether the command is `explain`, so that its answer is a plan.
    pub(super) is_explained: bool,
}

/// Insert command whose documents are sent beside it.
#[derive(Debug)]
pub(super) struct Insert {
    /// Name of the list in the command that the documents replace.
    pub(super) list: String,
    /// Command for the last batch, with the write concern of the statement.
    pub(super) last_batch: Vec<u8>,
    /// Command for all other batches, which does not wait for the WAL.
    pub(super) earlier_batches: Vec<u8>,
}

/// Command that is parsed and encoded once, and sent with other values each time.
#[derive(Debug)]
pub(super) struct Template {
    pub(super) database: String,
    /// Encoded command without the values of its placeholders.
    body: Vec<u8>,
    gaps: Slots,
    pub(super) rows: Option<Arc<Mapping>>,
}

/// Commands with up to this many placeholders are written without a heap allocation.
const INLINE_GAPS: usize = 8;

impl Template {
    pub(super) fn read(text: &str, database: &str) -> Result<Self> {
        let statement = Statement::read(text)?;
        let Some(RawMembers(members)) = &statement.command else {
            return Err(unsupported("a statement that is prepared has a `command`"));
        };
        // A statement that is invalid even without values is reported here rather than at its execution.
        statement.command(database)?;
        let database = statement.database.as_deref().unwrap_or(database).to_owned();
        let (mut body, mut gaps) = (Vec::new(), Slots::default());
        let start = encode::open(&mut body);
        for (name, value) in members {
            encode::element_with(name, value.get(), &mut gaps, &mut body).map_err(DriverError::Refused)?;
        }
        finish(start, &database, &mut body)?;
        gaps.enclosing.push(EnclosingDocument { start, gaps: 0..gaps.slots.len() });
        Ok(Self { database, body, gaps, rows: statement.rows.map(Arc::new) })
    }

    /// Appends the command with `parameters` in place of the strings `":1"`, `":2"` and so on.
    pub(super) fn write(&self, parameters: &[Parameter<'_>], out: &mut Vec<u8>) -> Result<()> {
        let Slots { slots, enclosing } = &self.gaps;
        // For each gap, the number of bytes by which everything before it has grown; the last entry is the
        // total.
        let (mut inline, mut heap) = ([0; INLINE_GAPS + 1], Vec::new());
        let growth = if let Some(inline) = inline.get_mut(..=slots.len()) {
            inline
        } else {
            heap.resize(slots.len() + 1, 0);
            heap.as_mut_slice()
        };
        let (start, mut copied) = (out.len(), 0);
        for (index, gap) in slots.iter().enumerate() {
            out.extend_from_slice(&self.body[copied..gap.value_position]);
            copied = gap.value_position;
            let (value, value_start) = (parameter_at(gap.index, parameters)?, out.len());
            let kind_at = start + gap.type_position + growth[index];
            encode::parameter(value, kind_at, gap.level, out).map_err(DriverError::Refused)?;
            growth[index + 1] = growth[index] + out.len() - value_start;
        }
        out.extend_from_slice(&self.body[copied..]);
        for EnclosingDocument { start: document_start, gaps } in enclosing {
            let increase = growth[gaps.end] - growth[gaps.start];
            encode::grow(start + document_start + growth[gaps.start], increase, out)
                .map_err(DriverError::Refused)?;
        }
        Ok(())
    }
}

impl<'a> Statement<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| unsupported(&error.to_string()))
    }

    /// Encodes the command for execution. `database` is used if the statement names none.
    pub(super) fn command(&self, database: &str) -> Result<Command> {
        let mut body = Vec::new();
        let start = encode::open(&mut body);
        let (members, own_database, is_explained) = match (&self.command, &self.explain) {
            (Some(members), None) => (members, self.database.as_deref(), false),
            (None, Some(explained)) => {
                let Some(members) = &explained.command else {
                    return Err(unsupported("`explain` holds no statement with a `command`"));
                };
                (members, explained.database.as_deref(), true)
            }
            _ => return Err(unsupported("it has one of `command` and `explain`")),
        };
        if is_explained {
            let mut text = Vec::new();
            let inner_start = encode::open(&mut text);
            append_all(members, &mut text)?;
            encode::close(inner_start, &mut text).map_err(|reason| unsupported(&reason))?;
            body.extend_from_slice(b"\x03explain\0");
            body.extend_from_slice(&text);
            append("verbosity", "\"queryPlanner\"", &mut body)?;
        } else {
            append_all(members, &mut body)?;
        }
        let database = own_database.unwrap_or(database).to_owned();
        finish(start, &database, &mut body)?;
        Ok(Command { database, body, is_explained })
    }

    /// Encodes the insert of a bulk load.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if the command has no list `[":doc"]`.
    pub(super) fn insert(&self, database: &str) -> Result<Insert> {
        let Some(RawMembers(members)) = &self.command else {
            return Err(unsupported("a statement that loads has a `command`"));
        };
        let is_document_list = |raw: &RawValue| {
            serde_json::from_str::<[&str; 1]>(raw.get()).is_ok_and(|elements| elements == [":doc"])
        };
        let Some((list, _)) = members.iter().find(|(_, value)| is_document_list(value)) else {
            return Err(unsupported("a statement that loads has the list [\":doc\"] in its command"));
        };
        let database = self.database.as_deref().unwrap_or(database);
        let body = |waits: bool| -> Result<Vec<u8>> {
            let mut body = Vec::new();
            let start = encode::open(&mut body);
            for (name, value) in members.iter().filter(|(name, _)| name != list) {
                if name == "writeConcern" && !waits {
                    append(name, &without_journal(value)?, &mut body)?;
                } else {
                    append(name, value.get(), &mut body)?;
                }
            }
            finish(start, database, &mut body)?;
            Ok(body)
        };
        Ok(Insert { list: list.clone(), last_batch: body(true)?, earlier_batches: body(false)? })
    }
}

fn append_all(RawMembers(members): &RawMembers<'_>, out: &mut Vec<u8>) -> Result<()> {
    members.iter().try_for_each(|(name, value)| append(name, value.get(), out))
}

fn append(name: &str, value: &str, out: &mut Vec<u8>) -> Result<()> {
    encode::element(name, value, out).map_err(|reason| unsupported(&format!("`{name}`: {reason}")))
}

/// Appends the database and ends the command.
fn finish(start: usize, database: &str, out: &mut Vec<u8>) -> Result<()> {
    append("$db", &serde_json::Value::from(database).to_string(), out)?;
    encode::close(start, out).map_err(|reason| unsupported(&reason))
}

fn without_journal(concern: &RawValue) -> Result<String> {
    let mut concern: serde_json::Map<String, serde_json::Value> = serde_json::from_str(concern.get())
        .map_err(|error| unsupported(&format!("`writeConcern`: {error}")))?;
    concern.remove("j");
    Ok(serde_json::Value::from(concern).to_string())
}

fn unsupported(reason: &str) -> DriverError {
    DriverError::Unsupported(format!(
        "a statement is one JSON object with `command`, and `rows` for an answer that is asked for: {reason}"
    ))
}

#[cfg(test)]
mod tests {
    use jsonathlon_driver_api::codecs::json_rows::Tree;

    use super::super::bson::Bson;
    use super::*;

    fn to_json(body: &[u8]) -> String {
        Bson::read(body).unwrap().json()
    }

    fn encode_with(template: &Template, parameters: &[Parameter<'_>]) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        template.write(parameters, &mut body).map(|()| body)
    }

    #[test]
    fn commands_keep_the_order_of_their_members_and_name_the_database() {
        let text = r#"{"database": "admin", "command": {"z": 1, "a": {"y": 1, "b": -1}, "$c": [1.5, null]}}"#;
        let command = Statement::read(text).unwrap().command("bench").unwrap();
        assert_eq!(command.database, "admin");
        assert_eq!(to_json(&command.body), r#"{"z":1,"a":{"y":1,"b":-1},"$c":[1.5,null],"$db":"admin"}"#);
        let explained = format!(r#"{{"explain": {}}}"#, r#"{"command": {"count": "t"}}"#);
        let command = Statement::read(&explained).unwrap().command("bench").unwrap();
        assert!(command.is_explained);
        assert_eq!(
            to_json(&command.body),
            r#"{"explain":{"count":"t"},"verbosity":"queryPlanner","$db":"bench"}"#
        );
    }

    #[test]
    fn values_are_put_in_place_as_values_and_never_as_text_of_a_command() {
        let text = r#"{"command": {"find": "t", "filter": {"a": ":1", "b": {"$in": [":2", ":3"]}, "c": ":x"},
            "limit": ":4"}}"#;
        let template = Template::read(text, "bench").unwrap();
        let parameters = [
            Parameter::Text("\"}, \"$where\": \"1"),
            Parameter::Int(1 << 40),
            Parameter::Json(r#"{"z": [1.5, null]}"#),
            Parameter::Int(7),
        ];
        assert_eq!(
            to_json(&encode_with(&template, &parameters).unwrap()),
            r#"{"find":"t","filter":{"a":"\"}, \"$where\": \"1","b":{"$in":[1099511627776,{"z":[1.5,null]}]},"c":":x"},"limit":7,"$db":"bench"}"#
        );
        let error = encode_with(&template, &parameters[..3]).unwrap_err().to_string();
        assert!(error.contains(":4") && error.contains("3 are given"), "{error}");
        let json_error = encode_with(&template, &[Parameter::Json("{"); 4]).unwrap_err().to_string();
        assert!(json_error.contains("not JSON"), "{json_error}");
    }

    #[test]
    fn a_command_with_values_is_the_one_that_is_written_with_them() {
        let text = r#"{"command": {"a": ":1", "b": {"c": [":2", {"d": ":3"}, {"e": 1}], "f": {"g": "x"}},
            "h": [[":4"], [":4", ":5"]], "i": {"j": {"k": ":6"}, "l": ":1"}, "m": {"n": ":2"}, "o": ":3"}}"#;
        let template = Template::read(text, "bench").unwrap();
        let long = "long ".repeat(100);
        let values = [
            (Parameter::Text(&long), format!("\"{long}\"")),
            (Parameter::Null, "null".to_owned()),
            (Parameter::Bool(true), "true".to_owned()),
            (Parameter::Int(-3), "-3".to_owned()),
            (Parameter::Float(0.5), "0.5".to_owned()),
            (Parameter::Json("[1, {\"z\": \":1\"}]"), r#"[1, {"z": ":1"}]"#.to_owned()),
        ];
        for rotation in 0..values.len() {
            let mut values = values.clone();
            values.rotate_left(rotation);
            let mut literal_text = text.to_owned();
            // Markers are replaced in ascending order, except that JSON is put in last, because its data
            // contains a marker that must stay.
            let mut order: Vec<usize> = (0..values.len()).collect();
            order.sort_by_key(|index| matches!(values[*index].0, Parameter::Json(_)));
            for index in order {
                literal_text = literal_text.replace(&format!("\":{}\"", index + 1), &values[index].1);
            }
            let parameters: Vec<Parameter<'_>> = values.iter().map(|(parameter, _)| *parameter).collect();
            let body = encode_with(&template, &parameters).unwrap();
            let command = Statement::read(&literal_text).unwrap().command("bench").unwrap();
            assert_eq!(body, command.body, "{rotation}");
        }
    }

    #[test]
    fn the_documents_of_a_load_go_beside_it_and_only_the_last_waits_for_the_journal() {
        let text = r#"{"command": {"insert": "t", "documents": [":doc"], "ordered": false,
                       "writeConcern": {"w": 1, "j": true}}}"#;
        let insert = Statement::read(text).unwrap().insert("bench").unwrap();
        assert_eq!(insert.list, "documents");
        assert_eq!(
            to_json(&insert.last_batch),
            r#"{"insert":"t","ordered":false,"writeConcern":{"w":1,"j":true},"$db":"bench"}"#
        );
        assert_eq!(
            to_json(&insert.earlier_batches),
            r#"{"insert":"t","ordered":false,"writeConcern":{"w":1},"$db":"bench"}"#
        );
    }

    #[test]
    fn what_is_no_statement_is_said() {
        for (text, expected) in [
            ("SELECT 1", "one JSON object"),
            ("{}", "one of `command` and `explain`"),
            (r#"{"command": {}, "row": {}}"#, "unknown field `row`"),
            (r#"{"command": {"a": 1}} {"command": {"b": 1}}"#, "trailing characters"),
            (r#"{"explain": {"explain": {"command": {"a": 1}}}}"#, "holds no statement"),
            (r#"{"command": {"a": 1e400}}"#, "`a`: the number"),
        ] {
            let error = Statement::read(text)
                .and_then(|statement| statement.command("bench"))
                .unwrap_err()
                .to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        for text in [r#"{"command": {"insert": "t"}}"#, r#"{"command": {"insert": "t", "documents": [1]}}"#] {
            let error = Statement::read(text).unwrap().insert("bench").unwrap_err().to_string();
            assert!(error.contains(":doc"), "{text}: {error}");
        }
    }
}
