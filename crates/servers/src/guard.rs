//! The process between a server and the one that owns it, by which a server never outlives its owner.
//!
//! A server starts processes of its own, some of which leave its process group, so that neither a signal to
//! a group nor the kernel's parent-death signal reaches them all. The guard adopts whatever loses its parent
//! below it and ends everything when its standard input is closed: when the owner is done, and also when
//! the owner is killed, however.
//!
//! It reads one line, an [`Order`]; after that `signal NAME` sends that signal to the command. It writes
//! `started PID`, then `ended …`, or `failed …` when the command could not be started.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, getppid, kill_process, set_child_subreaper,
    set_parent_process_death_signal, wait, waitid,
};
use serde::{Deserialize, Serialize};

use crate::error::ServerError;

/// The subcommand that is a guard.
pub const GUARD: &str = "server-guard";
/// The subcommand that becomes the server.
pub const EXEC: &str = "server-exec";
/// This program, wherever it lies and whoever may get there by its path.
const MYSELF: &str = "/proc/self/exe";

/// The time zone of servers and of all that makes their data folders: the variable and its value.
pub(crate) const ZONE: (&str, &str) = ("TZ", "UTC");

/// How long a server that is abandoned has to end by itself.
const GRACE: Duration = Duration::from_secs(3);
/// How long the folder's former server may take to disappear.
const LOCK_LIMIT: Duration = Duration::from_secs(20);
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// What a guard is to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    /// The command and its arguments.
    pub(crate) command: Vec<String>,
    /// Where it runs.
    pub(crate) folder: PathBuf,
    /// Held as long as anything of the command is alive.
    pub(crate) lock: PathBuf,
    /// As whom, unless as the guard itself.
    pub(crate) user: Option<(u32, u32)>,
    /// The signal on which it ends at once; [`Signal::KILL`] if none.
    pub(crate) abandon: Option<String>,
    /// The file to which the command's number is written, so that the kernel moves it into a control group.
    pub(crate) group: Option<PathBuf>,
    /// Added to the environment.
    pub(crate) environment: Vec<(String, String)>,
}

/// The signal of this name.
pub(crate) fn signal(name: &str) -> Option<Signal> {
    Some(match name {
        "HUP" => Signal::HUP,
        "INT" => Signal::INT,
        "TERM" => Signal::TERM,
        "QUIT" => Signal::QUIT,
        "KILL" => Signal::KILL,
        _ => return None,
    })
}

/// Runs a guard on the standard streams.
pub fn guard() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("failed {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Becomes the command in `arguments`, whose first is the process id of the guard. The parent-death signal
/// is asked for here because a change of user, which comes before, takes it away.
pub fn exec(arguments: &[std::ffi::OsString]) -> ExitCode {
    let [parent, abandon, program, rest @ ..] = arguments else {
        eprintln!("jsonathlon {EXEC}: this is for the program's own use");
        return ExitCode::FAILURE;
    };
    let wanted = abandon.to_str().and_then(signal).unwrap_or(Signal::KILL);
    if let Err(error) = set_parent_process_death_signal(Some(wanted)) {
        eprintln!("jsonathlon {EXEC}: {error}");
        return ExitCode::FAILURE;
    }
    // The guard may have ended before the signal was asked for.
    let now = getppid().map(|pid| pid.as_raw_nonzero().get().to_string());
    if now.as_deref() != parent.to_str() {
        return ExitCode::FAILURE;
    }
    let error = Command::new(program).args(rest).exec();
    let program = Path::new(program);
    eprintln!("jsonathlon: failed to run {}: {error}{}", program.display(), ServerError::of_program(program));
    ExitCode::FAILURE
}

/// The command, as long as it has not been reaped: until then its number is nobody else's.
#[derive(Default)]
struct Watched {
    pid: Mutex<Option<Pid>>,
    ended: Condvar,
}

fn run() -> io::Result<()> {
    let mut input = BufReader::new(io::stdin()).lines();
    let Some(order) = input.next() else { return Ok(()) };
    let order: Order = serde_json::from_str(&order?).map_err(io::Error::other)?;
    let _lock = lock(&order.lock)?;
    set_child_subreaper(Some(getpid()))?;
    let abandon = order.abandon.as_deref().and_then(signal).unwrap_or(Signal::KILL);
    let mut command = Command::new(MYSELF);
    command
        .arg0("jsonathlon")
        .arg(EXEC)
        .arg(getpid().as_raw_nonzero().get().to_string())
        .arg(order.abandon.as_deref().unwrap_or("KILL"))
        .args(&order.command)
        .current_dir(&order.folder)
        .envs(order.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(io::stderr())
        .process_group(0);
    // What a server shows and keeps must not depend on whose shell it was started from.
    command.env(ZONE.0, ZONE.1);
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_secret(name)) {
        command.env_remove(name);
    }
    if let Some((uid, gid)) = order.user {
        command.uid(uid).gid(gid);
    }
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    if let Some(group) = &order.group
        && let Err(error) = std::fs::write(group, child.id().to_string())
    {
        child.kill()?;
        child.wait()?;
        return Err(io::Error::other(format!("{}: {error}", group.display())));
    }
    let watched = Arc::new(Watched { pid: Mutex::new(Some(pid)), ended: Condvar::new() });
    say(&format!("started {}", child.id()));
    let theirs = Arc::clone(&watched);
    std::thread::Builder::new().name("orders".into()).spawn(move || {
        while let Some(Ok(line)) = input.next() {
            if let Some(signal) = line.strip_prefix("signal ").and_then(signal) {
                theirs.send(signal);
            }
        }
        theirs.end(abandon);
    })?;
    loop {
        match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Err(rustix::io::Errno::INTR) => {}
            other => {
                other?;
                break;
            }
        };
    }
    let status = watched.reap(&mut child)?;
    end_what_is_left();
    say(&format!("ended {status}"));
    Ok(())
}

impl Watched {
    fn send(&self, signal: Signal) {
        if let Some(pid) = *self.pid.lock().unwrap_or_else(PoisonError::into_inner) {
            // It fails only when the command has just ended.
            kill_process(pid, signal).ok();
        }
    }

    /// Asks it to end at once, and kills it when it does not.
    fn end(&self, abandon: Signal) {
        self.send(abandon);
        let pid = self.pid.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.ended.wait_timeout_while(pid, GRACE, |pid| pid.is_some());
        drop(waited);
        self.send(Signal::KILL);
    }

    fn reap(&self, child: &mut std::process::Child) -> io::Result<std::process::ExitStatus> {
        let mut pid = self.pid.lock().unwrap_or_else(PoisonError::into_inner);
        *pid = None;
        self.ended.notify_all();
        child.wait()
    }
}

/// Kills children until there are none. What they started becomes the guard's own when they are gone, so
/// that in the end nothing is left; and a child's number is its own until the guard reaps it.
fn end_what_is_left() {
    loop {
        let children = children();
        if children.is_empty() {
            return;
        }
        for child in children {
            kill_process(child, Signal::KILL).ok();
        }
        if wait(WaitOptions::empty()).is_err() {
            return;
        }
    }
}

fn children() -> Vec<Pid> {
    let me = getpid().as_raw_nonzero().get();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // The name in parentheses may hold anything; state and parent follow it.
            let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1));
            parent.and_then(|parent| parent.parse().ok()) == Some(me)
        })
        .filter_map(Pid::from_raw)
        .collect()
}

/// Waits until nothing of the folder's former server is alive.
fn lock(path: &Path) -> io::Result<File> {
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK_LIMIT => std::thread::sleep(LOCK_PAUSE),
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::other(format!(
                    "another server runs on this data folder ({} is locked)",
                    path.display()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Waits until nothing of the server on this folder is alive, at most `limit`. Does nothing for a folder
/// that has no server.
pub fn wait_until_gone(folder: &Path, limit: Duration) {
    let Ok(file) = File::options().write(true).open(folder.join(crate::folder::LOCK)) else { return };
    let begun = Instant::now();
    while begun.elapsed() < limit && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        std::thread::sleep(LOCK_PAUSE);
    }
}

/// Whether a variable of the environment is a password of a target, which is nobody else's business.
#[must_use]
pub fn is_secret(name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with("JSONATHLON_PASSWORD"))
}

/// An owner that is gone is noticed by the end of the input.
fn say(line: &str) {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", line.replace('\n', " ")).and_then(|()| out.flush()).ok();
}
