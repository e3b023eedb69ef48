//! Cache of compiled patterns for plans: folders repeat the same few for many queries, variants and settings.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use regex::Regex;

static CACHE: LazyLock<Mutex<HashMap<String, Regex>>> = LazyLock::new(Mutex::default);

/// Returns the compiled pattern; each text is compiled only once.
///
/// # Errors
/// [`regex::Error`] if the text is not a valid regular expression.
pub(super) fn compiled(text: &str) -> Result<Regex, regex::Error> {
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pattern) = cache.get(text) {
        return Ok(pattern.clone());
    }
    let pattern = Regex::new(text)?;
    cache.insert(text.to_owned(), pattern.clone());
    Ok(pattern)
}

/// Returns `true` if a valid pattern matches a plan; `false` for an invalid one.
pub(super) fn is_found(text: &str, plan: &str) -> bool {
    compiled(text).is_ok_and(|pattern| pattern.is_match(plan))
}
