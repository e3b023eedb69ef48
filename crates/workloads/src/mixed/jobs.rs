//! Builds the jobs of the phases of one configuration.

use jsonathlon_catalogue::MixedSetup;
use jsonathlon_dataset::questions::Question;
use jsonathlon_driver_api::{batch::BatchForm, seen::SeenForm};
use jsonathlon_loadgen::mixed::job::{AskingJob, MixedJob, StreamQuestion, WritingJob};
use jsonathlon_schema::record::{FailureKind, Phase};
use jsonathlon_schema::settings::mixed::MixedSettings;

use super::documents::{MixedDocuments, lead_s, short_s};
use super::trials::QUESTIONS;
use crate::run_context::TABLE;
use crate::session::{Session, TrialError, placeholder_error};

/// File of the statement that counts a writer's own documents.
const OWN_PREFIX: &str = "own_prefix";
/// Seconds after which a batch that the system keeps sending back is given up.
const BATCH_TIMEOUT_S: f64 = 60.0;
/// Seconds that a phase lasts at most while a stream has not finished a set.
const MAX_PHASE_S: f64 = 60.0;

/// Floors of each stream: documents of each writer that its questions are known to see.
pub(super) type Floors = Vec<Vec<u64>>;

/// Everything that jobs of a configuration have in common.
pub(super) struct JobBuilder<'t> {
    settings: &'t MixedSettings,
    questions: Vec<StreamQuestion>,
    seen: SeenForm,
    batch: BatchForm,
    own_prefix: String,
    take_turns: bool,
    documents: &'t MixedDocuments,
    seed: u64,
}

impl<'t> JobBuilder<'t> {
    /// Fills the statements of a configuration; `seed` decides the orders of the streams.
    pub(super) fn new(
        settings: &'t MixedSettings,
        setup: &MixedSetup,
        session: &Session<'_>,
        documents: &'t MixedDocuments,
        seed: u64,
    ) -> Result<Self, TrialError> {
        let question = |question: Question| {
            let statement = session.statement(question.id(), &[("table", TABLE)])?;
            let statement = statement.trim_end().trim_end_matches(';').to_owned();
            Ok::<_, TrialError>(StreamQuestion { question, statement })
        };
        let own_prefix = session.statements_with_parameters(OWN_PREFIX, &[("table", TABLE)])?;
        let own_prefix = own_prefix.into_iter().next().ok_or_else(|| {
            let system = &session.target.configuration.system;
            let message = format!("the folder of {system} has no statement `{OWN_PREFIX}`");
            TrialError::failed(FailureKind::Environment, message)
        })?;
        Ok(Self {
            settings,
            questions: QUESTIONS.into_iter().map(question).collect::<Result<_, _>>()?,
            seen: setup.seen_form(TABLE).map_err(placeholder_error)?,
            batch: setup.batch_form(TABLE).map_err(placeholder_error)?,
            own_prefix,
            take_turns: setup.writers_take_turns,
            documents,
            seed,
        })
    }

    /// Floors of streams that have not seen anything of the writers.
    pub(super) fn no_floors(&self) -> Floors {
        vec![vec![0; self.settings.writers as usize]; self.settings.streams as usize]
    }

    fn asking(&self, floors: Floors) -> AskingJob {
        AskingJob {
            questions: self.questions.clone(),
            // Where nothing comes in, there is nothing to see of writers.
            form: (!self.settings.is_still()).then(|| self.seen.clone()),
            floors,
            sets: None,
            seed: self.seed,
        }
    }

    fn writing(&self, phase: Phase, rate: Option<f64>) -> WritingJob {
        WritingJob {
            pool: self.documents.file.file.clone(),
            documents: self.documents.file.documents,
            dealt: self.documents.dealt_in(phase),
            writers: self.settings.writers,
            batch: self.settings.batch,
            rate,
            form: self.batch.clone(),
            own_prefix: self.own_prefix.clone(),
            take_turns: self.take_turns,
            timeout_s: BATCH_TIMEOUT_S,
        }
    }

    fn job(&self, writing: Option<WritingJob>, asking: Option<AskingJob>, seconds: f64) -> MixedJob {
        MixedJob { writing, asking, seconds, max_seconds: MAX_PHASE_S.max(seconds), measured_from_s: 0.0 }
    }

    /// Streams alone, which also ask what they see of writers if there are any.
    pub(super) fn ask(&self, floors: Floors) -> MixedJob {
        let seconds = match self.settings.is_still() {
            true => self.settings.measure_s,
            false => short_s(self.settings),
        };
        self.job(None, Some(self.asking(floors)), seconds)
    }

    /// Streams alone, without asking what they see of the writers.
    pub(super) fn ask_plainly(&self) -> MixedJob {
        let asking = AskingJob { form: None, ..self.asking(self.no_floors()) };
        self.job(None, Some(asking), short_s(self.settings))
    }

    /// Streams beside writers that insert at the rate.
    pub(super) fn ask_beside_writers(&self) -> MixedJob {
        let writing = self.writing(Phase::Both, self.settings.rate.per_s());
        let asking = self.asking(self.no_floors());
        let job = self.job(Some(writing), Some(asking), self.settings.measure_s);
        MixedJob { measured_from_s: lead_s(self.settings), ..job }
    }

    /// Writers alone, at full speed.
    pub(super) fn write(&self) -> MixedJob {
        self.job(Some(self.writing(Phase::Alone, None)), None, short_s(self.settings))
    }

    /// One set by each of these streams, which are as many as lists of floors, whatever time it takes.
    pub(super) fn ask_once(&self, floors: Floors, max_seconds: f64) -> MixedJob {
        let asking = AskingJob { sets: Some(1), ..self.asking(floors) };
        MixedJob {
            writing: None,
            asking: Some(asking),
            seconds: max_seconds,
            max_seconds,
            measured_from_s: 0.0,
        }
    }
}
