//! Verifies answers with several values: scans in key order, and the elements of a record whose `status` is
//! `true`, which is called the condition below.

use super::Kind;
use super::answer_error::{AnswerError, AnswerFault};
use super::check::{Scratch, SeenVersions, WriteScope};
use super::set::RecordSet;
use super::shape::Node;

/// Keys of the loaded records in ascending order, for the detection of records that a scan omits.
#[derive(Clone, Debug)]
pub struct SortedKeys {
    keys: Vec<u64>,
}

impl RecordSet {
    /// Returns the sorted keys of records 0 to `loaded` (exclusive). Takes eight bytes per key.
    #[must_use]
    pub fn sorted_keys(&self, loaded: u64) -> SortedKeys {
        let mut keys: Vec<u64> = (0..loaded).map(|number| self.records.key_number(number)).collect();
        keys.sort_unstable();
        SortedKeys { keys }
    }

    /// Starts the verification of a scan of at most `limit` rows from the key of record `start`. With
    /// `loaded_keys`, omitted records are detected; none of these records may have been deleted.
    #[must_use]
    pub fn check_scan<'a>(
        &'a self,
        start: u64,
        limit: u64,
        loaded_keys: Option<&'a SortedKeys>,
    ) -> ScanVerifier<'a> {
        let first_key = self.records.key_number(start);
        let next_required =
            loaded_keys.map_or(0, |loaded| loaded.keys.partition_point(|key| *key < first_key));
        ScanVerifier { set: self, loaded_keys, next_required, min_key: Some(first_key), row_count: 0, limit }
    }

    /// Starts the verification of an answer with the elements of the array in record `number`, or the entries
    /// of its object, that satisfy the condition.
    #[must_use]
    pub fn check_elements(&self, number: u64, container: ContainerKind) -> ElementVerifier<'_> {
        let members = match self.records.kind {
            Kind::Items { members } => members as usize,
            _ => 0,
        };
        let paths = match container {
            ContainerKind::Array => 0..members,
            ContainerKind::Object => members..2 * members,
        };
        ElementVerifier {
            set: self,
            number,
            next_path: paths.start,
            paths,
            found_paths: Vec::new(),
            in_order: true,
        }
    }

    /// Returns the number of elements or entries that satisfy the condition, in all records 0 to `loaded`
    /// (exclusive).
    #[must_use]
    pub fn count_satisfying_elements(&self, container: ContainerKind, loaded: u64) -> u64 {
        let Kind::Items { members } = self.records.kind else { return 0 };
        let (members, first_path) = match container {
            ContainerKind::Array => (members as usize, 0),
            ContainerKind::Object => (members as usize, members as usize),
        };
        // Exactly one element of every complete group of four satisfies the condition. In an incomplete last
        // group that depends on the record.
        let complete_groups = (members / 4) as u64;
        let last_group = members / 4 * 4..members;
        if last_group.is_empty() {
            return complete_groups * loaded;
        }
        let count_in_last_group =
            |number| last_group.clone().filter(|index| self.satisfies(number, first_path + index)).count();
        (0..loaded).map(|number| complete_groups + count_in_last_group(number) as u64).sum()
    }

    /// Returns the expected shape of the element or entry that contains a path. `None` if no element does.
    pub(super) fn element_node(&self, path: usize) -> Option<&Node> {
        let Kind::Items { members } = self.records.kind else { return None };
        let Node::Object(root) = &self.shape.root else { return None };
        // Paths of the array's elements come first, then those of the object's entries.
        let (container, index) = (path / members as usize, path % members as usize);
        let name: &[u8] = if container == 0 { b"\"list\"" } else { b"\"map\"" };
        match &root.members[root.find(name)?] {
            Node::Array(elements) => elements.get(index),
            Node::Object(entries) => entries.members.get(index),
            _ => None,
        }
    }
}

/// Verification of a scan, row by row.
#[derive(Clone, Debug)]
pub struct ScanVerifier<'a> {
    set: &'a RecordSet,
    loaded_keys: Option<&'a SortedKeys>,
    /// Index in `loaded_keys` of the next key that the scan must return.
    next_required: usize,
    /// Smallest key that may be returned next. `None` if the last row had the largest possible key.
    min_key: Option<u64>,
    /// Number of rows verified so far.
    row_count: u64,
    /// Maximum number of rows of the scan.
    limit: u64,
}

impl ScanVerifier<'_> {
    /// Verifies that the next row's key is in order and that no loaded record before it was omitted. Returns
    /// the number of its record, whose document must be verified separately.
    ///
    /// # Errors
    ///
    /// [`AnswerFault::Key`] if the key is malformed, [`AnswerFault::Order`] if it is out of order,
    /// [`AnswerFault::Omitted`] if a loaded key before it was omitted, [`AnswerFault::Surplus`] if there are
    /// more rows than the limit.
    pub fn check_key(&mut self, key: &[u8]) -> Result<u64, AnswerError> {
        let number = self.set.records.number(key);
        self.check_number(number.ok_or(self.row_error(AnswerFault::Key))?)
    }

    /// Like [`Self::check_key`], for a row given by its record number.
    ///
    /// # Errors
    ///
    /// See [`Self::check_key`].
    pub fn check_number(&mut self, number: u64) -> Result<u64, AnswerError> {
        let key = self.set.records.key_number(number);
        if self.row_count >= self.limit {
            return Err(self.row_error(AnswerFault::Surplus));
        }
        if self.min_key.is_none_or(|min_key| key < min_key) {
            return Err(self.row_error(AnswerFault::Order));
        }
        if let Some(loaded) = self.loaded_keys {
            match loaded.keys.get(self.next_required) {
                Some(required) if key > *required => return Err(self.row_error(AnswerFault::Omitted)),
                Some(required) if key == *required => self.next_required += 1,
                _ => {}
            }
        }
        self.min_key = key.checked_add(1);
        self.row_count += 1;
        Ok(number)
    }

    /// Verifies the key and the document of a row. Returns the record's number and the versions of its
    /// values.
    ///
    /// # Errors
    ///
    /// The first fault of the key (see [`Self::check_key`]) or the document (see [`RecordSet::check`]).
    pub fn check_row(
        &mut self,
        key: &[u8],
        document: &[u8],
        write_scope: WriteScope,
        scratch: &mut Scratch,
    ) -> Result<(u64, SeenVersions), AnswerError> {
        let number = self.check_key(key)?;
        Ok((number, self.set.check(number, document, write_scope, scratch)?))
    }

    /// Verifies that the scan did not end early and returns the number of rows.
    ///
    /// # Errors
    ///
    /// [`AnswerFault::Omitted`] if there are fewer rows than the limit although more loaded records follow.
    pub fn finish(self) -> Result<u64, AnswerError> {
        let has_more = self.loaded_keys.is_some_and(|loaded| self.next_required < loaded.keys.len());
        if has_more && self.row_count < self.limit {
            Err(self.row_error(AnswerFault::Omitted))
        } else {
            Ok(self.row_count)
        }
    }

    /// Returns an error at the current row.
    fn row_error(&self, fault: AnswerFault) -> AnswerError {
        AnswerError { fault, position: usize::try_from(self.row_count).unwrap_or(usize::MAX) }
    }
}

/// Container in a record whose elements or entries are queried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerKind {
    /// The elements of the array `list`.
    Array,
    /// The entries of the object `map`.
    Object,
}

/// Verification of the elements or entries that satisfy the condition, one by one in any order.
#[derive(Clone, Debug)]
pub struct ElementVerifier<'a> {
    set: &'a RecordSet,
    /// Number of the record.
    number: u64,
    /// Paths of all elements or entries of the container.
    paths: std::ops::Range<usize>,
    /// First path that has not been seen yet; unused once an element has arrived out of order.
    next_path: usize,
    /// Paths of the elements seen so far; empty while elements arrive in order.
    found_paths: Vec<usize>,
    /// Whether all elements so far have arrived in order, which needs no list of the paths seen.
    in_order: bool,
}

impl ElementVerifier<'_> {
    /// Verifies the value of the next element, whose text has no escapes. Returns its path and version.
    ///
    /// # Errors
    ///
    /// If the value belongs to no element that satisfies the condition, or to one that was already returned.
    pub fn check_value(&mut self, text: &[u8], scratch: &mut Scratch) -> Result<(usize, u32), AnswerError> {
        let (set, number) = (self.set, self.number);
        self.match_path(|path| set.check_value(number, path, text, scratch))
    }

    /// Verifies the next element, given as JSON text. Returns its path and versions.
    ///
    /// # Errors
    ///
    /// See [`Self::check_value`].
    pub fn check_element(
        &mut self,
        text: &[u8],
        write_scope: WriteScope,
        scratch: &mut Scratch,
    ) -> Result<(usize, SeenVersions), AnswerError> {
        let (set, number) = (self.set, self.number);
        self.match_path(|path| set.check_element(number, path, text, write_scope, scratch))
    }

    /// Returns the paths from `start` on that satisfy the condition.
    fn satisfying_paths(&self, start: usize) -> impl Iterator<Item = usize> + '_ {
        (start..self.paths.end).filter(|path| self.set.satisfies(self.number, *path))
    }

    /// Finds the path that `check` accepts among those that satisfy the condition and have not been seen yet:
    /// first the next one in order, then all others. Returns it with the result of `check`, or the first
    /// error.
    fn match_path<T>(
        &mut self,
        mut check: impl FnMut(usize) -> Result<T, AnswerError>,
    ) -> Result<(usize, T), AnswerError> {
        let mut first_error = None;
        if self.in_order {
            let Some(path) = self.satisfying_paths(self.next_path).next() else {
                return Err(self.surplus_error());
            };
            match check(path) {
                Ok(checked) => {
                    self.next_path = path + 1;
                    return Ok((path, checked));
                }
                Err(error) => first_error = Some(error),
            }
            self.found_paths =
                self.satisfying_paths(self.paths.start).take_while(|path| *path < self.next_path).collect();
            self.in_order = false;
        }
        let remaining: Vec<usize> =
            self.satisfying_paths(self.paths.start).filter(|path| !self.found_paths.contains(path)).collect();
        for path in remaining {
            match check(path) {
                Ok(checked) => {
                    self.found_paths.push(path);
                    return Ok((path, checked));
                }
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.unwrap_or_else(|| self.surplus_error()))
    }

    /// Returns the error for an element beyond those that satisfy the condition.
    fn surplus_error(&self) -> AnswerError {
        AnswerError { fault: AnswerFault::Surplus, position: self.paths.len() }
    }

    /// Verifies that no element is missing and returns the number of elements.
    ///
    /// # Errors
    ///
    /// [`AnswerFault::Missing`] if an element that satisfies the condition was not returned.
    pub fn finish(self) -> Result<usize, AnswerError> {
        let expected = self.satisfying_paths(self.paths.start).count();
        let found = if self.in_order {
            self.satisfying_paths(self.paths.start).take_while(|path| *path < self.next_path).count()
        } else {
            self.found_paths.len()
        };
        if found == expected {
            Ok(found)
        } else {
            Err(AnswerError { fault: AnswerFault::Missing, position: found })
        }
    }
}
