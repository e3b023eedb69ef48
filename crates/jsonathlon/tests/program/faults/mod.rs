//! What goes wrong around a run, and that it costs nothing but what it must: each fault ends in one clear
//! message and the right exit code, and what was measured stays.

mod answers;
mod clients;
mod engines;
mod environment;
mod interrupted;
mod killed;
mod refused;
