//! Stream of documents as the body of an HTTP request.

use std::io::{self, Read};

use jsonathlon_driver_api::driver::{DocumentSource, DriverError, LoadSink};

/// Number of bytes that are buffered at a time.
const BUFFER_SIZE: usize = 1 << 20;

/// Request body: documents in the order of their source, each with a newline.
pub(super) struct Body<'a> {
    documents: &'a mut dyn DocumentSource,
    sink: &'a mut dyn LoadSink,
    buffer: Vec<u8>,
    /// Number of bytes of `buffer` that were read already.
    position: usize,
    offered: u64,
    is_ended: bool,
    error: Option<DriverError>,
}

impl<'a> Body<'a> {
    pub(super) fn new(documents: &'a mut dyn DocumentSource, sink: &'a mut dyn LoadSink) -> Self {
        let buffer = Vec::with_capacity(BUFFER_SIZE);
        Self { documents, sink, buffer, position: 0, offered: 0, is_ended: false, error: None }
    }

    /// Returns the number of documents offered, and the error of the source if it failed.
    pub(super) fn end(self) -> (u64, Option<DriverError>) {
        (self.offered, self.error)
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.clear();
        self.position = 0;
        while self.buffer.len() < BUFFER_SIZE && !self.is_ended {
            match self.documents.next_document() {
                Ok(Some(document)) => {
                    self.buffer.extend_from_slice(document);
                    self.buffer.push(b'\n');
                    self.offered += 1;
                    self.sink.report_offered(self.offered);
                }
                Ok(None) => self.is_ended = true,
                Err(error) => {
                    let message = error.to_string();
                    self.error = Some(error);
                    return Err(io::Error::other(message));
                }
            }
        }
        Ok(())
    }
}

impl Read for Body<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if self.position == self.buffer.len() && !self.is_ended {
            self.fill()?;
        }
        let remaining = self.buffer.get(self.position..).unwrap_or_default();
        let count = remaining.len().min(target.len());
        if let (Some(target), Some(remaining)) = (target.get_mut(..count), remaining.get(..count)) {
            target.copy_from_slice(remaining);
        }
        self.position += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use jsonathlon_driver_api::test_support::{MemoryDocuments, RecordingSink};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_document_is_in_the_body_once(
            documents in prop::collection::vec("[a-z]{0,40}", 0..50), step in 1_usize..100
        ) {
            let (mut lines, mut sink) = (MemoryDocuments::new(&documents), RecordingSink::default());
            let mut body = Body::new(&mut lines, &mut sink);
            let mut bytes = Vec::new();
            let mut part = vec![0; step];
            loop {
                let count = body.read(&mut part).unwrap();
                if count == 0 {
                    break;
                }
                bytes.extend_from_slice(&part[..count]);
            }
            prop_assert_eq!(body.end().0, documents.len() as u64);
            let expected: String = documents.iter().map(|document| format!("{document}\n")).collect();
            prop_assert_eq!(bytes, expected.into_bytes());
        }
    }
}
