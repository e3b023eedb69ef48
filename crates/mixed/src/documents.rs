//! What the questions read of all documents of a run, with texts replaced by numbers.

use jsonathlon_dataset::questions::{COMMIT, CREATE, POST};
use jsonathlon_dataset::scan::Event;
use jsonathlon_dataset::stage::DocumentVisitor;

use crate::texts::{NO_TEXT, TextNumbers, Texts};

/// Fields of one document, in 24 bytes. Users and languages are known only where a question reads them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Document {
    time_us: i64,
    /// Number of the user of a created record.
    pub(crate) user: u32,
    /// Number of the event type.
    pub(crate) event_type: u32,
    /// Number of the first language of a created post.
    pub(crate) language: u32,
    has_time: bool,
    /// Whether the document is a commit that creates a record.
    pub(crate) is_created: bool,
}

impl Document {
    /// Time in microseconds since 1970; `None` if the document has none.
    pub(crate) fn time_us(&self) -> Option<i64> {
        self.has_time.then_some(self.time_us)
    }
}

/// Collects documents one by one; a [`DocumentVisitor`], so that staging can fill it.
#[derive(Debug, Default)]
pub struct DocumentsBuilder {
    documents: Vec<Document>,
    users: TextNumbers,
    event_types: TextNumbers,
    languages: TextNumbers,
}

impl DocumentsBuilder {
    /// Adds a document. Returns its index: the number of documents that were added before.
    #[inline]
    pub fn observe(&mut self, event: &Event<'_>) -> usize {
        let collection = event.collection.as_deref();
        let is_created = event.kind.as_deref() == Some(COMMIT) && event.operation.as_deref() == Some(CREATE);
        let user = event.did.as_deref().filter(|_| is_created);
        let language = event.lang0.as_deref().filter(|_| is_created && collection == Some(POST));
        self.documents.push(Document {
            time_us: event.time_us.unwrap_or_default(),
            user: self.users.number(user),
            event_type: self.event_types.number(collection),
            language: self.languages.number(language),
            has_time: event.time_us.is_some(),
            is_created,
        });
        self.documents.len() - 1
    }

    /// Number of documents so far, which is also the index of the next one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Returns whether no document was added yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Ends collecting. Numbers users in the order of their texts, so that ties between them are decided
    /// without reading a text.
    #[must_use]
    pub fn finish(self) -> Documents {
        let (users, renumbered) = self.users.into_texts().sorted();
        let (event_types, languages) = (self.event_types.into_texts(), self.languages.into_texts());
        let mut documents = self.documents;
        documents.shrink_to_fit();
        // Null is the group behind all others: it gets the first number that no text has.
        for document in &mut documents {
            let user = renumbered.get(document.user as usize).copied().unwrap_or(NO_TEXT);
            document.user = user.min(users.len());
            document.event_type = document.event_type.min(event_types.len());
            document.language = document.language.min(languages.len());
        }
        let post = event_types.find(POST);
        Documents { documents, users, event_types, languages, post }
    }
}

impl DocumentVisitor for DocumentsBuilder {
    fn document(&mut self, event: &Event<'_>) {
        self.observe(event);
    }
}

/// What the questions read of all documents of a run, by the index that [`DocumentsBuilder::observe`]
/// returned. A document takes 24 bytes, and each distinct user of a created record its text.
#[derive(Debug)]
pub struct Documents {
    documents: Vec<Document>,
    /// Users of created records, numbered in the order of their texts.
    pub(crate) users: Texts,
    pub(crate) event_types: Texts,
    pub(crate) languages: Texts,
    /// Number of the event type of posts; `None` if there are none.
    pub(crate) post: Option<u32>,
}

impl Documents {
    /// Number of documents, the pool's and the base's together.
    #[must_use]
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Returns whether there are no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Document> {
        self.documents.get(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_takes_24_bytes() {
        assert_eq!(size_of::<Document>(), 24);
    }
}
