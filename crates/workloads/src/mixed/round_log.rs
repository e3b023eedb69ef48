//! What the clients of a round did, phase by phase, and whether their answers were as expected.

use std::collections::BTreeMap;

use jsonathlon_catalogue::MixedSetup;
use jsonathlon_dataset::questions::Question;
use jsonathlon_loadgen::mixed::report::{MixedReport, QuestionLog};
use jsonathlon_mixed::{
    AskedQuestion, Declared, Judgement, SeenDocuments, Sweep, SweepError, VerdictCounts, WriterHistory,
    check_end, first_wrong, judge,
};
use jsonathlon_schema::record::Phase;
use jsonathlon_schema::settings::mixed::MixedSettings;

use super::trials::QUESTIONS;

/// Number of the stream that asks after the end of the writers, which is none of the measured ones.
const LAST_STREAM: u32 = u32::MAX;

/// What the questions of a job are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// They are measured with what they see of the writers.
    Measured,
    /// They are measured without asking what they see, to show what that costs.
    Plain,
    /// They show what is there after the end of the writers.
    EndCheck,
}

/// Clients of one job.
#[derive(Debug)]
pub(super) struct JobLog {
    /// Phase in which the job ran.
    pub(super) phase: Phase,
    pub(super) purpose: Purpose,
    pub(super) report: MixedReport,
}

impl JobLog {
    /// Questions of all streams with their stream's number, stream by stream.
    pub(super) fn questions(&self) -> impl Iterator<Item = (u32, &QuestionLog)> {
        (0_u32..)
            .zip(&self.report.streams)
            .flat_map(|(stream, log)| log.questions.iter().map(move |question| (stream, question)))
    }

    /// Returns `true` if the job ran with these settings. On still data, jobs of a round differ in their numbers of
    /// streams.
    pub(super) fn belongs_to(&self, settings: &MixedSettings) -> bool {
        !settings.is_still() || self.report.streams.len() == settings.streams as usize
    }

    /// Number of errors, and the first messages with their counts.
    pub(super) fn errors(&self) -> (u64, Vec<String>) {
        let errors = self.report.streams.iter().flat_map(|stream| &stream.errors);
        let count = errors.clone().map(|(_, count)| *count).sum();
        (count, errors.map(|(message, count)| format!("{count} × {message}")).collect())
    }
}

/// Jobs of one round of a configuration on the same data, in the order in which they ran.
#[derive(Debug, Default)]
pub(super) struct RoundLog {
    pub(super) jobs: Vec<JobLog>,
}

/// Judgements of a round, one list per job, in the order of [`JobLog::questions`].
#[derive(Debug)]
pub(super) struct RoundJudgements {
    pub(super) jobs: Vec<Vec<Judgement>>,
    /// Why the round has no results. `None` if no answer was wrong and all documents are there.
    pub(super) wrong: Option<String>,
}

impl RoundLog {
    /// Nanoseconds that are added to times of a job, so that all times of the round are of one clock.
    fn shift(&self, job: &JobLog) -> u64 {
        let first = self.jobs.first().map_or(0, |job| job.report.start_ns);
        job.report.start_ns.saturating_sub(first)
    }

    /// What each of the writers sent and got acknowledged when.
    pub(super) fn histories(&self, writers: u32) -> Vec<WriterHistory> {
        let mut histories = vec![WriterHistory::default(); writers as usize];
        for job in &self.jobs {
            let shift = self.shift(job);
            for (history, log) in histories.iter_mut().zip(&job.report.writers) {
                for batch in &log.batches {
                    history.sent(batch.sent_end(), shift + batch.sent_ns);
                    if let Some(acknowledged_ns) = batch.acknowledged_ns {
                        history.acknowledged(batch.end(), shift + acknowledged_ns);
                    }
                }
            }
        }
        histories
    }

    /// Judges all questions of the round, and checks that all acknowledged documents are there at the end.
    ///
    /// # Errors
    /// If the log does not fit to the documents, which is a fault of the program.
    pub(super) fn judge(
        &self,
        sweep: &mut Sweep<'_>,
        declared: &Declared,
        writers: u32,
    ) -> Result<RoundJudgements, SweepError> {
        let histories = self.histories(writers);
        let mut asked = Vec::new();
        for job in &self.jobs {
            let shift = self.shift(job);
            for (stream, question) in job.questions() {
                let rows = job.report.answers.get(question.answer as usize);
                asked.push(AskedQuestion {
                    stream: if job.purpose == Purpose::EndCheck { LAST_STREAM } else { stream },
                    question: question.question,
                    start_ns: shift + question.start_ns,
                    end_ns: shift + question.end_ns,
                    floors: &question.floors,
                    seen: &question.seen,
                    unreadable: question.unreadable.as_deref(),
                    rows: rows.map(Vec::as_slice).unwrap_or_default(),
                });
            }
        }
        let judgements = judge(sweep, declared, &histories, &asked)?;
        let wrong = first_wrong(&judgements).map(|(position, reason)| {
            let question = asked.get(position).map(|asked| asked.question.id()).unwrap_or_default();
            let (phase, count) = (self.phase_of(position), wrong_count(&judgements));
            let plural = if count == 1 { "answer was" } else { "answers were" };
            format!("{count} of {} {plural} wrong; the first: {question} in {phase}: {reason}", asked.len())
        });
        let wrong = wrong.or_else(|| self.missing_documents(&histories));
        let mut rest = judgements.into_iter();
        let jobs = self.jobs.iter().map(|job| rest.by_ref().take(job.questions().count()).collect());
        Ok(RoundJudgements { jobs: jobs.collect(), wrong })
    }

    /// Word of the phase in which the question at this position of the round was asked.
    fn phase_of(&self, position: usize) -> &'static str {
        let mut left = position;
        for job in &self.jobs {
            let count = job.questions().count();
            if left < count {
                return job.phase.word();
            }
            left -= count;
        }
        "the round"
    }

    /// Whether every question was answered once after the end of the writers.
    pub(super) fn is_end_checked(&self) -> bool {
        let mut jobs = self.jobs.iter().filter(|job| job.purpose == Purpose::EndCheck);
        jobs.any(|job| job.questions().count() == QUESTIONS.len())
    }

    /// Which acknowledged documents are missing at the end, or which others are there. `None` if there are none,
    /// or nothing was asked then.
    fn missing_documents(&self, histories: &[WriterHistory]) -> Option<String> {
        let jobs = self.jobs.iter().filter(|job| job.purpose == Purpose::EndCheck);
        jobs.flat_map(JobLog::questions).find_map(|(_, question)| {
            match SeenDocuments::new(&question.floors, &question.seen) {
                Ok(seen) => {
                    let histories = with_unknown_outcomes(histories, &seen);
                    check_end(&histories, &seen).err().map(|error| error.to_string())
                }
                Err(error) => Some(error.to_string()),
            }
        })
    }
}

/// Histories in which those documents count as acknowledged that are there and were sent by a writer that an error
/// ended before it knew what became of them.
fn with_unknown_outcomes(histories: &[WriterHistory], seen: &SeenDocuments) -> Vec<WriterHistory> {
    let prefixes = seen.prefixes();
    let with_outcome = |(writer, history): (usize, &WriterHistory)| {
        let (mut history, there) = (history.clone(), prefixes.of(writer));
        if there > history.all_acknowledged() && there <= history.sent_before(u64::MAX) {
            history.acknowledged(there, u64::MAX);
        }
        history
    };
    histories.iter().enumerate().map(with_outcome).collect()
}

fn wrong_count(judgements: &[Judgement]) -> u64 {
    VerdictCounts::of(judgements).wrong
}

/// What a configuration's folder declares about answers beside writers.
pub(super) fn declared(setup: &MixedSetup) -> Declared {
    let columns =
        |question: Question| Some((question, setup.questions.get(question.id())?.approximate.clone()));
    let approximate: BTreeMap<Question, Vec<usize>> = Question::ALL
        .into_iter()
        .filter_map(columns)
        .filter(|(_, columns): &(Question, Vec<usize>)| !columns.is_empty())
        .collect();
    Declared { snapshot: setup.snapshot, visible: setup.visible, approximate }
}

#[cfg(test)]
mod tests {
    use jsonathlon_loadgen::mixed::report::{BatchLog, WriterLog};
    use jsonathlon_mixed::SeenCount;

    use super::*;

    fn batch(first: u64, sent_ns: u64) -> BatchLog {
        BatchLog {
            first,
            count: 10,
            sent_count: 10,
            due_ns: None,
            sent_ns,
            acknowledged_ns: Some(sent_ns + 5),
            retries: 0,
            was_recovered: false,
        }
    }

    fn job(phase: Phase, start_ns: u64, batches: Vec<BatchLog>) -> JobLog {
        let writers = vec![WriterLog { batches, error: None }];
        JobLog {
            phase,
            purpose: Purpose::Measured,
            report: MixedReport { start_ns, writers, ..MixedReport::default() },
        }
    }

    #[test]
    fn what_became_of_the_batch_that_ended_a_writer_may_be_either() {
        let mut history = WriterHistory::default();
        history.sent(10, 1);
        history.acknowledged(10, 2);
        history.sent(20, 3);
        let is_right = |count| {
            let seen = SeenCount { writer: 0, count, highest: count - 1 };
            let seen = SeenDocuments::new(&[0], &[seen]).unwrap();
            check_end(&with_unknown_outcomes(std::slice::from_ref(&history), &seen), &seen).is_ok()
        };
        assert!([10, 13, 20].into_iter().all(is_right));
        assert!(!is_right(9) && !is_right(21));
    }

    #[test]
    fn all_jobs_of_a_round_have_one_clock() {
        let jobs = vec![
            job(Phase::Still, 1_000, Vec::new()),
            job(Phase::Both, 5_000, vec![batch(0, 0), batch(10, 100)]),
        ];
        let histories = RoundLog { jobs }.histories(2);
        let [writer, other] = histories.as_slice() else { panic!("two writers") };
        assert_eq!([4_000, 4_001, 4_101].map(|ns| writer.sent_before(ns)), [0, 10, 20]);
        assert_eq!([4_005, 4_006].map(|ns| writer.acknowledged_before(ns)), [0, 10]);
        assert_eq!((writer.all_acknowledged(), other.all_acknowledged()), (20, 0));
    }
}
