//! Crashes an engine at a given moment while clients are running.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jsonathlon_loadgen::ack_log::{CrashWindow, now_ns};
use jsonathlon_servers::Server;
use jsonathlon_worker::WorkerError;
use jsonathlon_worker::protocol::{FailureKind, Op};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::de::DeserializeOwned;

use super::EngineHandle;

/// Time that the processes of a killed server have to exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(20);

/// Time between power cut and kill. Nothing that the engine writes then lasts, so acknowledgements in this
/// time show whether the engine checks the results of its syncs.
const POWER_OFF_TIME: Duration = Duration::from_millis(50);

/// Moment and kind of an engine crash.
pub(crate) struct CrashTrigger<'s> {
    /// Waits for the moment and returns `true` when it comes. Returns `false` when its argument, a check
    /// whether the clients have ended, returns `true` first.
    pub(crate) wait_for_moment: &'s (dyn Fn(&dyn Fn() -> bool) -> bool + Sync),
    /// Cuts the power before the engine is killed; `None` for a crash of the process alone.
    pub(crate) cut_power: Option<&'s (dyn Fn() -> Result<(), String> + Sync)>,
}

/// Result of a crash, or of clients that ended before it.
pub(crate) struct CrashResult<R> {
    /// Time of the crash; `None` if the clients ended before the moment came.
    pub(crate) crash_window: Option<CrashWindow>,
    /// Answer of the worker; `None` if it was killed or failed because of the crash.
    pub(crate) answer: Option<R>,
}

/// Process that is killed by the crash.
enum CrashTarget<'v> {
    Server(&'v mut Server),
    /// The worker, held by a pidfd so that its process id cannot be reused.
    Worker(OwnedFd),
}

/// Outcome of the thread that crashes the engine.
enum CrashAttempt {
    /// The engine was crashed at this time.
    Cut(CrashWindow),
    /// The clients ended before the moment came.
    Never,
    /// The server had already exited by itself.
    TooLate,
    /// The crash failed; the text is the reason.
    Failed(String),
}

impl EngineHandle {
    /// Runs clients and crashes the server at the given moment, or the worker if there is no server. Both
    /// have ended afterwards.
    ///
    /// # Errors
    /// As [`Worker::request`](jsonathlon_worker::Worker::request) if the clients ended before the moment.
    /// [`FailureKind::Crashed`] if the engine had exited before it, [`WorkerError::Io`] if the crash failed.
    pub(crate) fn run_and_crash<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        limit: Duration,
        cancelled: &dyn Fn() -> bool,
        trigger: &CrashTrigger<'_>,
    ) -> Result<CrashResult<R>, WorkerError> {
        let io_error =
            |action: &str, source: io::Error| WorkerError::Io { action: action.to_owned(), source };
        let target = match &mut self.server {
            Some(server) => CrashTarget::Server(server),
            None => CrashTarget::Worker(
                open_pidfd(self.worker.pid())
                    .map_err(|error| io_error("hold the worker's process", error))?,
            ),
        };
        let is_over = AtomicBool::new(false);
        let worker = &mut self.worker;
        let (answer, attempt) = std::thread::scope(|scope| {
            let crash_thread = std::thread::Builder::new()
                .name("stop".to_owned())
                .spawn_scoped(scope, || target.crash(trigger, &|| is_over.load(Ordering::SeqCst)))?;
            let answer = worker.request(op, limit, cancelled, &mut |_| {});
            is_over.store(true, Ordering::SeqCst);
            let attempt = crash_thread.join().map_err(|_| io::Error::other("its thread has failed"))?;
            Ok((answer, attempt))
        })
        .map_err(|error: io::Error| io_error("crash the engine", error))?;
        let result = match (attempt, answer) {
            (_, Err(WorkerError::Cancelled)) => Err(WorkerError::Cancelled),
            // The clients' own result does not matter: acknowledged writes are in the acknowledgement log.
            (CrashAttempt::Cut(window), answer) => {
                Ok(CrashResult { crash_window: Some(window), answer: answer.ok() })
            }
            (CrashAttempt::Failed(reason), _) => Err(io_error("crash the engine", io::Error::other(reason))),
            (CrashAttempt::TooLate | CrashAttempt::Never, Err(error)) => {
                return Err(self.end_after_error(error));
            }
            (CrashAttempt::Never, Ok(answer)) => Ok(CrashResult { crash_window: None, answer: Some(answer) }),
            (CrashAttempt::TooLate, Ok(_)) => {
                let reason = "the engine was lost before it was to be crashed";
                let message = match &mut self.server {
                    Some(server) => server.describe_exit(reason),
                    None => reason.to_owned(),
                };
                Err(WorkerError::RequestFailed { kind: FailureKind::Crashed, message })
            }
        };
        self.end();
        result
    }
}

impl CrashTarget<'_> {
    fn crash(mut self, trigger: &CrashTrigger<'_>, is_over: &dyn Fn() -> bool) -> CrashAttempt {
        if !(trigger.wait_for_moment)(is_over) {
            return CrashAttempt::Never;
        }
        if let Self::Server(server) = &mut self
            && server.has_ended()
        {
            return CrashAttempt::TooLate;
        }
        let before_ns = now_ns();
        let powered_ns = match trigger.cut_power {
            None => None,
            Some(cut_power) => match cut_power() {
                Ok(()) => {
                    let cut_ns = now_ns();
                    std::thread::sleep(POWER_OFF_TIME);
                    Some(cut_ns)
                }
                Err(reason) => return CrashAttempt::Failed(reason),
            },
        };
        if let Err(reason) = self.kill() {
            return CrashAttempt::Failed(reason);
        }
        CrashAttempt::Cut(match powered_ns {
            Some(after_ns) => CrashWindow { before_ns, after_ns, promised_ns: before_ns },
            None => {
                let after_ns = now_ns();
                CrashWindow { before_ns, after_ns, promised_ns: after_ns }
            }
        })
    }

    fn kill(&mut self) -> Result<(), String> {
        match self {
            Self::Server(server) => match server.kill(EXIT_TIMEOUT) {
                Some(_) => Ok(()),
                None => Err(format!("the server was killed and has not ended after {EXIT_TIMEOUT:?}")),
            },
            Self::Worker(pidfd) => {
                let failed = |error: Errno| format!("the worker could not be killed: {error}");
                pidfd_send_signal(&*pidfd, Signal::KILL).map_err(failed)?;
                // The pidfd becomes readable once the process is dead; until then its threads may still run
                // for a moment.
                let mut fds = [PollFd::from_borrowed_fd(pidfd.as_fd(), PollFlags::IN)];
                let limit = Timespec { tv_sec: EXIT_TIMEOUT.as_secs().cast_signed(), tv_nsec: 0 };
                match poll(&mut fds, Some(&limit)).map_err(failed)? {
                    0 => Err(format!("the worker was killed and has not ended after {EXIT_TIMEOUT:?}")),
                    _ => Ok(()),
                }
            }
        }
    }
}

fn open_pidfd(process: u32) -> io::Result<OwnedFd> {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    let process = process.ok_or_else(|| io::Error::other("it is no process"))?;
    Ok(pidfd_open(process, PidfdFlags::empty())?)
}
