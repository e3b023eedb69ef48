//! Tests of the serving workload, with the mock and planted faults, and with real systems at a tiny scale.

mod answers;
mod faults;
mod input;
mod killed;
mod own_documents;
mod own_input;
mod own_systems;
mod report_systems;
mod reports;
mod systems;
