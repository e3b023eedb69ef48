//! Round-trip findings as they are recorded and shown.

use serde_json::json;

use super::{both, findings, run, told};
use crate::support::{World, mock};

#[test]
fn a_system_that_keeps_every_byte_is_safe() {
    let world = World::with(&[mock("ma", json!({})).fidelity("")]);
    let ended = run(&world, "ma", &[]).expect(0);
    let summary = ended.summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    assert!(summary.results.len() >= 250);
    let same = both(&[("", "accepted"), ("whole", "same bytes"), ("value", "same value")]);
    for case in [
        "number-30-digits",
        "key-empty",
        "duplicate-key",
        "space-pretty",
        "depth-100000-arrays",
        "string-of-4000000",
    ] {
        let found = told(&summary, "ma", case);
        let extracted = found.contains_key("bulk, value");
        assert!(extracted, "{case}: {found:?}");
        assert_eq!(found["bulk, whole"], "same bytes", "{case}");
    }
    assert_eq!(told(&summary, "ma", "literal-true"), same);
    for nesting in ["deepest-arrays", "deepest-objects"] {
        let found = told(&summary, "ma", nesting);
        assert_eq!((found.len(), found["levels accepted"].as_str()), (1, "100000"), "{nesting}");
    }
    assert_eq!(told(&summary, "ma", "top-array"), both(&[("", "accepted"), ("whole", "same bytes")]));
    // Rejections keep the system's message; documents that are not UTF-8 are inserted by the bulk path only.
    assert_eq!(told(&summary, "ma", "object-comma-at-end"), both(&[("", "rejected")]));
    assert_eq!(
        findings(&summary, "ma", "object-comma-at-end")[0].message.as_deref(),
        Some("not JSON: no key at byte 7")
    );
    let wrong = findings(&summary, "ma", "utf8-ff");
    assert_eq!([wrong[0].state.as_str(), wrong[1].state.as_str()], ["rejected", "not tested"]);
    let report = world.run(&["export", "-f", "markdown", &world.text("out")]).expect(0).stdout;
    assert!(report.contains("I-JSON-safe") && report.contains("| yes "), "{report}");
    let csv = world.run(&["export", "-f", "csv", &world.text("out")]).expect(0).stdout;
    assert!(csv.lines().next().unwrap().contains("\"bulk, whole\""), "{csv}");
    assert!(csv.contains("not JSON: no key at byte 7"));
    world.kept("out").is_complete();
    assert!(world.kept("out").work().is_empty());
}

#[test]
fn changes_are_told_by_kind_and_cost_the_grade() {
    let changes =
        json!({"read_back": {"drop_nulls": true, "reorder_keys": true}, "accepts_invalid_json": true});
    let world = World::with(&[mock("ma", changes).fidelity("")]);
    let cases = "null-member,order-descending,number-2-53,number-one-fraction,object-comma-at-end,utf8-ff,rest-second-object";
    let ended = run(&world, "ma", &["--cases", cases]).expect(0);
    let summary = ended.summary();
    let whole = |case: &str| told(&summary, "ma", case)["bulk, whole"].clone();
    assert_eq!(whole("null-member"), "changed: null members");
    assert_eq!(whole("order-descending"), "same value: key order");
    assert_eq!(whole("number-one-fraction"), "same bytes");
    // Invalid JSON text comes back unchanged; it should have been rejected.
    assert_eq!(whole("object-comma-at-end"), "same bytes");
    assert_eq!(whole("utf8-ff"), "same bytes");
    assert_eq!(findings(&summary, "ma", "null-member")[1].observed.as_deref(), Some(r#"{"w":1}"#));
    let report = world.run(&["export", "-f", "markdown", &world.text("out")]).expect(0).stdout;
    for words in
        ["null members", "| no ", "accepts what must be rejected", "null-member (changed: null members)"]
    {
        assert!(report.contains(words), "{words}: {report}");
    }
}

#[test]
fn a_document_of_several_lines_is_not_offered_where_a_line_is_a_document() {
    let world = World::with(&[mock("ma", json!({})).fidelity("one_line = true")]);
    let summary = run(&world, "ma", &["--cases", "space-pretty,literal-true"]).expect(0).summary();
    let pretty = told(&summary, "ma", "space-pretty");
    assert_eq!([&pretty["bulk"], &pretty["parameter, whole"]], ["not tested", "same bytes"]);
    assert_eq!(told(&summary, "ma", "literal-true")["bulk, whole"], "same bytes");
}

#[test]
fn the_deepest_document_is_found_to_the_level() {
    for (most, taken, refused) in [
        (180, Some("180"), "181: rejected"),
        (1000, Some("1000"), "1001: rejected"),
        (1, None, "2: rejected"),
    ] {
        let world = World::with(&[mock("ma", json!({"max_nesting": most})).fidelity("")]);
        let ended = run(&world, "ma", &["--cases", "deepest-"]).expect(0);
        let summary = ended.summary();
        for nesting in ["deepest-arrays", "deepest-objects"] {
            let found = told(&summary, "ma", nesting);
            assert_eq!(found.get("levels accepted").map(String::as_str), taken, "{nesting} {most}");
            assert_eq!(found["levels rejected"], refused, "{nesting} {most}");
            let words = findings(&summary, "ma", nesting).last().unwrap().message.clone();
            assert_eq!(words, Some(format!("a document has {most} levels at most")));
        }
        let report = world.run(&["export", "-f", "markdown", &world.text("out")]).expect(0).stdout;
        assert!(report.contains("deepest document accepted"), "{report}");
        world.nothing_left();
    }
}

#[test]
fn two_runs_say_the_same() {
    let world = World::with(&[mock("ma", json!({"read_back": {"reorder_keys": true}})).fidelity("")]);
    let all = |out: &str| {
        let (folder, out) = (world.text("systems"), world.text(out));
        let arguments = ["run", "fidelity", "--systems-dir", &folder, "-s", "ma", "--json", "-o", &out];
        let ended = world.run(&[&arguments[..], &["--cases", "order-,null-,empty-,duplicate-"]].concat());
        let results = ended.expect(0).summary().results;
        results.into_iter().map(|entry| (entry.cell.step, entry.findings)).collect::<Vec<_>>()
    };
    assert_eq!(all("one"), all("two"));
}
