//! Time and readiness, as a thread of clients knows them.

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

/// How late a wait may end whose time does not matter to the microsecond, and how long it lasts at most.
pub(crate) const TICK_NS: u64 = 10_000_000;
/// What ticks, among the clients.
const TICKS: u64 = u64::MAX;

/// The clock and the waiting of one thread. Times are nanoseconds since the job began.
pub(crate) trait Waiting {
    /// The time.
    fn now(&self) -> u64;

    /// From now on, tells when something has come over a client's connection: once, so that all of it is to be read.
    ///
    /// # Errors
    /// When the kernel refuses.
    fn watch(&mut self, client: usize, connection: BorrowedFd<'_>) -> io::Result<()>;

    /// Waits until something comes over a watched connection, or until then, and adds their clients to `ready`.
    /// `exactly` says that the time matters to the microsecond; otherwise it may be off by [`TICK_NS`].
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
    /// Ends waits that nothing else ends. One timer that repeats costs nothing for each answer, as a limit of each wait
    /// does, for which the kernel sets a timer and takes it back.
    ticks: Option<OwnedFd>,
    began: u64,
    events: Vec<Event>,
}

impl Polling {
    /// For the calling thread; `began` is when the job does, by [`monotonic_ns`].
    pub(crate) fn new(began: u64) -> io::Result<Self> {
        // The kernel may end waits 50 µs late to save wake-ups, unless it is told not to. Where it does not let itself be
        // told, the lateness shows in the figures.
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).ok();
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, ticks: None, began, events: Vec::with_capacity(256) })
    }

    /// Lets ticks begin, if they have not.
    #[inline]
    fn tick(&mut self) -> io::Result<()> {
        if self.ticks.is_none() {
            let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
            let ticks = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            let every = Itimerspec { it_interval: timespec(TICK_NS), it_value: timespec(TICK_NS) };
            timerfd_settime(&ticks, TimerfdTimerFlags::empty(), &every)?;
            epoll::add(&self.epoll, &ticks, EventData::new_u64(TICKS), EventFlags::IN)?;
            self.ticks = Some(ticks);
        }
        Ok(())
    }
}

impl Waiting for Polling {
    #[inline]
    fn now(&self) -> u64 {
        monotonic_ns().saturating_sub(self.began)
    }

    fn watch(&mut self, client: usize, connection: BorrowedFd<'_>) -> io::Result<()> {
        // A descriptor that is closed is watched no longer. One that is read to the end need not be looked at again before
        // something more comes.
        let flags = EventFlags::IN | EventFlags::ET;
        Ok(epoll::add(&self.epoll, connection, EventData::new_u64(client as u64), flags)?)
    }

    fn wait(&mut self, until: u64, exactly: bool, ready: &mut Vec<usize>) -> io::Result<()> {
        let timeout = if exactly {
            let left = until.saturating_sub(self.now());
            if left > 0 {
                let mut fds = [PollFd::from_borrowed_fd(self.epoll.as_fd(), PollFlags::IN)];
                match poll(&mut fds, Some(&timespec(left))) {
                    Ok(0) | Err(Errno::INTR) => return Ok(()),
                    Ok(_) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Some(timespec(0))
        } else {
            self.tick()?;
            None
        };
        self.events.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &self.events {
            let data = event.data.u64();
            match &self.ticks {
                // The next one comes once this one was taken.
                Some(ticks) if data == TICKS => {
                    rustix::io::read(ticks, &mut [0; 8]).ok();
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
        let mut waiting = Polling::new(0).unwrap();
        let (mut here, mut there) = UnixStream::pair().unwrap();
        waiting.watch(3, here.as_fd()).unwrap();
        let mut ready: Vec<usize> = Vec::new();
        // More than one tick: each is taken, so that the next one comes.
        for _ in 0..3 {
            waiting.wait(u64::MAX, false, &mut ready).unwrap();
            assert!(ready.is_empty());
        }
        for bytes in [b"ab", b"cd"] {
            there.write_all(bytes).unwrap();
            while ready.is_empty() {
                waiting.wait(u64::MAX, false, &mut ready).unwrap();
            }
            assert_eq!(std::mem::take(&mut ready), [3_usize]);
            here.read_exact(&mut [0; 2]).unwrap();
        }
        // An end is something that comes, too.
        drop(there);
        while ready.is_empty() {
            waiting.wait(u64::MAX, false, &mut ready).unwrap();
        }
        assert_eq!(ready, [3_usize]);
    }

    #[test]
    fn exact_waits_end_in_time_or_with_what_comes() {
        let mut waiting = Polling::new(0).unwrap();
        let (here, mut there) = UnixStream::pair().unwrap();
        waiting.watch(0, here.as_fd()).unwrap();
        let (mut ready, until) = (Vec::<usize>::new(), waiting.now() + 3_000_000);
        while waiting.now() < until {
            waiting.wait(until, true, &mut ready).unwrap();
        }
        assert!(ready.is_empty());
        there.write_all(b"a").unwrap();
        waiting.wait(u64::MAX / 2, true, &mut ready).unwrap();
        assert_eq!(ready, [0_usize]);
    }
}
