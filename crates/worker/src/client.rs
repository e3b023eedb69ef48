//! Coordinator side of a worker: starts the process, sends requests, and detects and survives its end.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use serde::de::DeserializeOwned;

use crate::protocol::{CloseReply, FailureKind, Op, Progress, Reply, Request};
use crate::{LINE_LIMIT, PARENT_VARIABLE};

/// Longest interval between two checks whether the caller has cancelled the request.
const CANCEL_INTERVAL: Duration = Duration::from_millis(50);

/// Number of bytes from the end of a worker's log that are quoted in errors.
const LAST_WORDS: u64 = 4096;

/// Number of characters of an invalid line that are quoted in errors.
const EXCERPT_LENGTH: usize = 200;

/// Why a worker did not answer. After every kind but [`WorkerError::RequestFailed`] the worker process is
/// dead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The worker process ended before it answered.
    #[error("the worker ended ({status}) before it answered{}", last_words_of(last_words))]
    Crashed {
        /// Exit code or signal of the process.
        status: ExitStatus,
        /// End of the worker's log.
        last_words: String,
    },
    /// The worker gave no answer within the limit and was killed.
    #[error("the worker gave no answer within {limit:?} and was killed{}", last_words_of(last_words))]
    TimedOut {
        /// Limit that was exceeded.
        limit: Duration,
        /// End of the worker's log.
        last_words: String,
    },
    /// The worker sent something that violates the protocol, and was killed.
    #[error("the worker answered out of protocol and was killed: {line}")]
    Protocol {
        /// Beginning of the line that the worker sent, or a description of the violation.
        line: String,
    },
    /// The request failed; the worker is still usable.
    #[error("{message}")]
    RequestFailed {
        /// Kind of the failure.
        kind: FailureKind,
        /// Message of the system, or advice of the driver.
        message: String,
    },
    /// The caller cancelled the request; the worker was killed.
    #[error("cancelled")]
    Cancelled,
    /// The worker ended during an earlier request. The caller must start a new one.
    #[error("the worker has ended; start another one")]
    Ended,
    /// The worker could not be started, its log could not be opened, or a request could not be encoded.
    #[error("failed to {action}: {source}")]
    Io {
        /// Action that failed, as an infinitive such as `open FILE`.
        action: String,
        /// Error of the operating system.
        source: io::Error,
    },
}

fn last_words_of(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("; its last words: {text}") }
}

/// Message from the thread that reads the worker's output.
enum Event {
    Line(Vec<u8>),
    TooLong(Vec<u8>),
    End,
}

/// A worker process. Dropping it kills and reaps the process, and kills everything in its process group.
#[derive(Debug)]
pub struct Worker {
    child: Option<Child>,
    pid: u32,
    requests: Option<Sender<Vec<u8>>>,
    replies: Receiver<Event>,
    next_id: u64,
    log: PathBuf,
    /// Length of the log file when this worker was started.
    log_start: u64,
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line(line) => write!(f, "Line({} bytes)", line.len()),
            Self::TooLong(_) => f.write_str("TooLong"),
            Self::End => f.write_str("End"),
        }
    }
}

impl Worker {
    /// Starts `exe` with `args` (usually `["worker"]`) in a process group of its own. Its standard error is
    /// appended to `log`, and `env` is added to its environment.
    ///
    /// # Errors
    /// [`WorkerError::Io`] if the program cannot be started or the log cannot be opened.
    pub fn spawn(
        exe: &Path,
        args: &[&str],
        log: &Path,
        env: &[(OsString, OsString)],
    ) -> Result<Self, WorkerError> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(log)
            .map_err(|source| WorkerError::Io { action: format!("open {}", log.display()), source })?;
        let log_start = file.metadata().map_or(0, |metadata| metadata.len());
        let mut command = Command::new(exe);
        command
            .args(args)
            .envs(env.iter().map(|(key, value)| (key.as_os_str(), value.as_os_str())))
            // Embedded engines print timestamps in the time zone of their process, which must not depend on
            // the user's shell.
            .env("TZ", "UTC")
            .env(PARENT_VARIABLE, OsStr::new(&std::process::id().to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(file)
            .process_group(0);

        let (sender, replies) = sync_channel(64);
        let (start_sender, start_receiver) = channel();
        // The kernel sends the parent-death signal when the *thread* that started the child ends. Therefore
        // the child is started by the thread that reads its output and lives as long as the worker; the
        // caller's thread may end earlier.
        std::thread::Builder::new()
            .name("worker-output".into())
            .spawn(move || run_child(command, &start_sender, &sender))
            .map_err(|source| WorkerError::Io { action: "start a thread".into(), source })?;
        let spawned =
            start_receiver.recv().unwrap_or_else(|_| Err(io::Error::other("the starting thread ended")));
        let (child, stdin) = spawned
            .map_err(|source| WorkerError::Io { action: format!("start {}", exe.display()), source })?;
        let mut worker = Self {
            pid: child.id(),
            child: Some(child),
            requests: None,
            replies,
            next_id: 1,
            log: log.to_owned(),
            log_start,
        };

        let (requests, lines) = channel::<Vec<u8>>();
        // Requests are written by a separate thread: a stopped worker would block a request that is longer
        // than the pipe, and with it every check of the limits.
        std::thread::Builder::new()
            .name("worker-input".into())
            .spawn(move || write_lines(stdin, &lines))
            .map_err(|source| WorkerError::Io { action: "start a thread".into(), source })?;
        worker.requests = Some(requests);
        Ok(worker)
    }

    /// Process id of the worker. It stays reserved until the worker is reaped.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns `true` if the worker can still answer requests.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.child.is_some()
    }

    /// Sends `op` and waits for the answer, at most `limit`. Checks `cancelled` at least every 50 ms and
    /// passes progress messages to `progress`.
    ///
    /// # Errors
    /// [`WorkerError::RequestFailed`] if the request failed and the worker is still usable. After any other
    /// error the worker is dead.
    pub fn request<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        limit: Duration,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<R, WorkerError> {
        let started = Instant::now();
        let id = self.send(op)?;
        loop {
            if cancelled() {
                self.kill();
                return Err(WorkerError::Cancelled);
            }
            let remaining = limit.saturating_sub(started.elapsed());
            if remaining.is_zero() {
                self.kill();
                return Err(WorkerError::TimedOut { limit, last_words: self.last_words() });
            }
            let event = match self.replies.recv_timeout(remaining.min(CANCEL_INTERVAL)) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => Event::End,
            };
            match event {
                Event::Line(line) => {
                    let text = std::str::from_utf8(&line).ok();
                    let Some(reply) = text.and_then(|text| serde_json::from_str::<Reply<'_>>(text).ok())
                    else {
                        return Err(self.protocol_error(excerpt(&line)));
                    };
                    if reply.id != id {
                        return Err(self.protocol_error(excerpt(&line)));
                    }
                    match (reply.ok, reply.error, reply.progress) {
                        (Some(body), None, None) => {
                            return serde_json::from_str(body.get()).map_err(|error| {
                                self.protocol_error(format!("{error} in {}", excerpt(&line)))
                            });
                        }
                        (None, Some(failure), None) => {
                            return Err(WorkerError::RequestFailed {
                                kind: failure.kind,
                                message: failure.message,
                            });
                        }
                        (None, None, Some(message)) => progress(message),
                        _ => return Err(self.protocol_error(excerpt(&line))),
                    }
                }
                Event::TooLong(start) => {
                    let line = format!("a line longer than {LINE_LIMIT} bytes: {}", excerpt(&start));
                    return Err(self.protocol_error(line));
                }
                Event::End => return Err(self.ended(limit.saturating_sub(started.elapsed()))),
            }
        }
    }

    /// Asks the worker to close its session and to exit, and waits for both, at most `limit` in all. Kills
    /// the worker if it does not.
    ///
    /// # Errors
    /// As [`Worker::request`]; also [`WorkerError::Crashed`] if the worker exits without success.
    pub fn close(&mut self, limit: Duration) -> Result<CloseReply, WorkerError> {
        let started = Instant::now();
        let closed: CloseReply = match self.request(&Op::Close, limit, &|| false, &mut |_| {}) {
            Ok(closed) => closed,
            Err(error) => {
                self.kill();
                return Err(error);
            }
        };
        self.requests = None;
        match self.wait(limit.saturating_sub(started.elapsed())) {
            Some(status) if status.success() => Ok(closed),
            Some(status) => Err(WorkerError::Crashed { status, last_words: self.last_words() }),
            None => {
                self.kill();
                Err(WorkerError::TimedOut { limit, last_words: self.last_words() })
            }
        }
    }

    /// Kills and reaps the worker and kills its process group. Does nothing if the worker is dead.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // The group is killed before its leader is reaped, because until then no other process can get
            // its id.
            kill_group(self.pid);
            // Waiting cannot fail for a child that only this code reaps, and a failure could not be handled.
            child.wait().ok();
        }
        // Last, because a worker whose input ends starts an orderly shutdown and would be killed in the
        // middle of it.
        self.requests = None;
    }

    fn send(&mut self, op: &Op) -> Result<u64, WorkerError> {
        let Some(requests) = &self.requests else {
            return Err(WorkerError::Ended);
        };
        let id = self.next_id;
        self.next_id += 1;
        let mut line = serde_json::to_vec(&Request { id, op: op.clone() })
            .map_err(|error| WorkerError::Io { action: "write a request".into(), source: error.into() })?;
        line.push(b'\n');
        // If the writing thread is gone, so is the worker; the end of its output is then reported with its
        // exit status.
        requests.send(line).ok();
        Ok(id)
    }

    fn protocol_error(&mut self, line: String) -> WorkerError {
        self.kill();
        WorkerError::Protocol { line }
    }

    /// Handles the end of the worker's output. Normally the worker has died, but it may also have closed its
    /// output and live on.
    fn ended(&mut self, time_limit: Duration) -> WorkerError {
        match self.wait(time_limit.min(Duration::from_secs(2))) {
            Some(status) => WorkerError::Crashed { status, last_words: self.last_words() },
            None => self.protocol_error("it closed its output and kept running".into()),
        }
    }

    /// Waits for the process to end by itself and then kills the rest of its group. `None` if it does not end
    /// in time.
    fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let started = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            // The check must not reap the process: the group's id would be free before the group is killed.
            let is_over = has_ended(self.pid);
            if is_over {
                kill_group(self.pid);
                let mut child = self.child.take()?;
                self.requests = None;
                return child.wait().ok();
            }
            if started.elapsed() >= limit {
                return None;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }

    /// Returns the end of what this worker wrote to its log, at most [`LAST_WORDS`] bytes.
    fn last_words(&self) -> String {
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&self.log)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(self.log_start.max(length.saturating_sub(LAST_WORDS))))?;
            let mut bytes = Vec::new();
            file.take(LAST_WORDS).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        // An unreadable log must not hide how the worker ended.
        String::from_utf8_lossy(&read().unwrap_or_default()).trim().to_owned()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

fn kill_group(pid: u32) {
    if let Some(group) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // Fails only if the group is empty.
        rustix::process::kill_process_group(group, Signal::KILL).ok();
    }
}

/// Returns `true` if the child has ended. Does not reap it.
fn has_ended(pid: u32) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return true;
    };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}

fn excerpt(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(EXCERPT_LENGTH * 4)]);
    let mut excerpt: String = text.chars().take(EXCERPT_LENGTH).collect();
    if excerpt.len() < line.len() {
        excerpt.push('…');
    }
    excerpt
}

type SpawnResult = io::Result<(Child, ChildStdin)>;

fn run_child(mut command: Command, start_sender: &Sender<SpawnResult>, events: &SyncSender<Event>) {
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            // The receiver waits for exactly this message.
            start_sender.send(Err(error)).ok();
            return;
        }
    };
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        start_sender.send(Err(io::Error::other("the child has no pipes"))).ok();
        return;
    };
    start_sender.send(Ok((child, stdin))).ok();
    let mut reader = BufReader::with_capacity(1 << 16, stdout);
    loop {
        let event = read_line(&mut reader, LINE_LIMIT);
        let is_last = !matches!(event, Event::Line(_));
        // The receiver is gone if the worker was dropped, and then the process is dead.
        if events.send(event).is_err() || is_last {
            return;
        }
    }
}

/// Reads a line without its newline. Text without a newline at the end was cut off by the end of the process
/// and is discarded.
fn read_line(reader: &mut impl BufRead, limit: usize) -> Event {
    let mut line = Vec::new();
    loop {
        let block = match reader.fill_buf() {
            Ok(block) => block,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return Event::End,
        };
        if block.is_empty() {
            return Event::End;
        }
        let newline = memchr::memchr(b'\n', block);
        let end = newline.unwrap_or(block.len());
        line.extend_from_slice(&block[..end]);
        reader.consume(newline.map_or(end, |position| position + 1));
        if line.len() > limit {
            return Event::TooLong(line);
        }
        if newline.is_some() {
            return Event::Line(line);
        }
    }
}

fn write_lines(mut stdin: ChildStdin, lines: &Receiver<Vec<u8>>) {
    while let Ok(line) = lines.recv() {
        if stdin.write_all(&line).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_at_its_newline_and_a_torn_one_is_none() {
        let mut input: &[u8] = b"first\n\nsecond";
        assert!(matches!(read_line(&mut input, 100), Event::Line(line) if line == b"first"));
        assert!(matches!(read_line(&mut input, 100), Event::Line(line) if line.is_empty()));
        assert!(matches!(read_line(&mut input, 100), Event::End));
    }

    #[test]
    fn a_line_over_the_limit_is_not_gathered_whole() {
        let input = vec![b'x'; 1 << 20];
        let mut reader = BufReader::with_capacity(1 << 10, input.as_slice());
        let Event::TooLong(start) = read_line(&mut reader, 5000) else { panic!("not too long") };
        assert!(start.len() > 5000 && start.len() <= 5000 + (1 << 10));
    }

    #[test]
    fn what_is_shown_of_a_line_is_short_and_whole_characters() {
        let line = "é".repeat(1000);
        let excerpt = excerpt(line.as_bytes());
        assert_eq!(excerpt.chars().count(), EXCERPT_LENGTH + 1);
        assert!(excerpt.ends_with('…'));
        assert_eq!(super::excerpt(b"short"), "short");
    }
}
