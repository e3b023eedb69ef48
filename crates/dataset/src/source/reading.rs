//! The source on a thread of its own: it reads ahead, and its waiting for a network or a pipe can be broken off.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use super::{Block, Source, Tally};
use crate::error::DataError;
use crate::left_out::LeftOut;

/// How many blocks are read ahead.
const AHEAD: usize = 2;
/// How often the caller is asked whether to go on.
const ASKED: Duration = Duration::from_millis(25);

/// What the reading thread has to tell.
pub(crate) enum Step {
    /// The source is open.
    Opened { plain_file: Option<PathBuf>, left_out: Vec<LeftOut>, inputs: Vec<Arc<str>> },
    /// The next documents, and the counts up to and with them.
    Read { block: Block, tally: Tally },
    /// There are no more documents; the counts include blank lines behind the last one.
    Ended { tally: Tally },
}

/// A source that is being read.
pub(crate) struct Reading {
    steps: Receiver<Result<Step, DataError>>,
    used: Sender<Block>,
}

impl Reading {
    /// Begins to read.
    ///
    /// The thread is not waited for when the reading is given up, since it may be blocked for as long as a peer likes; it
    /// ends at its next block.
    pub(crate) fn start(source: Source) -> Result<Self, DataError> {
        let (sender, steps) = sync_channel(AHEAD);
        let (used, spare) = channel();
        std::thread::Builder::new()
            .name("reading".to_string())
            .spawn(move || {
                if let Err(error) = read(&source, &sender, &spare) {
                    // Nobody listens any more after a cancellation.
                    let _ = sender.send(Err(error));
                }
            })
            .map_err(|_| DataError::Thread { thread: "reading" })?;
        Ok(Reading { steps, used })
    }

    /// Waits for the next step, for as long as the caller has not cancelled.
    pub(crate) fn next(&self, cancelled: &dyn Fn() -> bool) -> Result<Step, DataError> {
        loop {
            if cancelled() {
                return Err(DataError::Cancelled);
            }
            match self.steps.recv_timeout(ASKED) {
                Ok(step) => return step,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(DataError::Thread { thread: "reading" }),
            }
        }
    }

    /// Lets a block's memory be used again, unless somebody still reads it.
    pub(crate) fn give_back(&self, block: Arc<Block>) {
        if let Ok(block) = Arc::try_unwrap(block) {
            // The thread may have ended by now, and then the memory is simply freed.
            let _ = self.used.send(block);
        }
    }
}

fn read(
    source: &Source,
    steps: &SyncSender<Result<Step, DataError>>,
    spare: &Receiver<Block>,
) -> Result<(), DataError> {
    let mut lines = source.open()?;
    let opened = Step::Opened {
        plain_file: lines.plain_file().map(PathBuf::from),
        left_out: lines.left_out().to_vec(),
        inputs: lines.inputs(),
    };
    let mut listening = steps.send(Ok(opened)).is_ok();
    while listening {
        let mut block = spare.try_recv().unwrap_or_default();
        let more = lines.next_block(&mut block)?;
        let tally = lines.tally();
        let step = if more { Step::Read { block, tally } } else { Step::Ended { tally } };
        listening = steps.send(Ok(step)).is_ok() && more;
    }
    Ok(())
}
