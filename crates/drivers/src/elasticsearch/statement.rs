//! Statements: HTTP requests, written as JSON.

use jsonathlon_driver_api::codecs::json_rows::Mapping;
use jsonathlon_driver_api::driver::{DriverError, Result};
use jsonathlon_driver_api::prepared::{Parameter, parameter_at, placeholder};
use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;

/// Request, or a search that is to be explained instead.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Statement {
    method: Option<String>,
    path: Option<String>,
    /// Body, sent with the bytes of its source text.
    body: Option<Box<RawValue>>,
    /// Body or lines with their parameters in place, sent instead of `body` or `lines`. Documents in it are
    /// not parsed here, so that they are sent as they are, and the server decides whether they are valid.
    #[serde(skip)]
    filled: Option<String>,
    /// Body of several JSON values, sent as one line each. Excludes `body`.
    pub(super) lines: Option<Vec<Json>>,
    /// Mapping of the answer to rows. If `None`, the answer shows only that the request succeeded.
    pub(super) rows: Option<Mapping>,
    pub(super) explain: Option<Box<Statement>>,
}

impl Statement {
    pub(super) fn read(text: &str) -> Result<Self> {
        serde_json::from_str(text)
            .map_err(|error| unsupported(format!("a statement is one JSON object of a request: {error}")))
    }

    /// Returns method and path of the request.
    pub(super) fn target(&self) -> Result<(&str, &str)> {
        match (&self.method, &self.path, &self.explain) {
            (Some(method), Some(path), None) if path.starts_with('/') => Ok((method, path)),
            _ => Err(unsupported("a request has `method` and `path`, which starts with `/`".into())),
        }
    }

    /// Returns the bytes of the request's body. `None` for a request without a body.
    pub(super) fn content(&self) -> Result<Option<Vec<u8>>> {
        if let Some(filled) = &self.filled {
            return Ok(Some(filled.as_bytes().to_vec()));
        }
        self.check_body()?;
        match (&self.body, &self.lines) {
            (None, None) => Ok(None),
            (Some(body), _) => Ok(Some(body.get().as_bytes().to_vec())),
            (None, Some(lines)) => {
                let lines = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
                Ok(Some(lines.into_bytes()))
            }
        }
    }

    fn check_body(&self) -> Result<()> {
        match (&self.body, &self.lines) {
            (Some(_), Some(_)) => Err(unsupported("a request has `body` or `lines`, not both".into())),
            _ => Ok(()),
        }
    }

    /// Returns this search with profiling enabled and without a row mapping.
    pub(super) fn profiled(&self) -> Result<Self> {
        let mut body: Json = match &self.body {
            Some(body) => serde_json::from_str(body.get()).map_err(|error| unsupported(error.to_string()))?,
            None => Json::Object(serde_json::Map::new()),
        };
        let (_, path) = self.target()?;
        let is_search = path.split('?').next().is_some_and(|path| path.ends_with("/_search"));
        match body.as_object_mut() {
            Some(body) if is_search => body.insert("profile".into(), true.into()),
            _ => return Err(unsupported(format!("only a search can be explained, not {path}"))),
        };
        let body = serde_json::value::to_raw_value(&body).map_err(|error| unsupported(error.to_string()))?;
        Ok(Self { body: Some(body), rows: None, ..self.clone() })
    }
}

/// Request that is parsed once and sent with other values each time.
#[derive(Debug)]
pub(super) struct Template {
    statement: Statement,
    body: Option<Json>,
}

impl Template {
    pub(super) fn read(text: &str) -> Result<Self> {
        let statement = Statement::read(text)?;
        statement.target()?;
        statement.check_body()?;
        let body = statement.body.as_ref().map(|body| serde_json::from_str(body.get()));
        let body = body.transpose().map_err(|error| unsupported(error.to_string()))?;
        Ok(Self { statement, body })
    }

    /// Returns the request with `parameters` in place of its placeholders. Body and lines get them as JSON
    /// values, the path as text that is encoded so that it cannot change the path's structure.
    pub(super) fn filled(&self, parameters: &[Parameter<'_>]) -> Result<Statement> {
        let mut statement = self.statement.clone();
        if let Some(body) = &self.body {
            let mut filled = String::new();
            write_filled(body, parameters, &mut filled)?;
            statement.filled = Some(filled);
        }
        if let Some(lines) = &self.statement.lines {
            let mut filled = String::new();
            lines.iter().try_for_each(|line| write_line(line, parameters, &mut filled))?;
            statement.filled = Some(filled);
        }
        if let Some(path) = &mut statement.path {
            *path = fill_path(path, parameters)?;
        }
        Ok(statement)
    }
}

/// Appends a value with its placeholders replaced by parameters. Documents are appended as they are written.
fn write_filled(json: &Json, parameters: &[Parameter<'_>], out: &mut String) -> Result<()> {
    match json {
        Json::String(text) => match placeholder(text) {
            Some(index) => write_parameter(parameter_at(index, parameters)?, out)?,
            None => out.push_str(&json.to_string()),
        },
        Json::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_filled(element, parameters, out)?;
            }
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (index, (name, value)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Json::from(name.as_str()).to_string());
                out.push(':');
                write_filled(value, parameters, out)?;
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
    Ok(())
}

/// Appends one line of a body of lines.
fn write_line(line: &Json, parameters: &[Parameter<'_>], out: &mut String) -> Result<()> {
    let start = out.len();
    write_filled(line, parameters, out)?;
    if out[start..].contains(['\n', '\r']) {
        let line = out.split_off(start);
        // Line breaks of JSON stand between its values, where a blank means the same.
        serde_json::from_str::<serde::de::IgnoredAny>(&line)
            .map_err(|error| DriverError::Refused(format!("a parameter is not JSON: {error}")))?;
        out.push_str(&line.replace(['\n', '\r'], " "));
    }
    out.push('\n');
    Ok(())
}

fn write_parameter(parameter: &Parameter<'_>, out: &mut String) -> Result<()> {
    match parameter {
        Parameter::Json(text) => out.push_str(text),
        other => out.push_str(&to_json(other)?.to_string()),
    }
    Ok(())
}

fn to_json(parameter: &Parameter<'_>) -> Result<Json> {
    Ok(match *parameter {
        Parameter::Null => Json::Null,
        Parameter::Bool(truth) => truth.into(),
        Parameter::Int(number) => number.into(),
        Parameter::Float(number) => number.into(),
        Parameter::Text(text) => text.into(),
        Parameter::Json(text) => serde_json::from_str(text)
            .map_err(|error| DriverError::Refused(format!("a parameter is not JSON: {error}")))?,
    })
}

/// Replaces placeholders in a path, which must stand alone between its separators.
fn fill_path(path: &str, parameters: &[Parameter<'_>]) -> Result<String> {
    let mut out = String::with_capacity(path.len());
    for part in path.split_inclusive(['/', '?', '&', '=']) {
        let name = part.trim_end_matches(['/', '?', '&', '=']);
        match placeholder(name) {
            None => out.push_str(part),
            Some(index) => {
                let value = match to_json(parameter_at(index, parameters)?)? {
                    Json::String(text) => text,
                    other => other.to_string(),
                };
                for byte in value.bytes() {
                    if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
                        out.push(char::from(byte));
                    } else {
                        out += &format!("%{byte:02X}");
                    }
                }
                out.push_str(&part[name.len()..]);
            }
        }
    }
    Ok(out)
}

pub(super) fn unsupported(message: String) -> DriverError {
    DriverError::Unsupported(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_sent_as_it_is_written_and_lines_one_by_one() {
        let statement =
            Statement::read(r#"{"method": "POST", "path": "/t/_search", "body": {"b": 1.0,  "a": {}}}"#);
        assert_eq!(statement.unwrap().content().unwrap().unwrap(), br#"{"b": 1.0,  "a": {}}"#);
        let lines =
            Statement::read(r#"{"method": "POST", "path": "/_bulk", "lines": [{"a": {}}, {"b": 1}]}"#);
        assert_eq!(lines.unwrap().content().unwrap().unwrap(), b"{\"a\":{}}\n{\"b\":1}\n");
        let without_body = Statement::read(r#"{"method": "GET", "path": "/"}"#).unwrap();
        assert!(without_body.content().unwrap().is_none());
    }

    #[test]
    fn values_are_put_in_place_as_values_and_never_as_text_of_a_request() {
        let text = r#"{"method": "POST", "path": "/t/_doc/:1?routing=:2", "body": {"a": ":2", "b": [":3"], "c": ":x"}}"#;
        let template = Template::read(text).unwrap();
        let parameters =
            [Parameter::Text("a/../b?x=1"), Parameter::Text("\",\"d\":\"e"), Parameter::Json(r#"{"z": 1}"#)];
        let statement = template.filled(&parameters).unwrap();
        let path = "/t/_doc/a%2F..%2Fb%3Fx%3D1?routing=%22%2C%22d%22%3A%22e";
        assert_eq!(statement.target().unwrap(), ("POST", path));
        let body: Json = serde_json::from_slice(&statement.content().unwrap().unwrap()).unwrap();
        assert_eq!(body, serde_json::json!({"a": "\",\"d\":\"e", "b": [{"z": 1}], "c": ":x"}));
        let error = template.filled(&parameters[..2]).unwrap_err().to_string();
        assert!(error.contains(":3") && error.contains("2 are given"), "{error}");
    }

    #[test]
    fn a_body_that_is_a_document_is_sent_byte_by_byte() {
        let text = r#"{"method": "PUT", "path": "/t/_doc/1", "body": ":1"}"#;
        let template = Template::read(text).unwrap();
        for document in [r#"{"a": 1.0,  "a": 1e400}"#, "{", "\"\\ud800\"", ""] {
            let statement = template.filled(&[Parameter::Json(document)]).unwrap();
            assert_eq!(statement.content().unwrap().unwrap(), document.as_bytes());
        }
        let statement = template.filled(&[Parameter::Text("a\"")]).unwrap();
        assert_eq!(statement.content().unwrap().unwrap(), br#""a\"""#);
    }

    #[test]
    fn documents_within_a_request_are_sent_as_they_are() {
        let document = r#"{"n": 12345678901234567890123,  "f": 1.10, "a": 1, "a": 2}"#;
        let text = r#"{"method": "POST", "path": "/_bulk", "lines": [{"create": {"_id": ":1"}}, ":2"]}"#;
        let template = Template::read(text).unwrap();
        let lines = |key: Parameter<'_>, document: &str| {
            let statement = template.filled(&[key, Parameter::Json(document)])?;
            Ok::<String, DriverError>(String::from_utf8(statement.content()?.unwrap()).unwrap())
        };
        let sent = lines(Parameter::Text("k\"1"), document).unwrap();
        assert_eq!(sent, format!("{{\"create\":{{\"_id\":\"k\\\"1\"}}}}\n{document}\n"));
        // Line breaks would end the document.
        let sent = lines(Parameter::Int(7), "{\n\"a\":\r\n\"x\\ny\"}").unwrap();
        assert_eq!(sent, "{\"create\":{\"_id\":7}}\n{ \"a\":  \"x\\ny\"}\n");
        assert!(lines(Parameter::Int(7), "{\"a\":\"x\ny\"}").is_err(), "a text with a line break is no JSON");
        let text = r#"{"method": "POST", "path": "/t/_update/1", "body": {"doc": ":1", "x": [true, ":2"]}}"#;
        let statement = Template::read(text).unwrap().filled(&[Parameter::Json(document), Parameter::Null]);
        let content = statement.unwrap().content().unwrap().unwrap();
        assert_eq!(String::from_utf8(content).unwrap(), format!("{{\"doc\":{document},\"x\":[true,null]}}"));
    }

    #[test]
    fn what_is_no_request_is_refused_with_the_reason() {
        for (text, expected) in
            [("SELECT 1", "one JSON object"), (r#"{"method": "GET", "paht": "/"}"#, "paht")]
        {
            let error = Statement::read(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        for text in [r#"{"method": "GET"}"#, r#"{"method": "GET", "path": "x"}"#] {
            assert!(Statement::read(text).unwrap().target().is_err(), "{text}");
        }
        let both = Statement::read(r#"{"method": "GET", "path": "/", "body": {}, "lines": []}"#).unwrap();
        assert!(both.content().is_err());
        assert!(Template::read(r#"{"method": "GET", "path": "/", "body": {}, "lines": []}"#).is_err());
    }

    #[test]
    fn a_search_is_asked_to_tell_how_it_was_done_and_nothing_else_is() {
        let plan = r#"{"explain": {"method": "POST", "path": "/t/_search?x=1", "body": {"size": 0}}}"#;
        let explained = Statement::read(plan).unwrap().explain.unwrap().profiled().unwrap();
        let content = explained.content().unwrap().unwrap();
        assert_eq!(content, br#"{"profile":true,"size":0}"#);
        let count = Statement::read(r#"{"method": "GET", "path": "/t/_count"}"#).unwrap();
        assert!(count.profiled().is_err());
    }
}
