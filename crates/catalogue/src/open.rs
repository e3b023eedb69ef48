//! Settings and statements with which a session is opened.

use std::collections::BTreeMap;

use serde::Serialize;

/// Settings and statements with which a session of the engine is opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenSettings {
    /// Settings that the engine starts with, by name.
    pub settings: BTreeMap<String, String>,
    /// Statements to run right after connecting, in this order.
    pub statements: Vec<String>,
}
