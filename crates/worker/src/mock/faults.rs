//! Executes the faults of a script.

use std::sync::PoisonError;
use std::time::Duration;

use jsonathlon_driver_api::driver::{DriverContext, DriverError, Result};
use jsonathlon_driver_api::rows::ResultSet;
use jsonathlon_schema::value::{Row, Value};
use rustix::process::{Signal, getpid, kill_process};

use super::script::{CrashSignal, FaultAction, ReadBackFault};

/// Executes the part of a fault that comes before the answer. In a load, `offered` documents were read so
/// far.
pub(super) fn inject_before(action: &FaultAction, offered: u64, host: &DriverContext) -> Result<()> {
    match action {
        FaultAction::Delay { ms } => host.clock.sleep(Duration::from_millis(*ms)),
        FaultAction::Refuse { message } => return Err(DriverError::Refused(message.clone())),
        FaultAction::Conflict { message } => return Err(DriverError::Conflict(message.clone())),
        FaultAction::Disconnect { message } => return Err(DriverError::Crashed(message.clone())),
        FaultAction::Crash { signal, after } if *after == offered => die(*signal),
        FaultAction::Hang { after } if *after == offered => loop {
            // Not on the host's clock, because a fake clock would turn this into a busy loop.
            std::thread::sleep(Duration::from_secs(3600));
        },
        FaultAction::Garbage { text, times } => write_garbage(text, *times, host)?,
        FaultAction::Print { text } => println!("{text}"),
        _ => {}
    }
    Ok(())
}

fn die(signal: CrashSignal) -> ! {
    if signal == CrashSignal::Kill {
        // If the kill fails, the process aborts below.
        kill_process(getpid(), Signal::KILL).ok();
    }
    std::process::abort()
}

fn write_garbage(text: &str, times: u64, host: &DriverContext) -> Result<()> {
    let Some(output) = &host.output else {
        return Err(DriverError::Unsupported("there is no stream to be spoilt".into()));
    };
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    for _ in 0..times {
        if output.write_all(text.as_bytes()).is_err() {
            break;
        }
    }
    // A write to a coordinator that has gone away fails, and that does not matter.
    output.flush().ok();
    Ok(())
}

/// Applies the part of a fault that changes an answer.
pub(super) fn inject_after(action: &FaultAction, outcome: &mut ResultSet) {
    let rows = &mut outcome.rows;
    match action {
        FaultAction::WrongValue { row, column, value } => {
            if let Some(cell) = cell(rows, *row, *column) {
                *cell = value.clone().unwrap_or_else(|| similar_value(cell));
            }
        }
        FaultAction::Nan { row, column } => {
            if let Some(cell) = cell(rows, *row, *column) {
                *cell = Value::Float(f64::NAN);
            }
        }
        FaultAction::MissingRow { row } if *row < rows.len() => {
            rows.remove(*row);
        }
        FaultAction::ExtraRow { cells } => rows.push(cells.clone()),
        FaultAction::Reorder => rows.reverse(),
        _ => {}
    }
}

fn cell(rows: &mut [Row], row: usize, column: usize) -> Option<&mut Value> {
    rows.get_mut(row)?.get_mut(column)
}

/// Returns another value that is close to this one.
fn similar_value(value: &Value) -> Value {
    match value {
        Value::Null => Value::Int(0),
        Value::Bool(truth) => Value::Bool(!truth),
        Value::Int(number) => Value::Int(number.wrapping_add(1)),
        Value::Float(number) => Value::Float(number + 1.0),
        Value::Text(text) => Value::Text(format!("{text}?")),
    }
}

/// Returns a document as a system that changes documents would return it. Text that is not JSON stays
/// unchanged.
pub(super) fn alter_document(document: String, changes: ReadBackFault) -> String {
    if !changes.drop_nulls && !changes.reorder_keys {
        return document;
    }
    match serde_json::from_str(&document) {
        Ok(value) => {
            let mut text = String::with_capacity(document.len());
            write(&value, changes, &mut text);
            text
        }
        Err(_) => document,
    }
}

fn write(value: &serde_json::Value, changes: ReadBackFault, text: &mut String) {
    match value {
        serde_json::Value::Object(members) => {
            let mut members: Vec<_> =
                members.iter().filter(|(_, value)| !(changes.drop_nulls && value.is_null())).collect();
            if changes.reorder_keys {
                members.sort_by_key(|(key, _)| *key);
            }
            text.push('{');
            for (index, (key, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&serde_json::Value::from(key.as_str()).to_string());
                text.push(':');
                write(value, changes, text);
            }
            text.push('}');
        }
        serde_json::Value::Array(values) => {
            text.push('[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(value, changes, text);
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}
