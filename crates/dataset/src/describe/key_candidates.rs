//! Finds paths that are in every document with different values, in bounded memory.
//!
//! Only scalar paths of the first document can be in all documents. Each is dropped at its first absence or
//! duplicate. Values are compared by 64-bit hashes: different hashes prove that the values differ, so that a
//! path that is called unique is unique. Two texts with the same hash are taken for duplicates; among 100
//! million different texts, that happens with a probability of 0.03 % (birthday bound, n² / 2⁶⁵).

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use foldhash::quality;
use hashbrown::HashMap;

use super::key_proposal::{KeyCandidate, KeyFault, KeyPreference, MAX_KEY_BYTES, RejectedKey, ScalarType};
use super::paths::json_pointer;
use super::tokens::{RawText, Token, Tokens};
use crate::source::Place;

/// Number of documents after which only the preferred candidates are kept.
const FIRST_DOCUMENTS: u64 = 1_000;
/// Maximum number of paths of the first document.
const MAX_FIRST_PATHS: usize = 2_000;
/// Maximum number of rejected paths that are reported.
const MAX_REJECTED: usize = 8;
/// Number of documents between two checks of the memory limit.
const BUDGET_INTERVAL: u64 = 1_024;
/// Number of values from which on duplicates are searched, whenever the number of values has doubled.
const FIRST_SEARCH: usize = 1 << 10;
/// Root of the tree of paths: the document itself.
const ROOT: usize = 0;

/// Candidates for the key after all documents.
#[derive(Debug, Default)]
pub(super) struct FoundKeys {
    /// Paths that can be the key, the preferred one first.
    pub(super) candidates: Vec<KeyCandidate>,
    /// Number of further paths that could be the key but were not observed to the end.
    pub(super) further: u64,
    /// Paths that are named like a key but cannot be it.
    pub(super) rejected: Vec<RejectedKey>,
}

/// Observes the scalar paths of documents, token by token.
#[derive(Debug)]
pub(super) struct KeyCandidates {
    max_candidates: usize,
    /// Maximum number of hashes of all candidates.
    max_hashes: usize,
    documents: u64,
    tree: Vec<TreeNode>,
    tracked: Vec<TrackedPath>,
    further: u64,
    rejected: Vec<RejectedKey>,
    hasher: quality::FixedState,
    /// Nodes of the open arrays and objects. `None` outside of the tree.
    open: Vec<Option<usize>>,
    /// Node of the value that follows.
    next: Option<usize>,
}

/// A path in the tree of candidates.
#[derive(Debug, Default)]
struct TreeNode {
    members: HashMap<Box<[u8]>, usize, FixedState>,
    /// Index of the candidate with this path. `None` if the path only leads to candidates.
    tracked: Option<usize>,
}

/// A path that may be the key.
#[derive(Debug)]
struct TrackedPath {
    steps: Vec<String>,
    scalar_type: ScalarType,
    max_bytes: u64,
    values: DistinctHashes,
    /// Number of the last document with the path, from 1.
    last_document: u64,
    fault: Option<KeyFault>,
}

impl KeyCandidates {
    /// Creates an observer that follows at most `max_candidates` paths after the first 1,000 documents, and
    /// keeps about `max_hashes` hashes of 8 bytes.
    pub(super) fn new(max_candidates: usize, max_hashes: usize) -> Self {
        KeyCandidates {
            max_candidates,
            max_hashes,
            documents: 0,
            tree: vec![TreeNode::default()],
            tracked: Vec::new(),
            further: 0,
            rejected: Vec::new(),
            hasher: quality::FixedState::with_seed(0),
            open: Vec::new(),
            next: None,
        }
    }

    /// Starts a document, which must be valid JSON. Must be followed by its tokens and
    /// [`KeyCandidates::end`].
    pub(super) fn start(&mut self, document: &[u8]) {
        self.documents += 1;
        if self.documents == 1 {
            self.find_paths(document);
        }
        self.open.clear();
        self.next = Some(ROOT);
    }

    /// Observes the next token of the document.
    pub(super) fn token(&mut self, token: &Token<'_>) {
        if self.tracked.is_empty() {
            return;
        }
        match token {
            Token::Key(name) => {
                let object = self.open.last().copied().flatten().and_then(|node| self.tree.get(node));
                self.next = object.and_then(|node| node.members.get(&*name.decode()).copied());
            }
            Token::End => {
                self.open.pop();
            }
            Token::ObjectStart | Token::ArrayStart => {
                let node = self.next.take();
                self.value(node, token);
                self.open.push(node.filter(|_| matches!(token, Token::ObjectStart)));
            }
            Token::String(_) | Token::Number(_) | Token::Literal => {
                let node = self.next.take();
                self.value(node, token);
            }
        }
    }

    fn value(&mut self, node: Option<usize>, token: &Token<'_>) {
        let tracked = node.and_then(|node| self.tree.get(node)?.tracked);
        if let Some(path) = tracked.and_then(|index| self.tracked.get_mut(index)) {
            path.observe(token, self.documents, &self.hasher);
        }
    }

    /// Ends the document that is at `place`, which rejected paths are reported with if it is known.
    pub(super) fn end(&mut self, place: Option<&dyn Fn() -> Place>) {
        if self.tracked.is_empty() {
            return;
        }
        for path in &mut self.tracked {
            if path.last_document != self.documents {
                path.fault.get_or_insert(KeyFault::Missing);
            }
        }
        self.drop_faulty(place);
        if self.documents == FIRST_DOCUMENTS {
            self.search_duplicates();
            self.keep_preferred();
        } else if self.documents.is_multiple_of(BUDGET_INTERVAL) {
            self.limit_memory();
        }
    }

    /// Returns the paths that are in every document with different values.
    pub(super) fn finish(mut self) -> FoundKeys {
        self.search_duplicates();
        self.keep_preferred();
        let candidates = self.tracked.into_iter().map(TrackedPath::finish).collect();
        FoundKeys { candidates, further: self.further, rejected: self.rejected }
    }

    /// Builds the tree of the scalar paths of the first document.
    fn find_paths(&mut self, document: &[u8]) {
        let mut open: Vec<Option<usize>> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut next = Some(ROOT);
        for token in Tokens::new(document) {
            let scalar_type = match token {
                Token::Key(name) => {
                    // Only names of objects in the tree are on the way to the value.
                    names.truncate(open.len().saturating_sub(1));
                    next = open.last().copied().flatten().and_then(|node| self.member(node, name));
                    if next.is_some() {
                        names.push(String::from_utf8_lossy(&name.decode()).into_owned());
                    }
                    continue;
                }
                Token::End => {
                    open.pop();
                    continue;
                }
                Token::ObjectStart => {
                    open.push(next.take());
                    continue;
                }
                Token::ArrayStart => {
                    open.push(None);
                    next = None;
                    continue;
                }
                Token::String(_) => ScalarType::Text,
                Token::Number(_) => ScalarType::Integer,
                Token::Literal => {
                    next = None;
                    continue;
                }
            };
            let index = self.tracked.len();
            let node = next.take().filter(|node| *node != ROOT).and_then(|node| self.tree.get_mut(node));
            if let Some(node) = node.filter(|node| node.tracked.is_none()) {
                node.tracked = Some(index);
                self.tracked.push(TrackedPath::new(names.clone(), scalar_type));
            }
        }
    }

    /// Returns the node of a member, which is created if it does not exist. `None` if the tree is full or the
    /// name is not UTF-8.
    fn member(&mut self, node: usize, name: RawText<'_>) -> Option<usize> {
        let name = name.decode();
        if let Some(&child) = self.tree.get(node)?.members.get(&*name) {
            return Some(child);
        }
        if self.tree.len() > MAX_FIRST_PATHS || std::str::from_utf8(&name).is_err() {
            return None;
        }
        let child = self.tree.len();
        self.tree.push(TreeNode::default());
        self.tree.get_mut(node)?.members.insert(name.into(), child);
        Some(child)
    }

    fn search_duplicates(&mut self) {
        for path in &mut self.tracked {
            if !path.values.are_distinct() {
                path.fault.get_or_insert(KeyFault::DuplicateValue);
            }
        }
        self.drop_faulty(None);
    }

    /// Drops paths that cannot be the key. `place` is where the current document is, if it has the faults.
    fn drop_faulty(&mut self, place: Option<&dyn Fn() -> Place>) {
        if self.tracked.iter().all(|path| path.fault.is_none()) {
            return;
        }
        for path in &self.tracked {
            let Some(reason) = path.fault else { continue };
            if self.rejected.len() < MAX_REJECTED && KeyPreference::from_steps(&path.steps).is_named() {
                let place = place.filter(|_| reason != KeyFault::DuplicateValue);
                let first = place.map(|place| place().to_string());
                self.rejected.push(RejectedKey { pointer: json_pointer(&path.steps), reason, first });
            }
        }
        self.tracked.retain(|path| path.fault.is_none());
        self.rebuild_tree();
    }

    /// Sorts the paths by preference and drops those beyond the maximum.
    fn keep_preferred(&mut self) {
        self.tracked.sort_by_key(|path| KeyPreference::from_steps(&path.steps));
        self.further += self.tracked.len().saturating_sub(self.max_candidates) as u64;
        self.tracked.truncate(self.max_candidates);
        self.rebuild_tree();
    }

    fn rebuild_tree(&mut self) {
        self.tree = vec![TreeNode::default()];
        for (index, path) in self.tracked.iter().enumerate() {
            let mut node = ROOT;
            for step in &path.steps {
                let new = self.tree.len();
                let child = *self.tree[node].members.entry(step.as_bytes().into()).or_insert(new);
                if child == new {
                    self.tree.push(TreeNode::default());
                }
                node = child;
            }
            self.tree[node].tracked = Some(index);
        }
    }

    /// Compares fewer values of some paths if all hashes together take too much memory. The preferred path is
    /// the last one that this happens to.
    fn limit_memory(&mut self) {
        let count =
            |tracked: &[TrackedPath]| -> usize { tracked.iter().map(|path| path.values.hashes.len()).sum() };
        while count(&self.tracked) > self.max_hashes {
            // Paths that are not preferred keep a sixteenth of the memory together.
            let share = self.max_hashes / (16 * self.tracked.len());
            let largest = self.tracked.iter_mut().rev().find(|path| path.values.hashes.len() > share);
            let Some(path) = largest else { return };
            if !path.values.halve() {
                path.fault = Some(KeyFault::DuplicateValue);
            }
        }
        self.drop_faulty(None);
    }
}

impl TrackedPath {
    fn new(steps: Vec<String>, scalar_type: ScalarType) -> Self {
        let values = DistinctHashes::default();
        TrackedPath { steps, scalar_type, max_bytes: 0, values, last_document: 0, fault: None }
    }

    /// Observes the value that a document has at this path, given by its first token.
    fn observe(&mut self, token: &Token<'_>, document: u64, hasher: &quality::FixedState) {
        if self.last_document == document {
            self.fault.get_or_insert(KeyFault::DuplicateMember);
            return;
        }
        self.last_document = document;
        let hash = match (token, self.scalar_type) {
            (Token::String(text), ScalarType::Text) => self.text_hash(*text, hasher),
            (Token::Number(number), ScalarType::Integer) => integer_hash(number).ok_or(KeyFault::OtherType),
            _ => Err(KeyFault::OtherType),
        };
        match hash {
            Ok(hash) if self.values.add(hash) => {}
            Ok(_) => {
                self.fault.get_or_insert(KeyFault::DuplicateValue);
            }
            Err(fault) => {
                self.fault.get_or_insert(fault);
            }
        }
    }

    fn text_hash(&mut self, text: RawText<'_>, hasher: &quality::FixedState) -> Result<u64, KeyFault> {
        let text = text.decode();
        let bytes = text.len() as u64;
        if bytes > MAX_KEY_BYTES {
            return Err(KeyFault::TooLong);
        }
        if text.contains(&0) || std::str::from_utf8(&text).is_err() {
            return Err(KeyFault::Characters);
        }
        self.max_bytes = self.max_bytes.max(bytes);
        Ok(hasher.hash_one(&*text))
    }

    fn finish(self) -> KeyCandidate {
        KeyCandidate {
            pointer: json_pointer(&self.steps),
            steps: self.steps,
            scalar_type: self.scalar_type,
            max_bytes: self.max_bytes,
            compared_share: self.values.compared_share(),
        }
    }
}

/// Hashes a signed 64-bit integer so that different integers have different hashes. `None` if the number is
/// none.
fn integer_hash(number: &[u8]) -> Option<u64> {
    // Systems read `-0` as zero or as a fraction.
    let number = std::str::from_utf8(number).ok().filter(|number| *number != "-0")?;
    let mut hash = number.parse::<i64>().ok()?.cast_unsigned();
    // Finalizer of SplitMix64 (Steele, Lea, Flood, 2014), which is a bijection.
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    Some(hash ^ (hash >> 31))
}

/// Hashes of values that must be different.
///
/// A list takes half the memory of a hash table. It is sorted whenever it has doubled, so that duplicates are
/// found somewhat later than they occur.
#[derive(Debug)]
struct DistinctHashes {
    hashes: Vec<u64>,
    search_at: usize,
    /// Only hashes whose lowest bits are zero are kept; this is the number of these bits.
    skipped_bits: u32,
}

impl Default for DistinctHashes {
    fn default() -> Self {
        DistinctHashes { hashes: Vec::new(), search_at: FIRST_SEARCH, skipped_bits: 0 }
    }
}

impl DistinctHashes {
    fn is_kept(&self, hash: u64) -> bool {
        hash & ((1 << self.skipped_bits) - 1) == 0
    }

    /// Adds a hash. Returns `false` if duplicates have been found.
    fn add(&mut self, hash: u64) -> bool {
        if !self.is_kept(hash) {
            return true;
        }
        self.hashes.push(hash);
        self.hashes.len() < self.search_at || self.are_distinct()
    }

    /// Returns `false` if two hashes are equal.
    fn are_distinct(&mut self) -> bool {
        self.search_at = FIRST_SEARCH.max(2 * self.hashes.len());
        self.hashes.sort_unstable();
        self.hashes.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// Drops half of the hashes, and from now on ignores values with such hashes. All values with the same hash
    /// are kept or dropped together, so that the others remain compared. Returns `false` if duplicates have
    /// been found.
    fn halve(&mut self) -> bool {
        let is_distinct = self.are_distinct();
        self.skipped_bits += 1;
        let mask = (1_u64 << self.skipped_bits) - 1;
        self.hashes.retain(|hash| hash & mask == 0);
        self.hashes.shrink_to_fit();
        self.search_at = FIRST_SEARCH.max(2 * self.hashes.len());
        is_distinct
    }

    /// Returns the share of values that are compared.
    fn compared_share(&self) -> f64 {
        0.5_f64.powi(self.skipped_bits.cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::source::PlaceUnit;

    fn found_with(lines: &[String], max_candidates: usize, max_hashes: usize) -> FoundKeys {
        let mut keys = KeyCandidates::new(max_candidates, max_hashes);
        for (number, line) in (1..).zip(lines) {
            keys.start(line.as_bytes());
            Tokens::new(line.as_bytes()).for_each(|token| keys.token(&token));
            keys.end(Some(&|| Place { input: "a".into(), number, unit: PlaceUnit::Line, byte: None }));
        }
        keys.finish()
    }

    fn found(lines: &[&str]) -> FoundKeys {
        found_with(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>(), 8, 1 << 20)
    }

    fn pointers(found: &FoundKeys) -> Vec<&str> {
        found.candidates.iter().map(|candidate| candidate.pointer.as_str()).collect()
    }

    #[test]
    fn a_key_is_in_every_document_unique_and_of_one_type() {
        let lines = [
            r#"{"b":{"id":"x","n":null},"a":1,"same":1,"list":[{"id":1}],"t":true,"f":1.5,"id":7,"m":"1"}"#,
            r#"{"b":{"id":"y"},"a":2,"same":1,"list":[{"id":2}],"t":false,"f":2.5,"id":"8","m":2}"#,
        ];
        let keys = found(&lines);
        assert_eq!(pointers(&keys), ["/b/id", "/a"]);
        assert_eq!(keys.candidates[0].scalar_type, ScalarType::Text);
        assert_eq!(keys.candidates[1].scalar_type, ScalarType::Integer);
        assert_eq!((keys.candidates[0].max_bytes, keys.candidates[0].compared_share), (1, 1.0));
        let rejected = RejectedKey {
            pointer: "/id".to_owned(),
            reason: KeyFault::OtherType,
            first: Some("a, line 2".to_owned()),
        };
        assert_eq!(keys.rejected, [rejected], "paths that are not named like keys are not reported");
    }

    #[test]
    fn faults_of_keys_are_named() {
        let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(256));
        let fits = format!(r#"{{"id":"{}"}}"#, "x".repeat(255));
        let nested = format!(r#"{{"id":"b","x":{}1{}}}"#, "[".repeat(300), "]".repeat(300));
        let first = r#"{"id":"a"}"#;
        for (second, fault) in [
            (long.as_str(), Some(KeyFault::TooLong)),
            (fits.as_str(), None),
            (nested.as_str(), None),
            (r#"{"i\u0064":"b","x":"\ud800","y":1e999}"#, None),
            (r#"{"id":"\u0061"}"#, Some(KeyFault::DuplicateValue)),
            (r#"{"id":"a\u0000"}"#, Some(KeyFault::Characters)),
            (r#"{"id":"\ud800"}"#, Some(KeyFault::Characters)),
            (r#"{"id":"b","id":"c"}"#, Some(KeyFault::DuplicateMember)),
            (r#"{"id":{"id":"b"}}"#, Some(KeyFault::OtherType)),
            (r#"{"id":["b"]}"#, Some(KeyFault::OtherType)),
            (r#"{"id":null}"#, Some(KeyFault::OtherType)),
            (r#"{"x":{"id":"b"}}"#, Some(KeyFault::Missing)),
            (r#"["id"]"#, Some(KeyFault::Missing)),
            ("1", Some(KeyFault::Missing)),
        ] {
            let keys = found(&[first, second]);
            assert_eq!(keys.rejected.first().map(|rejected| rejected.reason), fault, "{second}");
            assert_eq!(keys.candidates.is_empty(), fault.is_some(), "{second}");
        }
        for number in ["1.0", "1e0", "-0", "9223372036854775808", "123456789012345678901234567890"] {
            let keys = found(&[r#"{"id":5}"#, &format!(r#"{{"id":{number}}}"#)]);
            assert_eq!(keys.rejected[0].reason, KeyFault::OtherType, "{number}");
        }
        assert!(found(&[]).candidates.is_empty());
        assert!(found(&["[]", r#"{"id":1}"#]).candidates.is_empty());
        assert_eq!(pointers(&found(&[r#"{"id":1,"id":2}"#])), [""; 0], "also in the first document");
    }

    #[test]
    fn names_are_those_on_the_way_to_the_value() {
        let line = r#"{"x":{"y":{"z":true}},"":{"a.b":{"c/d":1}},"l":[{"a":1}],"e":{},"f":"t"}"#;
        assert_eq!(pointers(&found(&[line])), ["/f", "//a.b/c~1d"]);
    }

    #[test]
    fn only_the_preferred_paths_are_followed_after_the_first_documents() {
        let line = |n: u64| format!(r#"{{"a":{n},"b":{n},"c":{n},"d":{{"id":{n}}},"user_id":{n}}}"#);
        let lines: Vec<String> = (0..FIRST_DOCUMENTS + 10).map(line).collect();
        let keys = found_with(&lines, 3, 1 << 20);
        assert_eq!(pointers(&keys), ["/user_id", "/d/id", "/a"]);
        assert_eq!(keys.further, 2);
        let few = found_with(&lines[..5], 3, 1 << 20);
        assert_eq!((pointers(&few).len(), few.further), (3, 2));
    }

    #[test]
    fn memory_is_limited_and_the_preferred_path_stays_exact_for_longest() {
        let line = |n: u64| format!(r#"{{"id":{n},"a":{n},"b":"{n}","c":"{n}"}}"#);
        let lines: Vec<String> = (0..10_000).map(line).collect();
        let mut keys = KeyCandidates::new(8, 12_000);
        for line in &lines {
            keys.start(line.as_bytes());
            Tokens::new(line.as_bytes()).for_each(|token| keys.token(&token));
            keys.end(None);
            let hashes: usize = keys.tracked.iter().map(|path| path.values.hashes.len()).sum();
            assert!(hashes <= 12_000 + 4 * BUDGET_INTERVAL as usize, "{hashes}");
        }
        let keys = keys.finish();
        assert_eq!(pointers(&keys), ["/id", "/a", "/b", "/c"]);
        assert_eq!(keys.candidates[0].compared_share, 1.0);
        assert!(keys.candidates[1..].iter().all(|candidate| candidate.compared_share < 1.0));
        let alone: Vec<String> = (0..10_000).map(|n| format!(r#"{{"id":{n}}}"#)).collect();
        let keys = found_with(&alone, 8, 4_000);
        assert!(keys.candidates[0].compared_share <= 0.5, "{:?}", keys.candidates);
        // Every value is there twice, so that some pair is among those that are compared.
        let twice: Vec<String> = (0..10_000).map(|n| format!(r#"{{"id":{}}}"#, n % 5_000)).collect();
        assert!(found_with(&twice, 8, 500).candidates.is_empty());
    }

    #[test]
    fn integers_have_different_hashes() {
        let hash = |number: i64| integer_hash(number.to_string().as_bytes()).unwrap();
        let numbers = (-2_000..2_000).chain([i64::MIN, i64::MAX]);
        assert_eq!(numbers.map(hash).collect::<HashSet<_>>().len(), 4_002);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_planted_duplicate_or_absence_is_found_at_any_position(
            count in prop_oneof![2_usize..40, 990_usize..1_100, 2_000_usize..2_100],
            is_text in any::<bool>(),
            first in any::<prop::sample::Index>(),
            second in any::<prop::sample::Index>(),
            is_at_ends in any::<bool>(),
        ) {
            let line = |n: usize| match is_text {
                true => format!(r#"{{"n":{{"id":"k{n}"}},"x":{}}}"#, n % 3),
                false => format!(r#"{{"n":{{"id":{n}}},"x":{}}}"#, n % 3),
            };
            let lines: Vec<String> = (0..count).map(line).collect();
            let keys = found_with(&lines, 8, 1 << 20);
            prop_assert_eq!(pointers(&keys).contains(&"/n/id"), true);
            prop_assert!(keys.candidates[0].is_proved());

            let (first, second) = match is_at_ends {
                true => (0, count - 1),
                false => (first.index(count), second.index(count)),
            };
            if first != second {
                let mut planted = lines.clone();
                planted[second] = lines[first].clone();
                let keys = found_with(&planted, 8, 1 << 20);
                prop_assert!(!pointers(&keys).contains(&"/n/id"));
                prop_assert_eq!(keys.rejected[0].reason, KeyFault::DuplicateValue);
            }
            if second > 0 {
                let mut absent = lines;
                absent[second] = r#"{"n":{},"x":1}"#.to_owned();
                let keys = found_with(&absent, 8, 1 << 20);
                prop_assert!(!pointers(&keys).contains(&"/n/id"));
                let place = Some(format!("a, line {}", second + 1));
                prop_assert_eq!(keys.rejected[0].reason, KeyFault::Missing);
                prop_assert_eq!(&keys.rejected[0].first, &place);
            }
        }
    }
}
