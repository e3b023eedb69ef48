//! The pool: documents that writers add, dealt from the last one to the first.

/// Position in a pool of `size` documents of document `number` of `writer`, one of `writers`:
/// size − 1 − (number · writers + writer). `None` for a document that the writer does not have.
///
/// The last document is dealt first. In the order of time, the base would hold the first posts of all
/// users, and Q4 would have the same answer whatever a question has seen of the writers.
#[must_use]
pub fn pool_position(size: u64, writers: u64, writer: u64, number: u64) -> Option<u64> {
    if writer >= writers {
        return None;
    }
    let turn = number.checked_mul(writers)?.checked_add(writer)?;
    size.checked_sub(turn)?.checked_sub(1)
}

/// Number of documents that `writer`, one of `writers`, has of a pool of `size` documents.
#[must_use]
pub fn documents_of_writer(size: u64, writers: u64, writer: u64) -> u64 {
    match writer < writers {
        true => size.saturating_sub(writer).div_ceil(writers),
        false => 0,
    }
}

/// The documents of a pool by writer and number.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Indexes of the pool's documents, in the order of the data set.
    documents: Vec<usize>,
    writers: usize,
}

impl Pool {
    /// Deals documents to writers. `documents` are indexes as [`DocumentsBuilder::observe`] returned them, in
    /// the order of the data set and without those that any chosen system rejects: a rejected document would
    /// look as if the system had lost it.
    ///
    /// [`DocumentsBuilder::observe`]: crate::DocumentsBuilder::observe
    #[must_use]
    pub fn new(documents: impl IntoIterator<Item = usize>, writers: usize) -> Self {
        Self { documents: documents.into_iter().collect(), writers }
    }

    /// Number of writers that the documents are dealt to.
    #[must_use]
    pub fn writers(&self) -> usize {
        self.writers
    }

    /// Number of documents of all writers together.
    #[must_use]
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Returns whether no writer has any document.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Number of documents that a writer has; 0 for an unknown writer.
    #[must_use]
    pub fn documents_of(&self, writer: usize) -> u64 {
        documents_of_writer(self.documents.len() as u64, self.writers as u64, writer as u64)
    }

    /// Index of document `number` of a writer; `None` behind its last one.
    #[must_use]
    pub fn document(&self, writer: usize, number: u64) -> Option<usize> {
        let size = self.documents.len() as u64;
        let position = pool_position(size, self.writers as u64, writer as u64, number)?;
        self.documents.get(usize::try_from(position).ok()?).copied()
    }

    /// Indexes of all documents of the pool, in the order of the data set.
    pub(crate) fn indexes(&self) -> &[usize] {
        &self.documents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_document_is_dealt_first() {
        let pool = Pool::new([5, 6, 8, 9, 10], 2);
        let documents = |writer| (0..4).map_while(|number| pool.document(writer, number)).collect::<Vec<_>>();
        assert_eq!((documents(0), documents(1)), (vec![10, 8, 5], vec![9, 6]));
        assert_eq!((pool.documents_of(0), pool.documents_of(1), pool.documents_of(2)), (3, 2, 0));
        assert_eq!((pool.document(2, 0), pool.document(0, u64::MAX)), (None, None));
    }

    #[test]
    fn every_document_is_dealt_once_whatever_the_number_of_writers() {
        for size in 0..40 {
            for writers in 1..9 {
                let of = |writer| {
                    let count = documents_of_writer(size, writers, writer);
                    assert_eq!(pool_position(size, writers, writer, count), None);
                    (0..count).filter_map(move |number| pool_position(size, writers, writer, number))
                };
                let mut dealt: Vec<u64> = (0..writers).flat_map(of).collect();
                dealt.sort_unstable();
                assert_eq!(dealt, (0..size).collect::<Vec<_>>(), "{size} documents, {writers} writers");
            }
        }
        assert_eq!((documents_of_writer(7, 0, 0), pool_position(7, 0, 0, 0)), (0, None));
    }
}
