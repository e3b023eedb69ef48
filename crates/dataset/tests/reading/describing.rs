//! Tests of the profiles of data sets.

use std::collections::BTreeMap;

use jsonathlon_dataset::DataError;
use jsonathlon_dataset::describe::{
    DescribeOptions, Hazard, JsonType, KeyFault, PathProfile, Profile, ScalarType, describe,
};
use jsonathlon_dataset::source::Source;
use serde_json::json;

use crate::common::{did, event, write};

fn described(content: impl AsRef<[u8]>, options: &DescribeOptions) -> Profile {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "a.json", content);
    let mut documents = 0;
    let profile =
        describe(&Source::Path(file), options, &mut |progress| documents = progress.documents, &|| false)
            .unwrap();
    assert_eq!(documents, profile.documents);
    let text = serde_json::to_string(&profile).unwrap();
    assert_eq!(serde_json::from_str::<Profile>(&text).unwrap(), profile);
    profile
}

fn path<'p>(profile: &'p Profile, name: &str) -> &'p PathProfile {
    profile
        .paths
        .iter()
        .find(|path| path.path == name)
        .unwrap_or_else(|| panic!("{name} in {:?}", profile.paths))
}

fn types(profile: &Profile, name: &str) -> Vec<(JsonType, u64)> {
    path(profile, name).types.iter().map(|found| (found.json_type, found.values)).collect()
}

#[test]
fn events_users_and_what_is_wrong_are_counted() {
    let (like, post) = ("app.bsky.feed.like", "app.bsky.feed.post");
    let lines = [
        event(&did(1), 30, "create", like).to_string(),
        event(&did(1), 10, "create", like).to_string(),
        event(&did(2), 20, "create", like).to_string(),
        event(&did(3), 20, "delete", like).to_string(),
        event(&did(2), 40, "update", post).to_string(),
        json!({"did": "did:web:x", "time_us": 25, "kind": "identity"}).to_string(),
        "{\"did\":\"no user\"".to_string(),
        "{\"a\":}".to_string(),
        "{\"b\":}".to_string(),
        "[1]".to_string(),
        r#"{"a":1,"a":"\u0000"}"#.to_string(),
    ];
    let text = lines.join("\n") + "\n\n";
    let profile = described(&text, &DescribeOptions::default());
    let no_json: usize = lines[6..9].iter().map(|line| line.len() + 1).sum();
    let bytes = (text.len() - 1 - no_json) as u64;
    assert_eq!((profile.documents, profile.bytes, profile.blank_lines), (8, bytes, 1));
    let events = profile.events.as_ref().unwrap();
    assert_eq!((events.first_us, events.last_us, events.users), (Some(10), Some(40), 4));
    let counted = |pairs: &[(&str, u64)]| -> BTreeMap<String, u64> {
        pairs.iter().map(|(name, count)| (name.to_string(), *count)).collect()
    };
    let found: Vec<(&str, u64, bool)> = profile
        .no_documents
        .iter()
        .map(|(reason, one)| (reason.as_str(), one.lines, one.first.ends_with("a.json, line 8")))
        .collect();
    assert_eq!(found, [("ends inside an array or object", 1, false), ("expected a value", 2, true)]);
    assert_eq!(profile.traits, counted(&[("not_object", 1), ("duplicate_keys", 1), ("nul_escape", 1)]));
    let kinds: Vec<_> = events.kinds.iter().map(|kind| (kind.kind.as_deref(), kind.documents)).collect();
    assert_eq!(kinds, [(Some("commit"), 5), (None, 1), (Some("identity"), 1)]);
    let found = &events.collections;
    assert_eq!(found.len(), 3);
    assert_eq!(
        (found[0].collection.as_deref(), found[0].documents, found[0].users_of_creates),
        (Some(like), 4, 2)
    );
    assert_eq!(found[0].operations, counted(&[("create", 3), ("delete", 1)]));
    assert_eq!((found[1].collection.as_deref(), found[1].documents, found[1].users_of_creates), (None, 2, 0));
    assert_eq!(
        (found[2].collection.as_deref(), found[2].documents, found[2].users_of_creates),
        (Some(post), 1, 0)
    );
    assert_eq!(profile.documents_left_out, 1);
    let lengths = profile.lengths.unwrap();
    let documents = lines[..6].iter().chain(&lines[9..]);
    let sizes: Vec<u64> = documents.map(|line| line.len() as u64).collect();
    assert_eq!((lengths.min, lengths.max), (*sizes.iter().min().unwrap(), *sizes.iter().max().unwrap()));
    assert_eq!(lengths.mean, sizes.iter().sum::<u64>() as f64 / 8.0);
}

#[test]
fn types_and_lengths_are_told_by_path() {
    let text = r#"
        {"s":"x","n":[1,2.5,[true,null]],"o":{"a":{},"b.c":1,"":"é"},"e":[]}
        {"s":{"t":1},"n":[],"o":{"a":{"z":18446744073709551615}}}
        {"s":"\u00e9\n日","n":null,"big":1e3}"#;
    let text: String = text.lines().map(|line| format!("{}\n", line.trim())).collect();
    let profile = described(text, &DescribeOptions::default());
    assert_eq!(types(&profile, "$"), [(JsonType::Object, 3)]);
    assert_eq!(types(&profile, "s"), [(JsonType::String, 2), (JsonType::Object, 1)]);
    assert_eq!(types(&profile, "s.t"), [(JsonType::Integer, 1)]);
    assert_eq!(types(&profile, "n"), [(JsonType::Null, 1), (JsonType::Array, 2)]);
    assert_eq!(types(&profile, "n[]"), [(JsonType::Integer, 1), (JsonType::Float, 1), (JsonType::Array, 1)]);
    assert_eq!(types(&profile, "n[][]"), [(JsonType::Null, 1), (JsonType::Boolean, 1)]);
    assert_eq!(types(&profile, "o.a.z"), [(JsonType::Integer, 1)]);
    assert_eq!(types(&profile, "o[\"b.c\"]"), [(JsonType::Integer, 1)]);
    assert_eq!(types(&profile, "o[\"\"]"), [(JsonType::String, 1)]);
    assert_eq!(types(&profile, "big"), [(JsonType::Float, 1)]);
    // An empty array adds no path for its elements.
    assert_eq!(types(&profile, "e"), [(JsonType::Array, 1)]);
    assert!(profile.paths.iter().all(|path| path.path != "e[]"));
    assert!(profile.paths.is_sorted_by(|a, b| a.path < b.path));
    let length = |name: &str, place: usize| {
        let length = path(&profile, name).types[place].length.unwrap();
        (length.min, length.mean, length.max)
    };
    assert_eq!(length("s", 0), (1, 3.5, 6));
    assert_eq!(length("n", 1), (0, 1.5, 3));
    assert_eq!(length("$", 0), (3, 10.0 / 3.0, 4));
    assert_eq!(path(&profile, "big").types[0].length, None);
    assert_eq!((profile.values_left_out, profile.documents_left_out), (0, 0));
}

#[test]
fn paths_and_names_are_limited() {
    let lines: String = (0..50)
        .map(|number| {
            format!(
                "{{\"k{number}\":[1],\"kind\":\"kind {number}\",\"commit\":{{\"operation\":\"op {number}\"}},\
                 \"did\":\"a\",\"time_us\":{number}}}\n"
            )
        })
        .collect();
    let profile = described(lines, &DescribeOptions { max_paths: 7, max_names: 3, ..Default::default() });
    assert_eq!(profile.paths.len(), 7);
    // Each document has 8 values (itself, array, element, kind, commit, operation, did, time_us), so all have
    // 400. Only those on seven paths are profiled.
    let told: u64 = profile.paths.iter().flat_map(|path| &path.types).map(|found| found.values).sum();
    assert_eq!(told + profile.values_left_out, 50 * 8);
    let events = profile.events.as_ref().unwrap();
    let kinds: Vec<_> =
        events.kinds.iter().map(|kind| (kind.kind.as_deref().unwrap(), kind.documents)).collect();
    assert_eq!(kinds, [("(others)", 47), ("kind 0", 1), ("kind 1", 1), ("kind 2", 1)]);
    assert_eq!(events.collections[0].operations.len(), 4);
    assert_eq!(events.collections[0].operations["(others)"], 47);
}

#[test]
fn documents_without_a_value_are_left_out_of_the_paths_only() {
    let deep = format!("{}1{}", "{\"a\":".repeat(101), "}".repeat(101));
    let text = format!("{deep}\n{{\"x\":1e999}}\n{{\"x\":\"\\ud800\"}}\n{{\"did\":\"a\"}}\n");
    let profile = described(text, &DescribeOptions::default());
    assert_eq!((profile.documents, profile.documents_left_out, profile.distinct_paths), (4, 3, 1));
    assert_eq!(profile.paths.len(), 2);
    // Depths, keys and hazards are of all documents.
    assert_eq!((profile.depths.unwrap().max, profile.keys.unwrap().total), (101, 104));
    let hazards: Vec<_> = profile.hazards.iter().map(|found| (found.hazard, found.documents)).collect();
    assert_eq!(hazards, [(Hazard::BigNumber, 1), (Hazard::LoneSurrogate, 1), (Hazard::Deep, 1)]);
}

#[test]
fn documents_of_any_kind_are_described_without_words_about_events() {
    let line = |n: u64| {
        let big = 9_007_199_254_740_992 + n;
        format!(
            r#"{{"_id":{{"$oid":"{n:024x}"}},"user_id":{n},"name":"name {n}","a.b":{big},"tags":["x","y"]}}"#
        )
    };
    let mut lines: Vec<String> = (0..1_500).map(line).collect();
    lines[700] = lines[700].replace("\"user_id\":700,", "");
    let profile = described(lines.join("\n"), &DescribeOptions::default());
    assert_eq!(profile.events, None);
    let written = serde_json::to_value(&profile).unwrap();
    for word in ["kinds", "collections", "users", "first_us", "events"] {
        assert!(written.get(word).is_none(), "{word}");
    }
    let found: Vec<_> = profile
        .hazards
        .iter()
        .map(|found| {
            (found.hazard, found.documents, found.example.as_deref(), found.first.ends_with("line 1"))
        })
        .collect();
    assert_eq!(
        found,
        [
            (Hazard::DottedKey, 1_500, Some("a.b"), true),
            (Hazard::DollarKey, 1_500, Some("$oid"), true),
            (Hazard::LargeInteger, 1_499, Some("9007199254740993"), false),
        ]
    );
    let candidates: Vec<_> = profile
        .key_candidates
        .iter()
        .map(|candidate| (candidate.pointer.as_str(), candidate.scalar_type))
        .collect();
    assert_eq!(
        candidates,
        [("/_id/$oid", ScalarType::Text), ("/name", ScalarType::Text), ("/a.b", ScalarType::Integer)]
    );
    assert_eq!(profile.key.as_ref().unwrap().name(), "/_id/$oid");
    assert_eq!(profile.rejected_keys.len(), 1);
    let rejected = &profile.rejected_keys[0];
    assert_eq!((rejected.pointer.as_str(), rejected.reason), ("/user_id", KeyFault::Missing));
    assert!(rejected.first.as_ref().unwrap().ends_with("a.json, line 701"), "{rejected:?}");
    // Texts of fewer than 8 bytes cannot hold a version: `name 0`.
    assert_eq!(profile.update.as_ref().unwrap().pointer, "/a.b");
    let depths = profile.depths.unwrap();
    assert_eq!((depths.min, depths.median, depths.max), (2, 2, 2));
    let keys = profile.keys.unwrap();
    assert_eq!((keys.min, keys.median, keys.max, keys.total), (5, 6, 6, 1_500 * 6 - 1));
    assert_eq!(profile.distinct_paths, 7);
    assert_eq!((path(&profile, "user_id").documents, path(&profile, "tags[]").documents), (1_499, 1_500));
    assert_eq!(
        (path(&profile, "tags[]").types[0].values, path(&profile, "tags[]").types[0].documents),
        (3_000, 1_500)
    );
}

#[test]
fn documents_without_a_key_are_numbered() {
    let profile = described("{\"id\":1}\n{\"id\":1}\n", &DescribeOptions::default());
    let key = profile.key.unwrap();
    assert_eq!((key.name(), key.pointer.as_deref(), key.scalar_type), ("line", None, ScalarType::Integer));
    assert_eq!(profile.rejected_keys[0].reason, KeyFault::DuplicateValue);
    assert_eq!(profile.update.unwrap().pointer, "/id", "which is no key");
    let nothing = described("{\n", &DescribeOptions::default());
    assert_eq!((nothing.documents, nothing.key, nothing.update, nothing.depths), (0, None, None, None));
}

#[test]
fn generated_events_have_the_shape_of_the_real_ones() {
    let source = Source::Generated { seed: 2, start: 0, documents: 3_000, malformed: 0 };
    let profile = describe(&source, &DescribeOptions::default(), &mut |_| (), &|| false).unwrap();
    assert_eq!(profile.documents, 3_000);
    assert!(profile.no_documents.is_empty());
    assert_eq!(types(&profile, "did"), [(JsonType::String, 3_000)]);
    assert_eq!(types(&profile, "time_us"), [(JsonType::Integer, 3_000)]);
    assert!(profile.events.unwrap().users > 100);
    let update = profile.update.unwrap();
    assert_eq!((update.scalar_type, update.documents), (ScalarType::Text, 3_000));
}

#[test]
fn describing_can_be_cancelled_and_fails_clearly() {
    let endless = Source::Generated { seed: 1, start: 0, documents: 1 << 40, malformed: 0 };
    let error = describe(&endless, &DescribeOptions::default(), &mut |_| (), &|| true).unwrap_err();
    assert!(matches!(error, DataError::Cancelled), "{error}");
    let error =
        describe(&Source::Path("/nowhere".into()), &DescribeOptions::default(), &mut |_| (), &|| false);
    assert!(matches!(error, Err(DataError::NotFound { .. })));
}
