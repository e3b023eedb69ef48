//! A synthetic choice: a run of clients at rates, the decision over it, and the pages of both.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jsonathlon_choose::decision::Decision;
use jsonathlon_choose::facts::{
    GatherContext, Measured, Measurement, Part, ReportFacts, SystemFacts, gather,
};
use jsonathlon_choose::needs::NeedsFile;
use jsonathlon_report::choose::{ChooseResult, FILE};
use jsonathlon_report::page::{PathDisplay, write_page};
use jsonathlon_results::summary::Run;
use jsonathlon_results::test_fixtures::record;
use jsonathlon_results::test_fixtures::serving::ServingFixture;
use jsonathlon_schema::metric::{OPERATIONS, PLANNED_ARRIVALS, THROUGHPUT_OPS_PER_S, Unit};
use jsonathlon_schema::record::{JournalRecord, RATE_PER_S, RecordBody, Trial};

/// Needs that some of the systems do not meet, and of which some are not tested.
const NEEDS: &str = r#"
[documents]
later = "5m"
[load]
reads = 0.5
updates = 0.5
clients = 32
rate = 2000
[reports]
questions = "questions"
[needs]
durability = "synced"
round_trip = "same values"
rejected = "0 %"
response = "p99 < 100ms"
report = "median < 1s"
size = "now < 10MB"
kind = "any"
"#;

/// Rates at which every system is measured, in operations per second.
const RATES: [f64; 3] = [1_000.0, 2_000.0, 4_000.0];

/// Writes the manifest and the journal of a run into a folder.
pub(crate) fn write_run(run: &Run, folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let lines: Vec<String> =
        run.records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect();
    std::fs::write(folder.join("journal.ndjson"), lines.concat()).unwrap();
    std::fs::write(folder.join("manifest.json"), serde_json::to_vec(&run.manifest).unwrap()).unwrap();
}

/// Writes a choice: its page, and its run with a page of its own.
pub(crate) fn write_choice(folder: &Path) {
    let run_folder = folder.join(Part::Serving.folder());
    write_run(&run_at_rates(), &run_folder);
    let run = Run::read(&run_folder).unwrap();
    write_page(&run, PathDisplay::Hidden).unwrap();
    let needs = NeedsFile::parse(NEEDS, "needs.toml").unwrap();
    let runs = [(Part::Serving, run)];
    let mut facts = gather(&runs, &GatherContext { rate: Some(RATES[1]), ..GatherContext::default() });
    facts.iter_mut().enumerate().for_each(|(index, facts)| add_reports(facts, index));
    let decision = Decision::new(&needs, facts);
    let command = "jsonathlon run serving --data orders.ndjson --clients 32".to_owned();
    let result = ChooseResult::new(&decision, &runs, folder).with_commands([(Part::Serving, command)].into());
    std::fs::write(folder.join(FILE), result.page()).unwrap();
}

/// A run in which all systems are measured at the same rates, which they hold.
fn run_at_rates() -> Run {
    let mut run = ServingFixture { rates: vec![0.2, 0.4, 0.8], ..ServingFixture::default() }.run("serving");
    let own: BTreeMap<String, BTreeSet<u64>> = run.trials().fold(BTreeMap::new(), |mut own, trial| {
        let rates: &mut BTreeSet<u64> = own.entry(trial.cell.id.system.clone()).or_default();
        rates.extend(rate(trial).map(|rate| rate as u64));
        own
    });
    run.records = run.records.into_iter().map(|record| at_common_rate(record, &own)).collect();
    run.manifest.plan.trials = run.records.iter().map(|record| record.key.clone()).collect();
    run
}

fn rate(trial: &Trial) -> Option<f64> {
    trial.cell.parameters.get(RATE_PER_S)?.as_f64()
}

/// The record at the common rate in place of the system's own one.
fn at_common_rate(original: JournalRecord, own: &BTreeMap<String, BTreeSet<u64>>) -> JournalRecord {
    let RecordBody::Trial(trial) = &original.body else { return original };
    let Some(rate) = rate(trial) else { return original };
    let place = own[&trial.cell.id.system].iter().position(|known| *known == rate as u64).unwrap();
    let mut trial = trial.as_ref().clone();
    trial.cell.parameters.insert(RATE_PER_S.to_owned(), RATES[place].into());
    let arrivals = 2.0 * RATES[place];
    let values = [(THROUGHPUT_OPS_PER_S, RATES[place]), (OPERATIONS, arrivals), (PLANNED_ARRIVALS, arrivals)];
    trial.metrics.extend(values.map(|(metric, value)| metric.with_value(value)));
    record(trial)
}

/// Adds times of two questions, which the run does not have.
fn add_reports(facts: &mut SystemFacts, index: usize) {
    let Some(measurement) = facts.capacity.as_ref().and_then(Measured::value).cloned() else { return };
    let measured = |seconds: f64| {
        Some(Measured::Value(Measurement {
            value: seconds,
            interval: Some([seconds * 0.9, seconds * 1.12]),
            unit: Unit::Seconds,
            by_round: (1..=4).map(|round| (round, vec![seconds])).collect(),
            ..measurement.clone()
        }))
    };
    let slower = 0.05 * 4.0_f64.powi(index as i32);
    facts.reports = ["orders by day", "customers with the most orders of the last month"]
        .map(|title| ReportFacts {
            question: title.replace(' ', "-"),
            title: title.to_owned(),
            hot: measured(slower),
            cold: measured(2.5 * slower),
            under_load: measured(1.4 * slower),
        })
        .to_vec();
}
