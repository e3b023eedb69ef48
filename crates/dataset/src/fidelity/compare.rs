//! A document beside what came back of it: the same bytes, the same value, or changed, and how.
//!
//! Numbers are compared as exact decimals, strings by code unit, objects without regard to the order of their members,
//! which is told apart from the value.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};

use super::number::Decimal;
use super::strict::{self, Node, Text, Tree};
use crate::value::Value;

/// The byte order mark in UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// How a document differs from what went in: a closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Other white space between tokens, or a byte order mark less or more.
    WhiteSpace,
    /// The members of an object in another order.
    KeyOrder,
    /// A number of the same value, written differently; minus zero is zero's value.
    NumberForm,
    /// A string of the same code units, written with other escapes.
    Escapes,
    /// Of members with one key not all are there.
    DuplicateKeys,
    /// A number of another value.
    NumberValue,
    /// A string, or a key, of other code units.
    Characters,
    /// A member or element that was null is gone.
    NullMembers,
    /// An empty object or array is gone, or is something else.
    EmptyContainers,
    /// A value of another type.
    Type,
    /// A string, or the whole text, that ends early.
    Truncation,
    /// A member or an element that held something is gone.
    Loss,
    /// Something is there that was not.
    Addition,
    /// What went in is no JSON, and what came back is.
    Repair,
    /// What went in is JSON, and what came back is not.
    NotJson,
}

impl Kind {
    /// All of them, in the order in which they are shown.
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

    /// Whether the value stays the same.
    #[must_use]
    pub fn keeps_value(self) -> bool {
        matches!(self, Self::WhiteSpace | Self::KeyOrder | Self::NumberForm | Self::Escapes)
    }

    /// The word used in files and tables.
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

/// What came back of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retained {
    /// Every byte.
    Bytes,
    /// The same value, written differently in these ways.
    Value(BTreeSet<Kind>),
    /// Another value.
    Changed(BTreeSet<Kind>),
}

impl Retained {
    fn of(kinds: BTreeSet<Kind>) -> Self {
        if kinds.iter().all(|kind| kind.keeps_value()) { Self::Value(kinds) } else { Self::Changed(kinds) }
    }

    /// Whether it is the same value.
    #[must_use]
    pub fn is_same_value(&self) -> bool {
        !matches!(self, Self::Changed(_))
    }

    /// How it differs.
    #[must_use]
    pub fn kinds(&self) -> BTreeSet<Kind> {
        match self {
            Self::Bytes => BTreeSet::new(),
            Self::Value(kinds) | Self::Changed(kinds) => kinds.clone(),
        }
    }
}

/// Compares a document with the text that came back of it.
#[must_use]
pub fn of_document(given: &[u8], returned: &[u8]) -> Retained {
    if given == returned {
        return Retained::Bytes;
    }
    let mut kinds = BTreeSet::new();
    let (bare_given, bare_returned) = (without_mark(given), without_mark(returned));
    if (bare_given.len() == given.len()) != (bare_returned.len() == returned.len()) {
        kinds.insert(Kind::WhiteSpace);
    }
    match (strict::read(bare_given), strict::read(bare_returned)) {
        (Ok(before), Ok(after)) => {
            // The roots of both are compared; each knows all that is below it.
            Comparison::new(&before, &after).all(before.root(), after.root(), &mut kinds);
            if spaces_differ(&before, &after) {
                kinds.insert(Kind::WhiteSpace);
            }
            Retained::of(kinds)
        }
        (Ok(_), Err(_)) => {
            let is_begin = !returned.is_empty() && bare_given.starts_with(bare_returned);
            kinds.insert(if is_begin { Kind::Truncation } else { Kind::NotJson });
            Retained::Changed(kinds)
        }
        (Err(_), after) => {
            // Without a value to compare with, what came back is a part of the text, another text, or JSON made of it.
            let (before, now) = (given.trim_ascii(), returned.trim_ascii());
            if before == now {
                kinds.insert(Kind::WhiteSpace);
                return Retained::Value(kinds);
            }
            kinds.insert(match (before.starts_with(now), after) {
                (true, _) => Kind::Truncation,
                (false, Ok(_)) => Kind::Repair,
                (false, Err(_)) => Kind::Characters,
            });
            Retained::Changed(kinds)
        }
    }
}

/// Compares the value of a document's member with what was extracted of it as JSON. Of several members with that name
/// the last is meant, and another one told as a duplicate. None where the document has no such member, or is no JSON.
#[must_use]
pub fn of_value(given: &[u8], member: &str, returned: &[u8]) -> Option<Retained> {
    let before = strict::read(without_mark(given)).ok()?;
    let places = before.members(member);
    places.last()?;
    let Ok(after) = strict::read(returned) else {
        return Some(Retained::Changed([Kind::NotJson].into()));
    };
    Some(of_places(&before, &places, &after, after.root()))
}

/// Compares a value with the last of these, and with the others where it is not that one.
fn of_places(before: &Tree<'_>, places: &[usize], after: &Tree<'_>, found: usize) -> Retained {
    let comparison = Comparison::new(before, after);
    let compare = |place: usize| {
        let mut kinds = BTreeSet::new();
        comparison.all(place, found, &mut kinds);
        kinds
    };
    let is_same = |kinds: &BTreeSet<Kind>| kinds.iter().all(|kind| kind.keeps_value());
    let kinds = places.last().map(|last| compare(*last)).unwrap_or_default();
    if !is_same(&kinds) && places.iter().any(|place| is_same(&compare(*place))) {
        return Retained::Changed([Kind::DuplicateKeys].into());
    }
    Retained::of(kinds)
}

/// Compares the value of a document's member with what was extracted of it as a value of the system's own language:
/// text is the content of a string, and JSON of everything else; null is NULL. None as of [`of_value`].
#[must_use]
pub fn of_cell(given: &[u8], member: &str, returned: &Value) -> Option<Retained> {
    let before = strict::read(without_mark(given)).ok()?;
    let places = before.members(member);
    let last = *places.last()?;
    let kinds = cell_kinds(&before, last, returned);
    if kinds.is_some_and(|kind| !kind.keeps_value())
        && places.iter().any(|place| cell_kinds(&before, *place, returned).is_none_or(Kind::keeps_value))
    {
        return Some(Retained::Changed([Kind::DuplicateKeys].into()));
    }
    if let (Node::Array(_) | Node::Object(_), Value::Text(text)) = (before.node(last), returned) {
        return of_value(given, member, text.as_bytes());
    }
    Some(match kinds {
        None => Retained::Value(BTreeSet::new()),
        Some(kind) => Retained::of([kind].into()),
    })
}

/// As [`of_value`], where what was extracted is an object with that one member.
#[must_use]
pub fn of_member(given: &[u8], member: &str, returned: &[u8]) -> Option<Retained> {
    let before = strict::read(without_mark(given)).ok()?;
    let places = before.members(member);
    let last = *places.last()?;
    let Ok(after) = strict::read(returned) else {
        return Some(Retained::Changed([Kind::NotJson].into()));
    };
    let Some(found) = after.members(member).last().copied() else {
        return Some(Retained::Changed([of_missing(before.node(last))].into()));
    };
    Some(of_places(&before, &places, &after, found))
}

fn cell_kinds(before: &Tree<'_>, place: usize, returned: &Value) -> Option<Kind> {
    let number = |text: &str, now: &str| {
        let is_number =
            strict::read(now.as_bytes()).is_ok_and(|tree| matches!(tree.node(tree.root()), Node::Number(_)));
        match (is_number, text == now) {
            (false, _) => Some(Kind::Type),
            (true, true) => None,
            (true, false) if Decimal::of(text) == Decimal::of(now) => Some(Kind::NumberForm),
            (true, false) => Some(Kind::NumberValue),
        }
    };
    match (before.node(place), returned) {
        (Node::Null, Value::Null) => None,
        (Node::Null, _) => Some(Kind::Type),
        (_, Value::Null) => Some(Kind::Loss),
        (Node::Text(text), Value::Text(now)) => {
            let units: Vec<u16> = now.encode_utf16().collect();
            match () {
                () if units == text.units => None,
                () if is_begin(&units, &text.units) => Some(Kind::Truncation),
                () => Some(Kind::Characters),
            }
        }
        (Node::Number(text), Value::Text(now)) => number(text, now),
        (Node::Number(text), Value::Int(now)) => number(text, &now.to_string()),
        (Node::Number(text), Value::Float(now)) if now.is_finite() => number(text, &format!("{now:e}")),
        (Node::Number(_), Value::Float(_)) => Some(Kind::NumberValue),
        (Node::Bool(truth), Value::Bool(now)) if truth == now => None,
        (Node::Bool(truth), Value::Text(now)) if truth.to_string() == *now => None,
        (Node::Array(_) | Node::Object(_), Value::Text(now)) => {
            let Ok(after) = strict::read(now.as_bytes()) else { return Some(Kind::NotJson) };
            let mut kinds = BTreeSet::new();
            Comparison::new(before, &after).all(place, after.root(), &mut kinds);
            kinds.into_iter().find(|kind| !kind.keeps_value())
        }
        _ => Some(Kind::Type),
    }
}

fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// Whether white space differs in a place that both have.
fn spaces_differ(before: &Tree<'_>, after: &Tree<'_>) -> bool {
    before.gaps.iter().any(|(place, gaps)| after.gaps.get(place).is_some_and(|other| other != gaps))
}

/// Two trees, with what their values are in a number.
struct Comparison<'t, 'b, 'a> {
    before: &'t Tree<'b>,
    after: &'t Tree<'a>,
    hashes: [Vec<u64>; 2],
}

impl<'t, 'b, 'a> Comparison<'t, 'b, 'a> {
    fn new(before: &'t Tree<'b>, after: &'t Tree<'a>) -> Self {
        Self { before, after, hashes: [hashes(before), hashes(after)] }
    }

    /// Whether two values are the same, members in any order.
    fn same(&self, before: usize, after: usize) -> bool {
        let [of_before, of_after] = &self.hashes;
        of_before.get(before) == of_after.get(after)
    }

    /// Notes how two values differ, and all below them.
    fn all(&self, before: usize, after: usize, kinds: &mut BTreeSet<Kind>) {
        let mut pairs = vec![(before, after)];
        while let Some((one, other)) = pairs.pop() {
            self.pair(one, other, kinds, &mut pairs);
        }
    }

    fn pair(&self, one: usize, other: usize, kinds: &mut BTreeSet<Kind>, pairs: &mut Vec<(usize, usize)>) {
        match (self.before.node(one), self.after.node(other)) {
            (Node::Null, Node::Null) => {}
            (Node::Bool(one), Node::Bool(other)) if one == other => {}
            (Node::Number(one), Node::Number(other)) if one == other => {}
            (Node::Number(one), Node::Number(other)) => {
                let is_same = Decimal::of(one) == Decimal::of(other);
                kinds.insert(if is_same { Kind::NumberForm } else { Kind::NumberValue });
            }
            (Node::Text(one), Node::Text(other)) => kinds.extend(of_texts(one, other)),
            (Node::Array(one), Node::Array(other)) => self.arrays(one, other, kinds, pairs),
            (Node::Object(one), Node::Object(other)) => self.objects(one, other, kinds, pairs),
            (one, _) => {
                kinds.insert(if is_empty(one) { Kind::EmptyContainers } else { Kind::Type });
            }
        }
    }

    fn arrays(
        &self,
        one: &[usize],
        other: &[usize],
        kinds: &mut BTreeSet<Kind>,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        if one.len() == other.len() {
            pairs.extend(one.iter().copied().zip(other.iter().copied()));
            return;
        }
        if one.len() < other.len() {
            kinds.insert(Kind::Addition);
            return;
        }
        // What is gone: each element that is not found behind the one that was found last.
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
            kinds.insert(Kind::Loss);
        }
    }

    fn objects(
        &self,
        one: &[(Text<'_>, usize)],
        other: &[(Text<'_>, usize)],
        kinds: &mut BTreeSet<Kind>,
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
                kinds.insert(Kind::Escapes);
            }
        }
        let mut added: Vec<(&[u16], &[Member<'_, '_>])> = theirs
            .iter()
            .filter(|(key, _)| !mine.contains_key(*key))
            .map(|(key, values)| (*key, values.as_slice()))
            .collect();
        for (key, values) in missing {
            // The same value under another key: it is the key that has changed.
            let respelt = added.iter().position(|(_, found)| match (values, found) {
                ([(_, value)], [(_, found)]) => self.same(*value, *found),
                _ => false,
            });
            if let Some(place) = respelt {
                let (now, _) = added.swap_remove(place);
                kinds.insert(if is_begin(now, key) { Kind::Truncation } else { Kind::Characters });
                continue;
            }
            kinds.extend(values.iter().map(|(_, value)| of_missing(self.before.node(*value))));
        }
        if !added.is_empty() {
            kinds.insert(Kind::Addition);
        }
        let order = |members: &[(Text<'_>, usize)], in_both: &dyn Fn(&[u16]) -> bool| -> Vec<Vec<u16>> {
            let mut seen = BTreeSet::new();
            let firsts = members.iter().filter(|(key, _)| seen.insert(key.units.clone()));
            firsts.map(|(key, _)| key.units.clone()).filter(|key| in_both(key)).collect()
        };
        // Which of two members with one key was kept decides over its place, and is told already.
        let is_single = |key: &[u16]| {
            let once = |map: &ByKey<'_, '_>| map.get(key).is_some_and(|all| all.len() == 1);
            once(&mine) && once(&theirs)
        };
        if order(one, &is_single) != order(other, &is_single) {
            kinds.insert(Kind::KeyOrder);
        }
    }

    /// Members with one key.
    fn members(
        &self,
        one: &[Member<'_, '_>],
        other: &[Member<'_, '_>],
        kinds: &mut BTreeSet<Kind>,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        if one.len() == other.len() {
            pairs.extend(one.iter().map(|(_, place)| *place).zip(other.iter().map(|(_, place)| *place)));
            return;
        }
        kinds.insert(if one.len() > other.len() { Kind::DuplicateKeys } else { Kind::Addition });
        // What is left is compared with the one that it is, or else with the last.
        for (_, found) in other {
            let same = one.iter().find(|(_, place)| self.same(*place, *found));
            if let Some((_, place)) = same.or(one.last()) {
                pairs.push((*place, *found));
            }
        }
    }
}

/// A key as it is written, and its value.
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

fn of_missing(node: &Node<'_>) -> Kind {
    match node {
        Node::Null => Kind::NullMembers,
        node if is_empty(node) => Kind::EmptyContainers,
        _ => Kind::Loss,
    }
}

fn is_begin(part: &[u16], whole: &[u16]) -> bool {
    part.len() < whole.len() && whole.starts_with(part)
}

fn of_texts(one: &Text<'_>, other: &Text<'_>) -> Option<Kind> {
    if one.units == other.units {
        return (one.raw != other.raw).then_some(Kind::Escapes);
    }
    Some(if is_begin(&other.units, &one.units) { Kind::Truncation } else { Kind::Characters })
}

/// A number for each value of a tree, the same for the same value.
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
                // In any order: a sum.
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
