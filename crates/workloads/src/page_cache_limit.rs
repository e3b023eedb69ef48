//! Limit of a system's memory together with its page cache, if the kernel lets this process enforce one.

use jsonathlon_schema::settings::PageCachePolicy;
use jsonathlon_telemetry::memory_cap::MemoryCap;

/// Returns a limit of `bytes` for each system, or [`PageCachePolicy::Uncapped`] with the reason why this
/// process cannot enforce it.
#[must_use]
pub fn page_cache_policy(bytes: u64) -> PageCachePolicy {
    match MemoryCap::new(bytes) {
        Ok(_) => PageCachePolicy::Capped(bytes),
        Err(error) => PageCachePolicy::Uncapped(error.to_string()),
    }
}
