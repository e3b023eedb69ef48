//! Tests of the tables of synthetic fidelity runs.

use jsonathlon_report::render::TableStyle;
use jsonathlon_report::run::{markdown, tables};
use jsonathlon_results::compare::compare;
use jsonathlon_results::run::Run;
use jsonathlon_results::test_fixtures::{cell, configuration, record, run, trial};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::record::{Finding, JournalRecord, Phase, RecordBody};
use jsonathlon_schema::settings::{
    WorkloadSettings,
    fidelity::{CorpusSelection, FidelitySettings, KnownCase, RfcRequirement},
};

/// The findings of one configuration on a document: subject, state and kinds.
fn found(of: &Configuration, case: &str, findings: &[(&str, &str, &[&str])]) -> JournalRecord {
    let mut cell = cell(of, case, Phase::Steady);
    cell.workload = "fidelity".into();
    cell.state = None;
    let mut trial = trial(cell, 1, None);
    trial.findings = findings
        .iter()
        .map(|(name, state, kinds)| Finding {
            kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
            ..Finding::new(name, *state)
        })
        .collect();
    record(trial)
}

const KEPT: [(&str, &str, &[&str]); 4] = [
    ("bulk", "accepted", &[]),
    ("bulk, whole", "same bytes", &[]),
    ("parameter", "accepted", &[]),
    ("parameter, whole", "same bytes", &[]),
];

fn made() -> Run {
    let (one, other) = (configuration("sqlite", "3"), configuration("clickhouse", "26"));
    let records = vec![
        found(&one, "fine", &KEPT),
        found(&one, "broken", &[("bulk", "rejected", &[]), ("parameter", "rejected", &[])]),
        found(&one, "odd", &KEPT),
        found(
            &other,
            "fine",
            &[
                ("bulk", "accepted", &[]),
                ("bulk, whole", "changed", &["key order", "null members"]),
                ("bulk, value", "same value", &["number form"]),
                ("parameter", "crashed", &[]),
            ],
        ),
        found(
            &one,
            "deepest-arrays",
            &[("levels accepted", "1000", &[]), ("levels rejected", "1001", &["rejected"])],
        ),
        found(&one, "deepest-objects", &[("levels accepted", "100000", &[])]),
        found(&other, "deepest-arrays", &[("levels rejected", "2", &["crashed"])]),
        found(&other, "broken", &KEPT),
        found(&other, "odd", &[("bulk", "not tested", &[]), ("parameter", "rejected", &[])]),
    ];
    let mut run = run("a-run", vec![one, other], records);
    let case = |name: &str, requirement: RfcRequirement, decides_i_json: bool| KnownCase {
        name: name.to_owned(),
        requirement,
        source: "RFC 8259 §4".to_owned(),
        probes: "it".to_owned(),
        decides_i_json,
        bytes: 2,
        document: "<script>".to_owned(),
    };
    let cases = vec![
        case("fine", RfcRequirement::Accept, true),
        case("broken", RfcRequirement::Reject, false),
        case("odd", RfcRequirement::Choose, false),
    ];
    let fidelity = Some(FidelitySettings { corpus: CorpusSelection::default(), cases });
    run.manifest.settings.workload = WorkloadSettings { fidelity, ..WorkloadSettings::default() };
    run
}

fn rows(text: &str) -> Vec<String> {
    let cells = |line: &str| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>().join("|");
    text.lines().filter(|line| line.starts_with('|')).map(cells).collect()
}

#[test]
fn every_configuration_has_its_counts_its_kinds_and_its_grade() {
    let text = markdown(&made());
    let rows = rows(&text);
    for row in [
        // Equal findings of both insert paths share one row.
        "sqlite 3|plain|both|1 of 1|1 of 1|1 of 1|2|0|0|0|0|0|0",
        "clickhouse 26|plain|bulk|1 of 1|0 of 1|0 of 0|1|0|1|0|0|0|1",
        "clickhouse 26|plain|parameter|0 of 1|0 of 1|0 of 1|1|0|0|0|0|1|0",
        "sqlite 3|plain|1000|100000 or more|arrays in each other: 1001 rejected",
        "clickhouse 26|plain|less than 2|–|arrays in each other: 2 crashed",
        "key order|clickhouse plain (1)|fine",
        "null members|clickhouse plain (1)|fine",
        "number form|clickhouse plain (1)|fine",
        "sqlite 3|plain|yes|1 of 1|",
        "clickhouse 26|plain|no|0 of 1|fine (changed: key order, null members)",
        "clickhouse 26|plain|accepts what must be rejected|1|broken",
        "clickhouse 26|plain|ends or hangs|1|fine",
    ] {
        assert!(rows.iter().any(|known| known == row), "{row}\n{text}");
    }
    assert!(!rows.iter().any(|row| row.contains("loses what it accepted")), "{text}");
}

#[test]
fn what_is_found_otherwise_is_seen() {
    let same = compare(&made(), &made(), false).unwrap();
    assert!(same.cells.is_empty(), "{:?}", same.cells);
    let mut other = made();
    if let RecordBody::Trial(trial) = &mut other.records[0].body {
        trial.findings[1] = Finding::new("bulk, whole", "nothing returned");
        // Messages may contain a folder name, which differs in each run.
        trial.findings[0].message = Some("a folder".to_owned());
    }
    let compared = compare(&made(), &other, false).unwrap();
    let [one] = compared.cells.as_slice() else { panic!("{:?}", compared.cells) };
    assert_eq!(one.step.word(), "fine");
    assert_eq!(one.note.as_deref(), Some("bulk, whole: same bytes in A, nothing returned in B"));
}

#[test]
fn nothing_is_said_of_a_configuration_that_was_not_tried() {
    let mut run = made();
    run.records.retain(|record| !record.key.contains("sqlite"));
    let text = markdown(&run);
    assert!(rows(&text).iter().any(|row| row == "sqlite 3|plain|–|0 of 1|"), "{text}");
    assert!(tables(&run, TableStyle::PLAIN).contains("I-JSON-safe"));
}
