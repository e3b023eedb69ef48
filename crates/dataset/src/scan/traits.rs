//! What is unusual about a document, as a set of named traits.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A set of traits; the empty set is an ordinary document.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Traits(u32);

/// From how many nested arrays and objects on a document is [`Traits::DEEP`].
pub const DEEP_FROM_LEVELS: usize = 101;
/// From how many bytes on a document is [`Traits::LARGE`].
pub const LARGE_FROM_BYTES: usize = 1 << 20;

impl Traits {
    /// No trait.
    pub const NONE: Traits = Traits(0);
    /// Not JSON after RFC 8259. UTF-8 is a trait of its own.
    pub const MALFORMED: Traits = Traits(1);
    /// Holds bytes that are not UTF-8.
    pub const NOT_UTF8: Traits = Traits(1 << 1);
    /// The outermost value is not an object.
    pub const NOT_OBJECT: Traits = Traits(1 << 2);
    /// A string holds the escape `\u0000`, which some systems' text types cannot store.
    pub const NUL_ESCAPE: Traits = Traits(1 << 3);
    /// Two members of one object have the same name (looked for down to [`Scanner::TRACKED_LEVELS`]).
    ///
    /// [`Scanner::TRACKED_LEVELS`]: crate::scan::Scanner::TRACKED_LEVELS
    pub const DUPLICATE_KEYS: Traits = Traits(1 << 4);
    /// A string holds half of a surrogate pair, which is no character.
    pub const LONE_SURROGATE: Traits = Traits(1 << 5);
    /// Nested more than 100 levels deep.
    pub const DEEP: Traits = Traits(1 << 6);
    /// 1 MiB or more.
    pub const LARGE: Traits = Traits(1 << 7);
    /// Holds an integer that neither `i64` nor `u64` holds, or a number that is not finite as a double.
    pub const BIG_NUMBER: Traits = Traits(1 << 8);

    /// The traits for which a document is handed to a system alone rather than in bulk, so that its refusal costs no
    /// other document.
    pub const SUSPECT: Traits = Traits(
        Self::NOT_OBJECT.0
            | Self::DUPLICATE_KEYS.0
            | Self::LONE_SURROGATE.0
            | Self::DEEP.0
            | Self::LARGE.0
            | Self::BIG_NUMBER.0,
    );

    /// The traits of a line that is no JSON text, and so no document.
    pub const NO_DOCUMENT: Traits = Traits(Self::MALFORMED.0 | Self::NOT_UTF8.0);

    /// The traits of a line that is no JSON object.
    pub const UNREADABLE: Traits = Traits(Self::MALFORMED.0 | Self::NOT_UTF8.0 | Self::NOT_OBJECT.0);

    /// Every trait with its name, in order.
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

    /// The trait of this name.
    pub fn from_name(name: &str) -> Option<Traits> {
        Self::NAMED.into_iter().find(|(known, _)| *known == name).map(|(_, bit)| bit)
    }

    /// The names of the traits in the set, in order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMED.into_iter().filter(move |(_, bit)| self.intersects(*bit)).map(|(name, _)| name)
    }

    /// Whether all traits of `other` are in the set.
    pub fn contains(self, other: Traits) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any trait of `other` is in the set.
    pub fn intersects(self, other: Traits) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is no trait at all.
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

/// As the list of names, so that a file stays readable when traits are added.
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
        let mut all = Traits::NONE;
        for (name, bit) in Traits::NAMED {
            assert_eq!(bit.0.count_ones(), 1);
            assert!(!all.intersects(bit));
            all |= bit;
            assert_eq!(Traits::from_name(name), Some(bit));
        }
        assert!(!Traits::SUSPECT.contains(Traits::NUL_ESCAPE));
        assert_eq!(Traits::SUSPECT | Traits::NO_DOCUMENT | Traits::NUL_ESCAPE, all);
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
