//! The null target: a lane in memory that answers reads at once, so that what is left is the clients' own cost.

use std::hint::black_box;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use jsonathlon_connection::{Cell, DriverError, Lane, Parameter, Prepared, Report, Result, RowSink};
use jsonathlon_dataset::records::RecordSet;

use crate::keys::Keys;
use crate::mix::Requests;
use crate::random::Random;

/// The name of its protocol; no system has it.
pub const PROTOCOL: &str = "null";

/// Documents in memory, each as often as the requests ask for it, so that answers come from all over it.
#[derive(Debug)]
pub struct Table {
    set: RecordSet,
    /// All copies, one behind the other.
    text: String,
    places: Vec<Place>,
}

/// Where the copies of one document are, and which one is next.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// In [`LINE`]s from the beginning of the text.
    first: u32,
    /// Bytes of one copy.
    length: u32,
    copies: u32,
    turn: u32,
}

/// Bytes of a line of the cache. Copies begin so many bytes apart, or a multiple of it.
const LINE: usize = 64;

impl Place {
    /// The next copy.
    #[inline]
    fn turn(&mut self) -> Range<usize> {
        let length = self.length as usize;
        let start = self.first as usize * LINE + self.turn as usize * length.next_multiple_of(LINE);
        self.turn = if self.turn + 1 >= self.copies { 0 } else { self.turn + 1 };
        start..start + length
    }
}

impl Table {
    /// The documents of the records 0 up to `records`, at least `bytes` of them: an answer to the same key comes from
    /// another copy each time, where these requests ask for it often.
    #[must_use]
    pub fn new(set: RecordSet, records: u64, bytes: usize, requests: Requests) -> Self {
        let mut one = Vec::new();
        set.document(0, 0, &mut one);
        let wanted = (bytes / one.len().max(1)) as u64;
        let mut copies = vec![1_u32; usize::try_from(records).unwrap_or(0)];
        let (keys, mut random) = (Keys::new(requests, records), Random::new(1, 0));
        for _ in 0..wanted {
            if let Some(count) = copies.get_mut(usize::try_from(keys.draw(records, &mut random)).unwrap_or(0))
            {
                *count += 1;
            }
        }
        let (mut text, mut places) = (String::new(), Vec::new());
        for (copies, number) in copies.into_iter().zip(0..) {
            one.clear();
            set.document(number, 0, &mut one);
            let (first, length) = (u32::try_from(text.len() / LINE), u32::try_from(one.len()));
            let place = Place { first: first.unwrap_or(0), length: length.unwrap_or(0), copies, turn: 0 };
            places.push(place);
            one.resize(one.len().next_multiple_of(LINE), b' ');
            let padded = String::from_utf8_lossy(&one);
            (0..copies).for_each(|_| text.push_str(&padded));
        }
        Self { set, text, places }
    }

    /// Bytes of all copies.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.places.iter().map(|place| place.length as usize * place.copies as usize).sum()
    }
}

/// A lane that answers reads from a table. Its one parameter is the key.
#[derive(Debug)]
pub struct Null {
    table: Arc<Table>,
    places: Vec<Place>,
    asked: Option<u64>,
}

impl Null {
    /// A lane over a table.
    #[must_use]
    pub fn new(table: Arc<Table>) -> Self {
        Self { places: table.places.clone(), table, asked: None }
    }
}

impl Lane for Null {
    fn prepare(&mut self, _: &str) -> Result<Prepared> {
        Ok(Prepared::numbered(0))
    }

    #[inline]
    fn send(&mut self, _: &Prepared, parameters: &[Parameter<'_>]) -> Result<()> {
        let records = self.table.set.records();
        self.asked = match parameters.first() {
            Some(Parameter::Text(key)) => records.number(key.as_bytes()),
            Some(Parameter::Int(key)) => records.number_of_bigint(*key),
            _ => None,
        };
        match self.asked {
            Some(_) => Ok(()),
            None => Err(DriverError::Refused("the null target reads by key".to_owned())),
        }
    }

    #[inline]
    fn receive(&mut self, _: bool, sink: &mut dyn RowSink) -> Result<Option<Report>> {
        sink.columns(&["doc"])?;
        let number = self.asked.take().and_then(|number| usize::try_from(number).ok());
        if let Some(place) = number.and_then(|number| self.places.get_mut(number)) {
            let text = self.table.text.get(place.turn()).unwrap_or_default();
            fetch(text);
            sink.row(&[Cell::Text(text)])?;
        }
        Ok(Some(Report::default()))
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn close(self: Box<Self>) {}
}

/// Has an answer in the cache, as what was received is: its lines come from memory side by side.
#[inline]
fn fetch(text: &str) {
    black_box(text.as_bytes().iter().step_by(LINE).fold(0, |sum, byte| sum ^ byte));
}
