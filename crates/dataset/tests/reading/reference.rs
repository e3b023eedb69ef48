//! Compares the reference answers with a naive implementation, and tests their rules on hand-written
//! documents.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_dataset::digest::rows_digest;
use jsonathlon_dataset::questions::Question;
use jsonathlon_dataset::reference::{Answers, Reference};
use jsonathlon_dataset::scan::scan;
use jsonathlon_schema::value::{Row, Value};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::common::{did, event};

fn observed(documents: &[Json]) -> Reference {
    let mut reference = Reference::default();
    for document in documents {
        reference.observe(&scan(document.to_string().as_bytes()).event);
    }
    assert_eq!(reference.documents(), documents.len() as u64);
    reference
}

fn answers(documents: &[Json]) -> Answers {
    observed(documents).answers()
}

type Name = Option<String>;

fn text(document: &Json, path: &str) -> Name {
    document.pointer(path).and_then(Json::as_str).map(String::from)
}

fn cell(name: &Name) -> Value {
    name.as_ref().map_or(Value::Null, |name| Value::Text(name.clone()))
}

fn number(number: Option<i64>) -> Value {
    number.map_or(Value::Null, Value::Int)
}

/// Sort key of a text that sorts null last.
fn last(name: &Name) -> (bool, Name) {
    (name.is_none(), name.clone())
}

/// Naive implementation of the questions as stated, with one pass and one map each.
fn naive(documents: &[Json], question: Question) -> Vec<Row> {
    let name = |document: &Json| text(document, "/commit/collection");
    let created = || {
        documents.iter().filter(|document| {
            text(document, "/kind").as_deref() == Some("commit")
                && text(document, "/commit/operation").as_deref() == Some("create")
        })
    };
    let posts = || created().filter(|document| name(document).as_deref() == Some("app.bsky.feed.post"));
    let time = |document: &Json| document.pointer("/time_us").and_then(Json::as_i64);
    match question {
        Question::Q1 => {
            let mut counts: BTreeMap<Name, i64> = BTreeMap::new();
            documents.iter().for_each(|document| *counts.entry(name(document)).or_default() += 1);
            let mut rows: Vec<_> = counts.into_iter().collect();
            rows.sort_by_key(|(event, count)| (Reverse(*count), last(event)));
            rows.iter().map(|(event, count)| vec![cell(event), Value::Int(*count)]).collect()
        }
        Question::Q2 => {
            let mut groups: BTreeMap<Name, (i64, BTreeSet<String>)> = BTreeMap::new();
            for document in created() {
                let group = groups.entry(name(document)).or_default();
                group.0 += 1;
                group.1.extend(text(document, "/did"));
            }
            let mut rows: Vec<_> = groups.into_iter().collect();
            rows.sort_by_key(|(event, (count, _))| (Reverse(*count), last(event)));
            rows.iter()
                .map(|(event, (count, users))| {
                    vec![cell(event), Value::Int(*count), Value::Int(users.len() as i64)]
                })
                .collect()
        }
        Question::Q3 => {
            let mut counts: BTreeMap<(Name, Option<i64>), i64> = BTreeMap::new();
            for document in created() {
                let event = name(document);
                if matches!(
                    event.as_deref(),
                    Some("app.bsky.feed.post" | "app.bsky.feed.repost" | "app.bsky.feed.like")
                ) {
                    let hour = time(document).map(|time| time.rem_euclid(86_400_000_000) / 3_600_000_000);
                    *counts.entry((event, hour)).or_default() += 1;
                }
            }
            let mut rows: Vec<_> = counts.into_iter().collect();
            rows.sort_by_key(|((event, hour), _)| (hour.is_none(), *hour, event.clone()));
            rows.iter()
                .map(|((event, hour), count)| vec![cell(event), number(*hour), Value::Int(*count)])
                .collect()
        }
        Question::Q4 | Question::Q5 => {
            let mut times: BTreeMap<Name, Vec<i64>> = BTreeMap::new();
            for document in posts() {
                times.entry(text(document, "/did")).or_default().extend(time(document));
            }
            let mut rows: Vec<(Name, Option<i64>)> = times
                .into_iter()
                .map(|(user, times)| {
                    let (min, max) = (times.iter().min().copied(), times.iter().max().copied());
                    let span = min.and_then(|min| Some(max?.saturating_sub(min)));
                    (user, if question == Question::Q4 { min } else { span })
                })
                .collect();
            rows.sort_by_key(|(user, value)| {
                let key = value.map(|value| if question == Question::Q5 { !value } else { value });
                (key.is_none(), key, last(user))
            });
            rows.truncate(3);
            rows.iter().map(|(user, value)| vec![cell(user), number(*value)]).collect()
        }
        Question::Q6 => {
            let mut counts: BTreeMap<Name, i64> = BTreeMap::new();
            posts().for_each(|post| *counts.entry(text(post, "/commit/record/langs/0")).or_default() += 1);
            let mut rows: Vec<_> = counts.into_iter().collect();
            rows.sort_by_key(|(language, count)| (Reverse(*count), last(language)));
            rows.iter().map(|(language, count)| vec![cell(language), Value::Int(*count)]).collect()
        }
    }
}

fn check(documents: &[Json]) {
    let answers = answers(documents);
    for question in Question::ALL {
        let expected = naive(documents, question);
        assert_eq!(answers.rows(question), expected, "{question} over {documents:?}");
        assert_eq!(answers.digest(question), rows_digest(&expected));
        assert!(expected.iter().all(|row| row.len() == question.columns().len()));
        let mut shuffled = expected.clone();
        shuffled.reverse();
        question.sort(&mut shuffled);
        assert_eq!(shuffled, expected, "{question}");
    }
}

/// Strategy that mostly yields the usual value, sometimes another type, sometimes nothing.
fn or_odd(usual: impl Strategy<Value = Json> + 'static) -> impl Strategy<Value = Option<Json>> {
    prop_oneof![
        12 => usual.prop_map(Some),
        1 => Just(None),
        1 => Just(Some(json!(null))),
        1 => Just(Some(json!(1.5))),
        1 => Just(Some(json!({"x": ["y"]}))),
    ]
}

fn one_of(texts: &[&str]) -> impl Strategy<Value = Json> + use<> {
    let texts: Vec<Json> = texts.iter().map(|text| json!(text)).collect();
    proptest::sample::select(texts)
}

fn object(members: Vec<(&str, Option<Json>)>) -> Json {
    members.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
}

fn random_event() -> impl Strategy<Value = Json> {
    let user = prop_oneof![
        6 => (0_u64..12).prop_map(|number| json!(did(number))),
        2 => one_of(&["", "did:web:a.example", "did:plc:SHORT", "zzz", "did:plc:é"]),
    ];
    let time = prop_oneof![
        4 => (1_732_206_349_000_167_i64..1_732_406_349_000_167).prop_map(Json::from),
        3 => (-4_i64..4).prop_map(|hour| json!(hour * 3_600_000_000)),
        1 => any::<i64>().prop_map(Json::from),
        1 => any::<u64>().prop_map(Json::from),
    ];
    let collections = ["post", "repost", "like"].map(|name| format!("app.bsky.feed.{name}"));
    let collections: Vec<&str> =
        collections.iter().map(String::as_str).chain(["", "other", "post"]).collect();
    let langs = proptest::collection::vec(one_of(&["en", "de", "", "日本"]), 0..3).prop_map(Json::from);
    let record =
        or_odd(langs).prop_map(|langs| object(vec![("langs", langs), ("text", Some(json!("a\n\"b\"")))]));
    let commit = (
        or_odd(one_of(&["create", "create", "create", "delete"])),
        or_odd(one_of(&collections)),
        or_odd(record),
    )
        .prop_map(|(operation, collection, record)| {
            object(vec![("operation", operation), ("collection", collection), ("record", record)])
        });
    (or_odd(user), or_odd(time), or_odd(one_of(&["commit", "commit", "commit", "identity"])), or_odd(commit))
        .prop_map(|(did, time, kind, commit)| {
            object(vec![("did", did), ("time_us", time), ("kind", kind), ("commit", commit)])
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn agrees_with_the_naive_answers(documents in proptest::collection::vec(random_event(), 0..120)) {
        check(&documents);
    }
}

const POST: &str = "app.bsky.feed.post";
const DAY: i64 = 86_400_000_000;

fn int(value: i64) -> Value {
    Value::Int(value)
}

fn name(text: &str) -> Value {
    Value::Text(text.to_string())
}

#[test]
fn nothing_has_no_rows() {
    check(&[]);
    assert!(Question::ALL.iter().all(|question| answers(&[]).rows(*question).is_empty()));
}

#[test]
fn counts_and_users_by_event() {
    let like = "app.bsky.feed.like";
    let documents = [
        event(&did(1), 1, "create", like),
        event(&did(1), 2, "create", like),
        event("did:web:b", 3, "create", like),
        event(&did(2), 4, "delete", like),
        event(&did(1), 5, "create", POST),
        json!({"did": did(9), "time_us": 6, "kind": "identity"}),
        json!({"time_us": 7, "kind": "commit", "commit": {"operation": "create", "collection": POST}}),
    ];
    check(&documents);
    let answers = answers(&documents);
    assert_eq!(
        answers.rows(Question::Q1),
        [vec![name(like), int(4)], vec![name(POST), int(2)], vec![Value::Null, int(1)]]
    );
    // An event without a user is counted, but does not count as a user.
    assert_eq!(
        answers.rows(Question::Q2),
        [vec![name(like), int(3), int(2)], vec![name(POST), int(2), int(1)]]
    );
}

#[test]
fn hours_are_of_utc_on_both_sides_of_1970() {
    let documents: Vec<Json> = [0, DAY - 1, DAY, -1, -DAY, i64::MIN, i64::MAX, 1_732_206_349_000_167]
        .into_iter()
        .map(|time| event(&did(1), time, "create", POST))
        .collect();
    check(&documents);
    let answers = answers(&documents);
    let hours: Vec<_> =
        answers.rows(Question::Q3).iter().map(|row| (row[1].clone(), row[2].clone())).collect();
    // 2024-11-21T16:25:49Z is in hour 16; the extremes of 64 bits are in hours 19 and 4.
    assert_eq!(
        hours,
        [(0, 3), (4, 1), (16, 1), (19, 1), (23, 2)].map(|(hour, count)| (int(hour), int(count)))
    );
}

#[test]
fn ties_go_to_the_first_user_by_bytes() {
    // In base32 order letters precede digits; in byte order digits precede letters.
    let users = ["did:plc:a", "did:plc:2", "did:plc:z", "did:plc:7"].map(|start| format!("{start:a<32}"));
    let mut documents: Vec<Json> = users.iter().map(|user| event(user, 5, "create", POST)).collect();
    documents.push(event("did:aaa", 5, "create", POST));
    check(&documents);
    let answers = answers(&documents);
    for question in [Question::Q4, Question::Q5] {
        let users: Vec<_> = answers.rows(question).iter().map(|row| row[0].clone()).collect();
        assert_eq!(
            users,
            [name("did:aaa"), name(&format!("{:a<32}", "did:plc:2")), name(&format!("{:a<32}", "did:plc:7"))]
        );
    }
}

#[test]
fn users_without_a_time_come_last_and_nobody_is_a_group() {
    let untimed = |user: Json| json!({"did": user, "kind": "commit", "commit": {"operation": "create", "collection": POST}});
    let documents = [
        untimed(json!("b")),
        untimed(json!("a")),
        untimed(json!(7)),
        event("c", 9, "create", POST),
        event("c", 4, "create", POST),
    ];
    check(&documents);
    let answers = answers(&documents);
    let untimed = |user: &str| vec![name(user), Value::Null];
    assert_eq!(answers.rows(Question::Q4), [vec![name("c"), int(4)], untimed("a"), untimed("b")]);
    assert_eq!(answers.rows(Question::Q5), [vec![name("c"), int(5)], untimed("a"), untimed("b")]);
    check(&documents[2..]);
}

#[test]
fn spans_saturate() {
    let documents = [event("a", i64::MIN, "create", POST), event("a", i64::MAX, "create", POST)];
    assert_eq!(answers(&documents).rows(Question::Q5), [vec![name("a"), int(i64::MAX)]]);
}

#[test]
fn languages_are_of_posts_only() {
    let documents = [
        event("a", 1, "create", POST),
        event("a", 1, "delete", POST),
        event("a", 1, "create", "app.bsky.feed.like"),
        json!({"kind": "commit", "commit": {"operation": "create", "collection": POST, "record": {"langs": []}}}),
        json!({"kind": "commit", "commit": {"operation": "create", "collection": POST, "record": {"langs": "en"}}}),
    ];
    check(&documents);
    assert_eq!(answers(&documents).rows(Question::Q6), [vec![Value::Null, int(2)], vec![name("en"), int(1)]]);
}

#[test]
fn a_copy_goes_its_own_way() {
    let first = observed(&[event("a", 1, "create", POST)]);
    let mut copy = first.clone();
    copy.observe(&scan(event("b", 2, "create", POST).to_string().as_bytes()).event);
    assert_eq!(first.answers().rows(Question::Q2)[0][2], int(1));
    assert_eq!(copy.answers().rows(Question::Q2)[0][2], int(2));
    assert_ne!(first.answers(), copy.answers());
    let written = serde_json::to_value(first.answers()).unwrap();
    assert_eq!(written["q4"], json!([["a", 1]]));
}
