//! What this crate's tests share.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use crate::driver::{DocumentSource, LoadSink, Result};

/// Documents out of memory.
pub(crate) struct Lines {
    lines: Vec<Vec<u8>>,
    next: usize,
}

impl Lines {
    pub(crate) fn of<T: AsRef<[u8]>>(lines: &[T]) -> Self {
        Self { lines: lines.iter().map(|line| line.as_ref().to_vec()).collect(), next: 0 }
    }
}

impl DocumentSource for Lines {
    fn next_document(&mut self) -> Result<Option<&[u8]>> {
        self.next += 1;
        Ok(self.lines.get(self.next - 1).map(Vec::as_slice))
    }
}

/// Remembers what it is told.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) refused: Vec<(u64, String)>,
    pub(crate) offered: u64,
}

impl LoadSink for Told {
    fn refused(&mut self, ordinal: u64, reason: String) {
        self.refused.push((ordinal, reason));
    }

    fn offered(&mut self, documents: u64) {
        self.offered = documents;
    }
}

/// A stream whose bytes can be looked at.
#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An event of one user, as far as the questions look at it.
pub(crate) fn event(user: &str, time_us: i64, collection: &str) -> String {
    format!(
        r#"{{"did":"{user}","time_us":{time_us},"kind":"commit","commit":{{"operation":"create","collection":"{collection}","record":{{"langs":["en"]}}}}}}"#
    )
}
