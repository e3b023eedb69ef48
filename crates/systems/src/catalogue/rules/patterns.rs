//! Patterns on the text of plans, each made once: folders say the same few for many queries, variants and settings.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use regex::Regex;

static MADE: LazyLock<Mutex<HashMap<String, Regex>>> = LazyLock::new(Mutex::default);

/// The pattern that a text stands for.
///
/// # Errors
/// It stands for none; what is wrong with it.
pub(super) fn compiled(text: &str) -> Result<Regex, regex::Error> {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = made.get(text) {
        return Ok(known.clone());
    }
    let new = Regex::new(text)?;
    made.insert(text.to_owned(), new.clone());
    Ok(new)
}

/// Whether a pattern that is well formed is found in a plan.
pub(super) fn is_found(text: &str, plan: &str) -> bool {
    compiled(text).is_ok_and(|pattern| pattern.is_match(plan))
}
