//! Nonblocking interface over a blocking connection.

use std::ops::Range;
use std::os::fd::BorrowedFd;

use super::{NonblockingConnection, no_request_pending, with_inline};
use crate::driver::{Connection, Result};
use crate::prepared::{Parameter, PreparedStatement, StatementTable};
use crate::rows::{Cell, RowSink, StatementStats};

/// Offers the interface of [`NonblockingConnection`] over a connection whose statements block until they are
/// complete.
pub struct BlockingAdapter {
    connection: Box<dyn Connection>,
    /// Statement texts that are prepared anew for each execution. `None` if statements stay prepared.
    texts: Option<StatementTable<String>>,
    answer: BufferedAnswer,
    report: Option<Result<StatementStats>>,
}

impl BlockingAdapter {
    /// Wraps `connection`. Statements are prepared once if `prepare` is set, otherwise for each execution.
    pub fn new(connection: Box<dyn Connection>, prepare: bool) -> Self {
        let texts = (!prepare).then(StatementTable::default);
        Self { connection, texts, answer: BufferedAnswer::default(), report: None }
    }
}

impl NonblockingConnection for BlockingAdapter {
    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        match &mut self.texts {
            Some(texts) => Ok(texts.insert(statement.to_owned())),
            None => self.connection.prepare(statement),
        }
    }

    fn send(&mut self, prepared: &PreparedStatement, parameters: &[Parameter<'_>]) -> Result<()> {
        self.answer.clear();
        let report = match &self.texts {
            None => self.connection.execute(prepared, parameters, &mut self.answer),
            Some(texts) => match self.connection.prepare(texts.get(prepared)?) {
                Ok(prepared) => {
                    let report = self.connection.execute(&prepared, parameters, &mut self.answer);
                    self.connection.release(&prepared);
                    report
                }
                Err(error) => Err(error),
            },
        };
        self.report = Some(report);
        Ok(())
    }

    fn receive(&mut self, _: bool, sink: &mut dyn RowSink) -> Result<Option<StatementStats>> {
        let Some(report) = self.report.take() else {
            return Err(no_request_pending());
        };
        let report = report?;
        self.answer.replay(sink)?;
        Ok(Some(report))
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn close(self: Box<Self>) {
        // The caller no longer needs the connection, so an error in closing is ignored.
        self.connection.close().ok();
    }
}

/// Answer of a statement that has been executed, until it is received. The next answer reuses its memory.
#[derive(Debug, Default)]
struct BufferedAnswer {
    /// All texts of the answer, including column names.
    text: String,
    names: Vec<Range<usize>>,
    cells: Vec<BufferedCell>,
}

#[derive(Debug, Clone)]
enum BufferedCell {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Range<usize>),
}

impl BufferedAnswer {
    fn clear(&mut self) {
        self.text.clear();
        self.names.clear();
        self.cells.clear();
    }

    fn append(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }

    fn cell(&self, cell: &BufferedCell) -> Cell<'_> {
        match cell {
            BufferedCell::Null => Cell::Null,
            BufferedCell::Bool(truth) => Cell::Bool(*truth),
            BufferedCell::Int(number) => Cell::Int(*number),
            BufferedCell::Float(number) => Cell::Float(*number),
            BufferedCell::Text(range) => Cell::Text(&self.text[range.clone()]),
        }
    }

    fn replay(&self, sink: &mut dyn RowSink) -> Result<()> {
        let count = self.names.len();
        with_inline(
            count,
            "",
            |index| Ok(&self.text[self.names[index].clone()]),
            |names| sink.columns(names),
        )?;
        if count > 0 {
            for row in self.cells.chunks_exact(count) {
                let cell = |index: usize| Ok(self.cell(&row[index]));
                with_inline(count, Cell::Null, cell, |cells| sink.row(cells))?;
            }
        }
        Ok(())
    }
}

impl RowSink for BufferedAnswer {
    fn columns(&mut self, names: &[&str]) -> Result<()> {
        self.clear();
        for name in names {
            let range = self.append(name);
            self.names.push(range);
        }
        Ok(())
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        for cell in cells {
            let buffered = match *cell {
                Cell::Null => BufferedCell::Null,
                Cell::Bool(truth) => BufferedCell::Bool(truth),
                Cell::Int(number) => BufferedCell::Int(number),
                Cell::Float(number) => BufferedCell::Float(number),
                Cell::Text(text) => BufferedCell::Text(self.append(text)),
            };
            self.cells.push(buffered);
        }
        Ok(())
    }
}
