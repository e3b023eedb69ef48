//! A command under a guard, as its owner sees it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::error::{Result, ServerError};
use crate::guard::{GUARD, Order};

/// How much of a log is looked at for an error, in bytes.
const TAIL: u64 = 64 << 10;
/// Characters that are shown of a line.
const SHOWN_OF_LINE: usize = 1000;
/// Lines that are shown of the log of a server that was up.
pub(crate) const SHORT: usize = 12;
/// Of one that was not: some say good-bye in twenty lines after the one that matters.
pub(crate) const LONG: usize = 30;
/// Longest time between two looks at whether the caller wants to stop.
const LOOK: Duration = Duration::from_millis(50);
/// How long a guard may take to end everything after it was let go.
const LET_GO: Duration = Duration::from_secs(10);

/// A command under a guard; both are gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Guarded {
    guard: Child,
    orders: Option<ChildStdin>,
    events: Receiver<String>,
    log: Log,
    /// The command's process.
    pub(crate) pid: u32,
    ended: Option<String>,
}

impl Guarded {
    /// Starts a command under a guard, which is `program`, its output going to `log`.
    pub(crate) fn start(
        program: &Path,
        order: &Order,
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
            // A group of its own: whoever kills the owner's group must leave the guard to do its work.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let (orders, output) = (guard.stdin.take(), guard.stdout.take());
        let (sender, events) = channel();
        let mut guarded = Self { guard, orders, events, log, pid: 0, ended: None };
        let (Some(orders), Some(output)) = (guarded.orders.as_mut(), output) else {
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
        let mut line = serde_json::to_vec(order).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        orders.write_all(&line).map_err(failed)?;
        let first = loop {
            match guarded.events.recv_timeout(LOOK) {
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
                let command = order.command.first().map_or("", String::as_str);
                return Err(ServerError::Unavailable(format!("failed to start {command}: {reason}")));
            }
        }
        Ok(guarded)
    }

    /// How the command ended, if it does within `limit`.
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

    /// How the command ended, if it does within `limit` and before the caller wants to stop.
    pub(crate) fn wait_unless(
        &mut self,
        limit: Duration,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<String>> {
        let begun = Instant::now();
        loop {
            let left = limit.saturating_sub(begun.elapsed());
            let ended = self.wait(left.min(LOOK));
            if ended.is_some() || left.is_zero() {
                return Ok(ended);
            }
            if cancelled() {
                return Err(ServerError::Cancelled);
            }
        }
    }

    /// Sends a signal to the command.
    pub(crate) fn signal(&mut self, name: &str) {
        if let Some(orders) = &mut self.orders {
            // A guard that is gone is noticed by waiting.
            writeln!(orders, "signal {name}").ok();
        }
    }

    /// `message` with the end of the log.
    pub(crate) fn with_log(&self, message: &str, lines: usize) -> String {
        self.log.explain(message, lines)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.orders = None;
        let begun = Instant::now();
        while begun.elapsed() < LET_GO {
            if !matches!(self.guard.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        // The command is then ended by its parent-death signal.
        self.guard.kill().ok();
        self.guard.wait().ok();
    }
}

/// A log, of which only what comes from now on is of interest.
#[derive(Debug)]
struct Log {
    file: File,
    path: PathBuf,
    from: u64,
}

impl Log {
    fn open(path: &Path) -> Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(|error| {
            ServerError::Unavailable(format!("failed to open the server's log {}: {error}", path.display()))
        })?;
        let from = file.metadata().map_or(0, |facts| facts.len());
        Ok(Self { file, path: path.to_owned(), from })
    }

    fn explain(&self, message: &str, lines: usize) -> String {
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&self.path)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(self.from.max(length.saturating_sub(TAIL))))?;
            let mut bytes = Vec::new();
            file.take(TAIL).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        // A log that cannot be read must not hide the error itself.
        let bytes = read().unwrap_or_default();
        let last = last_words(&String::from_utf8_lossy(&bytes), lines);
        if last.is_empty() {
            format!("{message}; its log {} says nothing", self.path.display())
        } else {
            format!("{message}; the end of its log {}:\n{last}", self.path.display())
        }
    }
}

/// The last lines of a log. The frames of a stack are left out: they are many, and the reason stands above them.
fn last_words(log: &str, shown: usize) -> String {
    // Java's, and those of logs whose lines are JSON.
    let is_frame = |line: &str| {
        line.starts_with(char::is_whitespace) && line.trim_start().starts_with("at ")
            || line.contains(r#""msg":"Frame""#)
    };
    let lines: Vec<String> = log
        .lines()
        .filter(|line| !line.trim().is_empty() && !is_frame(line))
        .map(|line| line.chars().take(SHOWN_OF_LINE).collect())
        .collect();
    lines[lines.len().saturating_sub(shown)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_shown_and_not_the_stack_below_it() {
        let frames = "\tat org.some.Place(Place.java:7)\n".repeat(50);
        let log = format!("begins\n\nthe reason\n{frames}Caused by: another\n{frames}at last, the end\n");
        assert_eq!(last_words(&log, SHORT), "begins\nthe reason\nCaused by: another\nat last, the end");
        let framed = format!("the reason\n{}", "{\"s\":\"I\",\"msg\":\"Frame\",\"attr\":{}}\n".repeat(50));
        assert_eq!(last_words(&framed, SHORT), "the reason");
        let many: String = (0..20).map(|n| format!("{n} {}\n", "é".repeat(2000))).collect();
        let shown = last_words(&many, SHORT);
        assert_eq!(shown.lines().count(), SHORT);
        assert!(shown.starts_with("8 é") && shown.lines().all(|line| line.chars().count() == SHOWN_OF_LINE));
    }
}
