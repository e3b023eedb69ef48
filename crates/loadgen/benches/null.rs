//! Benchmark of the clients' own cost: operations per second against the null target, the cost of recording a
//! latency, and the lateness of the load generator on an idle machine. `cargo bench -p jsonathlon-loadgen
//! --bench null`

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use jsonathlon_dataset::records::Records;
use jsonathlon_driver_api::driver::{DriverContext, EngineLocation, SessionOptions};
use jsonathlon_loadgen::job::{Job, OperationScript};
use jsonathlon_loadgen::load_generator::LoadGenerator;
use jsonathlon_loadgen::mix::{Mix, RequestDistribution};
use jsonathlon_loadgen::null::{MemoryTable, NullConnection, PROTOCOL};
use jsonathlon_loadgen::operation::Operation;
use jsonathlon_loadgen::report::JobReport;
use jsonathlon_stats::arrival::Arrival;
use jsonathlon_stats::histogram::Histogram;
use jsonathlon_telemetry::clock::MonotonicClock;
use jsonathlon_telemetry::stop_condition::StopCondition;
use jsonathlon_worker::JobTarget;

/// Bytes per client into which answers are copied.
const BYTES: usize = 64 << 20;
const ROUNDS: usize = 5;

fn records() -> Records {
    Records::flat(1)
}

fn job(records_count: u64, clients: u32, arrival: Arrival, seconds: f64) -> Job {
    let script = OperationScript {
        statements: vec!["{{key}}".to_owned()],
        undo: None,
        key_member: None,
        may_be_stale: false,
    };
    Job {
        records: records().into(),
        loaded: records_count,
        load: records_count.to_string(),
        mix: Mix {
            name: "c".to_owned(),
            shares: vec![(Operation::Read, 1.0)],
            requests: RequestDistribution::Zipfian,
        },
        scripts: BTreeMap::from([(Operation::Read, script)]),
        clients,
        threads: Some(2),
        arrival,
        ramp_s: 0.5,
        stop: StopCondition::Time { seconds },
        seed: 1,
        verify: true,
        prepare: true,
        batch: 1,
        scan: 1,
        limit: 1,
        projection: jsonathlon_loadgen::paths::Projection::default(),
        retries: 0,
        timeout_s: 10.0,
        sampling_targets: Default::default(),
        writers_take_turns: false,
        ack_log: None,
        reports: None,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let source = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        .unwrap_or_else(|_| "unknown".to_owned());
    let clock = MonotonicClock::new().properties(1_000_000);
    println!(
        "clock source        {} ({:.1} ns a reading, step {} ns)",
        source.trim(),
        clock.mean_read_ns,
        clock.min_step_ns
    );
    if !["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"].contains(&source.trim()) {
        println!("                    void: not a clock that is read without a system call");
    }

    println!("recording           {:.1} ns a latency; goal 50", recording());
    for records in [10_000, 100_000] {
        of_null(records)?;
    }
    Ok(())
}

/// Runs many clients against a null target with `count` records.
fn of_null(count: u64) -> Result<(), Box<dyn Error>> {
    let table = Arc::new(MemoryTable::new(records().prepare()?, count));
    println!("null target         {count} records, answers in turn over {} MiB a client", BYTES >> 20);
    let mut clients = LoadGenerator::with_opener(move |_, _, _| {
        Ok(Box::new(NullConnection::new(Arc::clone(&table), BYTES)))
    });
    let mut run = |job: &Job| -> Result<JobReport, Box<dyn Error>> {
        let open = SessionOptions { protocol: PROTOCOL.to_owned(), ..SessionOptions::default() };
        let host = DriverContext { clock: Arc::new(MonotonicClock::new()), output: None };
        let driven = clients
            .run(
                job,
                &JobTarget { open: &open, location: EngineLocation::InProcess, host: &host },
                &mut |_| {},
            )
            .map_err(|failure| failure.message)?;
        match driven.wrong_answers.first() {
            Some(wrong) => Err(wrong.clone().into()),
            None => Ok(driven),
        }
    };
    let (mut rates, mut costs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let driven = run(&job(count, 2, Arrival::Closed, 2.0))?;
        let operations = driven.operations.values().map(|one| one.operations).sum::<u64>() as f64;
        rates.push(operations / driven.measured_s / 1e6);
        costs.push(driven.usage.cpu_s.unwrap_or_default() / operations * 1e9);
    }
    rates.sort_by(f64::total_cmp);
    costs.sort_by(f64::total_cmp);
    println!(
        "closed loop         {:.2} million operations/s, 2 threads, checked ({:.2} to {:.2}); goal 5",
        rates[ROUNDS / 2],
        rates[0],
        rates[ROUNDS - 1]
    );
    println!(
        "                    {:.0} ns of CPU an operation, with all that shares the machine",
        costs[ROUNDS / 2]
    );

    for (name, arrival) in
        [("fixed", Arrival::Fixed { per_s: 10_000.0 }), ("Poisson", Arrival::Poisson { per_s: 10_000.0 })]
    {
        let driven = run(&job(count, 4, arrival, 3.0))?;
        let arrivals = driven.arrivals.ok_or("no arrivals")?;
        let lateness = Histogram::from_text(&arrivals.lateness)?;
        println!(
            "10,000/s, {name:<9} late by {:.1} µs in the median, {:.1} at p99, {:.1} at most; {} missed; goal 100 at p99",
            lateness.quantile_us(0.5),
            lateness.quantile_us(0.99),
            lateness.quantile_us(1.0),
            arrivals.missed
        );
    }
    Ok(())
}

/// Nanoseconds for recording one latency, over a realistic distribution.
fn recording() -> f64 {
    let mut latencies = Vec::new();
    let mut state = 1_u64;
    for _ in 0..1 << 16 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Latencies from 20 µs to 5 ms, most of them short.
        let unit = (state >> 11) as f64 / (1_u64 << 53) as f64;
        latencies.push((20_000.0 / (unit * 0.996 + 0.004)) as u64);
    }
    let mut histogram = Histogram::new();
    let begun = Instant::now();
    const TURNS: usize = 200;
    for _ in 0..TURNS {
        for latency in &latencies {
            histogram.record_ns(black_box(*latency));
        }
    }
    let spent = begun.elapsed().as_nanos() as f64;
    black_box(histogram.count());
    spent / (TURNS * latencies.len()) as f64
}
