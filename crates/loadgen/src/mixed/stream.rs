//! One stream: asks sets of questions in a closed loop, each together with what its snapshot holds of the writers.

use jsonathlon_driver_api::Connection;
use jsonathlon_driver_api::driver::DriverError;
use jsonathlon_driver_api::rows::ResultSet;
use jsonathlon_driver_api::seen::WriterSeen;
use jsonathlon_mixed::{SeenCount, SeenDocuments};
use jsonathlon_schema::value::Row;

use super::job::{AskingJob, StreamQuestion};
use super::report::{QuestionLog, StreamLog};
use super::state::MixedState;
use super::writer::Opener;
use crate::answer_store::AnswerStore;
use crate::asking::{ERROR_DELAY, is_connection_lost, question_order};
use crate::messages::count_message;

/// Number of different error messages that are kept; further ones are counted as other messages.
const MAX_MESSAGES: usize = 20;

/// One stream with its connection.
pub(super) struct Stream<'a> {
    pub(super) number: u32,
    pub(super) job: &'a AskingJob,
    pub(super) connection: Box<dyn Connection>,
    /// Documents of each writer that all are known to be seen.
    pub(super) floors: Vec<u64>,
    pub(super) state: &'a MixedState,
    pub(super) open: &'a Opener<'a>,
}

impl Stream<'_> {
    /// Asks until the window is over, or as many sets as the job plans. A question that has been begun is always
    /// completed.
    pub(super) fn run(mut self) -> (StreamLog, AnswerStore) {
        let mut log = StreamLog::default();
        let mut answers = AnswerStore::default();
        let order = shuffled(self.job, self.number);
        let (mut sets, mut has_whole_set) = (0, false);
        if self.state.wait_until(0) {
            while self.job.sets.is_none_or(|planned| sets < planned) {
                let is_measured = self.state.is_measured();
                if !self.ask_set(&order, sets, &mut log, &mut answers) {
                    break;
                }
                sets += 1;
                if is_measured && !has_whole_set {
                    has_whole_set = true;
                    self.state.whole_set_finished();
                }
            }
        }
        self.state.stream_ended(has_whole_set);
        log.floors = self.floors;
        // Nothing is asked any more, so an error in closing loses nothing.
        self.connection.close().ok();
        (log, answers)
    }

    /// Asks every question once. Returns `false` if the set was not finished, because the window was over or the
    /// stream cannot go on.
    fn ask_set(
        &mut self,
        order: &[&StreamQuestion],
        set: u32,
        log: &mut StreamLog,
        answers: &mut AnswerStore,
    ) -> bool {
        for question in order {
            if self.state.is_over() {
                return false;
            }
            match self.ask(question, set, answers) {
                Ok(entry) => {
                    self.state.add_done(1);
                    log.questions.push(entry);
                }
                Err(error) => {
                    note(log, &error);
                    std::thread::sleep(ERROR_DELAY);
                    if is_connection_lost(&error)
                        && let Err(error) = self.reconnect()
                    {
                        log.error = Some(format!("the connection was lost: {error}"));
                        return false;
                    }
                }
            }
        }
        true
    }

    fn ask(
        &mut self,
        question: &StreamQuestion,
        set: u32,
        answers: &mut AnswerStore,
    ) -> Result<QuestionLog, DriverError> {
        let statement = match &self.job.form {
            Some(form) => {
                form.statement(&question.statement, &self.floors).map_err(DriverError::Unsupported)?
            }
            None => question.statement.clone(),
        };
        let start_ns = self.state.now();
        let answer = self.connection.collect(&statement)?;
        let end_ns = self.state.now();
        // An answer that contradicts itself is judged later, as wrong; it moves no floor.
        let (mut rows, seen, unreadable) = match self.decode(answer) {
            Ok((rows, seen)) => (rows, seen, None),
            Err(problem) => (Vec::new(), Vec::new(), Some(problem)),
        };
        let floors = self.floors.clone();
        if unreadable.is_none()
            && let Ok(documents) = SeenDocuments::new(&floors, &seen)
        {
            self.floors = documents.next_floors();
        }
        question.question.sort(&mut rows);
        let (answer, bytes) = answers.keep(rows);
        self.state.add_answer_bytes(bytes);
        let question = question.question;
        Ok(QuestionLog { question, set, start_ns, end_ns, floors, seen, unreadable, answer })
    }

    /// Takes an answer apart into its rows and what it saw of each writer.
    fn decode(&self, answer: ResultSet) -> Result<(Vec<Row>, Vec<SeenCount>), String> {
        let Some(form) = &self.job.form else { return Ok((answer.rows, Vec::new())) };
        let (ResultSet { rows, .. }, seen) = form.decode(answer)?;
        let count = |WriterSeen { writer, count, highest }: WriterSeen| SeenCount {
            writer: writer as usize,
            count,
            highest,
        };
        Ok((rows, seen.into_iter().map(count).collect()))
    }

    fn reconnect(&mut self) -> Result<(), DriverError> {
        self.connection = (self.open)()?;
        Ok(())
    }
}

/// Questions of a set in the order of one stream.
fn shuffled(job: &AskingJob, stream: u32) -> Vec<&StreamQuestion> {
    let order = question_order(job.questions.len(), job.seed, stream);
    order.into_iter().filter_map(|index| job.questions.get(index)).collect()
}

/// Counts an error by its message.
fn note(log: &mut StreamLog, error: &DriverError) {
    count_message(&mut log.errors, error.to_string(), 1, MAX_MESSAGES);
}

#[cfg(test)]
mod tests {
    use jsonathlon_dataset::questions::Question;

    use super::*;

    #[test]
    fn each_stream_has_an_order_of_its_own_with_every_question() {
        let statement = |question: Question| StreamQuestion { question, statement: question.id().to_owned() };
        let job = AskingJob {
            questions: Question::ALL[..5].iter().copied().map(statement).collect(),
            form: None,
            floors: vec![Vec::new(); 8],
            sets: None,
            seed: 7,
        };
        let order =
            |stream| shuffled(&job, stream).iter().map(|question| question.question).collect::<Vec<_>>();
        let orders: Vec<Vec<Question>> = (0..8).map(order).collect();
        assert_eq!(orders[0], order(0));
        assert!(orders.iter().any(|other| *other != orders[0]));
        for mut order in orders {
            order.sort();
            assert_eq!(order, Question::ALL[..5]);
        }
    }

    #[test]
    fn errors_are_counted_by_their_message() {
        let mut log = StreamLog::default();
        for number in 0..MAX_MESSAGES + 2 {
            note(&mut log, &DriverError::Refused(format!("no {number}")));
        }
        note(&mut log, &DriverError::Refused("no 0".into()));
        assert_eq!((log.errors["no 0"], log.errors["other messages"]), (2, 2));
    }
}
