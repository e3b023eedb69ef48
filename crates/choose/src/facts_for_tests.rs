//! Facts of systems made by hand, for tests of judgements and decisions.

use std::collections::BTreeMap;

use jsonathlon_results::test_fixtures;
use jsonathlon_schema::durability::{CrashKind, DurabilityTier};
use jsonathlon_schema::metric::Unit;
use jsonathlon_schema::record::{Cell, Phase, RATE_PER_S};

use crate::facts::{
    CrashEvidence, DurabilityFacts, LoadFacts, Measured, Measurement, OperationResponse, Part, RateFacts,
    ReportFacts, RoundTripFacts, SizePoint, SystemFacts,
};
use crate::needs::{NeedsFile, Quantile};

/// Needs in all dimensions, which a system of [`system`] meets.
pub(crate) const ALL_NEEDS: &str = r#"
[documents]
later = "20m"
[load]
reads = 0.7
updates = 0.2
inserts = 0.1
clients = 16
rate = 2000
[reports]
questions = "my-questions"
[needs]
durability = "synced"
round_trip = "same values"
rejected = "0 %"
response = "p99 < 10ms"
report = "median < 2s"
size = "later < 400GB"
kind = "any"
"#;

pub(crate) fn needs(text: &str) -> NeedsFile {
    NeedsFile::parse(text, "needs.toml").unwrap()
}

fn cell(system: &str, step: &str) -> Cell {
    let phase = match step {
        "size" => Phase::Steady,
        "q1" => Phase::Both,
        _ => Phase::Measured,
    };
    let mut cell = test_fixtures::cell(&test_fixtures::configuration(system, "1.0"), step, phase);
    if phase == Phase::Both {
        cell.parameters.insert(RATE_PER_S.to_owned(), 2_000.0.into());
    }
    cell
}

/// Figure of five rounds that differ by a percent, with an interval of ± `reach`.
pub(crate) fn figure(system: &str, step: &str, unit: Unit, value: f64, reach: f64) -> Measurement {
    let scatter = [0.0, 0.004, -0.003, 0.002, -0.005];
    Measurement {
        value,
        interval: Some([value * (1.0 - reach), value * (1.0 + reach)]),
        unit,
        by_round: (1..).zip(scatter.map(|share| vec![value * (1.0 + share)])).collect(),
        doubt: None,
        lacks_documents: false,
        part: Part::Serving,
        cell: cell(system, step),
    }
}

fn measured(system: &str, step: &str, unit: Unit, value: f64) -> Measured {
    Measured::Value(figure(system, step, unit, value, 0.05))
}

pub(crate) fn response(system: &str, operation: &str, p99_s: f64) -> OperationResponse {
    let factor = |quantile| match quantile {
        Quantile::P50 => 0.2,
        Quantile::P90 => 0.5,
        Quantile::P99 => 1.0,
        Quantile::P999 => 3.0,
    };
    let quantiles = Quantile::ALL
        .into_iter()
        .map(|quantile| (quantile, measured(system, "mix", Unit::Seconds, p99_s * factor(quantile))))
        .collect();
    OperationResponse { operation: operation.to_owned(), quantiles }
}

pub(crate) fn crashes(tier: DurabilityTier, kind: CrashKind, kept: u64) -> CrashEvidence {
    let lost = if kept < 3 { 134 } else { 0 };
    CrashEvidence {
        tier,
        kind,
        crashes: 3,
        as_promised: kept,
        without_loss: kept,
        acknowledged: Some(1_593),
        lost: Some(lost),
        obstacle: None,
        earlier: None,
        cell: Some(cell("any", kind.word())),
    }
}

fn size(system: &str, documents: u64) -> SizePoint {
    let bytes = 1_000.0 * documents as f64;
    SizePoint {
        documents,
        is_whole: documents == 200_000,
        bytes: measured(system, "size", Unit::Bytes, bytes),
    }
}

/// A server of version 1.0 that meets [`ALL_NEEDS`], with a p99 of `p99_s` seconds.
pub(crate) fn system(name: &str, p99_s: f64) -> SystemFacts {
    let rate = 2_000.0;
    SystemFacts {
        id: cell(name, "mix").id,
        profile: None,
        title: name.to_owned(),
        name: format!("{name} 1.0"),
        short_name: name.to_owned(),
        is_server: true,
        end_of_life: false,
        documents: Some(LoadFacts {
            offered: 200_000,
            loaded: 200_000,
            rejected: 0,
            reasons: BTreeMap::new(),
            failure: None,
            part: Part::Serving,
            cell: cell(name, "load"),
        }),
        round_trip: Some(RoundTripFacts {
            compared: 200_000,
            changed: 0,
            changes: BTreeMap::new(),
            is_complete: true,
            bytes: None,
            bytes_of_variant: None,
            part: Part::Serving,
            cell: cell(name, "structure"),
        }),
        capacity: Some(measured(name, "mix", Unit::PerSecond, 10_000.0)),
        at_rate: Some(RateFacts {
            offered: rate,
            achieved: measured(name, "mix", Unit::PerSecond, rate),
            kept_share: Measured::Value(figure(name, "mix", Unit::Share, 1.0, 0.0)),
            response: vec![
                response(name, "read", p99_s / 2.0),
                response(name, "update", p99_s),
                response(name, "insert", 9.0),
            ],
        }),
        other_rates: Vec::new(),
        reports: vec![ReportFacts {
            question: "q1".to_owned(),
            title: "Orders by day".to_owned(),
            hot: Some(measured(name, "q1", Unit::Seconds, 0.8)),
            cold: None,
            under_load: Some(measured(name, "q1", Unit::Seconds, 1.2)),
        }],
        sizes: vec![size(name, 50_000), size(name, 100_000), size(name, 200_000)],
        durability: DurabilityFacts {
            tier: Some(DurabilityTier::Synced),
            evidence: CrashKind::ALL.map(|kind| crashes(DurabilityTier::Synced, kind, 3)).to_vec(),
        },
        untested: BTreeMap::new(),
        faults: Vec::new(),
    }
}

/// Lets a system hold only a share of the rate.
pub(crate) fn saturated(mut facts: SystemFacts, share: f64) -> SystemFacts {
    let name = facts.title.clone();
    if let Some(at_rate) = &mut facts.at_rate {
        at_rate.achieved = measured(&name, "mix", Unit::PerSecond, at_rate.offered * share);
        at_rate.kept_share = measured(&name, "mix", Unit::Share, share);
    }
    facts
}

/// Lets a system change some of its documents.
pub(crate) fn changing(mut facts: SystemFacts, changed: u64) -> SystemFacts {
    if let Some(trip) = &mut facts.round_trip {
        trip.changed = changed;
    }
    facts
}

/// Lets a system lose acknowledged writes in its crashes of one kind.
pub(crate) fn losing(mut facts: SystemFacts, kind: CrashKind) -> SystemFacts {
    facts.durability.evidence = CrashKind::ALL
        .map(|other| crashes(DurabilityTier::Synced, other, if other == kind { 1 } else { 3 }))
        .to_vec();
    facts
}
