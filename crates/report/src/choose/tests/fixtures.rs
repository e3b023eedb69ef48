//! Decisions made by hand, with every kind of cell.

use std::collections::BTreeMap;

use jsonathlon_choose::Dimension;
use jsonathlon_choose::decision::{Best, Candidate, Decision};
use jsonathlon_choose::facts::{
    CrashEvidence, DurabilityFacts, LoadFacts, Measured, Measurement, OperationResponse, Part, RateFacts,
    ReportFacts, RoundTripFacts, SizePoint, SystemFacts,
};
use jsonathlon_choose::judgement::{Figure, Judgement, NeedState};
use jsonathlon_choose::needs::{Criterion, Need, Quantile, RoundTripLevel, SizeAt, WantedKind};
use jsonathlon_results::run::Run;
use jsonathlon_results::test_fixtures::serving::{self, ServingFixture};
use jsonathlon_schema::durability::{CrashKind, DurabilityTier};
use jsonathlon_schema::id::Step;
use jsonathlon_schema::metric::Unit;
use jsonathlon_schema::record::Cell;

/// Documents of the choice.
const DOCUMENTS: u64 = 200_000;
/// Rate that counts, in operations per second.
const RATE: f64 = 2_000.0;

/// The synthetic run that the figures come from.
pub(super) fn runs() -> Vec<(Part, Run)> {
    let run = ServingFixture { rates: vec![0.3, 0.6], ..ServingFixture::default() }.run("serving");
    vec![(Part::Serving, run)]
}

/// All needs that a user can have.
pub(super) fn all_needs() -> Vec<Need> {
    vec![
        Need::Durability(DurabilityTier::Synced),
        Need::RoundTrip(RoundTripLevel::SameValues),
        Need::Rejected(0.0),
        Need::Rate(RATE),
        Need::Response { quantile: Quantile::P99, below_s: 0.010 },
        Need::Report(2.0),
        Need::Size { at: SizeAt::Later(50_000_000), below_bytes: 40e9 },
        Need::Kind(WantedKind::Server),
    ]
}

/// A cell of the synthetic run: mix `a` with 32 clients.
pub(super) fn cell(system: &str) -> Cell {
    let configurations = serving::configurations();
    let known = configurations.iter().find(|configuration| configuration.id.system == system);
    serving::cell(known.unwrap_or(&configurations[0]), "a", 32)
}

pub(super) fn measurement(system: &str, unit: Unit, value: f64) -> Measurement {
    let by_round = (1..=4).map(|round| (round, vec![value * (0.97 + 0.015 * f64::from(round))])).collect();
    Measurement {
        value,
        interval: Some([value * 0.94, value * 1.07]),
        unit,
        by_round,
        doubt: None,
        lacks_documents: false,
        part: Part::Serving,
        cell: cell(system),
    }
}

pub(super) fn measured(system: &str, unit: Unit, value: f64) -> Measured {
    Measured::Value(measurement(system, unit, value))
}

fn response(system: &str, operation: &str, seconds: f64) -> OperationResponse {
    let quantile = |factor: f64| measured(system, Unit::Seconds, seconds * factor);
    let quantiles = [(Quantile::P50, quantile(0.3)), (Quantile::P99, quantile(1.0))].into();
    OperationResponse { operation: operation.to_owned(), quantiles }
}

fn rate(system: &str, offered: f64, seconds: f64) -> RateFacts {
    RateFacts {
        offered,
        achieved: measured(system, Unit::PerSecond, offered * 0.998),
        kept_share: measured(system, Unit::Share, 0.998),
        response: vec![response(system, "read", seconds), response(system, "update", seconds * 1.6)],
    }
}

/// Facts of a system whose times are proportional to `p99_s`.
pub(super) fn facts(system: &str, title: &str, version: &str, is_server: bool, p99_s: f64) -> SystemFacts {
    let mut id = cell(system).id;
    (id.system, id.version) = (system.to_owned(), version.to_owned());
    SystemFacts {
        id,
        profile: cell(system).profile,
        title: title.to_owned(),
        name: format!("{title} {version}"),
        short_name: title.to_owned(),
        is_server,
        end_of_life: false,
        documents: Some(LoadFacts {
            offered: DOCUMENTS,
            loaded: DOCUMENTS,
            rejected: 0,
            reasons: BTreeMap::new(),
            failure: None,
            part: Part::Serving,
            cell: cell(system),
        }),
        round_trip: Some(RoundTripFacts {
            compared: DOCUMENTS,
            changed: 0,
            changes: BTreeMap::new(),
            is_complete: true,
            bytes: None,
            bytes_of_variant: None,
            part: Part::Serving,
            cell: Cell { step: Step::Structure, ..cell(system) },
        }),
        capacity: Some(measured(system, Unit::PerSecond, 8.0 / p99_s)),
        at_rate: Some(rate(system, RATE, p99_s)),
        other_rates: vec![rate(system, RATE / 2.0, p99_s * 0.8), rate(system, RATE * 2.0, p99_s * 2.5)],
        reports: vec![ReportFacts {
            question: "by-day".to_owned(),
            title: "Orders by day".to_owned(),
            hot: Some(measured(system, Unit::Seconds, p99_s * 80.0)),
            cold: Some(measured(system, Unit::Seconds, p99_s * 150.0)),
            under_load: Some(measured(system, Unit::Seconds, p99_s * 110.0)),
        }],
        sizes: [0.25, 0.5, 1.0]
            .map(|share| SizePoint {
                documents: (share * DOCUMENTS as f64) as u64,
                is_whole: share == 1.0,
                bytes: measured(system, Unit::Bytes, 1.2e8 * share + 2e6),
            })
            .to_vec(),
        durability: DurabilityFacts {
            tier: Some(DurabilityTier::Synced),
            evidence: vec![evidence_without_loss()],
        },
        untested: BTreeMap::new(),
        faults: Vec::new(),
    }
}

/// Three crashes of the process that lost nothing.
fn evidence_without_loss() -> CrashEvidence {
    CrashEvidence {
        tier: DurabilityTier::Synced,
        kind: CrashKind::Process,
        crashes: 3,
        as_promised: 3,
        without_loss: 3,
        acknowledged: Some(1_449),
        lost: Some(0),
        obstacle: None,
        earlier: None,
        cell: None,
    }
}

/// A figure with this text.
pub(super) fn figure(words: &str, short: &str) -> Figure {
    Figure {
        words: words.to_owned(),
        short: short.to_owned(),
        part: Some(Part::Serving),
        ..Figure::default()
    }
}

/// Figure of each need of a system with these facts.
fn figure_of(need: &Need, facts: &SystemFacts) -> Figure {
    let p99 = |facts: &SystemFacts| match facts.at_rate.as_ref().map(|rate| &rate.response[1].quantiles) {
        Some(quantiles) => quantiles[&Quantile::P99].value().cloned(),
        None => None,
    };
    match need.dimension() {
        Dimension::Durability => figure("3 process crashes lost 0 of 1,449 acknowledged writes", "synced"),
        Dimension::RoundTrip => figure("all 200,000 documents came back with the same values", "same"),
        Dimension::Rejected => figure("0 of 200,000 documents rejected", "0 %"),
        Dimension::Rate => Figure {
            measurement: facts.at_rate.as_ref().and_then(|rate| rate.achieved.value().cloned()),
            value: Some(RATE),
            ..figure("held 2,000/s", "2,000/s")
        },
        Dimension::Response => {
            let measurement = p99(facts);
            let value = measurement.as_ref().map_or(0.0, |measurement| measurement.value);
            let text = jsonathlon_choose::figures::duration(value);
            let words = format!("p99 of updates {text}");
            Figure { measurement, value: Some(value), ..figure(&words, &text) }
        }
        Dimension::Report => {
            let measurement =
                facts.reports.first().and_then(|report| report.under_load.as_ref()?.value().cloned());
            let value = measurement.as_ref().map_or(0.0, |measurement| measurement.value);
            let text = jsonathlon_choose::figures::duration(value);
            let words = format!("slowest: Orders by day, {text} with load");
            Figure { measurement, value: Some(value), part: Some(Part::Questions), ..figure(&words, &text) }
        }
        Dimension::Size => Figure {
            value: Some(30.2e9),
            interval: Some([29e9, 31e9]),
            is_estimate: true,
            ..figure("30.2 GB estimated for 50,000,000 documents", "30.2 GB")
        },
        Dimension::Kind if facts.is_server => figure("a server", "server"),
        Dimension::Kind => figure("embedded", "embedded"),
    }
}

/// A system that meets these needs, apart from those in `others`.
pub(super) fn candidate(
    facts: SystemFacts,
    needs: &[Need],
    others: &[(Dimension, NeedState, &str, &str)],
) -> Candidate {
    let judgements: Vec<Judgement> = needs
        .iter()
        .map(|need| {
            let other = others.iter().find(|(dimension, ..)| *dimension == need.dimension());
            match other {
                Some((_, state, words, short)) => Judgement {
                    need: *need,
                    state: state.clone(),
                    figure: figure(words, short),
                    factor: (*state == NeedState::NotMet).then_some(2.0),
                },
                None => Judgement {
                    need: *need,
                    state: NeedState::Met,
                    figure: figure_of(need, &facts),
                    factor: None,
                },
            }
        })
        .collect();
    let figures = all_needs().iter().map(|need| (need.dimension(), figure_of(need, &facts))).collect();
    Candidate { meets_all: others.is_empty(), facts, judgements, figures, dominated_by: None }
}

/// A decision over candidates, with the headline given.
pub(super) fn decision(headline: &str, needs: Vec<Need>, candidates: Vec<Candidate>) -> Decision {
    Decision {
        headline: headline.to_owned(),
        needs,
        candidates,
        best: vec![Best {
            criterion: Criterion::Response(Quantile::P99),
            first: 0,
            tied: vec![],
            worse: vec![1],
            unknown: vec![],
            sentence: "SQLite answers faster than PostgreSQL (p99 of updates 1.3 ms against 5 ms)".to_owned(),
        }],
        changes: vec!["A limit of 20 ms for response time lets MongoDB in".to_owned()],
        faults: Vec::new(),
        notes: Vec::new(),
    }
}

pub(super) fn sqlite() -> SystemFacts {
    facts("sqlite", "SQLite", "3.50.4", false, 0.000_8)
}

pub(super) fn postgresql() -> SystemFacts {
    facts("postgresql", "PostgreSQL", "18.6", true, 0.003_1)
}

pub(super) fn mongodb() -> SystemFacts {
    facts("mongodb", "MongoDB", "8.2.1", true, 0.011)
}

/// A system that takes part in loads and questions only.
pub(super) fn duckdb() -> SystemFacts {
    let reason = "DuckDB has no folder serving/";
    SystemFacts {
        capacity: None,
        at_rate: None,
        other_rates: Vec::new(),
        untested: [(Dimension::Rate, reason.to_owned()), (Dimension::Response, reason.to_owned())].into(),
        ..facts("duckdb", "DuckDB", "1.4.2", false, 0.000_5)
    }
}

pub(super) fn not_tested(dimension: Dimension, reason: &str) -> (Dimension, NeedState, &str, &str) {
    (dimension, NeedState::NotTested(reason.to_owned()), reason, "–")
}

/// Two systems meet all needs but that for a kind, which nobody has; one does not meet the response time, and one
/// is not tested for it.
pub(super) fn usual() -> Decision {
    let needs: Vec<Need> =
        all_needs().into_iter().filter(|need| need.dimension() != Dimension::Kind).collect();
    let reason = "DuckDB has no folder serving/";
    let candidates = vec![
        candidate(sqlite(), &needs, &[]),
        candidate(postgresql(), &needs, &[]),
        candidate(
            mongodb(),
            &needs,
            &[
                (Dimension::RoundTrip, NeedState::NotMet, "312 of 200,000 documents changed", "312 changed"),
                (Dimension::Response, NeedState::NotShown, "p99 of updates 10.2 ms (9.7 … 11 ms)", "10.2 ms"),
            ],
        ),
        candidate(
            duckdb(),
            &needs,
            &[not_tested(Dimension::Rate, reason), not_tested(Dimension::Response, reason)],
        ),
    ];
    decision(
        "SQLite 3.50.4 and PostgreSQL 18.6 meet all seven needs; SQLite answers faster (p99 1.3 ms against 5 ms), \
         PostgreSQL is a server. MongoDB changes 312 of 200,000 documents.",
        needs,
        candidates,
    )
}
