//! Helpers shared by the tests of this crate.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// A stream whose written bytes can be inspected.
#[derive(Clone, Default)]
pub(crate) struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl SharedBuffer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An event of one user with the members that the questions use.
pub(crate) fn event(user: &str, time_us: i64, collection: &str) -> String {
    format!(
        r#"{{"did":"{user}","time_us":{time_us},"kind":"commit","commit":{{"operation":"create","collection":"{collection}","record":{{"langs":["en"]}}}}}}"#
    )
}
