//! Loads: documents, rejected ones, round trips and sizes.

use std::collections::BTreeMap;

use jsonathlon_results::cell_summary::CellSummary;
use jsonathlon_schema::id::{DataState, Step};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{
    DOCUMENTS_LOADED, DOCUMENTS_OFFERED, DOCUMENTS_REJECTED, FILES_BYTES, MetricDef, TOTAL_BYTES,
};
use jsonathlon_schema::record::{RecordBody, RoundTripReport};
use jsonathlon_schema::workload::WorkloadKind;
use jsonathlon_stats::statistics::{Estimate, estimate};

use super::cells::{Participation, SummarisedRun, is_of_machine};
use super::{ComparedBytes, LoadFacts, LoadFailure, Measured, Part, RoundTripFacts, SizePoint};

/// Documents of a configuration's load. `None` if the run has no load of it.
pub(super) fn load(run: &SummarisedRun<'_>, configuration: &Configuration) -> Option<LoadFacts> {
    let entry = run.cells(configuration).find(|entry| entry.cell.step == Step::Load)?;
    let count = |metric: &MetricDef| entry.metric(metric).map(|count| count as u64);
    let failure = (!entry.verdict.has_time()).then(|| match run.failure(&entry.cell) {
        Some((kind, reason)) => LoadFailure { reason, is_of_machine: is_of_machine(kind) },
        None => LoadFailure { reason: entry.verdict.word().to_owned(), is_of_machine: false },
    });
    let reasons = run.run.records.iter().find_map(|record| match &record.body {
        RecordBody::Rejects(rejects) if configuration.contains_cell(&rejects.cell) => {
            let reasons = rejects.reasons.iter();
            Some(reasons.map(|(message, reason)| (message.clone(), reason.documents)).collect())
        }
        _ => None,
    });
    Some(LoadFacts {
        offered: count(&DOCUMENTS_OFFERED).unwrap_or(run.run.manifest.data.documents),
        loaded: count(&DOCUMENTS_LOADED).unwrap_or(0),
        rejected: count(&DOCUMENTS_REJECTED).unwrap_or(0),
        reasons: reasons.unwrap_or_default(),
        failure,
        part: run.part,
        cell: entry.cell.clone(),
    })
}

/// How a system's documents came back: as the first run shows that compared any. Bytes are those of the first
/// run that compared them in the same variant: another one may store documents in another form.
pub(super) fn combined_round_trip(loads: &[Participation<'_>]) -> Option<RoundTripFacts> {
    let mut trips = loads.iter().filter_map(|(run, configuration)| {
        let loaded = load(run, configuration)?.loaded;
        Some((identity(configuration), round_trip(run, configuration, loaded)?))
    });
    let (counting, first) = trips.next()?;
    let mut of_others = None;
    let mut bytes = first.bytes;
    for (other, trip) in trips {
        match trip.bytes {
            Some(compared) if other == counting => bytes = bytes.or(Some(compared)),
            Some(_) => of_others = of_others.or(Some(other.0.to_owned())),
            None => {}
        }
    }
    let bytes_of_variant = of_others.filter(|_| bytes.is_none());
    Some(RoundTripFacts { bytes, bytes_of_variant, ..first })
}

/// Variant and storage of a configuration, which determine how it keeps documents.
fn identity(configuration: &Configuration) -> (&str, &str) {
    (&configuration.id.variant, &configuration.id.storage)
}

/// How a configuration's documents came back. `None` if the run compared none.
fn round_trip(run: &SummarisedRun<'_>, configuration: &Configuration, loaded: u64) -> Option<RoundTripFacts> {
    let report = run.run.records.iter().find_map(|record| match &record.body {
        RecordBody::Structure(report) if configuration.contains_cell(&report.cell) => Some(report),
        _ => None,
    })?;
    if report.compared == 0 {
        return None;
    }
    Some(RoundTripFacts {
        compared: report.compared,
        changed: report.compared.saturating_sub(report.equal_value),
        changes: report.changes.clone(),
        is_complete: report.compared >= loaded,
        bytes: compared_bytes(report, loaded),
        bytes_of_variant: None,
        part: run.part,
        cell: report.cell.clone(),
    })
}

/// Documents that a report compared byte by byte. Serving compares documents by value alone.
fn compared_bytes(report: &RoundTripReport, loaded: u64) -> Option<ComparedBytes> {
    (report.cell.workload != WorkloadKind::Serving).then(|| ComparedBytes {
        compared: report.compared,
        different: report.compared.saturating_sub(report.equal_bytes),
        is_complete: report.compared >= loaded,
    })
}

/// Size of a configuration's documents in a run. `None` if it has none.
fn size(run: &SummarisedRun<'_>, configuration: &Configuration) -> Option<SizePoint> {
    let is_size = |entry: &&CellSummary| entry.cell.step == Step::Size;
    let mut entries: Vec<&CellSummary> = run.cells(configuration).filter(is_size).collect();
    // As the system leaves the documents, before it is told to compact them.
    entries.sort_by_key(|entry| entry.cell.state != Some(DataState::Drained));
    let entry = *entries.first()?;
    let metric = [TOTAL_BYTES, FILES_BYTES].into_iter().find(|metric| entry.value(metric).is_some());
    let load = load(run, configuration);
    let bytes = match &load {
        Some(LoadFacts { failure: Some(LoadFailure { reason, is_of_machine }), .. }) => {
            let words = format!("the load failed: {reason}");
            if *is_of_machine { Measured::Absent(words) } else { Measured::Failed(words) }
        }
        _ => run.measure(entry, &metric.unwrap_or(TOTAL_BYTES)),
    };
    let documents = load.map_or(run.run.manifest.data.documents, |load| load.loaded);
    let is_whole = !matches!(run.part, Part::Half | Part::Quarter);
    Some(SizePoint { documents, is_whole, bytes })
}

/// Adds the loads of another run of the same configuration to a size that has too few for an interval.
fn add_loads(known: &mut SizePoint, other: &SizePoint) {
    let (Measured::Value(known), Measured::Value(other)) = (&mut known.bytes, &other.bytes) else { return };
    if known.rounds() > 1 || known.unit != other.unit || other.doubt.is_some() {
        return;
    }
    let last = known.by_round.keys().last().copied().unwrap_or(0);
    let further = (last + 1..).zip(other.by_round.values().cloned());
    known.by_round.extend(further);
    let rounds: Vec<Vec<f64>> = known.by_round.values().cloned().collect();
    if let Some(estimate) = estimate(&rounds).map(Estimate::if_meaningful) {
        known.value = estimate.median;
        known.interval = estimate.low.zip(estimate.high).map(|(low, high)| [low, high]);
    }
}

/// Sizes of the same configuration, by number of documents. The first run is the one whose size counts; sizes
/// of another variant are left out.
pub(super) fn sizes(loads: &[Participation<'_>]) -> Vec<SizePoint> {
    let mut points: BTreeMap<u64, SizePoint> = BTreeMap::new();
    let mut counted = None;
    for (run, configuration) in loads {
        let Some(point) = size(run, configuration) else { continue };
        let has_failed = points.values().any(|known| known.is_whole && known.bytes.value().is_none());
        if let Some(measurement) = point.bytes.value() {
            let expected = *counted.get_or_insert(identity(configuration));
            // Once a load of all documents has failed, another one that succeeds is not what the system does.
            if expected != identity(configuration)
                || measurement.value <= 0.0
                || (point.is_whole && has_failed)
            {
                continue;
            }
        } else if !points.is_empty() {
            continue;
        }
        match points.get_mut(&point.documents) {
            Some(known) if known.is_whole == point.is_whole => add_loads(known, &point),
            Some(_) => {}
            None => {
                points.insert(point.documents, point);
            }
        }
    }
    points.into_values().collect()
}
