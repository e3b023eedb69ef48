//! Runs clients: watches their progress, bounds the time without any, and kills every process they started.

use std::{
    fs::{self, File},
    io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::{ClientLookup, FetchJob};
use crate::{InstallContext, InstallStep, cache::bytes_below, error::ArtifactError};

/// Interval at which the end of the client and cancellation are checked.
const PAUSE: Duration = Duration::from_millis(25);
/// Interval at which the growth of files is measured, which walks a folder.
const MEASURE: Duration = Duration::from_millis(200);
/// Maximum number of lines of a client's output that an error shows.
const LAST_LINES: usize = 12;
const LONGEST_TAIL: usize = 2_000;

/// Result of a client that ended successfully.
#[derive(Debug)]
pub(crate) struct ClientOutput {
    pub(crate) command: String,
    /// Last lines of the client's output.
    pub(crate) output: String,
    /// The client's whole output, standard error included.
    pub(crate) log: String,
}

/// How the progress of a client is measured from outside.
pub(crate) struct ProgressProbe<'a> {
    pub(crate) step: InstallStep,
    pub(crate) total: u64,
    /// Returns the amount done, given the file that the client's output goes to.
    pub(crate) measure: &'a dyn Fn(&Path) -> u64,
}

/// Runs the client to its end. Its progress is the size of the largest of `watched_folders`, in bytes.
pub(crate) fn run(
    command: Command,
    job: &FetchJob<'_>,
    watched_folders: &[&Path],
    context: &mut InstallContext<'_>,
) -> Result<ClientOutput, ArtifactError> {
    // The largest folder and not the sum: npm has the archive in its cache before it has it in the
    // destination.
    let done = |_: &Path| watched_folders.iter().map(|folder| bytes_below(folder)).max().unwrap_or(0);
    run_with_progress(
        command,
        job,
        &ProgressProbe { step: InstallStep::Downloading, total: job.bytes, measure: &done },
        context,
    )
}

/// Runs a client to its end whose progress is measured by `probe`.
pub(crate) fn run_with_progress(
    mut command: Command,
    job: &FetchJob<'_>,
    probe: &ProgressProbe<'_>,
    context: &mut InstallContext<'_>,
) -> Result<ClientOutput, ArtifactError> {
    context.check_cancelled()?;
    let command_line = command_line(&command);
    let log_path = job.folder.join("client.log");
    let log = File::create(&log_path).map_err(ArtifactError::cache(&log_path))?;
    let stderr = log.try_clone().map_err(ArtifactError::cache(&log_path))?;
    command.stdin(Stdio::null()).stdout(log).stderr(stderr).process_group(0);
    if command.get_current_dir().is_none() {
        command.current_dir(job.folder);
    }
    // Clients must not see the passwords of remote servers.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("JSONATHLON_PASSWORD")) {
            command.env_remove(name);
        }
    }
    if let Some(path) = &job.clients.search_path {
        command.env("PATH", path);
    }
    die_with_parent(&mut command);
    let child = command
        .spawn()
        .map_err(|source| ArtifactError::ClientStart { program: job.program.clone(), source })?;
    let mut process = Running { child, reaped: false };
    let output = || tail(&log_path);
    let status = match process.wait(job, probe, &log_path, context)? {
        Outcome::Ended(status) => status,
        Outcome::Stalled => {
            let seconds = limit(job, probe).as_secs();
            if probe.step == InstallStep::Building {
                return Err(ArtifactError::BuildStalled { command: command_line, seconds, output: output() });
            }
            return Err(ArtifactError::ClientStalled { command: command_line, seconds, output: output() });
        }
    };
    if status.success() {
        let log = String::from_utf8_lossy(&fs::read(&log_path).unwrap_or_default()).into_owned();
        Ok(ClientOutput { command: command_line, output: output(), log })
    } else {
        let status = status.to_string();
        Err(ArtifactError::ClientFailed { command: command_line, status, output: output() })
    }
}

/// Returns the maximum time without progress. A build gets three times as long: its last step links
/// everything, prints nothing meanwhile, and is slow on a busy machine.
fn limit(job: &FetchJob<'_>, probe: &ProgressProbe<'_>) -> Duration {
    match probe.step {
        InstallStep::Building => job.clients.stall_limit * 3,
        _ => job.clients.stall_limit,
    }
}

enum Outcome {
    Ended(ExitStatus),
    Stalled,
}

/// A client with all processes it started; killed on drop.
struct Running {
    child: Child,
    reaped: bool,
}

impl Running {
    fn wait(
        &mut self,
        job: &FetchJob<'_>,
        probe: &ProgressProbe<'_>,
        log: &Path,
        context: &mut InstallContext<'_>,
    ) -> Result<Outcome, ArtifactError> {
        let wait_error = |source| ArtifactError::ClientStart { program: job.program.clone(), source };
        let mut done = 0;
        let mut last_growth = Instant::now();
        let mut last_measured: Option<Instant> = None;
        loop {
            if self.has_ended().map_err(wait_error)? {
                // Must happen before the leader is reaped: until then its process id, which is also that of
                // the group, cannot be reused.
                self.kill_group();
                self.reaped = true;
                return self.child.wait().map(Outcome::Ended).map_err(wait_error);
            }
            context.check_cancelled()?;
            if last_measured.is_none_or(|measured| measured.elapsed() >= MEASURE) {
                let current = (probe.measure)(log);
                if current != done {
                    done = current;
                    last_growth = Instant::now();
                }
                context.report_progress(probe.step, done, probe.total);
                last_measured = Some(Instant::now());
            }
            if last_growth.elapsed() >= limit(job, probe) {
                return Ok(Outcome::Stalled);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Returns `true` if the client has ended, without reaping it.
    fn has_ended(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match self.pid() {
            Some(pid) => Ok(waitid(WaitId::Pid(pid), options)?.is_some()),
            None => Ok(true),
        }
    }

    /// Kills the whole process group, because clients are scripts that start other programs.
    fn kill_group(&self) {
        if let Some(group) = self.pid() {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill_group();
            let _ = self.child.wait();
        }
    }
}

/// Makes the operating system kill the child when this process ends. A killed process cannot clean up, and a
/// client that continues would write into a folder that the next run uses.
#[cfg(target_os = "linux")]
pub(crate) fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    let prepare = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have ended before the signal was requested.
        if rustix::process::getppid() == Some(parent) {
            Ok(())
        } else {
            Err(io::ErrorKind::Interrupted.into())
        }
    };
    #[expect(
        unsafe_code,
        reason = "between fork and exec only prctl and getppid are called, which allocate nothing"
    )]
    unsafe {
        command.pre_exec(prepare);
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn die_with_parent(_: &mut Command) {}

/// Runs a program and returns its output, such as its version. `None` if it fails or takes longer than 10 s.
pub(crate) fn read_output(mut command: Command, clients: &ClientLookup) -> Option<String> {
    const LIMIT: Duration = Duration::from_secs(10);
    if let Some(path) = &clients.search_path {
        command.env("PATH", path);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    die_with_parent(&mut command);
    let mut process = Running { child: command.spawn().ok()?, reaped: false };
    let started = Instant::now();
    while !process.has_ended().ok()? {
        if started.elapsed() >= LIMIT {
            return None;
        }
        thread::sleep(PAUSE / 5);
    }
    process.kill_group();
    process.reaped = true;
    let status = process.child.wait().ok()?;
    let mut text = String::new();
    io::Read::read_to_string(process.child.stdout.as_mut()?, &mut text).ok()?;
    status.success().then(|| text.trim().to_owned())
}

/// Returns the command line, for a user who wants to try it.
fn command_line(command: &Command) -> String {
    let parts = std::iter::once(command.get_program()).chain(command.get_args());
    parts.map(|part| part.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Returns the last lines of a client's output, without terminal control sequences.
fn tail(log: &PathBuf) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(LONGEST_TAIL)..]).into_owned();
    let clean: String = without_escapes(&text);
    let lines: Vec<&str> = clean.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let last_lines = &lines[lines.len().saturating_sub(LAST_LINES)..];
    if last_lines.is_empty() { "(none)".to_owned() } else { last_lines.join("\n") }
}

fn without_escapes(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            // A control sequence ends with a letter.
            characters.by_ref().find(char::is_ascii_alphabetic);
        } else if character == '\n' || !character.is_control() {
            clean.push(character);
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_taken_out() {
        assert_eq!(without_escapes("\u{1b}[1;31mERROR\u{1b}[m\tno\r\nway\u{7}"), "ERRORno\nway");
    }
}
