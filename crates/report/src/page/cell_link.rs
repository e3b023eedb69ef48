//! Links that open the trials of a cell on the page of its run.

use jsonathlon_results::summary::Run;
use jsonathlon_schema::record::Cell;
use serde_json::{Value, json};

/// Parameters that configurations and data hold on the page, so that its cells lack them.
pub(super) const KNOWN_OTHERWISE: [&str; 3] = ["preparation", "memory", "scale"];

/// Fragment of an address that opens the trials of a cell on the page of this run alone, as `web/src/state.ts`
/// writes it. `run_name` is the name of the run's folder. `None` if the cell belongs to no configuration.
pub(crate) fn cell_fragment(run_name: &str, run: &Run, cell: &Cell) -> Option<String> {
    let configuration = run.manifest.configurations.iter().find(|known| known.contains_cell(cell))?;
    let mut parameters = cell.parameters.clone();
    parameters.retain(|name, _| !KNOWN_OTHERWISE.contains(&name.as_str()));
    let id = &configuration.id;
    let names = json!([
        id.system,
        id.version,
        id.variant,
        id.storage,
        configuration.preparation,
        configuration.profile,
        configuration.memory_bytes,
        cell.workload,
        cell.step,
        cell.phase,
        cell.state,
        parameters,
    ]);
    let text = whole_numbers(names).to_string();
    let hash =
        text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let name = crate::percent_encoding::percent_encoded(run_name).replace('.', "%2E").replace('~', "%7E");
    Some(format!("figure={name}:{hash:08x}"))
}

/// The value with whole numbers as JavaScript writes them, without a fraction.
fn whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 9e15 => {
                json!(float as i64)
            }
            _ => Value::Number(number),
        },
        Value::Array(values) => values.into_iter().map(whole_numbers).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (name, whole_numbers(value))).collect()
        }
        other => other,
    }
}
