//! Keys of records: invertible functions of the record's number.

use super::{KeyOrder, KeyType, Records};

/// Prefix of a text key.
const PREFIX: &[u8; 4] = b"user";
/// Number of digits in a text key.
const DIGITS: usize = 19;
/// Length of a text key in bytes.
pub const KEY_LENGTH: usize = PREFIX.len() + DIGITS;

/// Keys have 63 bits, so that they fit a signed 64-bit integer and 19 decimal digits.
const MASK: u64 = (1 << 63) - 1;
/// Multipliers of the scattering function, those of splitmix64.
const FACTORS: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];
/// Inverses of the multipliers modulo 2⁶⁴, which are valid modulo 2⁶³ too.
const INVERSES: [u64; 2] = [inverse(FACTORS[0]), inverse(FACTORS[1])];

/// Returns the inverse of an odd number modulo 2⁶⁴ by Newton's iteration, which doubles the number of correct
/// bits per step.
const fn inverse(odd: u64) -> u64 {
    let mut inverse = odd;
    let mut step = 0;
    while step < 6 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

/// Bijection on the numbers below 2⁶³; every step is invertible.
fn scatter(number: u64) -> u64 {
    let mut x = number & MASK;
    x ^= x >> 32;
    x = x.wrapping_mul(FACTORS[0]) & MASK;
    x ^= x >> 29;
    x = x.wrapping_mul(FACTORS[1]) & MASK;
    x ^ (x >> 32)
}

/// Inverse function of [`scatter`].
fn gather(key: u64) -> u64 {
    let mut x = key & MASK;
    x ^= x >> 32;
    x = x.wrapping_mul(INVERSES[1]) & MASK;
    x ^= (x >> 29) ^ (x >> 58);
    x = x.wrapping_mul(INVERSES[0]) & MASK;
    x ^ (x >> 32)
}

impl Records {
    /// Returns the key of a record as an integer. `number` must be below 2⁶³.
    #[must_use]
    pub fn bigint(&self, number: u64) -> i64 {
        self.key_number(number).cast_signed()
    }

    /// Returns the key of a record as an unsigned integer, which has the same order as the key itself.
    pub(super) fn key_number(&self, number: u64) -> u64 {
        match self.key_order {
            KeyOrder::Hashed => scatter(number),
            KeyOrder::Ordered => number & MASK,
        }
    }

    /// Inverse function of [`Self::key_number`].
    pub(super) fn number_of_key(&self, key: u64) -> u64 {
        match self.key_order {
            KeyOrder::Hashed => gather(key),
            KeyOrder::Ordered => key,
        }
    }

    /// Appends the key of a record: `user` and 19 digits, or the digits of an integer.
    pub fn key(&self, number: u64, out: &mut Vec<u8>) {
        let key = self.key_number(number);
        match self.key_type {
            KeyType::Text => out.extend_from_slice(&text_key(key)),
            KeyType::Bigint => out.extend_from_slice(itoa::Buffer::new().format(key).as_bytes()),
        }
    }

    /// Parses a key as written by [`Self::key`] and returns its record's number. `None` if the key is
    /// malformed.
    #[must_use]
    pub fn number(&self, key: &[u8]) -> Option<u64> {
        let digits = match self.key_type {
            KeyType::Text => key.strip_prefix(PREFIX).filter(|digits| digits.len() == DIGITS)?,
            KeyType::Bigint => {
                let is_plain = !key.is_empty() && key.len() <= DIGITS && (key[0] != b'0' || key.len() == 1);
                Some(key).filter(|_| is_plain)?
            }
        };
        let mut value = 0_u64;
        for &digit in digits {
            if !digit.is_ascii_digit() {
                return None;
            }
            value = 10 * value + u64::from(digit - b'0');
        }
        (value <= MASK).then(|| self.number_of_key(value))
    }

    /// Returns the number of the record with this integer key. `None` if the key is negative.
    #[must_use]
    pub fn number_of_bigint(&self, key: i64) -> Option<u64> {
        u64::try_from(key).ok().map(|key| self.number_of_key(key))
    }
}

/// Formats a text key: `user` and 19 digits.
pub(super) fn text_key(key: u64) -> [u8; KEY_LENGTH] {
    let mut text = [b'0'; KEY_LENGTH];
    text[..PREFIX.len()].copy_from_slice(PREFIX);
    // Three independent parts, so that their divisions run in parallel.
    let (high, low) = (key / 1_000_000_000_000, key % 1_000_000_000_000);
    let (middle, low) = (low / 1_000_000, low % 1_000_000);
    digits(&mut text[4..11], high);
    digits(&mut text[11..17], middle);
    digits(&mut text[17..23], low);
    text
}

fn digits(out: &mut [u8], value: u64) {
    // At most seven digits.
    let mut value = u32::try_from(value).unwrap_or_default();
    for digit in out.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
}
