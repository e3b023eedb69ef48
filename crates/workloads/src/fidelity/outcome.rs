//! Findings about what a system did with a document.

use jsonathlon_catalogue::Extracted;
use jsonathlon_dataset::fidelity::{self, Case, MEMBER, RoundTrip, shown};
use jsonathlon_schema::finding_state::FindingState;
use jsonathlon_schema::{
    record::{Failure, FailureKind, Finding},
    value::Value,
};

/// Maximum length of a stored error message in bytes.
const WORDS: usize = 500;
/// Maximum length of the stored text of a returned document in bytes.
const SEEN: usize = 300;

/// Returns `true` if the finding says that the document was not accepted, or is not there. A stored document
/// that cannot be read counts as accepted.
pub(super) fn is_against(finding: &Finding) -> bool {
    matches!(
        finding.state,
        FindingState::Refused
            | FindingState::Crashed
            | FindingState::Hung
            | FindingState::Lost
            | FindingState::Failed
    )
}

/// Shortens a system's error message to [`WORDS`] bytes, because some systems repeat the document.
pub(super) fn words(text: &str) -> String {
    if text.len() <= WORDS {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(WORDS);
    format!("{}…", text.get(..end).unwrap_or_default())
}

/// Finding about an engine that crashed or hung.
pub(super) fn of_end(of: &str, failure: &Failure) -> Finding {
    let state = if failure.kind == FailureKind::Timeout { FindingState::Hung } else { FindingState::Crashed };
    with_words(of, state, &failure.error)
}

/// Finding with a state and an error message of the system or the client.
pub(super) fn with_words(of: &str, state: FindingState, why: &str) -> Finding {
    Finding { words: Some(words(why)), ..Finding::new(of, state) }
}

/// Finding about a value that cannot be read back.
pub(super) fn unreadable(of: &str, why: &str) -> Finding {
    with_words(of, FindingState::Unreadable, why)
}

/// Finding about a document that was read back as a whole; with `hex` it is encoded as hexadecimal digits.
pub(super) fn of_whole(of: &str, case: &Case, rows: &[Option<Value>], hex: bool) -> Finding {
    let [cell] = rows else { return of_count(of, rows.len()) };
    let bytes = match cell {
        Some(Value::Text(text)) if hex => match bytes_of_digits(text) {
            Some(bytes) => bytes,
            None => return unreadable(of, "what should be hexadecimal digits is none"),
        },
        Some(Value::Text(text)) => text.as_bytes().to_vec(),
        None | Some(Value::Null) => return Finding::new(of, FindingState::Lost),
        Some(other) => return unreadable(of, &format!("a document is text, not {other:?}")),
    };
    retained(of, &fidelity::of_document(&case.bytes, &bytes), &bytes)
}

/// Finding about the value of a member, returned in the given form.
pub(super) fn of_value(of: &str, case: &Case, rows: &[Option<Value>], form: Extracted) -> Finding {
    let [cell] = rows else { return of_count(of, rows.len()) };
    let cell = cell.clone().unwrap_or(Value::Null);
    let text = match &cell {
        Value::Text(text) => text.clone(),
        Value::Null => "NULL".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
    };
    let found = match (form, &cell) {
        // NULL stands for null; for any other value, NULL means that nothing was returned.
        (_, Value::Null) => fidelity::of_cell(&case.bytes, MEMBER, &cell).filter(RoundTrip::is_same_value),
        (Extracted::Value, cell) => fidelity::of_cell(&case.bytes, MEMBER, cell),
        (Extracted::Json, Value::Text(text)) => fidelity::of_value(&case.bytes, MEMBER, text.as_bytes()),
        (Extracted::Member, Value::Text(text)) => fidelity::of_member(&case.bytes, MEMBER, text.as_bytes()),
        (Extracted::Json | Extracted::Member, _) => None,
    };
    match found {
        Some(found) => retained(of, &found, text.as_bytes()),
        None => Finding { seen: Some(shown(text.as_bytes(), SEEN)), ..Finding::new(of, FindingState::Lost) },
    }
}

/// Finding about a table that was given one document and returned none or several rows.
fn of_count(of: &str, rows: usize) -> Finding {
    match rows {
        0 => Finding::new(of, FindingState::Lost),
        rows => Finding {
            kinds: vec![fidelity::ChangeKind::Addition.word().to_owned()],
            seen: Some(format!("{rows} documents")),
            ..Finding::new(of, FindingState::Changed)
        },
    }
}

fn retained(of: &str, found: &RoundTrip, returned: &[u8]) -> Finding {
    let state = match found {
        RoundTrip::Bytes => FindingState::SameBytes,
        RoundTrip::Value(_) => FindingState::SameValue,
        RoundTrip::Changed(_) => FindingState::Changed,
    };
    let kinds = found.kinds().into_iter().map(|kind| kind.word().to_owned()).collect();
    // Equal bytes need not be stored again.
    let seen = (*found != RoundTrip::Bytes).then(|| shown(returned, SEEN));
    Finding { kinds, seen, ..Finding::new(of, state) }
}

fn bytes_of_digits(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let pairs = digits.chunks(2).map(|pair| match pair {
        [_, _] => u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok(),
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use jsonathlon_dataset::fidelity::RfcRequirement;

    use super::*;

    fn case(bytes: &[u8]) -> Case {
        let [name, source, probes] = ["x", "RFC 8259", "something"].map(str::to_owned);
        Case { name, must: RfcRequirement::Accept, source, probes, bytes: bytes.to_vec() }
    }

    fn text(text: &str) -> Option<Value> {
        Some(Value::Text(text.to_owned()))
    }

    #[test]
    fn rows_of_a_document_are_a_state() {
        let case = case(br#"{"v":1.0,"w":null}"#);
        let told = |rows: &[Option<Value>]| of_whole("bulk, whole", &case, rows, false).describe();
        assert_eq!(told(&[text(r#"{"v":1.0,"w":null}"#)]), "same bytes");
        assert_eq!(told(&[text(r#"{"w":null,"v":1}"#)]), "same value: key order, number form");
        assert_eq!(told(&[text(r#"{"v":1.0}"#)]), "changed: null members");
        assert_eq!(told(&[]), "lost");
        assert_eq!(told(&[Some(Value::Null)]), "lost");
        assert_eq!(told(&[text("{}"), text("{}")]), "changed: addition");
        assert_eq!(told(&[Some(Value::Int(1))]), "unreadable");
    }

    #[test]
    fn documents_that_are_no_text_come_as_digits() {
        let case = case(b"\"\xff\"");
        let told = |digits: &str| of_whole("bulk, whole", &case, &[text(digits)], true).describe();
        assert_eq!(told("22FF22"), "same bytes");
        assert_eq!(told("22EFBFBD22"), "changed: repair");
        assert_eq!(told("2"), "unreadable");
        assert_eq!(told("xx"), "unreadable");
    }

    #[test]
    fn values_are_told_in_the_form_in_which_they_come() {
        let case = case(br#"{"v":[1.0]}"#);
        let told = |form, cell| of_value("bulk, value", &case, &[cell], form).describe();
        assert_eq!(told(Extracted::Value, text("[1.0]")), "same value");
        assert_eq!(told(Extracted::Json, text("[2.0]")), "changed: number value");
        assert_eq!(told(Extracted::Member, text(r#"{"v": [1.0]}"#)), "same value");
        assert_eq!(told(Extracted::Member, text("{}")), "changed: loss");
        for form in [Extracted::Value, Extracted::Json, Extracted::Member] {
            assert_eq!(told(form, Some(Value::Null)), "lost");
        }
        let null = [Some(Value::Null)];
        assert_eq!(
            of_value("bulk, value", &self::case(br#"{"v":null}"#), &null, Extracted::Json).describe(),
            "same value"
        );
    }

    #[test]
    fn long_words_are_cut_between_letters() {
        let long = "é".repeat(400);
        assert_eq!(words(&long).len(), 500 + '…'.len_utf8());
        assert_eq!(words("short"), "short");
    }
}
