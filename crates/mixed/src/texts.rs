//! Distinct texts: each kept once, and numbered.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// Number that stands for the absence of a text. It is above the numbers of all texts.
pub(crate) const NO_TEXT: u32 = u32::MAX;

/// Texts by number, one behind the other in memory.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    text: String,
    /// End of each text in `text`.
    ends: Vec<usize>,
}

impl Texts {
    /// Number of distinct texts, which is also the first number that no text has.
    pub(crate) fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Text with this number; `None` if no text has it, as for [`NO_TEXT`].
    pub(crate) fn get(&self, number: u32) -> Option<&str> {
        let number = number as usize;
        let end = *self.ends.get(number)?;
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.text.get(start..end)
    }

    /// Number of this text; `None` if it is not among the texts. Looks at all of them.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        (0..self.len()).find(|number| self.get(*number) == Some(text))
    }

    fn bytes(&self, number: u32) -> &[u8] {
        self.get(number).unwrap_or_default().as_bytes()
    }

    fn push(&mut self, text: &str) -> u32 {
        let number = self.len();
        self.text.push_str(text);
        self.ends.push(self.text.len());
        number
    }

    /// Renumbers the texts in the order of their bytes. Returns also the new number of each old one.
    pub(crate) fn sorted(self) -> (Texts, Vec<u32>) {
        let shared = self.shared_prefix();
        let key = |number| (sort_key(&self.bytes(number)[shared..]), number);
        let mut order: Vec<(u128, u32)> = (0..self.len()).map(key).collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| self.bytes(a.1).cmp(self.bytes(b.1))));
        let mut sorted =
            Texts { text: String::with_capacity(self.text.len()), ends: Vec::with_capacity(order.len()) };
        let mut numbers = vec![NO_TEXT; order.len()];
        for (_, old) in order {
            numbers[old as usize] = sorted.push(self.get(old).unwrap_or_default());
        }
        (sorted, numbers)
    }

    /// Number of bytes with which all texts begin alike.
    fn shared_prefix(&self) -> usize {
        let first = self.bytes(0);
        (1..self.len()).fold(first.len(), |shared, number| {
            let pairs = first.iter().zip(self.bytes(number)).take(shared);
            pairs.take_while(|(a, b)| a == b).count()
        })
    }
}

/// First bytes of a text as a number: different numbers are in the order of the texts. Sorting compares
/// numbers because it would otherwise wait for memory at almost every comparison.
fn sort_key(bytes: &[u8]) -> u128 {
    let mut key = [0; size_of::<u128>()];
    let length = bytes.len().min(key.len());
    key[..length].copy_from_slice(&bytes[..length]);
    u128::from_be_bytes(key)
}

/// Numbers distinct texts in the order of their first appearance.
#[derive(Debug, Default)]
pub(crate) struct TextNumbers {
    texts: Texts,
    /// Hash and number of every text.
    numbers: HashTable<(u64, u32)>,
}

impl TextNumbers {
    /// Number of a text, which is kept when it first appears; [`NO_TEXT`] for `None`.
    #[inline]
    pub(crate) fn number(&mut self, text: Option<&str>) -> u32 {
        let Some(text) = text else { return NO_TEXT };
        let hash = FixedState::default().hash_one(text);
        let texts = &self.texts;
        let is_match = |&(other, number): &(u64, u32)| other == hash && texts.get(number) == Some(text);
        if let Some(&(_, number)) = self.numbers.find(hash, is_match) {
            return number;
        }
        let number = self.texts.push(text);
        self.numbers.insert_unique(hash, (hash, number), |&(hash, _)| hash);
        number
    }

    /// The texts by number, without what finds a number by its text.
    pub(crate) fn into_texts(self) -> Texts {
        self.texts
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sorted_numbers_are_in_the_order_of_the_texts(
            texts in proptest::collection::vec("(did:)?(plc:|web:)?[ab\u{0}é]{0,30}", 0..40),
        ) {
            let mut numbers = TextNumbers::default();
            let given: Vec<u32> = texts.iter().map(|text| numbers.number(Some(text))).collect();
            let (sorted, renumbered) = numbers.into_texts().sorted();
            let distinct: BTreeSet<&str> = texts.iter().map(String::as_str).collect();
            let kept: Vec<&str> = (0..sorted.len()).filter_map(|number| sorted.get(number)).collect();
            prop_assert_eq!(kept, distinct.into_iter().collect::<Vec<_>>());
            for (text, number) in texts.iter().zip(given) {
                let number = renumbered[number as usize];
                prop_assert_eq!(sorted.get(number), Some(text.as_str()));
                prop_assert_eq!(sorted.find(text), Some(number));
            }
            prop_assert_eq!(sorted.get(NO_TEXT), None);
        }
    }
}
