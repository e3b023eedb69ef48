//! Reads single documents by key while no client is working.

use std::io;

use jsonathlon_dataset::records::KeyType;
use jsonathlon_driver_api::{Cell, NonblockingConnection, Parameter, PreparedStatement, Result, RowSink};

use crate::loaded_records::LoadedRecords;
use crate::operation::Operation;
use crate::script::{OperationPlan, ParameterSource};

/// Key of a record, as it is sent.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub(crate) enum KeyValue {
    Integer(i64),
    Text(String),
}

impl KeyValue {
    /// Key of a record.
    ///
    /// # Errors
    /// If keys are in a file that cannot be read.
    pub(crate) fn of(records: &LoadedRecords, number: u64) -> io::Result<Self> {
        if records.key_type() == KeyType::Bigint {
            return Ok(Self::Integer(records.integer_key(number)));
        }
        let mut key = Vec::new();
        records.write_key(number, &mut key)?;
        Ok(Self::Text(String::from_utf8_lossy(&key).into_owned()))
    }

    pub(crate) fn parameter(&self) -> Parameter<'_> {
        match self {
            Self::Integer(key) => Parameter::Int(*key),
            Self::Text(key) => Parameter::Text(key),
        }
    }
}

/// A connection with the prepared statements of the read operation.
pub(crate) struct PointReader<'a> {
    plan: &'a OperationPlan,
    connection: Box<dyn NonblockingConnection>,
    prepared: Vec<PreparedStatement>,
}

impl<'a> PointReader<'a> {
    /// Prepares the statements of a read plan on a connection.
    pub(crate) fn new(
        plan: &'a OperationPlan,
        mut connection: Box<dyn NonblockingConnection>,
    ) -> Result<Self> {
        debug_assert_eq!(plan.operation, Operation::Read);
        let prepared = plan
            .statements
            .iter()
            .map(|statement| connection.prepare(&statement.text))
            .collect::<Result<_>>()?;
        Ok(Self { plan, connection, prepared })
    }

    /// Reads the text of a document. `None` if there is no document with the key.
    pub(crate) fn text(&mut self, key: &KeyValue) -> Result<Option<String>> {
        let mut last_document = LastDocument::default();
        for (statement, prepared) in self.plan.statements.iter().zip(&self.prepared) {
            let parameters: Vec<Parameter<'_>> = statement
                .fillers
                .iter()
                .map(|(filler, _)| match filler {
                    ParameterSource::Key => key.parameter(),
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
