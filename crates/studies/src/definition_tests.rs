use super::*;

const LEAST: &str = r#"
question = "What does it cost?"
minutes = 1
systems = ["mock"]
[still]
records = "1k"
mixes = "c"
[[vary]]
option = "durability"
values = ["synced", "window"]
[[verdict]]
of = { durability = "window" }
than = { durability = "synced" }
says = "{system} does {change} reads"
"#;

fn refused(from: &str, to: &str) -> String {
    assert!(LEAST.contains(from), "{from}");
    let text = LEAST.replacen(from, to, 1);
    Study::parse("mine", "mine.toml", &text).unwrap_err().to_string()
}

#[test]
fn a_study_is_read() {
    let study = Study::parse("mine", "mine.toml", LEAST).unwrap();
    assert_eq!(study.still["records"], "1k");
    assert_eq!(study.vary[0].values, ["synced", "window"]);
    assert_eq!(study.verdicts[0].clients, ClientSelector::Most);
    assert_eq!(study.wrong("records", "x").to_string(), "mine.toml:6: x");
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_what_is_allowed() {
    let said = |error: String, words: &[&str]| {
        for word in words {
            assert!(error.contains(word), "`{error}` lacks `{word}`");
        }
    };
    said(
        refused("question =", "qestion ="),
        &["mine.toml:2", "unknown field `qestion`", "expected one of", "`systems`"],
    );
    said(refused("records =", "record ="), &["mine.toml:6", "`record`", "doc-size", "records"]);
    said(refused("option = \"dur", "option = \"xdur"), &["mine.toml:9", "`xdurability`", "durability"]);
    said(refused("\"synced\", \"window\"", "\"synced\""), &["mine.toml:10", "two values at least"]);
    said(refused("{change}", "{chance}"), &["mine.toml:11", "`{chance}`", "change, value"]);
    said(refused("of = { durability", "of = { size"), &["mine.toml:11", "`size` is neither varied"]);
    said(refused("minutes = 1", "minutes = -1"), &["mine.toml:3", "above 0"]);
    said(refused("[\"mock\"]", "[]"), &["mine.toml:4", "no system"]);
    said(refused("than =", "kind = \"edge\"\nthan ="), &["mine.toml:11", "`along`"]);
    said(refused("says =", "claim = \"near\"\nsays ="), &["`near`"]);
    said(refused("says =", "clients = 0\nsays ="), &["\"most\" or \"peak\""]);
    said(refused("[still]", "[still"), &["mine.toml:5"]);
    said(refused("[[verdict]]", "[chart]\naxis = \"size\"\n[[verdict]]"), &["`size`", "`clients`"]);
    said(refused("mixes = \"c\"", "durability = \"synced\""), &["mine.toml:9", "held still"]);
}
