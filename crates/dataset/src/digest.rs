//! Digests of answers and documents.

use jsonathlon_schema::value::{Row, Value};

/// Returns the digest of rows in the given order: `blake3:` and 64 hexadecimal digits.
///
/// The encoding is injective: the number of rows; for every row its number of cells; for every cell a tag and
/// its value. Lengths precede text, and all integers are 64-bit little-endian. `0.0` and `-0.0` differ, as do
/// `1` and `1.0`.
pub fn rows_digest(rows: &[Row]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(rows.len() as u64).to_le_bytes());
    for row in rows {
        hasher.update(&(row.len() as u64).to_le_bytes());
        for value in row {
            match value {
                Value::Null => {
                    hasher.update(b"n");
                }
                Value::Bool(flag) => {
                    hasher.update(&[b'b', u8::from(*flag)]);
                }
                Value::Int(int) => {
                    hasher.update(b"i");
                    hasher.update(&int.to_le_bytes());
                }
                Value::Float(float) => {
                    hasher.update(b"f");
                    hasher.update(&float.to_bits().to_le_bytes());
                }
                Value::Text(text) => {
                    hasher.update(b"t");
                    hasher.update(&(text.len() as u64).to_le_bytes());
                    hasher.update(text.as_bytes());
                }
            }
        }
    }
    digest_text(&hasher)
}

/// Formats a digest in the notation used everywhere: `blake3:` and 64 hexadecimal digits.
pub(crate) fn digest_text(hasher: &blake3::Hasher) -> String {
    format!("blake3:{}", hasher.finalize().to_hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_tell_rows_apart() {
        let cases: Vec<Vec<Row>> = vec![
            vec![],
            vec![vec![]],
            vec![vec![Value::Null]],
            vec![vec![Value::Null], vec![]],
            vec![vec![Value::Int(1)]],
            vec![vec![Value::Float(1.0)]],
            vec![vec![Value::Text("1".into())]],
            vec![vec![Value::Bool(true)]],
            vec![vec![Value::Text("a".into()), Value::Text("b".into())]],
            vec![vec![Value::Text("a".into())], vec![Value::Text("b".into())]],
            vec![vec![Value::Text("ab".into()), Value::Text(String::new())]],
        ];
        let digests: std::collections::HashSet<String> = cases.iter().map(|rows| rows_digest(rows)).collect();
        assert_eq!(digests.len(), cases.len());
        assert!(digests.iter().all(|digest| digest.len() == "blake3:".len() + 64));
        assert_eq!(rows_digest(&cases[4]), rows_digest(&[vec![Value::Int(1)]]));
    }
}
