//! Lists of items with severities: the rows of a table, or the notes under it.

use jsonathlon_schema::severity::Severity;

/// Items with their severities, in order. Items that are added without a severity are good.
#[derive(Debug, Clone)]
pub(crate) struct SeverityList<T>(Vec<(Severity, T)>);

impl<T> Default for SeverityList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> SeverityList<T> {
    pub(crate) fn push(&mut self, item: T) {
        self.mark(Severity::Good, item);
    }

    /// Appends an item with the given severity.
    pub(crate) fn mark(&mut self, severity: Severity, item: T) {
        self.0.push((severity, item));
    }

    /// Appends items that share a severity.
    pub(crate) fn mark_all(&mut self, severity: Severity, items: impl IntoIterator<Item = T>) {
        self.0.extend(items.into_iter().map(|item| (severity, item)));
    }

    /// Appends the items of another list with the severities that they have there.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, item)| item)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|(_, item)| item)
    }

    /// Iterates over the items with their severities.
    pub(crate) fn with_severity(&self) -> impl Iterator<Item = (Severity, &T)> {
        self.0.iter().map(|(severity, item)| (*severity, item))
    }
}

impl<T> Extend<T> for SeverityList<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        self.mark_all(Severity::Good, items);
    }
}

impl<T> Extend<(Severity, T)> for SeverityList<T> {
    fn extend<I: IntoIterator<Item = (Severity, T)>>(&mut self, items: I) {
        self.0.extend(items);
    }
}

impl<T> FromIterator<T> for SeverityList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut marked = Self::default();
        marked.extend(items);
        marked
    }
}

impl<T> FromIterator<(Severity, T)> for SeverityList<T> {
    fn from_iter<I: IntoIterator<Item = (Severity, T)>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}
