use super::*;

const MINIMAL: &str = r#"
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

fn parse_error(from: &str, to: &str) -> String {
    assert!(MINIMAL.contains(from), "{from}");
    let text = MINIMAL.replacen(from, to, 1);
    Study::parse("mine", "mine.toml", &text).unwrap_err().to_string()
}

#[test]
fn a_study_is_read() {
    let study = Study::parse("mine", "mine.toml", MINIMAL).unwrap();
    assert_eq!(study.fixed["records"], "1k");
    assert_eq!(study.vary[0].values, ["synced", "window"]);
    assert_eq!(study.verdicts[0].clients, ClientSelector::Most);
    assert_eq!(study.invalid_value("records", "x").to_string(), "mine.toml:6: x");
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_what_is_allowed() {
    let check = |error: String, substrings: &[&str]| {
        for substring in substrings {
            assert!(error.contains(substring), "`{error}` lacks `{substring}`");
        }
    };
    check(
        parse_error("question =", "qestion ="),
        &["mine.toml:2", "unknown field `qestion`", "expected one of", "`systems`"],
    );
    check(parse_error("records =", "record ="), &["mine.toml:6", "`record`", "document-size", "records"]);
    check(parse_error("option = \"dur", "option = \"xdur"), &["mine.toml:9", "`xdurability`", "durability"]);
    check(parse_error("\"synced\", \"window\"", "\"synced\""), &["mine.toml:10", "two values at least"]);
    check(parse_error("{change}", "{chance}"), &["mine.toml:11", "`{chance}`", "change, value"]);
    check(parse_error("of = { durability", "of = { size"), &["mine.toml:11", "`size` is neither varied"]);
    check(parse_error("minutes = 1", "minutes = -1"), &["mine.toml:3", "above 0"]);
    check(parse_error("[\"mock\"]", "[]"), &["mine.toml:4", "no system"]);
    check(parse_error("than =", "kind = \"edge\"\nthan ="), &["mine.toml:11", "`along`"]);
    check(parse_error("says =", "claim = \"near\"\nsays ="), &["`near`"]);
    check(parse_error("says =", "clients = 0\nsays ="), &["\"most\" or \"peak\""]);
    check(parse_error("[still]", "[still"), &["mine.toml:5"]);
    check(parse_error("[[verdict]]", "[chart]\naxis = \"size\"\n[[verdict]]"), &["`size`", "`clients`"]);
    check(parse_error("mixes = \"c\"", "durability = \"synced\""), &["mine.toml:9", "held still"]);
}
