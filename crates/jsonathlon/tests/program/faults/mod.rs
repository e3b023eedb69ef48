//! Faults around a run: each must end in one clear message and the correct exit code, lose no more than
//! necessary, and keep all finished trials.

mod answers;
mod clients;
mod engines;
mod environment;
mod interrupted;
mod killed;
mod refused;
