//! Reference rows: size of the documents under common compressions, without a database.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use flate2::Compression;
use flate2::write::GzEncoder;
use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
use serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::source::Block;

/// Maximum number of blocks queued per compressor, which bounds the memory used.
const QUEUE_LENGTH: usize = 4;

/// Sizes of the documents in bytes: as newline-delimited JSON and compressed as one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReferenceSizes {
    /// Size of the newline-delimited JSON without compression.
    pub raw: u64,
    /// Size under gzip level 6: one member, 32 KiB window.
    pub gzip6: u64,
    /// Size as an LZ4 frame at the fast level: independent 4 MiB blocks, no checksums.
    pub lz4: u64,
    /// Size under zstd level 1: one frame, 512 KiB window, no checksum.
    pub zstd1: u64,
}

/// Description of the compression settings, for a report's footnote.
pub const COMPRESSIONS: &str = "one stream each: gzip level 6 (32 KiB window), LZ4 frame fast level (independent 4 MiB blocks), zstd level 1 (512 KiB window)";

/// Running compressors, each on its own thread.
pub(super) struct Compressors {
    workers: Vec<Worker>,
    stop: Arc<AtomicBool>,
    raw: u64,
}

struct Worker {
    blocks: SyncSender<Arc<Block>>,
    thread: JoinHandle<io::Result<u64>>,
}

impl Compressors {
    /// Starts one thread per compression.
    pub(super) fn start() -> Result<Self, DataError> {
        let stop = Arc::new(AtomicBool::new(false));
        let compress: [fn(Blocks) -> io::Result<u64>; 3] = [gzip, lz4, zstd];
        let workers = compress
            .into_iter()
            .map(|compress| {
                let (blocks, receiver) = sync_channel(QUEUE_LENGTH);
                let receiver = Blocks { receiver, stop: Arc::clone(&stop) };
                let thread = std::thread::Builder::new()
                    .name("compression".to_string())
                    .spawn(move || compress(receiver))
                    .map_err(|_| DataError::Thread { thread: "compression" })?;
                Ok(Worker { blocks, thread })
            })
            .collect::<Result<_, DataError>>()?;
        Ok(Compressors { workers, stop, raw: 0 })
    }

    /// Passes a block to every compressor. Blocks while the slowest one's queue is full.
    pub(super) fn add(&mut self, block: &Arc<Block>) -> Result<(), DataError> {
        self.raw += block.bytes().len() as u64;
        for worker in &self.workers {
            let result = worker.blocks.send(Arc::clone(block));
            result.map_err(|_| DataError::Thread { thread: "compression" })?;
        }
        Ok(())
    }

    /// Like [`Self::add`], without the lines in `no_documents`, which are byte ranges of the block.
    pub(super) fn add_documents(
        &mut self,
        block: &Arc<Block>,
        no_documents: &[Range<usize>],
    ) -> Result<(), DataError> {
        match no_documents {
            [] => self.add(block),
            ranges => self.add(&Arc::new(block.without(ranges))),
        }
    }

    /// Waits until all queued blocks are compressed and returns the sizes.
    pub(super) fn finish(mut self) -> Result<ReferenceSizes, DataError> {
        let mut sizes = [0; 3];
        for (size, worker) in sizes.iter_mut().zip(self.workers.drain(..)) {
            drop(worker.blocks);
            *size = match worker.thread.join() {
                Ok(Ok(size)) => size,
                Ok(Err(_)) | Err(_) => return Err(DataError::Thread { thread: "compression" }),
            };
        }
        let [gzip6, lz4, zstd1] = sizes;
        Ok(ReferenceSizes { raw: self.raw, gzip6, lz4, zstd1 })
    }
}

/// Stops and joins the threads, so that cancelled staging leaves no work behind.
impl Drop for Compressors {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for worker in self.workers.drain(..) {
            drop(worker.blocks);
            // The result of a cancelled compressor is irrelevant.
            let _ = worker.thread.join();
        }
    }
}

/// Queue of blocks of one compressor.
struct Blocks {
    receiver: Receiver<Arc<Block>>,
    stop: Arc<AtomicBool>,
}

impl Blocks {
    fn write_to(self, encoder: &mut impl Write) -> io::Result<()> {
        for block in self.receiver {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            encoder.write_all(block.bytes())?;
        }
        Ok(())
    }
}

fn gzip(blocks: Blocks) -> io::Result<u64> {
    let mut encoder = GzEncoder::new(Counter(0), Compression::new(6));
    blocks.write_to(&mut encoder)?;
    Ok(encoder.finish()?.0)
}

fn lz4(blocks: Blocks) -> io::Result<u64> {
    let frame = FrameInfo::new().block_size(BlockSize::Max4MB).block_mode(BlockMode::Independent);
    let mut encoder = FrameEncoder::with_frame_info(frame, Counter(0));
    blocks.write_to(&mut encoder)?;
    Ok(encoder.finish().map_err(io::Error::other)?.0)
}

fn zstd(blocks: Blocks) -> io::Result<u64> {
    let mut encoder = zstd::stream::write::Encoder::new(Counter(0), 1)?;
    blocks.write_to(&mut encoder)?;
    Ok(encoder.finish()?.0)
}

/// Writer that counts bytes and discards them.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
