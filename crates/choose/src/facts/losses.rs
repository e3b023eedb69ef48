//! What crashes lost, in this choice and in earlier runs.

use jsonathlon_results::durability_evidence::BASIS;
use jsonathlon_schema::durability::{CrashKind, DurabilityTier};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{
    ACKNOWLEDGED_WRITES, CRASHES, CRASHES_AS_PROMISED, CRASHES_WITHOUT_LOSS, LOST_DOCUMENTS, LOST_WRITES,
    MetricDef, TORN_DOCUMENTS,
};
use jsonathlon_schema::record::{DURABILITY, Verdict};

use super::cells::Participation;
use super::{CrashEvidence, DurabilityFacts};

/// Everything that is known about losses of a system, whose settings are those of `served`.
pub(super) fn durability(
    served: Option<&Configuration>,
    crashed: Option<Participation<'_>>,
) -> DurabilityFacts {
    let declared = served.and_then(|configuration| configuration.durability.as_ref());
    let basis = declared.map(|durability| durability.basis.as_str()).filter(|basis| !basis.is_empty());
    let mut evidence = crashed.map_or_else(Vec::new, |crashed| evidence_of_run(crashed, basis));
    if let Some(durability) = declared {
        evidence.extend(durability.tested.iter().map(|tested| CrashEvidence {
            tier: durability.tier,
            kind: tested.kind,
            crashes: tested.crashes,
            as_promised: tested.as_promised,
            without_loss: tested.without_loss,
            acknowledged: None,
            lost: None,
            obstacle: None,
            earlier: Some(tested.date.clone()),
            cell: None,
        }));
    }
    DurabilityFacts { tier: declared.map(|durability| durability.tier), evidence }
}

/// Crash tests of the choice's own run. Those of other settings than the measured ones prove nothing.
fn evidence_of_run((run, configuration): Participation<'_>, basis: Option<&str>) -> Vec<CrashEvidence> {
    let mut evidence = Vec::new();
    for entry in run.cells(configuration) {
        let tier = entry.cell.parameters.get(DURABILITY).and_then(|word| word.as_str());
        let (Some(tier), Some(kind)) =
            (tier.and_then(DurabilityTier::from_word), CrashKind::from_word(entry.cell.step.word()))
        else {
            continue;
        };
        let count = |metric: &MetricDef| entry.metric(metric).map(|count| count as u64);
        let tested = entry.finding(BASIS).map(|finding| finding.state.as_str().to_owned());
        let is_other = basis.zip(tested.as_deref()).is_some_and(|(basis, tested)| basis != tested);
        let obstacle = match entry.verdict {
            _ if is_other => Some("made with other settings than those measured".to_owned()),
            Verdict::Exact => None,
            verdict => Some(run.obstacle(&entry.cell).unwrap_or_else(|| verdict.word().to_owned())),
        };
        let lost = [LOST_WRITES, LOST_DOCUMENTS, TORN_DOCUMENTS].iter().filter_map(count);
        evidence.push(CrashEvidence {
            tier,
            kind,
            crashes: if is_other { 0 } else { count(&CRASHES).unwrap_or(0) },
            as_promised: if is_other { 0 } else { count(&CRASHES_AS_PROMISED).unwrap_or(0) },
            without_loss: if is_other { 0 } else { count(&CRASHES_WITHOUT_LOSS).unwrap_or(0) },
            acknowledged: count(&ACKNOWLEDGED_WRITES),
            lost: count(&LOST_WRITES).map(|_| lost.sum()),
            obstacle,
            earlier: None,
            cell: Some(entry.cell.clone()),
        });
    }
    evidence
}
