//! What a worker hands on: many clients at work on the session's system.

use jsonathlon_connection::driver::{Host, Open, Place};
use serde_json::Value;

use crate::protocol::{Failure, Progress};

/// The system that clients work on.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// How its connections are opened.
    pub open: &'a Open,
    /// Where it is.
    pub place: Place,
    /// What surrounds its drivers.
    pub host: &'a Host,
}

/// Lets clients work. Jobs and answers are JSON of which the worker knows nothing else.
pub trait Drive {
    /// Does one job. What it learns about the system may be kept for the next one.
    ///
    /// # Errors
    /// Why it was not done.
    fn drive(
        &mut self,
        job: &Value,
        on: &Subject<'_>,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Value, Failure>;
}
