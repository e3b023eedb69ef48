//! Reads single documents by key while no client is working.

use jsonathlon_dataset::records::{KeyType, RecordSet};
use jsonathlon_driver_api::{Cell, NonblockingConnection, Parameter, PreparedStatement, Result, RowSink};

use crate::operation::Operation;
use crate::script::{OperationPlan, ParameterSource};

/// A connection with the prepared statements of the read operation.
pub(crate) struct PointReader<'a> {
    set: &'a RecordSet,
    plan: &'a OperationPlan,
    connection: Box<dyn NonblockingConnection>,
    prepared: Vec<PreparedStatement>,
}

impl<'a> PointReader<'a> {
    /// Prepares the statements of a read plan on a connection.
    pub(crate) fn new(
        set: &'a RecordSet,
        plan: &'a OperationPlan,
        mut connection: Box<dyn NonblockingConnection>,
    ) -> Result<Self> {
        debug_assert_eq!(plan.operation, Operation::Read);
        let prepared = plan
            .statements
            .iter()
            .map(|statement| connection.prepare(&statement.text))
            .collect::<Result<_>>()?;
        Ok(Self { set, plan, connection, prepared })
    }

    /// Reads the text of a document. `None` if there is no document with the record's key.
    pub(crate) fn text(&mut self, number: u64) -> Result<Option<String>> {
        let mut key = Vec::new();
        self.set.key(number, &mut key);
        let key = String::from_utf8_lossy(&key).into_owned();
        let mut last_document = LastDocument::default();
        for (statement, prepared) in self.plan.statements.iter().zip(&self.prepared) {
            let records = self.set.records();
            let parameters: Vec<Parameter<'_>> = statement
                .fillers
                .iter()
                .map(|(filler, _)| match (filler, records.key_type) {
                    (ParameterSource::Key, KeyType::Bigint) => Parameter::Int(records.bigint(number)),
                    (ParameterSource::Key, KeyType::Text) => Parameter::Text(&key),
                    _ => Parameter::Int(1),
                })
                .collect();
            self.connection.send(prepared, &parameters)?;
            while self.connection.receive(true, &mut last_document)?.is_none() {}
        }
        Ok(last_document.text)
    }

    /// Closes the connection that the documents were read on.
    pub(crate) fn close(self) {
        self.connection.close();
    }
}

/// Keeps the document of the last row: the column `doc`, or else the last column.
#[derive(Default)]
struct LastDocument {
    document_column: usize,
    text: Option<String>,
}

impl RowSink for LastDocument {
    fn columns(&mut self, names: &[&str]) -> Result<()> {
        let position = names.iter().position(|name| name.eq_ignore_ascii_case("doc"));
        self.document_column = position.unwrap_or(names.len().saturating_sub(1));
        Ok(())
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        if let Some(Cell::Text(text)) = cells.get(self.document_column) {
            self.text = Some((*text).to_owned());
        }
        Ok(())
    }
}
