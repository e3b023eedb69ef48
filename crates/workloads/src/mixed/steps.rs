//! Steps of a part of a round: what happens on the same data, one after the other.

use jsonathlon_schema::record::Phase;

use super::jobs::Floors;
use super::round_log::Purpose;
use super::turn::{MixedTarget, MixedTurn, PartLog};
use crate::recorder::TrialRecorder;
use crate::session::TrialError;

/// What happens next in a part of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartStep {
    /// One set of questions by each stream, not measured.
    WarmUp,
    /// Streams in a phase without writers at work.
    Ask(Phase),
    /// Streams on data as loaded that are not asked what they see.
    AskPlainly,
    /// Streams while writers insert at their rate.
    AskBesideWriters,
    /// Writers at full speed, while nothing is asked.
    Write,
    /// The system does what it does by itself after a while.
    Drain,
    /// A look at what is there after the writers' end, by questions in this phase.
    CheckEnd(Phase),
}

/// Steps of the part with these phases, in a round from 1.
fn steps_of(phases: &[Phase], round: u32) -> Vec<PartStep> {
    use PartStep::{Ask, AskBesideWriters, AskPlainly, CheckEnd, Drain, WarmUp, Write};
    match phases {
        // Questions of some systems see documents only after a refresh, which is part of draining.
        [Phase::Alone] => vec![Write, Drain, CheckEnd(Phase::Alone)],
        [Phase::Still] => vec![WarmUp, Ask(Phase::Still)],
        [Phase::Both] => vec![WarmUp, AskBesideWriters, Drain, CheckEnd(Phase::Both)],
        _ => {
            let mut still = [Ask(Phase::Still), AskPlainly];
            if round.is_multiple_of(2) {
                // What is first finds the system colder, so each of the two is first in half of the rounds.
                still.reverse();
            }
            let beside = [AskBesideWriters, Ask(Phase::Left)];
            let grown = [Drain, CheckEnd(Phase::Drained), Ask(Phase::Drained)];
            [WarmUp].into_iter().chain(still).chain(beside).chain(grown).collect()
        }
    }
}

impl<'d, 'a> MixedTurn<'d, '_, 'a> {
    /// Opens the session and takes all steps of a part. What its clients did is in `part`, also after an error.
    pub(super) fn measure(
        &self,
        phases: &[Phase],
        part: &mut PartLog,
        target: &mut MixedTarget<'d, 'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        let jobs = self.jobs(target)?;
        for step in steps_of(phases, self.round) {
            let (measured, job) = match step {
                PartStep::WarmUp => {
                    self.warm_up(&jobs, target, recorder)?;
                    continue;
                }
                PartStep::Drain => {
                    part.drained_s = Some(self.drain(target)?);
                    continue;
                }
                PartStep::CheckEnd(phase) => {
                    self.check_end(phase, &jobs, part, target, recorder)?;
                    continue;
                }
                PartStep::Ask(phase) => {
                    ((phase, Purpose::Measured), jobs.ask(last_floors(part, jobs.no_floors())))
                }
                PartStep::AskPlainly => ((Phase::Still, Purpose::Plain), jobs.ask_plainly()),
                PartStep::AskBesideWriters => ((Phase::Both, Purpose::Measured), jobs.ask_beside_writers()),
                PartStep::Write => ((Phase::Alone, Purpose::Measured), jobs.write()),
            };
            self.run_job(measured, &job, part, target, recorder)?;
        }
        Ok(())
    }
}

/// Floors with which each stream goes on after the last measured job; `none` if it has no such stream.
fn last_floors(part: &PartLog, none: Floors) -> Floors {
    let job = part.log.jobs.iter().rev().find(|job| job.purpose == Purpose::Measured);
    let streams = job.map(|job| job.report.streams.as_slice()).unwrap_or_default();
    let last = |(stream, none): (usize, Vec<u64>)| {
        streams.get(stream).map(|log| log.floors.clone()).filter(|floors| !floors.is_empty()).unwrap_or(none)
    };
    none.into_iter().enumerate().map(last).collect()
}

#[cfg(test)]
mod tests {
    use super::PartStep::{Ask, AskBesideWriters, AskPlainly, CheckEnd, Drain, WarmUp, Write};
    use super::*;
    use crate::mixed::trials::ASKING_PHASES;

    #[test]
    fn what_comes_first_on_still_data_changes_with_the_round() {
        let whole = |first, second| {
            let left = [AskBesideWriters, Ask(Phase::Left), Drain, CheckEnd(Phase::Drained)];
            [[WarmUp, first, second].as_slice(), &left, &[Ask(Phase::Drained)]].concat()
        };
        assert_eq!(steps_of(&ASKING_PHASES, 1), whole(Ask(Phase::Still), AskPlainly));
        assert_eq!(steps_of(&ASKING_PHASES, 2), whole(AskPlainly, Ask(Phase::Still)));
    }

    #[test]
    fn whatever_was_inserted_is_drained_and_checked() {
        for phases in [ASKING_PHASES.as_slice(), &[Phase::Alone], &[Phase::Both]] {
            let steps = steps_of(phases, 1);
            let position = |wanted: fn(&PartStep) -> bool| steps.iter().position(wanted).unwrap();
            let inserted = position(|step| matches!(step, AskBesideWriters | Write));
            let checked = position(|step| matches!(step, CheckEnd(_)));
            assert!(inserted < position(|step| *step == Drain), "{steps:?}");
            assert_eq!(checked, position(|step| *step == Drain) + 1, "{steps:?}");
        }
        assert_eq!(steps_of(&[Phase::Still], 1), [WarmUp, Ask(Phase::Still)]);
    }
}
