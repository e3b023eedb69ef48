//! Running a client: watched, bounded, and never left behind.

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

use super::Job;
use crate::artifacts::{Step, Watch, cache::bytes_below, error::ArtifactError};

/// How often the client and the caller's wish to stop are looked at.
const PAUSE: Duration = Duration::from_millis(25);
/// How often the growing files are measured: that walks a folder.
const MEASURE: Duration = Duration::from_millis(200);
/// How much of a client's output an error shows.
const LAST_LINES: usize = 12;
const LONGEST_TAIL: usize = 2_000;

/// A client that ended well.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) command: String,
    pub(crate) output: String,
}

/// Runs the client to its end; `watched` are the folders in which its download
/// grows.
pub(crate) fn run(
    mut command: Command,
    job: &Job<'_>,
    watched: &[&Path],
    watch: &mut Watch<'_>,
) -> Result<Ended, ArtifactError> {
    watch.go_on()?;
    let shown = shown(&command);
    let log_path = job.folder.join("client.log");
    let log = File::create(&log_path).map_err(ArtifactError::cache(&log_path))?;
    let both = log.try_clone().map_err(ArtifactError::cache(&log_path))?;
    command.stdin(Stdio::null()).stdout(log).stderr(both).current_dir(job.folder).process_group(0);
    if let Some(path) = &job.clients.search_path {
        command.env("PATH", path);
    }
    die_with_parent(&mut command);
    let child = command
        .spawn()
        .map_err(|source| ArtifactError::ClientStart { program: job.program.clone(), source })?;
    let mut running = Running { child, reaped: false };
    let output = || tail(&log_path);
    let status = match running.wait(job, watched, watch)? {
        Outcome::Ended(status) => status,
        Outcome::Stalled => {
            let seconds = job.clients.stall_limit.as_secs();
            return Err(ArtifactError::ClientStalled { command: shown, seconds, output: output() });
        }
    };
    if status.success() {
        Ok(Ended { command: shown, output: output() })
    } else {
        Err(ArtifactError::ClientFailed { command: shown, status: status.to_string(), output: output() })
    }
}

enum Outcome {
    Ended(ExitStatus),
    Stalled,
}

/// A client and all it started, killed when this is dropped.
struct Running {
    child: Child,
    reaped: bool,
}

impl Running {
    fn wait(
        &mut self,
        job: &Job<'_>,
        watched: &[&Path],
        watch: &mut Watch<'_>,
    ) -> Result<Outcome, ArtifactError> {
        let lost = |source| ArtifactError::ClientStart { program: job.program.clone(), source };
        let mut bytes = 0;
        let mut grown = Instant::now();
        let mut measured: Option<Instant> = None;
        loop {
            if self.has_ended().map_err(lost)? {
                // Before the leader is reaped: until then its number, which is
                // also the group's, cannot be given to anybody else.
                self.kill_group();
                self.reaped = true;
                return self.child.wait().map(Outcome::Ended).map_err(lost);
            }
            watch.go_on()?;
            if measured.is_none_or(|before| before.elapsed() >= MEASURE) {
                // The largest folder and not the sum: npm has the archive in
                // its cache before it has it in the destination.
                let now = watched.iter().map(|folder| bytes_below(folder)).max().unwrap_or(0);
                if now != bytes {
                    bytes = now;
                    grown = Instant::now();
                }
                watch.tell(Step::Downloading, bytes, job.bytes);
                measured = Some(Instant::now());
            }
            if grown.elapsed() >= job.clients.stall_limit {
                return Ok(Outcome::Stalled);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Whether the client has ended, without reaping it.
    fn has_ended(&self) -> io::Result<bool> {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match self.pid() {
            Some(pid) => Ok(waitid(WaitId::Pid(pid), look)?.is_some()),
            None => Ok(true),
        }
    }

    /// The group, because clients are scripts that start others.
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

/// A program that is killed cannot clean up, and a client that goes on would
/// write into a folder that the next run takes for its own.
#[cfg(target_os = "linux")]
fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    let prepare = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have ended before the signal was asked for.
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
fn die_with_parent(_: &mut Command) {}

/// The command line, for a user who wants to try it.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The last lines of a client's output, without what a terminal would obey.
fn tail(log: &PathBuf) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(LONGEST_TAIL)..]).into_owned();
    let clean: String = without_escapes(&text);
    let lines: Vec<&str> = clean.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
    if last.is_empty() { "(none)".to_owned() } else { last.join("\n") }
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
