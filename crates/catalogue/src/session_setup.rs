//! How a session is opened: what the engine starts with, and what runs before the first request.

use std::collections::BTreeMap;

use serde::Serialize;

/// Settings and statements that set up a session of the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionSetup {
    /// Settings that the engine starts with, by name.
    pub settings: BTreeMap<String, String>,
    /// Statements to run right after connecting, in this order.
    pub statements: Vec<String>,
}
