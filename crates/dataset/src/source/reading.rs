//! Reads a source ahead on its own thread, so that a blocking network or pipe can be cancelled.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use super::{Block, Inputs, ReadProgress, Source};
use crate::error::DataError;

/// Number of blocks that are read ahead.
const AHEAD: usize = 2;
/// Interval at which the cancellation callback is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// A message of the reading thread.
pub(crate) enum ReaderEvent {
    /// The source has been opened.
    Opened { plain_file: Option<PathBuf>, inputs: Inputs },
    /// The next documents, and the counts up to and including them.
    Read { block: Block, tally: ReadProgress },
    /// The end of the source. The counts include blank lines behind the last document.
    Ended { tally: ReadProgress },
}

/// Receiving end of a source that is being read by another thread.
pub(crate) struct ReaderThread {
    events: Receiver<Result<ReaderEvent, DataError>>,
    used: Sender<Block>,
}

impl ReaderThread {
    /// Starts the reading thread.
    ///
    /// The thread is not joined when the [`ReaderThread`] is dropped, because it may block on its input
    /// indefinitely. It ends at its next block.
    pub(crate) fn start(source: Source) -> Result<Self, DataError> {
        let (sender, events) = sync_channel(AHEAD);
        let (used, returned) = channel();
        std::thread::Builder::new()
            .name("reading".to_string())
            .spawn(move || {
                if let Err(error) = read(&source, &sender, &returned) {
                    // After a cancellation the receiver no longer exists.
                    let _ = sender.send(Err(error));
                }
            })
            .map_err(|_| DataError::Thread { thread: "reading" })?;
        Ok(ReaderThread { events, used })
    }

    /// Waits for the next step. Fails with [`DataError::Cancelled`] as soon as `cancelled` returns `true`.
    pub(crate) fn next(&self, cancelled: &dyn Fn() -> bool) -> Result<ReaderEvent, DataError> {
        loop {
            if cancelled() {
                return Err(DataError::Cancelled);
            }
            match self.events.recv_timeout(POLL_INTERVAL) {
                Ok(event) => return event,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(DataError::Thread { thread: "reading" }),
            }
        }
    }

    /// Returns a block's memory to the reading thread, unless the block is still shared.
    pub(crate) fn give_back(&self, block: Arc<Block>) {
        if let Ok(block) = Arc::try_unwrap(block) {
            // If the thread has already ended, the memory is freed.
            let _ = self.used.send(block);
        }
    }
}

fn read(
    source: &Source,
    events: &SyncSender<Result<ReaderEvent, DataError>>,
    returned: &Receiver<Block>,
) -> Result<(), DataError> {
    let mut lines = source.open()?;
    let opened =
        ReaderEvent::Opened { plain_file: lines.plain_file().map(PathBuf::from), inputs: lines.inputs() };
    let mut is_open = events.send(Ok(opened)).is_ok();
    while is_open {
        let mut block = returned.try_recv().unwrap_or_default();
        let has_block = lines.next_block(&mut block)?;
        let tally = lines.tally();
        let event = if has_block { ReaderEvent::Read { block, tally } } else { ReaderEvent::Ended { tally } };
        is_open = events.send(Ok(event)).is_ok() && has_block;
    }
    Ok(())
}
