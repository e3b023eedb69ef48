//! Mock system, which answers exactly and deviates exactly as its script says.
//!
//! | statement | effect |
//! |---|---|
//! | `create`, `index`, `drain`, `compact`, `drop` | as their names say; further words are ignored |
//! | `load FILE`, `load TABLE < FILE` | loads a whole file; `load TABLE :doc` loads by row |
//! | `drained`, `count`, `sizes`, `plan NAME` | work left, number of documents, bytes, query plan |
//! | `q1` … `q6`, `read_back KEY, KEY …` | exact answers, documents |
//! | `answer TABLE ROWS`, `rows TABLE N` | the given rows (JSON), or N rows |
//!
//! Statements without a table concern `documents`. Loaded documents stay in the data folder, so that a new
//! process finds them like a real engine. The modules `records` (clients), `mixed` (writers beside questions),
//! `large` (tables with keys) and `single` (tables of one document) have further statements.

mod faults;
mod large;
mod mixed;
mod records;
mod script;
mod single;
mod store;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use jsonathlon_dataset::questions::Question;
use jsonathlon_dataset::source::Source;
use jsonathlon_driver_api::driver::{
    Connection, DocumentSource, DriverContext, DriverError, LoadSink, Result, SessionOptions,
};
use jsonathlon_driver_api::prepared::{
    Parameter, PreparedStatement, StatementTable, parameter_at, placeholder,
};
use jsonathlon_driver_api::rows::{ResultSet, RowSink, StatementStats};
use jsonathlon_schema::metric::{DATA_BYTES, INDEX_BYTES, TOTAL_BYTES};
use jsonathlon_schema::value::{Row, Value};

use script::{FaultAction, Script};
use store::Store;

/// A session of the mock with one data folder.
pub(crate) struct Mock {
    script: Script,
    store: Store,
    host: DriverContext,
    prepared: StatementTable<String>,
}

impl Mock {
    /// Reads the script and opens the data folder.
    pub(crate) fn open(open: &SessionOptions, host: &DriverContext) -> Result<Self> {
        let mock = Self {
            script: Script::from_options(open)?,
            store: Store::new(&open.folder),
            host: host.clone(),
            prepared: StatementTable::default(),
        };
        mock.begin("open")?;
        Ok(mock)
    }

    /// Counts an execution of the statement, sleeps for its delay and executes the faults before its answer.
    /// Returns the number of the execution, from 1.
    fn begin(&self, name: &str) -> Result<u64> {
        let execution = self.store.count_execution(name)?;
        self.host.clock.sleep(self.delay(name));
        self.inject_faults(name, execution, 0)?;
        Ok(execution)
    }

    fn inject_faults(&self, name: &str, execution: u64, offered: u64) -> Result<()> {
        self.script.faults_for(name, execution).try_for_each(|action| {
            // In the middle of a load only faults that wait for a certain document are executed.
            let is_positional = matches!(action, FaultAction::Crash { .. } | FaultAction::Hang { .. });
            if offered > 0 && !is_positional {
                return Ok(());
            }
            faults::inject_before(action, offered, &self.host)
        })
    }

    fn delay(&self, name: &str) -> Duration {
        Duration::from_millis(self.script.delay_ms.get(name).copied().unwrap_or(0))
    }

    fn answer(&mut self, name: &str, rest: &str, execution: u64) -> Result<ResultSet> {
        self.store.select_table(rest);
        if let Some(question) = Question::ALL.into_iter().find(|question| question.id() == name) {
            let rows = self.store.answers()?.rows(question).to_vec();
            let columns = question.columns().iter().map(|column| (*column).to_owned()).collect();
            let rows_read = Some(self.store.documents()?);
            return Ok(ResultSet { columns, rows, rows_read, ..ResultSet::default() });
        }
        match name {
            "create" => {
                mixed::forget(self.store.folder());
                records::forget(self.store.folder());
                self.store.create().map(|()| ResultSet::default())
            }
            "drop" => {
                mixed::forget(self.store.folder());
                records::forget(self.store.folder());
                self.store.remove().map(|()| ResultSet::default())
            }
            "index" | "drain" | "compact" => self.store.bytes().map(|_| ResultSet::default()),
            "load" => {
                let file = rest.split_once(" < ").map_or(rest, |(_, file)| file);
                self.load_file(Path::new(file), execution).map(|()| ResultSet::default())
            }
            "drained" => {
                let remaining = self.script.undrained.saturating_sub(execution - 1);
                Ok(single_value("remaining", count_value(remaining)))
            }
            "count" => {
                let documents = i64::try_from(self.store.documents()?).unwrap_or(i64::MAX);
                Ok(single_value("count", Value::Int(documents.saturating_add(self.script.count_off_by))))
            }
            "sizes" => self.sizes(),
            "plan" => {
                let plan = self.script.plans.get(rest).cloned().unwrap_or_else(|| format!("scan for {rest}"));
                Ok(single_value("plan", Value::Text(plan)))
            }
            "read_back" => self.read_back(rest),
            // The answer that the statement itself contains, whatever the table holds.
            "answer" => parse_rows(rest),
            "rows" => generate_rows(rest),
            name if single::is_single_statement(name) => {
                single::answer(name, rest, self.store.folder(), &self.script)
            }
            name if large::is_table_statement(name) => {
                let changes_extra_value =
                    |action: &FaultAction| matches!(action, FaultAction::ChangeExtraValue);
                let is_spoilt = self.script.faults_for(name, execution).any(changes_extra_value);
                large::answer(name, rest, self.store.folder(), is_spoilt)
            }
            _ => Err(DriverError::Refused(format!("unknown statement `{name}`"))),
        }
    }

    /// Executes a statement of the table with writers.
    fn ask_mixed(&mut self, statement: &str) -> Result<ResultSet> {
        let (name, rest) = statement.split_once(char::is_whitespace).unwrap_or((statement, ""));
        let execution = self.begin(name)?;
        let faults: Vec<&FaultAction> = self.script.faults_for(name, execution).collect();
        let mut outcome = mixed::answer(name, rest, &mut self.store, &faults)?;
        faults.into_iter().for_each(|action| faults::inject_after(action, &mut outcome));
        Ok(outcome)
    }

    fn sizes(&self) -> Result<ResultSet> {
        let bytes = count_value(self.store.bytes()?);
        let mut metrics = BTreeMap::from([
            (TOTAL_BYTES.name.to_owned(), bytes.clone()),
            (DATA_BYTES.name.to_owned(), bytes),
            (INDEX_BYTES.name.to_owned(), Value::Int(0)),
        ]);
        metrics.extend(self.script.sizes.clone());
        let (columns, row): (Vec<String>, Row) = metrics.into_iter().unzip();
        Ok(ResultSet { columns, rows: vec![row], ..ResultSet::default() })
    }

    fn read_back(&self, keys: &str) -> Result<ResultSet> {
        let keys: Vec<i64> = keys
            .split(|byte: char| !byte.is_ascii_digit() && byte != '-')
            .filter(|key| !key.is_empty())
            .map(|key| key.parse().map_err(|_| DriverError::Refused(format!("`{key}` is no time"))))
            .collect::<Result<_>>()?;
        let documents = self.store.documents_with_times(&keys)?;
        let row = |document| vec![Value::Text(faults::alter_document(document, self.script.read_back))];
        Ok(ResultSet {
            columns: vec!["document".into()],
            rows: documents.into_iter().map(row).collect(),
            ..ResultSet::default()
        })
    }

    /// Loads a whole file or nothing of it, like engines that read files themselves.
    fn load_file(&mut self, file: &Path, execution: u64) -> Result<()> {
        struct File(jsonathlon_dataset::source::Documents);
        impl DocumentSource for File {
            fn next_document(&mut self) -> Result<Option<&[u8]>> {
                self.0.next_line().map_err(|error| DriverError::Refused(error.to_string()))
            }
        }
        struct First(Option<(u64, String)>);
        impl LoadSink for First {
            fn reject(&mut self, ordinal: u64, reason: String) {
                self.0.get_or_insert((ordinal, reason));
            }
            fn report_offered(&mut self, _: u64) {}
        }
        let documents = Source::lines_of(file.to_owned())
            .documents()
            .map_err(|error| DriverError::Refused(error.to_string()))?;
        let mut first_refusal = First(None);
        let lines = self.gather(&mut File(documents), &mut first_refusal, execution)?.0;
        match first_refusal.0 {
            Some((ordinal, reason)) => {
                Err(DriverError::Refused(format!("document {ordinal} of {}: {reason}", file.display())))
            }
            None => self.store.append(&lines),
        }
    }

    /// Reads all documents. Returns the lines that are accepted, and their number.
    fn gather(
        &mut self,
        documents: &mut dyn DocumentSource,
        sink: &mut dyn LoadSink,
        execution: u64,
    ) -> Result<(Vec<u8>, u64)> {
        let (mut lines, mut offered, mut accepted) = (Vec::new(), 0, 0);
        while let Some(document) = documents.next_document()? {
            // Some systems repeat the document in their message.
            let fill_in = |reason: &str| reason.replace("<document>", &String::from_utf8_lossy(document));
            let refusal = self.script.refusal(offered, execution).map(fill_in);
            match refusal.or_else(|| self.store.rejection_reason(document)) {
                Some(reason) => sink.reject(offered, reason),
                None => {
                    lines.extend_from_slice(document);
                    lines.push(b'\n');
                    accepted += 1;
                }
            }
            offered += 1;
            self.inject_faults("load", execution, offered)?;
            sink.report_offered(offered);
        }
        Ok((lines, accepted))
    }
}

impl Connection for Mock {
    fn version(&mut self) -> Result<String> {
        Ok(self.script.version.clone())
    }

    fn ask(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<StatementStats> {
        if mixed::is_mixed_statement(statement) {
            return self.ask_mixed(statement)?.replay(sink);
        }
        let mut outcome = ResultSet::default();
        for statement in statement.split(';').map(str::trim).filter(|statement| !statement.is_empty()) {
            let (name, rest) = statement.split_once(char::is_whitespace).unwrap_or((statement, ""));
            let execution = self.begin(name)?;
            outcome = self.answer(name, rest.trim(), execution)?;
            outcome.server_seconds = Some(self.delay(name).as_secs_f64());
            self.script
                .faults_for(name, execution)
                .for_each(|action| faults::inject_after(action, &mut outcome));
        }
        outcome.replay(sink)
    }

    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        Ok(self.prepared.insert(statement.to_owned()))
    }

    fn execute(
        &mut self,
        prepared: &PreparedStatement,
        parameters: &[Parameter<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<StatementStats> {
        let statement = self.prepared.get(prepared)?;
        if records::is_record_statement(statement) {
            let Self { store, script, host, .. } = &*self;
            let outcome = records::execute(statement, parameters, store.folder(), store, script, host)?;
            let report = outcome.0.replay(sink)?;
            return Ok(StatementStats { affected: outcome.1, ..report });
        }
        if let Some(table) = single::table_of_put(statement) {
            let table = table.to_owned();
            self.begin(single::PUT)?;
            let document = parameter_text(parameter_at(0, parameters)?);
            if let Some(reason) = single::rejection_reason(document.as_bytes(), &self.script) {
                return Err(DriverError::Refused(reason));
            }
            single::put(self.store.folder(), &table, document.as_bytes())?;
            return ResultSet::default().replay(sink);
        }
        let words = statement.split(' ').map(|word| match placeholder(word) {
            Some(index) => parameter_at(index, parameters).map(parameter_text),
            None => Ok(word.to_owned()),
        });
        let text = words.collect::<Result<Vec<_>>>()?.join(" ");
        self.ask(&text, sink)
    }

    fn bulk_in(
        &mut self,
        statement: &str,
        documents: &mut dyn DocumentSource,
        sink: &mut dyn LoadSink,
    ) -> Result<u64> {
        if !statement.contains(":doc") {
            return Err(DriverError::Unsupported("the load statement has no :doc".into()));
        }
        let execution = self.begin("load")?;
        if let Some(table) = single::table_of_load(statement) {
            let mut accepted = 0;
            while let Some(document) = documents.next_document()? {
                let refusal = self.script.refusal(0, execution).map(str::to_owned);
                match refusal.or_else(|| single::rejection_reason(document, &self.script)) {
                    Some(reason) => sink.reject(0, reason),
                    None => {
                        single::put(self.store.folder(), table, document)?;
                        accepted += 1;
                    }
                }
                sink.report_offered(1);
            }
            return Ok(accepted);
        }
        if let Some(table) = large::table_of_load(statement) {
            let mut lines = Vec::new();
            let (mut offered, mut accepted) = (0, 0);
            while let Some((key, document)) = documents.next_keyed()? {
                let longest =
                    self.script.max_keyed_document_bytes.filter(|longest| document.len() > *longest);
                let length_refusal = longest.map(|longest| format!("a document has {longest} bytes at most"));
                match (key, self.script.refusal(offered, execution).map(str::to_owned).or(length_refusal)) {
                    (None, _) => return Err(DriverError::Unsupported("documents here have keys".into())),
                    (Some(_), Some(reason)) => sink.reject(offered, reason),
                    (Some(key), None) => {
                        large::write_line(key, document, &mut lines);
                        accepted += 1;
                    }
                }
                offered += 1;
                self.inject_faults("load", execution, offered)?;
                sink.report_offered(offered);
            }
            return large::append(self.store.folder(), table, &lines).map(|()| accepted);
        }
        self.store.select_table(statement);
        let (lines, accepted) = self.gather(documents, sink, execution)?;
        self.store.append(&lines)?;
        Ok(accepted)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.begin("close").map(|_| ())
    }
}

/// Formats a parameter as a word of a statement.
fn parameter_text(parameter: &Parameter<'_>) -> String {
    match *parameter {
        Parameter::Null => "null".to_owned(),
        Parameter::Bool(truth) => truth.to_string(),
        Parameter::Int(number) => number.to_string(),
        Parameter::Float(number) => number.to_string(),
        Parameter::Text(text) | Parameter::Json(text) => text.to_owned(),
    }
}

/// Parses `TABLE [[CELL, …], …]` and returns these rows.
fn parse_rows(rest: &str) -> Result<ResultSet> {
    let text = rest.get(rest.find('[').unwrap_or(rest.len())..).unwrap_or_default();
    let rows: Vec<Row> = serde_json::from_str(text)
        .map_err(|error| DriverError::Refused(format!("`{text}` is no list of rows: {error}")))?;
    let width = rows.first().map_or(0, Vec::len);
    let columns = (0..width).map(|index| format!("c{index}")).collect();
    Ok(ResultSet { columns, rows, ..ResultSet::default() })
}

/// Parses `TABLE N` and returns N rows.
fn generate_rows(rest: &str) -> Result<ResultSet> {
    let number = rest.rsplit(' ').next().and_then(|number| number.parse().ok());
    let rows: i64 = number.ok_or_else(|| DriverError::Refused(format!("`{rest}` says no number of rows")))?;
    let rows = (0..rows).map(|row| vec![Value::Int(row)]).collect();
    Ok(ResultSet { columns: vec!["c0".into()], rows, ..ResultSet::default() })
}

fn single_value(column: &str, value: Value) -> ResultSet {
    ResultSet { columns: vec![column.into()], rows: vec![vec![value]], ..ResultSet::default() }
}

fn count_value(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
