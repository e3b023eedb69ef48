//! Encoding and decoding of the protocol's packets.

use jsonathlon_driver_api::driver::{DriverError, Result};

/// Maximum payload of a packet in bytes. A packet of this length is continued in the next one.
const LONGEST: usize = 0xFF_FFFF;

/// Begins a packet with the sequence number `sequence`. Returns its start, which [`close`] needs.
pub(super) fn open(sequence: u8, out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0, 0, 0, sequence]);
    start
}

/// Fills in the length of the packet that began at `start`.
pub(super) fn close(start: usize, out: &mut [u8]) -> Result<()> {
    let length = out.len() - start - 4;
    if length >= LONGEST {
        return Err(DriverError::Refused("a request of 16 MiB or more".to_owned()));
    }
    out[start..start + 3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
    Ok(())
}

/// Returns payload and end of the packet that begins at `at`. `None` if it has not arrived completely.
pub(super) fn at(bytes: &[u8], at: usize) -> Result<Option<(&[u8], usize)>> {
    let Some(&[a, b, c, _]) = bytes.get(at..at + 4) else { return Ok(None) };
    let length = u32::from_le_bytes([a, b, c, 0]) as usize;
    if length == LONGEST {
        return Err(DriverError::Unsupported("an answer with a row of 16 MiB or more".to_owned()));
    }
    let end = at + 4 + length;
    Ok(bytes.get(at + 4..end).map(|packet| (packet, end)))
}

pub(super) fn malformed() -> DriverError {
    DriverError::Protocol("a packet is not as its kind should be".to_owned())
}

/// Appends a text after its length-encoded length.
pub(super) fn text(bytes: &[u8], out: &mut Vec<u8>) {
    let length = bytes.len() as u64;
    match bytes.len() {
        // Each cast fits, because the range bounds the length.
        0..251 => out.push(length as u8),
        251..0x1_0000 => {
            out.push(0xFC);
            out.extend_from_slice(&length.to_le_bytes()[..2]);
        }
        0x1_0000..0x100_0000 => {
            out.push(0xFD);
            out.extend_from_slice(&length.to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&length.to_le_bytes());
        }
    }
    out.extend_from_slice(bytes);
}

/// Cursor over the payload of a packet.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(malformed)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Reads a length-encoded integer.
    pub(super) fn number(&mut self) -> Result<u64> {
        let wide = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        match self.u8()? {
            small @ 0..=0xFA => Ok(small.into()),
            0xFC => self.bytes(2).map(wide),
            0xFD => self.bytes(3).map(wide),
            0xFE => self.bytes(8).map(wide),
            _ => Err(malformed()),
        }
    }

    /// Reads bytes that follow their length-encoded number.
    pub(super) fn counted(&mut self) -> Result<&'a [u8]> {
        let length = usize::try_from(self.number()?).map_err(|_| malformed())?;
        self.bytes(length)
    }

    /// Reads a value of a text-protocol row. `None` for NULL.
    pub(super) fn column(&mut self) -> Result<Option<&'a [u8]>> {
        if self.0.first() == Some(&0xFB) {
            self.bytes(1)?;
            return Ok(None);
        }
        self.counted().map(Some)
    }

    /// Reads bytes up to a zero byte, which is skipped, or to the end.
    pub(super) fn until_zero(&mut self) -> &'a [u8] {
        let end = memchr::memchr(0, self.0).unwrap_or(self.0.len());
        let taken = &self.0[..end];
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        taken
    }
}

/// Reads number and message of an error packet.
pub(super) fn read_error(packet: &[u8]) -> Result<(u16, String)> {
    let mut reader = Reader(packet);
    reader.u8()?;
    let code = reader.u16()?;
    let words = match reader.0 {
        // Skips the SQLSTATE.
        [b'#', _, _, _, _, _, words @ ..] => words,
        words => words,
    };
    Ok((code, String::from_utf8_lossy(words).into_owned()))
}
