//! Documents with sizes between two ordinals: an ordinal with additional members, which are ordinals too.

use std::io::{self, Write};

use super::digest::{self, NumberOf};
use super::maker::NestedGenerator;
use super::table::{InnerContent, NestedTable, identical_below};

/// D(n) with additional members that contain `more` objects in total. The member `p3`, for instance, is a
/// D(3), which has eight objects. With 2ⁿ more objects it would be D(n + 1) under other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Larger {
    /// Order of the ordinal, the n of D(n).
    pub n: u32,
    /// Number of objects in the additional members; less than 2ⁿ.
    pub more: u64,
}

impl Larger {
    fn table(self) -> NestedTable {
        NestedTable { n: self.n, documents: 1, data: InnerContent::Identical, seed: 0 }
    }

    /// Orders of the additional members: the set bits of `more`.
    fn orders(self) -> impl Iterator<Item = u32> {
        (0..self.n).filter(move |order| self.more >> order & 1 == 1)
    }

    fn generator(self) -> NestedGenerator {
        let mut generator = NestedGenerator::new(self.table());
        self.orders().for_each(|order| generator.add(&name(order), order));
        generator
    }

    /// Writes the document as a line of a file, with the key 0. Returns the length of the document's text in
    /// bytes.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn line(self, out: &mut dyn Write) -> io::Result<u64> {
        let mut generator = self.generator();
        generator.line(0, out)?;
        Ok(generator.bytes())
    }

    /// Returns the length of the document's text in bytes. Generates the text to measure it.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.generator().bytes()
    }

    /// Returns the digest of the document, equal to [`super::digest()`] of its text.
    #[must_use]
    pub fn digest(self) -> u64 {
        let number = |number: i64| ("l", NumberOf(number).digest());
        let sum = self.orders().fold(identical_below(self.n), |sum, order| {
            let member_value = digest::object(std::iter::once(number(order.into())), identical_below(order));
            sum.wrapping_add(digest::member(name(order).as_bytes(), member_value))
        });
        digest::object(std::iter::once(number(NestedTable::top_level_number(0) as i64)), sum)
    }
}

fn name(order: u32) -> String {
    format!("p{order}")
}

#[cfg(test)]
mod tests {
    use super::super::digest;
    use super::*;

    fn text(n: u32, more: u64) -> String {
        let mut out = Vec::new();
        let bytes = Larger { n, more }.line(&mut out).unwrap();
        let line = String::from_utf8(out).unwrap();
        let document = line.strip_prefix("{\"key\":0,\"doc\":").unwrap().strip_suffix("}\n").unwrap();
        assert_eq!(document.len() as u64, bytes);
        document.to_owned()
    }

    #[test]
    fn further_members_are_ordinals_that_hold_as_many_objects_as_were_asked_for() {
        assert_eq!(text(1, 0), r#"{"l": 10, "k0": {"l": 0}}"#);
        assert_eq!(text(1, 1), r#"{"l": 10, "k0": {"l": 0}, "p0": {"l": 0}}"#);
        assert_eq!(
            text(2, 2),
            r#"{"l": 10, "k0": {"l": 0}, "k1": {"l": 1, "k0": {"l": 0}}, "p1": {"l": 1, "k0": {"l": 0}}}"#
        );
        for (n, more) in [(0, 0), (5, 0), (5, 17), (8, 255)] {
            assert_eq!(text(n, more).matches("\"l\"").count() as u64, (1 << n) + more, "{n} {more}");
        }
    }

    #[test]
    fn sizes_grow_from_one_ordinal_to_the_next() {
        let lengths: Vec<usize> = (0..256).map(|more| text(8, more).len()).collect();
        assert!(lengths.is_sorted_by(|length, next_length| length < next_length));
        assert!(lengths[255] < text(9, 0).len() + 10 && lengths[255] > text(9, 0).len() - 100);
    }

    #[test]
    fn the_digest_is_that_of_the_text() {
        for (n, more) in [(0, 0), (3, 0), (3, 5), (6, 63), (7, 100)] {
            let larger = Larger { n, more };
            assert_eq!(larger.digest(), digest(text(n, more).as_bytes()).unwrap(), "{larger:?}");
        }
        let table = NestedTable { n: 6, documents: 1, data: InnerContent::Identical, seed: 3 };
        assert_eq!(Larger { n: 6, more: 0 }.digest(), table.digest(None));
    }
}
