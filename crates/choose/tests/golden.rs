//! Decisions over the run folders that are kept for tests of reports.

use std::path::Path;

use jsonathlon_choose::decision::Decision;
use jsonathlon_choose::facts::{GatherContext, LeftOut, Part, gather};
use jsonathlon_choose::needs::NeedsFile;
use jsonathlon_results::durability_evidence::BASIS;
use jsonathlon_results::run::Run;
use jsonathlon_schema::id::ConfigurationId;

/// Runs of two systems: `mb` loses acknowledged writes, and they disagree about the question. There is no
/// open loop.
fn runs() -> Vec<(Part, Run)> {
    [(Part::Serving, "serving"), (Part::Questions, "questions"), (Part::Durability, "durability")]
        .map(|(part, name)| {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/golden").join(name);
            (part, Run::read(&folder).unwrap())
        })
        .into()
}

const NEEDS: &str = r#"
[load]
rate = 500
[reports]
[needs]
durability = "process"
round_trip = "anything"
rejected = "0 %"
response = "p99 < 10ms"
report = "median < 1s"
size = "now < 1MB"
kind = "embedded"
"#;

fn context() -> GatherContext {
    let left_out =
        LeftOut { part: Part::Half, system: None, reason: "the budget does not allow it".to_owned() };
    GatherContext { left_out: vec![left_out], ..GatherContext::default() }
}

/// The decision with its words and without digests of cells.
fn told(decision: &Decision) -> serde_json::Value {
    let mut json = decision.json();
    for system in json["systems"].as_array_mut().unwrap() {
        for need in system["needs"].as_object_mut().unwrap().values_mut() {
            need.as_object_mut().unwrap().remove("cell");
        }
    }
    json
}

#[test]
fn kept_runs_are_decided_with_needs() {
    let needs = NeedsFile::parse(NEEDS, "needs.toml").unwrap();
    let decision = Decision::new(&needs, gather(&runs(), &context()));
    insta::assert_json_snapshot!(told(&decision));
}

#[test]
fn kept_runs_are_decided_without_needs() {
    let decision = Decision::new(&NeedsFile::default(), gather(&runs(), &context()));
    insta::assert_json_snapshot!(told(&decision));
}

#[test]
fn crashes_prove_only_the_settings_that_were_measured() {
    let needs = NeedsFile::parse("[needs]\ndurability = \"process\"", "needs.toml").unwrap();
    let mut runs = runs();
    let headline = |runs: &[(Part, Run)]| Decision::new(&needs, gather(runs, &context())).headline;
    // The kept runs were made with other settings of the two systems.
    assert!(
        headline(&runs).contains("process crash: made with other settings than those measured"),
        "{}",
        headline(&runs)
    );
    let tested: Vec<(ConfigurationId, String)> = runs[2]
        .1
        .trials()
        .filter_map(|trial| {
            let basis = trial.findings.iter().find(|finding| finding.subject == BASIS)?;
            Some((trial.cell.id.clone(), basis.state.as_str().to_owned()))
        })
        .collect();
    for configuration in &mut runs[0].1.manifest.configurations {
        let (_, basis) = tested.iter().find(|(id, _)| *id == configuration.id).unwrap();
        configuration.durability.as_mut().unwrap().basis.clone_from(basis);
    }
    assert_eq!(
        headline(&runs),
        "The system ma 1.0 alone meets the need. The system mb 1.0 loses 134 of 1,593 acknowledged writes in 2 of 2 \
         kills."
    );
}

#[test]
fn runs_may_be_missing() {
    let needs = NeedsFile::parse(NEEDS, "needs.toml").unwrap();
    for part in [Part::Serving, Part::Questions, Part::Durability] {
        let rest: Vec<(Part, Run)> = runs().into_iter().filter(|(other, _)| *other != part).collect();
        let facts = gather(&rest, &GatherContext::default());
        assert_eq!(facts.len(), 2, "{part:?}");
        let decision = Decision::new(&needs, facts);
        assert!(decision.candidates.iter().all(|candidate| !candidate.meets_all));
    }
    assert!(gather(&[], &GatherContext::default()).is_empty());
}
