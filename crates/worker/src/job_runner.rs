//! Interface to the clients that work on a session's system. The crate of the clients implements it.

use jsonathlon_driver_api::driver::{DriverContext, EngineLocation, SessionOptions};
use serde_json::Value;

use crate::protocol::{Failure, Progress};

/// System that clients work on, as the worker's session opened it.
#[derive(Debug, Clone, Copy)]
pub struct JobTarget<'a> {
    /// Options for opening further connections.
    pub open: &'a SessionOptions,
    /// Process in which the engine runs, for measuring usage.
    pub location: EngineLocation,
    /// Clock and output stream of the worker.
    pub host: &'a DriverContext,
}

/// Runs jobs of clients. Jobs and answers are JSON that the worker does not interpret.
pub trait JobRunner {
    /// Runs one job. State about the data may be kept for the next job.
    ///
    /// # Errors
    /// If the job is invalid or could not be run.
    fn drive(
        &mut self,
        job: &Value,
        target: &JobTarget<'_>,
        report_progress: &mut dyn FnMut(Progress),
    ) -> Result<Value, Failure>;
}
