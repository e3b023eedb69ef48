//! Proposes first questions about unknown documents by finding paths that are worth asking about.

mod candidate;
mod written_time;

use std::collections::BTreeSet;

use jsonathlon_schema::first_question::FirstQuestionKind;
use jsonathlon_schema::time_bucket::{TimeBucket, TimeUnit};
use serde_json::Value;

use super::SampleProfile;
use candidate::{Candidate, ONE_TYPE, element_candidates, member_candidates};
pub use written_time::WrittenZone;
use written_time::{WrittenTime, resolution};

/// A first question about unknown documents, over one or two paths of the sample.
#[derive(Clone, Debug, PartialEq)]
pub struct SuggestedQuestion {
    /// Kind of the question.
    pub kind: FirstQuestionKind,
    /// Path in the notation of [`PathProfile::path`](super::PathProfile::path).
    pub path: String,
    /// Member names that lead to the path, or to the array of [`FirstQuestionKind::Elements`], from the
    /// outermost on.
    pub keys: Vec<String>,
    /// The second path of [`FirstQuestionKind::Pairs`], in the same notation; empty for other kinds.
    pub second_path: String,
    /// Member names that lead to the second path of [`FirstQuestionKind::Pairs`], or from an element to its
    /// value for [`FirstQuestionKind::Elements`]. Other kinds have none.
    pub second_keys: Vec<String>,
    /// The most frequent value of the path in the sample. [`FirstQuestionKind::Filter`] asks for it.
    pub value: String,
    /// Times that are counted together by [`FirstQuestionKind::Dates`] and [`FirstQuestionKind::Epochs`].
    pub bucket: TimeBucket,
    /// Relation to UTC of the times of [`FirstQuestionKind::Dates`]. `None` for other kinds.
    pub zone: Option<WrittenZone>,
    /// Share (0 to 1) of values that have the type of the question; nulls are not counted. The smaller one of
    /// two paths.
    pub share: f64,
    /// Number of values of other types in the sample, which the question ignores; nulls are not counted.
    pub other_values: u64,
}

impl SuggestedQuestion {
    fn new(kind: FirstQuestionKind, candidate: &Candidate<'_>) -> Self {
        Self {
            kind,
            path: candidate.path.to_string(),
            keys: candidate.keys.clone(),
            second_path: String::new(),
            second_keys: candidate.element_keys.clone().unwrap_or_default(),
            value: candidate.most_frequent(),
            bucket: TimeBucket::default(),
            zone: None,
            share: candidate.share,
            other_values: candidate.other_values,
        }
    }
}

/// Proposes one question of each kind for which the sample has a path, on different paths if possible.
///
/// Of [`FirstQuestionKind::Elements`] there are up to two: about elements, and about members of elements.
pub fn suggest_questions(sampled: &SampleProfile) -> Vec<SuggestedQuestion> {
    let documents: Vec<Value> =
        sampled.documents.iter().filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let paths = &sampled.profile.paths;
    let (members, elements) = (
        count_values(member_candidates(paths), &documents),
        count_values(element_candidates(paths), &documents),
    );
    let sizes = SampleSizes {
        documents: sampled.profile.documents.max(1) as f64,
        kept: documents.len().max(1) as f64,
    };
    let mut suggestions = questions_of_one_path(&members, sizes);
    suggestions.extend(questions_of_elements(&elements, sizes));
    suggestions.extend(question_of_dates(&members, sizes));
    suggestions.extend(question_of_epochs(&members, sizes));
    suggestions.extend(question_of_pairs(&members, sizes));
    suggestions.sort_by_key(|suggestion| suggestion.kind);
    suggestions
}

/// Counts the values of all candidates, and leaves out those without a value in the kept documents.
fn count_values<'a>(mut candidates: Vec<Candidate<'a>>, documents: &[Value]) -> Vec<Candidate<'a>> {
    candidates.iter_mut().for_each(|candidate| candidate.count_values(documents));
    candidates.retain(|candidate| !candidate.distinct.is_empty());
    candidates
}

/// Numbers of documents in the sample.
#[derive(Clone, Copy)]
struct SampleSizes {
    /// Documents that the paths are of.
    documents: f64,
    /// Documents whose values were counted.
    kept: f64,
}

impl SampleSizes {
    /// Returns the share of documents that have the path; 1 if every document has several values.
    fn frequency(self, candidate: &Candidate<'_>) -> f64 {
        (candidate.values as f64 / self.documents).min(1.0)
    }

    /// Returns how well the values of a path form groups: they repeat, and there are some of them.
    fn repetition(self, candidate: &Candidate<'_>) -> f64 {
        let distinct = candidate.distinct.len() as f64;
        let variety = if candidate.distinct.len() > 1 { 1.0 } else { 0.1 };
        variety * (1.0 - distinct / self.kept).max(0.01) + 0.1 * (distinct.min(20.0) / 20.0)
    }
}

/// Returns the candidate with the highest score; of several, the first in bytewise order.
fn best<'c, 'a>(
    candidates: impl IntoIterator<Item = &'c Candidate<'a>>,
    score: impl Fn(&Candidate<'_>) -> f64,
) -> Option<&'c Candidate<'a>>
where
    'a: 'c,
{
    candidates.into_iter().max_by(|a, b| score(a).total_cmp(&score(b)).then(b.path.cmp(a.path)))
}

fn questions_of_one_path(members: &[Candidate<'_>], sizes: SampleSizes) -> Vec<SuggestedQuestion> {
    let (numbers, strings): (Vec<_>, Vec<_>) = members.iter().partition(|path| path.is_number);
    // Score of a path by kind of question. Frequent paths score higher; paths already used score much lower.
    type Score<'a> = &'a dyn Fn(&Candidate<'_>) -> f64;
    let repetition = |path: &Candidate<'_>| sizes.repetition(path);
    let variety = |path: &Candidate<'_>| 0.1 + path.distinct.len() as f64 / sizes.kept;
    let additive = |path: &Candidate<'_>| match epochs(path) {
        // Times can be added, but nobody asks for their sum.
        Some(_) => 0.01,
        None if path.has_fractions => 2.0,
        None => 1.0,
    };
    let kinds: [(FirstQuestionKind, &Vec<&Candidate<'_>>, Score<'_>); 5] = [
        (FirstQuestionKind::Count, &strings, &repetition),
        (FirstQuestionKind::Sum, &numbers, &additive),
        (FirstQuestionKind::Top, &numbers, &variety),
        (FirstQuestionKind::Distinct, &strings, &variety),
        (FirstQuestionKind::Filter, &strings, &repetition),
    ];
    let mut used_paths: Vec<&str> = Vec::new();
    let mut suggestions = Vec::new();
    for (kind, paths, kind_score) in kinds {
        let score = |path: &Candidate<'_>| {
            let novelty = if used_paths.contains(&path.path) { 0.05 } else { 1.0 };
            kind_score(path) * sizes.frequency(path) * novelty
        };
        let Some(best) = best(paths.iter().copied(), score) else { continue };
        used_paths.push(best.path);
        suggestions.push(SuggestedQuestion::new(kind, best));
    }
    suggestions
}

fn questions_of_elements(elements: &[Candidate<'_>], sizes: SampleSizes) -> Vec<SuggestedQuestion> {
    let is_scalar = |path: &&Candidate<'_>| path.element_keys.as_ref().is_some_and(Vec::is_empty);
    let (scalars, members): (Vec<_>, Vec<_>) =
        elements.iter().filter(|path| !path.is_number).partition(is_scalar);
    let score = |path: &Candidate<'_>| sizes.repetition(path) * sizes.frequency(path);
    let bests = [scalars, members].into_iter().filter_map(|paths| best(paths, score));
    bests.map(|best| SuggestedQuestion::new(FirstQuestionKind::Elements, best)).collect()
}

/// Times of a string path of which nearly all values are dates, and how many buckets they are in.
struct Dates {
    unit: TimeUnit,
    zone: WrittenZone,
    buckets: usize,
}

fn dates(path: &Candidate<'_>) -> Option<Dates> {
    let (mut total, mut valid, mut has_hours) = (0, 0, true);
    let mut zone: Option<WrittenZone> = None;
    let (mut days, mut hours) = (BTreeSet::new(), BTreeSet::new());
    for (text, &count) in &path.distinct {
        total += count;
        let Some(time) = WrittenTime::parse(text) else { continue };
        valid += count;
        has_hours &= time.has_hour;
        zone = Some(zone.map_or(time.zone, |zone| zone.and(time.zone)));
        days.extend(text.get(..10));
        hours.extend(text.get(..13));
    }
    let is_mostly_dates = valid as f64 >= ONE_TYPE * total as f64;
    let zone = zone.filter(|_| is_mostly_dates)?;
    // Documents of one day are counted by its hours.
    let (unit, buckets) =
        if days.len() < 2 && has_hours { (TimeUnit::Hour, hours.len()) } else { (TimeUnit::Day, days.len()) };
    Some(Dates { unit, zone, buckets })
}

fn question_of_dates(members: &[Candidate<'_>], sizes: SampleSizes) -> Option<SuggestedQuestion> {
    let strings = members.iter().filter(|path| !path.is_number);
    let score = |path: &Candidate<'_>| {
        let buckets = dates(path).map_or(0, |dates| dates.buckets);
        sizes.frequency(path) * buckets.min(20) as f64
    };
    let best = best(strings.filter(|path| dates(path).is_some()), score)?;
    let Dates { unit, zone, .. } = dates(best)?;
    let bucket = TimeBucket { unit, ..TimeBucket::default() };
    Some(SuggestedQuestion {
        bucket,
        zone: Some(zone),
        ..SuggestedQuestion::new(FirstQuestionKind::Dates, best)
    })
}

/// Returns the buckets of a number path of which nearly all values are plausible times of one resolution.
/// `None` if they are not.
fn epochs(path: &Candidate<'_>) -> Option<TimeBucket> {
    if !path.is_number || path.distinct.len() < 2 {
        return None;
    }
    let total: u64 = path.distinct.values().sum();
    TimeBucket::RESOLUTIONS.into_iter().find_map(|ticks_per_second| {
        let times = path.distinct.iter().filter_map(|(text, count)| Some((text.parse::<f64>().ok()?, count)));
        let times: Vec<(f64, &u64)> =
            times.filter(|(number, _)| resolution(*number) == Some(ticks_per_second)).collect();
        let valid: u64 = times.iter().map(|(_, count)| *count).sum();
        let day = TimeBucket { unit: TimeUnit::Day, ticks_per_second };
        let days: BTreeSet<u64> = times.iter().map(|(number, _)| *number as u64 / day.ticks()).collect();
        let unit = if days.len() < 2 { TimeUnit::Hour } else { TimeUnit::Day };
        (valid as f64 >= ONE_TYPE * total as f64).then_some(TimeBucket { unit, ticks_per_second })
    })
}

/// Parts of member names that times often have; such paths are preferred among numbers that could be times.
const NAMES_OF_TIMES: [&str; 9] =
    ["time", "date", "_at", "ts", "epoch", "created", "updated", "modified", "expire"];

fn question_of_epochs(members: &[Candidate<'_>], sizes: SampleSizes) -> Option<SuggestedQuestion> {
    let score = |path: &Candidate<'_>| {
        let name = path.keys.last().map(|key| key.to_lowercase()).unwrap_or_default();
        let is_named_so = NAMES_OF_TIMES.iter().any(|part| name.contains(part));
        sizes.frequency(path) * if is_named_so { 10.0 } else { 1.0 }
    };
    let best = best(members.iter().filter(|path| epochs(path).is_some()), score)?;
    let bucket = epochs(best)?;
    Some(SuggestedQuestion { bucket, ..SuggestedQuestion::new(FirstQuestionKind::Epochs, best) })
}

fn question_of_pairs(members: &[Candidate<'_>], sizes: SampleSizes) -> Option<SuggestedQuestion> {
    let is_category = |path: &&Candidate<'_>| !path.is_number && path.is_category();
    let score = |path: &Candidate<'_>| sizes.repetition(path) * sizes.frequency(path);
    let categories: Vec<&Candidate<'_>> = members.iter().filter(is_category).collect();
    let first = best(categories.iter().copied(), score)?;
    let second = best(categories.into_iter().filter(|path| path.path != first.path), score)?;
    Some(SuggestedQuestion {
        second_path: second.path.to_string(),
        second_keys: second.keys.clone(),
        share: first.share.min(second.share),
        other_values: first.other_values + second.other_values,
        ..SuggestedQuestion::new(FirstQuestionKind::Pairs, first)
    })
}

#[cfg(test)]
mod tests {
    use super::candidate::EXTENDED;
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

    fn paths(suggestions: &[SuggestedQuestion]) -> Vec<(FirstQuestionKind, &str)> {
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
                (FirstQuestionKind::Count, "country"),
                (FirstQuestionKind::Top, "quantity"),
                (FirstQuestionKind::Sum, "price"),
                (FirstQuestionKind::Filter, "country"),
                (FirstQuestionKind::Distinct, "id"),
                (FirstQuestionKind::Elements, "tags[]"),
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
        let line = r#"{"a":[1,2],"b":{"c":[["x"],["y"]]},"e":null,"f":true}"#;
        assert!(suggestions_for(&[line.to_owned()]).is_empty());
        let numbers = suggestions_for(&[r#"{"a":1}"#.to_owned(), r#"{"a":2}"#.to_owned()]);
        assert_eq!(paths(&numbers), [(FirstQuestionKind::Top, "a"), (FirstQuestionKind::Sum, "a")]);
        // 95 % (19 of 20) is the minimum.
        let mostly = |strings: usize| -> Vec<String> {
            (0..100).map(|n| if n < strings { r#"{"a":"x"}"# } else { r#"{"a":7}"# }.to_owned()).collect()
        };
        assert!(suggestions_for(&mostly(94)).is_empty());
        let suggestions = suggestions_for(&mostly(95));
        assert_eq!((suggestions.len(), suggestions[0].other_values), (3, 5));
    }

    fn only(kind: FirstQuestionKind, suggestions: Vec<SuggestedQuestion>) -> Vec<SuggestedQuestion> {
        suggestions.into_iter().filter(|suggestion| suggestion.kind == kind).collect()
    }

    #[test]
    fn elements_of_arrays_and_one_member_of_elements_are_asked_about() {
        let line = |n: u32| {
            format!(
                r#"{{"tags":["a","t{}"],"items":[{{"sku":"s{}","in":{{"x":"y"}},"[]":"p"}}],"deep":[["x"]],
                "numbers":[1,2],"objects":[{{"$oid":"x"}}],"mixed":["x",1],"few":{}}}"#,
                n % 5,
                n % 20,
                if n < 80 { r#"["x"]"# } else { "7" },
            )
            .replace('\n', "")
        };
        let found =
            only(FirstQuestionKind::Elements, suggestions_for(&(0..100).map(line).collect::<Vec<_>>()));
        let [tags, skus] = &found[..] else { panic!("{found:?}") };
        assert_eq!((tags.path.as_str(), tags.keys.as_slice()), ("tags[]", &["tags".to_owned()][..]));
        assert!(tags.second_keys.is_empty() && tags.other_values == 0);
        assert_eq!((skus.path.as_str(), skus.keys.as_slice()), ("items[].sku", &["items".to_owned()][..]));
        assert_eq!(skus.second_keys, ["sku"]);
        // A member of elements may be called like the notation of elements.
        let odd = suggestions_for(&[r#"{"a":[{"[]":"p"}]}"#.to_owned()]);
        assert_eq!(only(FirstQuestionKind::Elements, odd)[0].second_keys, ["[]"]);
        let nested =
            suggestions_for(&[r#"{"a":[{"b":["p"]},{"b":[{"c":"p"}]}],"d":[[{"e":"p"}]]}"#.to_owned()]);
        assert!(only(FirstQuestionKind::Elements, nested).is_empty());
    }

    #[test]
    fn dates_are_counted_by_day_or_by_the_hours_of_one_day() {
        let dates = |texts: &[&str]| {
            let line = |text: &&str| format!(r#"{{"at":"{text}"}}"#);
            only(FirstQuestionKind::Dates, suggestions_for(&texts.iter().map(line).collect::<Vec<_>>()))
        };
        let found = |texts: &[&str]| dates(texts).pop().map(|one| (one.bucket.unit, one.zone));
        let (day, hour) = (TimeUnit::Day, TimeUnit::Hour);
        let (utc, unstated, varied) =
            (Some(WrittenZone::Utc), Some(WrittenZone::Unstated), Some(WrittenZone::Varied));
        assert_eq!(found(&["2026-01-02T03:04:05Z", "2026-01-03T03:04:05Z"]), Some((day, utc)));
        assert_eq!(found(&["2026-01-02T03:04:05Z", "2026-01-02T05:04:05Z"]), Some((hour, utc)));
        assert_eq!(found(&["2026-01-02", "2026-01-02"]), Some((day, unstated)));
        assert_eq!(found(&["2026-01-02T03:04:05Z", "2026-01-02T03:04:05+02:00"]), Some((hour, varied)));
        assert_eq!(found(&["2026-01-02T03:04:05", "2026-01-02T03:04:05Z"]), Some((hour, varied)));
        assert_eq!(found(&["2026-01-02", "x"]), None);
        let mut mostly = vec!["2026-01-02"; 19];
        mostly.push("soon");
        assert_eq!(found(&mostly), Some((day, unstated)));
    }

    #[test]
    fn numbers_that_are_times_are_counted_by_day_and_not_added_up() {
        let suggest = |number: &dyn Fn(u64) -> String| {
            let line = |n: u64| format!(r#"{{"a":{n},"created":{}}}"#, number(n));
            suggestions_for(&(0..40).map(line).collect::<Vec<_>>())
        };
        for ticks_per_second in TimeBucket::RESOLUTIONS {
            let all = suggest(&|n| ((1_770_000_000 + n * 10_000) * ticks_per_second).to_string());
            let [found] = &only(FirstQuestionKind::Epochs, all.clone())[..] else { panic!("{all:?}") };
            assert_eq!(found.keys, ["created"]);
            assert_eq!(found.bucket, TimeBucket { unit: TimeUnit::Day, ticks_per_second });
            assert_eq!(only(FirstQuestionKind::Sum, all)[0].keys, ["a"]);
        }
        let hours = only(FirstQuestionKind::Epochs, suggest(&|n| format!("{}.5", 1_770_000_000 + n * 60)));
        assert_eq!(hours[0].bucket.unit, TimeUnit::Hour);
        // One in ten is no time; seconds and milliseconds mixed are no times either.
        assert!(
            only(
                FirstQuestionKind::Epochs,
                suggest(&|n| if n % 10 == 0 { n } else { 1_770_000_000 + n }.to_string())
            )
            .is_empty()
        );
        let mixed = suggest(&|n| (1_770_000_000 * if n % 2 == 0 { 1 } else { 1_000 } + n).to_string());
        assert!(only(FirstQuestionKind::Epochs, mixed).is_empty());
    }

    #[test]
    fn two_paths_of_few_values_are_grouped_by_together() {
        let line = |n: u32| {
            let other = if n.is_multiple_of(50) { "7".to_owned() } else { format!("\"p{}\"", n % 3) };
            format!(r#"{{"country":"c{}","plan":{other},"id":"u{n}","same":"x"}}"#, n % 5)
        };
        let found = only(FirstQuestionKind::Pairs, suggestions_for(&(0..100).map(line).collect::<Vec<_>>()));
        let [pair] = &found[..] else { panic!("{found:?}") };
        let mut paths = [pair.path.as_str(), pair.second_path.as_str()];
        paths.sort_unstable();
        assert_eq!(paths, ["country", "plan"]);
        assert_eq!((pair.other_values, pair.share), (2, 0.98));
        assert_eq!(pair.second_keys, std::slice::from_ref(&pair.second_path));
        let alone = |n: u32| format!(r#"{{"country":"c{}","id":"u{n}","same":"x"}}"#, n % 5);
        let alone = suggestions_for(&(0..100).map(alone).collect::<Vec<_>>());
        assert!(only(FirstQuestionKind::Pairs, alone).is_empty());
    }
}
