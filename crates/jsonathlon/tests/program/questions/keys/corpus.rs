//! Documents with arbitrary member names, and the expected answers to generated questions, computed naively.

use std::{collections::BTreeMap, path::Path, time::Duration};

use proptest::{prelude::*, strategy::ValueTree as _, test_runner::TestRunner};
use serde_json::{Value as Json, json};

use jsonathlon_catalogue::KnownPath;
use jsonathlon_dataset::{
    describe::{JsonType, PathProfile, SampleLimits, sample},
    source::Source,
};
use jsonathlon_schema::{
    first_question::FirstQuestionKind,
    time_bucket::{TimeBucket, TimeUnit},
};

/// Keys with a special meaning in paths, patterns, quoted texts, templates, lines or documents.
pub(crate) const NASTY: [&str; 87] = [
    "",
    " ",
    "  ",
    "a",
    "A",
    "a ",
    " a",
    ".",
    "..",
    ".a",
    "a.",
    "a.b",
    "a..b",
    "a%2Eb",
    "%",
    "cpu%",
    "%25",
    "%s",
    "*",
    "**",
    "a*",
    "?",
    "[*]",
    "[0]",
    "a[0]",
    "[]",
    "#",
    "#-1",
    "@",
    "$",
    "$$",
    "$a",
    "$.a",
    "$oid",
    "$1",
    "?1",
    ":doc",
    ":1",
    "{",
    "}",
    "{{",
    "{{{",
    "}}",
    "{{table}}",
    "{{braces}}",
    "{{key}}",
    "'",
    "''",
    "\"",
    "\"\"",
    "`",
    "``",
    "\\",
    "\\\\",
    "\\\"",
    "a\\",
    "\\u0041",
    "\\n",
    "\\x41",
    "/",
    "~0",
    "~1",
    "-id",
    "-",
    "-1",
    "0",
    "1e5",
    ";",
    "a;",
    "--",
    "/*",
    "null",
    "true",
    "_id",
    "id",
    "key",
    ":`a",
    "^`a",
    "@`a",
    "é",
    "e\u{301}",
    "ß",
    "SS",
    "\u{2028}",
    "\u{feff}",
    "😀",
    "to",
];

/// Keys with control characters, some of which end lines or texts.
const CONTROLS: [&str; 12] = [
    "\n",
    "a;\nb",
    "\r\n",
    "\t",
    "\u{1}",
    "\u{1f}",
    "\u{7f}",
    "\u{85}",
    "\u{9f}",
    "\u{2029}",
    "\n-- a",
    "\u{b}\u{c}",
];

const STRINGS: [&str; 16] = [
    "x",
    "it's",
    "a\"b",
    "{{x}}",
    "{{",
    "back\\slash",
    "line;\n-- two\r\n",
    "",
    " ",
    "x ",
    "é",
    "😀",
    "%",
    "a\tb",
    "$x",
    "\\",
];

const NUMBERS: [f64; 8] = [1.0, 2.0, -3.0, 0.5, 1e9, 0.0, 7.25, 4096.0];

/// A question about one path, or two.
pub(crate) struct Question {
    pub(crate) name: String,
    pub(crate) kind: FirstQuestionKind,
    pub(crate) keys: Vec<String>,
    /// The second path of a pair, or the path from an element.
    pub(crate) second: Vec<String>,
    pub(crate) bucket: TimeBucket,
    pub(crate) value: String,
    pub(crate) is_mixed: bool,
}

/// Documents and the questions about them.
pub(crate) struct Corpus {
    pub(crate) lines: Vec<String>,
    pub(crate) paths: Vec<KnownPath>,
    pub(crate) questions: Vec<Question>,
}

/// One cell of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Number(f64),
    Text(String),
}

/// Distinct paths of one to three members with the names above.
pub(crate) fn fixed() -> Vec<Vec<String>> {
    let all: Vec<&str> = NASTY.into_iter().chain(CONTROLS).collect();
    let path = |(place, key): (usize, &&str)| {
        let below = all.get((place * 7 + 3) % all.len()).copied().unwrap_or_default();
        match place % 3 {
            0 => vec![(*key).to_owned()],
            1 => vec![(*key).to_owned(), below.to_owned()],
            _ => vec![format!("p{place}"), (*key).to_owned(), below.to_owned()],
        }
    };
    all.iter().enumerate().map(path).collect()
}

/// Random paths; names are drawn from all of Unicode, and from characters that are special in paths and
/// texts.
pub(crate) fn drawn(count: usize, runner: &mut TestRunner) -> Vec<Vec<String>> {
    let character = prop_oneof![
        3 => any::<char>(),
        3 => prop::sample::select("\"'`\\{}[]()$%*.?#@:;-_/~!^&|=,<> aA0éu".chars().collect::<Vec<_>>()),
        1 => prop::char::range('\0', '\u{a0}'),
        1 => prop::sample::select(vec!['\u{2028}', '\u{2029}', '\u{feff}', '\u{ffff}', '\u{10ffff}', '\u{e000}', '\u{d7ff}']),
    ];
    let key = prop_oneof![
        4 => prop::collection::vec(character, 0..6).prop_map(String::from_iter),
        1 => prop::sample::select(NASTY.to_vec()).prop_map(str::to_owned),
    ];
    let paths = prop::collection::vec(prop::collection::vec(key, 1..4), count);
    paths.new_tree(runner).unwrap().current()
}

impl Corpus {
    /// Builds documents with values of one type, and some of other types, at each of these paths.
    pub(crate) fn of(mut wanted: Vec<Vec<String>>) -> Self {
        wanted.sort();
        wanted.dedup();
        let others = [
            json!(7),
            json!(true),
            Json::Null,
            json!(["x"]),
            json!({"z": "x"}),
            json!(["x", "y"]),
            json!("7"),
        ];
        let mut lines = Vec::new();
        for (place, keys) in wanted.iter().enumerate() {
            for turn in 0..12 {
                let value = match (turn, is_number(place)) {
                    (11, _) => others.get(place % others.len()).cloned().unwrap_or_default(),
                    (_, true) => json!(NUMBERS.get((turn * 3 + place) % (2 + place % 7)).copied()),
                    (_, false) => json!(STRINGS.get((turn * turn + place) % STRINGS.len()).copied()),
                };
                let mut document = Json::Object(serde_json::Map::new());
                put(&mut document, keys, value);
                // A second path is added, so that no path is alone in its document.
                let beside = (place + turn + 1) % wanted.len();
                let value = if is_number(beside) { json!(2) } else { json!("x") };
                if let Some(keys) = wanted.get(beside).filter(|keys| keys.first() != wanted[place].first()) {
                    put(&mut document, keys, value);
                }
                // Some documents are written with escapes, because the spelling of a text must not matter.
                lines.push(if turn % 4 == 1 { escaped(&document) } else { document.to_string() });
            }
        }
        for (place, keys) in wanted.iter().enumerate() {
            lines.extend(lists_and_times(place, keys));
        }
        let profiles = profiles(&lines);
        let mut questions = Vec::new();
        for (place, keys) in wanted.iter().enumerate() {
            let kinds: &[FirstQuestionKind] = if is_number(place) {
                &[FirstQuestionKind::Top, FirstQuestionKind::Sum]
            } else {
                &[FirstQuestionKind::Count, FirstQuestionKind::Filter, FirstQuestionKind::Distinct]
            };
            let is_mixed = is_mixed(&profiles, keys, is_number(place));
            for kind in kinds {
                questions.push(Question {
                    name: format!("{}-{place}", kind.word()),
                    kind: *kind,
                    keys: keys.clone(),
                    second: Vec::new(),
                    bucket: TimeBucket::default(),
                    value: STRINGS.get(place % STRINGS.len()).copied().unwrap_or_default().to_owned(),
                    is_mixed,
                });
            }
            questions.extend(questions_of_lists_and_times(place, keys));
            // The values of the next path stand beside it in some documents.
            let other = (place + 1) % wanted.len();
            if !is_number(place) && !is_number(other) {
                questions.push(Question {
                    name: format!("pairs-{place}"),
                    kind: FirstQuestionKind::Pairs,
                    keys: keys.clone(),
                    second: wanted[other].clone(),
                    bucket: TimeBucket::default(),
                    value: String::new(),
                    is_mixed: true,
                });
            }
        }
        let steps = profiles.iter().filter_map(PathProfile::steps);
        let paths = steps.map(|one| KnownPath { keys: one.keys, is_in_array: one.is_in_array }).collect();
        Self { lines, paths, questions }
    }

    /// The expected answer over all documents except the rejected ones. `None` if no value is left.
    pub(crate) fn answer(&self, question: &Question, refused: &[usize]) -> Option<Vec<Vec<Cell>>> {
        let (mut texts, mut numbers, mut pairs) = (Counts::new(), Vec::new(), Counts::new());
        for (place, line) in self.lines.iter().enumerate().filter(|(place, _)| !refused.contains(place)) {
            let document: Json =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{place}: {error}"));
            let Some(value) = follow(&document, &question.keys) else { continue };
            let values: Vec<&Json> = match question.kind {
                FirstQuestionKind::Elements => {
                    let elements = value.as_array().into_iter().flatten();
                    elements.filter_map(|element| follow(element, &question.second)).collect()
                }
                _ => vec![value],
            };
            for value in values {
                match value {
                    Json::String(text) => *texts.entry(vec![text.clone()]).or_default() += 1.0,
                    Json::Number(number) => numbers.extend(number.as_f64()),
                    _ => {}
                }
            }
            if let (Json::String(text), Some(Json::String(other))) =
                (value, follow(&document, &question.second))
            {
                *pairs.entry(vec![text.clone(), other.clone()]).or_default() += 1.0;
            }
        }
        if texts.is_empty() && numbers.is_empty() {
            return None;
        }
        let number = Cell::Number;
        Some(match question.kind {
            FirstQuestionKind::Count | FirstQuestionKind::Elements => most_frequent(texts),
            FirstQuestionKind::Pairs => most_frequent(pairs),
            FirstQuestionKind::Top => {
                numbers.sort_by(|a, b| b.total_cmp(a));
                numbers.into_iter().take(10).map(|one| vec![number(one)]).collect()
            }
            FirstQuestionKind::Sum => {
                let (total, size) =
                    numbers.iter().fold((0.0, 0.0), |(total, size), one| (total + one, size + one.abs()));
                let count = numbers.len() as f64;
                vec![[total, total / count, count, size].map(number).to_vec()]
            }
            FirstQuestionKind::Filter => {
                let found = texts.get(std::slice::from_ref(&question.value));
                vec![vec![number(found.copied().unwrap_or_default())]]
            }
            FirstQuestionKind::Distinct => vec![vec![number(texts.len() as f64)]],
            FirstQuestionKind::Dates => latest_dates(&texts, question.bucket.unit),
            FirstQuestionKind::Epochs => latest_epochs(&numbers, question.bucket),
        })
    }
}

/// Numbers of documents by one or two texts.
type Counts = BTreeMap<Vec<String>, f64>;

fn most_frequent(counts: Counts) -> Vec<Vec<Cell>> {
    let mut all: Vec<(Vec<String>, f64)> = counts.into_iter().collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let row =
        |(texts, n): (Vec<String>, f64)| texts.into_iter().map(Cell::Text).chain([Cell::Number(n)]).collect();
    all.into_iter().take(10).map(row).collect()
}

/// Counts texts by the day or the hour that they begin with, the latest first.
fn latest_dates(texts: &Counts, unit: TimeUnit) -> Vec<Vec<Cell>> {
    let pattern = match unit {
        TimeUnit::Day => regex::Regex::new("^[0-9]{4}-[0-9]{2}-[0-9]{2}"),
        TimeUnit::Hour => regex::Regex::new("^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}"),
    };
    let pattern = pattern.unwrap();
    let mut buckets = BTreeMap::<&str, f64>::new();
    for (text, count) in texts {
        if let Some(bucket) = pattern.find(&text[0]) {
            *buckets.entry(bucket.as_str()).or_default() += count;
        }
    }
    let row = |(bucket, n): (&str, f64)| vec![Cell::Text(bucket.to_owned()), Cell::Number(n)];
    buckets.into_iter().rev().take(100).map(row).collect()
}

/// Counts times since 1970 by day or hour, as microseconds, the latest first.
fn latest_epochs(numbers: &[f64], bucket: TimeBucket) -> Vec<Vec<Cell>> {
    let ticks = bucket.plausible_ticks();
    let is_time = |number: &&f64| **number >= ticks.start as f64 && **number < ticks.end as f64;
    let mut buckets = BTreeMap::<u64, f64>::new();
    for number in numbers.iter().filter(is_time) {
        *buckets.entry(*number as u64 / bucket.ticks()).or_default() += 1.0;
    }
    let start_us = |bucket_number: u64| (bucket_number * bucket.unit.seconds() * 1_000_000) as f64;
    let row = |(number, n): (u64, f64)| vec![Cell::Number(start_us(number)), Cell::Number(n)];
    buckets.into_iter().rev().take(100).map(row).collect()
}

fn follow<'v>(value: &'v Json, keys: &[String]) -> Option<&'v Json> {
    keys.iter().try_fold(value, |value, key| value.as_object()?.get(key))
}

/// First members of the lists, the texts and the numbers that belong to a path.
fn beside(place: usize) -> [String; 3] {
    ["list", "text", "number"].map(|name| format!("{name}{place}"))
}

/// Documents with an array, texts and numbers below the path's last key, most of them times.
fn lists_and_times(place: usize, keys: &[String]) -> Vec<String> {
    let key = keys.last().cloned().unwrap_or_default();
    let [list, text, number] = beside(place);
    let string = |turn: usize| json!(STRINGS.get((turn + place) % STRINGS.len()).copied());
    let ticks_per_second = TimeBucket::RESOLUTIONS[place % 3];
    let texts = [
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:59:59Z",
        "2026-01-02 04:00:00",
        "2026-01-03",
        "1999-12-31T23:59:59.9+02:00",
        "soon",
        "",
        "2026-1-02",
        "é026-01-02",
        "2026-01-02x😀",
    ];
    let offsets = [0.0, 3_599.0, 3_600.0, 86_399.75, 86_400.0, -1e9, 4e9, 1e9];
    let mut lines = Vec::new();
    for turn in 0..texts.len() {
        let member = json!({ key.as_str(): string(turn % 4) });
        let elements = json!([
            string(turn % 3),
            member,
            {"other": "x"},
            7,
            null,
            string(0),
            {key.as_str(): 7},
            ["x"]
        ]);
        let time = 1_769_990_400.0 + offsets[turn % offsets.len()];
        let time = json!(time * ticks_per_second as f64);
        // Some systems keep an integral number as an integer.
        let time = if turn % 2 == 0 { json!(time.as_f64().map(|time| time as i64)) } else { time };
        let mut document = json!({});
        put(&mut document, &[list.clone(), key.clone()], elements);
        put(&mut document, &[text.clone(), key.clone()], json!(texts[turn]));
        put(&mut document, &[number.clone(), key.clone()], time);
        lines.push(if turn % 4 == 1 { escaped(&document) } else { document.to_string() });
    }
    let mut odd = json!({});
    put(&mut odd, &[list, key.clone()], json!("x"));
    put(&mut odd, &[text, key.clone()], json!(["2026-01-02"]));
    put(&mut odd, &[number, key], json!("1769990400"));
    lines.push(odd.to_string());
    lines
}

fn questions_of_lists_and_times(place: usize, keys: &[String]) -> Vec<Question> {
    let key = keys.last().cloned().unwrap_or_default();
    let [list, text, number] = beside(place);
    let unit = if place.is_multiple_of(2) { TimeUnit::Day } else { TimeUnit::Hour };
    let bucket = TimeBucket { unit, ticks_per_second: TimeBucket::RESOLUTIONS[place % 3] };
    [
        ("elements", FirstQuestionKind::Elements, list.clone(), Vec::new()),
        ("members", FirstQuestionKind::Elements, list, vec![key.clone()]),
        ("dates", FirstQuestionKind::Dates, text, Vec::new()),
        ("epochs", FirstQuestionKind::Epochs, number, Vec::new()),
    ]
    .into_iter()
    .map(|(name, kind, first, second)| Question {
        name: format!("{name}-{place}"),
        kind,
        keys: vec![first, key.clone()],
        second,
        bucket,
        value: String::new(),
        is_mixed: true,
    })
    .collect()
}

/// Writes a document with every character escaped that any JSON writer escapes.
fn escaped(value: &Json) -> String {
    let is_plain = |unit: u16| {
        u8::try_from(unit).is_ok_and(|byte| (b' '..0x7f).contains(&byte) && !b"\"\\/<>&'".contains(&byte))
    };
    let spelt = |unit: u16| match char::from_u32(unit.into()) {
        Some(plain) if is_plain(unit) => plain.to_string(),
        _ => format!("\\u{unit:04x}"),
    };
    let text = |text: &str| format!("\"{}\"", text.encode_utf16().map(spelt).collect::<String>());
    match value {
        Json::String(one) => text(one),
        Json::Array(elements) => format!("[{}]", elements.iter().map(escaped).collect::<Vec<_>>().join(",")),
        Json::Object(members) => {
            let members = members.iter().map(|(name, value)| format!("{}:{}", text(name), escaped(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        scalar => scalar.to_string(),
    }
}

fn is_number(place: usize) -> bool {
    place % 3 == 1
}

/// Puts a value at a path, unless the path is occupied or leads through a value that is not an object.
fn put(document: &mut Json, keys: &[String], value: Json) {
    let Some(members) = document.as_object_mut() else { return };
    match keys {
        [] => {}
        [last] => drop(members.entry(last.clone()).or_insert(value)),
        [first, rest @ ..] => put(members.entry(first.clone()).or_insert(json!({})), rest, value),
    }
}

fn profiles(lines: &[String]) -> Vec<PathProfile> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("documents.ndjson");
    write(&file, lines);
    let limits = SampleLimits { max_bytes: u64::MAX, max_time: Duration::from_secs(600), max_documents: 0 };
    sample(&Source::Path(file), limits, &|| false).unwrap().profile.paths
}

fn is_mixed(profiles: &[PathProfile], keys: &[String], is_number: bool) -> bool {
    let here =
        profiles.iter().filter(|one| one.steps().is_some_and(|one| one.keys == keys && !one.is_in_array));
    let types = here.flat_map(|one| &one.types).map(|one| one.json_type);
    types.filter(|one| *one != JsonType::Null).any(|one| match one {
        JsonType::Integer | JsonType::Float => !is_number,
        JsonType::String => is_number,
        _ => true,
    })
}

/// Writes documents, one per line.
pub(crate) fn write(file: &Path, lines: &[String]) {
    std::fs::write(file, lines.join("\n") + "\n").unwrap();
}
