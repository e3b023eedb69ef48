//! Tables of large documents: their contents and the expected answers over them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::digest::{JsonInteger, object_digest};
use super::inner;
use crate::error::DataError;

/// Largest ordinal that can be generated: documents of one gigabyte.
pub const MAX_ORDINAL: u32 = 26;
/// Exclusive upper bound of the top-level `l`.
const VALUES: u64 = 1000;
/// Step of `l` from one document to the next. Coprime to [`VALUES`], so that each value occurs once per
/// thousand documents.
const STEP: u64 = 7919;
/// The `l` of the first document, which filters search for.
const FIRST: u64 = 10;
/// One of this many documents has the member `rare`.
const RARE: u64 = 100;

/// Contents of the inner objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InnerContent {
    /// Their own ordinal: documents are equal except at the top level.
    #[default]
    Identical,
    /// Four-digit numbers derived from seed, document and position: documents have no inner object in common.
    Distinct,
}

impl InnerContent {
    /// Returns the word used in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Identical => "identical",
            Self::Distinct => "distinct",
        }
    }
}

impl fmt::Display for InnerContent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

/// Parameters that determine every document of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NestedTable {
    /// Order n of the ordinals: every document is a D(n).
    pub n: u32,
    /// Number of documents, with the keys 0 to `documents` (exclusive).
    pub documents: u64,
    /// Contents of the inner objects.
    pub data: InnerContent,
    /// Seed of the numbers of [`InnerContent::Distinct`]; not used by [`InnerContent::Identical`].
    pub seed: u64,
}

impl NestedTable {
    /// Creates a table of `total` bytes, in which each document counts with its nominal size. It has at least
    /// one document.
    ///
    /// # Errors
    /// [`DataError::Range`] for an ordinal above [`MAX_ORDINAL`].
    pub fn with_total_bytes(n: u32, total: u64, data: InnerContent, seed: u64) -> Result<Self, DataError> {
        if n > MAX_ORDINAL {
            let reason = format!("D({n}); documents up to D({MAX_ORDINAL}) can be made");
            return Err(DataError::Range { reason });
        }
        let documents = (total / Self::nominal_bytes_of(n)).max(1);
        Ok(Self { n, documents, data, seed })
    }

    /// Returns the nominal size of D(n) in bytes: 2ⁿ⁺⁴, which differs from the actual size by a few bytes.
    #[must_use]
    pub fn nominal_bytes_of(n: u32) -> u64 {
        1 << (n + 4)
    }

    /// Returns the ordinal with this nominal size in bytes. `None` if `bytes` is not a power of two from 16
    /// on or the ordinal exceeds [`MAX_ORDINAL`].
    #[must_use]
    pub fn ordinal_of(bytes: u64) -> Option<u32> {
        (bytes.is_power_of_two() && bytes >= 16)
            .then(|| bytes.trailing_zeros() - 4)
            .filter(|n| *n <= MAX_ORDINAL)
    }

    /// Returns the top-level `l` of a document, from 0 to 999.
    #[must_use]
    pub fn top_level_number(key: u64) -> u64 {
        (FIRST + STEP % VALUES * (key % VALUES)) % VALUES
    }

    /// Returns `true` if the document has the member `rare`, whose value is 1.
    #[must_use]
    pub fn is_rare(key: u64) -> bool {
        key % RARE == 1
    }

    /// Returns the keys of the documents whose `l` is 10, in ascending order.
    #[must_use]
    pub fn keys_where_l_is_10(&self) -> Vec<u64> {
        (0..self.documents).filter(|key| Self::top_level_number(*key) == FIRST).collect()
    }

    /// Returns the keys of the documents with the member `rare`, in ascending order.
    #[must_use]
    pub fn rare_keys(&self) -> Vec<u64> {
        (0..self.documents).filter(|key| Self::is_rare(*key)).collect()
    }

    /// Returns all keys ordered by `l`, then by key.
    #[must_use]
    pub fn ordered_keys(&self) -> Vec<u64> {
        let mut keys: Vec<u64> = (0..self.documents).collect();
        keys.sort_by_key(|key| (Self::top_level_number(*key), *key));
        keys
    }

    /// Returns the digest of one document, equal to [`super::digest()`] of its text. If given, `l` replaces
    /// the top-level number.
    #[must_use]
    pub fn digest_of(&self, key: u64, l: Option<i64>) -> u64 {
        let changed: Vec<(u32, i64)> = l.map(|l| (1, l)).into_iter().collect();
        self.digest_of_changed(key, &changed)
    }

    /// Returns the digest of one document in which some numbers are replaced, given as (depth, number).
    /// Depths follow the path of the largest members: depth 1 is `l`, depth 2 `k(n−1).l`, depth 3
    /// `k(n−1).k(n−2).l`, and so on.
    #[must_use]
    pub fn digest_of_changed(&self, key: u64, changed: &[(u32, i64)]) -> u64 {
        let number_at = |depth: u32, original: i64| {
            let replacement = changed.iter().rev().find(|(changed_depth, _)| *changed_depth == depth);
            JsonInteger(replacement.map_or(original, |(_, number)| *number)).digest()
        };
        let is_below = changed.iter().any(|(depth, _)| *depth > 1);
        let below = match self.data {
            InnerContent::Identical if is_below => identical_changed(self.n, 1, &number_at),
            InnerContent::Identical => identical_below(self.n),
            InnerContent::Distinct => {
                let mut position = 0;
                self.distinct_below(self.n, key, &mut position, is_below.then_some((1, &number_at)))
            }
        };
        let rare = Self::is_rare(key).then_some(("rare", JsonInteger(1).digest()));
        object_digest(
            [("l", number_at(1, Self::top_level_number(key) as i64))].into_iter().chain(rare),
            below,
        )
    }

    /// Returns the sum of the digests of all documents. If given, `l` replaces every top-level number.
    #[must_use]
    pub fn digest(&self, l: Option<i64>) -> u64 {
        let mut below = match self.data {
            InnerContent::Identical => Some(identical_below(self.n)),
            InnerContent::Distinct => None,
        };
        let mut sum = 0_u64;
        for key in 0..self.documents {
            let document_digest = match &mut below {
                Some(below) => {
                    let l = l.unwrap_or(Self::top_level_number(key) as i64);
                    let rare = Self::is_rare(key).then_some(("rare", JsonInteger(1).digest()));
                    object_digest([("l", JsonInteger(l).digest())].into_iter().chain(rare), *below)
                }
                None => self.digest_of(key, l),
            };
            sum = sum.wrapping_add(document_digest);
        }
        sum
    }

    /// Returns the sum of digests of the members `k0` … of an object of order `n`. `path` is its depth if it
    /// is on the path of replaced numbers.
    fn distinct_below(&self, n: u32, key: u64, position: &mut u64, path: Option<(u32, NumberAt<'_>)>) -> u64 {
        let mut sum = 0_u64;
        for k in 0..n {
            *position += 1;
            let l = inner(self.seed, key, *position) as i64;
            let path = path.filter(|_| k + 1 == n).map(|(depth, number_at)| (depth + 1, number_at));
            let number =
                path.map_or_else(|| JsonInteger(l).digest(), |(depth, number_at)| number_at(depth, l));
            let below = self.distinct_below(k, key, position, path);
            let member_object = object_digest([("l", number)].into_iter(), below);
            sum = sum.wrapping_add(super::digest::member_digest(format!("k{k}").as_bytes(), member_object));
        }
        sum
    }
}

/// Returns the digest of the number at a depth, given the number before replacement.
type NumberAt<'a> = &'a dyn Fn(u32, i64) -> u64;

/// Like [`identical_below`], for an object at `depth` on the path of replaced numbers.
fn identical_changed(n: u32, depth: u32, number_at: NumberAt<'_>) -> u64 {
    let Some(largest) = n.checked_sub(1) else { return 0 };
    let below = identical_changed(largest, depth + 1, number_at);
    let member = object_digest([("l", number_at(depth + 1, i64::from(largest)))].into_iter(), below);
    identical_below(largest)
        .wrapping_add(super::digest::member_digest(format!("k{largest}").as_bytes(), member))
}

/// Returns the sum of digests of the members `k0` … of an object of order `n` for
/// [`InnerContent::Identical`].
pub(super) fn identical_below(n: u32) -> u64 {
    let mut objects: Vec<u64> = Vec::new();
    let mut sum = 0_u64;
    for k in 0..n {
        let member_object = object_digest([("l", JsonInteger(i64::from(k)).digest())].into_iter(), sum);
        objects.push(member_object);
        sum = sum.wrapping_add(super::digest::member_digest(format!("k{k}").as_bytes(), member_object));
    }
    sum
}

/// Display name for messages, e.g. `64 × D(16), distinct`.
impl fmt::Display for NestedTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n, documents, data, .. } = self;
        write!(formatter, "{documents} × D({n}), {data}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NestedGenerator, digest};
    use super::*;

    #[test]
    fn digests_of_changed_documents_are_those_of_their_texts() {
        for data in [InnerContent::Identical, InnerContent::Distinct] {
            let table = NestedTable { n: 5, documents: 3, data, seed: 1 };
            for changed in
                [&[][..], &[(1, 7)], &[(3, -9)], &[(2, 5), (6, 8)], &[(1, 1), (4, 2), (6, 100_006)]]
            {
                let mut text = Vec::new();
                NestedGenerator::new(table).document(1, &mut text).unwrap();
                let mut document: serde_json::Value = serde_json::from_slice(&text).unwrap();
                for (depth, number) in changed {
                    let path: String = (1..*depth).map(|level| format!("/k{}", 5 - level)).collect();
                    *document.pointer_mut(&format!("{path}/l")).unwrap() = (*number).into();
                }
                let expected = digest(document.to_string().as_bytes()).unwrap();
                assert_eq!(table.digest_of_changed(1, changed), expected, "{data} {changed:?}");
            }
        }
    }

    #[test]
    fn values_are_those_of_the_law() {
        // 10, 7929, 15848, 23767 modulo 1000.
        assert_eq!((0..4).map(NestedTable::top_level_number).collect::<Vec<_>>(), [10, 929, 848, 767]);
        let matches = |documents| {
            NestedTable { n: 12, documents, data: InnerContent::Identical, seed: 1 }
                .keys_where_l_is_10()
                .len() as u64
        };
        for documents in [8192_u64, 2048, 1024, 999, 4, 1] {
            assert_eq!(matches(documents), documents.div_ceil(1000), "{documents}");
        }
        let rare = |documents| {
            NestedTable { n: 12, documents, data: InnerContent::Identical, seed: 1 }.rare_keys().len()
        };
        assert_eq!([8192, 2048, 512, 128, 32].map(rare), [82, 21, 6, 2, 1]);
        assert_eq!([1024, 256, 64, 16, 4].map(rare), [11, 3, 1, 1, 1]);
    }

    #[test]
    fn the_order_of_numbers_is_that_of_no_text_from_thirteen_documents_on() {
        let is_different = |documents| {
            let table = NestedTable { n: 2, documents, data: InnerContent::Identical, seed: 1 };
            let mut text_order = (0..documents).collect::<Vec<u64>>();
            text_order.sort_by_key(|key| (NestedTable::top_level_number(*key).to_string(), *key));
            text_order != table.ordered_keys()
        };
        assert!(!is_different(4) && !is_different(12) && is_different(13) && is_different(64));
    }

    #[test]
    fn totals_are_made_of_whole_documents() {
        let document_count =
            |n, total| NestedTable::with_total_bytes(n, total, InnerContent::Identical, 1).unwrap().documents;
        assert_eq!([12, 14, 16, 18, 20].map(|n| document_count(n, 64 << 20)), [1024, 256, 64, 16, 4]);
        assert_eq!(document_count(20, 1 << 20), 1);
        assert!(NestedTable::with_total_bytes(27, 1 << 40, InnerContent::Identical, 1).is_err());
        assert_eq!(
            [65_536, 1 << 20, 65_535, 8].map(NestedTable::ordinal_of),
            [Some(12), Some(16), None, None]
        );
    }
}
