//! Generates the text of large documents, one at a time.

use std::io::{self, Write};

use super::inner;
use super::table::{InnerContent, NestedTable};

/// Number of digits of the numbers of [`InnerContent::Distinct`].
const DIGITS: usize = 4;

/// Generates the documents of a table, in the format `{"l": 10, "k0": {"l": 0}}`. Holds the text of one
/// document in memory.
#[derive(Clone, Debug)]
pub struct NestedGenerator {
    table: NestedTable,
    /// Text after the top-level `l`: all further members, each with a leading comma.
    below: Vec<u8>,
    /// Offsets in `below` of the inner objects' numbers. Empty if all documents have the same numbers.
    number_offsets: Vec<u32>,
}

impl NestedGenerator {
    /// Builds the text that all documents of the table share.
    #[must_use]
    pub fn new(table: NestedTable) -> Self {
        let mut generator = Self { table, below: Vec::new(), number_offsets: Vec::new() };
        generator.below.reserve(NestedTable::nominal_bytes_of(table.n) as usize * 5 / 4);
        generator.members(table.n);
        generator
    }

    /// Returns the table whose documents are generated.
    #[must_use]
    pub fn table(&self) -> &NestedTable {
        &self.table
    }

    /// Appends the members `k0` … of an object of order `n` to `below`.
    fn members(&mut self, n: u32) {
        for k in 0..n {
            self.below.extend_from_slice(format!(", \"k{k}\": {{\"l\": ").as_bytes());
            match self.table.data {
                InnerContent::Identical => self.below.extend_from_slice(k.to_string().as_bytes()),
                InnerContent::Distinct => {
                    self.number_offsets.push(self.below.len() as u32);
                    self.below.extend_from_slice(&[b'0'; DIGITS]);
                }
            }
            self.members(k);
            self.below.push(b'}');
        }
    }

    /// Adds a member to every document whose value is an object of order `n`.
    pub(super) fn add(&mut self, name: &str, n: u32) {
        self.below.extend_from_slice(format!(", \"{name}\": {{\"l\": {n}").as_bytes());
        self.members(n);
        self.below.push(b'}');
    }

    /// Returns the length of a document's text in bytes, without generating it.
    #[must_use]
    pub fn length(&self, key: u64) -> u64 {
        let rare = if NestedTable::is_rare(key) { RARE.len() } else { 0 };
        (HEAD.len() + digits(NestedTable::top_level_number(key)) + self.below.len() + rare + 1) as u64
    }

    /// Returns the length of all documents' texts in bytes, the basis of rates and shares.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (0..self.table.documents).map(|key| self.length(key)).sum()
    }

    /// Writes a document without a newline.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn document(&mut self, key: u64, out: &mut dyn Write) -> io::Result<()> {
        let seed = self.table.seed;
        for (offset, position) in self.number_offsets.iter().zip(1..) {
            let mut number = inner(seed, key, position);
            let offset = *offset as usize;
            for digit in self.below.get_mut(offset..offset + DIGITS).into_iter().flatten().rev() {
                *digit = b'0' + (number % 10) as u8;
                number /= 10;
            }
        }
        out.write_all(HEAD)?;
        out.write_all(NestedTable::top_level_number(key).to_string().as_bytes())?;
        out.write_all(&self.below)?;
        if NestedTable::is_rare(key) {
            out.write_all(RARE)?;
        }
        out.write_all(b"}")
    }

    /// Writes a document as a line of a file: `{"key":…,"doc":{…}}` and a newline.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn line(&mut self, key: u64, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{{\"key\":{key},\"doc\":")?;
        self.document(key, out)?;
        out.write_all(b"}\n")
    }
}

const HEAD: &[u8] = b"{\"l\": ";
const RARE: &[u8] = b", \"rare\": 1";

fn digits(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{digest, inner};
    use super::*;

    fn table(n: u32, documents: u64, data: InnerContent) -> NestedTable {
        NestedTable { n, documents, data, seed: 1 }
    }

    fn text(n: u32, key: u64, data: InnerContent) -> String {
        let mut out = Vec::new();
        NestedGenerator::new(table(n, 1, data)).document(key, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn small_documents_are_those_made_by_hand() {
        assert_eq!(text(0, 0, InnerContent::Identical), r#"{"l": 10}"#);
        assert_eq!(text(0, 1, InnerContent::Identical), r#"{"l": 929, "rare": 1}"#);
        assert_eq!(
            text(3, 0, InnerContent::Identical),
            r#"{"l": 10, "k0": {"l": 0}, "k1": {"l": 1, "k0": {"l": 0}}, "k2": {"l": 2, "k0": {"l": 0}, "k1": {"l": 1, "k0": {"l": 0}}}}"#
        );
        let numbers: Vec<u64> = (1..=3).map(|position| inner(1, 5, position)).collect();
        assert!(numbers.iter().all(|number| (1000..10_000).contains(number)) && numbers[0] != numbers[1]);
        assert_eq!(
            text(2, 5, InnerContent::Distinct),
            format!(
                r#"{{"l": 605, "k0": {{"l": {}}}, "k1": {{"l": {}, "k0": {{"l": {}}}}}}}"#,
                numbers[0], numbers[1], numbers[2]
            )
        );
    }

    #[test]
    fn sizes_are_the_stated_ones_spaced_and_compact() {
        for (n, spaced, compact) in [
            (12, 65_535, 53_249),
            (14, 262_167, 213_017),
            (16, 1_048_695, 852_089),
            (18, 4_194_807, 3_408_377),
            (20, 16_779_255, 13_633_529),
        ] {
            let generator = NestedGenerator::new(table(n, 3, InnerContent::Identical));
            assert_eq!(generator.length(0), spaced);
            let mut out = Vec::new();
            generator.clone().document(0, &mut out).unwrap();
            assert_eq!(out.len() as u64, spaced);
            let blanks = out.iter().filter(|byte| **byte == b' ').count() as u64;
            assert_eq!(spaced - blanks, compact);
            // One digit more, and the member `rare`.
            assert_eq!((generator.length(1), generator.length(2)), (spaced + 1 + 11, spaced + 1));
            assert_eq!(generator.bytes(), 3 * spaced + 13);
        }
    }

    /// D(n), built recursively from its definition.
    fn ordinal(n: u32) -> Value {
        let mut members = json!({"l": n});
        for k in 0..n {
            members[format!("k{k}")] = ordinal(k);
        }
        members
    }

    #[test]
    fn texts_are_the_ordinals() {
        for n in 0..=9 {
            for key in [0, 1, 7, 101] {
                let mut expected = ordinal(n);
                expected["l"] = NestedTable::top_level_number(key).into();
                if key % 100 == 1 {
                    expected["rare"] = 1.into();
                }
                assert_eq!(
                    serde_json::from_str::<Value>(&text(n, key, InnerContent::Identical)).unwrap(),
                    expected
                );
            }
        }
    }

    #[test]
    fn digests_of_tables_are_those_of_their_texts() {
        for data in [InnerContent::Identical, InnerContent::Distinct] {
            for n in [0, 1, 5, 8] {
                let table = table(n, 103, data);
                let mut generator = NestedGenerator::new(table);
                let (mut sum, mut copies_sum) = (0_u64, 0_u64);
                for key in 0..table.documents {
                    let mut out = Vec::new();
                    generator.document(key, &mut out).unwrap();
                    let document_digest = digest(&out).unwrap();
                    assert_eq!(table.digest_of(key, None), document_digest);
                    sum = sum.wrapping_add(document_digest);
                    let mut copy: Value = serde_json::from_slice(&out).unwrap();
                    copy["l"] = 1.into();
                    copies_sum = copies_sum.wrapping_add(digest(copy.to_string().as_bytes()).unwrap());
                }
                assert_eq!((table.digest(None), table.digest(Some(1))), (sum, copies_sum));
            }
        }
    }

    #[test]
    fn documents_that_are_distinct_share_no_number() {
        let numbers = |key| -> Vec<u64> { (1..256).map(|position| inner(1, key, position)).collect() };
        let equal = numbers(1).iter().zip(&numbers(2)).filter(|(left, right)| left == right).count();
        assert!(equal < 3, "{equal}");
        assert_eq!(text(8, 1, InnerContent::Distinct), text(8, 1, InnerContent::Distinct));
    }
}
