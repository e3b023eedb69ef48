//! Checks the access path of every operation before trials begin.

use std::time::Duration;

use jsonathlon_catalogue::{fill, fill_known};
use jsonathlon_loadgen::mix::Mix;
use jsonathlon_schema::{id::Step, record::Cell};

use super::{ServingTarget, scripts, settings::ServingSettings, trials::cell_of_operation};
use crate::{
    plan_check,
    recorder::TrialRecorder,
    session::{TrialError, as_str_pairs, placeholder_error},
};

/// Timeout of reading one query plan.
const PLAN_TIMEOUT: Duration = Duration::from_secs(60);

/// Reads and records the query plan of each operation of a mix that declares an access path, in round 1 only.
pub(super) fn check(
    round: u32,
    settings: &ServingSettings,
    mix: &Mix,
    cell: &Cell,
    target: &mut ServingTarget<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), TrialError> {
    if round > 1 || target.state.session.target.setup.statements("plan").is_empty() {
        return Ok(());
    }
    for (operation, _) in &mix.shares {
        let rules = target.setup.rules(operation.file());
        let Some(statement) = target.setup.asserted_plan_statement(operation.file()) else { continue };
        let mut operation_cell = cell_of_operation(cell, *operation);
        // The statement does not depend on the number of clients or on the mix.
        operation_cell.parameters.remove("clients");
        operation_cell.step = Step::Workload(operation.word().to_owned());
        let paths = target.records.paths();
        let values = scripts::statement_values(&target.setup, paths, settings.projection, *operation);
        // The expression of a patch holds the placeholder of the value.
        let statement = fill_known(&statement, &as_str_pairs(&values)).map_err(placeholder_error)?;
        let values = target.records.examples(&target.setup, target.is_json())?;
        let values = as_str_pairs(&values);
        let statement = match target.is_json() {
            true => replace_quoted(&statement, &values),
            false => statement,
        };
        let statement = fill(&statement, &values).map_err(placeholder_error)?;
        let name = format!("{}-{operation}", target.state.cells.target.file_name());
        let violations = |text: &str| rules.violations(text);
        let session = &mut target.state.session;
        plan_check::check(session, operation_cell, &name, &statement, PLAN_TIMEOUT, violations, recorder)?;
    }
    Ok(())
}

/// Replaces quoted placeholders in a JSON statement by values that are not text.
fn replace_quoted(statement: &str, values: &[(&str, &str)]) -> String {
    let names = ["limit", "document", "keyed_document"];
    values
        .iter()
        .filter(|(name, _)| names.contains(name))
        .fold(statement.to_owned(), |text, (name, value)| text.replace(&format!("\"{{{{{name}}}}}\""), value))
}
