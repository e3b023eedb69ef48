//! State machine that digests a document without recursion.

use twox_hash::XxHash3_64;

use super::number::{self, number_hash};
use super::{
    ARRAY, CapturePath, Captured, CapturedKind, FALSE, MAX_LEVELS, NULL, OBJECT, TRUE, combine,
    text_value_hash,
};
use crate::records::{AnswerError, AnswerFault, PathSegment};
use crate::scan::{decode, four_digits, plain_end};

/// Number of members up to which duplicate names are found by comparing all pairs.
const MAX_COMPARED: usize = 24;

/// Working memory that is reused for the next document.
#[derive(Debug, Default)]
pub(super) struct MachineMemory {
    frames: Vec<Frame>,
    /// Hashes of name and value of the members seen in all open objects.
    members: Vec<(u64, u64)>,
}

/// An open array or object.
#[derive(Clone, Copy, Debug)]
struct Frame {
    is_object: bool,
    /// Index of the object's first member in [`MachineMemory::members`].
    first_member: usize,
    /// Combined hash of the array's elements so far.
    elements: u64,
    /// Number of elements before the current one.
    index: u32,
    /// Hash of the current member's name.
    name: u64,
    /// Captured paths that lead to this container, as bits.
    paths: u64,
    /// Captured paths that lead to the current child, as bits.
    child_paths: u64,
}

pub(super) struct DigestMachine<'a> {
    text: &'a [u8],
    position: usize,
    plan: &'a [CapturePath],
    memory: &'a mut MachineMemory,
    captured: &'a mut [Captured],
}

/// A scalar value that has been read.
struct Scalar {
    kind: CapturedKind,
    hash: u64,
    has_escapes: bool,
}

impl<'a> DigestMachine<'a> {
    pub(super) fn new(
        text: &'a [u8],
        plan: &'a [CapturePath],
        memory: &'a mut MachineMemory,
        captured: &'a mut [Captured],
    ) -> Self {
        memory.frames.clear();
        memory.members.clear();
        Self { text, position: 0, plan, memory, captured }
    }

    #[cold]
    fn error(&self, fault: AnswerFault) -> AnswerError {
        let fault = if self.position >= self.text.len() { AnswerFault::Truncated } else { fault };
        AnswerError { fault, position: self.position }
    }

    /// Skips white space and returns the byte after it, or 0 at the end.
    #[inline(always)]
    fn next_token(&mut self) -> u8 {
        loop {
            match self.text.get(self.position) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.position += 1,
                Some(byte) => return *byte,
                None => return 0,
            }
        }
    }

    pub(super) fn document(mut self) -> Result<u64, AnswerError> {
        loop {
            // `position` is before a value.
            let first = self.next_token();
            let start = self.position;
            let mut hash = match first {
                b'{' | b'[' => {
                    self.open(first == b'{')?;
                    let close = if first == b'{' { b'}' } else { b']' };
                    if self.next_token() != close {
                        self.begin_child()?;
                        continue;
                    }
                    self.position += 1;
                    self.close()
                }
                _ => {
                    let scalar = self.scalar(first)?;
                    self.capture(start, &scalar);
                    scalar.hash
                }
            };
            // After a value: close the containers that end here and advance to the next value.
            loop {
                let Some(is_object) = self.end_child(hash) else {
                    self.next_token();
                    if self.position < self.text.len() {
                        return Err(self.error(AnswerFault::Trailing));
                    }
                    return Ok(hash);
                };
                match self.next_token() {
                    b',' => {
                        self.position += 1;
                        self.begin_child()?;
                        break;
                    }
                    b'}' if is_object => self.position += 1,
                    b']' if !is_object => self.position += 1,
                    _ => return Err(self.error(AnswerFault::Syntax)),
                }
                hash = self.close();
            }
        }
    }

    fn open(&mut self, is_object: bool) -> Result<(), AnswerError> {
        let level = self.memory.frames.len();
        if level >= MAX_LEVELS {
            return Err(self.error(AnswerFault::Type));
        }
        let paths = match self.memory.frames.last() {
            Some(parent) => parent.child_paths,
            None => u64::MAX >> (64 - self.plan.len().clamp(1, 64)),
        };
        if paths != 0 && level > 0 {
            self.capture_container(level, paths, is_object);
        }
        self.position += 1;
        self.memory.frames.push(Frame {
            is_object,
            first_member: self.memory.members.len(),
            elements: 0,
            index: 0,
            name: 0,
            paths,
            child_paths: 0,
        });
        Ok(())
    }

    /// Notes that the value at some captured paths is a container, or that an array is on the way to them.
    fn capture_container(&mut self, level: usize, paths: u64, is_object: bool) {
        let (plan, start) = (self.plan, self.position);
        for (index, path) in plan.iter().enumerate() {
            let Some(captured) = self.captured.get_mut(index).filter(|_| paths >> index & 1 != 0) else {
                continue;
            };
            match path.steps.get(level) {
                None => {
                    let (kind, count) = (CapturedKind::Container, captured.count + 1);
                    let crosses_array = captured.crosses_array;
                    *captured =
                        Captured { kind, count, start, end: start, crosses_array, ..Captured::default() };
                }
                Some(PathSegment::Member(_)) => captured.crosses_array |= !is_object,
                Some(PathSegment::Element(_)) => {}
            }
        }
    }

    /// Reads the name of the next member, or counts the next element, and finds the captured paths that lead
    /// to it. Ends before the value.
    #[inline]
    fn begin_child(&mut self) -> Result<(), AnswerError> {
        let level = self.memory.frames.len() - 1;
        let Some(&Frame { is_object, paths, index, .. }) = self.memory.frames.last() else { return Ok(()) };
        let plan = self.plan;
        let (name_hash, child_paths) = if is_object {
            if self.next_token() != b'"' {
                return Err(self.error(AnswerFault::Syntax));
            }
            let start = self.position + 1;
            let has_escapes = self.string()?;
            let raw = self.text.get(start..self.position - 1).unwrap_or_default();
            let decoded = has_escapes.then(|| decode(raw));
            let name = decoded.as_deref().unwrap_or(raw);
            if self.next_token() != b':' {
                return Err(self.error(AnswerFault::Syntax));
            }
            self.position += 1;
            let is_step =
                |step: &PathSegment| matches!(step, PathSegment::Member(member) if member.as_bytes() == name);
            (XxHash3_64::oneshot(name), narrow(plan, paths, level, is_step))
        } else {
            (0, narrow(plan, paths, level, |step| *step == PathSegment::Element(index)))
        };
        if let Some(frame) = self.memory.frames.last_mut() {
            frame.name = name_hash;
            frame.child_paths = child_paths;
        }
        Ok(())
    }

    /// Adds a complete child to the innermost open container and returns whether that is an object. `None` if
    /// the value was the document itself.
    #[inline]
    fn end_child(&mut self, hash: u64) -> Option<bool> {
        let level = self.memory.frames.len();
        let frame = self.memory.frames.last_mut()?;
        let mut is_left_out = false;
        if frame.child_paths != 0 {
            for (index, path) in self.plan.iter().enumerate() {
                if frame.child_paths >> index & 1 != 0 && path.steps.len() == level {
                    is_left_out |= path.is_left_out;
                    if let Some(captured) = self.captured.get_mut(index) {
                        captured.hash = hash;
                    }
                }
            }
        }
        if frame.is_object {
            if !is_left_out {
                self.memory.members.push((frame.name, hash));
            }
        } else {
            frame.elements = combine(frame.elements, if is_left_out { ARRAY } else { hash });
            frame.index = frame.index.saturating_add(1);
        }
        frame.child_paths = 0;
        Some(frame.is_object)
    }

    /// Closes the innermost container and returns its hash.
    #[inline]
    fn close(&mut self) -> u64 {
        let memory = &mut *self.memory;
        let Some(frame) = memory.frames.pop() else { return 0 };
        if !frame.is_object {
            return combine(frame.elements, ARRAY ^ u64::from(frame.index));
        }
        let members = memory.members.get_mut(frame.first_member..).unwrap_or_default();
        let (sum, count) = sum_of_members(members);
        memory.members.truncate(frame.first_member);
        combine(sum, OBJECT ^ count)
    }

    /// Notes a scalar at the captured paths that lead to it.
    #[inline]
    fn capture(&mut self, start: usize, scalar: &Scalar) {
        let level = self.memory.frames.len();
        let Some(paths) =
            self.memory.frames.last().map(|frame| frame.child_paths).filter(|paths| *paths != 0)
        else {
            return;
        };
        let (plan, end) = (self.plan, self.position);
        for (index, path) in plan.iter().enumerate() {
            if paths >> index & 1 != 0
                && path.steps.len() == level
                && let Some(captured) = self.captured.get_mut(index)
            {
                let Scalar { kind, hash, has_escapes } = *scalar;
                let (count, crosses_array) = (captured.count + 1, captured.crosses_array);
                *captured = Captured { kind, start, end, hash, count, crosses_array, has_escapes };
            }
        }
    }

    #[inline]
    fn scalar(&mut self, first: u8) -> Result<Scalar, AnswerError> {
        let start = self.position;
        let (kind, hash, has_escapes) = match first {
            b'"' => {
                let has_escapes = self.string()?;
                let raw = self.text.get(start + 1..self.position - 1).unwrap_or_default();
                let hash = if has_escapes { text_value_hash(&decode(raw)) } else { text_value_hash(raw) };
                (CapturedKind::Text, hash, has_escapes)
            }
            b'-' | b'0'..=b'9' => {
                let end = number::end(self.text, start).ok_or_else(|| self.error(AnswerFault::Syntax))?;
                self.position = end;
                (CapturedKind::Number, number_hash(self.text.get(start..end).unwrap_or_default()), false)
            }
            b't' => (CapturedKind::Bool, self.literal(b"true", TRUE)?, false),
            b'f' => (CapturedKind::Bool, self.literal(b"false", FALSE)?, false),
            b'n' => (CapturedKind::Null, self.literal(b"null", NULL)?, false),
            _ => return Err(self.error(AnswerFault::Syntax)),
        };
        Ok(Scalar { kind, hash, has_escapes })
    }

    fn literal(&mut self, word: &[u8], hash: u64) -> Result<u64, AnswerError> {
        let rest = self.text.get(self.position..).unwrap_or_default();
        if rest.starts_with(word) {
            self.position += word.len();
            return Ok(hash);
        }
        let is_cut = word.starts_with(rest);
        let fault = if is_cut { AnswerFault::Truncated } else { AnswerFault::Syntax };
        Err(AnswerError { fault, position: self.position })
    }

    /// Skips a string, from its opening to behind its closing quotation mark. Returns whether it has escapes.
    #[inline]
    fn string(&mut self) -> Result<bool, AnswerError> {
        let mut has_escapes = false;
        self.position += 1;
        loop {
            self.position = plain_end(self.text, self.position);
            match self.text.get(self.position) {
                Some(b'"') => {
                    self.position += 1;
                    return Ok(has_escapes);
                }
                Some(b'\\') => {
                    has_escapes = true;
                    self.position += match self.text.get(self.position + 1) {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                        Some(b'u') if four_digits(self.text, self.position + 2).is_some() => 6,
                        None => {
                            return Err(AnswerError {
                                fault: AnswerFault::Truncated,
                                position: self.text.len(),
                            });
                        }
                        Some(_) => return Err(self.error(AnswerFault::Syntax)),
                    };
                }
                _ => return Err(self.error(AnswerFault::Syntax)),
            }
        }
    }
}

/// Returns the sum of an object's members and their number. Of members with the same name, the last counts.
#[inline]
fn sum_of_members(members: &mut [(u64, u64)]) -> (u64, u64) {
    let is_large = members.len() > MAX_COMPARED;
    if is_large {
        // Stable, so that the last of several members with one name stays behind the others.
        members.sort_by_key(|(name, _)| *name);
    }
    let (mut sum, mut count) = (0_u64, 0);
    for (index, (name, value)) in members.iter().enumerate() {
        let mut later = members.iter().skip(index + 1);
        let is_replaced = match is_large {
            true => later.next().is_some_and(|(next, _)| next == name),
            false => later.any(|(next, _)| next == name),
        };
        if !is_replaced {
            sum = sum.wrapping_add(combine(*name, *value));
            count += 1;
        }
    }
    (sum, count)
}

/// Of the paths in `paths`, returns those whose step at this level is accepted.
#[inline]
fn narrow(plan: &[CapturePath], paths: u64, level: usize, is_step: impl Fn(&PathSegment) -> bool) -> u64 {
    let (mut remaining, mut narrowed) = (paths, 0);
    while remaining != 0 {
        let index = remaining.trailing_zeros() as usize;
        remaining &= remaining - 1;
        if plan.get(index).and_then(|path| path.steps.get(level)).is_some_and(&is_step) {
            narrowed |= 1 << index;
        }
    }
    narrowed
}
