//! What all threads of a job share.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use jsonathlon_connection::{Lane, Result};
use jsonathlon_dataset::records::{RecordSet, SortedKeys, Written};
use jsonathlon_measure::arrival::Schedule;

use crate::accept::{Accept, Change, Write};
use crate::job::Job;
use crate::keys::{Keys, Shares};
use crate::operation::Operation;
use crate::paths::Paths;
use crate::promises::Promises;
use crate::script::Plan;
use crate::turns::Turns;

/// What all threads of a job share. Nothing in it changes while they run but what is atomic, and nothing of that is
/// written for each operation of a closed loop but a thread's own tally.
pub(crate) struct Shared<'a> {
    pub(crate) job: &'a Job,
    pub(crate) set: &'a RecordSet,
    pub(crate) accept: &'a Accept,
    /// Where writes and acknowledgements are put on record, if they are.
    pub(crate) promises: Option<Promises>,
    /// The keys that a scan must not leave out, where that can be known.
    pub(crate) sorted: Option<&'a SortedKeys>,
    pub(crate) written: Written,
    pub(crate) paths: Paths,
    /// Elements of all documents that satisfy the condition, where they are counted.
    pub(crate) elements: u64,
    /// One for each operation of the mix.
    pub(crate) plans: Vec<Plan>,
    /// By operation: its place among them.
    pub(crate) places: [usize; Operation::ALL.len()],
    pub(crate) shares: Shares,
    pub(crate) keys: Keys,
    /// Arrivals; none in a closed loop.
    pub(crate) schedule: Option<Schedule>,
    /// The first arrival that nobody has taken.
    pub(crate) next: AtomicU64,
    pub(crate) window: Window,
    /// Measuring ends when all planned arrivals have ended, and not at a time.
    pub(crate) awaits_all: bool,
    pub(crate) timeout_ns: u64,
    pub(crate) openers: Openers<'a>,
    /// Ended operations, one a thread.
    pub(crate) tallies: Vec<Tally>,
    pub(crate) leaving: Leaving,
    /// Of operations that write, where they are done one at a time.
    pub(crate) turns: Option<Turns>,
}

/// Ways to a connection.
#[derive(Clone, Copy)]
pub(crate) struct Openers<'a> {
    /// Waits for a server that may have to get up first.
    pub(crate) patient: &'a Opener<'a>,
    /// Fails at once: other clients wait for it, and it is tried again.
    pub(crate) again: &'a Opener<'a>,
}

/// Opens a connection.
pub(crate) type Opener<'a> = dyn Fn() -> Result<Box<dyn Lane>> + Sync + 'a;

impl Shared<'_> {
    /// Whether nothing is begun any more.
    #[inline]
    pub(crate) fn is_past(&self, now: u64) -> bool {
        (now >= self.window.to() && !self.awaits_all) || self.window.has_ended()
    }

    /// Begins a write, on record where there is one.
    #[inline]
    pub(crate) fn begin_write(&self, number: u64, change: Change) -> Option<Write> {
        self.begin(change, || self.accept.begin_write(number, change))
    }

    /// Begins the insert of a new record likewise.
    #[inline]
    pub(crate) fn begin_insert(&self) -> Option<Write> {
        self.begin(Change::Whole, || self.accept.begin_insert())
    }

    #[inline]
    fn begin(&self, change: Change, begin: impl FnOnce() -> Option<Write>) -> Option<Write> {
        match &self.promises {
            None => begin(),
            Some(promises) => promises.send(change, begin),
        }
    }

    /// A write was acknowledged.
    #[inline]
    pub(crate) fn acknowledged(&self, write: Write) {
        if let Some(promises) = &self.promises {
            promises.acknowledged(&write);
        }
        self.accept.acknowledged(write);
    }

    /// Where an operation of the mix stands.
    #[inline]
    pub(crate) fn place(&self, operation: Operation) -> usize {
        self.places.get(operation as usize).copied().unwrap_or(0)
    }
}

/// What is measured: nanoseconds since the job began.
#[derive(Debug)]
pub(crate) struct Window {
    from: AtomicU64,
    to: AtomicU64,
    /// Operations that are still to be begun, where they are counted.
    left: Option<AtomicU64>,
    ended: AtomicBool,
}

/// A time that does not come.
pub(crate) const NEVER: u64 = u64::MAX;
/// Operations that a thread takes at a time, at most, where they are counted.
const PORTION: u64 = 64;

impl Window {
    /// From one time to another; either may be [`NEVER`], to be decided later.
    pub(crate) fn new(from: u64, to: u64, count: Option<u64>) -> Self {
        Self {
            from: AtomicU64::new(from),
            to: AtomicU64::new(to),
            left: count.map(AtomicU64::new),
            ended: AtomicBool::new(false),
        }
    }

    /// Decides both.
    pub(crate) fn decide(&self, from: u64, to: u64) {
        self.to.store(to, Ordering::SeqCst);
        self.from.store(from, Ordering::SeqCst);
    }

    #[inline]
    pub(crate) fn from(&self) -> u64 {
        self.from.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn to(&self) -> u64 {
        self.to.load(Ordering::Relaxed)
    }

    /// Whether operations are counted.
    #[inline]
    pub(crate) fn counts(&self) -> bool {
        self.left.is_some()
    }

    /// Takes some of the operations that are left, for one of so many clients. None when there are none.
    pub(crate) fn take(&self, clients: u64) -> u64 {
        let Some(left) = &self.left else { return u64::MAX };
        let portion = |left: u64| (left / (4 * clients.max(1))).clamp(1, PORTION).min(left);
        let take = |left: u64| Some(left - portion(left));
        left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).map_or(0, portion)
    }

    /// Ends everything early.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }
}

/// Keeps threads and their connections after the last operation until what they and the system's processes have spent is
/// read: the kernel forgets what ended threads have spent, and a process of PostgreSQL ends with its connection.
#[derive(Debug, Default)]
pub(crate) struct Leaving {
    /// Threads that still work.
    at_work: AtomicUsize,
    is_read: AtomicBool,
}

/// A thread that works, however that ends.
pub(crate) struct AtWork<'a>(&'a Leaving);

impl Leaving {
    /// How often a thread that waits looks.
    const PAUSE: Duration = Duration::from_micros(200);

    /// So many threads are going to work.
    pub(crate) fn await_all(&self, threads: usize) {
        self.at_work.store(threads, Ordering::SeqCst);
    }

    /// One of them has begun.
    pub(crate) fn begin(&self) -> AtWork<'_> {
        AtWork(self)
    }

    /// Whether none of them works any more.
    pub(crate) fn is_due(&self) -> bool {
        self.at_work.load(Ordering::SeqCst) == 0
    }

    /// All was read: they may go.
    pub(crate) fn let_go(&self) {
        self.is_read.store(true, Ordering::SeqCst);
    }

    /// Waits until they may go.
    pub(crate) fn wait(&self) {
        while !self.is_read.load(Ordering::SeqCst) {
            std::thread::sleep(Self::PAUSE);
        }
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.at_work.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A count that one thread writes and another one reads, on a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Tally(AtomicU64);

impl Tally {
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

    #[test]
    fn portions_add_up_to_what_there_is() {
        for (count, clients) in [(1, 8), (7, 2), (1000, 3), (100_000, 128)] {
            let window = Window::new(0, NEVER, Some(count));
            let mut taken = 0;
            loop {
                let portion = window.take(clients);
                taken += portion;
                assert!(portion <= PORTION);
                if portion == 0 {
                    break;
                }
            }
            assert_eq!((taken, window.take(clients)), (count, 0));
        }
        assert_eq!(Window::new(0, NEVER, None).take(1), u64::MAX);
    }
}
