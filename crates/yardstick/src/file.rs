//! File format of a table: a header with counts and lengths, dictionaries, columns; all numbers
//! little-endian.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use super::columns::{Dictionaries, Table, WORD};
use super::dictionary::{Dictionary, NULL};
use crate::error::{Result, YardstickError};

const MAGIC: [u8; 8] = *b"JSAYARD\n";
/// Version of the file layout; must change with it.
const LAYOUT: u32 = 1;
/// Size of the header: magic, layout, rows, and number and bytes of the texts of five dictionaries.
const HEADER_BYTES: u64 = 8 + 4 + 8 + 5 * 16;
/// Buffer size for converting between bytes and numbers.
const BLOCK_BYTES: usize = 1 << 20;

impl Table {
    /// Size of columns and dictionaries in bytes: the file without its header.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        let rows = self.rows() as u64;
        let text_bytes = dictionaries(&self.texts)
            .map(|dictionary| dictionary.len() as u64 * 8 + dictionary.parts().0.len() as u64);
        column_bytes(rows) + text_bytes.iter().sum::<u64>()
    }

    /// Size of the file in bytes, including its header.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        HEADER_BYTES + self.data_bytes()
    }

    /// Writes the table to `path`, first under another name, so that either the old or the new file survives
    /// a crash.
    ///
    /// # Errors
    /// [`YardstickError::File`] if the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let temporary = path.with_extension("new");
        let written = write_to(self, &temporary).and_then(|()| {
            std::fs::rename(&temporary, path)?;
            path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
        });
        written.map_err(|error| {
            std::fs::remove_file(&temporary).ok();
            YardstickError::File(format!("failed to write {}: {error}", path.display()))
        })
    }

    /// Reads a table from a file into memory.
    ///
    /// # Errors
    /// [`YardstickError::Columns`] if the file cannot be read or is not a valid table of this layout.
    pub fn read(path: &Path) -> Result<Self> {
        read_from(path).map_err(|error| {
            YardstickError::Columns(format!(
                "failed to read {} as the yardstick's columns: {error}",
                path.display()
            ))
        })
    }
}

/// Size of the columns: five codes, a time and one bit per row.
fn column_bytes(rows: u64) -> u64 {
    rows * (5 * 4 + 8) + rows.div_ceil(WORD as u64) * 8
}

fn dictionaries(texts: &Dictionaries) -> [&Dictionary; 5] {
    [&texts.kinds, &texts.operations, &texts.collections, &texts.users, &texts.languages]
}

fn write_to(table: &Table, path: &Path) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(BLOCK_BYTES, File::create(path)?);
    file.write_all(&MAGIC)?;
    file.write_all(&LAYOUT.to_le_bytes())?;
    file.write_all(&(table.rows() as u64).to_le_bytes())?;
    let dictionaries = dictionaries(&table.texts);
    for dictionary in dictionaries {
        file.write_all(&(dictionary.len() as u64).to_le_bytes())?;
        file.write_all(&(dictionary.parts().0.len() as u64).to_le_bytes())?;
    }
    for dictionary in dictionaries {
        let (text, ends) = dictionary.parts();
        write_numbers(&mut file, ends, |end| end.to_le_bytes())?;
        file.write_all(text.as_bytes())?;
    }
    for codes in [&table.kind, &table.operation, &table.collection, &table.user, &table.language] {
        write_numbers(&mut file, codes, |code| code.to_le_bytes())?;
    }
    write_numbers(&mut file, &table.time, |time| time.to_le_bytes())?;
    write_numbers(&mut file, &table.untimed, |word| word.to_le_bytes())?;
    file.into_inner()?.sync_all()
}

fn write_numbers<T: Copy, const N: usize>(
    file: &mut impl Write,
    numbers: &[T],
    to_bytes: impl Fn(T) -> [u8; N],
) -> io::Result<()> {
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    for chunk in numbers.chunks(BLOCK_BYTES / N) {
        block.clear();
        block.extend(chunk.iter().flat_map(|&number| to_bytes(number)));
        file.write_all(&block)?;
    }
    Ok(())
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Numbers of the header, which have been checked against the length of the file.
struct Header {
    rows: u64,
    /// Number of texts of each dictionary, and their bytes.
    texts: [(u64, u64); 5],
}

/// Reads the header of a file that is `length` bytes long, and checks that nothing is missing.
fn read_header(file: &mut impl Read, length: u64) -> io::Result<Header> {
    if length < HEADER_BYTES {
        return Err(invalid("it is too short"));
    }
    if array(file)? != MAGIC {
        return Err(invalid("it is another kind of file"));
    }
    let layout = u32::from_le_bytes(array(file)?);
    if layout != LAYOUT {
        return Err(invalid(&format!("its layout is {layout}, and this program reads {LAYOUT}: load again")));
    }
    let rows = u64::from_le_bytes(array(file)?);
    let mut texts = [(0, 0); 5];
    for (count, bytes) in &mut texts {
        *count = u64::from_le_bytes(array(file)?);
        *bytes = u64::from_le_bytes(array(file)?);
    }
    // Checked before anything is allocated, in a type that cannot overflow whatever the header contains.
    let text_bytes: u128 =
        texts.iter().map(|&(count, bytes)| u128::from(count) * 8 + u128::from(bytes)).sum();
    let row_bytes = u128::from(rows) * (5 * 4 + 8) + u128::from(rows.div_ceil(WORD as u64)) * 8;
    let expected = u128::from(HEADER_BYTES) + text_bytes + row_bytes;
    if u128::from(length) != expected {
        return Err(invalid(&format!("it is {length} bytes long and must be {expected}")));
    }
    Ok(Header { rows, texts })
}

/// Reads all dictionaries, given the number of their texts and their bytes.
fn read_dictionaries(file: &mut impl Read, dictionary_sizes: [(u64, u64); 5]) -> io::Result<Dictionaries> {
    let mut dictionaries = Vec::with_capacity(dictionary_sizes.len());
    for (count, bytes) in dictionary_sizes {
        let ends = numbers(file, count, u64::from_le_bytes)?;
        let text = String::from_utf8(numbers(file, bytes, u8::from_le_bytes)?);
        let text = text.map_err(|_| invalid("a text in it is not UTF-8"))?;
        let dictionary = Dictionary::from_parts(text, ends).ok_or_else(|| invalid("its texts overlap"))?;
        dictionaries.push(dictionary);
    }
    let [kinds, operations, collections, users, languages] =
        <[Dictionary; 5]>::try_from(dictionaries).map_err(|_| invalid("its dictionaries are incomplete"))?;
    let mut texts = Dictionaries { kinds, operations, collections, users, languages };
    // Indexes only dictionaries in which questions look up texts; users are many and needed only for further
    // loads.
    texts.kinds.index();
    texts.operations.index();
    texts.collections.index();
    Ok(texts)
}

fn read_from(path: &Path) -> io::Result<Table> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut file = BufReader::new(file);
    let Header { rows, texts } = read_header(&mut file, length)?;
    let texts = read_dictionaries(&mut file, texts)?;
    let mut codes = |dictionary: &Dictionary| -> io::Result<Vec<u32>> {
        let column = numbers(&mut file, rows, u32::from_le_bytes)?;
        match column.iter().all(|&code| code == NULL || (code as usize) < dictionary.len()) {
            true => Ok(column),
            false => Err(invalid("a code in it has no text")),
        }
    };
    Ok(Table {
        kind: codes(&texts.kinds)?,
        operation: codes(&texts.operations)?,
        collection: codes(&texts.collections)?,
        user: codes(&texts.users)?,
        language: codes(&texts.languages)?,
        time: numbers(&mut file, rows, i64::from_le_bytes)?,
        untimed: numbers(&mut file, rows.div_ceil(WORD as u64), u64::from_le_bytes)?,
        texts,
    })
}

fn array<const N: usize>(file: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn numbers<T, const N: usize>(
    file: &mut impl Read,
    count: u64,
    from_bytes: impl Fn([u8; N]) -> T,
) -> io::Result<Vec<T>> {
    let count = usize::try_from(count).map_err(|_| invalid("it is too large for this machine"))?;
    let mut numbers = Vec::with_capacity(count);
    let mut block = vec![0; (count * N).min(BLOCK_BYTES / N * N)];
    while numbers.len() < count {
        let bytes = ((count - numbers.len()) * N).min(block.len());
        let block = &mut block[..bytes];
        file.read_exact(block)?;
        numbers.extend(block.as_chunks::<N>().0.iter().map(|bytes| from_bytes(*bytes)));
    }
    Ok(numbers)
}
