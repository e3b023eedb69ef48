//! Checks the access path of every operation before trials begin.

use std::time::Duration;

use jsonathlon_catalogue::fill;
use jsonathlon_loadgen::mix::Mix;
use jsonathlon_schema::{id::Step, record::Cell};

use super::{ServingTarget, scripts, settings::ServingSettings, trials::of_operation};
use crate::{
    plan_check,
    recorder::TrialRecorder,
    session::{TrialError, borrowed, placeholder},
};

/// Timeout of reading one query plan.
const LIMIT: Duration = Duration::from_secs(60);

/// Reads and records the query plan of each operation of a mix that declares an access path, in round 1 only.
pub(super) fn check(
    round: u32,
    own: &ServingSettings,
    mix: &Mix,
    cell: &Cell,
    one: &mut ServingTarget<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), TrialError> {
    if round > 1 || one.of.session.target.part.statements("plan").is_empty() {
        return Ok(());
    }
    for (operation, _) in &mix.shares {
        let rules = one.part.rules(operation.file());
        let Some(statement) = one.part.asserted_plan_statement(operation.file()) else { continue };
        let mut of = of_operation(cell, *operation);
        // The statement does not depend on the number of clients or on the mix.
        of.parameters.remove("clients");
        of.step = Step::Workload(operation.word().to_owned());
        let mut values = scripts::values(&one.part, &one.records, own.projection, *operation);
        values.extend(one.examples());
        let values = borrowed(&values);
        let statement = match one.is_json() {
            true => typed(&statement, &values),
            false => statement,
        };
        let asked = fill(&statement, &values).map_err(placeholder)?;
        let name = format!("{}-{operation}", one.of.cells.target.file_name());
        let violations = |text: &str| rules.violations(text);
        plan_check::check(&mut one.of.session, of, &name, &asked, LIMIT, violations, recorder)?;
    }
    Ok(())
}

/// Replaces quoted placeholders in a JSON statement by values that are not text.
fn typed(statement: &str, values: &[(&str, &str)]) -> String {
    let of_json = ["limit", "document", "keyed_document"];
    values
        .iter()
        .filter(|(name, _)| of_json.contains(name))
        .fold(statement.to_owned(), |text, (name, value)| text.replace(&format!("\"{{{{{name}}}}}\""), value))
}
