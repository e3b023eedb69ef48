//! Names of the members of archives: finds repeated ones, and bounds the memory that they take.

use std::collections::HashSet;

use twox_hash::XxHash3_64;

use crate::error::DataError;

/// Maximum memory for the names of all members of a source, in bytes. A few kilobytes can unpack to any number
/// of members.
const MAX_BYTES: u64 = 512 << 20;
/// Memory for a member besides the bytes of its name.
const OVERHEAD: u64 = 64;

/// Names of the members of a source's archives that were read or left out so far. The names themselves are kept
/// elsewhere.
#[derive(Debug)]
pub(super) struct MemberNames {
    hashes: HashSet<u64>,
    bytes: u64,
    max_bytes: u64,
}

impl Default for MemberNames {
    fn default() -> Self {
        MemberNames { hashes: HashSet::new(), bytes: 0, max_bytes: MAX_BYTES }
    }
}

impl MemberNames {
    /// Adds the display name of a member, which begins with that of its archive. Returns `true` if an earlier
    /// member has the same name. Fails if the names of all members take too much memory.
    pub(super) fn add(&mut self, archive: &str, name: &str) -> Result<bool, DataError> {
        self.bytes = self.bytes.saturating_add(OVERHEAD + name.len() as u64);
        if self.bytes > self.max_bytes {
            return Err(DataError::TooManyMembers { input: archive.to_owned(), limit: self.max_bytes });
        }
        Ok(!self.hashes.insert(XxHash3_64::oneshot(name.as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_are_found() {
        let mut names = MemberNames::default();
        let found = ["a: x", "a: y", "b: x", "a: x", "a: x"].map(|name| names.add("a", name).unwrap());
        assert_eq!(found, [false, false, false, true, true]);
    }

    #[test]
    fn names_of_any_number_and_length_take_bounded_memory() {
        for name in ["a: x".to_owned(), format!("a: {}", "x".repeat(100_000))] {
            let max_bytes = 1 << 20;
            let mut names = MemberNames { max_bytes, ..MemberNames::default() };
            let error = (0..max_bytes).find_map(|_| names.add("a.tar", &name).err());
            let error = error.expect("an endless archive is given up").to_string();
            assert!(
                error.contains("a.tar") && error.contains("1 MiB") && error.contains("unpack"),
                "{error}"
            );
        }
    }
}
