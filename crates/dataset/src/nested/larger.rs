//! Documents with sizes between two ordinals: an ordinal with additional members, which are ordinals too.

use std::io::{self, Write};

use super::digest::{self, JsonInteger};
use super::maker::NestedGenerator;
use super::table::{InnerContent, NestedTable, identical_below};

/// D(n) with additional members that contain `extra_objects` objects in total. The member `p3`, for instance,
/// is a D(3), which has eight objects. With 2ⁿ more objects it would be D(n + 1) under other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnlargedDocument {
    /// Order of the ordinal, the n of D(n).
    pub n: u32,
    /// Number of objects in the additional members; less than 2ⁿ.
    pub extra_objects: u64,
}

impl EnlargedDocument {
    fn table(self) -> NestedTable {
        NestedTable { n: self.n, documents: 1, data: InnerContent::Identical, seed: 0 }
    }

    /// Orders of the additional members: the set bits of `extra_objects`.
    fn orders(self) -> impl Iterator<Item = u32> {
        (0..self.n).filter(move |order| self.extra_objects >> order & 1 == 1)
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
        let number = |number: i64| ("l", JsonInteger(number).digest());
        let sum = self.orders().fold(identical_below(self.n), |sum, order| {
            let member_value =
                digest::object_digest(std::iter::once(number(order.into())), identical_below(order));
            sum.wrapping_add(digest::member_digest(name(order).as_bytes(), member_value))
        });
        digest::object_digest(std::iter::once(number(NestedTable::top_level_number(0) as i64)), sum)
    }
}

fn name(order: u32) -> String {
    format!("p{order}")
}

#[cfg(test)]
mod tests {
    use super::super::digest;
    use super::*;

    fn text(n: u32, extra_objects: u64) -> String {
        let mut out = Vec::new();
        let bytes = EnlargedDocument { n, extra_objects }.line(&mut out).unwrap();
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
        for (n, extra_objects) in [(0, 0), (5, 0), (5, 17), (8, 255)] {
            assert_eq!(
                text(n, extra_objects).matches("\"l\"").count() as u64,
                (1 << n) + extra_objects,
                "{n} {extra_objects}"
            );
        }
    }

    #[test]
    fn sizes_grow_from_one_ordinal_to_the_next() {
        let lengths: Vec<usize> = (0..256).map(|extra_objects| text(8, extra_objects).len()).collect();
        assert!(lengths.is_sorted_by(|length, next_length| length < next_length));
        assert!(lengths[255] < text(9, 0).len() + 10 && lengths[255] > text(9, 0).len() - 100);
    }

    #[test]
    fn the_digest_is_that_of_the_text() {
        for (n, extra_objects) in [(0, 0), (3, 0), (3, 5), (6, 63), (7, 100)] {
            let larger = EnlargedDocument { n, extra_objects };
            assert_eq!(larger.digest(), digest(text(n, extra_objects).as_bytes()).unwrap(), "{larger:?}");
        }
        let table = NestedTable { n: 6, documents: 1, data: InnerContent::Identical, seed: 3 };
        assert_eq!(EnlargedDocument { n: 6, extra_objects: 0 }.digest(), table.digest(None));
    }
}
