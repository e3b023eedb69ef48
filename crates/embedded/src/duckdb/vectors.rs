//! Reads DuckDB's vectors, each of which holds one column of up to 2,048 rows.
#![expect(unsafe_code, reason = "reads memory whose layout the C interface defines")]

use std::ffi::c_void;

use jsonathlon_driver_api::codecs::decimal::decimal;
use jsonathlon_driver_api::driver::{DriverError, Result};
use jsonathlon_driver_api::rows::{Cell, RowSink};
use jsonathlon_schema::instant;

use crate::library::SharedLibrary;

/// `idx_t` of the C interface.
pub(super) type Index = u64;
/// Any of DuckDB's handles: a pointer to an opaque structure.
pub(super) type Handle = *mut c_void;

/// Functions of the C interface for chunks, vectors and types.
pub(super) struct VectorFunctions {
    pub(super) type_id: unsafe extern "C" fn(Handle) -> u32,
    pub(super) decimal_scale: unsafe extern "C" fn(Handle) -> u8,
    pub(super) decimal_storage: unsafe extern "C" fn(Handle) -> u32,
    pub(super) destroy_type: unsafe extern "C" fn(*mut Handle),
    chunk_size: unsafe extern "C" fn(Handle) -> Index,
    chunk_vector: unsafe extern "C" fn(Handle, Index) -> Handle,
    chunk_columns: unsafe extern "C" fn(Handle) -> Index,
    destroy_chunk: unsafe extern "C" fn(*mut Handle),
    data: unsafe extern "C" fn(Handle) -> *const u8,
    validity: unsafe extern "C" fn(Handle) -> *const u64,
}

impl VectorFunctions {
    pub(super) fn find(library: &SharedLibrary) -> Result<Self> {
        // SAFETY: names and types are those of duckdb.h (1.4 to 2.0).
        unsafe {
            Ok(Self {
                type_id: library.function("duckdb_get_type_id")?,
                decimal_scale: library.function("duckdb_decimal_scale")?,
                decimal_storage: library.function("duckdb_decimal_internal_type")?,
                destroy_type: library.function("duckdb_destroy_logical_type")?,
                chunk_size: library.function("duckdb_data_chunk_get_size")?,
                chunk_vector: library.function("duckdb_data_chunk_get_vector")?,
                chunk_columns: library.function("duckdb_data_chunk_get_column_count")?,
                destroy_chunk: library.function("duckdb_destroy_data_chunk")?,
                data: library.function("duckdb_vector_get_data")?,
                validity: library.function("duckdb_vector_get_validity")?,
            })
        }
    }
}

/// In-memory encoding of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    I128,
    U128,
    F32,
    F64,
    Text,
    /// Type of `SELECT NULL`: every cell is NULL.
    Null,
    Decimal(u32, Integer),
    /// Days since 1970 in 32 bits.
    Date,
    /// Ticks since 1970 in 64 bits, with the number of decimal digits of a second (0 for seconds, 6 for
    /// microseconds).
    Timestamp(u32),
}

/// In-memory encoding of a decimal's unscaled value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Integer {
    I16,
    I32,
    I64,
    I128,
}

impl Storage {
    /// Returns the encoding of a `DUCKDB_TYPE`. `decimal` gives scale and storage type of a decimal. `None`
    /// if the type cannot be represented in an answer.
    pub(super) fn from_type_id(id: u32, decimal: impl FnOnce() -> (u32, u32)) -> Option<Self> {
        Some(match id {
            1 => Self::Bool,
            2 => Self::I8,
            3 => Self::I16,
            4 => Self::I32,
            5 => Self::I64,
            6 => Self::U8,
            7 => Self::U16,
            8 => Self::U32,
            9 => Self::U64,
            10 => Self::F32,
            11 => Self::F64,
            16 => Self::I128,
            32 => Self::U128,
            17 => Self::Text,
            36 => Self::Null,
            13 => Self::Date,
            20 => Self::Timestamp(0),
            21 => Self::Timestamp(3),
            // A timestamp with time zone is an instant too; the zone only affects display.
            12 | 31 => Self::Timestamp(6),
            22 => Self::Timestamp(9),
            19 => {
                let (scale, storage) = decimal();
                let integer = match storage {
                    3 => Integer::I16,
                    4 => Integer::I32,
                    5 => Integer::I64,
                    16 => Integer::I128,
                    _ => return None,
                };
                Self::Decimal(scale, integer)
            }
            _ => return None,
        })
    }
}

/// Returns the name of an unsupported `DUCKDB_TYPE` for error messages.
pub(super) fn type_name(id: u32) -> String {
    let name = match id {
        14 => "TIME",
        15 => "INTERVAL",
        18 => "BLOB",
        23 => "ENUM",
        24 => "LIST",
        25 => "STRUCT",
        26 => "MAP",
        27 => "UUID",
        28 => "UNION",
        29 => "BIT",
        30 => "TIMETZ",
        33 => "ARRAY",
        35 => "BIGNUM",
        39 => "TIME_NS",
        40 => "GEOMETRY",
        41 => "VARIANT",
        _ => return format!("number {id}"),
    };
    name.to_owned()
}

/// `duckdb_string_t`: texts of up to 12 bytes are inline, longer ones behind a pointer.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawText {
    length: u32,
    prefix: [u8; 4],
    rest: RawTextEnd,
}

#[repr(C)]
#[derive(Clone, Copy)]
union RawTextEnd {
    inlined: [u8; 8],
    pointer: *const u8,
}

/// Data chunk of up to 2,048 rows, freed when dropped.
pub(super) struct Chunk<'a> {
    functions: &'a VectorFunctions,
    handle: Handle,
}

impl<'a> Chunk<'a> {
    /// Takes ownership of a chunk. `None` if `handle` is null.
    ///
    /// # Safety
    /// `handle` must be null or a chunk that no other code frees.
    pub(super) unsafe fn from_handle(functions: &'a VectorFunctions, handle: Handle) -> Option<Self> {
        (!handle.is_null()).then_some(Self { functions, handle })
    }

    /// Passes the rows to `sink`. `columns` are names and encodings of the answer's columns.
    pub(super) fn read(&self, columns: &[(String, Storage)], sink: &mut dyn RowSink) -> Result<()> {
        // SAFETY: the chunk is alive.
        let (size, count) = unsafe {
            ((self.functions.chunk_size)(self.handle), (self.functions.chunk_columns)(self.handle))
        };
        let size = usize::try_from(size).map_err(|_| DriverError::Protocol("a chunk without end".into()))?;
        if usize::try_from(count) != Ok(columns.len()) {
            return Err(DriverError::Protocol(format!("a chunk of {count} columns, not {}", columns.len())));
        }
        let vectors: Vec<Column> = (0..count)
            .map(|index| {
                // SAFETY: the index is below the count, and the vector lives as long as the chunk.
                unsafe {
                    let vector = (self.functions.chunk_vector)(self.handle, index);
                    Column {
                        data: (self.functions.data)(vector),
                        validity: (self.functions.validity)(vector),
                        length: size,
                    }
                }
            })
            .collect();
        let mut rows: Vec<Vec<Cell<'_>>> = (0..size).map(|_| Vec::with_capacity(columns.len())).collect();
        for (vector, (name, storage)) in vectors.iter().zip(columns) {
            vector.append(*storage, name, &mut rows)?;
        }
        rows.iter().try_for_each(|row| sink.row(row))
    }
}

impl Drop for Chunk<'_> {
    fn drop(&mut self) {
        // SAFETY: alive until now, and not used again.
        unsafe { (self.functions.destroy_chunk)(&raw mut self.handle) }
    }
}

/// Vector of one column in a chunk.
struct Column {
    data: *const u8,
    validity: *const u64,
    length: usize,
}

impl Column {
    fn is_valid(&self, row: usize) -> bool {
        if self.validity.is_null() {
            return true;
        }
        // SAFETY: the mask has a bit for each row of the chunk.
        let word = unsafe { self.validity.add(row / 64).read() };
        word & (1 << (row % 64)) != 0
    }

    /// Returns the cells as a slice of `T`.
    ///
    /// # Safety
    /// `T` must be the type in which this column is stored.
    unsafe fn cells<T>(&self) -> &[T] {
        // SAFETY: a vector's data has a cell for each row of the chunk, and DuckDB aligns it for any of its
        // own types.
        unsafe { std::slice::from_raw_parts(self.data.cast::<T>(), self.length) }
    }

    fn append<'a>(&'a self, storage: Storage, name: &str, rows: &mut [Vec<Cell<'a>>]) -> Result<()> {
        // SAFETY: `storage` was derived from the column's own logical type.
        unsafe {
            match storage {
                Storage::Bool => self.each(rows, |truth: &u8| Ok(Cell::Bool(*truth != 0))),
                Storage::I8 => self.each(rows, |n: &i8| Ok(Cell::Int((*n).into()))),
                Storage::I16 => self.each(rows, |n: &i16| Ok(Cell::Int((*n).into()))),
                Storage::I32 => self.each(rows, |n: &i32| Ok(Cell::Int((*n).into()))),
                Storage::I64 => self.each(rows, |n: &i64| Ok(Cell::Int(*n))),
                Storage::U8 => self.each(rows, |n: &u8| Ok(Cell::Int((*n).into()))),
                Storage::U16 => self.each(rows, |n: &u16| Ok(Cell::Int((*n).into()))),
                Storage::U32 => self.each(rows, |n: &u32| Ok(Cell::Int((*n).into()))),
                Storage::U64 => self.each(rows, |n: &u64| narrow(i64::try_from(*n).ok(), name)),
                Storage::I128 => self.each(rows, |n: &[u64; 2]| narrow(i64::try_from(join(*n)).ok(), name)),
                Storage::U128 => {
                    self.each(rows, |n: &[u64; 2]| narrow(i64::try_from(join(*n).cast_unsigned()).ok(), name))
                }
                Storage::F32 => self.each(rows, |n: &f32| Ok(Cell::Float((*n).into()))),
                Storage::F64 => self.each(rows, |n: &f64| Ok(Cell::Float(*n))),
                Storage::Text => self.each(rows, |text: &RawText| text.read(name)),
                Storage::Decimal(scale, Integer::I16) => {
                    self.each(rows, |n: &i16| narrow_decimal((*n).into(), scale, name))
                }
                Storage::Decimal(scale, Integer::I32) => {
                    self.each(rows, |n: &i32| narrow_decimal((*n).into(), scale, name))
                }
                Storage::Decimal(scale, Integer::I64) => {
                    self.each(rows, |n: &i64| narrow_decimal((*n).into(), scale, name))
                }
                Storage::Decimal(scale, Integer::I128) => {
                    self.each(rows, |n: &[u64; 2]| narrow_decimal(join(*n), scale, name))
                }
                Storage::Date => self.each(rows, |days: &i32| {
                    let finite = (days.unsigned_abs() != i32::MAX.unsigned_abs()).then_some(i64::from(*days));
                    instant(finite.and_then(instant::from_days), name)
                }),
                Storage::Timestamp(digits) => self.each(rows, |ticks: &i64| {
                    let finite = (ticks.unsigned_abs() != i64::MAX.unsigned_abs()).then_some(*ticks);
                    instant(finite.and_then(|ticks| instant::from_ticks(ticks, digits)), name)
                }),
                Storage::Null => {
                    rows.iter_mut().for_each(|row| row.push(Cell::Null));
                    Ok(())
                }
            }
        }
    }

    /// # Safety
    /// As [`Column::cells`].
    unsafe fn each<'a, T: 'a>(
        &'a self,
        rows: &mut [Vec<Cell<'a>>],
        value: impl Fn(&'a T) -> Result<Cell<'a>>,
    ) -> Result<()> {
        // SAFETY: the caller guarantees the type.
        let cells = unsafe { self.cells::<T>() };
        for (index, (row, cell)) in rows.iter_mut().zip(cells).enumerate() {
            row.push(if self.is_valid(index) { value(cell)? } else { Cell::Null });
        }
        Ok(())
    }
}

/// Joins the halves of a `duckdb_hugeint`, lower half first. Its alignment is 8; that of `i128` is 16.
fn join([lower, upper]: [u64; 2]) -> i128 {
    (i128::from(upper.cast_signed()) << 64) | i128::from(lower)
}

fn narrow(number: Option<i64>, column: &str) -> Result<Cell<'static>> {
    number.map(Cell::Int).ok_or_else(|| too_wide(column))
}

fn narrow_decimal(unscaled: i128, scale: u32, column: &str) -> Result<Cell<'static>> {
    decimal(unscaled, scale).ok_or_else(|| too_wide(column))
}

/// Converts microseconds to a cell. `None` stands for infinity, which DuckDB stores as the largest number of
/// either sign, and for an instant outside 64 bits; both are errors.
fn instant(microseconds: Option<i64>, column: &str) -> Result<Cell<'static>> {
    microseconds.map(Cell::Int).ok_or_else(|| {
        DriverError::Unsupported(format!(
            "a time of column `{column}` is beyond all times: cast it to VARCHAR"
        ))
    })
}

fn too_wide(column: &str) -> DriverError {
    DriverError::Unsupported(format!(
        "a number of column `{column}` is outside 64 bits with a sign: cast it to VARCHAR"
    ))
}

/// Maximum length in bytes of an inline text.
const SHORT: usize = 12;

impl RawText {
    /// Returns the text as a cell of `column`. The length tells which member of the union is valid; DuckDB
    /// keeps the bytes alive as long as the chunk.
    fn read(&self, column: &str) -> Result<Cell<'_>> {
        let length = self.length as usize;
        let start = if length <= SHORT {
            // Prefix and rest are contiguous. The pointer is derived from `self`, because one derived from
            // `prefix` must not reach beyond it.
            (&raw const *self).cast::<u8>().wrapping_add(size_of::<u32>())
        } else {
            // SAFETY: longer texts are stored behind the pointer.
            unsafe { self.rest.pointer }
        };
        // SAFETY: `length` bytes are stored there, and live as long as `self`.
        let bytes = unsafe { std::slice::from_raw_parts(start, length) };
        std::str::from_utf8(bytes).map(Cell::Text).map_err(|error| {
            DriverError::Protocol(format!("a VARCHAR of column `{column}` is not UTF-8 ({error})"))
        })
    }
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::value::Value;
    use proptest::prelude::*;

    use super::*;

    fn column<T>(cells: &[T], validity: Option<&[u64]>) -> Column {
        Column {
            data: cells.as_ptr().cast(),
            validity: validity.map_or(std::ptr::null(), <[u64]>::as_ptr),
            length: cells.len(),
        }
    }

    fn read<T>(cells: &[T], validity: Option<&[u64]>, storage: Storage) -> Result<Vec<Value>> {
        let mut rows = vec![Vec::new(); cells.len()];
        let column = column(cells, validity);
        column.append(storage, "c", &mut rows)?;
        Ok(rows.into_iter().map(|row| row[0].to_value()).collect())
    }

    #[test]
    fn cells_are_read_by_their_storage_and_the_mask() {
        assert_eq!(read(&[1u8, 0], None, Storage::Bool).unwrap(), [Value::Bool(true), Value::Bool(false)]);
        let extremes = read(&[i64::MIN, 7, i64::MAX], Some(&[0b101]), Storage::I64).unwrap();
        assert_eq!(extremes, [Value::Int(i64::MIN), Value::Null, Value::Int(i64::MAX)]);
        assert_eq!(read(&[-125i32], None, Storage::Decimal(2, Integer::I32)).unwrap(), [Value::Float(-1.25)]);
        assert_eq!(read(&[0u8], None, Storage::Null).unwrap(), [Value::Null]);
    }

    #[test]
    fn the_mask_has_64_rows_a_word() {
        let cells: Vec<i16> = (0..130).collect();
        let values = read(&cells, Some(&[u64::MAX, u64::MAX, 0b01]), Storage::I16).unwrap();
        assert_eq!(
            (&values[127], &values[128], &values[129]),
            (&Value::Int(127), &Value::Int(128), &Value::Null)
        );
    }

    #[test]
    fn wide_numbers_are_narrowed_or_refused() {
        let wide = |number: i128| [number as u64, (number >> 64) as u64];
        assert_eq!(read(&[wide(-3)], None, Storage::I128).unwrap(), [Value::Int(-3)]);
        let Err(DriverError::Unsupported(text)) =
            read(&[wide(i128::from(i64::MAX) + 1)], None, Storage::I128)
        else {
            panic!("was read")
        };
        assert!(text.contains("`c`") && text.contains("VARCHAR"), "{text}");
        assert!(read(&[u64::MAX], None, Storage::U64).is_err());
        assert!(read(&[[0u64, 1 << 63]], None, Storage::U128).is_err());
    }

    #[test]
    fn types_without_a_place_in_an_answer_are_known_by_name() {
        assert_eq!(Storage::from_type_id(14, || (0, 0)), None);
        assert_eq!(type_name(14), "TIME");
        assert_eq!(type_name(250), "number 250");
        assert_eq!(Storage::from_type_id(19, || (3, 5)), Some(Storage::Decimal(3, Integer::I64)));
    }

    #[test]
    fn instants_of_all_types_are_microseconds_since_1970() {
        const INSTANT: i64 = 1_767_323_045_678_901;
        let storage = |id| Storage::from_type_id(id, || (0, 0)).unwrap();
        for id in [12, 31] {
            assert_eq!(read(&[INSTANT], None, storage(id)).unwrap(), [Value::Int(INSTANT)], "{id}");
        }
        assert_eq!(read(&[INSTANT * 1_000 + 999], None, storage(22)).unwrap(), [Value::Int(INSTANT)]);
        let milliseconds = INSTANT / 1_000;
        assert_eq!(read(&[milliseconds], None, storage(21)).unwrap(), [Value::Int(milliseconds * 1_000)]);
        let seconds = INSTANT / 1_000_000;
        assert_eq!(read(&[seconds], None, storage(20)).unwrap(), [Value::Int(seconds * 1_000_000)]);
        assert_eq!(read(&[20_455_i32], None, storage(13)).unwrap(), [Value::Int(1_767_312_000_000_000)]);
        for infinity in [i64::MAX, -i64::MAX] {
            for id in [12, 20, 21, 22, 31] {
                assert!(read(&[infinity], None, storage(id)).is_err(), "{id}");
            }
        }
        assert!(read(&[i32::MAX], None, storage(13)).is_err());
        assert!(read(&[-i32::MAX], None, storage(13)).is_err());
    }

    proptest! {
        #[test]
        fn texts_short_and_long_are_read_whole(text in "\\PC{0,40}") {
            let bytes = text.as_bytes();
            let mut raw = RawText { length: bytes.len() as u32, prefix: [0; 4], rest: RawTextEnd { inlined: [0; 8] } };
            if bytes.len() <= 12 {
                let mut padded = [0; 12];
                padded[..bytes.len()].copy_from_slice(bytes);
                raw.prefix.copy_from_slice(&padded[..4]);
                let mut end = [0; 8];
                end.copy_from_slice(&padded[4..]);
                raw.rest.inlined = end;
            } else {
                raw.prefix.copy_from_slice(&bytes[..4]);
                raw.rest.pointer = bytes.as_ptr();
            }
            prop_assert_eq!(read(&[raw], None, Storage::Text).unwrap(), vec![Value::Text(text)]);
        }

        #[test]
        fn halves_of_a_wide_number_join(number in any::<i128>()) {
            prop_assert_eq!(join([number as u64, (number >> 64) as u64]), number);
        }
    }
}
