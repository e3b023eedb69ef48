//! Operations of clients: capacity in closed loops, and what happens at a rate.

use std::collections::BTreeMap;

use jsonathlon_results::cell_summary::CellSummary;
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{
    MISSED_ARRIVALS, OPERATIONS, PLANNED_ARRIVALS, THROUGHPUT_OPS_PER_S, UNFINISHED_ARRIVALS, Unit,
};
use jsonathlon_schema::record::{OPERATION, Phase, RATE_PER_S, RATE_SHARE, SLO, STREAMS, Trial};

use super::cells::SummarisedRun;
use super::{Measured, OperationResponse, RateFacts};
use crate::needs::Quantile;

/// Name of the operations of a mix that has only one kind of them.
pub const ALL_OPERATIONS: &str = "all operations";

/// Windows of a configuration in which clients worked without reports beside them.
fn windows<'s>(
    run: &'s SummarisedRun<'_>,
    configuration: &'s Configuration,
) -> impl Iterator<Item = &'s CellSummary> {
    const APART: [&str; 3] = [STREAMS, SLO, RATE_SHARE];
    run.cells(configuration)
        .filter(|entry| entry.cell.phase == Phase::Measured)
        .filter(|entry| APART.iter().all(|name| !entry.cell.parameters.contains_key(*name)))
}

/// Rate of arrivals of a window. `None` in a closed loop.
pub(super) fn rate_of(entry: &CellSummary) -> Option<f64> {
    entry.cell.parameters.get(RATE_PER_S)?.as_f64()
}

/// Highest throughput of a configuration in closed loops. `None` if the run has no closed loop of it.
pub(super) fn capacity(run: &SummarisedRun<'_>, configuration: &Configuration) -> Option<Measured> {
    let closed = windows(run, configuration)
        .filter(|entry| !entry.cell.is_single_operation() && !entry.cell.is_open_loop());
    let measured: Vec<Measured> = closed.map(|entry| run.measure(entry, &THROUGHPUT_OPS_PER_S)).collect();
    let value = |measured: &Measured| measured.value().map_or(f64::NEG_INFINITY, |figure| figure.value);
    measured.into_iter().max_by(|a, b| value(a).total_cmp(&value(b)))
}

/// What happened to a configuration at each rate, in ascending order.
pub(super) fn rates(run: &SummarisedRun<'_>, configuration: &Configuration) -> Vec<RateFacts> {
    let mixes = windows(run, configuration).filter(|entry| !entry.cell.is_single_operation());
    let mut rates: Vec<RateFacts> = Vec::new();
    for entry in mixes {
        let Some(offered) = rate_of(entry) else { continue };
        // A choice has one mix; of several, the first one counts.
        if rates.iter().any(|known| known.offered == offered) {
            continue;
        }
        let achieved = run.measure(entry, &THROUGHPUT_OPS_PER_S);
        let mut response = responses(run, configuration, entry);
        if achieved.value().is_none() {
            // A trial that fails as a whole has no records of single operations, and those of other rounds say nothing
            // about it.
            let all = response.iter_mut().flat_map(|response| response.quantiles.values_mut());
            all.for_each(|measured| measured.clone_from(&achieved));
        }
        let kept_share = run.computed(entry, Unit::Share, kept_shares(run, entry));
        rates.push(RateFacts { offered, achieved, kept_share, response });
    }
    rates.sort_by(|a, b| a.offered.total_cmp(&b.offered));
    rates
}

/// Share of the arrivals that ended well within the window, by round. Neither may operations be left behind
/// that were due in the window, nor may earlier ones have taken their place.
fn kept_shares(run: &SummarisedRun<'_>, entry: &CellSummary) -> BTreeMap<u32, Vec<f64>> {
    let mut shares: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for trial in run.run.trials().filter(|trial| trial.cell == entry.cell) {
        if let Some(share) = kept_share(trial) {
            shares.entry(trial.round).or_default().push(share);
        }
    }
    shares
}

/// Smallest share that is told apart from none, because intervals are those of logarithms.
const SMALLEST_SHARE: f64 = 1e-6;

fn kept_share(trial: &Trial) -> Option<f64> {
    let planned = PLANNED_ARRIVALS.value(trial).filter(|planned| *planned > 0.0)?;
    let left_behind = MISSED_ARRIVALS.value(trial)? + UNFINISHED_ARRIVALS.value(trial).unwrap_or(0.0);
    let done = OPERATIONS.value(trial)? / planned;
    Some(done.min(1.0 - left_behind / planned).clamp(SMALLEST_SHARE, 1.0))
}

/// Response times by kind of operation, at the rate of `mix`.
fn responses(
    run: &SummarisedRun<'_>,
    configuration: &Configuration,
    mix: &CellSummary,
) -> Vec<OperationResponse> {
    let is_of_mix = |entry: &&CellSummary| {
        let mut parameters = entry.cell.parameters.clone();
        let is_single = parameters.remove(OPERATION).is_some();
        is_single && entry.cell.step == mix.cell.step && parameters == mix.cell.parameters
    };
    let singles: Vec<&CellSummary> = windows(run, configuration).filter(is_of_mix).collect();
    let entries = if singles.is_empty() { vec![mix] } else { singles };
    let response = |entry: &CellSummary| {
        let operation = entry.cell.parameters.get(OPERATION).and_then(|name| name.as_str());
        let quantiles = Quantile::ALL
            .into_iter()
            .map(|quantile| (quantile, run.measure(entry, quantile.metric())))
            .collect();
        OperationResponse { operation: operation.unwrap_or(ALL_OPERATIONS).to_owned(), quantiles }
    };
    entries.into_iter().map(response).collect()
}
