//! Estimates the size of the numbers that a sum adds up, if its question does not state a scale.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};

use jsonathlon_dataset::stage::StagedDocuments;
use serde_json::Value;

use crate::RunError;

/// Largest number in the clean documents that a number of opposite sign may cancel, among the keys that a
/// statement contains. A sum of such numbers can be much smaller than its rounding error. Returns 0 if no
/// numbers can cancel.
pub(super) fn largest(staged: &StagedDocuments, statements: &[&str]) -> Result<f64, RunError> {
    if staged.clean_documents == 0 {
        return Ok(0.0);
    }
    let failed = || RunError::io(format!("read {}", staged.clean_file.display()));
    let mut lines = BufReader::with_capacity(1 << 20, File::open(&staged.clean_file).map_err(failed())?);
    let (mut line, mut extremes) = (Vec::new(), Extremes::default());
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(failed())? == 0 {
            return Ok(extremes.largest(statements));
        }
        if let Ok(document) = serde_json::from_slice(&line) {
            extremes.visit("", &document);
        }
    }
}

/// Largest absolute value of the positive and of the negative numbers, by key.
#[derive(Debug, Default)]
struct Extremes(HashMap<String, [f64; 2]>);

impl Extremes {
    fn visit(&mut self, key: &str, value: &Value) {
        match value {
            Value::Number(number) => {
                let number = number.as_f64().filter(|number| number.is_finite()).unwrap_or_default();
                let pair = match self.0.get_mut(key) {
                    Some(pair) => pair,
                    None => self.0.entry(key.to_owned()).or_default(),
                };
                let [positive, negative] = pair;
                let side = if number < 0.0 { negative } else { positive };
                *side = side.max(number.abs());
            }
            Value::Array(elements) => elements.iter().for_each(|element| self.visit(key, element)),
            Value::Object(members) => members.iter().for_each(|(key, member)| self.visit(key, member)),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }

    fn largest(&self, statements: &[&str]) -> f64 {
        let is_named = |key: &str| !key.is_empty() && statements.iter().any(|text| text.contains(key));
        let named = self.0.iter().filter(|(key, _)| is_named(key));
        named.map(|(_, [positive, negative])| positive.min(*negative)).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_another_sign_may_cancel_counts_and_only_where_a_statement_names_it() {
        let mut extremes = Extremes::default();
        for document in [
            r#"{"amount":12.5,"at":1.7e18,"id":9007199254740993,"deep":{"change":[3.5,-4.5]}}"#,
            r#"{"amount":-800.25,"at":1.8e18,"deep":{"change":[1]}}"#,
            r#"{"amount":99.75,"at":1.9e18}"#,
        ] {
            extremes.visit("", &serde_json::from_str(document).unwrap());
        }
        let amounts = "SELECT sum(doc->>'amount') FROM t";
        assert_eq!(extremes.largest(&[amounts]), 99.75);
        assert_eq!(extremes.largest(&["SELECT sum(doc->'deep'->'change')"]), 3.5);
        assert_eq!(extremes.largest(&["SELECT sum(at), sum(id)"]), 0.0, "nothing cancels them");
        assert_eq!(extremes.largest(&["SELECT count(*)"]), 0.0);
        assert_eq!(extremes.largest(&[amounts, "deep change"]), 99.75);
    }
}
