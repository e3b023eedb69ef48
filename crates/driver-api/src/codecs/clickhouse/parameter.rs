//! Encodes parameter values, which ClickHouse receives beside the statement and parses as the placeholder's
//! type.

use crate::prepared::Parameter;

/// Encodes a parameter value as text with the escapes of tab-separated values. NULL is `\N`.
pub fn text(parameter: &Parameter<'_>) -> String {
    match *parameter {
        Parameter::Null => "\\N".to_owned(),
        Parameter::Bool(truth) => truth.to_string(),
        Parameter::Int(number) => number.to_string(),
        Parameter::Float(number) => number.to_string(),
        Parameter::Text(text) | Parameter::Json(text) => escape(text),
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            character => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_null_is_none_of_them() {
        assert_eq!(text(&Parameter::Null), "\\N");
        assert_eq!(text(&Parameter::Text("\\N")), "\\\\N");
        assert_eq!(text(&Parameter::Text("a\tb\nc'd")), "a\\tb\\nc'd");
        assert_eq!(text(&Parameter::Float(0.1)), "0.1");
    }
}
