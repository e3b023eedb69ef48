//! State that all writers and streams of a job share: the clock, and whether the window is over.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::asking::MAX_ANSWER_BYTES;
use crate::reactor::monotonic_ns;

/// Longest sleep before a thread looks again whether the window is over.
const MAX_SLEEP: Duration = Duration::from_millis(5);

/// State that all threads of a job share.
#[derive(Debug)]
pub(super) struct MixedState {
    /// Beginning of the phase, a time of [`monotonic_ns`].
    start_ns: u64,
    /// Time of the phase from which on questions are measured.
    measured_from_ns: u64,
    is_over: AtomicBool,
    active_writers: AtomicUsize,
    active_streams: AtomicUsize,
    streams_without_set: AtomicUsize,
    /// Documents acknowledged plus questions answered, for progress messages.
    done: AtomicU64,
    answer_bytes: AtomicUsize,
}

impl MixedState {
    /// Creates the state of a job with these numbers of threads, which begins at `start_ns` and is measured from
    /// `measured_from_ns` after it.
    pub(super) fn new(start_ns: u64, measured_from_ns: u64, writers: usize, streams: usize) -> Self {
        Self {
            start_ns,
            measured_from_ns,
            is_over: AtomicBool::new(false),
            active_writers: AtomicUsize::new(writers),
            active_streams: AtomicUsize::new(streams),
            streams_without_set: AtomicUsize::new(streams),
            done: AtomicU64::new(0),
            answer_bytes: AtomicUsize::new(0),
        }
    }

    /// Beginning of the phase by the machine's monotonic clock.
    pub(super) fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// Returns `true` if questions that begin now are measured.
    pub(super) fn is_measured(&self) -> bool {
        self.now() >= self.measured_from_ns
    }

    /// Nanoseconds since the beginning; 0 before it.
    pub(super) fn now(&self) -> u64 {
        monotonic_ns().saturating_sub(self.start_ns)
    }

    /// Returns `true` if nothing new may be begun.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// Ends the window: nothing new is begun from here on.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Sleeps until a time of the phase has come. Returns `false` if the window was over before.
    pub(super) fn wait_until(&self, due_ns: u64) -> bool {
        loop {
            if self.is_over() {
                return false;
            }
            // Not [`Self::now`], which is 0 before the beginning.
            let left = (self.start_ns + due_ns).saturating_sub(monotonic_ns());
            if left == 0 {
                return true;
            }
            std::thread::sleep(Duration::from_nanos(left).min(MAX_SLEEP));
        }
    }

    pub(super) fn writer_ended(&self) {
        self.active_writers.fetch_sub(1, Ordering::SeqCst);
    }

    pub(super) fn stream_ended(&self, has_whole_set: bool) {
        if !has_whole_set {
            // Nobody waits for a set that will not be finished.
            self.whole_set_finished();
        }
        self.active_streams.fetch_sub(1, Ordering::SeqCst);
    }

    /// Notes that one more stream has finished its first measured set.
    pub(super) fn whole_set_finished(&self) {
        self.streams_without_set.fetch_sub(1, Ordering::SeqCst);
    }

    pub(super) fn add_done(&self, count: u64) {
        self.done.fetch_add(count, Ordering::Relaxed);
    }

    /// Documents acknowledged plus questions answered so far.
    pub(super) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    pub(super) fn add_answer_bytes(&self, bytes: usize) {
        self.answer_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn has_too_many_answers(&self) -> bool {
        self.answer_bytes.load(Ordering::Relaxed) > MAX_ANSWER_BYTES
    }

    pub(super) fn has_writers(&self) -> bool {
        self.active_writers.load(Ordering::SeqCst) > 0
    }

    pub(super) fn has_streams(&self) -> bool {
        self.active_streams.load(Ordering::SeqCst) > 0
    }

    /// Returns `true` if every stream has finished a measured set, or has ended.
    pub(super) fn has_whole_sets(&self) -> bool {
        self.streams_without_set.load(Ordering::SeqCst) == 0
    }
}
