//! All tests of the public interface, in one program, so that they are linked once.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod catalogue;
mod defaults;
mod digests;
mod documents;
mod external_systems;
mod like_beside_like;
mod mixed;
mod questions;
mod servers;
mod serving;
mod serving_paths;
mod support;
mod workloads;
