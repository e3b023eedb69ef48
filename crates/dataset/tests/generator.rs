//! Tests of the generated data set: determinism, document shape, exact counts, planted malformed lines.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests fail by panicking, like the tests"
)]

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use jsonathlon_dataset::generate::{GENERATOR_VERSION, Generator, MAX_EVENTS, Malformation};
use proptest::prelude::*;
use serde_json::Value;

fn bytes(mut generator: Generator, chunk: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while generator.fill(&mut out, chunk) {}
    out
}

fn events(seed: u64, range: Range<u64>) -> Vec<u8> {
    bytes(Generator::new(seed, range), 1 << 16)
}

fn lines(set: &[u8]) -> impl Iterator<Item = &[u8]> {
    set.split_inclusive(|&b| b == b'\n').map(|line| line.strip_suffix(b"\n").expect("a whole line"))
}

fn documents(seed: u64, range: Range<u64>) -> Vec<(Vec<u8>, Value)> {
    lines(&events(seed, range)).map(|line| (line.to_vec(), serde_json::from_slice(line).unwrap())).collect()
}

#[test]
fn bytes_of_this_version_never_change() {
    // A change of this digest requires a new GENERATOR_VERSION, because stored results identify their data by
    // it.
    let set = [events(1, 0..5_000), events(2, 123_456_789..123_458_789)].concat();
    assert_eq!(
        (GENERATOR_VERSION, blake3::hash(&set).to_hex().as_str()),
        (1, "98bf67478af8d481d7119b805574ec90050f3224d46bb54edb7271ca2d671f56")
    );
}

#[test]
fn seeds_give_different_sets() {
    let (one, two) = (events(1, 0..1000), events(2, 0..1000));
    let same = lines(&one).zip(lines(&two)).filter(|(a, b)| a == b).count();
    assert_eq!(same, 0);
}

#[test]
fn the_size_of_the_steps_does_not_matter() {
    let whole = events(3, 999_000..1_001_000);
    assert_eq!(bytes(Generator::new(3, 999_000..1_001_000), 1), whole);
    assert_eq!(bytes(Generator::new(3, 999_000..1_001_000), 10_000_000), whole);
    assert_eq!(lines(&whole).count(), 2_000);
}

#[test]
fn fill_appends_and_says_when_nothing_is_left() {
    let mut generator = Generator::new(1, 5..8);
    let mut buffer = b"kept".to_vec();
    assert!(generator.fill(&mut buffer, 1));
    assert!(buffer.starts_with(b"kept{\"did\":"));
    assert_eq!(generator.position(), 6);
    assert!(generator.fill(&mut buffer, usize::MAX >> 40));
    let length = buffer.len();
    assert!(!generator.fill(&mut buffer, 1000));
    assert_eq!(buffer.len(), length);
    assert!(!Generator::new(1, 9..9).fill(&mut buffer, 1000));
    assert!(!Generator::new(1, Range { start: 9, end: 3 }).fill(&mut buffer, 1000));
    assert!(!Generator::new(1, MAX_EVENTS..u64::MAX).fill(&mut buffer, 1000));
}

#[test]
fn the_last_possible_events_can_be_made() {
    assert_eq!(documents(1, MAX_EVENTS - 50..u64::MAX).len(), 50);
}

#[test]
fn time_increases_strictly_from_the_published_start() {
    for start in [0, 995_000, 99_999_000, 999_999_000] {
        let mut last = 0;
        for (line, event) in documents(11, start..start + 6_000) {
            let time = event["time_us"].as_u64().unwrap();
            assert!(time > last, "{}", String::from_utf8_lossy(&line));
            if last == 0 && start == 0 {
                assert_eq!(time, 1_732_206_349_000_167);
            }
            last = time;
        }
    }
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Returns `true` if the members appear in this order in the text; a parsed map would lose the order.
fn order_in(text: &str, names: &[&str]) -> bool {
    let places: Vec<_> = names.iter().map(|name| text.find(&format!("\"{name}\":"))).collect();
    places.iter().all(Option::is_some) && places.windows(2).all(|w| w[0] < w[1])
}

#[test]
fn every_event_is_json_of_a_known_kind_in_the_known_order() {
    let mut kinds: BTreeMap<String, u32> = BTreeMap::new();
    for (seed, start) in [(1, 0), (77, 12_345_678), (u64::MAX, 500_000)] {
        for (line, event) in documents(seed, start..start + 20_000) {
            let text = std::str::from_utf8(&line).unwrap();
            assert!(order_in(text, &["did", "time_us", "kind"]), "{text}");
            assert!(!text.contains(['<', '>', '&']), "unescaped as Go's encoder never leaves it: {text}");
            let did = event["did"].as_str().unwrap();
            assert!(did.len() == 32 && did.starts_with("did:plc:"), "{did}");
            let kind = event["kind"].as_str().unwrap();
            *kinds.entry(kind.to_owned()).or_default() += 1;
            assert_eq!(keys(&event).len(), 4);
            match kind {
                "commit" => check_commit(text, &event["commit"]),
                "identity" => {
                    let identity = &event["identity"];
                    assert_eq!(identity["did"], event["did"]);
                    assert!(identity["seq"].is_u64());
                    assert!((190..=240).contains(&line.len()), "{text}");
                }
                "account" => {
                    let account = &event["account"];
                    assert_eq!(account["did"], event["did"]);
                    assert!(text.contains("\"account\":{\"active\":"));
                    assert_eq!(account["active"].as_bool().unwrap(), account.get("status").is_none());
                }
                other => panic!("kind {other}"),
            }
        }
    }
    assert_eq!(kinds.len(), 3, "{kinds:?}");
}

fn check_commit(text: &str, commit: &Value) {
    let length = |name: &str| commit[name].as_str().map_or(0, str::len);
    assert_eq!(length("rev"), 13, "{text}");
    if commit["operation"] == "delete" {
        assert_eq!(keys(commit).len(), 4, "{text}");
        assert!(order_in(text, &["rev", "operation", "collection", "rkey"]), "{text}");
        return;
    }
    assert!(order_in(text, &["rev", "operation", "collection", "rkey", "record", "$type"]), "{text}");
    assert_eq!(keys(commit).len(), 6, "{text}");
    assert_eq!(length("cid"), 59, "{text}");
    assert!(text.ends_with(&format!("}},\"cid\":\"{}\"}}}}", commit["cid"].as_str().unwrap())));
    let record = &commit["record"];
    assert_eq!(record["$type"], commit["collection"], "{text}");
    let body = &text[text.find("\"record\":").unwrap()..];
    // The map of serde_json is sorted by name, and so must be the text.
    assert!(order_in(body, &keys(record)), "{text}");
    match commit["collection"].as_str().unwrap() {
        "app.bsky.feed.like" | "app.bsky.feed.repost" => {
            assert_eq!(record["subject"]["uri"].as_str().unwrap().len(), 70, "{text}");
            assert_eq!(keys(&record["subject"]), ["cid", "uri"]);
        }
        "app.bsky.graph.follow" | "app.bsky.graph.block" => {
            assert!(record["subject"].as_str().unwrap().starts_with("did:plc:"), "{text}");
        }
        "app.bsky.graph.listblock" => {
            assert!(record["subject"].as_str().unwrap().starts_with("at://"), "{text}")
        }
        "app.bsky.actor.profile" => assert_eq!(commit["rkey"], "self"),
        "app.bsky.feed.post" => check_post(record),
        _ => {}
    }
}

fn check_post(record: &Value) {
    let text = record["text"].as_str().unwrap();
    assert!(text.chars().count() <= 300, "{text}");
    for facet in record["facets"].as_array().into_iter().flatten() {
        let place = |name: &str| facet["index"][name].as_u64().unwrap() as usize;
        // Slicing panics if a facet splits a character.
        assert!(!text[place("byteStart")..place("byteEnd")].is_empty());
    }
    if let Some(languages) = record.get("langs") {
        assert!((1..=3).contains(&languages.as_array().unwrap().len()));
    }
    if let Some(reply) = record.get("reply") {
        assert_eq!(keys(reply), ["parent", "root"]);
    }
    if let Some(images) = record["embed"].get("images") {
        assert!((1..=4).contains(&images.as_array().unwrap().len()));
    }
}

#[test]
fn a_hundred_thousand_events_have_the_shape_of_the_set() {
    let set = documents(5, 0..100_000);
    let mut lengths: HashMap<(String, String), Vec<usize>> = HashMap::new();
    let mut collections: HashMap<Option<String>, u32> = HashMap::new();
    let mut post_members: BTreeMap<String, u32> = BTreeMap::new();
    let mut embeds: BTreeMap<String, u32> = BTreeMap::new();
    let (mut nul, mut early, mut late, mut far) = (0, 0, 0, 0);
    for (line, event) in &set {
        let commit = &event["commit"];
        let collection = commit["collection"].as_str().map(str::to_owned);
        *collections.entry(collection.clone()).or_default() += 1;
        let operation = commit["operation"].as_str().unwrap_or_default().to_owned();
        lengths.entry((collection.unwrap_or_default(), operation)).or_default().push(line.len());
        let record = &commit["record"];
        if let Some(created) = record["createdAt"].as_str() {
            let seconds =
                seconds_of_day(created) - (event["time_us"].as_i64().unwrap() % 86_400_000_000) / 1_000_000;
            if seconds > 5 {
                late += 1
            } else {
                early += 1
            }
            far += u32::from(seconds.abs() > 600);
        }
        if commit["collection"] == "app.bsky.feed.post" && record.is_object() {
            for member in keys(record) {
                *post_members.entry(member.to_owned()).or_default() += 1;
            }
            if let Some(embed) = record["embed"]["$type"].as_str() {
                *embeds.entry(embed.to_owned()).or_default() += 1;
            }
            nul += u32::from(record["text"].as_str().unwrap().contains('\0'));
        }
    }
    // A tenth of a block is a representative sample: within five standard deviations of a tenth.
    for (name, of_block) in [
        (Some("app.bsky.feed.like"), 448_944u32),
        (Some("app.bsky.graph.follow"), 360_374),
        (Some("app.bsky.feed.post"), 90_816),
        (Some("app.bsky.feed.repost"), 58_540),
        (Some("app.bsky.graph.block"), 14_040),
        (Some("app.bsky.actor.profile"), 11_762),
        (None, 5_328),
    ] {
        let (found, expected) =
            (f64::from(collections[&name.map(str::to_owned)]), f64::from(of_block) / 10.0);
        assert!((found - expected).abs() < 5.0 * expected.sqrt(), "{name:?}: {found} against {expected}");
    }
    for (collection, operation, length) in [
        ("app.bsky.feed.like", "create", 502),
        ("app.bsky.feed.repost", "create", 506),
        ("app.bsky.graph.follow", "create", 394),
        ("app.bsky.graph.block", "create", 392),
        ("app.bsky.feed.like", "delete", 196),
        ("app.bsky.graph.follow", "delete", 199),
    ] {
        let mut all = lengths.remove(&(collection.to_owned(), operation.to_owned())).unwrap();
        all.sort_unstable();
        assert_eq!(all[all.len() / 2], length, "{operation} {collection}");
        assert!(
            all[0] + 4 >= length && all[all.len() - 1] <= length + 8,
            "{collection}: forms of createdAt only"
        );
    }
    let posts = &lengths[&("app.bsky.feed.post".to_owned(), "create".to_owned())];
    let mean = posts.iter().sum::<usize>() as f64 / posts.len() as f64;
    assert!((750.0..830.0).contains(&mean), "posts have {mean} bytes on average");
    for member in ["embed", "facets", "labels", "langs", "reply", "tags", "text", "createdAt"] {
        assert!(post_members.contains_key(member), "no post has {member}");
    }
    assert_eq!(embeds.len(), 5, "{embeds:?}");
    assert!((1..=12).contains(&nul), "{nul} posts with a NUL");
    assert!(late > 500 && early > 80_000 && far == 0, "createdAt on both sides: {early} {late} {far}");
}

fn seconds_of_day(time: &str) -> i64 {
    let part = |range: Range<usize>| time[range].parse::<i64>().unwrap();
    part(11..13) * 3600 + part(14..16) * 60 + part(17..19)
}

#[test]
fn planted_lines_are_broken_and_all_others_are_whole() {
    let generator = Generator::new(6, 0..30_000).with_malformed(160, 30_000);
    let planted = generator.malformed_ordinals();
    assert_eq!(planted.len(), 160);
    for kind in Malformation::ALL {
        assert_eq!(planted.iter().filter(|p| p.kind == kind).count(), 20, "{}", kind.name());
    }
    let set = bytes(generator, 1 << 16);
    let whole = events(6, 0..30_000);
    let mut expected = planted.iter().map(|p| p.ordinal).peekable();
    let mut count = 0;
    for (ordinal, (line, good)) in lines(&set).zip(lines(&whole)).enumerate() {
        assert!(!line.is_empty());
        if expected.next_if_eq(&(ordinal as u64)).is_some() {
            assert!(
                serde_json::from_slice::<Value>(line).is_err(),
                "planted but valid: {}",
                String::from_utf8_lossy(line)
            );
            count += 1;
        } else {
            assert_eq!(line, good);
        }
    }
    assert_eq!(count, 160);
    assert_eq!(lines(&set).count(), 30_000);
}

#[test]
fn bad_utf8_is_planted_only_where_it_is_named() {
    let generator = Generator::new(9, 0..5_000).with_malformed(800, 5_000);
    let kinds: HashMap<u64, Malformation> =
        generator.malformed_ordinals().iter().map(|p| (p.ordinal, p.kind)).collect();
    for (ordinal, line) in lines(&bytes(generator, 1 << 16)).enumerate() {
        let named = kinds.get(&(ordinal as u64)) == Some(&Malformation::InvalidUtf8);
        assert_eq!(std::str::from_utf8(line).is_err(), named, "line {ordinal}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shards_concatenate(
        seed in any::<u64>(),
        start in prop_oneof![0..3_000_000u64, 998_000..1_002_000u64, any::<u64>().prop_map(|n| n % 2_000_000_000)],
        mut cuts in prop::collection::vec(0..3_000u64, 0..5),
        bad in 0..50u64,
    ) {
        let end = start + 3_000;
        let shard = |range| Generator::new(seed, range).with_malformed(bad * 1000, 2_000_000_000);
        let whole = bytes(shard(start..end), 1 << 14);
        cuts.sort_unstable();
        let mut edges = vec![start];
        edges.extend(cuts.iter().map(|cut| start + cut));
        edges.push(end);
        let parts: Vec<u8> =
            edges.windows(2).flat_map(|pair| bytes(shard(pair[0]..pair[1]), 1 << 12)).collect();
        prop_assert!(parts == whole, "shards {edges:?} differ from the whole");
    }

    #[test]
    fn any_event_of_any_seed_is_json(seed in any::<u64>(), start in 0..MAX_EVENTS) {
        for line in lines(&events(seed, start..start + 100)) {
            let parsed = serde_json::from_slice::<Value>(line);
            prop_assert!(parsed.is_ok(), "{}: {}", parsed.unwrap_err(), String::from_utf8_lossy(line));
        }
    }
}
