//! The coordinator's side of a worker: start it, ask it, outlive it.

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

use crate::protocol::{Closed, FailureKind, Op, Progress, Reply, Request};
use crate::{LINE_LIMIT, PARENT_VARIABLE};

/// Longest time between two looks at whether the caller wants to stop.
const CANCEL_INTERVAL: Duration = Duration::from_millis(50);

/// How much of a worker's log is kept as its last words, bytes.
const LAST_WORDS: u64 = 4096;

/// How much of a line out of protocol is shown, characters.
const SHOWN: usize = 200;

/// Why a worker did not answer. After every kind but [`WorkerError::Refused`] the worker is dead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The process ended before it answered.
    #[error("the worker ended ({status}) before it answered{}", last_words_of(last_words))]
    Crashed {
        /// How it ended.
        status: ExitStatus,
        /// The end of its log.
        last_words: String,
    },
    /// No answer within the limit; the worker was killed.
    #[error("the worker gave no answer within {limit:?} and was killed{}", last_words_of(last_words))]
    TimedOut {
        /// The limit.
        limit: Duration,
        /// The end of its log.
        last_words: String,
    },
    /// Something that is not the protocol; the worker was killed.
    #[error("the worker answered out of protocol and was killed: {line}")]
    Protocol {
        /// What it wrote (its beginning), or what was wrong.
        line: String,
    },
    /// The request failed; the worker goes on.
    #[error("{message}")]
    Refused {
        /// What kind of failure.
        kind: FailureKind,
        /// The system's message, or the driver's advice.
        message: String,
    },
    /// The caller wanted to stop; the worker was killed.
    #[error("cancelled")]
    Cancelled,
    /// The worker has ended in an earlier request; start another one.
    #[error("the worker has ended; start another one")]
    Ended,
    /// The worker could not be started, or its log not be written.
    #[error("failed to {action}: {source}")]
    Io {
        /// What was being done.
        action: String,
        /// The operating system's own words.
        source: io::Error,
    },
}

fn last_words_of(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("; its last words: {words}") }
}

/// What the thread that reads from the worker passes on.
enum Event {
    Line(Vec<u8>),
    TooLong(Vec<u8>),
    End,
}

/// A worker process. Dropping it kills it and everything it started, and reaps it.
#[derive(Debug)]
pub struct Worker {
    child: Option<Child>,
    pid: u32,
    requests: Option<Sender<Vec<u8>>>,
    replies: Receiver<Event>,
    next_id: u64,
    log: PathBuf,
    /// Where this worker's part of the log begins.
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
    /// Starts `exe` with `args` (usually `["worker"]`) in a process group of its own, its standard error
    /// appended to `log`, and `env` added to the environment.
    ///
    /// # Errors
    /// [`WorkerError::Io`] when the program cannot be started or the log not be opened.
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
            // Engines in the worker show moments in the zone of their process, which is no matter of whose shell it is.
            .env("TZ", "UTC")
            .env(PARENT_VARIABLE, OsStr::new(&std::process::id().to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(file)
            .process_group(0);

        let (sender, replies) = sync_channel(64);
        let (started, start) = channel();
        // The kernel's parent-death signal follows the *thread* that started the child, so the thread
        // that starts it must live as long as the worker: the one that reads from it does, and the
        // caller's may not.
        std::thread::Builder::new()
            .name("worker-output".into())
            .spawn(move || run_child(command, &started, &sender))
            .map_err(|source| WorkerError::Io { action: "start a thread".into(), source })?;
        let spawned = start.recv().unwrap_or_else(|_| Err(io::Error::other("the starting thread ended")));
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
        // Written by a thread, because a stopped worker would block a request longer than the pipe and
        // with it every look at limits.
        std::thread::Builder::new()
            .name("worker-input".into())
            .spawn(move || write_lines(stdin, &lines))
            .map_err(|source| WorkerError::Io { action: "start a thread".into(), source })?;
        worker.requests = Some(requests);
        Ok(worker)
    }

    /// The process id; it stays reserved until the worker is reaped.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether the worker can still be asked.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.child.is_some()
    }

    /// Sends `op` and waits for its answer, at most `limit`, looking at `cancelled` at least every 50 ms
    /// and passing every sign of life to `progress`.
    ///
    /// # Errors
    /// [`WorkerError::Refused`] when the request failed and the worker goes on; everything else means
    /// that the worker is dead.
    pub fn request<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        limit: Duration,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<R, WorkerError> {
        let begun = Instant::now();
        let id = self.send(op)?;
        loop {
            if cancelled() {
                self.kill();
                return Err(WorkerError::Cancelled);
            }
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                self.kill();
                return Err(WorkerError::TimedOut { limit, last_words: self.last_words() });
            }
            let event = match self.replies.recv_timeout(left.min(CANCEL_INTERVAL)) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => Event::End,
            };
            match event {
                Event::Line(line) => {
                    let text = std::str::from_utf8(&line).ok();
                    let Some(reply) = text.and_then(|text| serde_json::from_str::<Reply<'_>>(text).ok())
                    else {
                        return Err(self.out_of_protocol(shown(&line)));
                    };
                    if reply.id != id {
                        return Err(self.out_of_protocol(shown(&line)));
                    }
                    match (reply.ok, reply.error, reply.progress) {
                        (Some(body), None, None) => {
                            return serde_json::from_str(body.get()).map_err(|error| {
                                self.out_of_protocol(format!("{error} in {}", shown(&line)))
                            });
                        }
                        (None, Some(failure), None) => {
                            return Err(WorkerError::Refused {
                                kind: failure.kind,
                                message: failure.message,
                            });
                        }
                        (None, None, Some(sign)) => progress(sign),
                        _ => return Err(self.out_of_protocol(shown(&line))),
                    }
                }
                Event::TooLong(start) => {
                    let line = format!("a line longer than {LINE_LIMIT} bytes: {}", shown(&start));
                    return Err(self.out_of_protocol(line));
                }
                Event::End => return Err(self.ended(limit.saturating_sub(begun.elapsed()))),
            }
        }
    }

    /// Asks the worker to close its session and end, and waits for both, at most `limit`; kills it when
    /// it does not.
    ///
    /// # Errors
    /// As [`Worker::request`]; also when it ended otherwise than with success.
    pub fn close(&mut self, limit: Duration) -> Result<Closed, WorkerError> {
        let begun = Instant::now();
        let closed: Closed = match self.request(&Op::Close, limit, &|| false, &mut |_| {}) {
            Ok(closed) => closed,
            Err(error) => {
                self.kill();
                return Err(error);
            }
        };
        self.requests = None;
        match self.wait(limit.saturating_sub(begun.elapsed())) {
            Some(status) if status.success() => Ok(closed),
            Some(status) => Err(WorkerError::Crashed { status, last_words: self.last_words() }),
            None => {
                self.kill();
                Err(WorkerError::TimedOut { limit, last_words: self.last_words() })
            }
        }
    }

    /// Kills the worker and everything in its process group, and reaps it. Does nothing when it is dead.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // The group is killed before its leader is reaped: until then its id cannot belong to others.
            kill_group(self.pid);
            // Waiting cannot fail for a child that nobody else reaps, and there is nothing to be done.
            child.wait().ok();
        }
        // Only now: a worker whose input ends begins to close in order, and would be killed in the middle of it.
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
        // A writer that is gone means a worker that is gone, which the reader's end tells with its status.
        requests.send(line).ok();
        Ok(id)
    }

    fn out_of_protocol(&mut self, line: String) -> WorkerError {
        self.kill();
        WorkerError::Protocol { line }
    }

    /// Its output has ended: normally because it died, but a worker may also have closed it and live on.
    fn ended(&mut self, left: Duration) -> WorkerError {
        match self.wait(left.min(Duration::from_secs(2))) {
            Some(status) => WorkerError::Crashed { status, last_words: self.last_words() },
            None => self.out_of_protocol("it closed its output and went on".into()),
        }
    }

    /// Waits for the process to end by itself, and then ends what else is in its group.
    fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let begun = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            // Looking must not reap yet, or the group's id would be free before the group is killed.
            let ended = has_ended(self.pid);
            if ended {
                kill_group(self.pid);
                let mut child = self.child.take()?;
                self.requests = None;
                return child.wait().ok();
            }
            if begun.elapsed() >= limit {
                return None;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }

    /// The end of what this worker wrote to its log.
    fn last_words(&self) -> String {
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&self.log)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(self.log_start.max(length.saturating_sub(LAST_WORDS))))?;
            let mut bytes = Vec::new();
            file.take(LAST_WORDS).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        // A log that cannot be read must not hide how the worker ended.
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
        // It fails only when nobody is left in the group.
        rustix::process::kill_process_group(group, Signal::KILL).ok();
    }
}

/// Whether the child has ended, without reaping it.
fn has_ended(pid: u32) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return true;
    };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}

fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(SHOWN * 4)]);
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    shown
}

type Started = io::Result<(Child, ChildStdin)>;

fn run_child(mut command: Command, started: &Sender<Started>, events: &SyncSender<Event>) {
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            // The receiver waits for exactly this message.
            started.send(Err(error)).ok();
            return;
        }
    };
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        started.send(Err(io::Error::other("the child has no pipes"))).ok();
        return;
    };
    started.send(Ok((child, stdin))).ok();
    let mut reader = BufReader::with_capacity(1 << 16, stdout);
    loop {
        let event = read_line(&mut reader, LINE_LIMIT);
        let last = !matches!(event, Event::Line(_));
        // Nobody listens any more when the worker was dropped, and then it is dead.
        if events.send(event).is_err() || last {
            return;
        }
    }
}

/// Reads a line without its newline. What ends without a newline was cut by the end of the process and
/// is nobody's answer.
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
        reader.consume(newline.map_or(end, |at| at + 1));
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
        let shown = shown(line.as_bytes());
        assert_eq!(shown.chars().count(), SHOWN + 1);
        assert!(shown.ends_with('…'));
        assert_eq!(super::shown(b"short"), "short");
    }
}
