//! Findings about what a system did with a document.

use jsonathlon_catalogue::ExtractedForm;
use jsonathlon_dataset::fidelity::{self, Case, MEMBER, RoundTrip, display_bytes};
use jsonathlon_schema::finding_state::FindingState;
use jsonathlon_schema::{
    record::{Failure, FailureKind, Finding},
    value::Value,
};

/// Maximum length of a stored error message in bytes.
const MAX_MESSAGE_BYTES: usize = 500;
/// Maximum length of the stored text of a returned document in bytes.
const MAX_DOCUMENT_BYTES: usize = 300;

/// Returns `true` if the finding says that the document was not accepted, or is not there. A stored document
/// that cannot be read counts as accepted.
pub(super) fn is_not_stored(finding: &Finding) -> bool {
    matches!(
        finding.state,
        FindingState::Rejected
            | FindingState::Crashed
            | FindingState::Hung
            | FindingState::NothingReturned
            | FindingState::NotSent
    )
}

/// Shortens a system's error message to [`MAX_MESSAGE_BYTES`], because some systems repeat the document.
pub(super) fn shorten_message(text: &str) -> String {
    if text.len() <= MAX_MESSAGE_BYTES {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(MAX_MESSAGE_BYTES);
    format!("{}…", text.get(..end).unwrap_or_default())
}

/// Finding about an engine that crashed or hung.
pub(super) fn engine_failure_finding(subject: &str, failure: &Failure) -> Finding {
    let state = if failure.kind == FailureKind::Timeout { FindingState::Hung } else { FindingState::Crashed };
    message_finding(subject, state, &failure.error)
}

/// Finding with a state and an error message of the system or the client.
pub(super) fn message_finding(subject: &str, state: FindingState, message: &str) -> Finding {
    Finding { message: Some(shorten_message(message)), ..Finding::new(subject, state) }
}

/// Finding about a value that cannot be read back.
pub(super) fn unreadable_finding(subject: &str, message: &str) -> Finding {
    message_finding(subject, FindingState::Unreadable, message)
}

/// Finding about a document that was read back as a whole; with `hex` it is encoded as hexadecimal digits.
pub(super) fn document_finding(subject: &str, case: &Case, rows: &[Option<Value>], hex: bool) -> Finding {
    let [cell] = rows else { return count_finding(subject, rows.len()) };
    let bytes = match cell {
        Some(Value::Text(text)) if hex => match decode_hex(text) {
            Some(bytes) => bytes,
            None => return unreadable_finding(subject, "what should be hexadecimal digits is none"),
        },
        Some(Value::Text(text)) => text.as_bytes().to_vec(),
        None | Some(Value::Null) => return Finding::new(subject, FindingState::NothingReturned),
        Some(value) => return unreadable_finding(subject, &format!("a document is text, not {value:?}")),
    };
    round_trip_finding(subject, &fidelity::compare_document(&case.bytes, &bytes), &bytes)
}

/// Finding about the value of a member, returned in the given form.
pub(super) fn value_finding(
    subject: &str,
    case: &Case,
    rows: &[Option<Value>],
    form: ExtractedForm,
) -> Finding {
    let [cell] = rows else { return count_finding(subject, rows.len()) };
    let cell = cell.clone().unwrap_or(Value::Null);
    let text = match &cell {
        Value::Text(text) => text.clone(),
        Value::Null => "NULL".to_owned(),
        Value::Bool(boolean) => boolean.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
    };
    let round_trip = match (form, &cell) {
        // NULL stands for null; for any other value, NULL means that nothing was returned.
        (_, Value::Null) => {
            fidelity::compare_cell(&case.bytes, MEMBER, &cell).filter(RoundTrip::is_same_value)
        }
        (ExtractedForm::Value, cell) => fidelity::compare_cell(&case.bytes, MEMBER, cell),
        (ExtractedForm::Json, Value::Text(text)) => {
            fidelity::compare_value(&case.bytes, MEMBER, text.as_bytes())
        }
        (ExtractedForm::Member, Value::Text(text)) => {
            fidelity::compare_wrapped_value(&case.bytes, MEMBER, text.as_bytes())
        }
        (ExtractedForm::Json | ExtractedForm::Member, _) => None,
    };
    match round_trip {
        Some(round_trip) => round_trip_finding(subject, &round_trip, text.as_bytes()),
        None => {
            let observed = Some(display_bytes(text.as_bytes(), MAX_DOCUMENT_BYTES));
            Finding { observed, ..Finding::new(subject, FindingState::NothingReturned) }
        }
    }
}

/// Finding about a table that was given one document and returned none or several rows.
fn count_finding(subject: &str, rows: usize) -> Finding {
    match rows {
        0 => Finding::new(subject, FindingState::NothingReturned),
        rows => Finding {
            kinds: vec![fidelity::ChangeKind::Addition.word().to_owned()],
            observed: Some(format!("{rows} documents")),
            ..Finding::new(subject, FindingState::Changed)
        },
    }
}

fn round_trip_finding(subject: &str, round_trip: &RoundTrip, returned: &[u8]) -> Finding {
    let state = match round_trip {
        RoundTrip::Bytes => FindingState::SameBytes,
        RoundTrip::Value(_) => FindingState::SameValue,
        RoundTrip::Changed(_) => FindingState::Changed,
    };
    let kinds = round_trip.kinds().into_iter().map(|kind| kind.word().to_owned()).collect();
    // Equal bytes need not be stored again.
    let observed = (*round_trip != RoundTrip::Bytes).then(|| display_bytes(returned, MAX_DOCUMENT_BYTES));
    Finding { kinds, observed, ..Finding::new(subject, state) }
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let pairs = digits.chunks(2).map(|pair| match pair {
        [_, _] => u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok(),
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::settings::fidelity::RfcRequirement;

    use super::*;

    fn case(bytes: &[u8]) -> Case {
        let [name, source, probes] = ["x", "RFC 8259", "something"].map(str::to_owned);
        Case { name, requirement: RfcRequirement::Accept, source, probes, bytes: bytes.to_vec() }
    }

    fn text(text: &str) -> Option<Value> {
        Some(Value::Text(text.to_owned()))
    }

    #[test]
    fn rows_of_a_document_are_a_state() {
        let case = case(br#"{"v":1.0,"w":null}"#);
        let describe =
            |rows: &[Option<Value>]| document_finding("bulk, whole", &case, rows, false).describe();
        assert_eq!(describe(&[text(r#"{"v":1.0,"w":null}"#)]), "same bytes");
        assert_eq!(describe(&[text(r#"{"w":null,"v":1}"#)]), "same value: key order, number form");
        assert_eq!(describe(&[text(r#"{"v":1.0}"#)]), "changed: null members");
        assert_eq!(describe(&[]), "nothing returned");
        assert_eq!(describe(&[Some(Value::Null)]), "nothing returned");
        assert_eq!(describe(&[text("{}"), text("{}")]), "changed: addition");
        assert_eq!(describe(&[Some(Value::Int(1))]), "unreadable");
    }

    #[test]
    fn documents_that_are_no_text_come_as_digits() {
        let case = case(b"\"\xff\"");
        let describe =
            |digits: &str| document_finding("bulk, whole", &case, &[text(digits)], true).describe();
        assert_eq!(describe("22FF22"), "same bytes");
        assert_eq!(describe("22EFBFBD22"), "changed: repair");
        assert_eq!(describe("2"), "unreadable");
        assert_eq!(describe("xx"), "unreadable");
    }

    #[test]
    fn values_are_told_in_the_form_in_which_they_come() {
        let case = case(br#"{"v":[1.0]}"#);
        let describe = |form, cell| value_finding("bulk, value", &case, &[cell], form).describe();
        assert_eq!(describe(ExtractedForm::Value, text("[1.0]")), "same value");
        assert_eq!(describe(ExtractedForm::Json, text("[2.0]")), "changed: number value");
        assert_eq!(describe(ExtractedForm::Member, text(r#"{"v": [1.0]}"#)), "same value");
        assert_eq!(describe(ExtractedForm::Member, text("{}")), "changed: loss");
        for form in [ExtractedForm::Value, ExtractedForm::Json, ExtractedForm::Member] {
            assert_eq!(describe(form, Some(Value::Null)), "nothing returned");
        }
        let null = [Some(Value::Null)];
        assert_eq!(
            value_finding("bulk, value", &self::case(br#"{"v":null}"#), &null, ExtractedForm::Json)
                .describe(),
            "same value"
        );
    }

    #[test]
    fn long_words_are_cut_between_letters() {
        let long = "é".repeat(400);
        assert_eq!(shorten_message(&long).len(), 500 + '…'.len_utf8());
        assert_eq!(shorten_message("short"), "short");
    }
}
