//! Verifies answers with several values: scans in key order, and elements that satisfy a condition.

use super::Kind;
use super::answer_error::{AnswerError, AnswerFault};
use super::check::{Scratch, SeenVersions, WriteScope};
use super::set::RecordSet;
use super::shape::Node;

/// Keys of the loaded records in ascending order, which detect records omitted by a scan.
#[derive(Clone, Debug)]
pub struct SortedKeys {
    keys: Vec<u64>,
}

impl RecordSet {
    /// Returns the sorted keys of records 0 to `loaded` (exclusive). Takes eight bytes per key.
    #[must_use]
    pub fn sorted_keys(&self, loaded: u64) -> SortedKeys {
        let mut keys: Vec<u64> = (0..loaded).map(|number| self.records.numeric(number)).collect();
        keys.sort_unstable();
        SortedKeys { keys }
    }

    /// Starts the verification of a scan from the key of record `start`. With `loaded`, omitted records are
    /// detected; none of these records may have been deleted.
    #[must_use]
    pub fn scan<'a>(&'a self, start: u64, limit: u64, loaded: Option<&'a SortedKeys>) -> ScanCheck<'a> {
        let first = self.records.numeric(start);
        let due = loaded.map_or(0, |loaded| loaded.keys.partition_point(|key| *key < first));
        ScanCheck { set: self, loaded, due, least: Some(first), rows: 0, limit }
    }

    /// Starts the verification of the elements of a record's array, or the entries of its object, that
    /// satisfy the condition.
    #[must_use]
    pub fn elements(&self, number: u64, form: ContainerKind) -> ElementCheck<'_> {
        let members = match self.records.kind {
            Kind::Items { members } => members as usize,
            _ => 0,
        };
        let paths = match form {
            ContainerKind::Array => 0..members,
            ContainerKind::Object => members..2 * members,
        };
        ElementCheck { set: self, number, next: paths.start, paths, found: Vec::new(), in_order: true }
    }

    /// Returns the number of elements or entries that satisfy the condition, in all records 0 to `loaded`
    /// (exclusive).
    #[must_use]
    pub fn elements_of_all(&self, form: ContainerKind, loaded: u64) -> u64 {
        let Kind::Items { members } = self.records.kind else { return 0 };
        let (members, offset) = match form {
            ContainerKind::Array => (members as usize, 0),
            ContainerKind::Object => (members as usize, members as usize),
        };
        // Exactly one of every four satisfies the condition.
        let rest = members / 4 * 4..members;
        let of_rest = |number| rest.clone().filter(|place| self.satisfies(number, offset + place)).count();
        let fours = (members / 4) as u64;
        if rest.is_empty() {
            return fours * loaded;
        }
        (0..loaded).map(|number| fours + of_rest(number) as u64).sum()
    }

    pub(super) fn element_node(&self, path: usize) -> Option<&Node> {
        let Kind::Items { members } = self.records.kind else { return None };
        let Node::Object(root) = &self.shape.root else { return None };
        let (form, place) = (path / members as usize, path % members as usize);
        let name: &[u8] = if form == 0 { b"\"list\"" } else { b"\"map\"" };
        match &root.members[root.find(name)?] {
            Node::Array(elements) => elements.get(place),
            Node::Object(entries) => entries.members.get(place),
            _ => None,
        }
    }
}

/// Verification of a scan, row by row.
#[derive(Clone, Debug)]
pub struct ScanCheck<'a> {
    set: &'a RecordSet,
    loaded: Option<&'a SortedKeys>,
    /// Index of the next loaded key that must be returned.
    due: usize,
    /// Smallest key that may be returned next. `None` if no larger key exists.
    least: Option<u64>,
    rows: u64,
    limit: u64,
}

impl ScanCheck<'_> {
    /// Verifies that the next row's key is in order and that no loaded record was omitted. Returns the number
    /// of its record, whose document must be verified separately.
    ///
    /// # Errors
    ///
    /// [`AnswerFault::Key`] if the key is malformed, [`AnswerFault::Order`] if it is out of order,
    /// [`AnswerFault::Omitted`] if a loaded key before it was left out, [`AnswerFault::Surplus`] if there are
    /// more rows than the limit.
    pub fn key(&mut self, key: &[u8]) -> Result<u64, AnswerError> {
        let number = self.set.records.number(key);
        self.number(number.ok_or(self.wrong(AnswerFault::Key))?)
    }

    /// Like [`Self::key`], for a row given by its record number.
    ///
    /// # Errors
    ///
    /// See [`Self::key`].
    pub fn number(&mut self, number: u64) -> Result<u64, AnswerError> {
        let key = self.set.records.numeric(number);
        if self.rows >= self.limit {
            return Err(self.wrong(AnswerFault::Surplus));
        }
        if self.least.is_none_or(|least| key < least) {
            return Err(self.wrong(AnswerFault::Order));
        }
        if let Some(loaded) = self.loaded {
            match loaded.keys.get(self.due) {
                Some(due) if key > *due => return Err(self.wrong(AnswerFault::Omitted)),
                Some(due) if key == *due => self.due += 1,
                _ => {}
            }
        }
        self.least = key.checked_add(1);
        self.rows += 1;
        Ok(number)
    }

    /// Verifies the key and the document of a row. Returns the record's number and the versions of its
    /// values.
    ///
    /// # Errors
    ///
    /// The first fault of the key (see [`Self::key`]) or the document (see [`RecordSet::check`]).
    pub fn row(
        &mut self,
        key: &[u8],
        document: &[u8],
        written: WriteScope,
        scratch: &mut Scratch,
    ) -> Result<(u64, SeenVersions), AnswerError> {
        let number = self.key(key)?;
        Ok((number, self.set.check(number, document, written, scratch)?))
    }

    /// Verifies that the scan did not end early and returns the number of rows.
    ///
    /// # Errors
    ///
    /// [`AnswerFault::Omitted`] if there are fewer rows than the limit although more loaded records follow.
    pub fn finish(self) -> Result<u64, AnswerError> {
        let more = self.loaded.is_some_and(|loaded| self.due < loaded.keys.len());
        if more && self.rows < self.limit { Err(self.wrong(AnswerFault::Omitted)) } else { Ok(self.rows) }
    }

    fn wrong(&self, fault: AnswerFault) -> AnswerError {
        AnswerError { fault, at: usize::try_from(self.rows).unwrap_or(usize::MAX) }
    }
}

/// Container whose elements or entries are queried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerKind {
    /// The elements of the array `list`.
    Array,
    /// The entries of the object `map`.
    Object,
}

/// Verification of the elements or entries that satisfy the condition, one by one in any order.
#[derive(Clone, Debug)]
pub struct ElementCheck<'a> {
    set: &'a RecordSet,
    number: u64,
    paths: std::ops::Range<usize>,
    /// First path that has not been seen yet, while elements arrive in order.
    next: usize,
    /// Paths already found, once elements have arrived out of order.
    found: Vec<usize>,
    in_order: bool,
}

impl ElementCheck<'_> {
    /// Verifies the value of the next element, given without escapes. Returns its path and version.
    ///
    /// # Errors
    ///
    /// If the value belongs to no element that satisfies the condition, or to one that was already returned.
    pub fn value(&mut self, text: &[u8], scratch: &mut Scratch) -> Result<(usize, u32), AnswerError> {
        let (set, number) = (self.set, self.number);
        self.find(|path| set.check_value(number, path, text, scratch))
    }

    /// Verifies the next element, given as JSON text. Returns its path and versions.
    ///
    /// # Errors
    ///
    /// See [`Self::value`].
    pub fn element(
        &mut self,
        text: &[u8],
        written: WriteScope,
        scratch: &mut Scratch,
    ) -> Result<(usize, SeenVersions), AnswerError> {
        let (set, number) = (self.set, self.number);
        self.find(|path| set.check_element(number, path, text, written, scratch))
    }

    /// Iterates over the paths from `from` on that satisfy the condition.
    fn satisfying(&self, from: usize) -> impl Iterator<Item = usize> + '_ {
        (from..self.paths.end).filter(|path| self.set.satisfies(self.number, *path))
    }

    fn find<T>(
        &mut self,
        mut check: impl FnMut(usize) -> Result<T, AnswerError>,
    ) -> Result<(usize, T), AnswerError> {
        let mut first_wrong = None;
        if self.in_order {
            let Some(path) = self.satisfying(self.next).next() else { return Err(self.surplus()) };
            match check(path) {
                Ok(found) => {
                    self.next = path + 1;
                    return Ok((path, found));
                }
                Err(wrong) => first_wrong = Some(wrong),
            }
            self.found = self.satisfying(self.paths.start).take_while(|path| *path < self.next).collect();
            self.in_order = false;
        }
        let left: Vec<usize> =
            self.satisfying(self.paths.start).filter(|path| !self.found.contains(path)).collect();
        for path in left {
            match check(path) {
                Ok(found) => {
                    self.found.push(path);
                    return Ok((path, found));
                }
                Err(wrong) => first_wrong = first_wrong.or(Some(wrong)),
            }
        }
        Err(first_wrong.unwrap_or_else(|| self.surplus()))
    }

    fn surplus(&self) -> AnswerError {
        AnswerError { fault: AnswerFault::Surplus, at: self.paths.len() }
    }

    /// Verifies that no element is missing and returns the number of elements.
    ///
    /// # Errors
    ///
    /// [`AnswerFault::Missing`] if an element that satisfies the condition was not returned.
    pub fn finish(self) -> Result<usize, AnswerError> {
        let all = self.satisfying(self.paths.start).count();
        let found = if self.in_order {
            self.satisfying(self.paths.start).take_while(|path| *path < self.next).count()
        } else {
            self.found.len()
        };
        if found == all { Ok(all) } else { Err(AnswerError { fault: AnswerFault::Missing, at: found }) }
    }
}
