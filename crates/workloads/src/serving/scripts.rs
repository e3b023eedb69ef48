//! Prepares the statements of a configuration's folder for the operations of a mix.

use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_catalogue::{PathStep, ServingSetup};
use jsonathlon_dataset::{
    own_records::{OwnPath, OwnRecords, UpdateKind},
    records::{PathSegment, RecordSet},
};
use jsonathlon_loadgen::{
    job::OperationScript,
    mix::Mix,
    operation::Operation,
    paths::{Paths, Projection, own_projection},
};

use crate::{
    run_context::TABLE,
    session::{Session, TrialError, as_str_pairs},
};

/// Records whose paths statements name.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RecordPaths<'a> {
    /// Records that this program generates.
    Generated(&'a RecordSet),
    /// A user's own documents.
    Own(&'a OwnRecords),
}

impl RecordPaths<'_> {
    /// Path that an operation reads or sets; empty if there is none.
    pub(super) fn of_operation(self, operation: Operation, projection: Projection) -> Vec<PathStep> {
        let set = match self {
            Self::Generated(set) => set,
            Self::Own(records) => {
                return records.update.as_ref().map(|update| own_steps(&update.path)).unwrap_or_default();
            }
        };
        let paths = Paths::select(set, projection);
        let mut path = match operation {
            Operation::Find | Operation::Count => steps(set, paths.condition),
            Operation::Unwrap | Operation::UnwrapAll => steps(set, paths.element),
            _ => steps(set, paths.path_set_by(operation).unwrap_or(paths.field)),
        };
        if matches!(operation, Operation::Unwrap | Operation::UnwrapAll) {
            // The path of the array itself, without the last two steps into an element.
            path.truncate(path.len().saturating_sub(2));
        }
        path
    }

    /// Paths of the values that one read-paths asks for.
    pub(super) fn projected(self, projection: Projection) -> Vec<Vec<PathStep>> {
        match self {
            Self::Generated(set) => {
                Paths::select(set, projection).projected.iter().map(|index| steps(set, *index)).collect()
            }
            Self::Own(records) => {
                let indexes = own_projection(records, projection);
                indexes.into_iter().filter_map(|index| records.paths.get(index)).map(own_steps).collect()
            }
        }
    }

    /// Returns `true` if updates set integers instead of texts.
    fn sets_integers(self) -> bool {
        match self {
            Self::Generated(_) => false,
            Self::Own(records) => {
                records.update.as_ref().is_some_and(|update| update.kind == UpdateKind::Integer)
            }
        }
    }
}

/// Operations of a mix for which a configuration has no statements.
pub(crate) fn missing_operations(serving: &ServingSetup, mix: &Mix) -> Vec<Operation> {
    let is_missing = |operation: &Operation| serving.statements(operation.file()).is_empty();
    mix.shares.iter().map(|(operation, _)| *operation).filter(is_missing).collect()
}

/// Scripts for all operations of a mix, and for the reads with which clients check their writes.
pub(crate) fn scripts(
    session: &Session<'_>,
    serving: &ServingSetup,
    paths: RecordPaths<'_>,
    projection: Projection,
    mix: &Mix,
) -> Result<BTreeMap<Operation, OperationScript>, TrialError> {
    let read = (!serving.statements(Operation::Read.file()).is_empty()).then_some(Operation::Read);
    let operations = mix.shares.iter().map(|(operation, _)| *operation).chain(read);
    operations
        .collect::<BTreeSet<Operation>>()
        .into_iter()
        .map(|operation| {
            let rules = serving.rules(operation.file());
            let values = statement_values(serving, paths, projection, operation);
            let values = as_str_pairs(&values);
            let script = OperationScript {
                statements: session.statements_with_parameters(operation.file(), &values)?,
                undo: rules.undo,
                key_member: serving.key_member.clone(),
                may_be_stale: rules.may_be_stale,
            };
            Ok((operation, script))
        })
        .collect()
}

/// Values of an operation's statements that are equal for all clients: table, paths and type of the value.
pub(super) fn statement_values(
    serving: &ServingSetup,
    paths: RecordPaths<'_>,
    projection: Projection,
    operation: Operation,
) -> Vec<(String, String)> {
    let value_type = match paths.sets_integers() {
        true => serving.integer_value_type.clone(),
        false => serving.text_value_type.clone(),
    };
    let mut values = vec![("table".to_owned(), TABLE.to_owned()), ("value_type".to_owned(), value_type)];
    let notations = serving.path_values(&paths.of_operation(operation, projection));
    values.extend(notations.into_iter().map(|(name, value)| (name.to_owned(), value)));
    if operation == Operation::ReadPaths {
        let (paths, columns) = serving.read_paths(&paths.projected(projection));
        values.extend([("paths".to_owned(), paths), ("columns".to_owned(), columns)]);
    }
    values
}

fn steps(records: &RecordSet, path_index: usize) -> Vec<PathStep> {
    let segments = records.paths().get(path_index).map_or(&[][..], |path| path.steps.as_slice());
    segments.iter().map(path_step).collect()
}

fn own_steps(path: &OwnPath) -> Vec<PathStep> {
    path.steps.iter().map(path_step).collect()
}

fn path_step(segment: &PathSegment) -> PathStep {
    match segment {
        PathSegment::Member(name) => PathStep::Member(name.clone()),
        PathSegment::Element(index) => PathStep::Element(*index as usize),
    }
}
