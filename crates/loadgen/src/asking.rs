//! What all streams that ask questions in a closed loop have in common, in mixed loads and beside serving.

use std::time::Duration;

use jsonathlon_driver_api::driver::DriverError;

use crate::random::Random;

/// Pause after a question without an answer, so that errors do not become the load.
pub(crate) const ERROR_DELAY: Duration = Duration::from_millis(10);
/// Memory in bytes that the answers of a job may take, estimated.
pub(crate) const MAX_ANSWER_BYTES: usize = 64 << 20;

/// Indices of a set's questions in the order of one stream, which the seed decides.
pub(crate) fn question_order(questions: usize, seed: u64, stream: u32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..questions).collect();
    let mut random = Random::new(seed, u64::from(stream));
    for last in (1..order.len()).rev() {
        let other = random.below(last as u64 + 1);
        order.swap(last, usize::try_from(other).unwrap_or(last));
    }
    order
}

/// Returns `true` if nothing can be asked any more on the connection with this error.
pub(crate) fn is_connection_lost(error: &DriverError) -> bool {
    matches!(error, DriverError::Crashed(_) | DriverError::Unavailable(_))
}
