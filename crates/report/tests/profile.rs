//! Tests of the tables of a data profile.

use jsonathlon_dataset::describe::{DescribeOptions, Profile, describe};
use jsonathlon_dataset::source::Source;
use jsonathlon_report::profile::render;
use jsonathlon_report::render::TableStyle;

/// Describes lines as if they were in the file `data.ndjson` of the current folder.
fn described(lines: &[String]) -> Profile {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.ndjson");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let source = Source::Path(file.clone());
    let profile = describe(&source, &DescribeOptions::default(), &mut |_| (), &|| false).unwrap();
    let text = serde_json::to_string(&profile).unwrap();
    serde_json::from_str(&text.replace(file.to_str().unwrap(), "data.ndjson")).unwrap()
}

/// Orders with everything that the tables can show, but for events.
fn orders() -> Vec<String> {
    let line = |n: u32| {
        format!(
            r#"{{"_id":"{n:06x}","user_id":{},"status":"delivered {n}","price":{n}.5,"items":[{{"sku":"{n}","tags":[]}}]}}"#,
            n % 10
        )
    };
    let mut lines: Vec<String> = (0..40).map(line).collect();
    lines[7] = r#"{"_id":"x","a.b":{"":1,"$ref":"\u0000"},"a.b":12345678901234567890}"#.to_owned();
    lines[9] = r#"{"_id":"broken""#.to_owned();
    lines[11] = format!(r#"{{"_id":"deep","x":{}1{}}}"#, "[".repeat(101), "]".repeat(101));
    lines.push(String::new());
    lines.push(r#"{"_id":"é","pi":3.14159265358979323846,"half":"\ud83d","note":"last"}"#.to_owned());
    lines
}

#[test]
fn documents_of_any_kind_within_80_columns() {
    let text = render(&described(&orders()), TableStyle::PLAIN.compact(80));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn documents_of_any_kind_in_full() {
    insta::assert_snapshot!(render(&described(&orders()), TableStyle::PLAIN));
}

#[test]
fn documents_without_a_key_and_without_hazards() {
    let lines: Vec<String> = (0..3).map(|_| r#"{"id":1,"size":2.5}"#.to_owned()).collect();
    insta::assert_snapshot!(render(&described(&lines), TableStyle::PLAIN.compact(80)));
}

#[test]
fn events_have_kinds_collections_and_users() {
    let source = Source::Generated { seed: 1, start: 0, documents: 500, malformed: 0 };
    let profile = describe(&source, &DescribeOptions::default(), &mut |_| (), &|| false).unwrap();
    let text = render(&profile, TableStyle::PLAIN.compact(100));
    for words in
        ["time_us: ", "distinct users (did): ", "kinds", "collections", "app.bsky.feed.post", "create"]
    {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
    let others = render(&described(&orders()), TableStyle::PLAIN);
    for words in ["time_us", "users", "kinds", "collections"] {
        assert!(!others.contains(words), "{words} is in\n{others}");
    }
}

#[test]
fn nothing_to_describe_has_neither_key_nor_hazards() {
    let text = render(&described(&["{".to_owned()]), TableStyle::PLAIN);
    assert!(text.contains("0 documents") && text.contains("ends inside an array or object"), "{text}");
    assert!(!text.contains("key") && !text.contains("refuse"), "{text}");
}
