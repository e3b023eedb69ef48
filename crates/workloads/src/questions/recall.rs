//! Restores the expected answers that an interrupted run has recorded.

use jsonathlon_schema::value::Row;
use serde::Deserialize;

use super::{ExpectedAnswer, Questions};
use crate::RunError;
use crate::recorder::TrialRecorder;

/// The part of an answer file that is needed here.
#[derive(Deserialize)]
struct StoredRows {
    rows: Vec<Row>,
}

/// Restores the expected answers from the recorded agreements and their files.
pub(super) fn remember(questions: &Questions, recorder: &TrialRecorder<'_>) -> Result<(), RunError> {
    for one in &recorder.agreements {
        let mut kept = std::collections::BTreeMap::new();
        let files = one.standings.iter().filter_map(|standing| standing.file.as_ref());
        for file in one.file.iter().chain(files) {
            if kept.contains_key(file.as_str()) {
                continue;
            }
            let path = recorder.folder.path().join(file);
            let text = std::fs::read(&path).map_err(RunError::io(format!("read {}", path.display())))?;
            let StoredRows { rows } = serde_json::from_slice(&text)
                .map_err(|error| RunError::Changed(format!("{} is damaged: {error}", path.display())))?;
            kept.insert(file.as_str(), rows);
        }
        let fixed = ExpectedAnswer::of(one, |file| kept.get(file).cloned().unwrap_or_default());
        questions.fixed.borrow_mut().insert(one.question.clone(), fixed);
    }
    Ok(())
}
