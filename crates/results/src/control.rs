//! The control among a run's trials: fixed work of no system, timed in every round.

/// The system and the step by which its trials go.
pub const CONTROL: &str = "control";
