//! Hand-computed cases on a clock that moves only during waits.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jsonathlon_driver_api::{Cell, DriverError, Parameter, PreparedStatement, RowSink, StatementStats};
use jsonathlon_stats::arrival::Arrival;
use jsonathlon_stats::histogram::Histogram;
use jsonathlon_telemetry::clock::{Clock, FakeClock};
use jsonathlon_telemetry::stop_condition::StopCondition;

use jsonathlon_dataset::records::{RecordSet, Records};

use super::*;
use crate::client::Client;
use crate::client_loop::ClientLoop;
use crate::job::OperationScript;
use crate::mix::{Mix, RequestDistribution};
use crate::reactor::Reactor;

const MS: u64 = 1_000_000;

/// Duration of a request by its time of arrival, in nanoseconds, or its failure. All connections share it.
type ResponseTime = Arc<dyn Fn(u64) -> Result<u64, DriverError> + Send + Sync>;

struct World {
    clock: Arc<FakeClock>,
    response_time: ResponseTime,
    set: RecordSet,
    /// Arrival times of the pending answers, by the number of their connection.
    answer_times: Arc<Mutex<BTreeMap<usize, u64>>>,
    opened: Mutex<usize>,
}

impl World {
    fn new(response_time: impl Fn(u64) -> Result<u64, DriverError> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            clock: Arc::new(FakeClock::new()),
            response_time: Arc::new(response_time),
            set: records().prepare().unwrap(),
            answer_times: Arc::default(),
            opened: Mutex::new(0),
        })
    }

    fn now(&self) -> u64 {
        u64::try_from(self.clock.now().as_nanos()).unwrap()
    }

    fn lane(self: &Arc<Self>, is_pollable: bool) -> Box<dyn NonblockingConnection> {
        let mut opened = self.opened.lock().unwrap();
        *opened += 1;
        let descriptor = is_pollable.then(|| File::open("/dev/null").unwrap());
        Box::new(FakeLane { world: Arc::clone(self), id: *opened, descriptor, pending: None })
    }
}

struct FakeLane {
    world: Arc<World>,
    id: usize,
    descriptor: Option<File>,
    /// Number of the requested record, and the time of its answer or the failure instead.
    pending: Option<(u64, Result<u64, DriverError>)>,
}

impl NonblockingConnection for FakeLane {
    fn prepare(&mut self, _: &str) -> jsonathlon_driver_api::Result<PreparedStatement> {
        Ok(PreparedStatement::numbered(0))
    }

    fn send(
        &mut self,
        _: &PreparedStatement,
        parameters: &[Parameter<'_>],
    ) -> jsonathlon_driver_api::Result<()> {
        let Some(Parameter::Text(key)) = parameters.first() else { panic!("no key") };
        let number = self.world.set.records().number(key.as_bytes()).unwrap();
        let now = self.world.now();
        let answer_time = (self.world.response_time)(now).map(|takes| now + takes);
        self.world.answer_times.lock().unwrap().insert(self.id, *answer_time.as_ref().unwrap_or(&now));
        self.pending = Some((number, answer_time));
        Ok(())
    }

    fn receive(
        &mut self,
        wait: bool,
        sink: &mut dyn RowSink,
    ) -> jsonathlon_driver_api::Result<Option<StatementStats>> {
        let (number, answer_time) = self.pending.clone().unwrap();
        if let Ok(answer_time) = answer_time {
            let now = self.world.now();
            if answer_time > now {
                if !wait {
                    return Ok(None);
                }
                self.world.clock.advance(Duration::from_nanos(answer_time - now));
            }
        }
        self.world.answer_times.lock().unwrap().remove(&self.id);
        self.pending = None;
        answer_time?;
        let mut document = Vec::new();
        self.world.set.document(number, 0, &mut document);
        sink.columns(&["doc"])?;
        sink.row(&[Cell::Text(std::str::from_utf8(&document).unwrap())])?;
        Ok(Some(StatementStats::default()))
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.descriptor.as_ref().map(AsFd::as_fd)
    }

    fn close(self: Box<Self>) {
        self.world.answer_times.lock().unwrap().remove(&self.id);
    }
}

/// Advances the clock to the next event.
struct FakeReactor {
    world: Arc<World>,
    /// Connection of each registered client. Connections are opened in the order of the clients.
    watched: BTreeMap<usize, usize>,
}

impl Reactor for FakeReactor {
    fn now(&self) -> u64 {
        self.world.now()
    }

    fn watch(&mut self, client: usize, _: BorrowedFd<'_>) -> std::io::Result<()> {
        let newest = *self.world.opened.lock().unwrap();
        let is_first = !self.watched.contains_key(&client);
        self.watched.insert(client, if is_first { client + 1 } else { newest });
        Ok(())
    }

    fn wait(&mut self, until: u64, _: bool, ready: &mut Vec<usize>) -> std::io::Result<()> {
        let answer_times = self.world.answer_times.lock().unwrap();
        let now = self.world.now();
        let event_time = answer_times.values().copied().min().unwrap_or(u64::MAX).min(until).max(now);
        self.world.clock.advance(Duration::from_nanos(event_time - now));
        let is_ready = |(client, connection): (&usize, &usize)| {
            answer_times.get(connection).filter(|answer_time| **answer_time <= event_time).map(|_| *client)
        };
        ready.extend(self.watched.iter().filter_map(is_ready));
        Ok(())
    }
}

fn records() -> Records {
    Records::flat(7)
}

fn job(clients: u32, arrival: Arrival, ramp_s: f64, stop: StopCondition) -> Job {
    let script = OperationScript {
        statements: vec!["read {{key}}".to_owned()],
        undo: None,
        key_member: None,
        may_be_stale: false,
    };
    Job {
        records: records().into(),
        loaded: 100,
        load: "1".to_owned(),
        mix: Mix {
            name: "c".to_owned(),
            shares: vec![(Operation::Read, 1.0)],
            requests: RequestDistribution::Zipfian,
        },
        scripts: BTreeMap::from([(Operation::Read, script)]),
        clients,
        threads: Some(1),
        arrival,
        ramp_s,
        stop,
        seed: 1,
        verify: true,
        prepare: true,
        batch: 1,
        scan: 10,
        limit: 10,
        projection: crate::paths::Projection::default(),
        retries: 3,
        timeout_s: 5.0,
        sampling_targets: Default::default(),
        writers_take_turns: false,
        ack_log: None,
        reports: None,
    }
}

/// Runs a job on a single thread.
fn run(job: &Job, world: &Arc<World>, is_pollable: bool) -> JobReport {
    let mut generator = LoadGenerator::with_opener(|_, _, _| panic!("nothing is opened here"));
    generator.set_load(job).unwrap();
    let data = generator.data.as_mut().unwrap();
    let paths = select_paths(&data.set, job.projection);
    data.prepare(job, &paths).unwrap();
    let open_connection = || Ok(world.lane(is_pollable));
    let connection_factories = ConnectionFactories { waiting: &open_connection, immediate: &open_connection };
    let context = create_context(data, job, paths, "memory", connection_factories).unwrap();
    let clients =
        (0..job.clients).map(|_| Client::new(open_connection().unwrap(), &context).unwrap()).collect();
    let reactor = FakeReactor { world: Arc::clone(world), watched: BTreeMap::new() };
    let mut client_loop = ClientLoop::new(&context, reactor, clients, 0, 1);
    client_loop.work();
    let recorder = client_loop.close();
    assert_eq!(recorder.fatal_error, None);
    build_report(&context, recorder, SideMeasurements::default(), 1, job.loaded, 0).0
}

fn time(seconds: f64) -> StopCondition {
    StopCondition::Time { seconds }
}

fn histogram(text: &str) -> Histogram {
    Histogram::from_text(text).unwrap()
}

/// Number of values of a histogram above this many nanoseconds.
fn above(text: &str, ns: u64) -> u64 {
    histogram(text).values_ns().filter(|(value, _)| *value > ns).map(|(_, count)| count).sum()
}

fn near(value: f64, expected: f64) -> bool {
    (value - expected).abs() <= expected * 2e-3
}

#[test]
fn a_closed_loop_goes_back_to_back() {
    for (clients, is_pollable) in [(1, false), (1, true), (4, true)] {
        let world = World::new(|_| Ok(100_000));
        let report = run(&job(clients, Arrival::Closed, 1.0, time(2.0)), &world, is_pollable);
        let read = &report.operations[&Operation::Read];
        let clients = u64::from(clients);
        assert_eq!((read.operations, read.documents, read.errors), (20_000 * clients, 20_000 * clients, 0));
        assert!((report.measured_s - 2.0).abs() < 1e-9 && report.arrivals.is_none());
        let service = histogram(&read.service);
        assert_eq!((service.count(), read.response.is_none()), (20_000 * clients, true));
        assert!(near(service.quantile_us(1.0), 100.0) && near(service.quantile_us(0.0), 100.0));
        let seconds: Vec<u64> = report.seconds.iter().map(|second| second.operations).collect();
        // An operation that ends exactly at the end of a second belongs to the next one.
        assert_eq!(seconds, [9_999 * clients, 10_000 * clients, 10_000 * clients]);
        assert!(near(report.seconds[1].longest_us, 100.0));
    }
}

#[test]
fn nothing_of_the_ramp_is_in_the_figures_but_the_series() {
    let world = World::new(|now| Ok(if now < 1000 * MS { 10 * MS } else { MS }));
    let report = run(&job(1, Arrival::Closed, 1.5, time(1.0)), &world, true);
    let read = &report.operations[&Operation::Read];
    assert_eq!(read.operations, 1000);
    assert!(near(histogram(&read.service).quantile_us(1.0), 1000.0));
    let seconds: Vec<u64> = report.seconds.iter().map(|second| second.operations).collect();
    assert_eq!(seconds, [99, 1000, 500]);
    assert!(near(report.seconds[0].longest_us, 10_000.0));
}

#[test]
fn a_stall_delays_all_that_were_to_begin_in_it() {
    // A request takes 10 µs; from 2 s to 3 s nothing is answered.
    let response_time = |now: u64| {
        let is_stalled = (2000 * MS..3000 * MS).contains(&now);
        Ok(if is_stalled { 3000 * MS - now } else { 10_000 })
    };
    let world = World::new(response_time);
    let arrival = Arrival::Fixed { per_s: 1000.0 };
    let report = run(&job(1, arrival, 1.0, time(4.0)), &world, true);
    let read = &report.operations[&Operation::Read];
    assert_eq!((read.operations, read.errors), (4000, 0));
    // Only the operation that was under way has waited for a second.
    assert_eq!(above(&read.service, MS), 1);
    assert_eq!(above(&read.service, 900 * MS), 1);
    // Operations intended at 2.000, 2.001, … 2.999 have waited for 1 s, 0.999 s, …; working off the backlog
    // takes 10 ms.
    let response = read.response.as_ref().unwrap();
    let delayed = above(response, MS);
    assert!((1000..=1012).contains(&delayed), "{delayed}");
    let above_half = above(response, 500 * MS);
    assert!((495..=512).contains(&above_half), "{above_half}");
    assert!(near(histogram(response).quantile_us(1.0), 1e6));
    let arrivals = report.arrivals.unwrap();
    assert_eq!((arrivals.planned, arrivals.missed, arrivals.unfinished), (4000, 0, 0));
    // The generator itself was never late, because no connection was free.
    assert_eq!(above(&arrivals.lateness, 20_000), 0);
    assert_eq!(histogram(&arrivals.lateness).count(), 4000);
    // At the end of the stall 999 arrivals wait, and that is the end of their second.
    assert!((998..=1000).contains(&arrivals.backlog_max), "{}", arrivals.backlog_max);
    let backlog: Vec<u64> = report.seconds.iter().map(|second| second.backlog).collect();
    assert_eq!((backlog[0], backlog[1], backlog[4]), (0, 0, 0));
    assert!((998..=1000).contains(&backlog[2]), "{backlog:?}");
}

#[test]
fn a_rate_that_is_kept_is_neither_late_nor_delayed() {
    for arrival in [Arrival::Fixed { per_s: 1000.0 }, Arrival::Poisson { per_s: 1000.0 }] {
        let world = World::new(|_| Ok(100_000));
        // Enough connections for any cluster of arrivals.
        let report = run(&job(16, arrival, 1.0, time(3.0)), &world, true);
        let read = &report.operations[&Operation::Read];
        let arrivals = report.arrivals.unwrap();
        assert_eq!(read.operations, arrivals.planned);
        assert!((2700..3300).contains(&arrivals.planned));
        let response = histogram(read.response.as_ref().unwrap());
        assert!(near(response.quantile_us(1.0), 100.0), "{arrival:?} {}", response.quantile_us(1.0));
        assert_eq!((arrivals.backlog_max, arrivals.backlog_at_start), (0, 0));
    }
}

#[test]
fn overload_runs_on_and_shows_itself() {
    let world = World::new(|_| Ok(MS));
    let arrival = Arrival::Fixed { per_s: 2000.0 };
    let report = run(&job(1, arrival, 1.0, time(2.0)), &world, true);
    let arrivals = report.arrivals.as_ref().unwrap();
    // One of two arrivals waits: the backlog grows by 1,000 per second.
    assert!((999..=1001).contains(&arrivals.backlog_at_start), "{arrivals:?}");
    assert!((2999..=3001).contains(&arrivals.backlog_max), "{arrivals:?}");
    let backlog: Vec<u64> = report.seconds.iter().map(|second| second.backlog).collect();
    assert!((1999..=2001).contains(&backlog[1]), "{backlog:?}");
    // The first 1,000 operations of the measurement window belong to arrivals of the warm-up.
    let read = &report.operations[&Operation::Read];
    assert_eq!(arrivals.planned, 4000);
    assert!((999..=1001).contains(&read.operations), "{}", read.operations);
    assert_eq!(read.operations + arrivals.missed + arrivals.unfinished, 4000);
    assert_eq!(histogram(read.response.as_ref().unwrap()).count(), 4000);
}

#[test]
fn what_has_not_ended_counts_as_a_lower_bound() {
    // From 1.5 s on nothing is ever answered.
    let world = World::new(|now| Ok(if now >= 1500 * MS { 1_000_000 * MS } else { 10_000 }));
    let arrival = Arrival::Fixed { per_s: 100.0 };
    let report = run(&job(1, arrival, 1.0, time(1.0)), &world, true);
    let read = &report.operations[&Operation::Read];
    let arrivals = report.arrivals.unwrap();
    assert_eq!((arrivals.planned, arrivals.missed, arrivals.unfinished), (100, 49, 1));
    assert_eq!(read.operations, 50);
    let response = histogram(read.response.as_ref().unwrap());
    assert_eq!(response.count(), 100);
    // At most 2.0 − 1.5 s, and each one 10 ms less than the one before.
    assert!(near(response.quantile_us(1.0), 500_000.0));
    assert_eq!(above(read.response.as_ref().unwrap(), 245 * MS), 26);
    assert_eq!(histogram(&read.service).count(), 50);
}

#[test]
fn counted_operations_are_counted_exactly() {
    for (clients, is_pollable) in [(1, false), (3, true), (8, true)] {
        let world = World::new(|_| Ok(MS));
        let stop = StopCondition::Count { operations: 1000 };
        let report = run(&job(clients, Arrival::Closed, 0.5, stop), &world, is_pollable);
        let read = &report.operations[&Operation::Read];
        assert_eq!((read.operations, histogram(&read.service).count()), (1000, 1000));
        let rounds = 1000_u64.div_ceil(u64::from(clients)) as f64;
        assert!((report.measured_s - rounds * 1e-3).abs() <= 1e-3, "{clients} {}", report.measured_s);
    }
    let world = World::new(|_| Ok(MS));
    let arrival = Arrival::Poisson { per_s: 500.0 };
    let report = run(&job(8, arrival, 0.5, StopCondition::Count { operations: 700 }), &world, true);
    let arrivals = report.arrivals.unwrap();
    assert_eq!((arrivals.planned, arrivals.missed, arrivals.unfinished), (700, 0, 0));
    assert_eq!(report.operations[&Operation::Read].operations, 700);
}

#[test]
fn what_is_given_up_is_a_time_out_and_its_connection_is_opened_again() {
    // One request sent at 1.2 s is never answered.
    let is_hit = Mutex::new(false);
    let world = World::new(move |now| {
        let mut is_hit = is_hit.lock().unwrap();
        if now >= 1200 * MS && !*is_hit {
            *is_hit = true;
            return Ok(1_000_000 * MS);
        }
        Ok(MS)
    });
    let job = Job { timeout_s: 0.5, ..job(2, Arrival::Closed, 1.0, time(2.0)) };
    let report = run(&job, &world, true);
    let read = &report.operations[&Operation::Read];
    assert_eq!((read.errors, read.timeouts, report.reconnects), (1, 1, 1));
    // One of the two clients has lost half a second, up to the next timeout check.
    assert!((3470..=3500).contains(&read.operations), "{}", read.operations);
    let failed = histogram(read.failed.as_ref().unwrap());
    assert!((500_000.0..515_000.0).contains(&failed.quantile_us(1.0)), "{}", failed.quantile_us(1.0));
    // The timeout is included in the service times.
    assert_eq!(histogram(&read.service).count(), read.operations + 1);
    assert_eq!(report.refusals.values().sum::<u64>(), 1);
}

#[test]
fn conflicts_are_retried_within_the_operation() {
    let tries = Mutex::new(0_u64);
    let world = World::new(move |_| {
        let mut tries = tries.lock().unwrap();
        *tries += 1;
        if tries.is_multiple_of(4) { Ok(MS) } else { Err(DriverError::Conflict("deadlock".to_owned())) }
    });
    let report = run(&job(1, Arrival::Closed, 0.0, time(1.0)), &world, false);
    let read = &report.operations[&Operation::Read];
    assert_eq!((read.retries, read.errors), (3 * read.operations, 0));
    let world = World::new(|now| {
        // Time must pass, because otherwise the loop would never end.
        if now % 2 == 0 { Ok(MS + 1) } else { Err(DriverError::Conflict("deadlock".to_owned())) }
    });
    let job = Job { retries: 0, ..job(1, Arrival::Fixed { per_s: 100.0 }, 0.0, time(1.0)) };
    let report = run(&job, &world, false);
    assert_eq!(report.operations[&Operation::Read].retries, 0);
}

#[test]
fn a_server_that_goes_is_counted_and_seen_in_the_series() {
    // Connections break at 1.5 s and cannot be reopened for half a second.
    let is_down = |now: u64| (1500 * MS..2000 * MS).contains(&now);
    let world = World::new(
        move |now| {
            if is_down(now) { Err(DriverError::Crashed("cut".to_owned())) } else { Ok(MS) }
        },
    );
    let mut generator = LoadGenerator::with_opener(|_, _, _| panic!("nothing is opened here"));
    let job = job(2, Arrival::Closed, 1.0, time(2.0));
    generator.set_load(&job).unwrap();
    let data = generator.data.as_mut().unwrap();
    let paths = select_paths(&data.set, job.projection);
    data.prepare(&job, &paths).unwrap();
    let open_connection = || {
        if is_down(world.now()) {
            return Err(DriverError::Unavailable("connection refused".to_owned()));
        }
        Ok(world.lane(true))
    };
    let connection_factories = ConnectionFactories { waiting: &open_connection, immediate: &open_connection };
    let context = create_context(data, &job, paths, "memory", connection_factories).unwrap();
    let clients = (0..2).map(|_| Client::new(open_connection().unwrap(), &context).unwrap()).collect();
    let reactor = FakeReactor { world: Arc::clone(&world), watched: BTreeMap::new() };
    let mut client_loop = ClientLoop::new(&context, reactor, clients, 0, 1);
    client_loop.work();
    let recorder = client_loop.close();
    let report = build_report(&context, recorder, SideMeasurements::default(), 1, 100, 0).0;
    let read = &report.operations[&Operation::Read];
    assert_eq!(report.reconnects, 2);
    // Two broken connections, and attempts to reopen after 20, 40, 80 … ms.
    assert!((6..30).contains(&read.errors), "{}", read.errors);
    assert!((2000..=3100).contains(&read.operations), "{}", read.operations);
    let errors: Vec<u64> = report.seconds.iter().map(|second| second.errors).collect();
    assert_eq!((errors[0], errors[2]), (0, 0));
    assert_eq!(errors[1], read.errors);
    assert!(report.seconds[1].operations < report.seconds[2].operations + 100);
    assert!(report.refusals.keys().any(|message| message.contains("connection refused")));
}
