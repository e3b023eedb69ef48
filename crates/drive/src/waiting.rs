//! Time and readiness, as a thread of clients knows them.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

/// The clock and the waiting of one thread. Times are nanoseconds since the job began.
pub(crate) trait Waiting {
    /// The time.
    fn now(&self) -> u64;

    /// From now on, tells when a client's connection has something to be read.
    ///
    /// # Errors
    /// When the kernel refuses.
    fn watch(&mut self, client: usize, connection: BorrowedFd<'_>) -> io::Result<()>;

    /// Waits until a watched connection has something to be read, or until then, and adds their clients to `ready`.
    /// `exactly` says that the time matters to the microsecond.
    ///
    /// # Errors
    /// When the kernel refuses.
    fn wait(&mut self, until: u64, exactly: bool, ready: &mut Vec<usize>) -> io::Result<()>;
}

/// `CLOCK_MONOTONIC` in nanoseconds, which is read through the vDSO.
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    // The kernel gives neither a negative time nor a second of nanoseconds or more.
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// The kernel's own.
pub(crate) struct Polling {
    epoll: OwnedFd,
    began: u64,
    events: Vec<Event>,
}

impl Polling {
    /// For the calling thread; `began` is when the job does, by [`monotonic_ns`].
    pub(crate) fn new(began: u64) -> io::Result<Self> {
        // The kernel may end waits 50 µs late to save wake-ups, unless it is told not to. Where it does not let itself be
        // told, the lateness shows in the figures.
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).ok();
        Ok(Self { epoll: epoll::create(CreateFlags::CLOEXEC)?, began, events: Vec::with_capacity(256) })
    }
}

impl Waiting for Polling {
    #[inline]
    fn now(&self) -> u64 {
        monotonic_ns().saturating_sub(self.began)
    }

    fn watch(&mut self, client: usize, connection: BorrowedFd<'_>) -> io::Result<()> {
        // A descriptor that is closed is watched no longer.
        Ok(epoll::add(&self.epoll, connection, EventData::new_u64(client as u64), EventFlags::IN)?)
    }

    fn wait(&mut self, until: u64, exactly: bool, ready: &mut Vec<usize>) -> io::Result<()> {
        let left = until.saturating_sub(self.now());
        let timeout = if exactly {
            if left > 0 {
                let mut fds = [PollFd::from_borrowed_fd(self.epoll.as_fd(), PollFlags::IN)];
                match poll(&mut fds, Some(&timespec(left))) {
                    Ok(0) | Err(Errno::INTR) => return Ok(()),
                    Ok(_) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            timespec(0)
        } else {
            // Whole milliseconds, which every kernel's epoll can wait.
            timespec(left.div_ceil(1_000_000) * 1_000_000)
        };
        self.events.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &self.events {
            let data = event.data;
            ready.push(usize::try_from(data.u64()).unwrap_or(usize::MAX));
        }
        Ok(())
    }
}

fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(ns % 1_000_000_000).unwrap_or(0),
    }
}
