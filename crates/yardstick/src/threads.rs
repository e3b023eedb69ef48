//! Threads on which the yardstick answers questions.

use std::ops::Range;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Result, YardstickError};

/// Smallest chunk, in rows, that is worth handing to another thread.
const LEAST_ROWS: usize = 16 << 10;
/// Chunks per thread, so that one disturbed thread does not delay the whole answer.
const CHUNKS_PER_THREAD: usize = 2;

/// A thread pool, or only the caller's own thread.
#[derive(Debug)]
pub struct Threads {
    pool: Option<ThreadPool>,
    least_rows: usize,
}

impl Threads {
    /// Starts a pool of `threads` threads; with up to one, the caller's own thread is used without a pool.
    ///
    /// # Errors
    /// [`YardstickError::Threads`] if the threads cannot be started.
    pub fn new(threads: usize) -> Result<Self> {
        Self::with_least_rows(threads, LEAST_ROWS)
    }

    pub(super) fn with_least_rows(threads: usize, least_rows: usize) -> Result<Self> {
        let pool = if threads > 1 {
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(|number| format!("yardstick-{number}"))
                .build();
            Some(pool.map_err(|error| {
                YardstickError::Threads(format!("failed to start {threads} threads: {error}"))
            })?)
        } else {
            None
        };
        Ok(Self { pool, least_rows })
    }

    /// Number of threads; 1 without a pool.
    #[must_use]
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, ThreadPool::current_num_threads)
    }

    pub(super) fn pool(&self) -> Option<&ThreadPool> {
        self.pool.as_ref()
    }

    /// Calls `work` for each chunk of `rows` and returns the results in order; without a pool there is one
    /// chunk.
    pub(super) fn map<R: Send>(&self, rows: Range<usize>, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
        let Some(pool) = &self.pool else { return vec![work(rows)] };
        let chunk = rows.len().div_ceil(self.count() * CHUNKS_PER_THREAD).max(self.least_rows).max(1);
        if rows.len() <= chunk {
            return vec![work(rows)];
        }
        let starts: Vec<usize> = rows.clone().step_by(chunk).collect();
        let end = rows.end;
        pool.install(|| starts.into_par_iter().map(|start| work(start..end.min(start + chunk))).collect())
    }
}
