//! Set-up of a worker process: redirects its streams and ties its life to that of the coordinator.

use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jsonathlon_driver_api::driver::SharedOutput;
use jsonathlon_telemetry::clock::MonotonicClock;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{Signal, getpid, getppid, kill_process, set_parent_process_death_signal};

use crate::PARENT_VARIABLE;
use crate::job_runner::JobRunner;
use crate::request_loop::serve_shared;

/// Time for a worker to close its engine after the coordinator has gone.
const GRACE: Duration = Duration::from_secs(2);

/// Lowest descriptor for the protocol's streams, so that code which uses 0, 1 and 2 directly does not touch
/// them.
const FIRST_FD: i32 = 3;

/// Runs a worker on the standard streams until it receives `close` or its coordinator is gone. `runner` runs
/// the jobs of clients.
///
/// Does not return: the process exits with status 0, or 1 if the streams fail. The protocol's stream must
/// stay open until then, because the coordinator takes its end for the end of the process, and engines run
/// code on exit.
pub fn main(runner: Option<&mut dyn JobRunner>) -> ExitCode {
    let streams = follow_parent().and_then(|()| take_streams());
    let (outcome, _open_stream) = match streams {
        Ok((input, output)) => {
            let output: SharedOutput = Arc::new(Mutex::new(File::from(output)));
            (run(input, &output, runner), Some(output))
        }
        Err(error) => (Err(error), None),
    };
    let code = match outcome {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("jsonathlon worker: {error}");
            1
        }
    };
    // `exit` instead of a return keeps the stream open while last messages are written, and still runs the
    // exit handlers of engines.
    std::process::exit(code)
}

fn run(input: OwnedFd, output: &SharedOutput, runner: Option<&mut dyn JobRunner>) -> io::Result<()> {
    watch_coordinator(input.try_clone()?)?;
    let input = BufReader::with_capacity(1 << 16, File::from(input));
    serve_shared(input, Arc::clone(output), Arc::new(MonotonicClock::new()), runner)
}

/// Requests the parent-death signal. The parent may have died before the request, in which case the parent is
/// now another process.
fn follow_parent() -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // Without the variable the worker was started by hand and has no coordinator to compare with.
    let Ok(expected) = std::env::var(PARENT_VARIABLE) else { return Ok(()) };
    let parent = getppid().map(|pid| pid.as_raw_nonzero().get().to_string());
    if parent.as_deref() == Some(expected.as_str()) {
        Ok(())
    } else {
        Err(io::Error::other("the coordinator ended before its worker began"))
    }
}

/// Moves the protocol to descriptors of its own. Whatever an engine prints goes to standard error, which is
/// the log, and its standard input is empty.
fn take_streams() -> io::Result<(OwnedFd, OwnedFd)> {
    let input = fcntl_dupfd_cloexec(io::stdin(), FIRST_FD)?;
    let output = fcntl_dupfd_cloexec(io::stdout(), FIRST_FD)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok((input, output))
}

/// Kills this process when the other end of `input` is closed, even while a statement runs and no request is
/// read. The parent-death signal covers the death of the coordinator; this covers a coordinator that closes
/// the pipe.
fn watch_coordinator(input: OwnedFd) -> io::Result<()> {
    let watch = move || {
        loop {
            // A hang-up is reported even if no event is requested.
            let mut fds = [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::empty())];
            match poll(&mut fds, None) {
                Ok(_) if fds[0].revents().is_empty() => {}
                Err(Errno::INTR) => {}
                Ok(_) | Err(_) => break,
            }
        }
        std::thread::sleep(GRACE);
        // There is nothing left to do if this fails.
        kill_process(getpid(), Signal::KILL).ok();
    };
    std::thread::Builder::new().name("coordinator-watch".into()).spawn(watch)?;
    Ok(())
}
