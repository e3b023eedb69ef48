//! Threads of a job: each opens the connections of its own clients, and all threads start working at the same
//! time.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use jsonathlon_driver_api::{DriverError, NonblockingConnection};
use jsonathlon_worker::JobTarget;
use jsonathlon_worker::protocol::{Failure, FailureKind, Progress};
use rustix::process::{Resource, getrlimit};

use crate::client::Client;
use crate::client_loop::ClientLoop;
use crate::job::{Job, SamplingTargets};
use crate::job_context::JobContext;
use crate::reactor::{EpollReactor, monotonic_ns};
use crate::recorder::LatencyRecorder;
use crate::sampler::SystemSampler;
use crate::supervisor::{SideMeasurements, WarmUp, supervise};

/// Time between announcing the start of a job to its threads and that start, in nanoseconds.
const START_NOTICE_NS: u64 = 2_000_000;
/// Period for which opening a client's first connection is retried.
const CONNECT_RETRY_PERIOD: Duration = Duration::from_secs(1);
/// Pause between two attempts to open a client's first connection.
const CONNECT_RETRY_PAUSE: Duration = Duration::from_millis(200);

/// Number of free file descriptors up to which a failed connection is attributed to the limit of open files.
/// It is not 0 because an engine opens several files at a time.
const FEW_FREE_DESCRIPTORS: u64 = 8;

/// Function that opens a client's connection before the job begins.
pub(crate) type Opening<'a> =
    dyn Fn() -> jsonathlon_driver_api::Result<Box<dyn NonblockingConnection>> + Sync + 'a;

/// Merged latencies of all client threads, and what was measured while they worked.
pub(crate) struct ThreadResults {
    pub(crate) recorder: LatencyRecorder,
    pub(crate) side: SideMeasurements,
    pub(crate) threads: u32,
}

fn system_failure(message: impl Into<String>) -> Failure {
    Failure { kind: FailureKind::MachineFailure, message: message.into() }
}

/// Opens a client's first connection, retrying for up to [`CONNECT_RETRY_PERIOD`] while the system is
/// unavailable: connections that have just been closed may still count towards its limit.
fn open_with_retry(open: &Opening<'_>) -> jsonathlon_driver_api::Result<Box<dyn NonblockingConnection>> {
    let begun = Instant::now();
    loop {
        match open() {
            Err(DriverError::Unavailable(_)) if begun.elapsed() < CONNECT_RETRY_PERIOD => {}
            result => return result,
        }
        std::thread::sleep(CONNECT_RETRY_PAUSE);
    }
}

/// Opens clients for all threads, until one of them fails.
struct ClientOpener<'a> {
    shared: &'a JobContext<'a>,
    open: &'a Opening<'a>,
    /// Number of clients that are connected.
    connected: AtomicU32,
    has_failed: AtomicBool,
    /// Explanation of the limit of open files, set if a connection failed because of it.
    file_limit: OnceLock<String>,
    /// Serializes opening across threads. Set for embedded engines: they have a thread for each client, and
    /// each connection applies settings of the whole database file.
    serial: Option<Mutex<()>>,
}

impl ClientOpener<'_> {
    /// Opens another client. `None` if any client has failed before.
    fn open_client(&self) -> Result<Option<Client>, Failure> {
        let _guard = self.serial.as_ref().map(|lock| lock.lock().unwrap_or_else(PoisonError::into_inner));
        if self.has_failed.load(Ordering::SeqCst) {
            return Ok(None);
        }
        match open_with_retry(self.open).and_then(|connection| Client::new(connection, self.shared)) {
            Ok(client) => {
                self.connected.fetch_add(1, Ordering::SeqCst);
                Ok(Some(client))
            }
            Err(error) => {
                if let Some(explanation) = explain_file_limit() {
                    self.file_limit.set(explanation).ok();
                }
                self.has_failed.store(true, Ordering::SeqCst);
                Err(error.into())
            }
        }
    }

    /// Adds the number of connected clients and possible remedies to a failure's message. The number is final
    /// only once no thread opens clients any more.
    fn explain(&self, Failure { kind, message }: Failure) -> Failure {
        let connected = self.connected.load(Ordering::SeqCst);
        let mut message = format!("client {} of {}: {message}", connected + 1, self.shared.job.clients);
        if let Some(explanation) = self.file_limit.get() {
            message.push_str(&format!("; {connected} connected before it: {explanation}"));
        } else if connected > 0 {
            message.push_str(&format!(
                "; {connected} connected before it: use fewer clients, or raise the system's connection limit"
            ));
        }
        Failure { kind, message }
    }
}

/// Explains the limit of open files if this process has almost reached it. An embedded engine opens several
/// files for each client; a client of a server has one connection, which counts as a file.
fn explain_file_limit() -> Option<String> {
    let limit = getrlimit(Resource::Nofile).current?;
    let open = std::fs::read_dir("/proc/self/fd").ok()?.count() as u64;
    (open + FEW_FREE_DESCRIPTORS >= limit).then(|| {
        format!(
            "this process has {open} files open and may open {limit}: use fewer clients, or raise the limit \
             (`ulimit -Hn`, LimitNOFILE of a service, --ulimit nofile of a container)"
        )
    })
}

/// One thread's clients, and its channels to the thread that started it.
struct ThreadClients<'a> {
    opener: &'a ClientOpener<'a>,
    /// Index of the thread, from 0.
    index: usize,
    clients: Vec<Client>,
    /// Number of clients of this thread, including those already in `clients`.
    count: usize,
    /// Transmits `Ok` once all clients are connected, or the failure of one of them.
    ready: Sender<Result<(), Failure>>,
    /// Delivers the start of the job in nanoseconds of the monotonic clock. Closed if the job is not started.
    start: Receiver<u64>,
}

impl ThreadClients<'_> {
    /// Opens the thread's clients, waits for the start and runs them. `None` if the job did not start.
    fn run(mut self) -> std::io::Result<Option<LatencyRecorder>> {
        let shared = self.opener.shared;
        while self.clients.len() < self.count {
            match self.opener.open_client() {
                Ok(Some(client)) => self.clients.push(client),
                Ok(None) => return Ok(None),
                Err(failure) => {
                    self.ready.send(Err(failure)).ok();
                    return Ok(None);
                }
            }
        }
        // If the receiver is gone, the start channel is closed as well and `recv` fails below.
        self.ready.send(Ok(())).ok();
        drop(self.ready);
        let Ok(start_ns) = self.start.recv() else { return Ok(None) };
        let active_guard = shared.shutdown_barrier.enter();
        let reactor = EpollReactor::new(start_ns)?;
        let mut client_loop = ClientLoop::new(shared, reactor, self.clients, self.index, shared.job.seed);
        let remaining_ns = start_ns.saturating_sub(monotonic_ns());
        std::thread::sleep(Duration::from_nanos(remaining_ns));
        client_loop.work();
        drop(active_guard);
        // This thread and its connections must last until the counters of the job have been read.
        shared.shutdown_barrier.wait();
        Ok(Some(client_loop.close()))
    }
}

/// Handle of a thread that runs [`ThreadClients`].
type ThreadHandle<'scope> = ScopedJoinHandle<'scope, std::io::Result<Option<LatencyRecorder>>>;

/// Threads that open their clients and then wait for the start of the job.
struct SpawnedThreads<'scope> {
    handles: Vec<ThreadHandle<'scope>>,
    /// Start channel of each thread; see [`ThreadClients::start`].
    start_senders: Vec<Sender<u64>>,
    /// Delivers one message from each thread; see [`ThreadClients::ready`].
    ready: Receiver<Result<(), Failure>>,
}

/// Number of threads that the job sets. By default one per CPU if connections can be polled, otherwise one
/// per client.
fn thread_count(job: &Job, is_pollable: bool) -> usize {
    let clients = job.clients as usize;
    let default_count = match is_pollable {
        true => std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(clients),
        false => clients,
    };
    job.threads.map_or(default_count, |threads| threads as usize).clamp(1, clients.max(1))
}

/// Spawns all client threads; the first thread takes over the client that is already open.
fn spawn_threads<'scope>(
    scope: &'scope Scope<'scope, '_>,
    opener: &'scope ClientOpener<'scope>,
    first_client: Option<Client>,
    threads: usize,
) -> Result<SpawnedThreads<'scope>, Failure> {
    let clients = opener.shared.job.clients as usize;
    let mut first_client: Vec<Client> = first_client.into_iter().collect();
    let (ready_sender, ready) = channel();
    let (mut handles, mut start_senders) = (Vec::new(), Vec::new());
    for index in 0..threads {
        let (start_sender, start) = channel();
        let count = clients * (index + 1) / threads - clients * index / threads;
        let thread_clients = ThreadClients {
            opener,
            index,
            clients: std::mem::take(&mut first_client),
            count,
            ready: ready_sender.clone(),
            start,
        };
        let handle = std::thread::Builder::new()
            .name(format!("clients-{index}"))
            .spawn_scoped(scope, move || thread_clients.run());
        let handle = handle.map_err(|error| system_failure(format!("failed to start a thread: {error}")))?;
        handles.push(handle);
        start_senders.push(start_sender);
    }
    Ok(SpawnedThreads { handles, start_senders, ready })
}

/// Joins all threads and merges their measurements.
///
/// # Errors
/// If a thread failed or panicked, or its measurements are unusable.
fn merge_results(
    shared: &JobContext<'_>,
    handles: Vec<ThreadHandle<'_>>,
) -> Result<LatencyRecorder, Failure> {
    let mut merged = LatencyRecorder::new(shared.plans.len(), shared.schedule.is_some());
    for handle in handles {
        match handle.join() {
            Ok(Ok(recorder)) => recorder.into_iter().for_each(|recorder| merged.merge(recorder)),
            Ok(Err(error)) => return Err(system_failure(format!("failed to poll: {error}"))),
            Err(_) => return Err(system_failure("a client thread panicked; see the log")),
        }
    }
    match merged.fatal_error.take() {
        Some(message) => Err(system_failure(message)),
        None => Ok(merged),
    }
}

/// Distributes the clients over threads and runs them.
///
/// Each thread has consecutive clients and opens their connections itself, because the kernel tends to place
/// the server's process of a connection near the thread that opened it, and that thread also uses it.
pub(crate) fn run(
    shared: &JobContext<'_>,
    open: &Opening<'_>,
    warm_up: &WarmUp,
    target: &JobTarget<'_>,
    report_progress: &mut dyn FnMut(Progress),
) -> Result<ThreadResults, Failure> {
    let job = shared.job;
    let mut opener = ClientOpener {
        shared,
        open,
        connected: AtomicU32::new(0),
        has_failed: AtomicBool::new(false),
        file_limit: OnceLock::new(),
        serial: None,
    };
    // Whether connections can be polled, so that one thread can have many, is known once one is open.
    let first_client = opener.open_client().map_err(|failure| opener.explain(failure))?;
    let is_pollable = first_client.as_ref().is_some_and(|client| client.is_pollable);
    if job.writers_take_turns && is_pollable {
        return Err(system_failure("writers can take turns only with an embedded engine, not with a server"));
    }
    if !is_pollable {
        opener.serial = Some(Mutex::default());
    }
    let threads = thread_count(job, is_pollable);
    std::thread::scope(|scope| {
        let SpawnedThreads { handles, start_senders, ready } =
            spawn_threads(scope, &opener, first_client, threads)?;
        let all_ready = (0..threads).try_for_each(|_| match ready.recv() {
            Ok(result) => result.map_err(Some),
            Err(_) => Err(None),
        });
        if let Err(failure) = all_ready {
            // The other threads end without working when their start channel is closed.
            drop(start_senders);
            // A panicked thread that is not joined here would make the scope panic as well.
            handles.into_iter().for_each(|handle| drop(handle.join()));
            let panicked = || system_failure("a client thread panicked before the job began; see the log");
            return Err(failure.map_or_else(panicked, |failure| opener.explain(failure)));
        }
        shared.shutdown_barrier.set_thread_count(threads);
        let start_ns = monotonic_ns() + START_NOTICE_NS;
        if let Some(reports) = &shared.reports {
            reports.begin(start_ns);
        }
        for start_sender in start_senders {
            start_sender.send(start_ns).ok();
        }
        let all_ended = || handles.iter().all(|handle| handle.is_finished());
        let side = supervise_and_sample(shared, target, warm_up, start_ns, all_ended, report_progress);
        let recorder = merge_results(shared, handles)?;
        Ok(ThreadResults { recorder, side, threads: u32::try_from(threads).unwrap_or(u32::MAX) })
    })
}

/// Supervises the client threads until they have ended; meanwhile a separate thread samples checkpoints and
/// the disk queue.
fn supervise_and_sample(
    shared: &JobContext<'_>,
    target: &JobTarget<'_>,
    warm_up: &WarmUp,
    start_ns: u64,
    all_ended: impl Fn() -> bool,
    report_progress: &mut dyn FnMut(Progress),
) -> SideMeasurements {
    let sampling_targets = &shared.job.sampling_targets;
    let must_stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let sample = || {
            SystemSampler::sample_until_end(
                sampling_targets,
                shared.connection_factories.immediate,
                start_ns,
                &must_stop,
            )
        };
        // If the sampling thread cannot start, its samples are missing and nothing else changes.
        let sampler = (*sampling_targets != SamplingTargets::default())
            .then(|| std::thread::Builder::new().name("watch".to_owned()).spawn_scoped(scope, sample).ok())
            .flatten();
        let side = supervise(shared, target, warm_up, start_ns, all_ended, report_progress);
        must_stop.store(true, Ordering::SeqCst);
        let samples = sampler.and_then(|handle| {
            handle.thread().unpark();
            handle.join().ok()
        });
        SideMeasurements { sampler: samples.unwrap_or_default(), ..side }
    })
}
