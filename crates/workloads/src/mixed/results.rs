//! Turns what the clients of a round did into trials.

use jsonathlon_dataset::questions::Question;
use jsonathlon_loadgen::mixed::report::{MixedReport, StreamLog, WindowEnd};
use jsonathlon_mixed::{Declared, Visibility};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{
    ALL_QUESTIONS, Failure, FailureKind, Finding, INGEST, Metrics, Phase, Trial, Verdict,
};
use jsonathlon_schema::settings::mixed::MixedSettings;
use jsonathlon_stats::batch_schedule::BatchSchedule;
use jsonathlon_stats::growth::Growth;
use jsonathlon_stats::phase_factors::{PhaseFactors, PhaseRates};
use jsonathlon_stats::window::{Window, has_whole_set};

use super::documents::{larger_growth, lead_s};
use super::question_metrics::JudgedQuestions;
use super::round_log::{JobLog, Purpose, RoundJudgements, RoundLog};
use super::trials::{ASKING_PHASES, QUESTIONS, cell, steps};
use super::writer_metrics::{PhaseWriters, alone_window};
use crate::cells::Cells;
use crate::recorder::new_trial;

/// Largest share of questions without an answer; with more, a phase does not represent the system.
const TOLERABLE_ERRORS: f64 = 0.001;
/// Seconds that a set of questions is taken to last if none was finished.
const UNKNOWN_SET_S: f64 = 10.0;

/// A round of a configuration with everything that its trials are made of.
pub(super) struct RoundResults<'r> {
    pub(super) settings: &'r MixedSettings,
    pub(super) cells: Cells<'r>,
    pub(super) round: u32,
    pub(super) log: &'r RoundLog,
    pub(super) judgements: &'r RoundJudgements,
    pub(super) declared: &'r Declared,
    /// Number of documents that the system held before the writers began.
    pub(super) base: u64,
    /// Number of documents that each writer has.
    pub(super) documents_of: &'r [u64],
    /// Seconds that draining took. `None` if it was not reached.
    pub(super) drained_s: Option<f64>,
}

impl<'r> RoundResults<'r> {
    /// Job of a phase, with its position in the round. `None` if it was not reached.
    fn job(&self, phase: Phase, purpose: Purpose) -> Option<(usize, &'r JobLog)> {
        let is_meant =
            |job: &JobLog| job.phase == phase && job.purpose == purpose && job.belongs_to(self.settings);
        self.log.jobs.iter().enumerate().find(|(_, job)| is_meant(job))
    }

    fn window(&self, phase: Phase, report: &MixedReport) -> Window {
        match phase {
            Phase::Alone => alone_window(report, self.documents_of),
            Phase::Both => Window { from_ns: (lead_s(self.settings) * 1e9) as u64, to_ns: report.end_ns },
            _ => Window { from_ns: 0, to_ns: report.end_ns },
        }
    }

    fn questions(&self, phase: Phase, purpose: Purpose) -> Option<JudgedQuestions<'r>> {
        let (position, job) = self.job(phase, purpose)?;
        self.judged(position, job)
    }

    fn judged(&self, position: usize, job: &'r JobLog) -> Option<JudgedQuestions<'r>> {
        Some(JudgedQuestions {
            job,
            judgements: self.judgements.jobs.get(position)?,
            window: self.window(job.phase, &job.report),
            growth: Growth::new(self.base),
        })
    }

    /// Questions per hour of one stream on still data, in the same round. `None` if that was not measured.
    fn one_stream_per_h(&self) -> Option<f64> {
        let mut jobs = self.log.jobs.iter().enumerate();
        let (position, job) = jobs.find(|(_, job)| job.report.streams.len() == 1)?;
        let is_lost = job.report.streams.iter().any(|stream| stream.error.is_some());
        if is_lost || self.unanswered(job).is_some() || self.shortness(job.phase, job).is_some() {
            return None;
        }
        Some(self.judged(position, job)?.per_hour(None)).filter(|rate| *rate > 0.0)
    }

    /// What several streams on still data gain over one, and whether all of them got their share.
    fn stream_metrics(&self, judged: &JudgedQuestions<'_>) -> Metrics {
        let mut metrics = Metrics::new();
        if let Some(one) = self.one_stream_per_h() {
            metrics.insert(metric::STREAM_SPEEDUP.name.to_owned(), judged.per_hour(None) / one);
        }
        metrics.extend(judged.fairness().map(|share| metric::STREAM_FAIRNESS.with_value(share)));
        metrics
    }

    fn writers(&self, phase: Phase) -> Option<PhaseWriters<'r>> {
        let (_, job) = self.job(phase, Purpose::Measured)?;
        let MixedSettings { writers, batch, rate, .. } = self.settings;
        let rate = rate.per_s().filter(|_| phase == Phase::Both);
        let schedule = rate.map(|rate| BatchSchedule::new((*writers).into(), (*batch).into(), rate));
        Some(PhaseWriters {
            report: &job.report,
            window: self.window(phase, &job.report),
            schedule: schedule.and_then(Result::ok),
            documents_of: self.documents_of,
            batch: (*batch).into(),
            base: self.base,
        })
    }

    /// Whether the job of a phase was reached.
    pub(super) fn has_phase(&self, phase: Phase) -> bool {
        self.job(phase, Purpose::Measured).is_some()
    }

    /// Why a phase has no results although its job was run. `None` if it has.
    pub(super) fn phase_failure(&self, phase: Phase) -> Option<Failure> {
        let (_, job) = self.job(phase, Purpose::Measured)?;
        let report = &job.report;
        let lost = (0..).zip(&report.streams).find_map(|(number, log)| Some((number, log.error.as_ref()?)));
        if let Some((number, error)) = lost {
            return Some(Failure::new(FailureKind::Crash, format!("stream {number}: {error}")));
        }
        let ended = (0..).zip(&report.writers).find_map(|(number, log)| Some((number, log.error.as_ref()?)));
        if let Some((number, error)) = ended {
            return Some(Failure::new(FailureKind::Refused, format!("writer {number}: {error}")));
        }
        if let Some(question) = self.unanswered(job) {
            let (_, messages) = job.errors();
            let reason = messages.first().map_or("no answer within the phase", String::as_str);
            return Some(Failure::new(FailureKind::Refused, format!("{}: {reason}", question.id())));
        }
        self.shortness(phase, job)
    }

    /// A question without any answer although others had one. `None` if there is none, or the phase was too short.
    fn unanswered(&self, job: &JobLog) -> Option<Question> {
        if job.errors().0 == 0 {
            return None;
        }
        QUESTIONS.into_iter().find(|question| job.questions().all(|(_, log)| log.question != *question))
    }

    /// Why a phase was too short, and what to do. `None` if it was long enough.
    fn shortness(&self, phase: Phase, job: &JobLog) -> Option<Failure> {
        let report = &job.report;
        if report.ended_by == WindowEnd::TooManyAnswers {
            let message = "its answers take more memory than the clients may use: give a shorter --measure";
            return Some(Failure::new(FailureKind::Environment, message));
        }
        if phase == Phase::Alone {
            // No stream has to finish anything; see [`PhaseWriters::shortness`].
            return None;
        }
        let window = self.window(phase, report);
        let has_sets = report.streams.iter().all(|stream| {
            // A question that was mostly asked behind the end has no time in the window.
            let inside = stream.questions.iter().filter(|log| window.holds_half(log.start_ns, log.end_ns));
            let questions = inside.map(|question| (question.set, question.start_ns));
            has_whole_set(questions, QUESTIONS.len(), window.from_ns)
        });
        if has_sets && window.seconds() > 0.0 {
            return None;
        }
        if phase != Phase::Both || report.ended_by != WindowEnd::WritersEnded {
            let seconds = report.end_ns as f64 / 1e9;
            let message = format!(
                "a stream did not finish a set of its questions within {seconds:.0} s: load fewer documents"
            );
            return Some(Failure::new(FailureKind::Timeout, message));
        }
        let used_s = (report.end_ns as f64 / 1e9).max(1e-3);
        let needed_s = lead_s(self.settings) + 2.0 * self.set_seconds();
        let enough = larger_growth(self.settings, (needed_s / used_s).max(2.0));
        let message = format!(
            "too short: all documents that may come in were there after {used_s:.2} s, before each stream had \
             finished a set of its questions in the measured time: give {enough}, or a lower --rate"
        );
        Some(Failure::new(FailureKind::Environment, message))
    }

    /// Longest time of a set in the phase without writers, in seconds.
    fn set_seconds(&self) -> f64 {
        let Some((_, job)) = self.job(Phase::Still, Purpose::Measured) else {
            return self.set_seconds_beside();
        };
        let set_s = |stream: &StreamLog| {
            let last = stream.questions.iter().take(QUESTIONS.len()).next_back()?;
            Some(last.end_ns as f64 / 1e9)
        };
        job.report.streams.iter().filter_map(set_s).reduce(f64::max).unwrap_or(UNKNOWN_SET_S)
    }

    /// Upper estimate of the time of a set from the longest question beside writers, in seconds.
    fn set_seconds_beside(&self) -> f64 {
        let Some((_, job)) = self.job(Phase::Both, Purpose::Measured) else { return UNKNOWN_SET_S };
        let times = job.questions().map(|(_, log)| log.end_ns.saturating_sub(log.start_ns));
        times.max().map_or(UNKNOWN_SET_S, |longest_ns| QUESTIONS.len() as f64 * longest_ns as f64 / 1e9)
    }

    /// Trials of all cells of a phase, which must have no [`Self::phase_failure`].
    pub(super) fn trials(&self, phase: Phase) -> Vec<Trial> {
        let trial = |step: &&str| {
            let mut trial = new_trial(&cell(self.cells, self.settings, phase, step), self.round, 0);
            match *step {
                INGEST => self.fill_ingest(phase, &mut trial)?,
                ALL_QUESTIONS => self.fill_questions(phase, None, &mut trial)?,
                question => self.fill_questions(phase, Some(question.parse().ok()?), &mut trial)?,
            }
            Some(trial)
        };
        steps(phase).iter().filter_map(trial).collect()
    }

    fn fill_ingest(&self, phase: Phase, trial: &mut Trial) -> Option<()> {
        let writers = self.writers(phase)?;
        trial.verdict = Verdict::Exact;
        trial.metrics = writers.metrics();
        trial.metrics.extend(usage(writers.report));
        trial.per_second = writers.per_second();
        let responses = writers.responses();
        if responses.count() > 0 {
            trial.histograms.insert("insert_response".into(), responses.to_text());
        }
        if phase == Phase::Alone {
            trial.findings.extend(writers.shortness(self.settings));
        }
        Some(())
    }

    fn fill_questions(&self, phase: Phase, question: Option<Question>, trial: &mut Trial) -> Option<()> {
        let judged = self.questions(phase, Purpose::Measured)?;
        trial.verdict = judged.verdict(question);
        trial.metrics = judged.metrics(question, phase == Phase::Both);
        if phase == Phase::Both {
            let kept = self.writers(phase).and_then(|writers| writers.kept_share());
            trial.metrics.extend(kept.map(|share| metric::KEPT_SHARE.with_value(share)));
        }
        let times = judged.times(question);
        if times.count() > 0 {
            trial.histograms.insert("question".into(), times.to_text());
        }
        let (errors, _) = judged.job.errors();
        let answered = judged.count(None) as u64;
        if errors as f64 > TOLERABLE_ERRORS * (errors + answered) as f64 {
            trial.verdict = trial.verdict.max(Verdict::Partial);
        }
        if question.is_none() {
            trial.metrics.insert(metric::ERRORS.name.to_owned(), errors as f64);
            trial.metrics.extend(usage(&judged.job.report));
            trial.metrics.extend(match self.settings.is_still() {
                true => self.stream_metrics(&judged),
                false => self.comparisons(phase),
            });
            trial.per_second = judged.per_second(phase == Phase::Both);
            trial.findings = findings(&judged, self.declared);
        }
        Some(())
    }

    /// Metrics of a phase that compare it with another one of the same round.
    fn comparisons(&self, phase: Phase) -> Metrics {
        let per_hour = |phase, purpose| Some(self.questions(phase, purpose)?.per_hour(None));
        let mut metrics = Metrics::new();
        if phase == Phase::Still
            && let Some(plain) = per_hour(phase, Purpose::Plain)
            && let Some(with_seen) = per_hour(phase, Purpose::Measured).filter(|rate| *rate > 0.0)
        {
            metrics.insert(metric::SEEN_COST.name.to_owned(), plain / with_seen);
        }
        if phase == Phase::Drained {
            metrics.extend(self.drained_s.map(|seconds| metric::DRAINED_S.with_value(seconds)));
        }
        if let Some(PhaseFactors { interference, debt, disorder }) = self.factors() {
            let factor = match phase {
                Phase::Both => Some(metric::INTERFERENCE.with_value(interference)),
                Phase::Left => Some(metric::DEBT.with_value(debt)),
                Phase::Drained => Some(metric::DISORDER.with_value(disorder)),
                _ => None,
            };
            metrics.extend(factor);
        }
        metrics
    }

    /// The three factors of the round. `None` unless all of its phases have results.
    fn factors(&self) -> Option<PhaseFactors> {
        if ASKING_PHASES.iter().any(|phase| self.phase_failure(*phase).is_some()) {
            return None;
        }
        let rate = |phase| Some(self.questions(phase, Purpose::Measured)?.per_hour(None));
        let [still, both, left, drained] = ASKING_PHASES.map(rate);
        PhaseRates { still: still?, both: both?, left: left?, drained: drained? }.factors()
    }
}

/// CPU time of the clients and of the system during a phase.
fn usage(report: &MixedReport) -> Metrics {
    let usage = &report.usage;
    let mut metrics = Metrics::new();
    metrics.extend(usage.cpu_s.map(|seconds| metric::SERVER_CPU_S.with_value(seconds)));
    metrics.extend(usage.client_cpu_s.map(|seconds| metric::CLIENT_CPU_S.with_value(seconds)));
    if let (Some(client), Some(server)) = (usage.client_cpu_s, usage.cpu_s)
        && client + server > 0.0
    {
        metrics.insert(metric::CLIENT_CPU_SHARE.name.to_owned(), client / (client + server));
    }
    metrics
}

/// What answers showed that the configuration's folder does not declare.
fn findings(judged: &JudgedQuestions<'_>, declared: &Declared) -> Vec<Finding> {
    let counts = judged.counts(None);
    let finding = |subject: &str, state: &str, message: String| Finding {
        message: Some(message),
        ..Finding::new(subject, state.to_owned())
    };
    let mut findings = Vec::new();
    if declared.snapshot && counts.holes > 0 {
        let message = format!(
            "{} of {} answers were of no single moment, although one statement is declared to be a snapshot",
            counts.holes, counts.asked
        );
        findings.push(finding("snapshot", "holes", message));
    }
    if declared.visible == Visibility::Commit && counts.stale > 0 {
        let message = format!(
            "{} of {} answers did not show documents that were acknowledged up to {:.1} ms before, although they \
             are declared to be visible at once",
            counts.stale,
            counts.asked,
            judged.max_stale_ns() as f64 / 1e6
        );
        findings.push(finding("freshness", "stale", message));
    }
    findings
}
