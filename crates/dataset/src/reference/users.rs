//! Users as 128-bit numbers, which keeps exact distinct counts small in memory.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// A user: a packed `did:plc`, an interned text, or [`User::NOBODY`].
///
/// The 24 characters of a `did:plc` are base32, i.e. 120 bits. They are numbered in the order of their bytes,
/// so that packed users compare like their texts. The highest byte distinguishes the three kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct User(u128);

const PREFIX: &[u8] = b"did:plc:";
const CHARACTERS: usize = 24;
const KIND_SHIFT: u32 = 120;
const INTERNED: u128 = 1 << KIND_SHIFT;
/// Base32 alphabet of RFC 4648 in lower case, in byte order instead of the RFC's order.
const ALPHABET: &[u8; 32] = b"234567abcdefghijklmnopqrstuvwxyz";
const NOT_BASE32: u8 = 0x80;
const NUMBERS: [u8; 256] = {
    let mut numbers = [NOT_BASE32; 256];
    let mut index = 0;
    while index < ALPHABET.len() {
        numbers[ALPHABET[index] as usize] = index as u8;
        index += 1;
    }
    numbers
};

impl User {
    /// Stands for the missing user of a document without `did`.
    pub(crate) const NOBODY: User = User(2 << KIND_SHIFT);

    fn packed(text: &str) -> Option<User> {
        let characters: &[u8; CHARACTERS] = text.as_bytes().strip_prefix(PREFIX)?.try_into().ok()?;
        let mut seen = 0;
        let mut half = |characters: &[u8]| {
            characters.iter().fold(0_u64, |packed, &character| {
                let number = NUMBERS[usize::from(character)];
                seen |= number;
                packed << 5 | u64::from(number)
            })
        };
        let (high, low) = characters.split_at(CHARACTERS / 2);
        let packed = u128::from(half(high)) << 60 | u128::from(half(low));
        (seen & NOT_BASE32 == 0).then_some(User(packed))
    }
}

/// Texts of the users that cannot be packed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Users {
    numbers: HashMap<Box<str>, u32, FixedState>,
    texts: Vec<Box<str>>,
}

impl Users {
    /// Returns the number of a user; a text that cannot be packed is interned on first use.
    #[inline]
    pub(crate) fn user(&mut self, did: Option<&str>) -> User {
        match did {
            None => User::NOBODY,
            Some(text) => User::packed(text).unwrap_or_else(|| self.interned(text)),
        }
    }

    #[cold]
    fn interned(&mut self, text: &str) -> User {
        if let Some(&number) = self.numbers.get(text) {
            return User(INTERNED | u128::from(number));
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.into());
        self.numbers.insert(text.into(), number);
        User(INTERNED | u128::from(number))
    }

    /// Returns the text of a user. `None` for [`User::NOBODY`].
    pub(crate) fn text(&self, user: User) -> Option<String> {
        match user.0 >> KIND_SHIFT {
            0 => {
                let digit = |place: usize| ALPHABET[(user.0 >> (5 * (CHARACTERS - 1 - place))) as usize & 31];
                let characters = PREFIX.iter().copied().chain((0..CHARACTERS).map(digit));
                Some(characters.map(char::from).collect())
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
    fn users_that_do_not_pack_are_kept_as_text() {
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
        fn packed_users_come_back_and_compare_as_text(a in "did:plc:[a-z2-7]{24}", b in "did:plc:[a-z2-7]{24}") {
            let mut users = Users::default();
            let (first, second) = (users.user(Some(&a)), users.user(Some(&b)));
            prop_assert_eq!(users.text(first), Some(a.clone()));
            prop_assert_eq!(first.cmp(&second), a.as_bytes().cmp(b.as_bytes()));
            prop_assert!(users.texts.is_empty());
        }
    }
}
