//! Name of the control in a run's records: fixed CPU and memory kernels that are timed in every round.

/// System name and step of the control's trials.
pub const CONTROL: &str = "control";
