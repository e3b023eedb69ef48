//! Response times over the rate of arrivals, with the user's limit and rate.

use jsonathlon_choose::Dimension;
use jsonathlon_choose::facts::{ALL_OPERATIONS, Measured, RateFacts};
use jsonathlon_choose::figures;
use jsonathlon_choose::needs::{Criterion, Need, Quantile};
use jsonathlon_stats::batch_schedule::KEPT_LIMIT;

use super::{NotDrawn, SettingChart, drawable, limit, need, point, untested};
use crate::chart::ValueAxis;
use crate::chart::curves::{Curve, Limit, SettingAxis};
use crate::choose::ChooseResult;
use crate::choose::evidence::rates;
use crate::format;
use crate::page::html::escape;

/// Operations whose response times users can limit.
const LIMITED_OPERATIONS: [&str; 3] = ["read", "update", ALL_OPERATIONS];

/// A chart for each kind of operation, and the rates that systems did not hold.
pub(super) fn figures(result: &ChooseResult<'_>) -> String {
    let quantile = quantile(result);
    let mut operations: Vec<&str> = Vec::new();
    for candidate in &result.decision.candidates {
        for response in rates(&candidate.facts).into_iter().flat_map(|rate| &rate.response) {
            if !operations.contains(&response.operation.as_str()) {
                operations.push(&response.operation);
            }
        }
    }
    let charts = operations.into_iter().map(|operation| chart(result, operation, quantile).figure(result));
    let charts: String = charts.collect();
    if charts.is_empty() { charts } else { charts + &rates_not_held(result) }
}

/// Quantile of the user's need, else that by which systems are compared, else p99.
fn quantile(result: &ChooseResult<'_>) -> Quantile {
    let compared = result.decision.best.iter().find_map(|best| match best.criterion {
        Criterion::Response(quantile) => Some(quantile),
        _ => None,
    });
    match need(result, Dimension::Response) {
        Some(Need::Response { quantile, .. }) => quantile,
        _ => compared.unwrap_or(Quantile::P99),
    }
}

fn chart(result: &ChooseResult<'_>, operation: &str, quantile: Quantile) -> SettingChart<'static> {
    let (curves, not_drawn) = curves(result, operation, quantile);
    let word = quantile.word();
    let values = ValueAxis {
        title: format!("response time, {word}, less is better"),
        is_from_zero: false,
        format: &figures::duration,
    };
    let offered = curves.first().and_then(|curve| curve.points.first()).map_or(0.0, |point| point.x);
    SettingChart {
        titles: [
            format!("{operation}: {word} of response times over the rate"),
            format!("{operation}: {word} of response times at {}", per_second(offered)),
        ],
        columns: ["offered_ops_per_s", "response_s"],
        curves,
        not_drawn,
        settings: SettingAxis { title: "operations offered per second", format: &format::count },
        values_of_rows: values.clone(),
        values,
        asked_setting: asked_rate(result),
        asked_value: match need(result, Dimension::Response) {
            Some(need @ Need::Response { below_s, .. }) if LIMITED_OPERATIONS.contains(&operation) => {
                Some(limit(need, below_s))
            }
            _ => None,
        },
    }
}

/// A curve for each system, and what is missing in them.
fn curves(result: &ChooseResult<'_>, operation: &str, quantile: Quantile) -> (Vec<Curve>, NotDrawn) {
    let (mut curves, mut not_drawn) = (Vec::new(), NotDrawn::default());
    for candidate in &result.decision.candidates {
        let (name, system) = (candidate.facts.name.clone(), candidate.facts.id.system.clone());
        let rates = rates(&candidate.facts);
        if rates.is_empty() {
            not_drawn.add(&name, &untested(candidate, Dimension::Response));
            continue;
        }
        let mut points = Vec::new();
        for rate in rates {
            let response = rate.response.iter().find(|response| response.operation == operation);
            match drawable(response.and_then(|response| response.quantiles.get(&quantile))) {
                Ok(measurement) => points.push(point(rate.offered, measurement)),
                Err(reason) => not_drawn.add(&format!("{name} at {}", per_second(rate.offered)), &reason),
            }
        }
        if !points.is_empty() {
            curves.push(Curve { name, system, points, unmeasured: Vec::new() });
        }
    }
    (curves, not_drawn)
}

/// Sentence on rates that systems did not hold, at which response times are those of a smaller load; empty if all
/// were held.
fn rates_not_held(result: &ChooseResult<'_>) -> String {
    let share = |rate: &RateFacts| match &rate.kept_share {
        Measured::Value(kept) if kept.value < KEPT_LIMIT => Some(kept.value),
        _ => None,
    };
    let missed = result.decision.candidates.iter().flat_map(|candidate| {
        let rates = rates(&candidate.facts).into_iter();
        rates.filter_map(move |rate| {
            let (offered, share) = (per_second(rate.offered), figures::percent(share(rate)?));
            Some(format!("{} at {offered} ({share} in time)", candidate.facts.name))
        })
    });
    let missed: Vec<String> = missed.collect();
    if missed.is_empty() {
        return String::new();
    }
    format!("<p class=\"explained\">⚠ Rates that were not held: {}.</p>\n", escape(&missed.join("; ")))
}

/// Rate of the user's need, else the one that counts for all systems.
fn asked_rate(result: &ChooseResult<'_>) -> Option<Limit> {
    if let Some(Need::Rate(rate)) = need(result, Dimension::Rate) {
        return Some(Limit { value: rate, name: format!("your rate: {}", per_second(rate)) });
    }
    let offered = result.decision.candidates.iter().find_map(|candidate| candidate.facts.at_rate.as_ref());
    offered.map(|rate| Limit {
        value: rate.offered,
        name: format!("rate that is compared: {}", per_second(rate.offered)),
    })
}

fn per_second(rate: f64) -> String {
    format!("{}/s", format::integer(rate))
}
