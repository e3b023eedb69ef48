//! Finds the rejected documents of a file by loading ever smaller parts of it.
//!
//! Needed only if a bulk statement rejects a file as a whole and does not name the documents.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use jsonathlon_schema::record::FailureKind;

use crate::RunError;
use crate::session::TrialError;

/// Maximum number of rejected documents to search for. With more, the file does not have the format that the
/// configuration expects, and the user should know early.
pub(crate) const MAX_REJECTED: usize = 1_000;

/// A document that a system rejected, with the reason.
pub(crate) struct RejectedDocument {
    /// Number among the lines of a file or among the offered documents, from 0.
    pub(crate) ordinal: u64,
    /// Error message of the system.
    pub(crate) reason: String,
}

/// Result of loading a part of a file on trial.
pub(crate) enum ProbeOutcome {
    /// The part was accepted, except these lines.
    RejectedLines(Vec<RejectedDocument>),
    /// The part was rejected as a whole, or became another number of documents; the text is the reason.
    RejectedWhole(String),
}

/// A range of whole lines of a file, in bytes.
#[derive(Debug, Clone, Copy)]
struct LineRange {
    start: u64,
    end: u64,
    first_line: u64,
}

/// Finds at most `max_count` rejected documents of `file`. `try_load` loads a part, written to `scratch`, on
/// trial.
pub(crate) fn find(
    file: &Path,
    scratch: &Path,
    max_count: usize,
    try_load: &mut dyn FnMut(&Path) -> Result<ProbeOutcome, TrialError>,
) -> Result<Vec<RejectedDocument>, TrialError> {
    let failed = || RunError::io(format!("read {}", file.display()));
    let length = std::fs::metadata(file).map_err(failed())?.len();
    let mut source = File::open(file).map_err(failed())?;
    let mut rejected = Vec::new();
    let mut parts = vec![LineRange { start: 0, end: length, first_line: 0 }];
    while let Some(part) = parts.pop() {
        copy_part(&mut source, part, scratch)?;
        match try_load(scratch)? {
            ProbeOutcome::RejectedLines(lines) => rejected.extend(lines.into_iter().map(|document| {
                RejectedDocument { ordinal: part.first_line + document.ordinal, ..document }
            })),
            ProbeOutcome::RejectedWhole(reason) => match split(&mut source, part)? {
                Some((left, right)) => {
                    // The left part is tried first, so that documents are found in file order.
                    parts.push(right);
                    parts.push(left);
                }
                None => rejected.push(RejectedDocument { ordinal: part.first_line, reason }),
            },
        }
        if let Some(last_document) = rejected.get(max_count) {
            return Err(TrialError::failed(
                FailureKind::Refused,
                format!(
                    "more than {max_count} documents are refused; the last reason: {}",
                    last_document.reason
                ),
            ));
        }
    }
    Ok(rejected)
}

/// Number of lines in a file; a last line without a newline counts.
pub(crate) fn count_lines(file: &Path) -> Result<u64, RunError> {
    let failed = || RunError::io(format!("read {}", file.display()));
    let mut reader = BufReader::with_capacity(1 << 20, File::open(file).map_err(failed())?);
    let (mut lines, mut last) = (0, b'\n');
    loop {
        let bytes = reader.fill_buf().map_err(failed())?;
        let Some(&end) = bytes.last() else { break };
        lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        last = end;
        let length = bytes.len();
        reader.consume(length);
    }
    Ok(lines + u64::from(last != b'\n'))
}

/// Copies the lines of `file` to `output`, except those with a number in `line_numbers`, which must be
/// ascending.
pub(crate) fn copy_without(
    file: &Path,
    line_numbers: impl IntoIterator<Item = u64>,
    output: &Path,
) -> Result<(), RunError> {
    let failed = || RunError::io(format!("write {}", output.display()));
    let mut reader = BufReader::with_capacity(1 << 20, File::open(file).map_err(failed())?);
    let mut writer = std::io::BufWriter::with_capacity(1 << 20, File::create(output).map_err(failed())?);
    let mut skipped = line_numbers.into_iter().peekable();
    let mut line = Vec::new();
    for number in 0_u64.. {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(failed())? == 0 {
            break;
        }
        if skipped.peek() == Some(&number) {
            skipped.next();
        } else {
            writer.write_all(&line).map_err(failed())?;
        }
    }
    writer.flush().map_err(failed())
}

fn copy_part(source: &mut File, part: LineRange, path: &Path) -> Result<(), RunError> {
    let failed = || RunError::io(format!("write {}", path.display()));
    source.seek(SeekFrom::Start(part.start)).map_err(failed())?;
    let mut target = File::create(path).map_err(failed())?;
    std::io::copy(&mut source.take(part.end - part.start), &mut target).map_err(failed())?;
    Ok(())
}

/// Splits a part after the line that contains its middle; `None` if it is a single line.
fn split(source: &mut File, part: LineRange) -> Result<Option<(LineRange, LineRange)>, RunError> {
    let failed = || RunError::io("read the documents");
    source.seek(SeekFrom::Start(part.start)).map_err(failed())?;
    let mut reader = BufReader::new(source.take(part.end - part.start));
    let middle = (part.end - part.start) / 2;
    let (mut offset, mut lines) = (0_u64, 0_u64);
    let mut line = Vec::new();
    let mut last_start = 0;
    loop {
        line.clear();
        let line_length = reader.read_until(b'\n', &mut line).map_err(failed())? as u64;
        if line_length == 0 {
            break;
        }
        last_start = offset;
        offset += line_length;
        lines += 1;
        if offset > middle {
            break;
        }
    }
    let total_length = part.end - part.start;
    // If the middle is in the last line, that line alone is the right part.
    let (split_offset, lines) =
        if offset < total_length { (offset, lines) } else { (last_start, lines.saturating_sub(1)) };
    let boundary = part.start + split_offset;
    Ok((split_offset > 0).then(|| {
        (
            LineRange { start: part.start, end: boundary, first_line: part.first_line },
            LineRange { start: boundary, end: part.end, first_line: part.first_line + lines },
        )
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Runs the search against a system that rejects every line that begins with `!`.
    fn rejected_lines(lines: &[String], final_newline: bool, by_line: bool) -> Vec<(u64, String)> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("documents");
        let text = lines.join("\n") + if final_newline && !lines.is_empty() { "\n" } else { "" };
        std::fs::write(&file, &text).unwrap();
        let scratch = folder.path().join("scratch");
        let rejected = find(&file, &scratch, MAX_REJECTED, &mut |part| {
            let text = std::fs::read_to_string(part).unwrap();
            let is_rejected = |line: &&str| line.starts_with('!');
            // Names the rejected lines, unless a document cannot be parsed at all.
            if by_line && !text.contains('c') {
                let lines = (0..).zip(text.lines()).filter(|(_, line)| is_rejected(line));
                let rejection =
                    |(ordinal, line): (u64, &str)| RejectedDocument { ordinal, reason: line.to_owned() };
                return Ok(ProbeOutcome::RejectedLines(lines.map(rejection).collect()));
            }
            let first_rejected = text.lines().find(is_rejected).map(str::to_owned);
            Ok(first_rejected.map_or(ProbeOutcome::RejectedLines(Vec::new()), ProbeOutcome::RejectedWhole))
        })
        .unwrap();
        let remaining_file = folder.path().join("kept");
        copy_without(&file, rejected.iter().map(|document| document.ordinal), &remaining_file).unwrap();
        let expected: Vec<&String> = lines.iter().filter(|line| !line.starts_with('!')).collect();
        assert_eq!(std::fs::read_to_string(remaining_file).unwrap().lines().collect::<Vec<_>>(), expected);
        rejected.into_iter().map(|document| (document.ordinal, document.reason)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn exactly_the_refused_lines_are_found_in_order(
            lines in prop::collection::vec("[!a]b{0,20}c?", 0..40), final_newline: bool, by_line: bool
        ) {
            let expected: Vec<(u64, String)> = lines
                .iter()
                .enumerate()
                .filter(|(_, line)| line.starts_with('!'))
                .map(|(number, line)| (number as u64, line.clone()))
                .collect();
            prop_assert_eq!(rejected_lines(&lines, final_newline, by_line), expected);
        }
    }

    #[test]
    fn a_file_that_is_refused_throughout_ends_soon() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("documents");
        std::fs::write(&file, "!\n".repeat(3 * MAX_REJECTED)).unwrap();
        let result = find(&file, &folder.path().join("scratch"), MAX_REJECTED, &mut |_| {
            Ok(ProbeOutcome::RejectedWhole("no".into()))
        });
        assert!(
            matches!(result, Err(TrialError::Failed(failure)) if failure.error.contains("more than 1000"))
        );
    }
}
