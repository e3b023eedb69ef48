//! Stream of documents as the body of an HTTP request.

use std::io::{self, Read};

use jsonathlon_driver_api::driver::{DocumentSource, DriverError, LoadSink};

/// Number of bytes that are buffered at a time.
const PIECE: usize = 1 << 20;

/// Request body: documents in the order of their source, each with a newline.
pub(super) struct Body<'a> {
    documents: &'a mut dyn DocumentSource,
    sink: &'a mut dyn LoadSink,
    piece: Vec<u8>,
    /// Number of bytes of `piece` that were read already.
    taken: usize,
    offered: u64,
    ended: bool,
    failed: Option<DriverError>,
}

impl<'a> Body<'a> {
    pub(super) fn new(documents: &'a mut dyn DocumentSource, sink: &'a mut dyn LoadSink) -> Self {
        let piece = Vec::with_capacity(PIECE);
        Self { documents, sink, piece, taken: 0, offered: 0, ended: false, failed: None }
    }

    /// Returns the number of documents offered, and the error of the source if it failed.
    pub(super) fn end(self) -> (u64, Option<DriverError>) {
        (self.offered, self.failed)
    }

    fn fill(&mut self) -> io::Result<()> {
        self.piece.clear();
        self.taken = 0;
        while self.piece.len() < PIECE && !self.ended {
            match self.documents.next_document() {
                Ok(Some(document)) => {
                    self.piece.extend_from_slice(document);
                    self.piece.push(b'\n');
                    self.offered += 1;
                    self.sink.offered(self.offered);
                }
                Ok(None) => self.ended = true,
                Err(error) => {
                    let text = error.to_string();
                    self.failed = Some(error);
                    return Err(io::Error::other(text));
                }
            }
        }
        Ok(())
    }
}

impl Read for Body<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.piece.len() && !self.ended {
            self.fill()?;
        }
        let left = self.piece.get(self.taken..).unwrap_or_default();
        let count = left.len().min(into.len());
        if let (Some(into), Some(left)) = (into.get_mut(..count), left.get(..count)) {
            into.copy_from_slice(left);
        }
        self.taken += count;
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
            let (mut lines, mut told) = (MemoryDocuments::of(&documents), RecordingSink::default());
            let mut body = Body::new(&mut lines, &mut told);
            let mut all = Vec::new();
            let mut part = vec![0; step];
            loop {
                let count = body.read(&mut part).unwrap();
                if count == 0 {
                    break;
                }
                all.extend_from_slice(&part[..count]);
            }
            prop_assert_eq!(body.end().0, documents.len() as u64);
            let expected: String = documents.iter().map(|document| format!("{document}\n")).collect();
            prop_assert_eq!(all, expected.into_bytes());
        }
    }
}
