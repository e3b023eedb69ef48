use super::*;
use crate::built_in;
use crate::verdict_spec::ClientSelector;

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

const FRONTIER: &str = r#"
workload = "mixed"
question = "How much of both?"
minutes = 1
systems = ["mock"]
[still]
scale = "1k"
rate = "50%,max"
[chart]
kind = "frontier"
[[verdict]]
kind = "frontier"
of = { variant = "plain" }
says = "{system} keeps {share} of {documents} and {questions}{below}"
"#;

#[test]
fn a_study_of_another_workload_has_its_options_and_names() {
    let study = Study::parse("mine", "mine.toml", FRONTIER).unwrap();
    assert_eq!((study.workload, study.metric()), (StudyWorkload::Mixed, "questions_per_h"));
    let refused = |from: &str, to: &str, words: &[&str]| {
        assert!(FRONTIER.contains(from), "{from}");
        let error =
            Study::parse("mine", "mine.toml", &FRONTIER.replacen(from, to, 1)).unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "`{error}` lacks `{word}`");
        }
    };
    refused("\"mixed\"", "\"mixd\"", &["mine.toml:2", "`mixd`", "`serving` or `mixed`"]);
    refused("workload = \"mixed\"\n", "", &["mine.toml:7", "`rate`", "records"]);
    refused("scale =", "records =", &["mine.toml:7", "`records`", "scale", "streams"]);
    refused("{ variant =", "{ document =", &["mine.toml:11", "`document`", "phase, rate"]);
    refused("[chart]\n", "[chart]\nmix = \"all\"\n", &["mine.toml:9", "no further keys"]);
}

#[test]
fn a_share_is_never_said_without_both_peaks() {
    for missing in ["{share}", "{documents}", "{questions}"] {
        let text = FRONTIER.replacen(missing, "", 1);
        let error = Study::parse("mine", "mine.toml", &text).unwrap_err().to_string();
        assert!(error.contains("mine.toml:11: a share is never said") && error.contains(missing), "{error}");
    }
    let refused = |from: &str, to: &str| {
        Study::parse("mine", "mine.toml", &FRONTIER.replacen(from, to, 1)).unwrap_err().to_string()
    };
    assert!(refused("{below}", "{change}").contains("share, documents, questions, below"));
    assert!(refused("of = {", "claim = \"more\"\nof = {").contains("tests no claim"));
}

#[test]
fn a_cost_is_counted_in_cpus_against_a_reference() {
    let text = built_in("question-cores").unwrap().unwrap().text;
    let refused = |from: &str, to: &str, words: &str| {
        assert!(text.contains(from), "{from}");
        let error = Study::parse("mine", "mine.toml", &text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(words), "`{error}` lacks `{words}`");
    };
    refused("along = \"server-cpus\"", "along = \"rate\"", "`along = \"server-cpus\"`");
    refused(
        "[reference]\nsystem = \"yardstick\"\nvariant = \"one-core\"\n",
        "",
        "a cost needs a [reference]",
    );
    refused("variant = \"one-core\"", "variants = \"one-core\"", "unknown field `variants`");
    refused("{cores}", "{change}", "cores, value, reference, factor");
    refused("none =", "published =", "`none` says so");
    let (without, _) = text.split_once("[[verdict]]\nkind = \"cost\"").unwrap();
    let error = Study::parse("mine", "mine.toml", without).unwrap_err().to_string();
    assert!(error.contains("no verdict of `kind = \"cost\"` needs a reference"), "{error}");
}
