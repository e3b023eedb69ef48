//! All tests of the public interface, in one program, so that they are linked once.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod answers;
mod answers_documents;
mod answers_mixed;
mod baselines;
mod classes;
mod compare;
mod compare_control;
mod compare_gate;
mod compare_power;
mod compare_sizes;
mod golden;
mod published;
mod serving;
mod summaries;
mod support;
