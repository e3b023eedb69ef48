//! Decides which mixes a configuration can run.

use jsonathlon_catalogue::{PathStep, ServingSetup};
use jsonathlon_dataset::own_records::pointer_step;
use jsonathlon_loadgen::{mix::Mix, operation::Operation, paths::Projection};

use super::scripts::{self, RecordPaths};

/// Why a mix cannot run on this system; `None` if it can.
pub(super) fn unsupported_reason(
    setup: &ServingSetup,
    paths: RecordPaths<'_>,
    projection: Projection,
    mix: &Mix,
    clients: u32,
) -> Option<String> {
    let missing = scripts::missing_operations(setup, mix);
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|operation| operation.word()).collect();
        return Some(format!("it has no {}", names.join(", ")));
    }
    let mut operations = mix.shares.iter().map(|(operation, _)| *operation);
    let unreachable = operations.find_map(|operation| unreachable_path(setup, paths, projection, operation));
    unreachable.or_else(|| too_many_clients(setup, clients))
}

/// Why so many connections cannot be open at a time; `None` if they can.
pub(super) fn too_many_clients(setup: &ServingSetup, clients: u32) -> Option<String> {
    let limit = setup.clients.filter(|limit| clients > *limit)?;
    Some(format!("the engine takes {limit} client at a time"))
}

/// Why the statements of an operation cannot name a path that it reads or sets; `None` if they can.
fn unreachable_path(
    setup: &ServingSetup,
    paths: RecordPaths<'_>,
    projection: Projection,
    operation: Operation,
) -> Option<String> {
    let named: Vec<Vec<PathStep>> = match operation {
        Operation::ReadPaths => {
            let projected = paths.projected(projection);
            if projected.is_empty() {
                return Some("the documents have no value in common that it could read".to_owned());
            }
            projected
        }
        _ => vec![paths.of_operation(operation, projection)],
    };
    named.iter().find_map(|steps| {
        let reason = setup.unreachable_reason(operation.file(), steps)?;
        Some(format!("its {operation} cannot name the path {}: {reason}", pointer(steps)))
    })
}

/// JSON pointer of a path.
fn pointer(steps: &[PathStep]) -> String {
    let step = |step: &PathStep| match step {
        PathStep::Member(name) => pointer_step(name),
        PathStep::Element(index) => format!("/{index}"),
    };
    steps.iter().map(step).collect()
}
