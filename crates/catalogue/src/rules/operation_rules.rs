//! What a folder states about one operation of the serving workload.

use serde::{Deserialize, Serialize};

/// Requirements on the plan of one operation, and declarations about its statements.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationRules {
    /// Regular expressions that must match the text of the plan.
    pub expect: Vec<String>,
    /// Regular expressions that must not match the text of the plan.
    pub forbid: Vec<String>,
    /// Statement whose plan is checked. `None`: one of the operation's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Whether answers may be older than the last acknowledged write.
    #[serde(default)]
    pub may_be_stale: bool,
    /// Whether the statements of the operation are one transaction, if it has several. `None` if not stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactional: Option<bool>,
    /// Statement that undoes earlier statements of the operation if a later one fails. `None`: nothing is
    /// undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// Columns that one statement of the operation returns and a later one holds as placeholders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<String>,
    /// For `read_paths`: expression of one path; all of them are joined by commas into `{{paths}}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// For `read_paths`: how the answer identifies one path; all of them are joined by commas into
    /// `{{columns}}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Remark for readers of a report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl OperationRules {
    /// Describes each requirement that the text of a plan does not meet. Empty if it meets all of them.
    pub fn violations(&self, plan: &str) -> Vec<String> {
        let Self { expect, forbid, .. } = self;
        super::violations(expect, forbid, plan)
    }
}
