//! What makes a process a worker: its streams, and that it does not outlive its coordinator.

use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jsonathlon_connection::driver::SharedOutput;
use jsonathlon_measure::clock::MonotonicClock;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{Signal, getpid, getppid, kill_process, set_parent_process_death_signal};

use crate::PARENT_VARIABLE;
use crate::drive::Drive;
use crate::serve::serve_shared;

/// Time a worker whose coordinator has gone gets to close its engine.
const GRACE: Duration = Duration::from_secs(2);

/// Lowest number for the moved streams: out of the way of code that knows 0, 1 and 2 by number.
const FIRST_FD: i32 = 3;

/// Runs a worker on the standard streams until it is told to close or its coordinator is gone.
///
/// The process ends inside, with status 0, and 1 when the streams fail: the protocol's stream must stay
/// open until the very end, since the coordinator takes its end for the end of the process, and engines
/// run code on exit. `drive` does what clients are to do.
pub fn main(drive: Option<&mut dyn Drive>) -> ExitCode {
    let begun = follow_parent().and_then(|()| take_streams());
    let (served, _open_until_the_end) = match begun {
        Ok((input, output)) => {
            let output: SharedOutput = Arc::new(Mutex::new(File::from(output)));
            (run(input, &output, drive), Some(output))
        }
        Err(error) => (Err(error), None),
    };
    let code = match served {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("jsonathlon worker: {error}");
            1
        }
    };
    // `exit` and not a return: the stream stays open, also while last words are written, and engines' exit
    // handlers run all the same.
    std::process::exit(code)
}

fn run(input: OwnedFd, output: &SharedOutput, drive: Option<&mut dyn Drive>) -> io::Result<()> {
    watch_coordinator(input.try_clone()?)?;
    let input = BufReader::with_capacity(1 << 16, File::from(input));
    serve_shared(input, Arc::clone(output), Arc::new(MonotonicClock::new()), drive)
}

/// Asks to be killed when the parent dies. It may have died before; then the parent is another one.
fn follow_parent() -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // Run by hand there is nobody to follow but whoever started it.
    let Ok(expected) = std::env::var(PARENT_VARIABLE) else { return Ok(()) };
    let parent = getppid().map(|pid| pid.as_raw_nonzero().get().to_string());
    if parent.as_deref() == Some(expected.as_str()) {
        Ok(())
    } else {
        Err(io::Error::other("the coordinator ended before its worker began"))
    }
}

/// Moves the protocol to descriptors of its own; what an engine prints then goes to standard error, which
/// is the log, and what it reads from standard input is nothing.
fn take_streams() -> io::Result<(OwnedFd, OwnedFd)> {
    let input = fcntl_dupfd_cloexec(io::stdin(), FIRST_FD)?;
    let output = fcntl_dupfd_cloexec(io::stdout(), FIRST_FD)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok((input, output))
}

/// Ends this process when the other end of `input` is closed, even in the middle of a statement, when
/// nobody reads it: the kernel's signal covers the coordinator's death, this covers its dropping the pipe.
fn watch_coordinator(input: OwnedFd) -> io::Result<()> {
    let watch = move || {
        loop {
            // Asking for nothing still tells of a hang-up.
            let mut fds = [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::empty())];
            match poll(&mut fds, None) {
                Ok(_) if fds[0].revents().is_empty() => {}
                Err(Errno::INTR) => {}
                Ok(_) | Err(_) => break,
            }
        }
        std::thread::sleep(GRACE);
        // Nothing can be done should this fail.
        kill_process(getpid(), Signal::KILL).ok();
    };
    std::thread::Builder::new().name("coordinator-watch".into()).spawn(watch)?;
    Ok(())
}
