//! Proposes first questions about unknown documents by finding paths that are worth asking about.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{JsonType, PathProfile, SampleProfile};

/// Minimum share of values of one type on a path that a question is asked about.
const ONE_TYPE: f64 = 0.95;
/// Maximum length of a string value in bytes; paths with longer strings hold running text, which no question
/// is asked about.
const LONGEST: u64 = 1_000;
/// Member names of MongoDB Extended JSON for types that JSON lacks. Some systems store an object with such a
/// member as a value of that type, which has no members.
const EXTENDED: [&str; 15] = [
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

/// What a suggested question asks about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SuggestionKind {
    /// The most frequent values of a string path.
    Count,
    /// The largest values of a number path.
    Top,
    /// Sum and mean of a number path.
    Sum,
    /// Number of documents with a given string.
    Filter,
    /// Number of distinct values of a string path.
    Distinct,
}

/// A first question about unknown documents, over one path of the sample.
#[derive(Clone, Debug, PartialEq)]
pub struct SuggestedQuestion {
    /// Kind of the question.
    pub kind: SuggestionKind,
    /// Path in the notation of [`PathProfile::path`].
    pub path: String,
    /// Member names that lead to the path, from the outermost on.
    pub keys: Vec<String>,
    /// The most frequent value of the path in the sample. [`SuggestionKind::Filter`] asks for it.
    pub value: String,
    /// Share (0 to 1) of values that have the type of the question; nulls are not counted.
    pub share: f64,
    /// Number of values of other types in the sample, which the question ignores; nulls are not counted.
    pub other_values: u64,
}

/// A path whose values are scalars, at least 95 % of them of one type.
struct Candidate<'a> {
    path: &'a str,
    keys: Vec<String>,
    is_number: bool,
    has_fractions: bool,
    values: u64,
    share: f64,
    other_values: u64,
    /// Distinct values in the kept documents, with their frequencies.
    distinct: BTreeMap<String, u64>,
}

/// Proposes one question of each kind for which the sample has a path, on different paths if possible.
pub fn suggest_questions(sampled: &SampleProfile) -> Vec<SuggestedQuestion> {
    let mut candidates: Vec<Candidate<'_>> = sampled.profile.paths.iter().filter_map(candidate).collect();
    let documents: Vec<Value> =
        sampled.documents.iter().filter_map(|line| serde_json::from_slice(line).ok()).collect();
    for candidate in &mut candidates {
        candidate.count_values(&documents);
    }
    let document_count = documents.len().max(1) as f64;
    let (numbers, strings): (Vec<_>, Vec<_>) =
        candidates.iter().filter(|path| !path.distinct.is_empty()).partition(|path| path.is_number);
    let mut suggestions: Vec<SuggestedQuestion> = Vec::new();
    let mut used_paths: Vec<&str> = Vec::new();
    // Score of a path by kind of question. Frequent paths score higher; paths already used score much lower.
    type Score<'a> = &'a dyn Fn(&Candidate<'_>) -> f64;
    let distinct_count = |path: &Candidate<'_>| path.distinct.len() as f64;
    let repetition = |path: &Candidate<'_>| {
        let variety = if path.distinct.len() > 1 { 1.0 } else { 0.1 };
        let distinct = distinct_count(path);
        variety * (1.0 - distinct / document_count).max(0.01) + 0.1 * (distinct.min(20.0) / 20.0)
    };
    let kinds: [(SuggestionKind, &Vec<&Candidate<'_>>, Score<'_>); 5] = [
        (SuggestionKind::Count, &strings, &repetition),
        (SuggestionKind::Sum, &numbers, &|path| if path.has_fractions { 2.0 } else { 1.0 }),
        (SuggestionKind::Top, &numbers, &|path| 0.1 + distinct_count(path) / document_count),
        (SuggestionKind::Distinct, &strings, &|path| 0.1 + distinct_count(path) / document_count),
        (SuggestionKind::Filter, &strings, &repetition),
    ];
    for (kind, paths, kind_score) in kinds {
        let frequency = |path: &Candidate<'_>| path.values as f64 / sampled.profile.documents.max(1) as f64;
        let score = |path: &&&Candidate<'_>| {
            let novelty = if used_paths.contains(&path.path) { 0.05 } else { 1.0 };
            kind_score(path) * frequency(path).min(1.0) * novelty
        };
        let best = paths.iter().max_by(|a, b| score(a).total_cmp(&score(b)).then(b.path.cmp(a.path)));
        let Some(best) = best else { continue };
        let most_frequent = best.distinct.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
        used_paths.push(best.path);
        suggestions.push(SuggestedQuestion {
            kind,
            path: best.path.to_string(),
            keys: best.keys.clone(),
            value: most_frequent.map(|(value, _)| value.clone()).unwrap_or_default(),
            share: best.share,
            other_values: best.other_values,
        });
    }
    suggestions.sort_by_key(|suggestion| suggestion.kind);
    suggestions
}

fn candidate(profile: &PathProfile) -> Option<Candidate<'_>> {
    let keys = profile.steps().filter(|steps| !steps.is_in_array)?.keys;
    let values_of = |types: &[JsonType]| -> u64 {
        let entries = profile.types.iter().filter(|entry| types.contains(&entry.json_type));
        entries.map(|entry| entry.values).sum()
    };
    let total = values_of(&[
        JsonType::Boolean,
        JsonType::Integer,
        JsonType::Float,
        JsonType::String,
        JsonType::Array,
        JsonType::Object,
    ]);
    let numbers = values_of(&[JsonType::Integer, JsonType::Float]);
    let strings = values_of(&[JsonType::String]);
    let is_number = numbers > strings;
    let values = numbers.max(strings);
    let share = values as f64 / total.max(1) as f64;
    let longest = profile
        .types
        .iter()
        .filter_map(|entry| Some(entry.length?.max).filter(|_| entry.json_type == JsonType::String));
    let is_text = !is_number && longest.max().is_some_and(|longest| longest > LONGEST);
    let is_written_type = keys.iter().any(|key| EXTENDED.contains(&key.as_str()));
    (values > 0 && share >= ONE_TYPE && !is_text && !is_written_type).then(|| Candidate {
        path: &profile.path,
        keys,
        is_number,
        has_fractions: values_of(&[JsonType::Float]) > 0,
        values,
        share,
        other_values: total - values,
        distinct: BTreeMap::new(),
    })
}

impl Candidate<'_> {
    fn count_values(&mut self, documents: &[Value]) {
        for document in documents {
            let value = self.keys.iter().try_fold(document, |value, key| value.as_object()?.get(key));
            let text = match value {
                Some(Value::String(text)) if !self.is_number => text.clone(),
                Some(Value::Number(number)) if self.is_number => number.to_string(),
                _ => continue,
            };
            // Some systems reject documents with U+0000, so that a question about the value would have no
            // answer there.
            if text.contains('\0') {
                continue;
            }
            if self.distinct.len() < MOST_DISTINCT || self.distinct.contains_key(&text) {
                *self.distinct.entry(text).or_default() += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::{SampleLimits, sample};
    use crate::source::Source;

    fn suggestions_for(lines: &[String]) -> Vec<SuggestedQuestion> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.ndjson");
        std::fs::write(&file, lines.join("\n")).unwrap();
        let limits = SampleLimits {
            max_bytes: 1 << 30,
            max_time: std::time::Duration::from_secs(60),
            max_documents: 1_000,
        };
        suggest_questions(&sample(&Source::Path(file), limits, &|| false).unwrap())
    }

    fn paths(suggestions: &[SuggestedQuestion]) -> Vec<(SuggestionKind, &str)> {
        suggestions.iter().map(|suggestion| (suggestion.kind, suggestion.path.as_str())).collect()
    }

    #[test]
    fn each_kind_has_the_path_that_suits_it() {
        let line = |n: u32| {
            format!(
                r#"{{"id":"u-{n}","country":"{}","price":{}.5,"quantity":{n},"tags":["a"],"mixed":{}}}"#,
                ["de", "fr", "it"][n as usize % 3],
                n % 7,
                if n.is_multiple_of(2) { "1" } else { "\"x\"" },
            )
        };
        let suggestions = suggestions_for(&(0..200).map(line).collect::<Vec<_>>());
        assert_eq!(
            paths(&suggestions),
            [
                (SuggestionKind::Count, "country"),
                (SuggestionKind::Top, "quantity"),
                (SuggestionKind::Sum, "price"),
                (SuggestionKind::Filter, "country"),
                (SuggestionKind::Distinct, "id")
            ]
        );
        assert_eq!(suggestions[3].value, "de");
    }

    #[test]
    fn any_key_is_asked_about_and_values_of_types_that_json_lacks_are_not() {
        let for_key = |key: &str| suggestions_for(&[format!(r#"{{{}:"x"}}"#, Value::from(key))]);
        for key in ["", "\n", "*", "cpu%", "{{", "$", "$ref", "-id", "\u{2028}", "\u{0}", "a.b", "😀"] {
            let suggestions = for_key(key);
            assert_eq!(suggestions.len(), 3, "{key:?}");
            assert_eq!(suggestions[0].keys, [key]);
        }
        for key in EXTENDED {
            assert!(for_key(key).is_empty(), "{key}");
        }
        let line = r#"{"_id":{"$oid":"65a0"},"at":{"$date":"2026-01-01"},"n":{"$numberLong":"1"},"a":"x"}"#;
        let suggestions = suggestions_for(&[line.to_owned()]);
        let is_about_a = suggestions.iter().all(|suggestion| suggestion.keys == ["a"]);
        assert!(is_about_a && suggestions.len() == 3, "{suggestions:?}");
    }

    #[test]
    fn what_the_documents_do_not_have_is_not_asked() {
        let line = r#"{"a":[1,2],"b":{"c":[{"d":"x"}]},"e":null,"f":true}"#;
        assert!(suggestions_for(&[line.to_owned()]).is_empty());
        let numbers = suggestions_for(&[r#"{"a":1}"#.to_owned(), r#"{"a":2}"#.to_owned()]);
        assert_eq!(paths(&numbers), [(SuggestionKind::Top, "a"), (SuggestionKind::Sum, "a")]);
        // 95 % (19 of 20) is the minimum.
        let mostly = |strings: usize| -> Vec<String> {
            (0..100).map(|n| if n < strings { r#"{"a":"x"}"# } else { r#"{"a":7}"# }.to_owned()).collect()
        };
        assert!(suggestions_for(&mostly(94)).is_empty());
        let suggestions = suggestions_for(&mostly(95));
        assert_eq!((suggestions.len(), suggestions[0].other_values), (3, 5));
    }
}
