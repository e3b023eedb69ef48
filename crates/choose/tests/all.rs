//! Decisions over runs that were made: those kept for tests of reports, and synthetic ones.

mod gathering;
mod golden;
