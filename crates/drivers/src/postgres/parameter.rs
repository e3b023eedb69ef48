//! Encoding of parameters in the protocol's binary format, as the type that the server has inferred for each.

use bytes::{BufMut, BytesMut};
use jsonathlon_driver_api::prepared::Parameter;
use postgres::types::{IsNull, ToSql, Type};

type Encoded = std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>>;

/// Microseconds from 1970, the epoch of parameters, to 2000, the server's epoch.
const MICROSECONDS_TO_2000: i64 = 946_684_800_000_000;

/// Parameter that is encoded as whatever type the server asks for.
#[derive(Debug)]
pub(super) struct Bound<'a>(pub(super) Parameter<'a>);

impl ToSql for Bound<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Encoded {
        let unfit =
            |what: &str| Err(format!("{what} is no {kind}: cast the parameter in the statement").into());
        match (self.0, kind) {
            (Parameter::Null, _) => return Ok(IsNull::Yes),
            (Parameter::Bool(truth), &Type::BOOL) => out.put_u8(u8::from(truth)),
            (Parameter::Int(number), &Type::INT2) => out.put_i16(i16::try_from(number)?),
            (Parameter::Int(number), &Type::INT4) => out.put_i32(i32::try_from(number)?),
            (Parameter::Int(number), &Type::INT8) => out.put_i64(number),
            (Parameter::Int(number), &Type::OID) => out.put_u32(u32::try_from(number)?),
            (Parameter::Int(number), &Type::FLOAT8) => out.put_f64(number as f64),
            (Parameter::Int(number), &Type::TIMESTAMPTZ) => match number.checked_sub(MICROSECONDS_TO_2000) {
                Some(since_2000) => out.put_i64(since_2000),
                None => return unfit("a time before all times"),
            },
            (Parameter::Float(number), &Type::FLOAT8) => out.put_f64(number),
            (Parameter::Float(number), &Type::FLOAT4) => out.put_f32(number as f32),
            (
                Parameter::Text(text) | Parameter::Json(text),
                &(Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN | Type::JSON),
            ) => out.put_slice(text.as_bytes()),
            // The first byte is the version of the format, which has always been 1.
            (Parameter::Text(text) | Parameter::Json(text), &Type::JSONB) => {
                out.put_u8(1);
                out.put_slice(text.as_bytes());
            }
            (Parameter::Bool(_), _) => return unfit("a truth value"),
            (Parameter::Int(_), _) => return unfit("an integer"),
            (Parameter::Float(_), _) => return unfit("a float"),
            (Parameter::Text(_) | Parameter::Json(_), _) => return unfit("a text"),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn to_sql_checked(&self, kind: &Type, out: &mut BytesMut) -> Encoded {
        self.to_sql(kind, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_written_as_the_type_in_its_place_or_refused_with_advice() {
        let encoded = |parameter, kind: &Type| {
            let mut out = BytesMut::new();
            Bound(parameter).to_sql(kind, &mut out).map(|_| out.to_vec()).map_err(|error| error.to_string())
        };
        assert_eq!(encoded(Parameter::Int(-2), &Type::INT2).unwrap(), [0xFF, 0xFE]);
        assert_eq!(encoded(Parameter::Json("{}"), &Type::JSONB).unwrap(), b"\x01{}");
        assert_eq!(encoded(Parameter::Int(MICROSECONDS_TO_2000), &Type::TIMESTAMPTZ).unwrap(), [0; 8]);
        assert!(encoded(Parameter::Int(70_000), &Type::INT2).is_err());
        let error = encoded(Parameter::Int(7), &Type::NUMERIC).unwrap_err();
        assert!(error.contains("an integer is no numeric") && error.contains("cast"), "{error}");
    }
}
