//! Compares the yardstick's answers with naive ones and with those of the reference.

use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_dataset::questions::Question;
use jsonathlon_dataset::reference::Reference;
use jsonathlon_dataset::scan::scan;
use jsonathlon_schema::value::{Row, Value};
use proptest::prelude::*;
use serde_json::Value as Json;

use super::{Table, TableBuilder, Threads};

const POST: &str = "app.bsky.feed.post";

fn table(documents: &[String], threads: &Threads) -> Table {
    let mut builder = TableBuilder::default();
    for document in documents {
        assert_eq!(builder.push(document.as_bytes()), Ok(Ok(())), "{document}");
    }
    builder.finish(threads)
}

fn text(value: Option<&Json>) -> Value {
    value.and_then(Json::as_str).map_or(Value::Null, |text| Value::Text(text.to_owned()))
}

/// Sort key of a value as in the answers: nulls last.
fn key(value: &Value) -> (bool, i64, String) {
    match value {
        Value::Int(number) => (false, *number, String::new()),
        Value::Text(text) => (false, 0, text.clone()),
        _ => (true, 0, String::new()),
    }
}

/// Answers by maps over whole documents, following the wording of the questions.
fn naive(documents: &[String]) -> Vec<Vec<Row>> {
    let documents: Vec<Json> = documents.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let event = |document: &Json| text(document.pointer("/commit/collection"));
    let created: Vec<&Json> = documents
        .iter()
        .filter(|document| {
            document.pointer("/kind") == Some(&"commit".into())
                && document.pointer("/commit/operation") == Some(&"create".into())
        })
        .collect();
    let posts: Vec<&Json> =
        created.iter().copied().filter(|post| event(post) == Value::Text(POST.into())).collect();
    let count = |values: Vec<Value>| {
        let mut counts: BTreeMap<_, (Value, i64)> = BTreeMap::new();
        for value in values {
            counts.entry(key(&value)).or_insert((value, 0)).1 += 1;
        }
        let mut counts: Vec<_> = counts.into_values().collect();
        counts.sort_by_key(|(_, count)| -count);
        counts
    };
    let rows = |counts: Vec<(Value, i64)>| -> Vec<Row> {
        counts.into_iter().map(|(value, count)| vec![value, Value::Int(count)]).collect()
    };
    let q1 = rows(count(documents.iter().map(event).collect()));
    let q2 = count(created.iter().map(|document| event(document)).collect())
        .into_iter()
        .map(|(name, count)| {
            let users: BTreeSet<_> = created
                .iter()
                .filter(|document| event(document) == name)
                .filter_map(|document| document["did"].as_str())
                .collect();
            vec![name, Value::Int(count), Value::Int(users.len() as i64)]
        })
        .collect();
    let mut hours: BTreeMap<_, Row> = BTreeMap::new();
    for document in &created {
        let name = event(document);
        if ["post", "repost", "like"].map(|name| Value::Text(format!("app.bsky.feed.{name}"))).contains(&name)
        {
            let hour = document["time_us"].as_i64().map_or(Value::Null, |time| {
                Value::Int((i128::from(time).rem_euclid(86_400_000_000) / 3_600_000_000) as i64)
            });
            let row = hours.entry((key(&hour), key(&name))).or_insert(vec![name, hour, Value::Int(0)]);
            if let Value::Int(count) = &mut row[2] {
                *count += 1;
            }
        }
    }
    let mut times: BTreeMap<_, (Value, Vec<i64>)> = BTreeMap::new();
    for post in &posts {
        let user = text(post.get("did"));
        times.entry(key(&user)).or_insert((user, vec![])).1.extend(post["time_us"].as_i64());
    }
    let veterans = |value: &dyn Fn(&[i64]) -> Option<i64>, sign: i128| -> Vec<Row> {
        let mut users: Vec<_> = times.values().map(|(user, times)| (value(times), user)).collect();
        users.sort_by_key(|(value, user)| {
            (value.is_none(), value.map(|value| sign * i128::from(value)), key(user))
        });
        let cell = |value: Option<i64>| value.map_or(Value::Null, Value::Int);
        users.iter().take(3).map(|(value, user)| vec![(*user).clone(), cell(*value)]).collect()
    };
    let q4 = veterans(&|times| times.iter().min().copied(), 1);
    let q5 = veterans(&|times| Some(times.iter().max()?.saturating_sub(*times.iter().min()?)), -1);
    let q6 = rows(count(posts.iter().map(|post| text(post.pointer("/commit/record/langs/0"))).collect()));
    vec![q1, q2, hours.into_values().collect(), q4, q5, q6]
}

fn check(documents: &[String]) {
    let single = Threads::new(1).unwrap();
    let several = Threads::with_least_rows(3, 1).unwrap();
    let naive = naive(documents);
    let mut reference = Reference::default();
    for document in documents {
        reference.observe(&scan(document.as_bytes()).event);
    }
    let reference = reference.answers();
    for threads in [&single, &several] {
        let table = table(documents, threads);
        assert_eq!(table.rows(), documents.len());
        for (question, naive) in Question::ALL.into_iter().zip(&naive) {
            let answer = table.answer(question, threads);
            assert_eq!(&answer, naive, "{question} on {} threads, naively", threads.count());
            assert_eq!(answer, reference.rows(question), "{question} on {} threads", threads.count());
        }
    }
}

/// One of the usual texts, or a value that the questions treat as null.
fn odd_or(common: &'static [&'static str]) -> impl Strategy<Value = Option<String>> {
    const ODD: [&str; 8] = ["7", "null", "true", "[]", "{}", "[\"x\"]", "-1.5e3", "18446744073709551615"];
    prop_oneof![
        8 => proptest::sample::select(common).prop_map(|text| Some(text.to_owned())),
        1 => proptest::sample::select(&ODD[..]).prop_map(|text| Some(text.to_owned())),
        1 => Just(None),
    ]
}

fn object(members: Vec<(&str, Option<String>)>) -> String {
    let members = members.into_iter().filter_map(|(name, value)| Some(format!("\"{name}\":{}", value?)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

fn document() -> impl Strategy<Value = String> {
    let users = &[
        r#""did:plc:a""#,
        r#""did:plc:b""#,
        r#""did:plc:\u0061""#,
        r#""did:plc:é""#,
        r#""""#,
        r#""日本""#,
        r#""\ud83d\ude00""#,
        r#""a\"b\\""#,
        r#""Z""#,
        r#""\u0000""#,
    ];
    let times = prop_oneof![
        3 => (0_i64..5).prop_map(|time| Some(time.to_string())),
        2 => (-30_i64..30).prop_map(|hour| Some((hour * 3_600_000_000).to_string())),
        1 => any::<i64>().prop_map(|time| Some(time.to_string())),
        2 => odd_or(&["1732206349000167", "9223372036854775807", "-9223372036854775808"]),
    ];
    let kinds = &[r#""commit""#, r#""commit""#, r#""commit""#, r#""c\u006fmmit""#, r#""identity""#];
    let operations = &[r#""create""#, r#""create""#, r#""create""#, r#""delete""#];
    let collections = &[
        r#""app.bsky.feed.post""#,
        r#""app.bsky.feed.post""#,
        r#""\u0061pp.bsky.feed.post""#,
        r#""app.bsky.feed.like""#,
        r#""app.bsky.feed.repost""#,
        r#""other""#,
        r#""""#,
    ];
    let langs = &[r#"["en"]"#, r#"["de","en"]"#, r#"["日本"]"#, r#"[7,"en"]"#, r#"["\u0065n"]"#, r#"[null]"#];
    let record = prop_oneof![
        8 => odd_or(langs).prop_map(|langs| {
            Some(object(vec![("text", Some(r#""a\n""#.into())), ("langs", langs)]))
        }),
        1 => odd_or(&["\"x\""]),
    ];
    let commit = prop_oneof![
        12 => (odd_or(operations), odd_or(collections), record).prop_map(|(operation, collection, record)| {
            Some(object(vec![("record", record), ("operation", operation), ("collection", collection)]))
        }),
        1 => odd_or(&["\"x\""]),
    ];
    prop_oneof![
        30 => (odd_or(users), times, odd_or(kinds), commit).prop_map(|(did, time, kind, commit)| {
            object(vec![("did", did), ("time_us", time), ("kind", kind), ("commit", commit)])
        }),
        1 => proptest::sample::select(&["[]", "null", "\"x\"", "{}", "1"][..]).prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn agrees_with_naive_answers_and_with_the_reference(
        documents in proptest::collection::vec(document(), 0..150),
    ) {
        check(&documents);
    }

    #[test]
    fn documents_that_come_later_are_as_if_they_had_come_at_once(
        documents in proptest::collection::vec(document(), 0..40),
        split in any::<prop::sample::Index>(),
    ) {
        let threads = Threads::new(1).unwrap();
        let combined = table(&documents, &threads);
        let (first, second) = documents.split_at(split.index(documents.len() + 1));
        let mut builder = TableBuilder::extending(&table(first, &threads)).unwrap();
        for document in second {
            builder.push(document.as_bytes()).unwrap().unwrap();
        }
        let appended = builder.finish(&threads);
        for question in Question::ALL {
            prop_assert_eq!(appended.answer(question, &threads), combined.answer(question, &threads));
        }
    }
}

#[test]
fn ties_and_users_without_a_time_are_in_the_stated_order() {
    let post = |user: &str, time: &str| {
        format!(
            r#"{{"did":{user},"time_us":{time},"kind":"commit","commit":{{"operation":"create","collection":"{POST}"}}}}"#
        )
    };
    let documents: Vec<String> =
        ["\"z\"", "\"é\"", "\"a\"", "7", "\"Z\""].iter().map(|user| post(user, "5")).collect();
    check(&documents);
    let mut untimed: Vec<String> = ["7", "\"b\"", "\"a\""].iter().map(|user| post(user, "null")).collect();
    check(&untimed);
    untimed.push(post("\"z\"", "9"));
    check(&untimed);
    check(&[
        post("\"a\"", "-9223372036854775808"),
        post("\"a\"", "9223372036854775807"),
        post("\"b\"", "null"),
    ]);
}

#[test]
fn generated_events_agree_whatever_the_threads() {
    let mut text = Vec::new();
    let mut generator = jsonathlon_dataset::generate::Generator::new(7, 0..30_000);
    while generator.fill(&mut text, 1 << 20) {}
    let documents: Vec<String> = String::from_utf8(text).unwrap().lines().map(str::to_owned).collect();
    check(&documents);
}
