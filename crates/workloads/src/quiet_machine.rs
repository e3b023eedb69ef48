//! Other programs that use the processors: a warning before the run, or waiting until they are done.

use std::time::Duration;

use jsonathlon_telemetry::clock::{Clock, MonotonicClock};
use jsonathlon_telemetry::foreign_load::{ForeignLoad, ForeignLoadMeter};

use crate::RunError;
use crate::expected_time::rough_duration;
use crate::observer::{Activity, Observer, RunEvent};

/// Time for which a machine must be quiet without a break before the waiting ends.
const QUIET_TIME: Duration = Duration::from_secs(3);

/// What a run does if other programs use the processors when it is about to begin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BusyMachinePolicy {
    /// Does not look, because no times are compared.
    Ignore,
    /// Warns once if the run measures times, and begins.
    #[default]
    Warn,
    /// Waits until the machine is quiet, at most this long. Then begins, with the warning if it is not quiet.
    Wait(Duration),
}

/// Warns about other programs that use the processors, or waits until they are done, as `policy` says.
///
/// # Errors
/// [`RunError::Interrupted`] if `cancelled` returned `true` meanwhile.
pub(crate) fn check_machine(
    policy: BusyMachinePolicy,
    observer: &mut dyn Observer,
    cancelled: &dyn Fn() -> bool,
) -> Result<(), RunError> {
    let (meter, clock) = (ForeignLoadMeter::default(), MonotonicClock::new());
    // Without `/proc`, nothing is known of other programs.
    let mut measure = || meter.measure(&clock, cancelled).ok().flatten();
    check(policy, &clock, &mut measure, observer);
    if cancelled() { Err(RunError::Interrupted) } else { Ok(()) }
}

/// `measure` takes some time by `clock`; it returns `None` if nothing can be known, or upon cancellation.
fn check(
    policy: BusyMachinePolicy,
    clock: &dyn Clock,
    measure: &mut dyn FnMut() -> Option<ForeignLoad>,
    observer: &mut dyn Observer,
) {
    let (load, waited) = match policy {
        BusyMachinePolicy::Ignore => return,
        BusyMachinePolicy::Warn => (measure(), None),
        BusyMachinePolicy::Wait(limit) => (wait(limit, clock, measure, observer), Some(limit)),
    };
    if let Some(load) = load.filter(|load| !load.is_quiet()) {
        observer.event(&RunEvent::Warning(&warning(&load, waited)));
    }
}

/// Waits until the machine has been quiet for [`QUIET_TIME`], at most `limit`. Returns the last measurement.
fn wait(
    limit: Duration,
    clock: &dyn Clock,
    measure: &mut dyn FnMut() -> Option<ForeignLoad>,
    observer: &mut dyn Observer,
) -> Option<ForeignLoad> {
    let start = clock.now();
    let mut quiet_since = None;
    let mut is_announced = false;
    loop {
        let before = clock.now();
        let load = measure()?;
        let waited = clock.now().saturating_sub(start);
        if load.is_quiet() {
            let since = *quiet_since.get_or_insert(before);
            if clock.now().saturating_sub(since) >= QUIET_TIME {
                if is_announced {
                    let text =
                        format!("the machine is quiet, after {}", rough_duration(waited.as_secs_f64()));
                    observer.event(&RunEvent::Schedule(&text));
                }
                return Some(load);
            }
        } else {
            quiet_since = None;
            if !is_announced {
                is_announced = true;
                let limit = rough_duration(limit.as_secs_f64());
                let description =
                    format!("waiting for a quiet machine, {limit} at most: {}", describe(&load));
                observer.event(&RunEvent::Began { activity: Activity::Waiting, description: &description });
            }
        }
        if waited >= limit {
            return Some(load);
        }
        if is_announced {
            let (done, total) = (waited.as_secs(), Some(limit.as_secs()));
            observer.event(&RunEvent::Progress { done, total, unit: "s" });
        }
    }
}

/// Text on what uses the processors, such as `other programs are using the processors (1.9 of 2 cores)`.
fn describe(load: &ForeignLoad) -> String {
    if load.is_busy_with_programs() {
        format!("other programs are using the processors ({:.1} of {:.0} cores)", load.busy_cores, load.cores)
    } else {
        format!(
            "other virtual machines are taking {:.1} % of the processors' time (CPU steal)",
            load.steal_share * 100.0
        )
    }
}

/// Text of the warning; `waited` is the time for which the run has waited in vain.
fn warning(load: &ForeignLoad, waited: Option<Duration>) -> String {
    let remedy = match (load.is_busy_with_programs(), waited) {
        (true, None) => "stop them, or wait with --wait-quiet 2m".to_owned(),
        (false, None) => "run again later, or wait with --wait-quiet 2m".to_owned(),
        (true, Some(limit)) => {
            format!("stop them ({} of waiting did not help)", rough_duration(limit.as_secs_f64()))
        }
        (false, Some(limit)) => {
            format!("run again later ({} of waiting did not help)", rough_duration(limit.as_secs_f64()))
        }
    };
    format!("{}: times will be longer and less certain; {remedy}", describe(load))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use jsonathlon_telemetry::clock::FakeClock;

    use super::*;

    const BUSY: ForeignLoad = ForeignLoad { cores: 2.0, busy_cores: 1.9, steal_share: 0.0 };
    const QUIET: ForeignLoad = ForeignLoad { cores: 2.0, busy_cores: 0.1, steal_share: 0.0 };

    /// Keeps what a run says, one line an event.
    #[derive(Default)]
    struct Lines(Vec<String>);

    impl Observer for Lines {
        fn event(&mut self, event: &RunEvent<'_>) {
            self.0.push(match event {
                RunEvent::Began { activity: Activity::Waiting, description } => (*description).to_owned(),
                RunEvent::Schedule(text) => (*text).to_owned(),
                RunEvent::Warning(text) => format!("warning: {text}"),
                RunEvent::Progress { done, total, unit } => format!("{done} of {total:?} {unit}"),
                other => panic!("{other:?}"),
            });
        }
    }

    /// What is said if each measurement takes a second and finds these loads; the last one goes on.
    fn lines(policy: BusyMachinePolicy, loads: &[ForeignLoad]) -> Vec<String> {
        let clock = FakeClock::new();
        let mut loads: VecDeque<ForeignLoad> = loads.iter().copied().collect();
        let mut measure = || {
            clock.sleep(Duration::from_secs(1));
            if loads.len() > 1 { loads.pop_front() } else { loads.front().copied() }
        };
        let mut lines = Lines::default();
        check(policy, &clock, &mut measure, &mut lines);
        lines.0
    }

    #[test]
    fn a_busy_machine_is_warned_of_once_and_a_quiet_one_is_not() {
        let warning = "warning: other programs are using the processors (1.9 of 2 cores): times will be longer \
                       and less certain; stop them, or wait with --wait-quiet 2m";
        assert_eq!(lines(BusyMachinePolicy::Warn, &[BUSY]), [warning]);
        assert!(lines(BusyMachinePolicy::Warn, &[QUIET]).is_empty());
        assert!(lines(BusyMachinePolicy::Ignore, &[BUSY]).is_empty());
        let stolen = ForeignLoad { steal_share: 0.052, ..QUIET };
        let [warning] = <[String; 1]>::try_from(lines(BusyMachinePolicy::Warn, &[stolen])).unwrap();
        assert!(warning.contains("other virtual machines are taking 5.2 %"), "{warning}");
    }

    #[test]
    fn waiting_ends_when_the_machine_has_been_quiet_for_some_seconds() {
        let limit = BusyMachinePolicy::Wait(Duration::from_secs(20));
        assert!(lines(limit, &[QUIET]).is_empty(), "nothing to wait for");
        // Two quiet seconds are not enough, because a busy one follows.
        let lines = lines(limit, &[BUSY, QUIET, QUIET, BUSY, QUIET]);
        let expected = [
            "waiting for a quiet machine, 20 s at most: other programs are using the processors (1.9 of 2 cores)",
            "1 of Some(20) s",
            "2 of Some(20) s",
            "3 of Some(20) s",
            "4 of Some(20) s",
            "5 of Some(20) s",
            "6 of Some(20) s",
            "the machine is quiet, after 7 s",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_machine_that_stays_busy_is_warned_of_when_the_time_is_up() {
        let lines = lines(BusyMachinePolicy::Wait(Duration::from_secs(3)), &[BUSY]);
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[3].starts_with("warning: other programs") && lines[3].contains("3 s of waiting"));
        let nothing_known = BusyMachinePolicy::Wait(Duration::from_secs(3));
        let mut said = Lines::default();
        check(nothing_known, &FakeClock::new(), &mut || None, &mut said);
        assert!(said.0.is_empty());
    }
}
