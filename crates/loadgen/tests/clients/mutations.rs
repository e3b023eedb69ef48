//! Tests that all of a million replies with one changed byte, and replies wrong in other ways, are detected.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use jsonathlon_driver_api::{
    Cell, NonblockingConnection, Parameter, PreparedStatement, Result, RowSink, StatementStats,
};
use jsonathlon_loadgen::load_generator::LoadGenerator;
use jsonathlon_loadgen::null::{MemoryTable, NullConnection};
use jsonathlon_loadgen::operation::Operation;
use jsonathlon_loadgen::random::Random;

use crate::support::{LOADED, job, records, run};

/// A function that changes a reply.
type Change = fn(&mut Vec<u8>, &mut Random);

/// A nonblocking connection that changes all replies except every `spared`-th one.
struct Changed {
    null: NullConnection,
    change: Change,
    random: Random,
    spared: u64,
    count: u64,
}

struct Sink<'a> {
    inner: &'a mut dyn RowSink,
    change: Option<Change>,
    random: &'a mut Random,
}

impl RowSink for Sink<'_> {
    fn columns(&mut self, names: &[&str]) -> Result<()> {
        self.inner.columns(names)
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        let [Cell::Text(text)] = cells else { panic!("one text") };
        let mut bytes = text.as_bytes().to_vec();
        if let Some(change) = self.change {
            change(&mut bytes, self.random);
        }
        self.inner.row(&[Cell::Text(std::str::from_utf8(&bytes).unwrap())])
    }
}

impl NonblockingConnection for Changed {
    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        self.null.prepare(statement)
    }

    fn send(&mut self, prepared: &PreparedStatement, parameters: &[Parameter<'_>]) -> Result<()> {
        self.null.send(prepared, parameters)
    }

    fn receive(&mut self, wait: bool, sink: &mut dyn RowSink) -> Result<Option<StatementStats>> {
        self.count += 1;
        let is_spared = self.spared > 0 && self.count.is_multiple_of(self.spared);
        let change = (!is_spared).then_some(self.change);
        self.null.receive(wait, &mut Sink { inner: sink, change, random: &mut self.random })
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn close(self: Box<Self>) {}
}

/// Sends `operations` reads whose replies are all changed, except every `spared`-th one. Returns how many
/// replies were accepted.
fn taken(change: Change, spared: u64, operations: u64) -> u64 {
    let table = Arc::new(MemoryTable::new(records().prepare().unwrap(), LOADED));
    let mut clients = LoadGenerator::with_opener(move |_, _, _| {
        let null = NullConnection::new(Arc::clone(&table), 1 << 20);
        Ok(Box::new(Changed { null, change, random: Random::new(9, 0), spared, count: 0 }))
    });
    let driven = run(&mut clients, &job(&[(Operation::Read, 1.0)], 1, operations)).unwrap();
    let read = &driven.operations[&Operation::Read];
    assert_eq!(read.operations + read.wrong, operations);
    assert_eq!(read.errors, read.wrong);
    read.operations
}

/// Replaces one byte by another ASCII byte.
fn flip(text: &mut [u8], random: &mut Random) {
    let at = usize::try_from(random.below(text.len() as u64)).unwrap();
    text[at] ^= u8::try_from(1 + random.below(127)).unwrap();
}

#[test]
fn every_changed_byte_in_a_million_replies_is_found() {
    // A third of the replies is correct, so that hashes of correct replies are known when wrong ones arrive.
    assert_eq!(taken(|text, random| flip(text, random), 3, 1_500_000), 500_000);
}

#[test]
fn replies_that_are_cut_or_of_another_key_are_found() {
    let cut: Change = |text, random| {
        let left = usize::try_from(random.below(text.len() as u64)).unwrap();
        text.truncate(left);
    };
    assert_eq!(taken(cut, 3, 30_000), 10_000);
    let other: Change = |text, random| {
        text.clear();
        let number = LOADED + random.below(LOADED);
        records().prepare().unwrap().document(number, 0, text);
    };
    assert_eq!(taken(other, 3, 3_000), 1_000);
    let swapped: Change = |text, _| {
        let (first, second) = (text.iter().position(|byte| *byte == b'0').unwrap(), text.len() - 20);
        text.swap(first, second);
    };
    assert_eq!(taken(swapped, 2, 3_000), 1_500);
    let newer: Change = |text, _| {
        let whole = String::from_utf8(text.clone()).unwrap().replace("00000000", "00000001");
        *text = whole.into_bytes();
    };
    assert_eq!(taken(newer, 2, 3_000), 1_500);
    let longer: Change = |text, _| text.extend_from_slice(b"{}");
    assert_eq!(taken(longer, 2, 3_000), 1_500);
}
