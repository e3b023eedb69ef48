//! The serving workload: on the mock, whose answers can be spoilt, and on real systems at a tiny scale.

mod answers;
mod faults;
mod input;
mod killed;
mod systems;
