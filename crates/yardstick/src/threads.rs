//! On how many threads a question is answered.

use std::ops::Range;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};

/// Rows below which a chunk is not worth handing to another thread.
const LEAST_ROWS: usize = 16 << 10;
/// Chunks for each thread, so that one that is disturbed does not hold up all.
const CHUNKS_PER_THREAD: usize = 2;

/// One thread, which is the caller's own, or a pool.
#[derive(Debug)]
pub struct Threads {
    pool: Option<ThreadPool>,
    least_rows: usize,
}

impl Threads {
    /// As many threads as said. One is the caller's own, and then there is no pool at all.
    ///
    /// # Errors
    /// [`Error::Threads`] when threads cannot be started.
    pub fn new(threads: usize) -> Result<Self> {
        Self::with_least_rows(threads, LEAST_ROWS)
    }

    pub(super) fn with_least_rows(threads: usize, least_rows: usize) -> Result<Self> {
        let pool = if threads > 1 {
            let built = ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(|number| format!("yardstick-{number}"))
                .build();
            Some(
                built
                    .map_err(|error| Error::Threads(format!("failed to start {threads} threads: {error}")))?,
            )
        } else {
            None
        };
        Ok(Self { pool, least_rows })
    }

    /// How many threads there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, ThreadPool::current_num_threads)
    }

    pub(super) fn pool(&self) -> Option<&ThreadPool> {
        self.pool.as_ref()
    }

    /// What `work` gives for every chunk of `rows`, in order; one chunk for one thread.
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
