//! The order of work: rounds of loads and questions, rotated between targets, until there are enough.

use jsonathlon_dataset::questions::Question;
use jsonathlon_dataset::reference::Reference;
use jsonathlon_measure::control::Control;
use jsonathlon_results::id::State;
use jsonathlon_results::record::{Metrics, Verdict};

use super::ask::{Asking, TimedOut};
use super::plan::{control_cell, rotation};
use super::record::{Recorder, blank, cell_result};
use super::{Analytics, Prepared, load, not_asked};
use crate::RunError;
use crate::observer::Event;
use crate::pace::{Next, Pace};
use crate::settings::LOAD_ROUNDS;

impl<'a> Analytics<'a> {
    pub(super) fn all(
        &self,
        prepared: &mut [Prepared<'a>],
        recorder: &mut Recorder<'_>,
    ) -> Result<(), RunError> {
        let mut control = Control::new();
        let mut timed_out = TimedOut::new();
        // The first state in which questions are asked decides how many rounds there are.
        let mut rounds = None;
        for state in State::ALL {
            let is_asked = self.settings.states.contains(&state);
            if state == State::Compacted {
                for one in prepared.iter_mut() {
                    self.compact(one, recorder)?;
                }
            }
            if !is_asked && state == State::Compacted {
                continue;
            }
            let fixed = if is_asked { rounds } else { Some(self.most_load_rounds()) };
            let done = self.rounds(state, fixed, prepared, &mut control, &mut timed_out, recorder)?;
            if is_asked {
                rounds = Some(done);
            }
        }
        Ok(())
    }

    fn elapsed_s(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Loads at most; each target decides by what its first one took.
    fn most_load_rounds(&self) -> u32 {
        self.settings.load_rounds.unwrap_or(LOAD_ROUNDS)
    }

    /// Rounds in `state`: so many as are given, or as are enough. Says how many there were.
    fn rounds(
        &self,
        state: State,
        fixed: Option<u32>,
        prepared: &mut [Prepared<'a>],
        control: &mut Control,
        timed_out: &mut TimedOut,
        recorder: &mut Recorder<'_>,
    ) -> Result<u32, RunError> {
        let mut pace = Pace::new(self.settings.enough, self.settings.rounds, self.elapsed_s());
        let mut round = 1;
        loop {
            for (place, index) in rotation(prepared.len(), round).into_iter().enumerate() {
                let Some(one) = prepared.get_mut(index) else { continue };
                self.turn(state, round, place, one, control, timed_out, recorder)?;
            }
            let next = match fixed {
                Some(rounds) if round >= rounds => Next::Enough,
                Some(_) => Next::Another,
                None => pace.after(round, self.elapsed_s(), || recorder.ranked(self.targets, state))?,
            };
            if let Some(words) = pace.words() {
                recorder.observer.event(&Event::Pace(words));
            }
            if next == Next::Enough {
                return Ok(round);
            }
            round += 1;
        }
    }

    /// One target's part of a round: its load where one is due, then its questions.
    #[expect(clippy::too_many_arguments, reason = "what a round knows, and what it works with")]
    fn turn(
        &self,
        state: State,
        round: u32,
        place: usize,
        one: &mut Prepared<'a>,
        control: &mut Control,
        timed_out: &mut TimedOut,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), RunError> {
        let is_asked = self.settings.states.contains(&state);
        if state == State::Drained {
            self.fail_planned_loads(round, one, recorder)?;
        }
        let is_open = |question: Question| {
            let keys = one.cells.question_keys(question, state, round, self.settings);
            keys.iter().any(|key| !recorder.has(key))
        };
        let asks = is_asked && Question::ALL.into_iter().any(is_open);
        let loads = state == State::Drained && self.is_load_due(round, one, recorder);
        if !asks && !loads {
            return Ok(());
        }
        self.control(round, place, control, recorder)?;
        if loads || !one.is_loaded {
            self.load(round, one, recorder)?;
            if state == State::Compacted {
                self.enter(State::Compacted, None, one, recorder)?;
            }
        }
        if asks {
            for question in Question::ALL {
                self.ask(question, state, round, one, timed_out, recorder)?;
            }
        }
        if let Err(failure) = cell_result(one.session.close())? {
            recorder.warn(&format!("{}: failed to close: {}", one.cells.target.file_name(), failure.error));
        }
        Ok(())
    }

    /// Rounds that begin with a load: as asked for, or by what the last load took.
    fn load_rounds(&self, one: &Prepared<'_>) -> u32 {
        self.settings.load_rounds_of(one.load_s + one.drained_s)
    }

    fn is_load_due(&self, round: u32, one: &Prepared<'_>, recorder: &Recorder<'_>) -> bool {
        let [load, size] = one.cells.load_keys(round);
        let open = !recorder.has(&load) || !recorder.has(&size);
        match one.is_loaded {
            // What nobody has loaded since the program began is loaded when there is something to ask.
            false => open && (round == 1 || self.settings.load_rounds.is_some_and(|rounds| round <= rounds)),
            // What could not be loaded once is not tried again.
            true => open && round <= self.load_rounds(one) && one.answers.is_ok(),
        }
    }

    /// What could not be loaded once is not loaded again; where this round's load was planned, it has failed too.
    fn fail_planned_loads(
        &self,
        round: u32,
        one: &Prepared<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), RunError> {
        let is_planned = self.settings.load_rounds.is_some_and(|rounds| round <= rounds);
        let Err(failure) = &one.answers else { return Ok(()) };
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
    fn load(&self, round: u32, one: &mut Prepared<'a>, recorder: &mut Recorder<'_>) -> Result<(), RunError> {
        let what = format!("loading {}", one.cells.target.file_name());
        recorder.observer.event(&Event::Began { what: &what });
        self.subject.does(&what);
        if one.is_loaded
            && let Err(failure) = cell_result(one.session.start_afresh())?
        {
            let cell = one.cells.load();
            recorder.failed(cell.trial_key(round, 0), &cell, round, 0, failure.clone())?;
            one.answers = Err(failure);
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
    fn compact(&self, one: &mut Prepared<'a>, recorder: &mut Recorder<'_>) -> Result<(), RunError> {
        if recorder.has(&one.cells.size(State::Compacted).trial_key(1, 0)) {
            return Ok(());
        }
        if !one.is_loaded {
            self.load(1, one, recorder)?;
        }
        self.enter(State::Compacted, Some(1), one, recorder)
    }

    /// Times the control: how fast the machine is at this moment, whatever the systems do.
    fn control(
        &self,
        round: u32,
        place: usize,
        control: &mut Control,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), RunError> {
        let order = u32::try_from(place).unwrap_or(u32::MAX);
        let cell = control_cell();
        let key = cell.trial_key(round, order);
        if recorder.has(&key) {
            return Ok(());
        }
        let times = control.slice();
        let mut trial = blank(&cell, round, order);
        trial.verdict = Verdict::Exact;
        trial.metrics = Metrics::from([
            ("control_memory_s".to_owned(), times.memory_s),
            ("control_compute_s".to_owned(), times.compute_s),
        ]);
        recorder.trial(key, trial)
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
