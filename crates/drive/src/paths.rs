//! Which values of a document operations read and set: the same in every system.

use jsonathlon_dataset::records::{Kind, RecordSet};

use crate::operation::Operation;

/// Values that one read-paths asks for.
const PROJECTED: usize = 3;

/// The paths that operations use, by their places among [`RecordSet::paths`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// Set by update and read-modify-write.
    pub field: usize,
    /// Set by update-path: the last value but one, as deep as any.
    pub nested: usize,
    /// Set by update-element: that of the element in the middle of the array.
    pub element: usize,
    /// Looked for by find and count.
    pub condition: usize,
    /// Asked for by read-paths: the first, the last but one and what lies evenly between, since position matters.
    pub projected: Vec<usize>,
}

impl Paths {
    /// Those of documents of this set.
    #[must_use]
    pub fn of(set: &RecordSet) -> Self {
        let condition = set.group_path();
        // Never the one that searches look for: an update of it would move the record to another group.
        let nested = condition.saturating_sub(1);
        let element = match set.records().kind {
            Kind::Items { members } => (members as usize) / 2,
            _ => 0,
        };
        let between = |place: usize| place * nested / (PROJECTED - 1);
        Self { field: 0, nested, element, condition, projected: (0..PROJECTED).map(between).collect() }
    }

    /// The one that an operation sets; none for those that set none, or all.
    #[must_use]
    pub fn set_by(&self, operation: Operation) -> Option<usize> {
        match operation {
            Operation::Update | Operation::ReadModifyWrite => Some(self.field),
            Operation::UpdatePath => Some(self.nested),
            Operation::UpdateElement => Some(self.element),
            _ => None,
        }
    }
}
