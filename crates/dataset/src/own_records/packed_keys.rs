//! Text keys in as little memory as their make allows: identifiers of one form, such as UUIDs, take half a
//! byte for each hexadecimal digit that varies.

/// Digits that a varying position of a key may have.
const ALPHABETS: [&[u8; 16]; 2] = [b"0123456789abcdef", b"0123456789ABCDEF"];

/// Looks at all keys of a set to find out whether they have one form.
#[derive(Debug, Default)]
pub(super) struct KeyForm {
    /// Characters of the first key. `None` before the first key.
    first: Option<Vec<u8>>,
    /// For each position whether it differs between keys, and which of [`ALPHABETS`] its characters are of,
    /// as bits.
    positions: Vec<(bool, u8)>,
    is_broken: bool,
}

impl KeyForm {
    pub(super) fn observe(&mut self, key: &[u8]) {
        let first = self.first.get_or_insert_with(|| {
            self.positions = key.iter().map(|byte| (false, alphabets_of(*byte))).collect();
            key.to_vec()
        });
        if self.is_broken || first.len() != key.len() {
            self.is_broken = true;
            return;
        }
        for ((varies, alphabets), (first, byte)) in self.positions.iter_mut().zip(first.iter().zip(key)) {
            *varies |= first != byte;
            *alphabets &= alphabets_of(*byte);
            self.is_broken |= *varies && *alphabets == 0;
        }
    }

    /// Returns an empty table for keys of this form. `None` if they have none in common.
    pub(super) fn table(self) -> Option<PackedKeys> {
        let template = self.first.filter(|_| !self.is_broken)?;
        let varying = self.positions.iter().enumerate().filter(|(_, (varies, _))| *varies);
        let digits: Vec<(u16, u8)> = varying
            .filter_map(|(position, (_, alphabets))| {
                Some((u16::try_from(position).ok()?, u8::from(alphabets & 1 == 0)))
            })
            .collect();
        let stride = digits.len().div_ceil(2);
        Some(PackedKeys { template, digits, stride, packed: Vec::new() })
    }
}

fn alphabets_of(byte: u8) -> u8 {
    ALPHABETS.iter().enumerate().map(|(index, digits)| u8::from(digits.contains(&byte)) << index).sum()
}

/// Keys of one form, addressed by their number.
#[derive(Debug)]
pub(super) struct PackedKeys {
    template: Vec<u8>,
    /// Varying positions with the index of their alphabet.
    digits: Vec<(u16, u8)>,
    /// Bytes of one key.
    stride: usize,
    packed: Vec<u8>,
}

impl PackedKeys {
    pub(super) fn reserve(&mut self, keys: usize) {
        self.packed.reserve_exact(keys.saturating_mul(self.stride));
    }

    /// Adds the next key, which must have the form of the table.
    pub(super) fn push(&mut self, key: &[u8]) {
        let start = self.packed.len();
        self.packed.resize(start + self.stride, 0);
        for (index, (position, _)) in self.digits.iter().enumerate() {
            let digit = key.get(usize::from(*position)).and_then(|byte| char::from(*byte).to_digit(16));
            if let Some(target) = self.packed.get_mut(start + index / 2) {
                *target |= (digit.unwrap_or_default() as u8) << (4 * (index % 2));
            }
        }
    }

    /// Appends the key with this number.
    #[inline]
    pub(super) fn write(&self, number: usize, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.template);
        let (Some(packed), Some(key)) = (self.packed.get(number * self.stride..), out.get_mut(start..))
        else {
            return;
        };
        for (index, (position, alphabet)) in self.digits.iter().enumerate() {
            let digit = packed.get(index / 2).copied().unwrap_or_default() >> (4 * (index % 2)) & 15;
            let alphabet = ALPHABETS.get(usize::from(*alphabet)).copied().unwrap_or(ALPHABETS[0]);
            if let Some(target) = key.get_mut(usize::from(*position)) {
                *target = alphabet[usize::from(digit)];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(keys: &[String]) -> Option<PackedKeys> {
        let mut form = KeyForm::default();
        keys.iter().for_each(|key| form.observe(key.as_bytes()));
        let mut table = form.table()?;
        keys.iter().for_each(|key| table.push(key.as_bytes()));
        Some(table)
    }

    #[test]
    fn keys_without_a_form_are_refused() {
        let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
        assert!(table(&keys(&["a", "ab"])).is_none());
        assert!(table(&keys(&["xa", "xz"])).is_none());
        assert!(table(&keys(&["xa", "xF"])).is_none());
        assert!(table(&[]).is_none());
        assert_eq!(table(&keys(&["xa-1", "xb-2"])).unwrap().stride, 1);
        assert_eq!(table(&keys(&["one"])).unwrap().stride, 0);
    }

    proptest! {
        #[test]
        fn identifiers_are_written_as_they_were(numbers in prop::collection::vec(any::<u128>(), 1..40), upper: bool) {
            let text = |number: &u128| {
                let digits = if upper { format!("{number:032X}") } else { format!("{number:032x}") };
                format!("id-{}-{}", &digits[..8], &digits[8..])
            };
            let keys: Vec<String> = numbers.iter().map(text).collect();
            let table = table(&keys).unwrap();
            prop_assert!(table.packed.len() <= 16 * keys.len());
            for (number, key) in keys.iter().enumerate() {
                let mut written = Vec::new();
                table.write(number, &mut written);
                prop_assert_eq!(&written, key.as_bytes());
            }
        }
    }
}
