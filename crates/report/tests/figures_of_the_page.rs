//! Checks that the page's copies of the metric registry and of the vocabulary of runs are current.
//! `JSONATHLON_WRITE_FIGURES=1 cargo test -p jsonathlon-report --test all figures_of_the_page` regenerates them; then
//! run `npm run build` in `web/`. A renamed metric, workload or state no longer type-checks there.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fmt::Write;
use std::path::Path;

use jsonathlon_schema::{
    finding_state::FindingState,
    metric::{ALL, BetterDirection, Unit},
    workload::WorkloadKind,
};

fn typescript() -> String {
    let mut text = String::from(
        "// Made from crates/schema/src/metric.rs by a test of crates/report, figures_of_the_page; never by hand.\n\n\
         export type Unit = 's' | 'us' | 'us/op' | 'B' | 'B/s' | 'B/op' | '/s' | '/op' | 'count' | 'share' | 'number';\n\
         export type Better = 'lower' | 'higher' | null;\n\n\
         /** Name, title, unit, which direction is better, and whether it is of whole processes. */\n\
         export const FIGURES: readonly (readonly [string, string, Unit, Better, boolean])[] = [\n",
    );
    for figure in ALL {
        let unit = match figure.unit {
            Unit::Seconds => "s",
            Unit::Microseconds => "us",
            Unit::MicrosecondsPerOperation => "us/op",
            Unit::BytesPerOperation => "B/op",
            Unit::PerOperation => "/op",
            Unit::Bytes => "B",
            Unit::BytesPerSecond => "B/s",
            Unit::PerSecond => "/s",
            Unit::Count => "count",
            Unit::Share => "share",
            Unit::Number => "number",
        };
        let better = match figure.better {
            BetterDirection::Lower => "'lower'",
            BetterDirection::Higher => "'higher'",
            BetterDirection::Neither => "null",
        };
        let (name, title, processes) = (figure.name, figure.title, figure.of_processes);
        writeln!(text, "  ['{name}', '{title}', '{unit}', {better}, {processes}],").unwrap();
    }
    text + "];\n"
}

/// Workloads, and states of findings.
fn vocabulary() -> String {
    let mut text = String::from(
        "// Made from crates/schema by a test of crates/report, figures_of_the_page; never by hand.\n\n\
         /** Names of workloads in cells. */\n",
    );
    for kind in WorkloadKind::ALL {
        writeln!(text, "export const {} = '{kind}';", format!("{kind:?}").to_uppercase()).unwrap();
    }
    text += "\n/** States of findings; others are texts of their own. */\nexport const FindingState = {\n";
    for state in FindingState::KNOWN {
        writeln!(text, "  {state:?}: '{state}',").unwrap();
    }
    text + "} as const;\n"
}

fn is_current(name: &str, made: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src").join(name);
    if std::env::var_os("JSONATHLON_WRITE_FIGURES").is_some() {
        std::fs::write(&file, made).unwrap();
    }
    let there = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(there, made, "JSONATHLON_WRITE_FIGURES=1 writes it anew; then build the page again");
}

#[test]
fn the_page_has_the_registry_as_it_is() {
    is_current("figures.ts", &typescript());
}

#[test]
fn the_page_has_the_vocabulary_as_it_is() {
    is_current("vocabulary.ts", &vocabulary());
}
