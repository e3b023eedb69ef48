//! Paths of the document values that each operation reads and sets; they are the same for every system.

use jsonathlon_dataset::own_records::OwnRecords;
use jsonathlon_dataset::records::{Kind, RecordSet};
use serde::{Deserialize, Serialize};

use crate::operation::Operation;

/// Selection of the values that a read-paths operation asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Projection {
    /// Number of values: at least 1, and at most as many as the document has to offer.
    pub count: u32,
    /// Position of the values in the document.
    pub position: Position,
}

impl Default for Projection {
    fn default() -> Self {
        Self { count: 3, position: Position::Spread }
    }
}

/// Position in a document of the values that a read-paths operation asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// The first values of the document.
    First,
    /// Values at even distances, from the first to the last; a single value is the middle one.
    #[default]
    Spread,
    /// The last values of the document.
    Last,
}

impl Position {
    /// Name of the position in files and tables, for example `spread`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Spread => "spread",
            Self::Last => "last",
        }
    }
}

impl Projection {
    /// Selected indexes out of 0 to `last` inclusive, in ascending order.
    fn indexes(self, last: usize) -> Vec<usize> {
        let count = (self.count as usize).clamp(1, last + 1);
        match self.position {
            Position::First => (0..count).collect(),
            Position::Last => (last + 1 - count..=last).collect(),
            Position::Spread if count == 1 => vec![last / 2],
            Position::Spread => (0..count).map(|index| index * last / (count - 1)).collect(),
        }
    }
}

/// Selects the values that read-paths asks for over own documents, as indexes into [`OwnRecords::paths`].
/// Empty if the documents have no scalar path in common.
#[must_use]
pub fn own_projection(records: &OwnRecords, projection: Projection) -> Vec<usize> {
    records.paths.len().checked_sub(1).map_or_else(Vec::new, |last| projection.indexes(last))
}

/// Paths that the operations use, as indexes into [`RecordSet::paths`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// Path that update and read-modify-write set: the first one.
    pub field: usize,
    /// Path that update-path sets: the last but one, which is as deep as any.
    pub nested: usize,
    /// Path that update-element sets: the value of the element in the middle of the array. 0 if the documents
    /// have no elements.
    pub element: usize,
    /// Path whose value find and count search for: the last one.
    pub condition: usize,
    /// Paths that read-paths asks for, in document order and none after `nested`. [`Projection::position`]
    /// selects them.
    pub projected: Vec<usize>,
}

impl Paths {
    /// Selects the paths for the documents of a record set.
    #[must_use]
    pub fn select(set: &RecordSet, projection: Projection) -> Self {
        let condition = set.group_path();
        // Never the path that searches use: updating its value would move the record to another group.
        let nested = condition.saturating_sub(1);
        let element = match set.records().kind {
            Kind::Items { members } => (members as usize) / 2,
            _ => 0,
        };
        Self { field: 0, nested, element, condition, projected: projection.indexes(nested) }
    }

    /// Selects the paths for own documents: `projected` are indexes into [`OwnRecords::paths`], and all
    /// others are unused, because writes set the update path.
    #[must_use]
    pub fn select_own(records: &OwnRecords, projection: Projection) -> Self {
        let projected = own_projection(records, projection);
        Self { field: 0, nested: 0, element: 0, condition: 0, projected }
    }

    /// Path whose value an operation sets. `None` if the operation sets no value or all values.
    #[must_use]
    pub fn path_set_by(&self, operation: Operation) -> Option<usize> {
        match operation {
            Operation::Update | Operation::ReadModifyWrite => Some(self.field),
            Operation::UpdatePath => Some(self.nested),
            Operation::UpdateElement => Some(self.element),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_asked_for_where_they_are_wanted() {
        let indexes = |count, position| Projection { count, position }.indexes(98);
        assert_eq!(Projection::default().indexes(98), [0, 49, 98]);
        assert_eq!((indexes(1, Position::First), indexes(1, Position::Last)), (vec![0], vec![98]));
        assert_eq!(indexes(1, Position::Spread), [49]);
        assert_eq!(indexes(3, Position::Last), [96, 97, 98]);
        assert_eq!(indexes(9, Position::Spread).len(), 9);
        assert_eq!(Projection { count: 9, position: Position::Spread }.indexes(1), [0, 1]);
        assert_eq!(Projection { count: 9, position: Position::Last }.indexes(0), [0]);
    }
}
