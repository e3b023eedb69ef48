//! Documents into systems, in rounds: loaded, settled, measured, read back.

mod common;
mod file;
mod load;
mod read_back;
mod refused;
mod rejects;
mod settle;
mod spent;
mod suspects;

use jsonathlon_results::id::State;
use jsonathlon_results::record::Failure;

use crate::RunError;
use crate::bench::{Bench, UnderTest};
use crate::observer::{Event, Work};
use crate::recorder::Recorder;
use crate::session::Ended;
use crate::settings::LOAD_ROUNDS;

pub(crate) use settle::{settle, sizes};

impl<'a> Bench<'a> {
    /// Loads at most; each target decides by what its first one took.
    #[must_use]
    pub fn most_load_rounds(&self) -> u32 {
        self.settings.load_rounds.unwrap_or(LOAD_ROUNDS)
    }

    /// Rounds that begin with a load: as asked for, or by what the last load took.
    fn load_rounds(&self, one: &UnderTest<'_>) -> u32 {
        self.settings.load_rounds_of(one.load_s + one.drained_s)
    }

    /// Whether this round of a target begins with a load that has no record yet.
    #[must_use]
    pub fn is_load_due(&self, round: u32, one: &UnderTest<'_>, recorder: &Recorder<'_>) -> bool {
        let [load, size] = one.cells.load_keys(round);
        let open = !recorder.has(&load) || !recorder.has(&size);
        match one.is_loaded {
            // What nobody has loaded since the program began is loaded when there is something to ask.
            false => open && (round == 1 || self.settings.load_rounds.is_some_and(|rounds| round <= rounds)),
            // What could not be loaded once is not tried again.
            true => open && round <= self.load_rounds(one) && one.holds.is_ok(),
        }
    }

    /// What could not be loaded once is not loaded again; where this round's load was planned, it has failed too.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn fail_planned_loads(
        &self,
        round: u32,
        one: &UnderTest<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), RunError> {
        let is_planned = self.settings.load_rounds.is_some_and(|rounds| round <= rounds);
        let Err(failure) = &one.holds else { return Ok(()) };
        if !one.is_loaded || !is_planned {
            return Ok(());
        }
        let cells = [one.cells.load(), one.cells.size(State::Drained)];
        for (key, cell) in one.cells.load_keys(round).into_iter().zip(cells) {
            recorder.failed(key, &cell, round, 0, not_asked(failure))?;
        }
        Ok(())
    }

    /// Loads a target into a fresh folder and drains it; of rounds that begin with a load, both are recorded.
    ///
    /// # Errors
    /// What ends the run; a load that failed is a record, and [`UnderTest::holds`] says why.
    pub fn load(
        &self,
        round: u32,
        one: &mut UnderTest<'a>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), RunError> {
        let what = format!("loading {}", one.cells.target.file_name());
        recorder.observer.event(&Event::Began { work: Work::Loading, what: &what });
        self.subject.does(&what);
        if one.is_loaded
            && let Err(failure) = Ended::split(one.session.start_afresh())?
        {
            let cell = one.cells.load();
            let key = cell.trial_key(round, 0);
            recorder.failed(key.clone(), &cell, round, 0, failure.clone())?;
            one.holds = Err(failure.recorded_in(&key));
        } else {
            load::load(self, round, one, recorder)?;
        }
        one.is_loaded = true;
        // At once, and with the engine stopped at the end: while the next one is at work, nothing of this one
        // may be, and what it does by itself must not pass unmeasured.
        let recorded = round == 1 || round <= self.load_rounds(one);
        self.enter(State::Drained, recorded.then_some(round), one, recorder)
    }

    /// Compacts a target once, after all rounds of its drained state.
    ///
    /// # Errors
    /// What ends the run; a compaction that failed is a record.
    pub fn compact(&self, one: &mut UnderTest<'a>, recorder: &mut Recorder<'_>) -> Result<(), RunError> {
        if recorder.has(&one.cells.size(State::Compacted).trial_key(1, 0)) {
            return Ok(());
        }
        if !one.is_loaded {
            self.load(1, one, recorder)?;
        }
        self.enter(State::Compacted, Some(1), one, recorder)
    }
}

/// Why nothing is asked of what could not be loaded.
pub(crate) fn not_asked(failure: &Failure) -> Failure {
    failure.followed_by("not done, because loading failed")
}
