//! Restores the expected answers that an interrupted run has recorded, so that the resumed run can use them.

use jsonathlon_schema::value::Row;
use serde::Deserialize;

use super::{ExpectedAnswer, Questions};
use crate::RunError;
use crate::recorder::TrialRecorder;

/// An answer file without the members that are not needed here.
#[derive(Deserialize)]
struct AnswerFile {
    rows: Vec<Row>,
}

/// Restores the expected answers from the recorded agreements and their answer files.
///
/// # Errors
/// If an answer file cannot be read or is damaged.
pub(super) fn restore(workload: &Questions, recorder: &TrialRecorder<'_>) -> Result<(), RunError> {
    for agreement in &recorder.agreements {
        let mut rows_by_file = std::collections::BTreeMap::new();
        let other_files = agreement.answers.iter().filter_map(|standing| standing.file.as_ref());
        for file in agreement.file.iter().chain(other_files) {
            if rows_by_file.contains_key(file.as_str()) {
                continue;
            }
            let path = recorder.folder.path().join(file);
            let json = std::fs::read(&path).map_err(RunError::io(format!("read {}", path.display())))?;
            let AnswerFile { rows } = serde_json::from_slice(&json)
                .map_err(|error| RunError::Changed(format!("{} is damaged: {error}", path.display())))?;
            rows_by_file.insert(file.as_str(), rows);
        }
        let expected = ExpectedAnswer::from_agreement(agreement, |file| {
            rows_by_file.get(file).cloned().unwrap_or_default()
        });
        workload.expected_answers.borrow_mut().insert(agreement.question.clone(), expected);
    }
    Ok(())
}
