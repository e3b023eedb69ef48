//! The analytics workload: the same documents into one JSON column of every system, then the five
//! questions of the billion-document JSON challenge and one that nobody prepared for.

mod ask;
mod load;
mod record;
mod refused;

pub mod bound;
pub mod plan;
pub mod structure;
pub mod verify;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use jsonathlon_dataset::questions::Question;
use jsonathlon_dataset::reference::{Answers, Reference};
use jsonathlon_dataset::stage::Staged;
use jsonathlon_dataset::value::Value;
use jsonathlon_drivers::worker::protocol::{Documents, Op, Settled};
use jsonathlon_measure::page_cache;
use jsonathlon_measure::series::Subject;
use jsonathlon_results::record::{Body, Failure, FailureKind, Metrics, Structure, Verdict};

use crate::RunError;
use crate::observer::Event;
use crate::session::{AskError, Session, WorkerCommand};
use crate::settings::{Settings, State};
use crate::target::Target;
use ask::{Asking, TimedOut};
pub(crate) use load::is_json;
use plan::{Cells, STATES, rotation};
pub(crate) use record::Recorder;
use record::blank;
pub(crate) use record::cell_result;

/// The one table of every system.
pub(crate) const TABLE: &str = "documents";
/// The table in which single documents are tried.
pub(crate) const PROBE: &str = "documents_on_trial";

/// Limit of statements that only look something up.
const LOOK_UP: Duration = Duration::from_secs(600);

/// Everything that the targets of one run share.
pub(crate) struct Analytics<'a> {
    pub(crate) targets: &'a [Target],
    pub(crate) staged: &'a Staged,
    pub(crate) settings: &'a Settings,
    pub(crate) disk_bytes_per_s: Option<f64>,
    pub(crate) worker: &'a WorkerCommand,
    pub(crate) work: PathBuf,
    pub(crate) logs: PathBuf,
    /// The system under test, as the run's series sees it.
    pub(crate) subject: Subject,
    pub(crate) cancelled: &'a dyn Fn() -> bool,
}

/// A target after its load.
struct Prepared<'a> {
    session: Session<'a>,
    cells: Cells<'a>,
    /// What its questions must answer, or why they are not asked.
    answers: Result<Answers, Failure>,
}

impl<'a> Analytics<'a> {
    /// The keys of all planned trials.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.targets.iter().flat_map(|target| self.cells(target).keys(self.settings)).collect()
    }

    fn cells(&self, target: &'a Target) -> Cells<'a> {
        Cells { target, documents: self.staged.documents }
    }

    /// Loads every target once, then asks in rounds, in every state that was asked for.
    pub(crate) fn run(&self, recorder: &mut Recorder<'_>) -> Result<(), RunError> {
        let mut prepared = Vec::with_capacity(self.targets.len());
        let ended = self.all(&mut prepared, recorder);
        // However it ended, a guest leaves nothing behind; the first error is the one that matters.
        for one in &mut prepared {
            if let Err(AskError::Failed(failure)) = one.session.leave(self.settings.keep_data) {
                recorder.warn(&format!("{}: not removed: {}", one.cells.target.id(), failure.error));
            }
        }
        ended
    }

    fn all(&self, prepared: &mut Vec<Prepared<'a>>, recorder: &mut Recorder<'_>) -> Result<(), RunError> {
        for target in self.targets {
            // A resumed run does not load again what it has nothing left to ask.
            if self.cells(target).keys(self.settings).iter().all(|key| recorder.has(key)) {
                // A run that was killed may have left it where it was a guest.
                let mut done = self.session(target);
                if let Err(AskError::Failed(failure)) =
                    done.session.leave_behind_nothing(self.settings.keep_data)
                {
                    recorder.warn(&format!("{}: not removed: {}", target.id(), failure.error));
                }
                continue;
            }
            prepared.push(self.session(target));
            let Some(one) = prepared.last_mut() else { continue };
            self.prepare(one, recorder)?;
            // At once, and with the engine stopped at the end: while the next one loads, nothing of this one
            // may be at work, and what it does by itself must not pass unmeasured.
            self.enter(State::Drained, one, recorder)?;
        }
        let mut timed_out = TimedOut::new();
        for state in STATES {
            if state != State::Drained {
                for one in prepared.iter_mut() {
                    self.enter(state, one, recorder)?;
                }
            }
            if self.settings.states.contains(&state) {
                self.rounds(state, prepared, &mut timed_out, recorder)?;
            }
        }
        Ok(())
    }

    /// A target before its load.
    fn session(&self, target: &'a Target) -> Prepared<'a> {
        let session = Session::new(
            target,
            self.worker,
            self.work.join(target.id()),
            self.logs.join(format!("{}.log", target.id())),
            self.settings.cores,
            self.subject.clone(),
            self.cancelled,
        );
        let answers = Err(Failure { kind: FailureKind::Environment, error: "it was not loaded".into() });
        Prepared { session, cells: self.cells(target), answers }
    }

    fn prepare(&self, one: &mut Prepared<'a>, recorder: &mut Recorder<'_>) -> Result<(), RunError> {
        let what = format!("loading {}", one.cells.target.id());
        recorder.observer.event(&Event::Began { what: &what });
        self.subject.does(&what);
        one.answers = load::load(
            &mut one.session,
            one.cells,
            self.staged,
            self.settings,
            self.disk_bytes_per_s,
            recorder,
        )?;
        Ok(())
    }

    /// Brings a target into `state`, records how long that took and what the documents take then. Ends
    /// with the engine stopped: exactly one system is up at a time.
    fn enter(
        &self,
        state: State,
        one: &mut Prepared<'a>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), RunError> {
        self.subject.does(&format!("settling {}, {}", one.cells.target.id(), state.word()));
        let cell = one.cells.size(state);
        let key = cell.trial_key(1, 0);
        let result = match &one.answers {
            Err(failure) => Err(not_asked(failure)),
            Ok(_) => self.settled(state, one, recorder)?,
        };
        match result {
            Err(failure) => {
                one.session.give_up(self.settings.keep_data);
                recorder.failed(key, &cell, 1, 0, failure.clone())?;
                // Nothing is asked of data in a state that nobody can vouch for.
                if one.answers.is_ok() {
                    let error = format!("it did not come to be {}: {}", state.word(), failure.error);
                    one.answers = Err(Failure { error, ..failure });
                }
            }
            Ok(metrics) if !recorder.has(&key) => {
                let mut trial = blank(&cell, 1, 0);
                trial.verdict = Verdict::Exact;
                trial.metrics = metrics;
                recorder.trial(key, trial)?;
            }
            Ok(_) => {}
        }
        Ok(())
    }

    /// Settles, measures, reads documents back once, and stops the engine; a failure of any of these leaves
    /// the data in no state that can be vouched for.
    fn settled(
        &self,
        state: State,
        one: &mut Prepared<'a>,
        recorder: &mut Recorder<'_>,
    ) -> Result<Result<Metrics, Failure>, RunError> {
        let metrics = match cell_result(self.settle_and_measure(state, &mut one.session))? {
            Ok(metrics) => metrics,
            Err(failure) => return Ok(Err(failure)),
        };
        if state == State::Drained
            && let Err(failure) = self.read_back(one, recorder)?
        {
            return Ok(Err(failure));
        }
        Ok(cell_result(one.session.close())?.map(|()| metrics))
    }

    fn settle_and_measure(&self, state: State, session: &mut Session<'_>) -> Result<Metrics, AskError> {
        session.open()?;
        let limit_s = self.settings.load_timeout_s;
        let table = [("table", TABLE)];
        let name = match state {
            State::Drained => "drain",
            State::Compacted => "compact",
        };
        let settle = Op::Settle {
            statements: session.statements(name, &table)?,
            until_zero: session.statements("drained", &table)?.into_iter().next(),
            limit_s,
            sync: !session.is_guest(),
        };
        // The wait gives itself up at `limit_s`; the request's own limit only catches a hanging engine.
        let limit = Duration::from_secs_f64(limit_s) + LOOK_UP;
        let settled: Settled = session.request(&settle, limit, &mut |_| {})?;
        let mut metrics = Metrics::from([(format!("{}_s", state.word()), settled.seconds)]);
        if settled.remaining > 0 {
            metrics.insert("background_work_left".into(), settled.remaining as f64);
        }
        for (name, value) in session.figures("sizes", &table, LOOK_UP)? {
            let value = match value {
                Value::Int(number) => number as f64,
                Value::Float(number) => number,
                _ => continue,
            };
            metrics.insert(name, value);
        }
        if session.is_guest() {
            return Ok(metrics);
        }
        let files = page_cache::allocated_bytes(session.folder()).map_err(|error| {
            AskError::failed(FailureKind::Environment, format!("failed to measure the data folder: {error}"))
        })?;
        metrics.insert("files_bytes".into(), files as f64);
        let logs = &session.target.analytics.logs;
        if !logs.is_empty() {
            let bytes = page_cache::allocated_bytes_of(session.folder(), logs).map_err(|error| {
                AskError::failed(FailureKind::Environment, format!("failed to measure logs: {error}"))
            })?;
            metrics.insert("log_bytes".into(), bytes as f64);
        }
        Ok(metrics)
    }

    /// Reads sample documents back and compares them with what was given.
    fn read_back(
        &self,
        one: &mut Prepared<'a>,
        recorder: &mut Recorder<'_>,
    ) -> Result<Result<(), Failure>, RunError> {
        // A reference row keeps no documents.
        if one.session.target.analytics.statements("read_back").is_empty() {
            return Ok(Ok(()));
        }
        let cell = one.cells.structure();
        let key = format!("structure:{}", cell.key());
        if recorder.has(&key) {
            return Ok(Ok(()));
        }
        let mut given: HashMap<structure::Key, Vec<u8>> = HashMap::new();
        for sample in &self.staged.samples {
            if let Some(key) = structure::key_of(&sample.line) {
                given.insert(key, sample.line.clone());
            }
        }
        let keys: Vec<String> = given.keys().map(|(time, _)| time.to_string()).collect();
        let returned = if keys.is_empty() {
            Vec::new()
        } else {
            let values = [("table", TABLE), ("keys", &keys.join(", "))];
            let session = &mut one.session;
            let read = session.statement("read_back", &values).and_then(|statement| {
                session.request::<Documents>(&Op::ReadBack { statement }, LOOK_UP, &mut |_| {})
            });
            match cell_result(read)? {
                Ok(documents) => documents.rows,
                Err(failure) => return Ok(Err(failure)),
            }
        };
        let compared = structure::compare(&given, &returned);
        let record = Structure {
            cell,
            retains: compared.retains().to_owned(),
            compared: compared.compared,
            equal_bytes: compared.equal_bytes,
            equal_value: compared.equal_value,
            changes: compared.changes,
        };
        recorder.note(key, Body::Structure(record))?;
        Ok(Ok(()))
    }

    fn rounds(
        &self,
        state: State,
        prepared: &mut [Prepared<'a>],
        timed_out: &mut TimedOut,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), RunError> {
        for round in 1..=self.settings.rounds {
            for index in rotation(prepared.len(), round) {
                let Some(one) = prepared.get_mut(index) else { continue };
                for question in Question::ALL {
                    self.ask(question, state, round, one, timed_out, recorder)?;
                }
                if let Err(failure) = cell_result(one.session.close())? {
                    recorder.warn(&format!("{}: failed to close: {}", one.cells.target.id(), failure.error));
                }
            }
        }
        Ok(())
    }

    fn ask(
        &self,
        question: Question,
        state: State,
        round: u32,
        one: &mut Prepared<'a>,
        timed_out: &mut TimedOut,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), RunError> {
        let no_answers = Reference::default().answers();
        let asking = Asking {
            cells: one.cells,
            settings: self.settings,
            disk_bytes_per_s: self.disk_bytes_per_s,
            answers: one.answers.as_ref().unwrap_or(&no_answers),
            question,
            state,
            round,
        };
        match &one.answers {
            Ok(_) => asking.ask(&mut one.session, timed_out, recorder),
            Err(failure) => asking.fail(&not_asked(failure), recorder),
        }
    }
}

fn not_asked(failure: &Failure) -> Failure {
    Failure { kind: failure.kind, error: format!("not done, because loading failed: {}", failure.error) }
}
