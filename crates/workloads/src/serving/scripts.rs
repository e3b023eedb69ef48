//! Prepares the statements of a configuration's folder for the operations of a mix.

use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_catalogue::{PathStep, ServingSetup, path_values};
use jsonathlon_dataset::records::{PathSegment, RecordSet};
use jsonathlon_loadgen::{
    job::OperationScript,
    mix::Mix,
    operation::Operation,
    paths::{Paths, Projection},
};

use crate::{
    run_context::TABLE,
    session::{Session, TrialError, as_str_pairs},
};

/// Operations of a mix for which a configuration has no statements.
pub(crate) fn missing_operations(serving: &ServingSetup, mix: &Mix) -> Vec<Operation> {
    let is_missing = |operation: &Operation| serving.statements(operation.file()).is_empty();
    mix.shares.iter().map(|(operation, _)| *operation).filter(is_missing).collect()
}

/// Scripts for all operations of a mix, and for the reads with which clients check their writes.
pub(crate) fn scripts(
    session: &Session<'_>,
    serving: &ServingSetup,
    records: &RecordSet,
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
            let values = statement_values(serving, records, projection, operation);
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

/// Values of an operation's statements that are equal for all clients: table and paths.
pub(super) fn statement_values(
    serving: &ServingSetup,
    records: &RecordSet,
    projection: Projection,
    operation: Operation,
) -> Vec<(String, String)> {
    let mut values = vec![("table".to_owned(), TABLE.to_owned())];
    let paths = Paths::select(records, projection);
    let mut path = match operation {
        Operation::Find | Operation::Count => steps(records, paths.condition),
        Operation::Unwrap | Operation::UnwrapAll => steps(records, paths.element),
        _ => steps(records, paths.path_set_by(operation).unwrap_or(paths.field)),
    };
    if matches!(operation, Operation::Unwrap | Operation::UnwrapAll) {
        // The path of the array itself, without the last two steps into an element.
        path.truncate(path.len().saturating_sub(2));
    }
    let notations = path_values(&path);
    values.extend(notations.into_iter().map(|(name, value)| (name.to_owned(), value)));
    if operation == Operation::ReadPaths {
        let projected: Vec<Vec<PathStep>> =
            paths.projected.iter().map(|index| steps(records, *index)).collect();
        let (paths, columns) = serving.read_paths(&projected);
        values.extend([("paths".to_owned(), paths), ("columns".to_owned(), columns)]);
    }
    values
}

fn steps(records: &RecordSet, path_index: usize) -> Vec<PathStep> {
    let segments = records.paths().get(path_index).map_or(&[][..], |path| path.steps.as_slice());
    let step = |segment: &PathSegment| match segment {
        PathSegment::Member(name) => PathStep::Member(name.clone()),
        PathSegment::Element(index) => PathStep::Element(*index as usize),
    };
    segments.iter().map(step).collect()
}
