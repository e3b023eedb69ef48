//! Cells as JSON without loss.
//!
//! JSON has no NaN and no infinity, and an engine's wrong answer is exactly what must reach the
//! coordinator unchanged, so these three are written as `{"float":"nan"}`, `{"float":"inf"}` and
//! `{"float":"-inf"}`. Everything else is the plain JSON value.

pub(crate) mod rows {
    //! `#[serde(with)]` for a whole answer.

    use jsonathlon_dataset::value::{Row, Value};
    use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
    use serde::ser::{SerializeMap, SerializeSeq, Serializer};
    use serde::{Deserialize, Serialize};

    struct Cell<'a>(&'a Value);

    impl Serialize for Cell<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self.0 {
                Value::Null => serializer.serialize_unit(),
                Value::Bool(truth) => serializer.serialize_bool(*truth),
                Value::Int(number) => serializer.serialize_i64(*number),
                Value::Float(number) if number.is_finite() => serializer.serialize_f64(*number),
                Value::Float(number) => {
                    let name = match *number {
                        n if n.is_nan() => "nan",
                        n if n > 0.0 => "inf",
                        _ => "-inf",
                    };
                    let mut map = serializer.serialize_map(Some(1))?;
                    map.serialize_entry("float", name)?;
                    map.end()
                }
                Value::Text(text) => serializer.serialize_str(text),
            }
        }
    }

    struct Line<'a>(&'a Row);

    impl Serialize for Line<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut cells = serializer.serialize_seq(Some(self.0.len()))?;
            for value in self.0 {
                cells.serialize_element(&Cell(value))?;
            }
            cells.end()
        }
    }

    struct OwnedCell(Value);

    impl<'de> Deserialize<'de> for OwnedCell {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_any(CellVisitor).map(OwnedCell)
        }
    }

    struct CellVisitor;

    impl<'de> Visitor<'de> for CellVisitor {
        type Value = Value;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("null, a truth value, a number, a text or {\"float\":…}")
        }

        fn visit_unit<E>(self) -> Result<Value, E> {
            Ok(Value::Null)
        }

        fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
            Ok(Value::Bool(truth))
        }

        fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
            Ok(Value::Int(number))
        }

        fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
            i64::try_from(number)
                .map(Value::Int)
                .map_err(|_| E::custom(format_args!("integer {number} is outside 64 bits with a sign")))
        }

        fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
            Ok(Value::Float(number))
        }

        fn visit_str<E>(self, text: &str) -> Result<Value, E> {
            Ok(Value::Text(text.to_owned()))
        }

        fn visit_string<E>(self, text: String) -> Result<Value, E> {
            Ok(Value::Text(text))
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
            let Some(("float", name)) = map.next_entry::<&str, &str>()? else {
                return Err(A::Error::custom("a cell that is an object must be {\"float\":…}"));
            };
            match name {
                "nan" => Ok(Value::Float(f64::NAN)),
                "inf" => Ok(Value::Float(f64::INFINITY)),
                "-inf" => Ok(Value::Float(f64::NEG_INFINITY)),
                other => Err(A::Error::custom(format_args!("no float is called `{other}`"))),
            }
        }
    }

    struct RowsVisitor;

    impl<'de> Visitor<'de> for RowsVisitor {
        type Value = Vec<Row>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an array of rows")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Row>, A::Error> {
            let mut rows = Vec::new();
            while let Some(row) = seq.next_element::<OwnedRow>()? {
                rows.push(row.0);
            }
            Ok(rows)
        }
    }

    struct OwnedRow(Row);

    impl<'de> Deserialize<'de> for OwnedRow {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let cells: Vec<OwnedCell> = Vec::deserialize(deserializer)?;
            Ok(Self(cells.into_iter().map(|cell| cell.0).collect()))
        }
    }

    pub(crate) fn serialize<S: Serializer>(rows: &[Row], serializer: S) -> Result<S::Ok, S::Error> {
        let mut lines = serializer.serialize_seq(Some(rows.len()))?;
        for row in rows {
            lines.serialize_element(&Line(row))?;
        }
        lines.end()
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Row>, D::Error> {
        deserializer.deserialize_seq(RowsVisitor)
    }
}
