//! Checks that the page's copies of the metric registry and of the vocabulary of runs are current. A renamed
//! metric, phase, verdict or state no longer type-checks there. To regenerate them, run
//!
//!     JSONATHLON_WRITE_VOCABULARY=1 cargo test -p jsonathlon-report --test all page_vocabulary
//!
//! and then `npm run build` in `web/`.

use std::fmt::{Debug, Write};
use std::path::Path;

use jsonathlon_schema::{
    durability::{CrashKind, DurabilityTier},
    finding_state::FindingState,
    id::DataState,
    metric::{ALL, BetterDirection, Unit},
    ranking::{MemoryProfile, PreparationClass},
    record::{JUDGED_AT_REST, Phase, UNRANKED_FINDINGS, Verdict},
    workload::WorkloadKind,
};

const HEAD: &str =
    "// Generated from crates/schema by a test of crates/report, page_vocabulary; do not edit by hand.\n\n";

fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "s",
        Unit::Milliseconds => "ms",
        Unit::Microseconds => "us",
        Unit::MicrosecondsPerOperation => "us/op",
        Unit::BytesPerOperation => "B/op",
        Unit::PerOperation => "/op",
        Unit::Bytes => "B",
        Unit::BytesPerSecond => "B/s",
        Unit::PerSecond => "/s",
        Unit::PerHour => "/h",
        Unit::Count => "count",
        Unit::Share => "share",
        Unit::Number => "number",
    }
}

/// Name of the constant of a metric: `wal_bytes_per_op` is `WalBytesPerOp`.
fn constant_name(name: &str) -> String {
    let mut constant = String::new();
    for word in name.split('_') {
        let mut letters = word.chars();
        constant.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        constant.push_str(letters.as_str());
    }
    constant
}

/// The registry of metrics, and one constant for each name.
fn metrics() -> String {
    let mut text = HEAD.to_owned();
    text += "export type Unit = 's' | 'ms' | 'us' | 'us/op' | 'B' | 'B/s' | 'B/op' | '/s' | '/h' | '/op' | 'count' | 'share' | 'number';\n\
             export type Better = 'lower' | 'higher' | null;\n\n\
             /** Name, title, unit, which direction is better, and whether the metric covers whole processes. */\n\
             export const METRICS = [\n";
    for metric in ALL {
        let better = match metric.better {
            BetterDirection::Lower => "'lower'",
            BetterDirection::Higher => "'higher'",
            BetterDirection::Neither => "null",
        };
        let (name, title, unit, processes) =
            (metric.name, metric.title, unit_name(metric.unit), metric.covers_processes);
        writeln!(text, "  ['{name}', '{title}', '{unit}', {better}, {processes}],").unwrap();
    }
    text += "] as const satisfies readonly (readonly [string, string, Unit, Better, boolean])[];\n\n\
             /** Name of a registered metric. */\n\
             export type MetricName = (typeof METRICS)[number][0];\n\n\
             /** Names of all registered metrics. */\n\
             export const Metric = {\n";
    for metric in ALL {
        writeln!(text, "  {}: '{}',", constant_name(metric.name), metric.name).unwrap();
    }
    text + "} as const satisfies Record<string, MetricName>;\n"
}

/// Appends an object with one constant for each value, and the type of these values.
fn put_words<Value: Debug>(
    text: &mut String,
    comment: &str,
    name: &str,
    values: &[Value],
    word: fn(&Value) -> &str,
) {
    writeln!(text, "\n/** {comment} */\nexport const {name} = {{").unwrap();
    for value in values {
        writeln!(text, "  {value:?}: '{}',", word(value)).unwrap();
    }
    writeln!(text, "}} as const;\nexport type {name} = (typeof {name})[keyof typeof {name}];").unwrap();
}

/// Names of workloads, and the words of cells, configurations and findings.
fn vocabulary() -> String {
    let mut text = HEAD.to_owned();
    text += "/** Names of workloads in cells. */\n";
    for kind in WorkloadKind::ALL {
        writeln!(text, "export const {} = '{kind}';", format!("{kind:?}").to_uppercase()).unwrap();
    }
    let out = &mut text;
    put_words(out, "Phases of cells.", "Phase", &Phase::ALL, |phase| phase.word());
    put_words(out, "Verdicts, from best to worst.", "Verdict", &Verdict::ALL, |verdict| verdict.word());
    put_words(out, "Data states of cells.", "DataState", &DataState::ALL, |state| state.word());
    put_words(out, "Preparation classes.", "PreparationClass", &PreparationClass::ALL, |class| class.word());
    put_words(out, "Memory profiles.", "MemoryProfile", &MemoryProfile::ALL, |profile| profile.word());
    put_words(out, "Durability tiers.", "DurabilityTier", &DurabilityTier::ALL, |tier| tier.word());
    put_words(out, "Kinds of crashes.", "CrashKind", &CrashKind::ALL, |kind| kind.word());
    let of_findings = "States of findings; others are texts of their own.";
    put_words(out, of_findings, "FindingState", &FindingState::KNOWN, FindingState::as_str);
    let subjects = UNRANKED_FINDINGS.map(|subject| format!("'{subject}'")).join(", ");
    text += "\n/** Subjects of findings that keep a cell out of its ranking, although it has results. */\n";
    writeln!(text, "export const UNRANKED_FINDINGS: readonly string[] = [{subjects}];").unwrap();
    text +=
        "\n/** Subject of the finding that a verdict is that of the same statement before the trials. */\n";
    writeln!(text, "export const JUDGED_AT_REST = '{JUDGED_AT_REST}';").unwrap();
    text
}

fn is_current(name: &str, generated: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src").join(name);
    if std::env::var_os("JSONATHLON_WRITE_VOCABULARY").is_some() {
        std::fs::write(&file, generated).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(committed, generated, "JSONATHLON_WRITE_VOCABULARY=1 regenerates it; then rebuild the page");
}

#[test]
fn the_page_has_the_current_metrics() {
    is_current("metrics.ts", &metrics());
}

#[test]
fn the_page_has_the_current_vocabulary() {
    is_current("vocabulary.ts", &vocabulary());
}
