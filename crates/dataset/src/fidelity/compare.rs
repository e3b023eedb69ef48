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
const MARK: &[u8] = b"\xef\xbb\xbf";

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
pub fn of_document(given: &[u8], returned: &[u8]) -> RoundTrip {
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
            Comparison::new(&before, &after).all(before.root(), after.root(), &mut kinds);
            if spaces_differ(&before, &after) {
                kinds.insert(ChangeKind::WhiteSpace);
            }
            RoundTrip::of(kinds)
        }
        (Ok(_), Err(_)) => {
            let is_begin = !returned.is_empty() && bare_given.starts_with(bare_returned);
            kinds.insert(if is_begin { ChangeKind::Truncation } else { ChangeKind::NotJson });
            RoundTrip::Changed(kinds)
        }
        (Err(_), after) => {
            // The given text has no value to compare with: the returned text is a part of it, another text,
            // or JSON made from it.
            let (before, now) = (given.trim_ascii(), returned.trim_ascii());
            if before == now {
                kinds.insert(ChangeKind::WhiteSpace);
                return RoundTrip::Value(kinds);
            }
            kinds.insert(match (before.starts_with(now), after) {
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
pub fn of_value(given: &[u8], member: &str, returned: &[u8]) -> Option<RoundTrip> {
    let before = strict::read(without_mark(given)).ok()?;
    let places = before.members(member);
    places.last()?;
    let Ok(after) = strict::read(returned) else {
        return Some(RoundTrip::Changed([ChangeKind::NotJson].into()));
    };
    Some(of_places(&before, &places, &after, after.root()))
}

/// Compares a value with the last of `places`, and with the others if they differ.
fn of_places(before: &Tree<'_>, places: &[usize], after: &Tree<'_>, found: usize) -> RoundTrip {
    let comparison = Comparison::new(before, after);
    let compare = |place: usize| {
        let mut kinds = BTreeSet::new();
        comparison.all(place, found, &mut kinds);
        kinds
    };
    let is_same = |kinds: &BTreeSet<ChangeKind>| kinds.iter().all(|kind| kind.keeps_value());
    let kinds = places.last().map(|last| compare(*last)).unwrap_or_default();
    if !is_same(&kinds) && places.iter().any(|place| is_same(&compare(*place))) {
        return RoundTrip::Changed([ChangeKind::DuplicateKeys].into());
    }
    RoundTrip::of(kinds)
}

/// Compares the value of a document's member with the extracted value, given in the system's own type. Text
/// is the content of a string, or JSON for any other type; null is NULL. `None` as in [`of_value`].
#[must_use]
pub fn of_cell(given: &[u8], member: &str, returned: &Value) -> Option<RoundTrip> {
    let before = strict::read(without_mark(given)).ok()?;
    let places = before.members(member);
    let last = *places.last()?;
    let kinds = cell_kinds(&before, last, returned);
    if kinds.is_some_and(|kind| !kind.keeps_value())
        && places
            .iter()
            .any(|place| cell_kinds(&before, *place, returned).is_none_or(ChangeKind::keeps_value))
    {
        return Some(RoundTrip::Changed([ChangeKind::DuplicateKeys].into()));
    }
    if let (Node::Array(_) | Node::Object(_), Value::Text(text)) = (before.node(last), returned) {
        return of_value(given, member, text.as_bytes());
    }
    Some(match kinds {
        None => RoundTrip::Value(BTreeSet::new()),
        Some(kind) => RoundTrip::of([kind].into()),
    })
}

/// Like [`of_value`], for an extracted value that is wrapped in an object with this single member.
#[must_use]
pub fn of_member(given: &[u8], member: &str, returned: &[u8]) -> Option<RoundTrip> {
    let before = strict::read(without_mark(given)).ok()?;
    let places = before.members(member);
    let last = *places.last()?;
    let Ok(after) = strict::read(returned) else {
        return Some(RoundTrip::Changed([ChangeKind::NotJson].into()));
    };
    let Some(found) = after.members(member).last().copied() else {
        return Some(RoundTrip::Changed([of_missing(before.node(last))].into()));
    };
    Some(of_places(&before, &places, &after, found))
}

fn cell_kinds(before: &Tree<'_>, place: usize, returned: &Value) -> Option<ChangeKind> {
    let number = |text: &str, now: &str| {
        let is_number =
            strict::read(now.as_bytes()).is_ok_and(|tree| matches!(tree.node(tree.root()), Node::Number(_)));
        match (is_number, text == now) {
            (false, _) => Some(ChangeKind::Type),
            (true, true) => None,
            (true, false) if Decimal::of(text) == Decimal::of(now) => Some(ChangeKind::NumberForm),
            (true, false) => Some(ChangeKind::NumberValue),
        }
    };
    match (before.node(place), returned) {
        (Node::Null, Value::Null) => None,
        (Node::Null, _) => Some(ChangeKind::Type),
        (_, Value::Null) => Some(ChangeKind::Loss),
        (Node::Text(text), Value::Text(now)) => {
            let units: Vec<u16> = now.encode_utf16().collect();
            match () {
                () if units == text.units => None,
                () if is_begin(&units, &text.units) => Some(ChangeKind::Truncation),
                () => Some(ChangeKind::Characters),
            }
        }
        (Node::Number(text), Value::Text(now)) => number(text, now),
        (Node::Number(text), Value::Int(now)) => number(text, &now.to_string()),
        (Node::Number(text), Value::Float(now)) if now.is_finite() => number(text, &format!("{now:e}")),
        (Node::Number(_), Value::Float(_)) => Some(ChangeKind::NumberValue),
        (Node::Bool(truth), Value::Bool(now)) if truth == now => None,
        (Node::Bool(truth), Value::Text(now)) if truth.to_string() == *now => None,
        (Node::Array(_) | Node::Object(_), Value::Text(now)) => {
            let Ok(after) = strict::read(now.as_bytes()) else { return Some(ChangeKind::NotJson) };
            let mut kinds = BTreeSet::new();
            Comparison::new(before, &after).all(place, after.root(), &mut kinds);
            kinds.into_iter().find(|kind| !kind.keeps_value())
        }
        _ => Some(ChangeKind::Type),
    }
}

fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// Returns `true` if white space differs between a pair of token kinds that occurs in both texts.
fn spaces_differ(before: &Tree<'_>, after: &Tree<'_>) -> bool {
    before.gaps.iter().any(|(place, gaps)| after.gaps.get(place).is_some_and(|other| other != gaps))
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
    fn same(&self, before: usize, after: usize) -> bool {
        let [of_before, of_after] = &self.hashes;
        of_before.get(before) == of_after.get(after)
    }

    /// Adds all differences between two values, including nested ones, to `kinds`.
    fn all(&self, before: usize, after: usize, kinds: &mut BTreeSet<ChangeKind>) {
        let mut pairs = vec![(before, after)];
        while let Some((one, other)) = pairs.pop() {
            self.pair(one, other, kinds, &mut pairs);
        }
    }

    fn pair(
        &self,
        one: usize,
        other: usize,
        kinds: &mut BTreeSet<ChangeKind>,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        match (self.before.node(one), self.after.node(other)) {
            (Node::Null, Node::Null) => {}
            (Node::Bool(one), Node::Bool(other)) if one == other => {}
            (Node::Number(one), Node::Number(other)) if one == other => {}
            (Node::Number(one), Node::Number(other)) => {
                let is_same = Decimal::of(one) == Decimal::of(other);
                kinds.insert(if is_same { ChangeKind::NumberForm } else { ChangeKind::NumberValue });
            }
            (Node::Text(one), Node::Text(other)) => kinds.extend(of_texts(one, other)),
            (Node::Array(one), Node::Array(other)) => self.arrays(one, other, kinds, pairs),
            (Node::Object(one), Node::Object(other)) => self.objects(one, other, kinds, pairs),
            (one, _) => {
                kinds.insert(if is_empty(one) { ChangeKind::EmptyContainers } else { ChangeKind::Type });
            }
        }
    }

    fn arrays(
        &self,
        one: &[usize],
        other: &[usize],
        kinds: &mut BTreeSet<ChangeKind>,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        if one.len() == other.len() {
            pairs.extend(one.iter().copied().zip(other.iter().copied()));
            return;
        }
        if one.len() < other.len() {
            kinds.insert(ChangeKind::Addition);
            return;
        }
        // Missing elements: those not found after the previously found one.
        let mut rest = other.iter();
        let mut next = rest.next();
        for place in one {
            match next {
                Some(found) if self.same(*place, *found) => next = rest.next(),
                _ => {
                    kinds.insert(of_missing(self.before.node(*place)));
                }
            }
        }
        if next.is_some() {
            kinds.insert(ChangeKind::Loss);
        }
    }

    fn objects(
        &self,
        one: &[(Text<'_>, usize)],
        other: &[(Text<'_>, usize)],
        kinds: &mut BTreeSet<ChangeKind>,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        let (mine, theirs) = (by_key(one), by_key(other));
        let mut missing = Vec::new();
        for (key, values) in &mine {
            let Some(found) = theirs.get(key) else {
                missing.push((*key, values.as_slice()));
                continue;
            };
            self.members(values, found, kinds, pairs);
            let raw = |members: &[Member<'_, '_>]| -> Vec<String> {
                members.iter().map(|(key, _)| key.raw.to_owned()).collect()
            };
            if values.len() == found.len() && raw(values) != raw(found) {
                kinds.insert(ChangeKind::Escapes);
            }
        }
        let mut added: Vec<(&[u16], &[Member<'_, '_>])> = theirs
            .iter()
            .filter(|(key, _)| !mine.contains_key(*key))
            .map(|(key, values)| (*key, values.as_slice()))
            .collect();
        for (key, values) in missing {
            // If the same value has another key, the key has changed.
            let respelt = added.iter().position(|(_, found)| match (values, found) {
                ([(_, value)], [(_, found)]) => self.same(*value, *found),
                _ => false,
            });
            if let Some(place) = respelt {
                let (now, _) = added.swap_remove(place);
                kinds.insert(if is_begin(now, key) {
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
        let order = |members: &[(Text<'_>, usize)], in_both: &dyn Fn(&[u16]) -> bool| -> Vec<Vec<u16>> {
            let mut seen = BTreeSet::new();
            let firsts = members.iter().filter(|(key, _)| seen.insert(key.units.clone()));
            firsts.map(|(key, _)| key.units.clone()).filter(|key| in_both(key)).collect()
        };
        // Which of two members with the same key was kept determines its position, and is already reported.
        let is_single = |key: &[u16]| {
            let once = |map: &ByKey<'_, '_>| map.get(key).is_some_and(|all| all.len() == 1);
            once(&mine) && once(&theirs)
        };
        if order(one, &is_single) != order(other, &is_single) {
            kinds.insert(ChangeKind::KeyOrder);
        }
    }

    /// Compares the members with one key.
    fn members(
        &self,
        one: &[Member<'_, '_>],
        other: &[Member<'_, '_>],
        kinds: &mut BTreeSet<ChangeKind>,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        if one.len() == other.len() {
            pairs.extend(one.iter().map(|(_, place)| *place).zip(other.iter().map(|(_, place)| *place)));
            return;
        }
        kinds.insert(if one.len() > other.len() { ChangeKind::DuplicateKeys } else { ChangeKind::Addition });
        // Remaining members are compared with the equal one, or else with the last.
        for (_, found) in other {
            let same = one.iter().find(|(_, place)| self.same(*place, *found));
            if let Some((_, place)) = same.or(one.last()) {
                pairs.push((*place, *found));
            }
        }
    }
}

/// A key with its spelling, and the index of its value.
type Member<'m, 't> = (&'m Text<'t>, usize);

type ByKey<'m, 't> = BTreeMap<&'m [u16], Vec<Member<'m, 't>>>;

fn by_key<'m, 't>(members: &'m [(Text<'t>, usize)]) -> ByKey<'m, 't> {
    let mut all = ByKey::new();
    for (key, place) in members {
        all.entry(key.units.as_slice()).or_default().push((key, *place));
    }
    all
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

fn is_begin(part: &[u16], whole: &[u16]) -> bool {
    part.len() < whole.len() && whole.starts_with(part)
}

fn of_texts(one: &Text<'_>, other: &Text<'_>) -> Option<ChangeKind> {
    if one.units == other.units {
        return (one.raw != other.raw).then_some(ChangeKind::Escapes);
    }
    Some(if is_begin(&other.units, &one.units) { ChangeKind::Truncation } else { ChangeKind::Characters })
}

/// Hashes every value of a tree such that equal values have equal hashes.
fn hashes(tree: &Tree<'_>) -> Vec<u64> {
    let mut all: Vec<u64> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let mut hasher = DefaultHasher::new();
        std::mem::discriminant(node).hash(&mut hasher);
        match node {
            Node::Null => {}
            Node::Bool(truth) => truth.hash(&mut hasher),
            Node::Number(text) => Decimal::of(text).hash(&mut hasher),
            Node::Text(text) => text.units.hash(&mut hasher),
            Node::Array(elements) => elements.iter().for_each(|place| all.get(*place).hash(&mut hasher)),
            Node::Object(members) => {
                // A sum of hashes does not depend on the member order.
                let each = members.iter().map(|(key, place)| {
                    let mut hasher = DefaultHasher::new();
                    (&key.units, all.get(*place)).hash(&mut hasher);
                    hasher.finish()
                });
                (members.len(), each.fold(0, u64::wrapping_add)).hash(&mut hasher);
            }
        }
        all.push(hasher.finish());
    }
    all
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
