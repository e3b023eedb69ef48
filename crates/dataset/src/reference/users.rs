//! Represents users as 128-bit numbers, so that exact counts of distinct users need little memory.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// A user: a packed `did:plc`, the index of an interned text, or [`User::NOBODY`].
///
/// The identifier in a `did:plc` has 24 base32 characters, i.e. 120 bits. The values of the characters have
/// the order of their bytes, so that packed users compare like their texts. The highest byte of the number
/// distinguishes the three kinds of users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct User(u128);

const DID_PLC_PREFIX: &[u8] = b"did:plc:";
/// Number of characters after the prefix.
const IDENTIFIER_LENGTH: usize = 24;
/// Position of the bits that distinguish the kinds of users: 0 packed, 1 interned, 2 nobody.
const KIND_SHIFT: u32 = 120;
const INTERNED_KIND: u128 = 1 << KIND_SHIFT;
const NOBODY_KIND: u128 = 2 << KIND_SHIFT;
/// Base32 alphabet of RFC 4648 in lower case, in byte order instead of the RFC's order.
const ALPHABET: &[u8; 32] = b"234567abcdefghijklmnopqrstuvwxyz";
/// Flag of a byte that is not in the alphabet; values in the alphabet have 5 bits.
const NOT_BASE32: u8 = 0x80;
/// Base32 value by byte.
const BASE32_VALUES: [u8; 256] = {
    let mut values = [NOT_BASE32; 256];
    let mut value = 0;
    while value < ALPHABET.len() {
        values[ALPHABET[value] as usize] = value as u8;
        value += 1;
    }
    values
};

impl User {
    /// The user of all documents that have no `did`.
    pub(crate) const NOBODY: User = User(NOBODY_KIND);

    /// Packs a well-formed `did:plc`. `None` for any other text.
    fn pack(text: &str) -> Option<User> {
        let identifier: &[u8; IDENTIFIER_LENGTH] =
            text.as_bytes().strip_prefix(DID_PLC_PREFIX)?.try_into().ok()?;
        let mut flags = 0;
        let mut pack_half = |characters: &[u8]| {
            characters.iter().fold(0_u64, |packed, &character| {
                let value = BASE32_VALUES[usize::from(character)];
                flags |= value;
                packed << 5 | u64::from(value)
            })
        };
        let (high, low) = identifier.split_at(IDENTIFIER_LENGTH / 2);
        let packed = u128::from(pack_half(high)) << 60 | u128::from(pack_half(low));
        (flags & NOT_BASE32 == 0).then_some(User(packed))
    }
}

/// Converts texts to users and back; keeps the texts that cannot be packed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Users {
    /// Index in `texts` by text.
    indexes: HashMap<Box<str>, u32, FixedState>,
    texts: Vec<Box<str>>,
}

impl Users {
    /// Returns the user with this `did`; a text that cannot be packed is interned on first use.
    #[inline]
    pub(crate) fn user(&mut self, did: Option<&str>) -> User {
        match did {
            None => User::NOBODY,
            Some(text) => User::pack(text).unwrap_or_else(|| self.intern(text)),
        }
    }

    #[cold]
    fn intern(&mut self, text: &str) -> User {
        if let Some(&index) = self.indexes.get(text) {
            return User(INTERNED_KIND | u128::from(index));
        }
        let index = self.texts.len() as u32;
        self.texts.push(text.into());
        self.indexes.insert(text.into(), index);
        User(INTERNED_KIND | u128::from(index))
    }

    /// Returns the `did` of a user. `None` for [`User::NOBODY`].
    pub(crate) fn text(&self, user: User) -> Option<String> {
        match user.0 >> KIND_SHIFT {
            0 => {
                let character = |position: usize| {
                    let shift = 5 * (IDENTIFIER_LENGTH - 1 - position);
                    ALPHABET[(user.0 >> shift) as usize & 31]
                };
                let identifier = (0..IDENTIFIER_LENGTH).map(character);
                Some(DID_PLC_PREFIX.iter().copied().chain(identifier).map(char::from).collect())
            }
            1 => self.texts.get(user.0 as u32 as usize).map(|text| text.to_string()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_that_cannot_be_packed_are_interned() {
        let mut users = Users::default();
        let texts = [
            "",
            "did:plc:",
            "did:plc:abcdefghijklmnopqrstuvw",
            "did:plc:abcdefghijklmnopqrstuvwxy",
            "did:plc:Abcdefghijklmnopqrstuvwx",
            "did:plc:1bcdefghijklmnopqrstuvwx",
            "did:plc:8bcdefghijklmnopqrstuvwx",
            "did:plc:ébcdefghijklmnopqrstuvw",
            "did:web:example.com",
        ];
        for text in texts {
            let user = users.user(Some(text));
            assert_eq!(user, users.user(Some(text)));
            assert_eq!(users.text(user).as_deref(), Some(text));
        }
        assert_eq!(users.texts.len(), texts.len());
        assert_eq!(users.text(User::NOBODY), None);
        assert_eq!(users.user(None), User::NOBODY);
    }

    proptest! {
        #[test]
        fn packed_users_round_trip_and_compare_like_their_texts(
            a in "did:plc:[a-z2-7]{24}",
            b in "did:plc:[a-z2-7]{24}",
        ) {
            let mut users = Users::default();
            let (first, second) = (users.user(Some(&a)), users.user(Some(&b)));
            prop_assert_eq!(users.text(first), Some(a.clone()));
            prop_assert_eq!(first.cmp(&second), a.as_bytes().cmp(b.as_bytes()));
            prop_assert!(users.texts.is_empty());
        }
    }
}
