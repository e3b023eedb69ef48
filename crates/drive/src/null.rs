//! The null target: a lane in memory that answers reads at once, so that what is left is the clients' own cost.

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
    /// Each a text of its own, as a buffer of a connection is.
    texts: Vec<Box<str>>,
    places: Vec<Place>,
}

/// Where the copies of one document are, and which one is next.
#[derive(Debug, Clone, Copy)]
struct Place {
    first: u32,
    copies: u32,
    turn: u32,
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
        let (mut texts, mut places): (Vec<Box<str>>, Vec<Place>) = (Vec::new(), Vec::new());
        for (count, number) in copies.into_iter().zip(0..) {
            places.push(Place { first: u32::try_from(texts.len()).unwrap_or(0), copies: count, turn: 0 });
            one.clear();
            set.document(number, 0, &mut one);
            texts.extend((0..count).map(|_| Box::from(String::from_utf8_lossy(&one))));
        }
        Self { set, texts, places }
    }

    /// Bytes of all copies.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.texts.iter().map(|text| text.len()).sum()
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
            let copy = place.first + place.turn;
            place.turn = if place.turn + 1 >= place.copies { 0 } else { place.turn + 1 };
            if let Some(text) = self.table.texts.get(copy as usize) {
                sink.row(&[Cell::Text(text)])?;
            }
        }
        Ok(Some(Report::default()))
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn close(self: Box<Self>) {}
}
