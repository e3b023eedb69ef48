//! The program and its engines are killed repeatedly at arbitrary moments.
//!
//! There are three kinds of kills: of the program without resuming; of the program followed by resuming; and
//! of the worker, which is the engine's process, after which the run continues. `JSONATHLON_KILLS` raises the
//! number of kills.

use std::time::{Duration, Instant};

use jsonathlon_results::summary::Summary;
use jsonathlon_schema::record::{FailureKind, Verdict};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::killed::{KINDS, Moments, kills};
use crate::support::process::{Ended, Running};
use crate::support::{Kept, LIMIT, Look, World, eventually, mock};

/// Default number of kills of all kinds together.
const KILLS: u32 = 54;
/// Default number of kills of a real engine and of the program running it.
const REAL_KILLS: u32 = 4;
/// Latest moment of a kill, in ms after the start. A whole run takes longer.
const LATEST_MS: u64 = 900;
/// Latest moment of the next worker kill, in ms after the previous one.
const NEXT_WORKER_MS: u64 = 500;

/// A run that is repeated and killed.
struct Subject {
    world: World,
    systems: &'static str,
    arguments: &'static [&'static str],
}

impl Subject {
    /// Two systems with slow answers, so that kills hit them.
    fn mocks() -> Self {
        let script = json!({"delay_ms": {"load": 30, "q1": 6, "q2": 6, "q3": 6, "q4": 6, "q5": 6, "q6": 6}});
        let world = World::with(&[mock("ma", script.clone()), mock("mb", script)]);
        Self { world, systems: "ma,mb", arguments: &["-n", "200", "-r", "2", "--load-rounds", "2"] }
    }

    /// An engine that is part of the program, so that nothing has to be downloaded.
    fn sqlite() -> Self {
        Self {
            world: World::new(),
            systems: "sqlite",
            arguments: &["--variants", "indexed", "-n", "2k", "-r", "3"],
        }
    }

    fn start(&self, out: &str) -> Running {
        self.world.start_measuring(out, self.systems, self.arguments)
    }

    fn start_or_resume(&self, out: &str) -> Running {
        if self.world.path(out).join("manifest.json").exists() {
            self.world.start_resuming(out)
        } else {
            self.start(out)
        }
    }

    fn exported(&self, out: &str) -> Summary {
        let exported = self.world.run(&["export", "-f", "json", &self.world.text(out)]).expect(0);
        serde_json::from_str(&exported.stdout).unwrap()
    }

    /// Kills the program. Returns the records written before, or `Err` if the program had already ended.
    fn kill_at(&self, mut running: Running, moment: Duration, kept: &Kept) -> Result<Vec<u8>, Ended> {
        std::thread::sleep(moment);
        if running.has_ended() {
            return Err(running.end(LIMIT));
        }
        let before = kept.whole_lines();
        running.kill();
        assert!(kept.journal().starts_with(&before), "records are gone");
        // Workers are not notified; they must detect the kill soon and exit by themselves.
        self.world.nothing_left();
        Ok(before)
    }

    /// Kills and resumes until there were enough kills and each started run has ended.
    fn kill_and_resume(&self, wanted: u32, latest_ms: u64) {
        let mut moments = Moments::new();
        let (mut kills, mut runs, mut in_the_middle) = (0, 0, 0);
        while kills < wanted {
            runs += 1;
            let out = format!("out{runs}");
            let kept = self.world.kept(&out);
            loop {
                let recorded = kept.recorded();
                let mut running = self.start_or_resume(&out);
                if kills >= 2 * wanted {
                    running.end(LIMIT).expect(0);
                    break;
                }
                // Half of the kills at any moment, the other half after a new record, independent of the
                // machine's speed.
                if kills % 2 == 1 {
                    eventually("it goes on", || running.has_ended() || kept.recorded() > recorded);
                }
                match self.kill_at(running, moments.next(latest_ms), &kept) {
                    Ok(before) => {
                        kills += 1;
                        in_the_middle += u32::from(!before.is_empty());
                    }
                    Err(ended) => {
                        ended.expect(0);
                        break;
                    }
                }
            }
            let summary = self.exported(&out);
            assert!(summary.complete);
            self.systems.split(',').for_each(|system| summary.is_right(system));
            kept.is_complete();
            assert!(kept.work().is_empty());
        }
        let least = wanted / 3;
        assert!(in_the_middle >= least, "{in_the_middle} of {kills} kills met trials: choose other moments");
        println!(
            "{kills} kills, {in_the_middle} of them between records, {runs} runs continued to their end"
        );
    }

    /// Kills workers until there were enough kills; each run must continue to its end.
    fn kill_workers(&self, wanted: u32) {
        let mut moments = Moments::new();
        let (mut kills, mut runs, mut failed) = (0, 0, 0);
        while kills < wanted {
            runs += 1;
            let out = format!("out{runs}");
            let kept = self.world.kept(&out);
            let mut running = self.start(&out);
            let mut at = Instant::now() + moments.next(NEXT_WORKER_MS);
            let mut killed = 0;
            while !running.has_ended() && kills + killed < wanted {
                std::thread::sleep(Duration::from_millis(2));
                if Instant::now() < at {
                    continue;
                }
                let workers = self.world.workers();
                // At most one worker is running. During a change both may be seen once, but not twice.
                if workers.len() > 1 {
                    let again = self.world.workers();
                    let both = workers.iter().filter(|worker| again.contains(worker)).count() > 1;
                    assert!(!both, "exactly one system is up: {workers:?}, {again:?}");
                }
                // No worker runs between two sessions and during preparation. A new moment is chosen, so that
                // the first kill does not always hit the load.
                let Some(worker) = workers.first() else {
                    at = Instant::now() + moments.next(NEXT_WORKER_MS);
                    continue;
                };
                let before = kept.whole_lines();
                let worker = Pid::from_raw((*worker).try_into().unwrap()).unwrap();
                // The worker may have just ended by itself.
                if kill_process(worker, Signal::KILL).is_ok() {
                    killed += 1;
                    assert!(kept.journal().starts_with(&before), "records are gone");
                }
                at = Instant::now() + moments.next(NEXT_WORKER_MS);
            }
            kills += killed;
            failed += self.went_on(&out, killed, running.end(LIMIT));
        }
        // A worker that is killed while it closes loses nothing.
        assert!(failed >= wanted / 6, "{failed} failures of {kills} kills: choose other moments");
        println!("{kills} kills of workers, {failed} times a trial failed of it, {runs} runs");
    }

    /// Checks a run whose workers were killed. Returns the number of lost trials.
    fn went_on(&self, out: &str, killed: u32, ended: Ended) -> u32 {
        self.world.nothing_left();
        let kept = self.world.kept(out);
        let summary = self.exported(out);
        assert!(summary.complete);
        kept.is_complete();
        assert!(kept.work().is_empty());
        let ended = ended.expect(i32::from(!summary.failures.is_empty()));
        assert_eq!(ended.summary(), summary);
        let mut lost = std::collections::BTreeSet::new();
        for failure in &summary.failures {
            assert_eq!(failure.kind, FailureKind::Crash, "{failure:?}");
            assert!(failure.error.contains("SIGKILL"), "{failure:?}");
            if !failure.error.starts_with("not done") {
                lost.insert((&failure.cell.id.system, &failure.cell.step, failure.round));
            }
        }
        assert!(lost.len() <= killed as usize, "{killed} kills made {} trials fail: {lost:?}", lost.len());
        // Cells that were not hit are correct, and cells that were hit have no time.
        for entry in &summary.results {
            let hit = summary.failures.iter().any(|failure| {
                (&failure.cell.id.system, &failure.cell.step) == (&entry.cell.id.system, &entry.cell.step)
                    && failure.cell.phase == entry.cell.phase
                    && failure.cell.parameters == entry.cell.parameters
                    // A size may have been measured in one data state and not in the other, if the worker was
                    // killed in between.
                    && failure.cell.state.is_none_or(|state| entry.cell.state == Some(state))
            });
            if hit {
                assert_eq!((entry.verdict, entry.median_s), (Verdict::Failed, None), "{entry:?}");
            } else {
                assert_eq!(entry.verdict, Verdict::Exact, "{entry:?}");
            }
        }
        lost.len() as u32
    }
}

#[test]
fn killed_at_random_moments_a_run_still_completes_with_every_trial_once() {
    Subject::mocks().kill_and_resume(kills(KILLS / KINDS), LATEST_MS);
}

#[test]
fn killed_and_left_alone_a_run_can_be_read_and_is_not_overwritten() {
    let subject = Subject::mocks();
    let mut moments = Moments::new();
    let (mut with_a_run, wanted) = (0, kills(KILLS / KINDS));
    for number in 1..=wanted {
        let out = format!("out{number}");
        let kept = subject.world.kept(&out);
        let running = subject.start(&out);
        // Half of the kills at any moment, the other half after something was measured.
        if number % 2 == 0 {
            eventually("something was measured", || kept.recorded() > 0);
        }
        let killed = subject.kill_at(running, moments.next(LATEST_MS), &kept);
        let before = killed.expect("a whole run takes longer");
        if before.is_empty() || !kept.path("manifest.json").exists() {
            continue;
        }
        with_a_run += 1;
        // Finished trials can be exported, and the folder cannot be overwritten.
        let summary = subject.exported(&out);
        assert!(!summary.complete);
        assert!(summary.failures.is_empty(), "{:?}", summary.failures);
        let words = ["already holds a run", "--resume"];
        subject.start(&out).end(LIMIT).expect(2).says(&words);
        assert!(kept.journal().starts_with(&before));
    }
    assert!(with_a_run >= wanted / 4, "{with_a_run} of {wanted} kills met a run: choose other moments");
    println!("{wanted} kills, {with_a_run} of them in a run that was begun");
}

#[test]
fn workers_killed_at_random_moments_cost_their_trials_and_nothing_else() {
    Subject::mocks().kill_workers(kills(KILLS / KINDS));
}

#[test]
fn a_real_engine_is_killed_with_the_program_and_without_it() {
    let subject = Subject::sqlite();
    subject.kill_and_resume(kills(REAL_KILLS), LATEST_MS);
    let subject = Subject::sqlite();
    subject.kill_workers(kills(REAL_KILLS));
}
