//! Documents with arbitrary member names, and the expected answers to generated questions, computed naively.

use std::{collections::BTreeMap, path::Path, time::Duration};

use proptest::{prelude::*, strategy::ValueTree as _, test_runner::TestRunner};
use serde_json::{Value as Json, json};

use jsonathlon_catalogue::{KnownPath, TemplateKind};
use jsonathlon_dataset::{
    describe::{JsonType, PathProfile, SampleLimits, sample},
    source::Source,
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

/// A question about one path.
pub(crate) struct Question {
    pub(crate) name: String,
    pub(crate) kind: TemplateKind,
    pub(crate) keys: Vec<String>,
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
        let profiles = profiles(&lines);
        let mut questions = Vec::new();
        for (place, keys) in wanted.into_iter().enumerate() {
            let kinds: &[TemplateKind] = if is_number(place) {
                &[TemplateKind::Top, TemplateKind::Sum]
            } else {
                &[TemplateKind::Count, TemplateKind::Filter, TemplateKind::Distinct]
            };
            let is_mixed = is_mixed(&profiles, &keys, is_number(place));
            for kind in kinds {
                questions.push(Question {
                    name: format!("{}-{place}", kind.word()),
                    kind: *kind,
                    keys: keys.clone(),
                    value: STRINGS.get(place % STRINGS.len()).copied().unwrap_or_default().to_owned(),
                    is_mixed,
                });
            }
        }
        let steps = profiles.iter().filter_map(PathProfile::steps);
        let paths = steps.map(|one| KnownPath { keys: one.keys, is_in_array: one.is_in_array }).collect();
        Self { lines, paths, questions }
    }

    /// The expected answer over all documents except the rejected ones. `None` if no value is left.
    pub(crate) fn answer(&self, question: &Question, refused: &[usize]) -> Option<Vec<Vec<Cell>>> {
        let mut texts = BTreeMap::<String, f64>::new();
        let mut numbers = Vec::new();
        for (place, line) in self.lines.iter().enumerate().filter(|(place, _)| !refused.contains(place)) {
            let document: Json =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{place}: {error}"));
            match question.keys.iter().try_fold(&document, |value, key| value.as_object()?.get(key)) {
                Some(Json::String(text)) => *texts.entry(text.clone()).or_default() += 1.0,
                Some(Json::Number(number)) => numbers.extend(number.as_f64()),
                _ => {}
            }
        }
        if texts.is_empty() && numbers.is_empty() {
            return None;
        }
        let number = Cell::Number;
        Some(match question.kind {
            TemplateKind::Count => {
                let mut all: Vec<(String, f64)> = texts.into_iter().collect();
                all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
                all.into_iter().take(10).map(|(text, n)| vec![Cell::Text(text), number(n)]).collect()
            }
            TemplateKind::Top => {
                numbers.sort_by(|a, b| b.total_cmp(a));
                numbers.into_iter().take(10).map(|one| vec![number(one)]).collect()
            }
            TemplateKind::Sum => {
                let (total, size) =
                    numbers.iter().fold((0.0, 0.0), |(total, size), one| (total + one, size + one.abs()));
                let count = numbers.len() as f64;
                vec![[total, total / count, count, size].map(number).to_vec()]
            }
            TemplateKind::Filter => {
                vec![vec![number(texts.get(&question.value).copied().unwrap_or_default())]]
            }
            TemplateKind::Distinct => vec![vec![number(texts.len() as f64)]],
        })
    }
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
