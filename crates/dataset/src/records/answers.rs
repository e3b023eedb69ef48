//! Answers of more than one value: scans in the order of keys, and elements that satisfy a condition.

use super::Kind;
use super::check::{Scratch, Seen, Written};
use super::set::RecordSet;
use super::shape::Node;
use super::wrong::{Fault, Wrong};

/// The keys of the records that were loaded, in order: what a scan must not leave out.
#[derive(Clone, Debug)]
pub struct SortedKeys {
    keys: Vec<u64>,
}

impl RecordSet {
    /// The keys of the records 0 up to `loaded`, sorted. Takes eight bytes for each.
    #[must_use]
    pub fn sorted_keys(&self, loaded: u64) -> SortedKeys {
        let mut keys: Vec<u64> = (0..loaded).map(|number| self.records.numeric(number)).collect();
        keys.sort_unstable();
        SortedKeys { keys }
    }

    /// Begins to check a scan that starts at the key of this record. With the keys that were loaded, none of which may
    /// have been deleted, records that were left out are found.
    #[must_use]
    pub fn scan<'a>(&'a self, start: u64, limit: u64, loaded: Option<&'a SortedKeys>) -> Scan<'a> {
        let first = self.records.numeric(start);
        let due = loaded.map_or(0, |loaded| loaded.keys.partition_point(|key| *key < first));
        Scan { set: self, loaded, due, least: Some(first), rows: 0, limit }
    }

    /// Begins to check the elements of a record's array, or the entries of its object, that satisfy the condition.
    #[must_use]
    pub fn elements(&self, number: u64, form: Form) -> Elements<'_> {
        let members = match self.records.kind {
            Kind::Items { members } => members as usize,
            _ => 0,
        };
        let paths = match form {
            Form::Array => 0..members,
            Form::Object => members..2 * members,
        };
        Elements { set: self, number, next: paths.start, paths, found: Vec::new(), in_order: true }
    }

    /// How many elements of arrays, or entries of objects, of the records 0 up to `loaded` satisfy the condition.
    #[must_use]
    pub fn elements_of_all(&self, form: Form, loaded: u64) -> u64 {
        let Kind::Items { members } = self.records.kind else { return 0 };
        let (members, offset) = match form {
            Form::Array => (members as usize, 0),
            Form::Object => (members as usize, members as usize),
        };
        // Of each four exactly one does.
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

/// A scan that is being checked, row by row.
#[derive(Clone, Debug)]
pub struct Scan<'a> {
    set: &'a RecordSet,
    loaded: Option<&'a SortedKeys>,
    /// The place of the next loaded key that must come.
    due: usize,
    /// The least key that may come next; none when there can be no more.
    least: Option<u64>,
    rows: u64,
    limit: u64,
}

impl Scan<'_> {
    /// Checks that the next row's key comes in order and leaves no loaded record out. Returns the number of its record,
    /// whose document is then to be checked like any other.
    ///
    /// # Errors
    ///
    /// A key that is none, that is out of order or behind one that was left out; more rows than the limit.
    pub fn key(&mut self, key: &[u8]) -> Result<u64, Wrong> {
        let number = self.set.records.number(key);
        self.number(number.ok_or(self.wrong(Fault::Key))?)
    }

    /// As [`Self::key`], by the record's number.
    ///
    /// # Errors
    ///
    /// As [`Self::key`].
    pub fn number(&mut self, number: u64) -> Result<u64, Wrong> {
        let key = self.set.records.numeric(number);
        if self.rows >= self.limit {
            return Err(self.wrong(Fault::Surplus));
        }
        if self.least.is_none_or(|least| key < least) {
            return Err(self.wrong(Fault::Order));
        }
        if let Some(loaded) = self.loaded {
            match loaded.keys.get(self.due) {
                Some(due) if key > *due => return Err(self.wrong(Fault::Omitted)),
                Some(due) if key == *due => self.due += 1,
                _ => {}
            }
        }
        self.least = key.checked_add(1);
        self.rows += 1;
        Ok(number)
    }

    /// Checks one row: its key as [`Self::key`] does, and its document.
    ///
    /// # Errors
    ///
    /// What is wrong with either.
    pub fn row(
        &mut self,
        key: &[u8],
        document: &[u8],
        written: Written,
        scratch: &mut Scratch,
    ) -> Result<(u64, Seen), Wrong> {
        let number = self.key(key)?;
        Ok((number, self.set.check(number, document, written, scratch)?))
    }

    /// Checks that the scan has not ended too early, and returns how many rows there were.
    ///
    /// # Errors
    ///
    /// [`Fault::Omitted`] when there are fewer rows than the limit though there are loaded records that come next.
    pub fn finish(self) -> Result<u64, Wrong> {
        let more = self.loaded.is_some_and(|loaded| self.due < loaded.keys.len());
        if more && self.rows < self.limit { Err(self.wrong(Fault::Omitted)) } else { Ok(self.rows) }
    }

    fn wrong(&self, fault: Fault) -> Wrong {
        Wrong { fault, at: usize::try_from(self.rows).unwrap_or(usize::MAX) }
    }
}

/// What is taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The elements of the array `list`.
    Array,
    /// The entries of the object `map`.
    Object,
}

/// Elements or entries that satisfy the condition, checked one by one. They may come in any order.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    set: &'a RecordSet,
    number: u64,
    paths: std::ops::Range<usize>,
    /// The first path that has not been looked at, while they come in order.
    next: usize,
    /// Paths that were found, where they do not come in order.
    found: Vec<usize>,
    in_order: bool,
}

impl Elements<'_> {
    /// Checks the value of the next element, its escapes undone. Returns its path and version.
    ///
    /// # Errors
    ///
    /// A value of no element that satisfies the condition, or of one that was there already.
    pub fn value(&mut self, text: &[u8], scratch: &mut Scratch) -> Result<(usize, u32), Wrong> {
        let (set, number) = (self.set, self.number);
        self.find(|path| set.check_value(number, path, text, scratch))
    }

    /// Checks the next element as a JSON text. Returns its path and versions.
    ///
    /// # Errors
    ///
    /// As [`Self::value`].
    pub fn element(
        &mut self,
        text: &[u8],
        written: Written,
        scratch: &mut Scratch,
    ) -> Result<(usize, Seen), Wrong> {
        let (set, number) = (self.set, self.number);
        self.find(|path| set.check_element(number, path, text, written, scratch))
    }

    /// The paths that satisfy the condition.
    fn satisfying(&self, from: usize) -> impl Iterator<Item = usize> + '_ {
        (from..self.paths.end).filter(|path| self.set.satisfies(self.number, *path))
    }

    fn find<T>(&mut self, mut check: impl FnMut(usize) -> Result<T, Wrong>) -> Result<(usize, T), Wrong> {
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

    fn surplus(&self) -> Wrong {
        Wrong { fault: Fault::Surplus, at: self.paths.len() }
    }

    /// Checks that none is missing, and returns how many there are.
    ///
    /// # Errors
    ///
    /// [`Fault::Missing`] when an element that satisfies the condition has not come.
    pub fn finish(self) -> Result<usize, Wrong> {
        let all = self.satisfying(self.paths.start).count();
        let found = if self.in_order {
            self.satisfying(self.paths.start).take_while(|path| *path < self.next).count()
        } else {
            self.found.len()
        };
        if found == all { Ok(all) } else { Err(Wrong { fault: Fault::Missing, at: found }) }
    }
}
