//! Questions asked of every system in rounds, cold and hot, whoever knows the right answers.
//!
//! What is asked, and what an answer is held against, is a [`Truth`]: answers computed beforehand, or those on which
//! systems agree.

mod ask;
mod comparison;
mod rounds;
mod settings;

pub(crate) mod plan;

use std::collections::BTreeMap;
use std::time::Duration;

use jsonathlon_dataset::value::Row;
use jsonathlon_systems::QuestionRules;

use crate::RunError;
use crate::bench::{Accepted, Bench, TABLE, UnderTest};
use crate::cells::Cells;
use crate::recorder::Recorder;
use crate::session::{Ended, Session};
use crate::target::Target;

pub use comparison::Comparison;
pub use settings::AskSettings;

/// A question as the runner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    /// The step of its cells.
    pub(crate) name: String,
    /// The statement file that asks it.
    pub(crate) file: String,
    /// The names of its answer's columns.
    pub(crate) columns: Vec<String>,
}

/// Who knows the questions, and the right answers to them.
pub(crate) trait Truth: Sized {
    /// What the answers of one target are held against.
    type Held: Default;

    /// The questions that a target is asked, in order.
    fn questions(&self, target: &Target) -> Vec<Question>;

    /// What a target's folder declares and demands, by question.
    fn rules(&self, target: &Target) -> BTreeMap<String, QuestionRules>;

    /// What is held against the answers of a target that has these documents.
    ///
    /// # Errors
    /// Documents cannot be read again.
    fn learn(&self, bench: &Bench<'_>, accepted: &Accepted) -> Result<Self::Held, RunError>;

    /// Holds an answer of a target against the right one.
    fn judge(&self, held: &Self::Held, cells: Cells<'_>, question: &Question, rows: &[Row]) -> Comparison;

    /// Finds the right answers out, where that takes the systems themselves: before anything is timed.
    ///
    /// # Errors
    /// What ends the run.
    fn survey<'a>(
        &self,
        bench: &Bench<'a>,
        all: &mut [Asked<'a, Self>],
        recorder: &mut Recorder<'_>,
    ) -> Result<(), RunError> {
        let _ = (bench, all, recorder);
        Ok(())
    }
}

/// A target with what it is asked, and what it must answer.
pub(crate) struct Asked<'a, T: Truth> {
    pub(crate) of: UnderTest<'a>,
    pub(crate) questions: Vec<Question>,
    /// What its folder declares and demands by question.
    pub(crate) rules: BTreeMap<String, QuestionRules>,
    pub(crate) held: T::Held,
}

/// The keys of all trials of all targets.
pub(crate) fn keys<T: Truth>(truth: &T, own: &AskSettings, bench: &Bench<'_>) -> Vec<String> {
    let of = |target| {
        let questions = truth.questions(target);
        let names = questions.iter().map(|question| question.name.as_str());
        plan::keys(bench.cells(target), names, bench.settings, own)
    };
    bench.targets.iter().flat_map(of).collect()
}

/// Runs whatever has no record yet.
pub(crate) fn run<T: Truth>(
    truth: &T,
    own: &AskSettings,
    bench: &Bench<'_>,
    recorder: &mut Recorder<'_>,
) -> Result<(), RunError> {
    let mut all = Vec::new();
    for of in bench.all_under_test() {
        let target = of.cells.target;
        let (questions, rules) = (truth.questions(target), truth.rules(target));
        all.push(Asked { of, questions, rules, held: T::Held::default() });
    }
    let ended = rounds::all(truth, own, bench, &mut all, recorder);
    // The first error is the one that matters.
    let mut all: Vec<UnderTest<'_>> = all.into_iter().map(|one| one.of).collect();
    bench.leave(&mut all, recorder);
    ended
}

/// Makes a session refuse changes, of a system whose folder says how.
pub(crate) fn read_only(session: &mut Session<'_>, limit: Duration) -> Result<(), Ended> {
    let statements = session.statements("read_only", &[("table", TABLE)])?;
    if statements.is_empty() {
        return Ok(());
    }
    session.run(statements, limit).map(drop)
}
