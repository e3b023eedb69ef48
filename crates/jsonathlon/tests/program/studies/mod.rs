//! Tests of studies: with the mock, whose speed is scripted, with SQLite, and with PostgreSQL at a tiny
//! scale.

mod begun;
mod input;
mod mixed;
mod systems;
