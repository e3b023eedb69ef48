//! Limits of data profiles, and of what is proposed from documents.

/// Limits of what a profile distinguishes, which bound its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribeOptions {
    /// Maximum number of JSON paths. Values on further paths are only counted. Default: 2,000.
    pub max_paths: usize,
    /// Maximum number each of kinds, operations (per collection) and collections. Further ones are counted
    /// together. Default: 1,000.
    pub max_names: usize,
    /// Maximum number of paths that are observed as candidates for the key after the first 1,000 documents.
    /// Default: 8.
    pub max_keys: usize,
    /// Maximum number of values of all candidates for the key that are compared with each other; each takes 8
    /// bytes. Beyond it, fewer values are compared, those of the preferred candidate last. Default: 2²⁵ (256
    /// MiB).
    pub max_key_hashes: usize,
}

impl Default for DescribeOptions {
    fn default() -> Self {
        DescribeOptions { max_paths: 2_000, max_names: 1_000, max_keys: 8, max_key_hashes: 1 << 25 }
    }
}
