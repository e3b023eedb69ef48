//! One configuration's part of a round over one table, and what all of its steps need: asking, proving, recording.

use std::path::Path;
use std::time::Duration;

use jsonathlon_dataset::value::Value;
use jsonathlon_measure::memory::peak_resident_bytes;
use jsonathlon_results::record::{Cell, Failure, FailureKind, Trial, Verdict};
use jsonathlon_systems::{Documents as Part, Expected};
use jsonathlon_worker::protocol::{Answered, Exported, Op};

use super::settings::DocumentsSettings;
use super::trials::Tests;
use super::truth::Truth;
use crate::RunError;
use crate::bench::{Bench, TABLE};
use crate::recorder::{Recorder, SAME, blank};
use crate::session::{Ended, Session};

/// The table of copies.
pub(super) const COPY: &str = "documents_copied";

/// One turn.
pub(super) struct Turn<'t, 'b, 'a> {
    pub(super) bench: &'b Bench<'a>,
    pub(super) own: &'t DocumentsSettings,
    pub(super) part: &'t Part,
    pub(super) tests: Tests<'a>,
    pub(super) truth: &'t Truth,
    /// The file of the documents.
    pub(super) file: &'t Path,
    /// Bytes of the documents' texts.
    pub(super) source_bytes: u64,
    pub(super) round: u32,
}

/// What was wanted: it, or why there is none of it.
pub(super) type Tried<T> = Result<Result<T, Failure>, RunError>;

impl<'a> Turn<'_, '_, 'a> {
    /// Limit of one statement.
    pub(super) fn limit(&self) -> Duration {
        Duration::from_secs_f64(self.bench.settings.timeout_s)
    }

    pub(super) fn load_limit(&self) -> Duration {
        Duration::from_secs_f64(self.bench.settings.load_timeout_s)
    }

    /// Records a test that the system lacks; whether it does.
    pub(super) fn lacks(
        &self,
        test: &str,
        cell: &Cell,
        orders: u32,
        recorder: &mut Recorder<'_>,
    ) -> Result<bool, RunError> {
        let Some(error) = self.part.lacks(test) else { return Ok(false) };
        self.not_applicable(&Failure::new(FailureKind::Refused, error), cell, orders, recorder)?;
        Ok(true)
    }

    /// Records that a system has no such thing, and why.
    pub(super) fn not_applicable(
        &self,
        why: &Failure,
        cell: &Cell,
        orders: u32,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), RunError> {
        for order in 0..orders {
            let key = cell.trial_key(self.round, order);
            if !recorder.has(&key) {
                let mut trial = blank(cell, self.round, order);
                trial.verdict = Verdict::NotApplicable;
                trial.failure = Some(why.clone());
                recorder.trial(key, trial)?;
            }
        }
        Ok(())
    }

    /// Records how a test failed. An engine that gave no answer in time, or died, is started again; what keeps it from
    /// coming up keeps all that follows from being done.
    pub(super) fn failed(
        &self,
        failure: &Failure,
        cell: &Cell,
        orders: u32,
        session: &mut Session<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Tried<()> {
        let (mut first, mut told) = (failure.clone(), failure.clone());
        for order in 0..orders {
            let key = cell.trial_key(self.round, order);
            if !recorder.has(&key) {
                recorder.failed(key.clone(), cell, self.round, order, told)?;
                first = first.recorded_in(&key);
                told = first.followed_by(SAME);
            }
        }
        if matches!(failure.kind, FailureKind::Wrong | FailureKind::Refused) && session.pid().is_some() {
            return Ok(Ok(()));
        }
        session.kill();
        Ended::split(session.open().and_then(|()| self.holds_all(session)))
    }

    /// Whether every document is there, after an engine has ended by force.
    pub(super) fn holds_all(&self, session: &mut Session<'_>) -> Result<(), Ended> {
        let figures = session.figures("count", &[("table", TABLE)], self.limit())?;
        let expected = self.truth.table.documents;
        match figures.values().next() {
            Some(Value::Int(count)) if count.unsigned_abs() == expected => Ok(()),
            other => {
                let error = format!("of {expected} documents the system now counts {other:?}");
                Err(Ended::failed(FailureKind::Wrong, error))
            }
        }
    }

    /// Puts time and cost of a statement into a trial.
    pub(super) fn timed(
        &self,
        trial: &mut Trial,
        seconds: f64,
        usage: &jsonathlon_worker::protocol::OpUsage,
        bytes: u64,
    ) {
        trial.seconds = Some(seconds);
        let metrics = &mut trial.metrics;
        metrics.insert("documents".into(), self.truth.table.documents as f64);
        metrics.insert("source_bytes".into(), self.source_bytes as f64);
        if seconds > 0.0 {
            metrics.insert("bytes_per_s".into(), bytes as f64 / seconds);
        }
        metrics.extend(usage.cpu_s.map(|cpu| ("server_cpu_s".to_owned(), cpu)));
        metrics.extend(usage.client_cpu_s.map(|cpu| ("client_cpu_s".to_owned(), cpu)));
        if let Ok(bytes) = peak_resident_bytes(std::process::id()) {
            metrics.insert("peak_harness_bytes".into(), bytes as f64);
        }
    }

    /// Reads all documents of a table out and compares them by value, outside of any measurement.
    pub(super) fn verified_export(
        &self,
        table: &str,
        digest: u64,
        session: &mut Session<'_>,
    ) -> Result<Exported, Ended> {
        let statement = session.statement("export", &[("table", table)])?;
        let out: Exported =
            session.request(&Op::Export { statement, values: true }, self.load_limit(), &mut |_| {})?;
        let wrong = |error: String| Err(Ended::failed(FailureKind::Wrong, error));
        let expected = self.truth.table.documents;
        if out.documents != expected {
            return wrong(format!("{} documents came out, {expected} went in", out.documents));
        }
        if out.values != Some(digest) {
            return wrong("the documents that came out are not those that they should be".to_owned());
        }
        Ok(out)
    }

    /// Reads one document and compares it by its digest, so that its text stays where it is read. Unverified where the
    /// system reads no single one.
    pub(super) fn proved(
        &self,
        number: u64,
        digest: u64,
        wrong: impl FnOnce() -> String,
        session: &mut Session<'_>,
    ) -> Result<Verdict, Ended> {
        let key = number.to_string();
        let read = session.statements("read", &[("table", TABLE), ("key", &key)])?;
        let Some(statement) = read.into_iter().next() else { return Ok(Verdict::Unverified) };
        let read: Exported = session.request(&Op::Read { statement }, self.limit(), &mut |_| {})?;
        match (read.documents, read.values) {
            (1, Some(found)) if found == digest => Ok(Verdict::Exact),
            _ => Err(Ended::failed(FailureKind::Wrong, wrong())),
        }
    }

    /// Asks once without a watch, then as often as trials are wanted.
    pub(super) fn asks(
        &self,
        statement: &str,
        expected: Expected,
        cell: &Cell,
        session: &mut Session<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Tried<()> {
        let orders = self.own.reads;
        if (0..orders).all(|order| recorder.has(&cell.trial_key(self.round, order))) {
            return Ok(Ok(()));
        }
        let warmed = Ended::split(self.ask(statement, expected, session))?;
        if let Err(failure) = warmed {
            let is_simple = cell.parameters.contains_key("form");
            let is_refused = failure.kind == FailureKind::Refused || is_too_much(&failure, session);
            if is_simple && is_refused && session.pid().is_some() {
                // The best form is there because this one may not do.
                self.not_applicable(&failure, cell, orders, recorder)?;
                return Ok(Ok(()));
            }
            return self.failed(&failure, cell, orders, session, recorder);
        }
        for order in 0..orders {
            let key = cell.trial_key(self.round, order);
            if recorder.has(&key) {
                continue;
            }
            match Ended::split(self.ask(statement, expected, session))? {
                Ok(answered) => recorder.trial(key, self.answered(cell, order, &answered))?,
                Err(failure) => return self.failed(&failure, cell, orders, session, recorder),
            }
        }
        Ok(Ok(()))
    }

    pub(super) fn answered(&self, cell: &Cell, order: u32, answered: &Answered) -> Trial {
        let mut trial = blank(cell, self.round, order);
        self.timed(&mut trial, answered.seconds, &answered.usage, self.source_bytes);
        trial.server_seconds = answered.outcome.server_seconds;
        trial.rows = Some(answered.outcome.rows.len() as u64);
        trial.verdict = Verdict::Exact;
        trial
    }

    /// Asks once; the answer must be right.
    pub(super) fn ask(
        &self,
        statement: &str,
        expected: Expected,
        session: &mut Session<'_>,
    ) -> Result<Answered, Ended> {
        session.open()?;
        let op = Op::Ask { statement: statement.to_owned() };
        let answered: Answered = session.request(&op, self.limit(), &mut |_| {})?;
        match self.truth.differs(expected, &answered.outcome.rows) {
            None => Ok(answered),
            Some(difference) => Err(Ended::failed(FailureKind::Wrong, difference)),
        }
    }
}

/// A statement of an index with its table in place.
pub(super) fn filled(session: &Session<'_>, text: &str) -> String {
    let table = format!("{}{TABLE}", session.target.prefix());
    text.replace("{{table}}", &table)
}

/// Whether a query was given up because it takes more than it may have, by a system that goes on.
pub(super) fn is_too_much(failure: &Failure, session: &Session<'_>) -> bool {
    failure.kind == FailureKind::Environment && session.pid().is_some()
}
