//! Owner's side of a command that runs under a guard.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::error::{Result, ServerError};
use crate::guard::{GUARD, GuardCommand};

/// Bytes at the end of a log that are searched for the cause of an error.
const TAIL: u64 = 64 << 10;
/// Maximum number of characters shown of a log line.
const MAX_LINE_CHARS: usize = 1000;
/// Number of log lines shown for a server that was running.
pub(crate) const SHORT_LOG_LINES: usize = 12;
/// Number of log lines shown for a server that did not start; some log twenty more lines after the error.
pub(crate) const LONG_LOG_LINES: usize = 30;
/// Longest interval between two checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Longest wait for a guard to end all processes after its input was closed.
const GUARD_EXIT_LIMIT: Duration = Duration::from_secs(10);

/// A command that runs under a guard; dropping it ends both.
#[derive(Debug)]
pub(crate) struct GuardedProcess {
    guard: Child,
    input: Option<ChildStdin>,
    events: Receiver<String>,
    log: Log,
    /// Process id of the command.
    pub(crate) pid: u32,
    ended: Option<String>,
}

impl GuardedProcess {
    /// Starts `guard_command` under a guard, which is run by `program`. The output of the command goes to
    /// `log`.
    pub(crate) fn start(
        program: &Path,
        guard_command: &GuardCommand,
        log: &Path,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self> {
        let failed =
            |error: io::Error| ServerError::Unavailable(format!("failed to start a server: {error}"));
        let log = Log::open(log)?;
        let mut guard = Command::new(program)
            .arg(GUARD)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log.file.try_clone().map_err(failed)?)
            // Own process group, so that killing the owner's group leaves the guard running to do its work.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let (input, output) = (guard.stdin.take(), guard.stdout.take());
        let (sender, events) = channel();
        let mut guarded = Self { guard, input, events, log, pid: 0, ended: None };
        let (Some(input), Some(output)) = (guarded.input.as_mut(), output) else {
            return Err(failed(io::Error::other("the guard has no pipes")));
        };
        let reader = move || {
            for line in BufReader::new(output).lines().map_while(io::Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("guard-output".into()).spawn(reader).map_err(failed)?;
        let mut line = serde_json::to_vec(guard_command).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        input.write_all(&line).map_err(failed)?;
        let first = loop {
            match guarded.events.recv_timeout(POLL_INTERVAL) {
                Ok(line) => break line,
                Err(RecvTimeoutError::Timeout) if cancelled() => return Err(ServerError::Cancelled),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break "failed for the guard ended".to_owned(),
            }
        };
        match first.strip_prefix("started ").and_then(|pid| pid.parse().ok()) {
            Some(pid) => guarded.pid = pid,
            None => {
                let reason = first.strip_prefix("failed ").unwrap_or(&first);
                let command = guard_command.command.first().map_or("", String::as_str);
                return Err(ServerError::Unavailable(format!("failed to start {command}: {reason}")));
            }
        }
        Ok(guarded)
    }

    /// Waits up to `limit` for the command to end. Returns its exit status as text; `None` if it is still
    /// running.
    pub(crate) fn wait(&mut self, limit: Duration) -> Option<String> {
        if self.ended.is_none() {
            self.ended = match self.events.recv_timeout(limit) {
                Ok(line) => Some(line.strip_prefix("ended ").unwrap_or(&line).to_owned()),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => Some("its guard was killed".to_owned()),
            };
        }
        self.ended.clone()
    }

    /// Like [`GuardedProcess::wait`], but fails with [`ServerError::Cancelled`] as soon as `cancelled`
    /// returns `true`.
    pub(crate) fn wait_or_cancel(
        &mut self,
        limit: Duration,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<String>> {
        let started = Instant::now();
        loop {
            let remaining = limit.saturating_sub(started.elapsed());
            let ended = self.wait(remaining.min(POLL_INTERVAL));
            if ended.is_some() || remaining.is_zero() {
                return Ok(ended);
            }
            if cancelled() {
                return Err(ServerError::Cancelled);
            }
        }
    }

    /// Sends a signal to the command by its name, e.g. `TERM`.
    pub(crate) fn signal(&mut self, name: &str) {
        if let Some(input) = &mut self.input {
            // A dead guard is detected by waiting.
            writeln!(input, "signal {name}").ok();
        }
    }

    /// Appends the last `lines` lines of the log to `message`.
    pub(crate) fn with_log(&self, message: &str, lines: usize) -> String {
        self.log.explain(message, lines)
    }
}

impl Drop for GuardedProcess {
    fn drop(&mut self) {
        self.input = None;
        let started = Instant::now();
        while started.elapsed() < GUARD_EXIT_LIMIT {
            if !matches!(self.guard.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        // The parent-death signal then ends the command.
        self.guard.kill().ok();
        self.guard.wait().ok();
    }
}

/// A server's log, of which only the part written since it was opened is shown.
#[derive(Debug)]
struct Log {
    file: File,
    path: PathBuf,
    start: u64,
}

impl Log {
    fn open(path: &Path) -> Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(|error| {
            ServerError::Unavailable(format!("failed to open the server's log {}: {error}", path.display()))
        })?;
        let start = file.metadata().map_or(0, |metadata| metadata.len());
        Ok(Self { file, path: path.to_owned(), start })
    }

    fn explain(&self, message: &str, lines: usize) -> String {
        let read_tail = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&self.path)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(self.start.max(length.saturating_sub(TAIL))))?;
            let mut bytes = Vec::new();
            file.take(TAIL).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        // An unreadable log must not hide the error itself.
        let bytes = read_tail().unwrap_or_default();
        let tail = last_lines(&String::from_utf8_lossy(&bytes), lines);
        if tail.is_empty() {
            format!("{message}; its log {} says nothing", self.path.display())
        } else {
            format!("{message}; the end of its log {}:\n{tail}", self.path.display())
        }
    }
}

/// Last `shown` lines of a log. Stack frames are left out, because they are many and the cause is above them.
fn last_lines(log: &str, count: usize) -> String {
    // Java's frames, and those of logs with JSON lines.
    let is_frame = |line: &str| {
        line.starts_with(char::is_whitespace) && line.trim_start().starts_with("at ")
            || line.contains(r#""msg":"Frame""#)
    };
    let lines: Vec<String> = log
        .lines()
        .filter(|line| !line.trim().is_empty() && !is_frame(line))
        .map(|line| line.chars().take(MAX_LINE_CHARS).collect())
        .collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_shown_and_not_the_stack_below_it() {
        let frames = "\tat org.some.Place(Place.java:7)\n".repeat(50);
        let log = format!("begins\n\nthe reason\n{frames}Caused by: another\n{frames}at last, the end\n");
        assert_eq!(
            last_lines(&log, SHORT_LOG_LINES),
            "begins\nthe reason\nCaused by: another\nat last, the end"
        );
        let framed = format!("the reason\n{}", "{\"s\":\"I\",\"msg\":\"Frame\",\"attr\":{}}\n".repeat(50));
        assert_eq!(last_lines(&framed, SHORT_LOG_LINES), "the reason");
        let many: String = (0..20).map(|n| format!("{n} {}\n", "é".repeat(2000))).collect();
        let shown = last_lines(&many, SHORT_LOG_LINES);
        assert_eq!(shown.lines().count(), SHORT_LOG_LINES);
        assert!(shown.starts_with("8 é") && shown.lines().all(|line| line.chars().count() == MAX_LINE_CHARS));
    }
}
