//! A stop the hard way at a moment, while clients are at work.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jsonathlon_drive::promises::{Cut, now_ns};
use jsonathlon_servers::Server;
use jsonathlon_worker::WorkerError;
use jsonathlon_worker::protocol::{FailureKind, Op};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::de::DeserializeOwned;

use super::Engine;

/// How long a killed server's processes may take to be gone.
const GONE: Duration = Duration::from_secs(20);

/// How long an engine goes on without power before it is killed: nothing that it does then lasts, and what it still
/// acknowledges tells whether it looks at what its syncs answer.
const IN_THE_DARK: Duration = Duration::from_millis(50);

/// When and how an engine is stopped.
pub(crate) struct StopAt<'s> {
    /// Waits for the moment, as long as what it is given does not say that it will not come any more; whether it came.
    pub(crate) moment: &'s (dyn Fn(&dyn Fn() -> bool) -> bool + Sync),
    /// Cuts the power before the engine is killed; none for a crash of the process alone.
    pub(crate) power: Option<&'s (dyn Fn() -> Result<(), String> + Sync)>,
}

/// An engine that was stopped.
pub(crate) struct Stopped<R> {
    /// When; none where clients ended before the moment.
    pub(crate) cut: Option<Cut>,
    /// What the clients had to say about it, where they outlived it.
    pub(crate) answer: Option<R>,
}

/// What is killed.
enum Victim<'v> {
    Server(&'v mut Server),
    /// The worker, held such that its number cannot become another's.
    Worker(OwnedFd),
}

/// What became of a stop.
enum Came {
    /// It was made.
    Cut(Cut),
    /// Its moment did not come.
    Never,
    /// The engine had ended by itself.
    TooLate,
    /// It could not be made.
    Failed(String),
}

impl Engine {
    /// Lets clients work, and stops the server at the moment, or the worker where there is none. Both are gone
    /// afterwards.
    ///
    /// # Errors
    /// As [`Worker::request`](jsonathlon_worker::Worker::request) where clients ended before the moment; the engine
    /// had ended before it, or could not be stopped.
    pub(crate) fn stop<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        limit: Duration,
        cancelled: &dyn Fn() -> bool,
        stop: &StopAt<'_>,
    ) -> Result<Stopped<R>, WorkerError> {
        let broken = |action: &str, source: io::Error| WorkerError::Io { action: action.to_owned(), source };
        let victim = match &mut self.server {
            Some(server) => Victim::Server(server),
            None => Victim::Worker(
                hold(self.worker.pid()).map_err(|error| broken("hold the worker's process", error))?,
            ),
        };
        let over = AtomicBool::new(false);
        let worker = &mut self.worker;
        let (answer, came) = std::thread::scope(|scope| {
            let cutting = std::thread::Builder::new()
                .name("stop".to_owned())
                .spawn_scoped(scope, || victim.cut(stop, &|| over.load(Ordering::SeqCst)))?;
            let answer = worker.request(op, limit, cancelled, &mut |_| {});
            over.store(true, Ordering::SeqCst);
            let came = cutting.join().map_err(|_| io::Error::other("its thread has failed"))?;
            Ok((answer, came))
        })
        .map_err(|error: io::Error| broken("stop the engine", error))?;
        let stopped = match (came, answer) {
            (_, Err(WorkerError::Cancelled)) => Err(WorkerError::Cancelled),
            // Whatever the clients made of it: what they were promised is on record.
            (Came::Cut(cut), answer) => Ok(Stopped { cut: Some(cut), answer: answer.ok() }),
            (Came::Failed(words), _) => Err(broken("stop the engine", io::Error::other(words))),
            (Came::TooLate | Came::Never, Err(error)) => return Err(self.broken(error)),
            (Came::Never, Ok(answer)) => Ok(Stopped { cut: None, answer: Some(answer) }),
            (Came::TooLate, Ok(_)) => {
                let words = "the engine was lost before it was to be stopped";
                let message = match &mut self.server {
                    Some(server) => server.explain_loss(words),
                    None => words.to_owned(),
                };
                Err(WorkerError::Refused { kind: FailureKind::Crashed, message })
            }
        };
        self.end();
        stopped
    }
}

impl Victim<'_> {
    fn cut(mut self, stop: &StopAt<'_>, is_over: &dyn Fn() -> bool) -> Came {
        if !(stop.moment)(is_over) {
            return Came::Never;
        }
        if let Self::Server(server) = &mut self
            && server.has_ended()
        {
            return Came::TooLate;
        }
        let before_ns = now_ns();
        let powered_ns = match stop.power {
            None => None,
            Some(cut) => match cut() {
                Ok(()) => {
                    let cut_ns = now_ns();
                    std::thread::sleep(IN_THE_DARK);
                    Some(cut_ns)
                }
                Err(words) => return Came::Failed(words),
            },
        };
        if let Err(words) = self.kill() {
            return Came::Failed(words);
        }
        Came::Cut(match powered_ns {
            Some(after_ns) => Cut { before_ns, after_ns, promised_ns: before_ns },
            None => {
                let after_ns = now_ns();
                Cut { before_ns, after_ns, promised_ns: after_ns }
            }
        })
    }

    fn kill(&mut self) -> Result<(), String> {
        match self {
            Self::Server(server) => match server.kill(GONE) {
                Some(_) => Ok(()),
                None => Err(format!("the server was killed and is not gone after {GONE:?}")),
            },
            Self::Worker(held) => {
                let failed = |error: Errno| format!("the worker could not be killed: {error}");
                pidfd_send_signal(&*held, Signal::KILL).map_err(failed)?;
                // It can be read once the process is dead: until then a thread of it may go on for a moment.
                let mut fds = [PollFd::from_borrowed_fd(held.as_fd(), PollFlags::IN)];
                let limit = Timespec { tv_sec: GONE.as_secs().cast_signed(), tv_nsec: 0 };
                match poll(&mut fds, Some(&limit)).map_err(failed)? {
                    0 => Err(format!("the worker was killed and is not gone after {GONE:?}")),
                    _ => Ok(()),
                }
            }
        }
    }
}

fn hold(process: u32) -> io::Result<OwnedFd> {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    let process = process.ok_or_else(|| io::Error::other("it is no process"))?;
    Ok(pidfd_open(process, PidfdFlags::empty())?)
}
