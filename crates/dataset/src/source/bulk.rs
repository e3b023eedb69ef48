//! Recognises bulk files, in which lines with actions alternate with documents, and skips the actions.

use serde_json::{Map, Value};

use super::block::Block;
use super::inputs::BulkCounts;
use super::tally::ReadProgress;

/// Maximum length of an action line in bytes.
const LONGEST_ACTION: usize = 4096;

/// Members of the object of an action.
const PARAMETERS: [&str; 22] = [
    "_index",
    "_type",
    "_id",
    "_version",
    "_routing",
    "_parent",
    "index",
    "routing",
    "version",
    "version_type",
    "parent",
    "pipeline",
    "retry_on_conflict",
    "require_alias",
    "dynamic_templates",
    "if_seq_no",
    "if_primary_term",
    "require_data_stream",
    "list_executed_pipelines",
    "_source",
    "_retry_on_conflict",
    "_version_type",
];

/// What a line of a bulk file says about the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// `index` or `create`: a document follows.
    Document,
    /// `update`: a part of a document follows.
    Update,
    /// `delete`, or the line of a console such as `POST _bulk`: another action follows.
    Nothing,
}

impl Action {
    /// Parses a line. `None` if it is no action.
    fn parse(line: &[u8]) -> Option<Action> {
        if line.len() > LONGEST_ACTION {
            return None;
        }
        if is_console_line(line) {
            return Some(Action::Nothing);
        }
        let object: Map<String, Value> = serde_json::from_slice(line).ok()?;
        let mut members = object.iter();
        let (Some((name, Value::Object(parameters))), None) = (members.next(), members.next()) else {
            return None;
        };
        if !parameters.keys().all(|key| PARAMETERS.contains(&key.as_str())) {
            return None;
        }
        match name.as_str() {
            "index" | "create" => Some(Action::Document),
            "update" => Some(Action::Update),
            "delete" => Some(Action::Nothing),
            _ => None,
        }
    }
}

/// Returns `true` for a request of a console to a bulk address, such as `POST /logs/_bulk?refresh`.
fn is_console_line(line: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(line) else { return false };
    let mut words = text.split_ascii_whitespace();
    let is_method = matches!(words.next(), Some("POST" | "PUT"));
    let address = words.next().unwrap_or_default();
    let path = address.split('?').next().unwrap_or_default();
    is_method && words.next().is_none() && path.rsplit('/').next() == Some("_bulk")
}

/// Returns `true` if a sample of the first bytes of a file is that of a bulk file: actions and documents
/// alternate in its first lines.
pub(super) fn is_bulk(sample: &[u8], is_whole: bool) -> bool {
    /// Actions that make a file a bulk file, if it has as many.
    const ACTIONS: usize = 2;
    let mut lines: Vec<&[u8]> = sample.split(|byte| *byte == b'\n').collect();
    if !is_whole {
        // The last line may be cut off.
        lines.pop();
    }
    let is_blank = |line: &&[u8]| line.iter().all(u8::is_ascii_whitespace);
    let mut lines = lines.into_iter().filter(|line| !is_blank(line)).peekable();
    if lines.next_if(|line| is_console_line(line)).is_some() {
        return true;
    }
    let mut actions = 0;
    while let Some(line) = lines.next().filter(|_| actions < ACTIONS) {
        match Action::parse(line) {
            None => return false,
            Some(Action::Nothing) => {}
            // Documents that look like actions are documents.
            Some(_) if lines.next().is_some_and(|document| Action::parse(document).is_some()) => {
                return false;
            }
            Some(_) => {}
        }
        actions += 1;
    }
    actions > 0
}

/// Removes the lines of a bulk file that are not documents.
#[derive(Debug, Default)]
pub(super) struct BulkFilter {
    /// Action whose line was read and whose document was not.
    pending: Option<Action>,
    counts: BulkCounts,
}

impl BulkFilter {
    /// Number of lines removed so far.
    pub(super) fn counts(&self) -> BulkCounts {
        self.counts
    }

    /// Removes lines from the next block of the file, which may become empty, and from the counts.
    pub(super) fn apply(&mut self, block: &mut Block, tally: &mut ReadProgress) {
        let mut removed = Vec::new();
        let mut start = 0;
        for line in block.lines() {
            let end = start + line.len() + 1;
            if self.removes(line) {
                removed.push(start..end);
            }
            start = end;
        }
        if removed.is_empty() {
            return;
        }
        tally.documents -= removed.len() as u64;
        tally.bytes -= removed.iter().map(|range| range.len() as u64).sum::<u64>();
        *block = block.without(&removed);
    }

    fn removes(&mut self, line: &[u8]) -> bool {
        match self.pending.take() {
            Some(Action::Document) => false,
            Some(_) => {
                self.counts.updates += 1;
                true
            }
            // A line in place of an action is no less a document than others.
            None => match Action::parse(line) {
                None => false,
                Some(action) => {
                    self.pending = Some(action).filter(|action| *action != Action::Nothing);
                    self.counts.actions += 1;
                    true
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bulk_files_are_recognised_by_their_first_lines() {
        for (text, expected) in [
            ("{\"index\":{}}\n{\"a\":1}\n{\"index\":{}}\n{\"a\":2}\n", true),
            ("{\"index\":{\"_index\":\"x\",\"_id\":\"1\"}}\r\n{\"a\":1}\r\n", true),
            ("{\"delete\":{\"_id\":\"1\"}}\n{\"create\":{\"_id\":\"2\"}}\n{\"a\":1}\n", true),
            ("{ \"update\" : {\"_id\" : \"1\"} }\n{\"doc\":{\"a\":1}}\n", true),
            ("POST _bulk\n{\"index\":{}}\n{\"a\":1}\n", true),
            ("\nPUT /logs/_bulk?pretty\n{\"index\":{}}\n{\"a\":1}\n", true),
            ("{\"index\":{\"x\":1}}\n{\"a\":1}\n", false),
            ("{\"index\":1}\n{\"a\":1}\n", false),
            ("{\"index\":{}}\n{\"index\":{}}\n{\"index\":{}}\n", false),
            ("{\"a\":1}\n{\"index\":{}}\n", false),
            ("POST something\n{\"a\":1}\n", false),
            ("", false),
        ] {
            assert_eq!(is_bulk(text.as_bytes(), true), expected, "{text}");
        }
    }
}
