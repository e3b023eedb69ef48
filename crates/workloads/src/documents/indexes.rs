//! Builds indexes, runs queries with them, and drops them.

use jsonathlon_catalogue::{Index, Operation};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{Cell, Failure, FailureKind, Trial, Verdict};
use jsonathlon_worker::protocol::RunReply;

use super::{
    index_usage, trials,
    turn::{DocumentsTurn, StepResult, fill_table},
};
use crate::{
    RunError,
    loading::sizes,
    recorder::{TrialRecorder, new_trial},
    run_context::TABLE,
    session::{Session, TrialError},
};

impl DocumentsTurn<'_, '_, '_> {
    pub(super) fn run_indexes(
        &self,
        session: &mut Session<'_>,
        recorder: &mut TrialRecorder<'_>,
    ) -> StepResult<()> {
        if trials::has_no_index(self.setup, self.settings) {
            let cell = trials::no_index(&self.tests);
            self.record_unsupported("index", &cell, 1, recorder)?;
            return Ok(Ok(()));
        }
        for index in trials::indexes(self.setup, self.settings, self.round) {
            if let Err(failure) = self.run_index(index, session, recorder)? {
                return Ok(Err(failure));
            }
        }
        Ok(Ok(()))
    }

    /// Builds one index, runs its queries, reads their plans, and drops the index.
    pub(super) fn run_index(
        &self,
        index: &Index,
        session: &mut Session<'_>,
        recorder: &mut TrialRecorder<'_>,
    ) -> StepResult<()> {
        let cell = self.tests.index(index);
        let result = TrialError::split_fatal(self.build_index(index, &cell, session))?;
        match result {
            Ok(trial) => {
                let key = cell.trial_key(self.round, 0);
                if !recorder.has(&key) {
                    recorder.record_trial(key, trial)?;
                }
            }
            Err(failure) => {
                self.record_not_built(index, &failure, recorder)?;
                if failure.kind != FailureKind::Refused {
                    return self.record_failure(&failure, &cell, 1, session, recorder);
                }
                // Remove what earlier statements have created; errors of the others do not matter.
                for text in &index.drop {
                    let statement = fill_table(session, text);
                    TrialError::split_fatal(
                        session.open().and_then(|()| session.run(vec![statement], self.limit())),
                    )?
                    .ok();
                }
                return Ok(Ok(()));
            }
        }
        for operation in Operation::ALL {
            let Some(query) = index.timed_query(operation) else { continue };
            let statement = fill_table(session, &query.statement);
            let cell = self.tests.indexed(operation, index);
            if let Err(failure) = self.time_query(&statement, query.answer, &cell, session, recorder)? {
                return Ok(Err(failure));
            }
        }
        if self.round == 1
            && let Err(failure) = index_usage::read_plans(self, index, session, recorder)?
        {
            return Ok(Err(failure));
        }
        let result = session.open().and_then(|()| {
            let statements = index.drop.iter().map(|text| fill_table(session, text)).collect();
            session.run(statements, self.limit())
        });
        Ok(TrialError::split_fatal(result)?.map(drop))
    }

    /// Records that an index could not be built, and all its queries with it. A refused index is recorded as
    /// not applicable.
    pub(super) fn record_not_built(
        &self,
        index: &Index,
        failure: &Failure,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let operations =
            Operation::ALL.into_iter().filter(|operation| index.timed_query(*operation).is_some());
        let queries = operations.map(|operation| (self.tests.indexed(operation, index), self.settings.reads));
        for (cell, orders) in [(self.tests.index(index), 1)].into_iter().chain(queries) {
            if failure.kind == FailureKind::Refused {
                self.record_not_applicable(failure, &cell, orders, recorder)?;
                continue;
            }
            for order in 0..orders {
                let key = cell.trial_key(self.round, order);
                recorder.record_failure(key, &cell, self.round, order, failure.clone())?;
            }
        }
        match self.round {
            1 => index_usage::record_impossible(self, index, &failure.error, recorder),
            _ => Ok(()),
        }
    }

    pub(super) fn build_index(
        &self,
        index: &Index,
        cell: &Cell,
        session: &mut Session<'_>,
    ) -> Result<Trial, TrialError> {
        session.open()?;
        let index_bytes = |session: &mut Session<'_>| -> Result<Option<f64>, TrialError> {
            Ok(sizes(session, TABLE)?.get(metric::INDEX_BYTES.name).copied())
        };
        let bytes_before = index_bytes(session)?;
        let statements = index.create.iter().map(|text| fill_table(session, text)).collect();
        let reply: RunReply = session.run(statements, self.load_limit())?;
        // Statistics of new columns and other inputs of the planner belong to no test.
        self.settle(&[TABLE], false, session)?;
        let mut trial = new_trial(cell, self.round, 0);
        self.add_timing(&mut trial, reply.seconds, &reply.usage, self.source_bytes);
        if let (Some(bytes_before), Some(bytes_after)) = (bytes_before, index_bytes(session)?) {
            trial.metrics.insert(metric::INDEX_BYTES.name.to_owned(), (bytes_after - bytes_before).max(0.0));
        }
        trial.verdict = Verdict::Exact;
        Ok(trial)
    }
}
