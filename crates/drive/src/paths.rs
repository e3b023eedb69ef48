//! Which values of a document operations read and set: the same in every system.

use jsonathlon_dataset::records::{Kind, RecordSet};
use serde::{Deserialize, Serialize};

use crate::operation::Operation;

/// Which values one read-paths asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Projection {
    /// How many, one at least; as many as there are where there are fewer.
    pub count: u32,
    /// Where in the document.
    pub position: Position,
}

impl Default for Projection {
    fn default() -> Self {
        Self { count: 3, position: Position::Spread }
    }
}

/// Where in a document the values lie that are asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// The first ones.
    First,
    /// At even distances, from the first to the last; the middle of one alone.
    #[default]
    Spread,
    /// The last ones.
    Last,
}

impl Position {
    /// The word used in files and tables.
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
    /// The places that are asked for, of those from 0 up to `last`, in order.
    fn places(self, last: usize) -> Vec<usize> {
        let count = (self.count as usize).clamp(1, last + 1);
        match self.position {
            Position::First => (0..count).collect(),
            Position::Last => (last + 1 - count..=last).collect(),
            Position::Spread if count == 1 => vec![last / 2],
            Position::Spread => (0..count).map(|place| place * last / (count - 1)).collect(),
        }
    }
}

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
    /// Asked for by read-paths, up to the last but one, since position matters.
    pub projected: Vec<usize>,
}

impl Paths {
    /// Those of documents of this set.
    #[must_use]
    pub fn of(set: &RecordSet, projection: Projection) -> Self {
        let condition = set.group_path();
        // Never the one that searches look for: an update of it would move the record to another group.
        let nested = condition.saturating_sub(1);
        let element = match set.records().kind {
            Kind::Items { members } => (members as usize) / 2,
            _ => 0,
        };
        Self { field: 0, nested, element, condition, projected: projection.places(nested) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_asked_for_where_they_are_wanted() {
        let places = |count, position| Projection { count, position }.places(98);
        assert_eq!(Projection::default().places(98), [0, 49, 98]);
        assert_eq!((places(1, Position::First), places(1, Position::Last)), (vec![0], vec![98]));
        assert_eq!(places(1, Position::Spread), [49]);
        assert_eq!(places(3, Position::Last), [96, 97, 98]);
        assert_eq!(places(9, Position::Spread).len(), 9);
        assert_eq!(Projection { count: 9, position: Position::Spread }.places(1), [0, 1]);
        assert_eq!(Projection { count: 9, position: Position::Last }.places(0), [0]);
    }
}
