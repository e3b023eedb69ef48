//! Statements as a system's folder writes them: one JSON object with the `command`.

use std::sync::Arc;

use jsonathlon_connection::driver::{DriverError, Result};
use jsonathlon_connection::prepared::Parameter;
use jsonathlon_formats::json_rows::{Mapping, Members};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::encode;

/// A statement.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Statement<'a> {
    #[serde(borrow)]
    command: Option<Members<'a>>,
    /// The database when it is not the session's.
    database: Option<String>,
    pub(super) rows: Option<Mapping>,
    /// A statement that is to be explained instead of run.
    #[serde(borrow)]
    explain: Option<Box<Statement<'a>>>,
}

/// A command as it is sent.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) database: String,
    pub(super) body: Vec<u8>,
    /// The answer is a plan.
    pub(super) is_explained: bool,
}

/// An insert whose documents are sent beside it.
#[derive(Debug)]
pub(super) struct Insert {
    /// The list that the documents are.
    pub(super) list: String,
    /// As the statement has it.
    pub(super) last: Vec<u8>,
    /// The same, without waiting for the journal.
    pub(super) others: Vec<u8>,
}

/// A command that was read once, and is sent with other values each time.
#[derive(Debug)]
pub(super) struct Template {
    pub(super) database: String,
    /// Names, and values as they are written.
    members: Vec<(String, String)>,
    pub(super) rows: Option<Arc<Mapping>>,
}

impl Template {
    pub(super) fn read(text: &str, database: &str) -> Result<Self> {
        let statement = Statement::read(text)?;
        let Some(Members(members)) = &statement.command else {
            return Err(unfit("a statement that is prepared has a `command`"));
        };
        // As it stands it is a command, too: what cannot be one is told now.
        statement.command(database)?;
        let members = members.iter().map(|(name, value)| (name.clone(), value.get().to_owned())).collect();
        let database = statement.database.as_deref().unwrap_or(database).to_owned();
        Ok(Self { database, members, rows: statement.rows.map(Arc::new) })
    }

    /// Appends the command with values in place of the strings `":1"`, `":2"` and so on.
    pub(super) fn write(&self, parameters: &[Parameter<'_>], out: &mut Vec<u8>) -> Result<()> {
        let start = encode::open(out);
        for (name, value) in &self.members {
            encode::element_with(name, value, parameters, out).map_err(DriverError::Refused)?;
        }
        finish(start, &self.database, out)
    }
}

impl<'a> Statement<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| unfit(&error.to_string()))
    }

    /// The command of it.
    pub(super) fn command(&self, database: &str) -> Result<Command> {
        let mut body = Vec::new();
        let start = encode::open(&mut body);
        let (members, own, is_explained) = match (&self.command, &self.explain) {
            (Some(members), None) => (members, self.database.as_deref(), false),
            (None, Some(explained)) => {
                let Some(members) = &explained.command else {
                    return Err(unfit("`explain` holds no statement with a `command`"));
                };
                (members, explained.database.as_deref(), true)
            }
            _ => return Err(unfit("it has one of `command` and `explain`")),
        };
        if is_explained {
            let mut text = Vec::new();
            let inner = encode::open(&mut text);
            append_all(members, &mut text)?;
            encode::close(inner, &mut text).map_err(|why| unfit(&why))?;
            body.extend_from_slice(b"\x03explain\0");
            body.extend_from_slice(&text);
            append("verbosity", "\"queryPlanner\"", &mut body)?;
        } else {
            append_all(members, &mut body)?;
        }
        let database = own.unwrap_or(database).to_owned();
        finish(start, &database, &mut body)?;
        Ok(Command { database, body, is_explained })
    }

    /// The insert of it, if it has a list of `":doc"`.
    pub(super) fn insert(&self, database: &str) -> Result<Insert> {
        let Some(Members(members)) = &self.command else {
            return Err(unfit("a statement that loads has a `command`"));
        };
        let of_documents = |raw: &RawValue| {
            serde_json::from_str::<[&str; 1]>(raw.get()).is_ok_and(|elements| elements == [":doc"])
        };
        let Some((list, _)) = members.iter().find(|(_, value)| of_documents(value)) else {
            return Err(unfit("a statement that loads has the list [\":doc\"] in its command"));
        };
        let database = self.database.as_deref().unwrap_or(database);
        let body = |waiting: bool| -> Result<Vec<u8>> {
            let mut body = Vec::new();
            let start = encode::open(&mut body);
            for (name, value) in members.iter().filter(|(name, _)| name != list) {
                if name == "writeConcern" && !waiting {
                    append(name, &without_journal(value)?, &mut body)?;
                } else {
                    append(name, value.get(), &mut body)?;
                }
            }
            finish(start, database, &mut body)?;
            Ok(body)
        };
        Ok(Insert { list: list.clone(), last: body(true)?, others: body(false)? })
    }
}

fn append_all(Members(members): &Members<'_>, out: &mut Vec<u8>) -> Result<()> {
    members.iter().try_for_each(|(name, value)| append(name, value.get(), out))
}

fn append(name: &str, value: &str, out: &mut Vec<u8>) -> Result<()> {
    encode::element(name, value, out).map_err(|why| unfit(&format!("`{name}`: {why}")))
}

/// Names the database, and ends the command.
fn finish(start: usize, database: &str, out: &mut Vec<u8>) -> Result<()> {
    append("$db", &serde_json::Value::from(database).to_string(), out)?;
    encode::close(start, out).map_err(|why| unfit(&why))
}

fn without_journal(concern: &RawValue) -> Result<String> {
    let mut concern: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(concern.get()).map_err(|error| unfit(&format!("`writeConcern`: {error}")))?;
    concern.remove("j");
    Ok(serde_json::Value::from(concern).to_string())
}

fn unfit(why: &str) -> DriverError {
    DriverError::Unsupported(format!(
        "a statement is one JSON object with `command`, and `rows` for an answer that is asked for: {why}"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bson::Bson;
    use super::*;
    use jsonathlon_formats::json_rows::Tree;

    fn shown(body: &[u8]) -> String {
        Bson::read(body).unwrap().json()
    }

    fn written(template: &Template, parameters: &[Parameter<'_>]) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        template.write(parameters, &mut body).map(|()| body)
    }

    #[test]
    fn commands_keep_the_order_of_their_members_and_name_the_database() {
        let text = r#"{"database": "admin", "command": {"z": 1, "a": {"y": 1, "b": -1}, "$c": [1.5, null]}}"#;
        let command = Statement::read(text).unwrap().command("bench").unwrap();
        assert_eq!(command.database, "admin");
        assert_eq!(shown(&command.body), r#"{"z":1,"a":{"y":1,"b":-1},"$c":[1.5,null],"$db":"admin"}"#);
        let explained = format!(r#"{{"explain": {}}}"#, r#"{"command": {"count": "t"}}"#);
        let command = Statement::read(&explained).unwrap().command("bench").unwrap();
        assert!(command.is_explained);
        assert_eq!(
            shown(&command.body),
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
            shown(&written(&template, &parameters).unwrap()),
            r#"{"find":"t","filter":{"a":"\"}, \"$where\": \"1","b":{"$in":[1099511627776,{"z":[1.5,null]}]},"c":":x"},"limit":7,"$db":"bench"}"#
        );
        let error = written(&template, &parameters[..3]).unwrap_err().to_string();
        assert!(error.contains(":4") && error.contains("3 are given"), "{error}");
        let wrong = written(&template, &[Parameter::Json("{"); 4]).unwrap_err().to_string();
        assert!(wrong.contains("not JSON"), "{wrong}");
    }

    #[test]
    fn the_documents_of_a_load_go_beside_it_and_only_the_last_waits_for_the_journal() {
        let text = r#"{"command": {"insert": "t", "documents": [":doc"], "ordered": false,
                       "writeConcern": {"w": 1, "j": true}}}"#;
        let insert = Statement::read(text).unwrap().insert("bench").unwrap();
        assert_eq!(insert.list, "documents");
        assert_eq!(
            shown(&insert.last),
            r#"{"insert":"t","ordered":false,"writeConcern":{"w":1,"j":true},"$db":"bench"}"#
        );
        assert_eq!(
            shown(&insert.others),
            r#"{"insert":"t","ordered":false,"writeConcern":{"w":1},"$db":"bench"}"#
        );
    }

    #[test]
    fn what_is_no_statement_is_said() {
        for (text, words) in [
            ("SELECT 1", "one JSON object"),
            ("{}", "one of `command` and `explain`"),
            (r#"{"command": {}, "row": {}}"#, "unknown field `row`"),
            (r#"{"command": {"a": 1}} {"command": {"b": 1}}"#, "trailing characters"),
            (r#"{"explain": {"explain": {"command": {"a": 1}}}}"#, "holds no statement"),
            (r#"{"command": {"a": 99999999999999999999}}"#, "`a`: the integer"),
        ] {
            let error = Statement::read(text)
                .and_then(|statement| statement.command("bench"))
                .unwrap_err()
                .to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        for text in [r#"{"command": {"insert": "t"}}"#, r#"{"command": {"insert": "t", "documents": [1]}}"#] {
            let error = Statement::read(text).unwrap().insert("bench").unwrap_err().to_string();
            assert!(error.contains(":doc"), "{text}: {error}");
        }
    }
}
