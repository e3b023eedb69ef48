//! State that all client threads of a job share.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use jsonathlon_dataset::records::WriteScope;
use jsonathlon_driver_api::{NonblockingConnection, Result};
use jsonathlon_stats::arrival::Schedule;

use crate::accept::{AcceptSet, WriteKind, WriteToken};
use crate::ack_log::AckLog;
use crate::job::Job;
use crate::keys::{KeyChooser, OperationChooser};
use crate::loaded_records::{LoadedRecords, RequiredKeys};
use crate::operation::Operation;
use crate::paths::Paths;
use crate::reports::ReportTeam;
use crate::script::OperationPlan;
use crate::turns::Turns;

/// State that all client threads of a job share. Only the atomic fields change while the threads run. In a
/// closed loop the only atomic that an operation always writes is its own thread's tally.
pub(crate) struct JobContext<'a> {
    pub(crate) job: &'a Job,
    pub(crate) records: &'a LoadedRecords,
    pub(crate) accept: &'a AcceptSet,
    /// Acknowledgement log. `None` unless the job names a file for it (crash tests).
    pub(crate) ack_log: Option<AckLog>,
    /// Keys that a scan must not leave out. None if the mix has no scan, answers are not verified, or records
    /// may have been deleted.
    pub(crate) required_keys: RequiredKeys<'a>,
    pub(crate) write_scope: WriteScope,
    pub(crate) paths: Paths,
    /// Number of matching elements in all loaded documents, the expected answer of unwrap-all. 0 if the mix
    /// has no unwrap-all.
    pub(crate) expected_elements: u64,
    /// One plan per operation of the mix, in the order of its shares.
    pub(crate) plans: Vec<OperationPlan>,
    /// Index into `plans` by operation (as a number). 0 for operations that the mix does not have.
    pub(crate) plan_indexes: [usize; Operation::ALL.len()],
    pub(crate) operation_chooser: OperationChooser,
    pub(crate) key_chooser: KeyChooser,
    /// Schedule of the arrivals. `None` in a closed loop.
    pub(crate) schedule: Option<Schedule>,
    /// Index of the first arrival that no thread has claimed yet.
    pub(crate) next_arrival: AtomicU64,
    pub(crate) window: MeasurementWindow,
    /// Whether measuring ends when all planned arrivals have ended, instead of at a fixed time. Set for an
    /// open loop with a fixed number of operations.
    pub(crate) awaits_all: bool,
    pub(crate) timeout_ns: u64,
    pub(crate) connection_factories: ConnectionFactories<'a>,
    /// Number of ended operations, one tally per thread.
    pub(crate) operation_counts: Vec<ThreadCounter>,
    pub(crate) shutdown_barrier: ShutdownBarrier,
    /// Fair lock of the operations that write. `None` unless writers take turns.
    pub(crate) write_turns: Option<Turns>,
    /// Why a document or key could not be read from the files of own documents. The job ends then.
    pub(crate) file_error: OnceLock<String>,
    /// Streams that ask questions beside the clients. `None` for clients alone.
    pub(crate) reports: Option<ReportTeam>,
}

/// Functions that open a connection after the clients have started.
#[derive(Clone, Copy)]
pub(crate) struct ConnectionFactories<'a> {
    /// Waits for a server that may still be starting.
    pub(crate) waiting: &'a ConnectionFactory<'a>,
    /// Makes one short attempt and fails at once, because other clients of the thread are waiting. The caller
    /// retries later.
    pub(crate) immediate: &'a ConnectionFactory<'a>,
}

/// Opens a nonblocking connection to the system under test.
pub(crate) type ConnectionFactory<'a> = dyn Fn() -> Result<Box<dyn NonblockingConnection>> + Sync + 'a;

impl JobContext<'_> {
    /// Returns `true` if no further operation may begin at `now`: the measurement window is over or was ended
    /// early.
    #[inline]
    pub(crate) fn is_finished(&self, now: u64) -> bool {
        (now >= self.window.end_ns() && !self.awaits_all) || self.window.has_ended()
    }

    /// Issues a version for a write and appends the write to the acknowledgement log, if there is one. `None`
    /// if no version is left or the log cannot be written.
    #[inline]
    pub(crate) fn begin_write(&self, number: u64, change: WriteKind) -> Option<WriteToken> {
        self.begin(change, || self.accept.begin_write(number, change))
    }

    /// Issues a number and a version for a new record and logs them as [`Self::begin_write`] does.
    #[inline]
    pub(crate) fn begin_insert(&self) -> Option<WriteToken> {
        self.begin(WriteKind::Whole, || self.accept.begin_insert())
    }

    #[inline]
    fn begin(&self, change: WriteKind, begin: impl FnOnce() -> Option<WriteToken>) -> Option<WriteToken> {
        match &self.ack_log {
            None => begin(),
            Some(ack_log) => ack_log.send(change, begin),
        }
    }

    /// Records that the system acknowledged a write: first in the acknowledgement log, then in the accept
    /// sets.
    #[inline]
    pub(crate) fn acknowledge(&self, write: WriteToken) {
        if let Some(ack_log) = &self.ack_log {
            ack_log.acknowledge(&write);
        }
        self.accept.acknowledge(write);
    }

    /// Index of an operation's plan; 0 for an operation that the mix does not have.
    #[inline]
    pub(crate) fn plan_index(&self, operation: Operation) -> usize {
        self.plan_indexes.get(operation as usize).copied().unwrap_or(0)
    }
}

/// Part of a job whose operations are measured; times are nanoseconds since the job began.
#[derive(Debug)]
pub(crate) struct MeasurementWindow {
    start_ns: AtomicU64,
    end_ns: AtomicU64,
    /// Operations that may still begin. `None` if the window ends by time.
    remaining: Option<AtomicU64>,
    ended: AtomicBool,
}

/// Largest number of counted operations that a thread takes at once.
const PORTION: u64 = 64;

impl MeasurementWindow {
    /// Creates a window. `start_ns` and `end_ns` may be [`NEVER`](crate::reactor::NEVER) until
    /// [`Self::set_bounds`] is called. `count` limits the number of measured operations.
    pub(crate) fn new(start_ns: u64, end_ns: u64, count: Option<u64>) -> Self {
        Self {
            start_ns: AtomicU64::new(start_ns),
            end_ns: AtomicU64::new(end_ns),
            remaining: count.map(AtomicU64::new),
            ended: AtomicBool::new(false),
        }
    }

    /// Sets start and end of the window. The end is stored first, so that no thread sees the new start with
    /// an old end.
    pub(crate) fn set_bounds(&self, start_ns: u64, end_ns: u64) {
        self.end_ns.store(end_ns, Ordering::SeqCst);
        self.start_ns.store(start_ns, Ordering::SeqCst);
    }

    #[inline]
    pub(crate) fn start_ns(&self) -> u64 {
        self.start_ns.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn end_ns(&self) -> u64 {
        self.end_ns.load(Ordering::Relaxed)
    }

    /// Returns `true` if the window ends after a fixed number of operations.
    #[inline]
    pub(crate) fn has_operation_limit(&self) -> bool {
        self.remaining.is_some()
    }

    /// Takes a portion of the remaining operations for one of `threads` threads: at most [`PORTION`], smaller
    /// towards the end. Returns 0 if none is left, `u64::MAX` if operations are not counted.
    pub(crate) fn claim_operations(&self, threads: u64) -> u64 {
        let Some(remaining) = &self.remaining else { return u64::MAX };
        let portion = |remaining: u64| (remaining / (4 * threads.max(1))).clamp(1, PORTION).min(remaining);
        let take = |remaining: u64| Some(remaining - portion(remaining));
        remaining.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).map_or(0, portion)
    }

    /// Ends the window early, for example after a fatal error of one thread.
    pub(crate) fn end_early(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }
}

/// Keeps threads and their connections alive after the last operation until the usage of this process and of
/// the system's processes has been read. The kernel drops the counters of ended threads, and a PostgreSQL
/// backend ends with its connection.
#[derive(Debug, Default)]
pub(crate) struct ShutdownBarrier {
    /// Threads that are still executing operations.
    active_threads: AtomicUsize,
    is_released: AtomicBool,
}

/// Guard of a working thread; dropping it, also on a panic, marks the thread as done.
pub(crate) struct ActiveThread<'a>(&'a ShutdownBarrier);

impl ShutdownBarrier {
    /// Interval at which a waiting thread polls the flag.
    const PAUSE: Duration = Duration::from_micros(200);

    /// Sets the number of threads that are about to work.
    pub(crate) fn set_thread_count(&self, threads: usize) {
        self.active_threads.store(threads, Ordering::SeqCst);
    }

    /// Returns the guard of one of these threads. The count was set by [`Self::set_thread_count`].
    pub(crate) fn enter(&self) -> ActiveThread<'_> {
        ActiveThread(self)
    }

    /// Returns `true` if no thread executes operations any more.
    pub(crate) fn all_finished(&self) -> bool {
        self.active_threads.load(Ordering::SeqCst) == 0
    }

    /// Lets waiting threads close their connections, because all counters have been read.
    pub(crate) fn release(&self) {
        self.is_released.store(true, Ordering::SeqCst);
    }

    /// Blocks until [`Self::release`] was called.
    pub(crate) fn wait(&self) {
        while !self.is_released.load(Ordering::SeqCst) {
            std::thread::sleep(Self::PAUSE);
        }
    }
}

impl Drop for ActiveThread<'_> {
    fn drop(&mut self) {
        self.0.active_threads.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Counter that one thread writes and another reads, on a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct ThreadCounter(AtomicU64);

impl ThreadCounter {
    #[inline]
    pub(crate) fn set(&self, count: u64) {
        self.0.store(count, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reactor::NEVER;

    #[test]
    fn portions_add_up_to_what_there_is() {
        for (count, threads) in [(1, 8), (7, 2), (1000, 3), (100_000, 128)] {
            let window = MeasurementWindow::new(0, NEVER, Some(count));
            let mut total = 0;
            loop {
                let portion = window.claim_operations(threads);
                total += portion;
                assert!(portion <= PORTION);
                if portion == 0 {
                    break;
                }
            }
            assert_eq!((total, window.claim_operations(threads)), (count, 0));
        }
        assert_eq!(MeasurementWindow::new(0, NEVER, None).claim_operations(1), u64::MAX);
    }
}
