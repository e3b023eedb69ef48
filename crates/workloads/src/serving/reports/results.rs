//! Turns what streams asked into trials: times, rates and verdicts of each question, and of all together.

use std::collections::BTreeMap;

use jsonathlon_loadgen::reports::log::{AskedReport, ReportOutcome, ReportsEnd, ReportsLog};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{
    Cell, Failure, FailureKind, Finding, JUDGED_AT_REST, Metrics, TOO_SHORT, Trial, Verdict,
};
use jsonathlon_schema::value::Row;
use jsonathlon_stats::histogram::Histogram;
use jsonathlon_stats::window::Window;

use crate::asking::AnswerCheck;
use crate::recorder::new_trial;

/// Histogram of the times of questions in trials.
const TIMES: &str = "question";

/// How the answers to one question are checked.
pub(in crate::serving) struct Checks<'c> {
    /// Compares rows with the expected answer.
    pub(in crate::serving) compare: &'c dyn Fn(&[Row]) -> AnswerCheck,
    /// Why rows can be no answer to the question, whatever the documents are; `None` if they can.
    pub(in crate::serving) shape_error: &'c dyn Fn(&[Row]) -> Option<String>,
    /// Verdict on the same statement at rest if clients change documents, so that answers have to differ. `None` if
    /// every answer must be the expected one.
    pub(in crate::serving) at_rest: Option<(Verdict, Option<String>)>,
}

/// Reports of one trial.
pub(in crate::serving) struct ReportResults<'r> {
    log: &'r ReportsLog,
    window: Window,
    /// Number of different questions of a set.
    questions: u32,
    /// What happened to the system if clients lost it; `None` otherwise.
    loss: Option<&'r str>,
    /// Share of the clients' arrivals that were answered. `None` without a rate.
    kept_share: Option<f64>,
}

impl<'r> ReportResults<'r> {
    pub(in crate::serving) fn new(
        log: &'r ReportsLog,
        questions: usize,
        loss: Option<&'r str>,
        kept_share: Option<f64>,
    ) -> Self {
        let window = Window { from_ns: log.window_start_ns, to_ns: log.window_end_ns };
        Self { log, window, questions: u32::try_from(questions).unwrap_or(u32::MAX), loss, kept_share }
    }

    fn asked(&self, question: u32) -> impl Iterator<Item = &'r AskedReport> + Clone {
        let asked = self.log.streams.iter().flat_map(|stream| &stream.asked);
        asked.filter(move |asked| asked.question == question)
    }

    /// Executions of a question of which a part lies in the window.
    fn in_window(&self, question: u32) -> impl Iterator<Item = &'r AskedReport> + Clone {
        let window = self.window;
        self.asked(question).filter(move |asked| window.share(asked.start_ns, asked.end_ns) > 0.0)
    }

    /// Mean time of a question in seconds; an execution at an edge of the window counts by its share within it. `None`
    /// if there was no answer in the window.
    fn mean_s(&self, question: u32) -> Option<f64> {
        let (mut count, mut sum_ns) = (0.0, 0.0);
        for asked in self.in_window(question).filter(is_answered) {
            let share = self.window.share(asked.start_ns, asked.end_ns);
            count += share;
            sum_ns += share * asked.end_ns.saturating_sub(asked.start_ns) as f64;
        }
        (count > 0.0).then(|| sum_ns / count / 1e9)
    }

    /// Questions per hour, of one or of all, if all streams asked whole sets with the mean times: the window holds
    /// more of some questions than of others, and cheap ones would raise the rate. `None` without an answer.
    fn per_hour(&self, question: Option<u32>) -> Option<f64> {
        let means: Vec<f64> = (0..self.questions).filter_map(|question| self.mean_s(question)).collect();
        let set_s: f64 = means.iter().sum();
        if set_s <= 0.0 {
            return None;
        }
        let sets_per_hour = 3_600.0 * self.log.streams.len() as f64 / set_s;
        match question {
            None => Some(sets_per_hour * means.len() as f64),
            Some(question) => self.mean_s(question).map(|_| sets_per_hour),
        }
    }

    /// Times of the answered executions of which at least half lies in the window. The last one of a stream begins
    /// when the window is about to end, and would show the time without clients.
    fn times(&self, question: u32) -> Histogram {
        let mut times = Histogram::new();
        let inside =
            self.asked(question).filter(|asked| self.window.holds_half(asked.start_ns, asked.end_ns));
        for asked in inside.filter(is_answered) {
            times.record_ns(asked.end_ns.saturating_sub(asked.start_ns));
        }
        times
    }

    /// Trial of the question with this index in the job.
    pub(in crate::serving) fn question_trial(
        &self,
        cell: &Cell,
        round: u32,
        question: u32,
        checks: &Checks<'_>,
    ) -> Trial {
        let mut trial = new_trial(cell, round, 0);
        let times = self.times(question);
        let failures: Vec<&String> = self.in_window(question).filter_map(failure_text).collect();
        trial.metrics = self.common_metrics(failures.len());
        let judgement = self.judge(question, checks);
        let answers = self.in_window(question).filter(is_answered).count();
        trial.metrics.extend([
            metric::ANSWERS.with_value(answers as f64),
            metric::EXACT.with_value(judgement.exact as f64),
        ]);
        trial.findings = self.findings();
        (trial.verdict, trial.failure) = match (judgement.wrong, times.count()) {
            (Some(error), _) => (Verdict::Wrong, Some(Failure::new(FailureKind::Wrong, error))),
            (None, 0) => {
                let failure = self.missing_answer(question, failures.first().copied());
                let is_late = failure.kind == FailureKind::Timeout;
                (if is_late { Verdict::Timeout } else { Verdict::Failed }, Some(failure))
            }
            (None, _) => match self.partial_failure(question, &failures) {
                Some(failure) => (judgement.verdict.max(Verdict::Partial), Some(failure)),
                None => (judgement.verdict, None),
            },
        };
        if checks.at_rest.is_some() && trial.verdict.has_time() {
            trial.findings.push(judged_at_rest(trial.verdict));
        }
        if trial.verdict.has_time() && times.count() > 0 {
            trial.metrics.extend([
                metric::QUESTION_P50_US.with_value(times.quantile_us(0.5)),
                metric::QUESTION_P95_US.with_value(times.quantile_us(0.95)),
            ]);
            trial
                .metrics
                .extend(self.per_hour(Some(question)).map(|rate| metric::QUESTIONS_PER_H.with_value(rate)));
            if let Some(error) = judgement.relative_error {
                trial.metrics.extend([metric::RELATIVE_ERROR.with_value(error)]);
            }
            trial.histograms.insert(TIMES.to_owned(), times.to_text());
        }
        trial
    }

    /// Trial of all questions together, of which these are the trials. `planned` is the number of questions that a set
    /// has on a system that can be asked all.
    pub(in crate::serving) fn all_trial(
        &self,
        cell: &Cell,
        round: u32,
        trials: &[Trial],
        planned: usize,
    ) -> Trial {
        let mut trial = new_trial(cell, round, 0);
        let errors: usize = (0..self.questions)
            .map(|question| self.in_window(question).filter_map(failure_text).count())
            .sum();
        trial.metrics = self.common_metrics(errors);
        trial.findings = self.findings();
        let timed = trials.iter().filter(|trial| trial.verdict.has_time());
        let worst = timed.clone().map(|trial| trial.verdict).max();
        let answered = timed.count();
        let failed = trials.iter().find(|trial| !trial.verdict.has_time());
        let error =
            |trial: &Trial| trial.failure.as_ref().map(|failure| failure.error.clone()).unwrap_or_default();
        let kind =
            |trial: &Trial| trial.failure.as_ref().map_or(FailureKind::Refused, |failure| failure.kind);
        (trial.verdict, trial.failure) = match (worst, failed) {
            (Some(worst), None) if answered == planned => (worst, None),
            (Some(worst), failed) => {
                let example = failed.map(|trial| format!("; {}: {}", trial.cell.step, error(trial)));
                let text = format!("{answered} of {planned} questions{}", example.unwrap_or_default());
                let failure = Failure::new(failed.map_or(FailureKind::Refused, kind), text);
                (worst.max(Verdict::Partial), Some(failure))
            }
            (None, Some(failed)) => (failed.verdict, failed.failure.clone()),
            (None, None) => {
                (Verdict::Failed, Some(Failure::new(FailureKind::Refused, "no question was asked")))
            }
        };
        let is_of_rest =
            |trial: &Trial| trial.findings.iter().any(|finding| finding.subject == JUDGED_AT_REST);
        if trial.verdict.has_time() && trials.iter().any(is_of_rest) {
            trial.findings.push(judged_at_rest(trial.verdict));
        }
        if trial.verdict.has_time() {
            trial.metrics.extend(self.per_hour(None).map(|rate| metric::QUESTIONS_PER_H.with_value(rate)));
        }
        trial
    }

    fn common_metrics(&self, errors: usize) -> Metrics {
        let mut metrics = Metrics::from([
            metric::MEASURED_S.with_value(self.window.seconds()),
            metric::ERRORS.with_value(errors as f64),
        ]);
        metrics.extend(self.kept_share.map(|share| metric::KEPT_SHARE.with_value(share)));
        metrics
    }

    /// Says if the window ended before each stream had asked a whole set.
    fn findings(&self) -> Vec<Finding> {
        let is_short = self.log.ended_by == ReportsEnd::NoWholeSet;
        let message = format!("a set of the questions takes longer than {:.0} s", self.window.seconds());
        is_short
            .then(|| Finding { message: Some(message), ..Finding::new(TOO_SHORT, "no whole set") })
            .into_iter()
            .collect()
    }

    /// Checks all answers to a question, those of the warm-up included; each different one once.
    fn judge(&self, question: u32, checks: &Checks<'_>) -> Judgement {
        let mut known: BTreeMap<u32, AnswerCheck> = BTreeMap::new();
        let mut judgement =
            Judgement { verdict: Verdict::Exact, wrong: None, exact: 0, relative_error: None };
        for asked in self.asked(question) {
            let ReportOutcome::Answer(number) = &asked.outcome else {
                if asked.outcome == ReportOutcome::AnswerNotKept {
                    judgement.verdict = judgement.verdict.max(Verdict::Unverified);
                }
                continue;
            };
            let rows = self.log.answers.get(*number as usize).map_or(&[][..], Vec::as_slice);
            if let Some(error) = (checks.shape_error)(rows) {
                judgement.wrong.get_or_insert(error);
                continue;
            }
            let check = known.entry(*number).or_insert_with(|| (checks.compare)(rows));
            let is_expected = matches!(check.verdict, Verdict::Exact | Verdict::Approximate);
            if is_expected && self.window.share(asked.start_ns, asked.end_ns) > 0.0 {
                judgement.exact += 1;
            }
            if checks.at_rest.is_none() {
                judgement.verdict = judgement.verdict.max(check.verdict);
                if let Some(difference) = &check.difference {
                    judgement.wrong.get_or_insert_with(|| difference.clone());
                }
            }
            judgement.relative_error =
                judgement.relative_error.into_iter().chain(check.approximate_error).reduce(f64::max);
        }
        if let Some((verdict, reason)) = &checks.at_rest {
            judgement.verdict = *verdict;
            judgement.relative_error = None;
            if *verdict == Verdict::Wrong {
                judgement.wrong.get_or_insert_with(|| reason.clone().unwrap_or_default());
            }
        }
        judgement
    }

    /// Why a question has no time.
    fn missing_answer(&self, question: u32, failure: Option<&String>) -> Failure {
        if let Some(loss) = self.loss {
            return Failure::new(FailureKind::Crash, loss);
        }
        if let Some(message) = failure {
            return Failure::new(FailureKind::Refused, message.clone());
        }
        let stream_error = self.log.streams.iter().find_map(|stream| stream.error.as_ref());
        if let Some(message) = stream_error {
            return Failure::new(FailureKind::Crash, message.clone());
        }
        let is_unfinished = self.unfinished(question);
        let text = match is_unfinished {
            true => "it was not answered until it was given up".to_owned(),
            false => format!(
                "none of its answers has half of its time in the window of {:.0} s",
                self.window.seconds()
            ),
        };
        Failure::new(FailureKind::Timeout, text)
    }

    fn unfinished(&self, question: u32) -> bool {
        self.log.streams.iter().any(|stream| stream.unfinished.is_some_and(|(index, _)| index == question))
    }

    /// Why a question that has times was not always answered; `None` if it was.
    fn partial_failure(&self, question: u32, failures: &[&String]) -> Option<Failure> {
        if let Some(loss) = self.loss {
            return Some(Failure::new(FailureKind::Crash, loss));
        }
        if let Some(message) = failures.first() {
            let asked = self.in_window(question).count();
            let text = format!("{} of {asked} executions failed: {message}", failures.len());
            return Some(Failure::new(FailureKind::Refused, text));
        }
        self.unfinished(question).then(|| {
            Failure::new(FailureKind::Timeout, "one execution was not answered until it was given up")
        })
    }
}

/// Result of checking all answers to a question.
#[derive(Debug)]
struct Judgement {
    verdict: Verdict,
    /// First answer that is wrong, in words. `None` if none is.
    wrong: Option<String>,
    /// Answers in the window that equal the expected one.
    exact: usize,
    /// Largest error of approximate columns. `None` if none was compared.
    relative_error: Option<f64>,
}

/// Says that a verdict was not reached by the answers beside the load.
fn judged_at_rest(verdict: Verdict) -> Finding {
    let message = "clients changed the documents, so these answers were only checked for columns and types; the verdict \
                   is that of the same statement before the trials";
    Finding { message: Some(message.to_owned()), ..Finding::new(JUDGED_AT_REST, verdict.word()) }
}

fn is_answered(asked: &&AskedReport) -> bool {
    !matches!(asked.outcome, ReportOutcome::Failed(_))
}

fn failure_text(asked: &AskedReport) -> Option<&String> {
    match &asked.outcome {
        ReportOutcome::Failed(message) => Some(message),
        ReportOutcome::Answer(_) | ReportOutcome::AnswerNotKept => None,
    }
}

#[cfg(test)]
mod tests {
    use jsonathlon_loadgen::reports::log::StreamLog;
    use jsonathlon_schema::value::Value;

    use super::*;
    use crate::cells::control_cell;

    const MS: u64 = 1_000_000;

    /// One question of a stream, with its times in milliseconds.
    fn asked(question: u32, start: u64, end: u64, outcome: ReportOutcome) -> AskedReport {
        AskedReport { question, start_ns: start * MS, end_ns: end * MS, outcome }
    }

    /// A stream within a window of one to two seconds.
    fn log(asked: Vec<AskedReport>) -> ReportsLog {
        ReportsLog {
            window_start_ns: 1_000 * MS,
            window_end_ns: 2_000 * MS,
            streams: vec![StreamLog { asked, ..StreamLog::default() }],
            answers: vec![vec![vec![Value::Int(1)]], vec![vec![Value::Int(2)]]],
            ..ReportsLog::default()
        }
    }

    /// Compares with the answer 1; `at_rest` is there if clients changed documents.
    fn trial(log: &ReportsLog, question: u32, at_rest: Option<Verdict>) -> Trial {
        let checks = Checks {
            compare: &|rows| match rows {
                [row] if *row == [Value::Int(1)] => {
                    AnswerCheck { verdict: Verdict::Exact, approximate_error: None, difference: None }
                }
                _ => AnswerCheck::wrong("it is not 1".to_owned()),
            },
            shape_error: &|rows| rows.is_empty().then(|| "there is no row".to_owned()),
            at_rest: at_rest.map(|verdict| (verdict, None)),
        };
        let results = ReportResults::new(log, 2, None, None);
        results.question_trial(&control_cell("serving"), 1, question, &checks)
    }

    fn metric(trial: &Trial, metric: metric::MetricDef) -> f64 {
        trial.metrics[metric.name]
    }

    #[test]
    fn times_are_of_the_window_and_rates_of_whole_sets() {
        let answer = || ReportOutcome::Answer(0);
        // The first execution began before the window, and half of it is inside.
        let log = log(vec![
            asked(0, 900, 1_100, answer()),
            asked(1, 1_100, 1_400, answer()),
            asked(0, 1_400, 1_600, answer()),
            asked(1, 1_600, 1_900, answer()),
        ]);
        let first = trial(&log, 0, None);
        assert_eq!((first.verdict, first.failure.clone()), (Verdict::Exact, None));
        assert!((metric(&first, metric::QUESTION_P50_US) / 200_000.0 - 1.0).abs() < 0.01);
        // A set takes 200 and 300 ms.
        assert!((metric(&first, metric::QUESTIONS_PER_H) - 7_200.0).abs() < 1.0);
        assert_eq!((metric(&first, metric::ANSWERS), metric(&first, metric::EXACT)), (2.0, 2.0));
        let trials = [first, trial(&log, 1, None)];
        let results = ReportResults::new(&log, 2, None, Some(0.97));
        let all = results.all_trial(&control_cell("serving"), 1, &trials, 2);
        assert_eq!(all.verdict, Verdict::Exact);
        assert!((metric(&all, metric::QUESTIONS_PER_H) - 14_400.0).abs() < 1.0);
        assert_eq!(metric(&all, metric::KEPT_SHARE), 0.97);
        let incomplete = results.all_trial(&control_cell("serving"), 1, &trials, 3);
        assert_eq!(incomplete.verdict, Verdict::Partial);
    }

    #[test]
    fn another_answer_is_wrong_unless_clients_change_documents() {
        let log = log(vec![
            asked(0, 100, 200, ReportOutcome::Answer(1)),
            asked(0, 1_100, 1_200, ReportOutcome::Answer(0)),
        ]);
        let wrong = trial(&log, 0, None);
        assert_eq!((wrong.verdict, wrong.failure.unwrap().error.as_str()), (Verdict::Wrong, "it is not 1"));
        assert!(wrong.histograms.is_empty() && !wrong.metrics.contains_key(metric::QUESTION_P50_US.name));
        let changed = trial(&log, 0, Some(Verdict::Exact));
        assert_eq!((changed.verdict, metric(&changed, metric::EXACT)), (Verdict::Exact, 1.0));
        assert!(changed.metrics.contains_key(metric::QUESTION_P50_US.name));
        let is_told = |trial: &Trial| trial.findings.iter().any(|finding| finding.subject == JUDGED_AT_REST);
        assert!(is_told(&changed) && !is_told(&trial(&log, 0, None)));
        let results = ReportResults::new(&log, 1, None, None);
        assert!(is_told(&results.all_trial(&control_cell("serving"), 1, &[changed], 1)));
        // A statement that was wrong at rest stays wrong.
        assert_eq!(trial(&log, 0, Some(Verdict::Wrong)).verdict, Verdict::Wrong);
        assert_eq!(trial(&log, 0, Some(Verdict::Disputed)).verdict, Verdict::Disputed);
        // What cannot be an answer is wrong whatever the documents are.
        let mut shapeless = log.clone();
        shapeless.answers[1].clear();
        let failure = trial(&shapeless, 0, Some(Verdict::Exact)).failure.unwrap();
        assert_eq!((failure.kind, failure.error.as_str()), (FailureKind::Wrong, "there is no row"));
    }

    #[test]
    fn what_fails_or_never_ends_has_no_time_or_a_part_of_it() {
        let failed = |start| asked(0, start, start + 10, ReportOutcome::Failed("no such table".to_owned()));
        let refused = trial(&log(vec![failed(1_100), failed(1_200)]), 0, None);
        let failure = refused.failure.clone().unwrap();
        assert_eq!((refused.verdict, failure.error.as_str()), (Verdict::Failed, "no such table"));
        assert_eq!(metric(&refused, metric::ERRORS), 2.0);
        let partial =
            trial(&log(vec![asked(0, 1_000, 1_100, ReportOutcome::Answer(0)), failed(1_200)]), 0, None);
        let failure = partial.failure.clone().unwrap();
        assert_eq!(partial.verdict, Verdict::Partial);
        assert_eq!(failure.error, "1 of 2 executions failed: no such table");
        let mut late = log(Vec::new());
        late.streams[0].unfinished = Some((0, 1_100 * MS));
        late.ended_by = ReportsEnd::NoWholeSet;
        let unfinished = trial(&late, 0, None);
        assert_eq!(unfinished.verdict, Verdict::Timeout);
        assert!(unfinished.failure.unwrap().error.contains("until it was given up"));
        assert_eq!(unfinished.findings[0].subject, TOO_SHORT);
        let never = trial(&late, 1, None).failure.unwrap();
        assert!(never.error.contains("half of its time in the window of 1 s"), "{}", never.error);
    }

    #[test]
    fn an_execution_that_begins_when_the_window_ends_shows_no_time_beside_the_load() {
        // The window lasted until the first execution had ended. The next one began at once, and clients had gone.
        let loaded = asked(0, 1_010, 1_980, ReportOutcome::Answer(0));
        let unloaded = asked(0, 1_980, 2_180, ReportOutcome::Answer(0));
        let beside = trial(&log(vec![loaded, unloaded.clone()]), 0, None);
        for metric in [metric::QUESTION_P50_US, metric::QUESTION_P95_US] {
            assert!((beside.metrics[metric.name] / 970_000.0 - 1.0).abs() < 0.01, "{:?}", beside.metrics);
        }
        assert_eq!(metric(&beside, metric::ANSWERS), 2.0);
        // Most of the time of a question that is longer than the window may lie without clients too.
        let longer = asked(0, 1_100, 3_100, ReportOutcome::Answer(0));
        let mut short = log(vec![longer, unloaded]);
        short.ended_by = ReportsEnd::NoWholeSet;
        let none = trial(&short, 0, None);
        assert_eq!((none.verdict, none.findings[0].subject.as_str()), (Verdict::Timeout, TOO_SHORT));
        assert!(!none.metrics.contains_key(metric::QUESTION_P50_US.name) && none.histograms.is_empty());
    }

    #[test]
    fn a_server_that_ended_makes_its_reports_partial() {
        let log = log(vec![asked(0, 1_000, 1_100, ReportOutcome::Answer(0))]);
        let compare =
            |_: &[Row]| AnswerCheck { verdict: Verdict::Exact, approximate_error: None, difference: None };
        let checks = Checks { compare: &compare, shape_error: &|_| None, at_rest: None };
        let results = ReportResults::new(&log, 1, Some("it ended"), None);
        let trial = results.question_trial(&control_cell("serving"), 1, 0, &checks);
        let failure = trial.failure.unwrap();
        assert_eq!((trial.verdict, failure.kind), (Verdict::Partial, FailureKind::Crash));
    }
}
