//! One stream: asks sets of questions in a closed loop on a thread that nobody has to wait for.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use jsonathlon_driver_api::Connection;
use jsonathlon_driver_api::driver::{DriverContext, DriverError, SessionOptions};
use jsonathlon_worker::Connector;

use super::job::ReportsJob;
use super::log::{AskedReport, ReportOutcome, StreamLog};
use crate::answer_store::AnswerStore;
use crate::asking::{ERROR_DELAY, MAX_ANSWER_BYTES, is_connection_lost, question_order};
use crate::messages::shortened;
use crate::reactor::{NEVER, monotonic_ns};

/// Pause between two attempts to reach a system again.
const RECONNECT_DELAY: Duration = Duration::from_millis(100);

/// State that all streams of a job share with the thread that supervises them.
#[derive(Debug)]
pub(super) struct SharedState {
    /// Beginning of the job, a time of [`monotonic_ns`]; 0 before it has begun.
    start_ns: AtomicU64,
    /// Beginning of the measurement window, in nanoseconds since the job began; [`NEVER`] until it is known.
    window_start_ns: AtomicU64,
    is_over: AtomicBool,
    /// Streams that neither have finished a set in the window nor have ended.
    without_set: AtomicUsize,
    /// Whether nobody had to be waited for when the window ended; empty until then. Streams end after it, and the
    /// number of those without a set falls to 0 whatever they have finished.
    had_whole_sets: OnceLock<bool>,
    answer_bytes: AtomicUsize,
    answered: AtomicU64,
}

impl SharedState {
    pub(super) fn new(streams: usize) -> Self {
        Self {
            start_ns: AtomicU64::new(0),
            window_start_ns: AtomicU64::new(NEVER),
            is_over: AtomicBool::new(false),
            without_set: AtomicUsize::new(streams),
            had_whole_sets: OnceLock::new(),
            answer_bytes: AtomicUsize::new(0),
            answered: AtomicU64::new(0),
        }
    }

    pub(super) fn begin(&self, start_ns: u64) {
        self.start_ns.store(start_ns, Ordering::SeqCst);
    }

    pub(super) fn set_window_start(&self, window_start_ns: u64) {
        self.window_start_ns.store(window_start_ns, Ordering::SeqCst);
    }

    /// Nothing new is asked from here on. Only the first call changes anything. Returns whether every stream had
    /// finished a set, or had ended, when it was made.
    pub(super) fn end(&self) -> bool {
        let had_whole_sets = *self.had_whole_sets.get_or_init(|| self.has_whole_sets());
        self.is_over.store(true, Ordering::SeqCst);
        had_whole_sets
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// Nanoseconds since the job began.
    pub(super) fn now(&self) -> u64 {
        monotonic_ns().saturating_sub(self.start_ns.load(Ordering::SeqCst))
    }

    /// Returns `true` if every stream has finished a set that began in the window, or has ended.
    pub(super) fn has_whole_sets(&self) -> bool {
        self.without_set.load(Ordering::SeqCst) == 0
    }

    /// Number of questions that were answered so far.
    pub(super) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }
}

/// What a stream has done so far, which others may read at any time.
#[derive(Debug, Default)]
pub(super) struct StreamState {
    pub(super) log: StreamLog,
    pub(super) answers: AnswerStore,
    /// Question that is being asked, and its beginning.
    pub(super) pending: Option<(u32, u64)>,
}

/// Locks the state of a stream. Nothing is left half done in it if its thread has panicked.
pub(super) fn lock(state: &Mutex<StreamState>) -> MutexGuard<'_, StreamState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One stream with its connection. It owns whatever it uses, so that its thread may outlive the job if a system
/// does not answer.
pub(super) struct Stream {
    pub(super) number: u32,
    pub(super) job: Arc<ReportsJob>,
    pub(super) connection: Box<dyn Connection>,
    pub(super) state: Arc<Mutex<StreamState>>,
    pub(super) shared: Arc<SharedState>,
    pub(super) reconnecting: Reconnecting,
}

/// What a stream needs to open its connection again.
#[derive(Clone)]
pub(super) struct Reconnecting {
    pub(super) options: SessionOptions,
    pub(super) host: DriverContext,
}

/// Opens a connection and makes it ready to ask.
pub(super) fn connect(
    options: &SessionOptions,
    host: &DriverContext,
    job: &ReportsJob,
) -> Result<Box<dyn Connection>, DriverError> {
    let mut connection = Connector::for_protocol(&options.protocol)?.connect(options, host)?;
    for statement in &job.session {
        connection.collect(statement)?;
    }
    Ok(connection)
}

/// Guard of a stream that still has to finish a set; dropping it, also on a panic, means that nobody waits for one
/// any more.
struct AwaitedSet<'a>(Option<&'a SharedState>);

impl AwaitedSet<'_> {
    fn finish(&mut self) {
        if let Some(shared) = self.0.take() {
            shared.without_set.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl Drop for AwaitedSet<'_> {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Stream {
    /// Asks from the given beginning on until the window is over. A question that has been begun is always completed.
    /// Does nothing if the job does not begin.
    pub(super) fn run(mut self, start: &Receiver<u64>) {
        let shared = Arc::clone(&self.shared);
        let mut awaited = AwaitedSet(Some(&shared));
        let Ok(start_ns) = start.recv() else { return };
        std::thread::sleep(Duration::from_nanos(start_ns.saturating_sub(monotonic_ns())));
        let order = question_order(self.job.questions.len(), self.job.seed, self.number);
        loop {
            let is_measured = shared.now() >= shared.window_start_ns.load(Ordering::SeqCst);
            if !self.ask_set(&order) {
                break;
            }
            if is_measured {
                awaited.finish();
            }
        }
        // Nothing is asked any more, so an error in closing loses nothing.
        self.connection.close().ok();
    }

    /// Asks every question once. Returns `false` if the set was not finished, because the window was over.
    fn ask_set(&mut self, order: &[usize]) -> bool {
        for question in order {
            if self.shared.is_over() {
                return false;
            }
            if let Err(error) = self.ask(*question) {
                std::thread::sleep(ERROR_DELAY);
                if is_connection_lost(&error) && !self.reconnect() {
                    return false;
                }
            }
        }
        true
    }

    fn ask(&mut self, index: usize) -> Result<(), DriverError> {
        let job = Arc::clone(&self.job);
        let Some(asked) = job.questions.get(index) else { return Ok(()) };
        let question = u32::try_from(index).unwrap_or(u32::MAX);
        let start_ns = self.shared.now();
        lock(&self.state).pending = Some((question, start_ns));
        let result = self.connection.collect(&asked.statement);
        let end_ns = self.shared.now();
        let mut state = lock(&self.state);
        state.pending = None;
        let (outcome, result) = match result {
            Ok(answer) => {
                self.shared.answered.fetch_add(1, Ordering::Relaxed);
                let has_room = self.shared.answer_bytes.load(Ordering::Relaxed) <= MAX_ANSWER_BYTES;
                let outcome = if has_room {
                    let (number, bytes) = state.answers.keep(answer.rows);
                    self.shared.answer_bytes.fetch_add(bytes, Ordering::Relaxed);
                    ReportOutcome::Answer(number)
                } else {
                    ReportOutcome::AnswerNotKept
                };
                (outcome, Ok(()))
            }
            Err(error) => (ReportOutcome::Failed(shortened(error.to_string())), Err(error)),
        };
        state.log.asked.push(AskedReport { question, start_ns, end_ns, outcome });
        result
    }

    /// Opens the connection again. A server may need time to start, so it is tried until the window is over. Returns
    /// `false` if it could not be opened.
    fn reconnect(&mut self) -> bool {
        loop {
            match connect(&self.reconnecting.options, &self.reconnecting.host, &self.job) {
                Ok(connection) => {
                    self.connection = connection;
                    return true;
                }
                Err(error) if self.shared.is_over() => {
                    let message = format!("the connection was lost: {error}");
                    lock(&self.state).log.error = Some(shortened(message));
                    return false;
                }
                Err(_) => std::thread::sleep(RECONNECT_DELAY),
            }
        }
    }
}
