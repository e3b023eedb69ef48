//! Studies: on the mock, whose speed is a script's, on SQLite, and on PostgreSQL at a tiny scale.

mod begun;
mod input;
mod systems;
