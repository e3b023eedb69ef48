//! Whether every question has an answer over the documents that are loaded.

use jsonathlon_dataset::DataError;
use jsonathlon_mixed::{Documents, Pool, Sweep, SweepError};

use super::trials::QUESTIONS;
use crate::RunError;

/// Number of documents that mostly suffice to see that every question has an answer.
const FIRST_DOCUMENTS: usize = 10_000;

/// Rejects documents over which a question has no row: most systems tell what an answer saw in its rows. `base` is the
/// number of documents, the first ones, that every system loads. More documents never take a row away, so that a
/// question with a row over these has one throughout the run.
///
/// # Errors
/// [`DataError::Range`] with the questions that have no row.
pub(super) fn check_answer_rows(documents: &Documents, pool: &Pool, base: usize) -> Result<(), RunError> {
    let without = |count: usize| without_row(documents, pool, count);
    let fault = |error: SweepError| RunError::Environment(format!("the documents were not split: {error}"));
    if without(base.min(FIRST_DOCUMENTS)).map_err(fault)?.is_empty() {
        return Ok(());
    }
    let questions = without(base).map_err(fault)?;
    if questions.is_empty() {
        return Ok(());
    }
    Err(RunError::Data(DataError::Range {
        reason: format!(
            "over the {base} documents that are loaded, the answer to {} has no row, and could not tell what it saw of \
             the writers: give --data that has created posts after its first documents, or a smaller --growth; or leave \
             --data out to generate events",
            questions.join(", ")
        ),
    }))
}

/// Names of the questions that have no row over the first `count` documents.
fn without_row(documents: &Documents, pool: &Pool, count: usize) -> Result<Vec<&'static str>, SweepError> {
    let sweep = Sweep::new(documents, pool, 0..count)?;
    let empty = QUESTIONS.into_iter().filter(|question| sweep.rows(*question).is_empty());
    Ok(empty.map(|question| question.id()).collect())
}

#[cfg(test)]
mod tests {
    use jsonathlon_dataset::scan::Scanner;
    use jsonathlon_mixed::DocumentsBuilder;

    use super::*;

    fn check(collections: &[&str], base: usize) -> Result<(), RunError> {
        let (mut builder, mut scanner) = (DocumentsBuilder::default(), Scanner::new());
        for collection in collections {
            let event = format!(
                r#"{{"did":"a","time_us":1,"kind":"commit","commit":{{"operation":"create","collection":"{collection}"}}}}"#
            );
            builder.observe(&scanner.scan(event.as_bytes()).event);
        }
        let pool = Pool::new(base..collections.len(), 1);
        check_answer_rows(&builder.finish(), &pool, base)
    }

    #[test]
    fn a_question_without_a_row_over_the_base_is_refused() {
        let (like, post) = ("app.bsky.feed.like", "app.bsky.feed.post");
        check(&[like, post], 2).unwrap();
        // The pool does not help: the answer has no row before it comes in.
        let error = check(&[like, like, post], 2).unwrap_err().to_string();
        assert!(error.contains("answer to q4, q5 has no row") && error.contains("--data"), "{error}");
        let error = check(&["app.bsky.feed.threadgate"], 1).unwrap_err().to_string();
        assert!(error.contains("answer to q3, q4, q5 has no row"), "{error}");
    }

    #[test]
    fn rows_behind_the_first_documents_are_found() {
        let mut collections = vec!["app.bsky.feed.like"; FIRST_DOCUMENTS];
        assert!(check(&collections, FIRST_DOCUMENTS).is_err());
        collections.push("app.bsky.feed.post");
        check(&collections, FIRST_DOCUMENTS + 1).unwrap();
    }
}
