//! Nonblocking interface over a blocking connection.

use std::ops::Range;
use std::os::fd::BorrowedFd;

use super::{Lane, nothing_sent, with_few};
use crate::driver::{Connection, Result};
use crate::prepared::{Parameter, Prepared, Statements};
use crate::rows::{Cell, Report, RowSink};

/// Adapter that offers the [`Lane`] interface over a connection whose statements block until they are
/// complete.
pub struct Adapter {
    connection: Box<dyn Connection>,
    /// Statement texts that are prepared anew for each execution. `None` if statements stay prepared.
    texts: Option<Statements<String>>,
    answer: Answer,
    report: Option<Result<Report>>,
}

impl Adapter {
    /// Wraps `connection`. Statements are prepared once if `prepare` is set, otherwise for each execution.
    pub fn new(connection: Box<dyn Connection>, prepare: bool) -> Self {
        let texts = (!prepare).then(Statements::default);
        Self { connection, texts, answer: Answer::default(), report: None }
    }
}

impl Lane for Adapter {
    fn prepare(&mut self, statement: &str) -> Result<Prepared> {
        match &mut self.texts {
            Some(texts) => Ok(texts.keep(statement.to_owned())),
            None => self.connection.prepare(statement),
        }
    }

    fn send(&mut self, prepared: &Prepared, parameters: &[Parameter<'_>]) -> Result<()> {
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

    fn receive(&mut self, _: bool, sink: &mut dyn RowSink) -> Result<Option<Report>> {
        let Some(report) = self.report.take() else {
            return Err(nothing_sent());
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

/// One buffered answer. Its buffers are reused for the next answer.
#[derive(Debug, Default)]
struct Answer {
    /// All texts of the answer, including column names.
    text: String,
    names: Vec<Range<usize>>,
    cells: Vec<Kept>,
}

#[derive(Debug, Clone)]
enum Kept {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Range<usize>),
}

impl Answer {
    fn clear(&mut self) {
        self.text.clear();
        self.names.clear();
        self.cells.clear();
    }

    fn keep(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }

    fn cell(&self, kept: &Kept) -> Cell<'_> {
        match kept {
            Kept::Null => Cell::Null,
            Kept::Bool(truth) => Cell::Bool(*truth),
            Kept::Int(number) => Cell::Int(*number),
            Kept::Float(number) => Cell::Float(*number),
            Kept::Text(range) => Cell::Text(&self.text[range.clone()]),
        }
    }

    fn replay(&self, sink: &mut dyn RowSink) -> Result<()> {
        let columns = self.names.len();
        with_few(
            columns,
            "",
            |index| Ok(&self.text[self.names[index].clone()]),
            |names| sink.columns(names),
        )?;
        if columns > 0 {
            for row in self.cells.chunks_exact(columns) {
                let cell = |index: usize| Ok(self.cell(&row[index]));
                with_few(columns, Cell::Null, cell, |cells| sink.row(cells))?;
            }
        }
        Ok(())
    }
}

impl RowSink for Answer {
    fn columns(&mut self, names: &[&str]) -> Result<()> {
        self.clear();
        for name in names {
            let kept = self.keep(name);
            self.names.push(kept);
        }
        Ok(())
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        for cell in cells {
            let kept = match *cell {
                Cell::Null => Kept::Null,
                Cell::Bool(truth) => Kept::Bool(truth),
                Cell::Int(number) => Kept::Int(number),
                Cell::Float(number) => Kept::Float(number),
                Cell::Text(text) => Kept::Text(self.keep(text)),
            };
            self.cells.push(kept);
        }
        Ok(())
    }
}
