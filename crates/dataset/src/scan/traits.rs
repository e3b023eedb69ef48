//! Unusual traits of a document, as a set of named flags.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A set of traits. Empty for an ordinary document.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Traits(u32);

/// Number of nested arrays and objects from which on a document is [`Traits::DEEP`].
pub const DEEP_FROM_LEVELS: usize = 101;
/// Number of bytes (without the newline) from which on a document is [`Traits::LARGE`].
pub const LARGE_FROM_BYTES: usize = 1 << 20;

impl Traits {
    /// The empty set: an ordinary document.
    pub const NONE: Traits = Traits(0);
    /// Not JSON according to RFC 8259. Invalid UTF-8 is a separate trait.
    pub const MALFORMED: Traits = Traits(1);
    /// Contains bytes that are not UTF-8.
    pub const NOT_UTF8: Traits = Traits(1 << 1);
    /// The outermost value is not an object.
    pub const NOT_OBJECT: Traits = Traits(1 << 2);
    /// A string contains the escape `\u0000`, which some systems' text types cannot store.
    pub const NUL_ESCAPE: Traits = Traits(1 << 3);
    /// Two members of one object have the same name (detected down to [`Scanner::TRACKED_LEVELS`]).
    ///
    /// [`Scanner::TRACKED_LEVELS`]: crate::scan::Scanner::TRACKED_LEVELS
    pub const DUPLICATE_KEYS: Traits = Traits(1 << 4);
    /// A string contains an escaped half of a surrogate pair, which is not a character.
    pub const LONE_SURROGATE: Traits = Traits(1 << 5);
    /// Nested more than 100 levels deep.
    pub const DEEP: Traits = Traits(1 << 6);
    /// The document has 1 MiB or more.
    pub const LARGE: Traits = Traits(1 << 7);
    /// Contains an integer beyond `i64` and `u64`, or a number that is infinite as a double.
    pub const BIG_NUMBER: Traits = Traits(1 << 8);

    /// Traits that make a document a suspect: it is loaded alone, so that its rejection costs no other
    /// document.
    pub const SUSPECT: Traits = Traits(
        Self::NOT_OBJECT.0
            | Self::DUPLICATE_KEYS.0
            | Self::LONE_SURROGATE.0
            | Self::DEEP.0
            | Self::LARGE.0
            | Self::BIG_NUMBER.0,
    );

    /// Traits of a line that is not a JSON text and therefore not a document.
    pub const NO_DOCUMENT: Traits = Traits(Self::MALFORMED.0 | Self::NOT_UTF8.0);

    /// Traits of a line that is not a JSON object.
    pub const UNREADABLE: Traits = Traits(Self::MALFORMED.0 | Self::NOT_UTF8.0 | Self::NOT_OBJECT.0);

    /// Every trait with its name, in order of their bits.
    pub const NAMED: [(&'static str, Traits); 9] = [
        ("malformed", Self::MALFORMED),
        ("not_utf8", Self::NOT_UTF8),
        ("not_object", Self::NOT_OBJECT),
        ("nul_escape", Self::NUL_ESCAPE),
        ("duplicate_keys", Self::DUPLICATE_KEYS),
        ("lone_surrogate", Self::LONE_SURROGATE),
        ("deep", Self::DEEP),
        ("large", Self::LARGE),
        ("big_number", Self::BIG_NUMBER),
    ];

    /// Returns the trait with this name. `None` if the name is unknown.
    pub fn from_name(name: &str) -> Option<Traits> {
        Self::NAMED.into_iter().find(|(known, _)| *known == name).map(|(_, bit)| bit)
    }

    /// Iterates over the names of the traits in the set, in order of their bits.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMED.into_iter().filter(move |(_, bit)| self.intersects(*bit)).map(|(name, _)| name)
    }

    /// Returns `true` if every trait of `other` is in the set.
    pub fn contains(self, other: Traits) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns `true` if at least one trait of `other` is in the set.
    pub fn intersects(self, other: Traits) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns `true` if the set contains no trait.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for Traits {
    type Output = Traits;

    fn bitor(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }
}

impl BitOrAssign for Traits {
    fn bitor_assign(&mut self, other: Traits) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for Traits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.names()).finish()
    }
}

impl fmt::Display for Traits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.names().collect();
        formatter.pad(&names.join(", "))
    }
}

/// Serialized as a list of names, so that files stay readable when traits are added.
impl Serialize for Traits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.names())
    }
}

impl<'de> Deserialize<'de> for Traits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut set = Traits::NONE;
        for name in Vec::<String>::deserialize(deserializer)? {
            set |= Traits::from_name(&name).ok_or_else(|| {
                let known: Vec<_> = Traits::NAMED.iter().map(|(name, _)| *name).collect();
                serde::de::Error::custom(format!("unknown trait `{name}`; known are {}", known.join(", ")))
            })?;
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trait_has_one_bit_and_one_name() {
        let mut combined = Traits::NONE;
        for (name, bit) in Traits::NAMED {
            assert_eq!(bit.0.count_ones(), 1);
            assert!(!combined.intersects(bit));
            combined |= bit;
            assert_eq!(Traits::from_name(name), Some(bit));
        }
        assert!(!Traits::SUSPECT.contains(Traits::NUL_ESCAPE));
        assert_eq!(Traits::SUSPECT | Traits::NO_DOCUMENT | Traits::NUL_ESCAPE, combined);
        assert_eq!(Traits::from_name("odd"), None);
    }

    #[test]
    fn sets_are_written_as_names() {
        let set = Traits::LARGE | Traits::DEEP;
        assert_eq!(serde_json::to_string(&set).unwrap(), r#"["deep","large"]"#);
        assert_eq!(serde_json::from_str::<Traits>(r#"["large","deep"]"#).unwrap(), set);
        assert_eq!(set.to_string(), "deep, large");
        let error = serde_json::from_str::<Traits>(r#"["wide"]"#).unwrap_err().to_string();
        assert!(error.contains("unknown trait `wide`") && error.contains("lone_surrogate"), "{error}");
    }
}
