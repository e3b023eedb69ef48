//! Compares a document with the returned one: same bytes, same value, or changed, and how.
//!
//! Numbers are compared as exact decimals, strings by code unit, objects regardless of member order. A
//! different order is reported separately from the value.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use jsonathlon_schema::value::Value;
use serde::{Deserialize, Serialize};

use super::number::Decimal;
use super::strict::{self, Node, Text, Tree};

/// Byte order mark U+FEFF, encoded in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Kind of difference between a given document and the returned one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Different white space between tokens, or an added or missing byte order mark.
    WhiteSpace,
    /// Members of an object in a different order.
    KeyOrder,
    /// A number with equal value but different spelling. Minus zero equals zero.
    NumberForm,
    /// A string with equal code units but different escapes.
    Escapes,
    /// Not all members with the same key are there.
    DuplicateKeys,
    /// A number with a different value.
    NumberValue,
    /// A string or key with different code units.
    Characters,
    /// A member or element with the value null is missing.
    NullMembers,
    /// An empty object or array is missing or has become another value.
    EmptyContainers,
    /// A value of a different type.
    Type,
    /// A string, or the whole text, that ends early.
    Truncation,
    /// A member or element that is neither null nor empty is missing.
    Loss,
    /// A member or element that the given document does not have.
    Addition,
    /// The given text is not JSON, but the returned one is.
    Repair,
    /// The given text is JSON, but the returned one is not.
    NotJson,
}

impl ChangeKind {
    /// All kinds, in the order in which they are displayed.
    pub const ALL: [Self; 15] = [
        Self::WhiteSpace,
        Self::KeyOrder,
        Self::NumberForm,
        Self::Escapes,
        Self::DuplicateKeys,
        Self::NumberValue,
        Self::Characters,
        Self::NullMembers,
        Self::EmptyContainers,
        Self::Type,
        Self::Truncation,
        Self::Loss,
        Self::Addition,
        Self::Repair,
        Self::NotJson,
    ];

    /// Returns `true` if the document's value stays the same despite this difference.
    #[must_use]
    pub fn keeps_value(self) -> bool {
        matches!(self, Self::WhiteSpace | Self::KeyOrder | Self::NumberForm | Self::Escapes)
    }

    /// Returns the word used in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::WhiteSpace => "white space",
            Self::KeyOrder => "key order",
            Self::NumberForm => "number form",
            Self::Escapes => "escapes",
            Self::DuplicateKeys => "duplicate keys",
            Self::NumberValue => "number value",
            Self::Characters => "characters",
            Self::NullMembers => "null members",
            Self::EmptyContainers => "empty containers",
            Self::Type => "type",
            Self::Truncation => "truncation",
            Self::Loss => "loss",
            Self::Addition => "addition",
            Self::Repair => "repair",
            Self::NotJson => "not JSON",
        }
    }
}

/// How much of a document is retained in the returned text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoundTrip {
    /// Every byte is the same.
    Bytes,
    /// The same value with a different spelling. No difference changes the value; empty for an extracted
    /// value that is equal.
    Value(BTreeSet<ChangeKind>),
    /// A different value; at least one difference changes it.
    Changed(BTreeSet<ChangeKind>),
}

impl RoundTrip {
    fn of(kinds: BTreeSet<ChangeKind>) -> Self {
        if kinds.iter().all(|kind| kind.keeps_value()) { Self::Value(kinds) } else { Self::Changed(kinds) }
    }

    /// Returns `true` if the value is the same.
    #[must_use]
    pub fn is_same_value(&self) -> bool {
        !matches!(self, Self::Changed(_))
    }

    /// Returns the kinds of differences. Empty for [`RoundTrip::Bytes`].
    #[must_use]
    pub fn kinds(&self) -> BTreeSet<ChangeKind> {
        match self {
            Self::Bytes => BTreeSet::new(),
            Self::Value(kinds) | Self::Changed(kinds) => kinds.clone(),
        }
    }
}

/// Compares a given document with the returned text.
#[must_use]
pub fn compare_document(given: &[u8], returned: &[u8]) -> RoundTrip {
    if given == returned {
        return RoundTrip::Bytes;
    }
    let mut kinds = BTreeSet::new();
    let (bare_given, bare_returned) = (without_mark(given), without_mark(returned));
    if (bare_given.len() == given.len()) != (bare_returned.len() == returned.len()) {
        kinds.insert(ChangeKind::WhiteSpace);
    }
    match (strict::read(bare_given), strict::read(bare_returned)) {
        (Ok(before), Ok(after)) => {
            // The comparison of the roots covers all values below them.
            Comparison::new(&before, &after).compare(before.root(), after.root(), &mut kinds);
            if spaces_differ(&before, &after) {
                kinds.insert(ChangeKind::WhiteSpace);
            }
            RoundTrip::of(kinds)
        }
        (Ok(_), Err(_)) => {
            let is_prefix = !returned.is_empty() && bare_given.starts_with(bare_returned);
            kinds.insert(if is_prefix { ChangeKind::Truncation } else { ChangeKind::NotJson });
            RoundTrip::Changed(kinds)
        }
        (Err(_), after) => {
            // The given text has no value to compare with: the returned text is a part of it, another text,
            // or JSON made from it.
            let (given_text, returned_text) = (given.trim_ascii(), returned.trim_ascii());
            if given_text == returned_text {
                kinds.insert(ChangeKind::WhiteSpace);
                return RoundTrip::Value(kinds);
            }
            kinds.insert(match (given_text.starts_with(returned_text), after) {
                (true, _) => ChangeKind::Truncation,
                (false, Ok(_)) => ChangeKind::Repair,
                (false, Err(_)) => ChangeKind::Characters,
            });
            RoundTrip::Changed(kinds)
        }
    }
}

/// Compares the value of a document's member with the extracted value, given as JSON text. Of duplicate
/// members the last is expected; another one is reported as [`ChangeKind::DuplicateKeys`]. `None` if the
/// document has no such member or is not JSON.
#[must_use]
pub fn compare_value(given: &[u8], member: &str, returned: &[u8]) -> Option<RoundTrip> {
    let before = strict::read(without_mark(given)).ok()?;
    let indexes = before.members(member);
    indexes.last()?;
    let Ok(after) = strict::read(returned) else {
        return Some(RoundTrip::Changed([ChangeKind::NotJson].into()));
    };
    Some(compare_members(&before, &indexes, &after, after.root()))
}

/// Compares a value with the last of `indexes`, and with the others if they differ.
fn compare_members(before: &Tree<'_>, indexes: &[usize], after: &Tree<'_>, returned: usize) -> RoundTrip {
    let comparison = Comparison::new(before, after);
    let compare = |index: usize| {
        let mut kinds = BTreeSet::new();
        comparison.compare(index, returned, &mut kinds);
        kinds
    };
    let is_same = |kinds: &BTreeSet<ChangeKind>| kinds.iter().all(|kind| kind.keeps_value());
    let kinds = indexes.last().map(|last| compare(*last)).unwrap_or_default();
    if !is_same(&kinds) && indexes.iter().any(|index| is_same(&compare(*index))) {
        return RoundTrip::Changed([ChangeKind::DuplicateKeys].into());
    }
    RoundTrip::of(kinds)
}

/// Compares the value of a document's member with the extracted value, given in the system's own type. Text
/// is the content of a string, or JSON for any other type; null is NULL. `None` as in [`compare_value`].
#[must_use]
pub fn compare_cell(given: &[u8], member: &str, returned: &Value) -> Option<RoundTrip> {
    let before = strict::read(without_mark(given)).ok()?;
    let indexes = before.members(member);
    let last = *indexes.last()?;
    let kinds = cell_kinds(&before, last, returned);
    if kinds.is_some_and(|kind| !kind.keeps_value())
        && indexes
            .iter()
            .any(|index| cell_kinds(&before, *index, returned).is_none_or(ChangeKind::keeps_value))
    {
        return Some(RoundTrip::Changed([ChangeKind::DuplicateKeys].into()));
    }
    if let (Node::Array(_) | Node::Object(_), Value::Text(text)) = (before.node(last), returned) {
        return compare_value(given, member, text.as_bytes());
    }
    Some(match kinds {
        None => RoundTrip::Value(BTreeSet::new()),
        Some(kind) => RoundTrip::of([kind].into()),
    })
}

/// Like [`compare_value`], for an extracted value that is wrapped in an object with this single member.
#[must_use]
pub fn compare_wrapped_value(given: &[u8], member: &str, returned: &[u8]) -> Option<RoundTrip> {
    let before = strict::read(without_mark(given)).ok()?;
    let indexes = before.members(member);
    let last = *indexes.last()?;
    let Ok(after) = strict::read(returned) else {
        return Some(RoundTrip::Changed([ChangeKind::NotJson].into()));
    };
    let Some(returned_index) = after.members(member).last().copied() else {
        return Some(RoundTrip::Changed([of_missing(before.node(last))].into()));
    };
    Some(compare_members(&before, &indexes, &after, returned_index))
}

fn cell_kinds(before: &Tree<'_>, index: usize, returned: &Value) -> Option<ChangeKind> {
    let number = |text: &str, value: &str| {
        let is_number = strict::read(value.as_bytes())
            .is_ok_and(|tree| matches!(tree.node(tree.root()), Node::Number(_)));
        match (is_number, text == value) {
            (false, _) => Some(ChangeKind::Type),
            (true, true) => None,
            (true, false) if Decimal::from_text(text) == Decimal::from_text(value) => {
                Some(ChangeKind::NumberForm)
            }
            (true, false) => Some(ChangeKind::NumberValue),
        }
    };
    match (before.node(index), returned) {
        (Node::Null, Value::Null) => None,
        (Node::Null, _) => Some(ChangeKind::Type),
        (_, Value::Null) => Some(ChangeKind::Loss),
        (Node::Text(text), Value::Text(value)) => {
            let units: Vec<u16> = value.encode_utf16().collect();
            match () {
                () if units == text.units => None,
                () if is_prefix(&units, &text.units) => Some(ChangeKind::Truncation),
                () => Some(ChangeKind::Characters),
            }
        }
        (Node::Number(text), Value::Text(value)) => number(text, value),
        (Node::Number(text), Value::Int(value)) => number(text, &value.to_string()),
        (Node::Number(text), Value::Float(value)) if value.is_finite() => number(text, &format!("{value:e}")),
        (Node::Number(_), Value::Float(_)) => Some(ChangeKind::NumberValue),
        (Node::Bool(truth), Value::Bool(value)) if truth == value => None,
        (Node::Bool(truth), Value::Text(value)) if truth.to_string() == *value => None,
        (Node::Array(_) | Node::Object(_), Value::Text(value)) => {
            let Ok(after) = strict::read(value.as_bytes()) else { return Some(ChangeKind::NotJson) };
            let mut kinds = BTreeSet::new();
            Comparison::new(before, &after).compare(index, after.root(), &mut kinds);
            kinds.into_iter().find(|kind| !kind.keeps_value())
        }
        _ => Some(ChangeKind::Type),
    }
}

fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Returns `true` if white space differs between a pair of token kinds that occurs in both texts.
fn spaces_differ(before: &Tree<'_>, after: &Tree<'_>) -> bool {
    before.gaps.iter().any(|(tokens, gaps)| after.gaps.get(tokens).is_some_and(|other| other != gaps))
}

/// Two trees with a hash of each of their values.
struct Comparison<'t, 'b, 'a> {
    before: &'t Tree<'b>,
    after: &'t Tree<'a>,
    hashes: [Vec<u64>; 2],
}

impl<'t, 'b, 'a> Comparison<'t, 'b, 'a> {
    fn new(before: &'t Tree<'b>, after: &'t Tree<'a>) -> Self {
        Self { before, after, hashes: [hashes(before), hashes(after)] }
    }

    /// Returns `true` if two values are equal by their hashes, with members in any order.
    fn is_equal(&self, before: usize, after: usize) -> bool {
        let [before_hashes, after_hashes] = &self.hashes;
        before_hashes.get(before) == after_hashes.get(after)
    }

    /// Adds all differences between two values, including nested ones, to `kinds`.
    fn compare(&self, before: usize, after: usize, kinds: &mut BTreeSet<ChangeKind>) {
        let mut pairs = vec![(before, after)];
        while let Some((given, returned)) = pairs.pop() {
            self.pair(given, returned, kinds, &mut pairs);
        }
    }

    fn pair(
        &self,
        given: usize,
        returned: usize,
        kinds: &mut BTreeSet<ChangeKind>,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        match (self.before.node(given), self.after.node(returned)) {
            (Node::Null, Node::Null) => {}
            (Node::Bool(given), Node::Bool(returned)) if given == returned => {}
            (Node::Number(given), Node::Number(returned)) if given == returned => {}
            (Node::Number(given), Node::Number(returned)) => {
                let is_same = Decimal::from_text(given) == Decimal::from_text(returned);
                kinds.insert(if is_same { ChangeKind::NumberForm } else { ChangeKind::NumberValue });
            }
            (Node::Text(given), Node::Text(returned)) => kinds.extend(of_texts(given, returned)),
            (Node::Array(given), Node::Array(returned)) => self.arrays(given, returned, kinds, pairs),
            (Node::Object(given), Node::Object(returned)) => self.objects(given, returned, kinds, pairs),
            (given, _) => {
                kinds.insert(if is_empty(given) { ChangeKind::EmptyContainers } else { ChangeKind::Type });
            }
        }
    }

    fn arrays(
        &self,
        given: &[usize],
        returned: &[usize],
        kinds: &mut BTreeSet<ChangeKind>,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        if given.len() == returned.len() {
            pairs.extend(given.iter().copied().zip(returned.iter().copied()));
            return;
        }
        if given.len() < returned.len() {
            kinds.insert(ChangeKind::Addition);
            return;
        }
        // Missing elements: those not found after the previously found one.
        let mut remaining = returned.iter();
        let mut candidate = remaining.next();
        for index in given {
            match candidate {
                Some(next) if self.is_equal(*index, *next) => candidate = remaining.next(),
                _ => {
                    kinds.insert(of_missing(self.before.node(*index)));
                }
            }
        }
        if candidate.is_some() {
            kinds.insert(ChangeKind::Loss);
        }
    }

    fn objects(
        &self,
        given: &[(Text<'_>, usize)],
        returned: &[(Text<'_>, usize)],
        kinds: &mut BTreeSet<ChangeKind>,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        let (given_keys, returned_keys) = (by_key(given), by_key(returned));
        let mut missing = Vec::new();
        for (key, values) in &given_keys {
            let Some(matches) = returned_keys.get(key) else {
                missing.push((*key, values.as_slice()));
                continue;
            };
            self.members(values, matches, kinds, pairs);
            let raw = |members: &[Member<'_, '_>]| -> Vec<String> {
                members.iter().map(|(key, _)| key.raw.to_owned()).collect()
            };
            if values.len() == matches.len() && raw(values) != raw(matches) {
                kinds.insert(ChangeKind::Escapes);
            }
        }
        let mut added: Vec<(&[u16], &[Member<'_, '_>])> = returned_keys
            .iter()
            .filter(|(key, _)| !given_keys.contains_key(*key))
            .map(|(key, values)| (*key, values.as_slice()))
            .collect();
        for (key, values) in missing {
            // If the same value has another key, the key has changed.
            let renamed = added.iter().position(|(_, added_values)| match (values, added_values) {
                ([(_, value)], [(_, added_value)]) => self.is_equal(*value, *added_value),
                _ => false,
            });
            if let Some(index) = renamed {
                let (new_key, _) = added.swap_remove(index);
                kinds.insert(if is_prefix(new_key, key) {
                    ChangeKind::Truncation
                } else {
                    ChangeKind::Characters
                });
                continue;
            }
            kinds.extend(values.iter().map(|(_, value)| of_missing(self.before.node(*value))));
        }
        if !added.is_empty() {
            kinds.insert(ChangeKind::Addition);
        }
        let order = |members: &[(Text<'_>, usize)], is_included: &dyn Fn(&[u16]) -> bool| -> Vec<Vec<u16>> {
            let mut seen = BTreeSet::new();
            let first_members = members.iter().filter(|(key, _)| seen.insert(key.units.clone()));
            first_members.map(|(key, _)| key.units.clone()).filter(|key| is_included(key)).collect()
        };
        // Which of two members with the same key was kept determines its position, and is already reported.
        let is_single = |key: &[u16]| {
            let occurs_once = |map: &ByKey<'_, '_>| map.get(key).is_some_and(|members| members.len() == 1);
            occurs_once(&given_keys) && occurs_once(&returned_keys)
        };
        if order(given, &is_single) != order(returned, &is_single) {
            kinds.insert(ChangeKind::KeyOrder);
        }
    }

    /// Compares the members with one key.
    fn members(
        &self,
        given: &[Member<'_, '_>],
        returned: &[Member<'_, '_>],
        kinds: &mut BTreeSet<ChangeKind>,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        if given.len() == returned.len() {
            pairs.extend(given.iter().map(|(_, index)| *index).zip(returned.iter().map(|(_, index)| *index)));
            return;
        }
        let is_shorter = returned.len() < given.len();
        kinds.insert(if is_shorter { ChangeKind::DuplicateKeys } else { ChangeKind::Addition });
        // Remaining members are compared with the equal one, or else with the last.
        for (_, returned_index) in returned {
            let equal = given.iter().find(|(_, index)| self.is_equal(*index, *returned_index));
            if let Some((_, index)) = equal.or(given.last()) {
                pairs.push((*index, *returned_index));
            }
        }
    }
}

/// A key with its spelling, and the index of its value.
type Member<'m, 't> = (&'m Text<'t>, usize);

type ByKey<'m, 't> = BTreeMap<&'m [u16], Vec<Member<'m, 't>>>;

fn by_key<'m, 't>(members: &'m [(Text<'t>, usize)]) -> ByKey<'m, 't> {
    let mut members_by_key = ByKey::new();
    for (key, index) in members {
        members_by_key.entry(key.units.as_slice()).or_default().push((key, *index));
    }
    members_by_key
}

fn is_empty(node: &Node<'_>) -> bool {
    match node {
        Node::Array(elements) => elements.is_empty(),
        Node::Object(members) => members.is_empty(),
        _ => false,
    }
}

fn of_missing(node: &Node<'_>) -> ChangeKind {
    match node {
        Node::Null => ChangeKind::NullMembers,
        node if is_empty(node) => ChangeKind::EmptyContainers,
        _ => ChangeKind::Loss,
    }
}

fn is_prefix(part: &[u16], text: &[u16]) -> bool {
    part.len() < text.len() && text.starts_with(part)
}

fn of_texts(given: &Text<'_>, returned: &Text<'_>) -> Option<ChangeKind> {
    if given.units == returned.units {
        return (given.raw != returned.raw).then_some(ChangeKind::Escapes);
    }
    let is_truncated = is_prefix(&returned.units, &given.units);
    Some(if is_truncated { ChangeKind::Truncation } else { ChangeKind::Characters })
}

/// Hashes every value of a tree such that equal values have equal hashes.
fn hashes(tree: &Tree<'_>) -> Vec<u64> {
    let mut hashes: Vec<u64> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let mut hasher = DefaultHasher::new();
        std::mem::discriminant(node).hash(&mut hasher);
        match node {
            Node::Null => {}
            Node::Bool(truth) => truth.hash(&mut hasher),
            Node::Number(text) => Decimal::from_text(text).hash(&mut hasher),
            Node::Text(text) => text.units.hash(&mut hasher),
            Node::Array(elements) => elements.iter().for_each(|index| hashes.get(*index).hash(&mut hasher)),
            Node::Object(members) => {
                // A sum of hashes does not depend on the member order.
                let member_hashes = members.iter().map(|(key, index)| {
                    let mut hasher = DefaultHasher::new();
                    (&key.units, hashes.get(*index)).hash(&mut hasher);
                    hasher.finish()
                });
                (members.len(), member_hashes.fold(0, u64::wrapping_add)).hash(&mut hasher);
            }
        }
        hashes.push(hasher.finish());
    }
    hashes
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
