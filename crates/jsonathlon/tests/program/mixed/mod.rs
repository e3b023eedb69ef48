//! Tests of the mixed workload, with the mock and planted faults, and with real systems at a tiny scale.

mod faults;
mod frontier;
mod input;
mod killed;
mod phases;
mod planted;
mod still;
mod stopped;
mod systems;

use jsonathlon_results::cell_summary::CellSummary;
use jsonathlon_results::summary::Summary;
use jsonathlon_schema::record::{Phase, Verdict};

/// Phases in which questions are asked.
const ASKING: [Phase; 4] = [Phase::Still, Phase::Both, Phase::Left, Phase::Drained];

/// Steps of a phase in which questions are asked.
const ASKED: [&str; 6] = ["q1", "q2", "q3", "q4", "q5", "all"];

/// All entries of a system's step in a phase, one of each configuration.
fn entries<'s>(summary: &'s Summary, system: &str, phase: Phase, step: &str) -> Vec<&'s CellSummary> {
    let is_meant = |entry: &&CellSummary| {
        let cell = &entry.cell;
        cell.id.system == system && cell.phase == phase && cell.step.word() == step
    };
    summary.results.iter().filter(is_meant).collect()
}

/// The only entry of a system's step in a phase.
fn entry<'s>(summary: &'s Summary, system: &str, phase: Phase, step: &str) -> &'s CellSummary {
    let found = entries(summary, system, phase, step);
    let [entry] = found.as_slice() else {
        panic!("{} entries of {system} {step} {}", found.len(), phase.word())
    };
    entry
}

/// Asserts that every cell of a system has this verdict and what it is measured for.
fn is_measured(summary: &Summary, system: &str, verdict: Verdict) {
    for phase in ASKING {
        for step in ASKED {
            let entry = entry(summary, system, phase, step);
            assert_eq!(entry.verdict, verdict, "{system} {step} {}", phase.word());
            assert!(entry.metrics["questions_per_h"] > 0.0, "{system} {step} {}", phase.word());
        }
    }
    for phase in [Phase::Both, Phase::Alone] {
        let entry = entry(summary, system, phase, "ingest");
        assert_eq!(entry.verdict, Verdict::Exact, "{system} {}", phase.word());
        assert!(entry.metrics["documents_per_s"] > 0.0, "{system} {}", phase.word());
    }
}
