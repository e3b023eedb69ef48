//! Paths that are worth asking about: their values are scalars, nearly all of one type.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::{JsonType, PathProfile};

/// Minimum share of values of one type on a path that a question is asked about.
pub(super) const ONE_TYPE: f64 = 0.95;
/// Maximum length of a string value in bytes; paths with longer strings hold running text, which no question
/// is asked about.
const LONGEST: u64 = 1_000;
/// Member names of MongoDB Extended JSON for types that JSON lacks. Some systems store an object with such a
/// member as a value of that type, which has no members.
pub(super) const EXTENDED: [&str; 15] = [
    "$oid",
    "$date",
    "$numberInt",
    "$numberLong",
    "$numberDouble",
    "$numberDecimal",
    "$binary",
    "$regularExpression",
    "$timestamp",
    "$symbol",
    "$code",
    "$dbPointer",
    "$minKey",
    "$maxKey",
    "$undefined",
];
/// Maximum number of distinct values of a path that are counted.
const MOST_DISTINCT: usize = 100_000;

/// A path whose values are scalars, at least 95 % of them of one type.
pub(super) struct Candidate<'a> {
    pub(super) path: &'a str,
    /// Member names that lead to the value, or to the array that holds it.
    pub(super) keys: Vec<String>,
    /// Member names that lead from an element of an array to the value. `None` if the path leads through
    /// objects only.
    pub(super) element_keys: Option<Vec<String>>,
    pub(super) is_number: bool,
    pub(super) has_fractions: bool,
    /// Number of values of the type in the sample.
    pub(super) values: u64,
    pub(super) share: f64,
    pub(super) other_values: u64,
    /// Distinct values in the kept documents, with their frequencies.
    pub(super) distinct: BTreeMap<String, u64>,
}

/// Returns the paths through objects that lead to strings or numbers.
pub(super) fn member_candidates(profiles: &[PathProfile]) -> Vec<Candidate<'_>> {
    let keys = |profile: &PathProfile| Some(profile.steps().filter(|steps| !steps.is_in_array)?.keys);
    profiles.iter().filter_map(|profile| candidate(profile, keys(profile)?, None)).collect()
}

/// Returns the paths to strings and numbers that are elements of arrays, or members of such elements. Arrays
/// in arrays are left out.
pub(super) fn element_candidates(profiles: &[PathProfile]) -> Vec<Candidate<'_>> {
    let mut candidates = Vec::new();
    for array in profiles.iter().filter(|profile| is_array(profile)) {
        let Some(steps) = array.steps().filter(|steps| !steps.is_in_array) else { continue };
        let prefix = format!("{}[]", array.path);
        for profile in profiles {
            let Some(rest) = profile.path.strip_prefix(&prefix) else { continue };
            // A quoted name ends with `"]`, so that this is an array in an element.
            if rest.ends_with("[]") {
                continue;
            }
            let Some(keys) = profile.steps().map(|steps| steps.keys) else { continue };
            let element_keys = keys[steps.keys.len()..].to_vec();
            // Elements of arrays in arrays have the same names with another path.
            if element_keys.len() <= 1 && !rest.starts_with("[]") {
                candidates.extend(candidate(profile, steps.keys.clone(), Some(element_keys)));
            }
        }
    }
    candidates
}

/// Returns `true` if at least 95 % of the values of a path are arrays.
fn is_array(profile: &PathProfile) -> bool {
    let arrays = values_of(profile, &[JsonType::Array]);
    arrays > 0 && arrays as f64 / values_not_null(profile) as f64 >= ONE_TYPE
}

fn values_not_null(profile: &PathProfile) -> u64 {
    let entries = profile.types.iter().filter(|entry| entry.json_type != JsonType::Null);
    entries.map(|entry| entry.values).sum()
}

fn values_of(profile: &PathProfile, types: &[JsonType]) -> u64 {
    let entries = profile.types.iter().filter(|entry| types.contains(&entry.json_type));
    entries.map(|entry| entry.values).sum()
}

fn candidate(
    profile: &PathProfile,
    keys: Vec<String>,
    element_keys: Option<Vec<String>>,
) -> Option<Candidate<'_>> {
    let total = values_not_null(profile);
    let numbers = values_of(profile, &[JsonType::Integer, JsonType::Float]);
    let strings = values_of(profile, &[JsonType::String]);
    let is_number = numbers > strings;
    let values = numbers.max(strings);
    let share = values as f64 / total.max(1) as f64;
    let longest = profile
        .types
        .iter()
        .filter_map(|entry| Some(entry.length?.max).filter(|_| entry.json_type == JsonType::String));
    let is_text = !is_number && longest.max().is_some_and(|longest| longest > LONGEST);
    let mut all_keys = keys.iter().chain(element_keys.iter().flatten());
    let is_written_type = all_keys.any(|key| EXTENDED.contains(&key.as_str()));
    (values > 0 && share >= ONE_TYPE && !is_text && !is_written_type).then(|| Candidate {
        path: &profile.path,
        keys,
        element_keys,
        is_number,
        has_fractions: values_of(profile, &[JsonType::Float]) > 0,
        values,
        share,
        other_values: total - values,
        distinct: BTreeMap::new(),
    })
}

impl Candidate<'_> {
    /// Counts the values at the path in these documents.
    pub(super) fn count_values(&mut self, documents: &[Value]) {
        for document in documents {
            let Some(value) = follow(document, &self.keys) else { continue };
            match &self.element_keys {
                None => self.count_value(value),
                Some(keys) => {
                    let elements = value.as_array().into_iter().flatten();
                    let values: Vec<&Value> = elements.filter_map(|element| follow(element, keys)).collect();
                    values.into_iter().for_each(|value| self.count_value(value));
                }
            }
        }
    }

    fn count_value(&mut self, value: &Value) {
        let text = match value {
            Value::String(text) if !self.is_number => text.clone(),
            Value::Number(number) if self.is_number => number.to_string(),
            _ => return,
        };
        // Some systems reject documents with U+0000, so that a question about the value would have no answer
        // there.
        if text.contains('\0') {
            return;
        }
        if self.distinct.len() < MOST_DISTINCT || self.distinct.contains_key(&text) {
            *self.distinct.entry(text).or_default() += 1;
        }
    }

    /// Returns the most frequent value. Empty if none was counted.
    pub(super) fn most_frequent(&self) -> String {
        let best = self.distinct.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
        best.map(|(value, _)| value.clone()).unwrap_or_default()
    }

    /// Returns `true` if the values are as few as those of a group: each occurs four times on average.
    pub(super) fn is_category(&self) -> bool {
        let counted: u64 = self.distinct.values().sum();
        (2..=MAX_CATEGORIES).contains(&self.distinct.len()) && self.distinct.len() as u64 * 4 <= counted
    }
}

/// Maximum number of different values of a path that documents are grouped by together with another path.
const MAX_CATEGORIES: usize = 50;

/// Returns the value at the path of these member names. `None` if it is missing.
fn follow<'v>(value: &'v Value, keys: &[String]) -> Option<&'v Value> {
    keys.iter().try_fold(value, |value, key| value.as_object()?.get(key))
}
