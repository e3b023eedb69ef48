//! Metrics of the questions of one phase, with the growth of the data taken out.

use std::collections::BTreeMap;

use jsonathlon_dataset::questions::Question;
use jsonathlon_loadgen::mixed::report::{QuestionLog, StreamLog};
use jsonathlon_mixed::{Judgement, QuestionVerdict, VerdictCounts};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{Metrics, TrialSecond, Verdict};
use jsonathlon_stats::growth::Growth;
use jsonathlon_stats::histogram::Histogram;
use jsonathlon_stats::window::Window;

use super::round_log::JobLog;
use super::trials::QUESTIONS;

const SECOND_NS: u64 = 1_000_000_000;

/// Questions of one phase with their judgements.
#[derive(Clone, Copy)]
pub(super) struct JudgedQuestions<'r> {
    pub(super) job: &'r JobLog,
    pub(super) judgements: &'r [Judgement],
    pub(super) window: Window,
    pub(super) growth: Growth,
}

impl<'r> JudgedQuestions<'r> {
    /// Questions, all or one of the challenge's, with their judgements.
    fn of(&self, question: Option<Question>) -> impl Iterator<Item = (&'r QuestionLog, &'r Judgement)> {
        let all = self.job.questions().map(|(_, log)| log).zip(self.judgements);
        all.filter(move |(log, _)| question.is_none_or(|question| log.question == question))
    }

    /// Number of questions of the phase, in the window or not.
    pub(super) fn count(&self, question: Option<Question>) -> usize {
        self.of(question).count()
    }

    /// Questions per hour, as if no documents had come in: of all questions or of one.
    ///
    /// The window cuts sets, so it holds more of some questions than of others, and cheap ones would raise the rate.
    /// The rate of all is therefore that of streams which ask whole sets of questions with these mean times.
    pub(super) fn per_hour(&self, question: Option<Question>) -> f64 {
        let means: Vec<f64> = QUESTIONS.into_iter().filter_map(|question| self.mean_s(question)).collect();
        let set_s: f64 = means.iter().sum();
        let streams = self.job.report.streams.len() as f64;
        match question {
            _ if set_s <= 0.0 => 0.0,
            None => 3_600.0 * streams * means.len() as f64 / set_s,
            Some(question) if self.mean_s(question).is_some() => 3_600.0 * streams / set_s,
            Some(_) => 0.0,
        }
    }

    /// Mean time of a question in seconds, as if no documents had come in. `None` if it was not asked in the window.
    ///
    /// A question at an edge of the window counts by the share of its time within it, so that long questions do not
    /// bias the mean.
    fn mean_s(&self, question: Question) -> Option<f64> {
        let (mut count, mut sum_ns) = (0.0, 0.0);
        for (log, judgement) in self.of(Some(question)) {
            let share = self.window.share(log.start_ns, log.end_ns);
            let measured = log.end_ns.saturating_sub(log.start_ns) as f64;
            count += share;
            sum_ns += share * self.growth.latency(measured, judgement.seen_documents);
        }
        (count > 0.0).then(|| sum_ns / count / 1e9)
    }

    /// Work of the slowest stream ÷ that of the fastest one. `None` for a single stream.
    ///
    /// Streams ask in different orders, so that the window holds more cheap questions of one and more dear ones of
    /// another. Each question therefore counts with its mean time over all streams.
    pub(super) fn fairness(&self) -> Option<f64> {
        let streams = &self.job.report.streams;
        if streams.len() < 2 {
            return None;
        }
        let share = |log: &QuestionLog| self.window.share(log.start_ns, log.end_ns);
        let mut means: BTreeMap<Question, (f64, f64)> = BTreeMap::new();
        for log in streams.iter().flat_map(|stream| &stream.questions) {
            let (count, sum_ns) = means.entry(log.question).or_default();
            *count += share(log);
            *sum_ns += share(log) * log.end_ns.saturating_sub(log.start_ns) as f64;
        }
        let mean_ns = |question: Question| match means.get(&question) {
            Some((count, sum_ns)) if *count > 0.0 => sum_ns / count,
            _ => 0.0,
        };
        let work = |stream: &StreamLog| -> f64 {
            stream.questions.iter().map(|log| share(log) * mean_ns(log.question)).sum()
        };
        let rates: Vec<f64> = streams.iter().map(work).collect();
        let fastest = rates.iter().copied().fold(0.0, f64::max);
        let slowest = rates.into_iter().fold(f64::INFINITY, f64::min);
        (fastest > 0.0).then(|| slowest / fastest)
    }

    /// Times of the questions of which at least half lies in the window, as if no documents had come in. One that
    /// begins when the window is about to end would show the time without writers.
    pub(super) fn times(&self, question: Option<Question>) -> Histogram {
        let mut times = Histogram::new();
        let is_inside = |log: &QuestionLog| self.window.holds_half(log.start_ns, log.end_ns);
        for (log, judgement) in self.of(question).filter(|(log, _)| is_inside(log)) {
            let measured = log.end_ns.saturating_sub(log.start_ns) as f64;
            times.record_ns(self.growth.latency(measured, judgement.seen_documents).round() as u64);
        }
        times
    }

    /// Questions that began in the window.
    fn begun_in_window(
        &self,
        question: Option<Question>,
    ) -> impl Iterator<Item = (&'r QuestionLog, &'r Judgement)> {
        let window = self.window;
        self.of(question).filter(move |(log, _)| window.contains(log.start_ns))
    }

    /// Worst verdict on the answers: approximate before exact, unverified for answers of no single moment.
    pub(super) fn verdict(&self, question: Option<Question>) -> Verdict {
        let verdict = |judgement: &Judgement| match judgement.verdict {
            QuestionVerdict::Exact => Verdict::Exact,
            QuestionVerdict::Approximate { .. } => Verdict::Approximate,
            QuestionVerdict::Bounded => Verdict::Unverified,
            QuestionVerdict::Wrong(_) => Verdict::Wrong,
        };
        self.of(question).map(|(_, judgement)| verdict(judgement)).max().unwrap_or(Verdict::Unverified)
    }

    /// Numbers of answers by verdict, and of those with a peculiarity.
    pub(super) fn counts(&self, question: Option<Question>) -> VerdictCounts {
        VerdictCounts::of(self.of(question).map(|(_, judgement)| judgement))
    }

    /// Longest staleness in nanoseconds.
    pub(super) fn max_stale_ns(&self) -> u64 {
        self.of(None).map(|(_, judgement)| judgement.stale_ns).max().unwrap_or(0)
    }

    /// Metrics of all questions or of one. Staleness is part of them if writers were at
    /// work.
    pub(super) fn metrics(&self, question: Option<Question>, has_writers: bool) -> Metrics {
        let counts = self.counts(question);
        let mut metrics = Metrics::from([
            metric::QUESTIONS_PER_H.with_value(self.per_hour(question)),
            metric::MEASURED_S.with_value(self.window.seconds()),
            metric::EXACT.with_value((counts.exact + counts.approximate) as f64),
            metric::WRONG_ANSWERS.with_value(counts.wrong as f64),
            metric::BOUNDED.with_value(counts.bounded as f64),
            metric::HOLES.with_value(counts.holes as f64),
            metric::TORN.with_value(counts.torn as f64),
            metric::WENT_BACK.with_value(counts.went_back as f64),
        ]);
        let times = self.times(question);
        if times.count() > 0 {
            metrics.insert(metric::QUESTION_P50_US.name.to_owned(), times.quantile_us(0.5));
            metrics.insert(metric::QUESTION_P95_US.name.to_owned(), times.quantile_us(0.95));
        }
        if let Some(error) = self.max_error(question) {
            metrics.insert(metric::RELATIVE_ERROR.name.to_owned(), error);
        }
        if has_writers {
            metrics.extend(self.staleness(question));
        }
        metrics
    }

    /// Largest relative error of approximate answers. `None` if none is approximate.
    fn max_error(&self, question: Option<Question>) -> Option<f64> {
        let error = |judgement: &Judgement| match judgement.verdict {
            QuestionVerdict::Approximate { error } => Some(error),
            _ => None,
        };
        self.of(question).filter_map(|(_, judgement)| error(judgement)).reduce(f64::max)
    }

    fn staleness(&self, question: Option<Question>) -> Metrics {
        let stale = self.begun_in_window(question).map(|(_, judgement)| judgement.stale_ns).collect();
        let Some([p50, p95, longest]) = stale_quantiles_ms(stale, [0.5, 0.95, 1.0]) else {
            return Metrics::new();
        };
        Metrics::from([
            metric::STALE_P50_MS.with_value(p50),
            metric::STALE_P95_MS.with_value(p95),
            metric::STALE_MAX_MS.with_value(longest),
        ])
    }

    /// Questions that ended in each second of the phase, and if writers were at work the staleness of those that
    /// began in it.
    pub(super) fn per_second(&self, has_writers: bool) -> Vec<TrialSecond> {
        let mut seconds = blank_seconds(self.window);
        for (log, _) in self.of(None) {
            if let Some(second) = second_of(&mut seconds, log.end_ns) {
                second.operations += 1;
                second.longest_us =
                    second.longest_us.max(log.end_ns.saturating_sub(log.start_ns) as f64 / 1e3);
            }
        }
        if has_writers {
            self.add_staleness(&mut seconds);
        }
        seconds
    }

    fn add_staleness(&self, seconds: &mut [TrialSecond]) {
        for (number, second) in (0_u64..).zip(seconds) {
            let began = |log: &QuestionLog| log.start_ns / SECOND_NS == number;
            let stale = self.of(None).filter(|(log, _)| began(log)).map(|(_, judgement)| judgement.stale_ns);
            if let Some([p95, longest]) = stale_quantiles_ms(stale.collect(), [0.95, 1.0]) {
                (second.stale_p95_ms, second.stale_max_ms) = (Some(p95), Some(longest));
            }
        }
    }
}

/// Quantiles of staleness in milliseconds: of each share the smallest value that is not below it. `None` without any
/// value.
fn stale_quantiles_ms<const N: usize>(mut stale_ns: Vec<u64>, shares: [f64; N]) -> Option<[f64; N]> {
    stale_ns.sort_unstable();
    let last = stale_ns.len().checked_sub(1)?;
    Some(shares.map(|share| {
        let rank = (share * stale_ns.len() as f64).ceil() as usize;
        stale_ns.get(rank.saturating_sub(1).min(last)).map_or(0.0, |ns| *ns as f64 / 1e6)
    }))
}

/// Seconds of a phase without anything in them; those before the window are its warm-up.
pub(super) fn blank_seconds(window: Window) -> Vec<TrialSecond> {
    let second = |number: u64| TrialSecond {
        ramp: (number + 1) * SECOND_NS <= window.from_ns,
        ..TrialSecond::default()
    };
    (0..window.to_ns.div_ceil(SECOND_NS)).map(second).collect()
}

/// The second in which a time of the phase lies. `None` behind the end.
pub(super) fn second_of(seconds: &mut [TrialSecond], ns: u64) -> Option<&mut TrialSecond> {
    seconds.get_mut(usize::try_from(ns / SECOND_NS).ok()?)
}

#[cfg(test)]
mod tests {
    use jsonathlon_loadgen::mixed::report::MixedReport;
    use jsonathlon_schema::record::Phase;

    use super::super::round_log::Purpose;
    use super::*;

    fn job(times: &[(Question, u64, u64)]) -> JobLog {
        let questions = times.iter().map(|(question, start_ns, end_ns)| QuestionLog {
            question: *question,
            set: 0,
            start_ns: *start_ns,
            end_ns: *end_ns,
            floors: vec![0],
            seen: Vec::new(),
            unreadable: None,
            answer: 0,
        });
        let stream = StreamLog { questions: questions.collect(), ..StreamLog::default() };
        let report = MixedReport { streams: vec![stream], ..MixedReport::default() };
        JobLog { phase: Phase::Both, purpose: Purpose::Measured, report }
    }

    fn judgement(seen_documents: u64, stale_ns: u64) -> Judgement {
        Judgement {
            verdict: QuestionVerdict::Exact,
            has_holes: false,
            is_torn: false,
            went_back: false,
            stale_ns,
            seen_documents,
        }
    }

    #[test]
    fn growth_is_taken_out_of_times_and_rates() {
        let job = job(&[
            (Question::Q1, 0, SECOND_NS),
            (Question::Q2, SECOND_NS, 2 * SECOND_NS),
            (Question::Q1, 2 * SECOND_NS, 4 * SECOND_NS),
        ]);
        let judgements = [judgement(0, 0), judgement(0, 2_000_000), judgement(100, 7_000_000)];
        let window = Window { from_ns: SECOND_NS, to_ns: 3 * SECOND_NS };
        let judged = JudgedQuestions { job: &job, judgements: &judgements, window, growth: Growth::new(100) };
        // Both take a second, since twice the documents take two; one stream asks them in turn.
        assert!((judged.per_hour(None) - 3_600.0).abs() < 1e-6);
        assert!((judged.per_hour(Some(Question::Q2)) - 1_800.0).abs() < 1e-6);
        assert_eq!(judged.per_hour(Some(Question::Q3)), 0.0);
        let times = judged.times(Some(Question::Q1));
        assert_eq!(times.count(), 1);
        assert!((times.quantile_us(0.5) / 1e6 - 1.0).abs() < 0.01);
        let metrics = judged.metrics(None, true);
        assert_eq!(metrics[metric::EXACT.name], 3.0);
        assert_eq!((metrics[metric::STALE_P50_MS.name], metrics[metric::STALE_MAX_MS.name]), (2.0, 7.0));
        assert!(!judged.metrics(None, false).contains_key(metric::STALE_MAX_MS.name));
        let seconds: Vec<(u64, bool, Option<f64>)> = judged
            .per_second(true)
            .iter()
            .map(|second| (second.operations, second.ramp, second.stale_max_ms))
            .collect();
        // Questions count where they end, their staleness where they begin.
        let expected = [(0, true, Some(0.0)), (1, false, Some(2.0)), (1, false, Some(7.0))];
        assert_eq!(seconds, expected);
        assert!(judged.per_second(false).iter().all(|second| second.stale_max_ms.is_none()));
    }

    #[test]
    fn a_second_in_which_no_question_begins_has_no_staleness() {
        let job = job(&[(Question::Q1, 0, 3 * SECOND_NS), (Question::Q2, SECOND_NS / 2, SECOND_NS)]);
        let judgements = [judgement(0, 4_000_000), judgement(0, 9_000_000)];
        let window = Window { from_ns: 0, to_ns: 2 * SECOND_NS };
        let judged = JudgedQuestions { job: &job, judgements: &judgements, window, growth: Growth::new(1) };
        let stale: Vec<_> =
            judged.per_second(true).iter().map(|second| (second.stale_p95_ms, second.stale_max_ms)).collect();
        assert_eq!(stale, [(Some(9.0), Some(9.0)), (None, None)]);
        assert_eq!(
            stale_quantiles_ms((1..=20).map(|ms| ms * 1_000_000).collect(), [0.5, 0.95]),
            Some([10.0, 19.0])
        );
    }

    #[test]
    fn the_slowest_stream_is_compared_with_the_fastest() {
        let mut job = job(&[(Question::Q1, 0, 1), (Question::Q2, 1, 2), (Question::Q3, 2, 4)]);
        let window = Window { from_ns: 0, to_ns: 4 };
        let growth = Growth::new(1);
        assert_eq!(JudgedQuestions { job: &job, judgements: &[], window, growth }.fairness(), None);
        let slow = job.report.streams[0].questions[..2].to_vec();
        job.report.streams.push(StreamLog { questions: slow, ..StreamLog::default() });
        let fairness = JudgedQuestions { job: &job, judgements: &[], window, growth }.fairness().unwrap();
        // The slow one did not ask the question that takes half of the time.
        assert!((fairness - 0.5).abs() < 1e-12, "{fairness}");
    }

    #[test]
    fn streams_that_ask_in_another_order_are_equally_fast() {
        // Either stream asks a dear question of 4 s in which it could have asked four cheap ones.
        let cheap = |start: u64| (Question::Q1, start, start + 1);
        let mut job = job(&[cheap(0), cheap(1), cheap(2), cheap(3), (Question::Q2, 4, 8)]);
        let other = [(Question::Q2, 0, 4), cheap(4), cheap(5), cheap(6), cheap(7)];
        job.report.streams.extend(self::job(&other).report.streams);
        for to_ns in [4, 6, 8] {
            let window = Window { from_ns: 0, to_ns };
            let judged = JudgedQuestions { job: &job, judgements: &[], window, growth: Growth::new(1) };
            assert!((judged.fairness().unwrap() - 1.0).abs() < 1e-12, "until {to_ns}");
        }
    }

    #[test]
    fn the_rate_does_not_depend_on_where_the_window_cuts_a_set() {
        // Cheap questions take 10 ms, the dear one a second.
        let mut asked = Vec::new();
        let mut end_ns = 0;
        for _ in 0..4 {
            for question in QUESTIONS {
                let begin_ns = end_ns;
                end_ns += if question == Question::Q4 { SECOND_NS } else { SECOND_NS / 100 };
                asked.push((question, begin_ns, end_ns));
            }
        }
        let job = job(&asked);
        let judgements = vec![judgement(0, 0); asked.len()];
        for to_ns in [2_035_000_000, 2_500_000_000, 3_100_000_000, 3_150_000_000, end_ns] {
            let window = Window { from_ns: SECOND_NS / 20, to_ns };
            let judged =
                JudgedQuestions { job: &job, judgements: &judgements, window, growth: Growth::new(100) };
            let expected = 3_600.0 * 5.0 / 1.04;
            let rate = judged.per_hour(None);
            assert!((rate / expected - 1.0).abs() < 1e-9, "{rate} instead of {expected} until {to_ns}");
        }
    }

    #[test]
    fn the_worst_answer_decides() {
        let job = job(&[(Question::Q1, 0, 1), (Question::Q2, 1, 2), (Question::Q3, 2, 3)]);
        let with = |verdict| Judgement { verdict, ..judgement(0, 0) };
        let judgements = [
            with(QuestionVerdict::Approximate { error: 0.25 }),
            with(QuestionVerdict::Exact),
            with(QuestionVerdict::Bounded),
        ];
        let window = Window { from_ns: 0, to_ns: 3 };
        let judged = JudgedQuestions { job: &job, judgements: &judgements, window, growth: Growth::new(1) };
        assert_eq!(judged.verdict(None), Verdict::Unverified);
        assert_eq!(judged.verdict(Some(Question::Q1)), Verdict::Approximate);
        assert_eq!(judged.verdict(Some(Question::Q2)), Verdict::Exact);
        assert_eq!(judged.verdict(Some(Question::Q5)), Verdict::Unverified, "nothing was answered");
        assert_eq!(judged.metrics(None, false)[metric::RELATIVE_ERROR.name], 0.25);
    }
}
