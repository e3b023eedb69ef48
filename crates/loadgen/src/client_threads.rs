//! Threads of a job: each opens the connections of its own clients, and all threads begin at the same time.

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

/// Time from choosing the start of a job until that start, so that every thread knows it in time.
const NOTICE_NS: u64 = 2_000_000;
/// Period for which a client's first connection is retried; [`PAUSE`] is the time between two attempts.
const COMING: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(200);

/// A failed connection is attributed to the limit of open files if at most this many descriptors are free: an
/// engine opens several files at a time.
const NEARLY_ALL_FILES: u64 = 8;

/// Opens a client's connection before the job begins.
pub(crate) type Opening<'a> =
    dyn Fn() -> jsonathlon_driver_api::Result<Box<dyn NonblockingConnection>> + Sync + 'a;

/// Measurements of all threads together with what was observed alongside.
pub(crate) struct ThreadResults {
    pub(crate) recorder: LatencyRecorder,
    pub(crate) beside: SideMeasurements,
    pub(crate) threads: u32,
}

fn broken(words: impl Into<String>) -> Failure {
    Failure { kind: FailureKind::System, message: words.into() }
}

/// Opens a client's first connection and retries while the system is unavailable, for up to [`COMING`]. A
/// system may still count connections that have just been closed.
fn first(open: &Opening<'_>) -> jsonathlon_driver_api::Result<Box<dyn NonblockingConnection>> {
    let begun = Instant::now();
    loop {
        match open() {
            Err(DriverError::Unavailable(_)) if begun.elapsed() < COMING => {}
            opened => return opened,
        }
        std::thread::sleep(PAUSE);
    }
}

/// Opens client connections one by one and stops at the first failure.
struct AdmissionGate<'a> {
    shared: &'a JobContext<'a>,
    open: &'a Opening<'a>,
    came: AtomicU32,
    has_failed: AtomicBool,
    /// Explanation of the limit of open files, set if a connection failed because of it.
    files: OnceLock<String>,
    /// Serializes opening across threads. Set for embedded engines: they have a thread for each client, and
    /// each connection applies settings of the whole database file.
    turn: Option<Mutex<()>>,
}

impl AdmissionGate<'_> {
    /// Opens the next client. `None` if another client has failed.
    fn enter(&self) -> Result<Option<Client>, Failure> {
        let _turn = self.turn.as_ref().map(|turn| turn.lock().unwrap_or_else(PoisonError::into_inner));
        if self.has_failed.load(Ordering::SeqCst) {
            return Ok(None);
        }
        match first(self.open).and_then(|lane| Client::new(lane, self.shared)) {
            Ok(client) => {
                self.came.fetch_add(1, Ordering::SeqCst);
                Ok(Some(client))
            }
            Err(error) => {
                if let Some(words) = out_of_files() {
                    self.files.set(words).ok();
                }
                self.has_failed.store(true, Ordering::SeqCst);
                Err(error.into())
            }
        }
    }

    /// Completes a failure with the number of clients that were connected, after all threads have stopped
    /// opening.
    fn explain(&self, Failure { kind, message }: Failure) -> Failure {
        let came = self.came.load(Ordering::SeqCst);
        let mut words = format!("client {} of {}: {message}", came + 1, self.shared.job.clients);
        if let Some(files) = self.files.get() {
            words.push_str(&format!("; {came} came in: {files}"));
        } else if came > 0 {
            words.push_str(&format!(
                "; {came} came in: let fewer clients work, or raise the system's limit of connections"
            ));
        }
        Failure { kind, message: words }
    }
}

/// Explains the limit of open files if this process has reached it: an embedded engine opens several files
/// for each client, a client of a server one connection.
fn out_of_files() -> Option<String> {
    let most = getrlimit(Resource::Nofile).current?;
    let open = std::fs::read_dir("/proc/self/fd").ok()?.count() as u64;
    (open + NEARLY_ALL_FILES >= most).then(|| {
        format!(
            "this process may have {most} files open, and has {open}: let fewer clients work, or raise the limit \
             (`ulimit -Hn`, LimitNOFILE of a service, --ulimit nofile of a container)"
        )
    })
}

/// Clients and channels of one thread.
struct ThreadClients<'a> {
    door: &'a AdmissionGate<'a>,
    number: usize,
    clients: Vec<Client>,
    /// Number of clients of this thread, including those already in `clients`.
    count: usize,
    /// Receives `Ok` once all clients are connected, or the first failure.
    ready: Sender<Result<(), Failure>>,
    /// Delivers the start of the job in nanoseconds of the monotonic clock. Closed if the job is not started.
    start: Receiver<u64>,
}

impl ThreadClients<'_> {
    /// Opens the thread's clients, waits for the start and runs them. `None` if the job did not start.
    fn work(mut self) -> std::io::Result<Option<LatencyRecorder>> {
        let shared = self.door.shared;
        while self.clients.len() < self.count {
            match self.door.enter() {
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
        let Ok(began) = self.start.recv() else { return Ok(None) };
        let at_work = shared.leaving.begin();
        let waiting = EpollReactor::new(began)?;
        let mut runner = ClientLoop::new(shared, waiting, self.clients, self.number, shared.job.seed);
        let left = began.saturating_sub(monotonic_ns());
        std::thread::sleep(Duration::from_nanos(left));
        runner.work();
        drop(at_work);
        shared.leaving.wait();
        Ok(Some(runner.close()))
    }
}

/// Handle of one thread of clients.
type ThreadHandle<'scope> = ScopedJoinHandle<'scope, std::io::Result<Option<LatencyRecorder>>>;

/// Threads that open their clients and then wait for the start of the job.
struct SpawnedThreads<'scope> {
    running: Vec<ThreadHandle<'scope>>,
    /// Start channel of each thread; see [`ThreadClients::start`].
    starts: Vec<Sender<u64>>,
    /// Receives one message of each thread; see [`ThreadClients::ready`].
    came: Receiver<Result<(), Failure>>,
}

/// Returns the number of threads that the job wants; by default a pollable system gets one per CPU, any
/// other one per client.
fn thread_count(job: &Job, is_pollable: bool) -> usize {
    let clients = job.clients as usize;
    let usual = match is_pollable {
        true => std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(clients),
        false => clients,
    };
    job.threads.map_or(usual, |threads| threads as usize).clamp(1, clients.max(1))
}

/// Spawns all threads of clients; the first thread takes over the client that is already open.
fn spawn_threads<'scope>(
    scope: &'scope Scope<'scope, '_>,
    door: &'scope AdmissionGate<'scope>,
    first: Option<Client>,
    threads: usize,
) -> Result<SpawnedThreads<'scope>, Failure> {
    let clients = door.shared.job.clients as usize;
    let mut first: Vec<Client> = first.into_iter().collect();
    let (ready, came) = channel();
    let (mut running, mut starts) = (Vec::new(), Vec::new());
    for number in 0..threads {
        let (start, to_start) = channel();
        let count = clients * (number + 1) / threads - clients * number / threads;
        let part = ThreadClients {
            door,
            number,
            clients: std::mem::take(&mut first),
            count,
            ready: ready.clone(),
            start: to_start,
        };
        let spawned = std::thread::Builder::new()
            .name(format!("clients-{number}"))
            .spawn_scoped(scope, move || part.work());
        let spawned = spawned.map_err(|error| broken(format!("failed to start a thread: {error}")))?;
        running.push(spawned);
        starts.push(start);
    }
    Ok(SpawnedThreads { running, starts, came })
}

/// Joins all threads and merges their measurements, unless a thread or a measurement is broken.
fn merge_results(
    shared: &JobContext<'_>,
    running: Vec<ThreadHandle<'_>>,
) -> Result<LatencyRecorder, Failure> {
    let mut all = LatencyRecorder::new(shared.plans.len(), shared.schedule.is_some());
    for handle in running {
        match handle.join() {
            Ok(Ok(recorder)) => recorder.into_iter().for_each(|recorder| all.merge(recorder)),
            Ok(Err(error)) => return Err(broken(format!("failed to poll: {error}"))),
            Err(_) => {
                return Err(broken("a thread of clients has failed; its last words are in the log"));
            }
        }
    }
    match all.broken.take() {
        Some(words) => Err(broken(words)),
        None => Ok(all),
    }
}

/// Spreads the clients over threads and runs them.
///
/// A thread has neighbouring clients and opens their connections itself: the kernel places the server's
/// process of a connection near the thread that opened it, which is the thread that will talk to it.
pub(crate) fn run(
    shared: &JobContext<'_>,
    open: &Opening<'_>,
    ramp: &WarmUp,
    on: &JobTarget<'_>,
    tell: &mut dyn FnMut(Progress),
) -> Result<ThreadResults, Failure> {
    let job = shared.job;
    let mut door = AdmissionGate {
        shared,
        open,
        came: AtomicU32::new(0),
        has_failed: AtomicBool::new(false),
        files: OnceLock::new(),
        turn: None,
    };
    // Only an open connection tells whether one thread can poll many of them.
    let first = door.enter().map_err(|failure| door.explain(failure))?;
    let is_pollable = first.as_ref().is_some_and(|client| client.is_pollable);
    if job.writers_take_turns && is_pollable {
        return Err(broken("writers take turns in an engine of this process alone, and this is a server"));
    }
    if !is_pollable {
        door.turn = Some(Mutex::default());
    }
    let threads = thread_count(job, is_pollable);
    std::thread::scope(|scope| {
        let SpawnedThreads { running, starts, came } = spawn_threads(scope, &door, first, threads)?;
        let all_ready = (0..threads).try_for_each(|_| match came.recv() {
            Ok(ready) => ready.map_err(Some),
            Err(_) => Err(None),
        });
        if let Err(refused) = all_ready {
            drop(starts);
            // A panicked thread that is not joined here would make the scope panic as well.
            running.into_iter().for_each(|handle| drop(handle.join()));
            let failed =
                || broken("a thread of clients has failed before it began; its last words are in the log");
            return Err(refused.map_or_else(failed, |failure| door.explain(failure)));
        }
        shared.leaving.await_all(threads);
        let began = monotonic_ns() + NOTICE_NS;
        for start in starts {
            start.send(began).ok();
        }
        let are_over = || running.iter().all(|handle| handle.is_finished());
        let beside = watched(shared, on, ramp, began, are_over, tell);
        let recorder = merge_results(shared, running)?;
        Ok(ThreadResults { recorder, beside, threads: u32::try_from(threads).unwrap_or(u32::MAX) })
    })
}

/// Supervises the threads until they have ended; a separate thread samples checkpoints and the disk queue.
fn watched(
    shared: &JobContext<'_>,
    on: &JobTarget<'_>,
    ramp: &WarmUp,
    began: u64,
    are_over: impl Fn() -> bool,
    tell: &mut dyn FnMut(Progress),
) -> SideMeasurements {
    let watched = &shared.job.watched;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = || SystemSampler::keep(watched, shared.openers.again, began, &is_over);
        // If the sampling thread cannot start, its samples are missing and nothing else changes.
        let watching = (*watched != SamplingTargets::default())
            .then(|| std::thread::Builder::new().name("watch".to_owned()).spawn_scoped(scope, watch).ok())
            .flatten();
        let beside = supervise(shared, on, ramp, began, are_over, tell);
        is_over.store(true, Ordering::SeqCst);
        let watch = watching.and_then(|handle| {
            handle.thread().unpark();
            handle.join().ok()
        });
        SideMeasurements { watch: watch.unwrap_or_default(), ..beside }
    })
}
