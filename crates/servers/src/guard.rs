//! Guard: the process between the owner of a server and the server, which ends the server when its owner is
//! gone.
//!
//! Servers start processes of their own, some of which leave the process group, so neither a signal to the
//! group nor the kernel's parent-death signal reaches all of them. The guard adopts orphaned descendants, and
//! ends all of them when its standard input is closed, by an owner that is done or was killed. It reads one
//! line, a [`GuardCommand`], then lines `signal NAME` for the command. It writes `started PID` and later
//! `ended …`, or `failed …` if the command could not be started.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, getppid, kill_process, set_child_subreaper,
    set_parent_process_death_signal, wait, waitid,
};
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::error::ServerError;

/// Subcommand of this program that runs a guard.
pub const GUARD: &str = "server-guard";
/// Subcommand of this program that replaces itself by the server's command.
pub const EXEC: &str = "server-exec";
/// Path of this program that works wherever it is, even if the server's user cannot reach its real path.
const SELF_EXE: &str = "/proc/self/exe";

/// Time zone variable of servers and of the commands that initialise their data folders, with its value.
pub(crate) const ZONE: (&str, &str) = ("TZ", "UTC");

/// Time between the abandon signal and SIGKILL for a server whose owner is gone.
const GRACE: Duration = Duration::from_secs(3);
/// Longest wait for the previous server of the folder to disappear.
const LOCK_LIMIT: Duration = Duration::from_secs(20);
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Description of the command that a guard runs, sent as one line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GuardCommand {
    /// Program and arguments of the command.
    pub(crate) command: Vec<String>,
    /// Working directory of the command.
    pub(crate) folder: PathBuf,
    /// Lock file that the guard holds while any process of the command is alive.
    pub(crate) lock: PathBuf,
    /// User and group id to run as; `None` for those of the guard.
    pub(crate) user: Option<(u32, u32)>,
    /// Name of the signal that ends the command at once when its owner is gone; [`Signal::KILL`] if `None`.
    pub(crate) abandon: Option<String>,
    /// `cgroup.procs` file to which the command's pid is written, so that it joins that cgroup; `None`
    /// without a memory cap.
    pub(crate) group: Option<PathBuf>,
    /// Variables that are added to the environment of the command.
    pub(crate) environment: Vec<(String, String)>,
}

/// Parses the name of a signal; `None` if it is not one of those that recipes may use.
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

/// Runs a guard on the standard streams and returns its exit code.
pub fn guard() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&format!("failed {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Replaces this process by a command. `arguments` are the pid of the guard, the abandon signal, the program,
/// and its arguments.
///
/// The parent-death signal is requested here, because the preceding change of user clears it.
pub fn exec(arguments: &[std::ffi::OsString]) -> ExitCode {
    let [parent, abandon, program, rest @ ..] = arguments else {
        eprintln!("jsonathlon {EXEC}: this is for the program's own use");
        return ExitCode::FAILURE;
    };
    let death_signal = abandon.to_str().and_then(signal).unwrap_or(Signal::KILL);
    if let Err(error) = set_parent_process_death_signal(Some(death_signal)) {
        eprintln!("jsonathlon {EXEC}: {error}");
        return ExitCode::FAILURE;
    }
    // The guard may have ended before the signal was requested.
    let current_parent = getppid().map(|pid| pid.as_raw_nonzero().get().to_string());
    if current_parent.as_deref() != parent.to_str() {
        return ExitCode::FAILURE;
    }
    let error = Command::new(program).args(rest).exec();
    let program = Path::new(program);
    eprintln!(
        "jsonathlon: failed to run {}: {error}{}",
        program.display(),
        ServerError::mount_remedy(program)
    );
    ExitCode::FAILURE
}

/// The command until it has been reaped; until then its pid cannot be reused.
#[derive(Default)]
struct UnreapedChild {
    pid: Mutex<Option<Pid>>,
    ended: Condvar,
}

/// Catches the signals by which servers are ended, so that the command starts with their default effect. The
/// guard itself ends with its input.
///
/// A shell lets what it starts in the background ignore SIGINT and SIGQUIT, and ignoring is inherited. A
/// server that is still starting, without handlers of its own, would then never notice that it is to stop.
fn catch_signals() -> io::Result<()> {
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

fn run() -> io::Result<()> {
    catch_signals()?;
    let mut input = BufReader::new(io::stdin()).lines();
    let Some(line) = input.next() else { return Ok(()) };
    let guard_command: GuardCommand = serde_json::from_str(&line?).map_err(io::Error::other)?;
    let _lock = lock(&guard_command.lock)?;
    set_child_subreaper(Some(getpid()))?;
    let abandon = guard_command.abandon.as_deref().and_then(signal).unwrap_or(Signal::KILL);
    let mut child = server_command(&guard_command).spawn()?;
    let pid = Pid::from_child(&child);
    if let Some(group) = &guard_command.group
        && let Err(error) = std::fs::write(group, child.id().to_string())
    {
        child.kill()?;
        child.wait()?;
        return Err(io::Error::other(format!("{}: {error}", group.display())));
    }
    let unreaped = Arc::new(UnreapedChild { pid: Mutex::new(Some(pid)), ended: Condvar::new() });
    report(&format!("started {}", child.id()));
    let signalled = Arc::clone(&unreaped);
    std::thread::Builder::new().name("orders".into()).spawn(move || {
        while let Some(Ok(line)) = input.next() {
            if let Some(signal) = line.strip_prefix("signal ").and_then(signal) {
                signalled.send(signal);
            }
        }
        signalled.end(abandon);
    })?;
    await_exit(pid)?;
    let status = unreaped.reap(&mut child)?;
    kill_remaining();
    report(&format!("ended {status}"));
    Ok(())
}

/// Prepares the command that the guard runs: this program, which replaces itself by the server's command.
fn server_command(guard_command: &GuardCommand) -> Command {
    let mut command = Command::new(SELF_EXE);
    command
        .arg0("jsonathlon")
        .arg(EXEC)
        .arg(getpid().as_raw_nonzero().get().to_string())
        .arg(guard_command.abandon.as_deref().unwrap_or("KILL"))
        .args(&guard_command.command)
        .current_dir(&guard_command.folder)
        .envs(guard_command.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(io::stderr())
        .process_group(0);
    // Output and data of a server must not depend on the time zone of the shell it was started from.
    command.env(ZONE.0, ZONE.1);
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_secret(name)) {
        command.env_remove(name);
    }
    if let Some((uid, gid)) = guard_command.user {
        command.uid(uid).gid(gid);
    }
    command
}

/// Waits until a child has ended, without reaping it.
fn await_exit(pid: Pid) -> io::Result<()> {
    loop {
        match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Err(rustix::io::Errno::INTR) => {}
            result => {
                result?;
                return Ok(());
            }
        }
    }
}

impl UnreapedChild {
    fn send(&self, signal: Signal) {
        if let Some(pid) = *self.pid.lock().unwrap_or_else(PoisonError::into_inner) {
            // Fails only if the command has just ended.
            kill_process(pid, signal).ok();
        }
    }

    /// Sends the abandon signal, and SIGKILL if the command has not ended after [`GRACE`].
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

/// Kills all children repeatedly until there are none. Orphaned grandchildren become children of the guard,
/// so that nothing is left in the end. A child's pid cannot be reused until the guard reaps it.
fn kill_remaining() {
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
    let own_pid = getpid().as_raw_nonzero().get();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // The process name in parentheses may contain any character; state and parent follow it.
            let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1));
            parent.and_then(|parent| parent.parse().ok()) == Some(own_pid)
        })
        .filter_map(Pid::from_raw)
        .collect()
}

/// Locks the folder, which waits up to [`LOCK_LIMIT`] until all processes of its previous server have ended.
fn lock(path: &Path) -> io::Result<File> {
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if started.elapsed() < LOCK_LIMIT => std::thread::sleep(LOCK_PAUSE),
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

/// Waits until all processes of the server on `folder` have ended, at most `limit`. Returns at once for a
/// folder without a server.
pub fn wait_until_exited(folder: &Path, limit: Duration) {
    let Ok(file) = File::options().write(true).open(folder.join(crate::folder::LOCK)) else { return };
    let started = Instant::now();
    while started.elapsed() < limit && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        std::thread::sleep(LOCK_PAUSE);
    }
}

/// Returns `true` for environment variables with a password of a target, which must be removed from child
/// processes.
#[must_use]
pub fn is_secret(name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with("JSONATHLON_PASSWORD"))
}

/// Writes a line to the owner. Errors are ignored, because the end of the input shows that the owner is gone.
fn report(line: &str) {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", line.replace('\n', " ")).and_then(|()| out.flush()).ok();
}
