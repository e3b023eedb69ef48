//! Clock and readiness events of one client thread.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, clock_gettime, timerfd_create,
    timerfd_settime,
};

/// Sentinel for a time that never comes.
pub(crate) const NEVER: u64 = u64::MAX;

/// Longest duration of an inexact wait, and so its greatest lateness, in nanoseconds.
pub(crate) const TICK_NS: u64 = 10_000_000;
/// Event data of the timer; clients have smaller numbers.
const TIMER: u64 = u64::MAX;

/// Clock and readiness events of one thread. Times are nanoseconds since the job began.
pub(crate) trait Reactor {
    /// Current time in nanoseconds since the job began.
    fn now(&self) -> u64;

    /// Registers a client's connection. Each arrival of data is reported only once, so all of it must be
    /// read.
    ///
    /// # Errors
    /// If the kernel rejects the registration.
    fn watch(&mut self, client: usize, connection: BorrowedFd<'_>) -> io::Result<()>;

    /// Waits until data arrives on a registered connection or until the time `until`, and adds the ready
    /// clients to `ready`. With `exactly` the wait ends to the microsecond; otherwise it may be off by
    /// [`TICK_NS`].
    ///
    /// # Errors
    /// If polling fails in the kernel.
    fn wait(&mut self, until: u64, exactly: bool, ready: &mut Vec<usize>) -> io::Result<()>;
}

/// Reads `CLOCK_MONOTONIC` in nanoseconds, through the vDSO and so without a system call.
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    // The kernel returns neither negative times nor 1,000,000,000 nanoseconds or more.
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// The kernel's clock and epoll.
pub(crate) struct EpollReactor {
    epoll: OwnedFd,
    /// Repeating timer that ends waits without events. It costs nothing per answer, whereas a timeout per
    /// wait makes the kernel set and cancel a timer each time. `None` until the first inexact wait.
    timer: Option<OwnedFd>,
    job_start: u64,
    events: Vec<Event>,
}

impl EpollReactor {
    /// Creates an instance for the calling thread. `job_start` is a time of [`monotonic_ns`].
    pub(crate) fn new(job_start: u64) -> io::Result<Self> {
        // By default the kernel may end waits 50 µs late to save wake-ups. If the slack cannot be reduced,
        // the lateness shows in the results.
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).ok();
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, timer: None, job_start, events: Vec::with_capacity(256) })
    }

    /// Starts the repeating timer on first use.
    #[inline]
    fn start_timer(&mut self) -> io::Result<()> {
        if self.timer.is_none() {
            let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
            let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            let interval = Itimerspec { it_interval: timespec(TICK_NS), it_value: timespec(TICK_NS) };
            timerfd_settime(&timer, TimerfdTimerFlags::empty(), &interval)?;
            epoll::add(&self.epoll, &timer, EventData::new_u64(TIMER), EventFlags::IN)?;
            self.timer = Some(timer);
        }
        Ok(())
    }
}

impl Reactor for EpollReactor {
    #[inline]
    fn now(&self) -> u64 {
        monotonic_ns().saturating_sub(self.job_start)
    }

    fn watch(&mut self, client: usize, connection: BorrowedFd<'_>) -> io::Result<()> {
        // A closed descriptor is removed from the set automatically. Edge-triggered: a descriptor that was
        // read to the end is not reported again before more data arrives.
        let flags = EventFlags::IN | EventFlags::ET;
        Ok(epoll::add(&self.epoll, connection, EventData::new_u64(client as u64), flags)?)
    }

    fn wait(&mut self, until: u64, exactly: bool, ready: &mut Vec<usize>) -> io::Result<()> {
        let timeout = if exactly {
            let remaining = until.saturating_sub(self.now());
            if remaining > 0 {
                let mut fds = [PollFd::from_borrowed_fd(self.epoll.as_fd(), PollFlags::IN)];
                match poll(&mut fds, Some(&timespec(remaining))) {
                    Ok(0) | Err(Errno::INTR) => return Ok(()),
                    Ok(_) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Some(timespec(0))
        } else {
            self.start_timer()?;
            None
        };
        self.events.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &self.events {
            let data = event.data.u64();
            match &self.timer {
                // The timer fires again only after this expiry was read.
                Some(timer) if data == TIMER => {
                    rustix::io::read(timer, &mut [0; 8]).ok();
                }
                _ => ready.push(usize::try_from(data).unwrap_or(usize::MAX)),
            }
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

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn waits_end_with_what_comes_and_otherwise_again_and_again() {
        let mut reactor = EpollReactor::new(0).unwrap();
        let (mut local, mut remote) = UnixStream::pair().unwrap();
        reactor.watch(3, local.as_fd()).unwrap();
        let mut ready: Vec<usize> = Vec::new();
        // More than one tick: each expiry is read, so that the next one is reported.
        for _ in 0..3 {
            reactor.wait(u64::MAX, false, &mut ready).unwrap();
            assert!(ready.is_empty());
        }
        for bytes in [b"ab", b"cd"] {
            remote.write_all(bytes).unwrap();
            while ready.is_empty() {
                reactor.wait(u64::MAX, false, &mut ready).unwrap();
            }
            assert_eq!(std::mem::take(&mut ready), [3_usize]);
            local.read_exact(&mut [0; 2]).unwrap();
        }
        // The end of a stream is reported as an event as well.
        drop(remote);
        while ready.is_empty() {
            reactor.wait(u64::MAX, false, &mut ready).unwrap();
        }
        assert_eq!(ready, [3_usize]);
    }

    #[test]
    fn exact_waits_end_in_time_or_with_what_comes() {
        let mut reactor = EpollReactor::new(0).unwrap();
        let (local, mut remote) = UnixStream::pair().unwrap();
        reactor.watch(0, local.as_fd()).unwrap();
        let (mut ready, until) = (Vec::<usize>::new(), reactor.now() + 3_000_000);
        while reactor.now() < until {
            reactor.wait(until, true, &mut ready).unwrap();
        }
        assert!(ready.is_empty());
        remote.write_all(b"a").unwrap();
        reactor.wait(u64::MAX / 2, true, &mut ready).unwrap();
        assert_eq!(ready, [0_usize]);
    }
}
