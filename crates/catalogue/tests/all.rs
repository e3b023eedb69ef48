//! All tests of the public interface, in one program, so that they are linked once.

mod catalogue;
mod defaults;
mod digests;
mod documents;
mod elsewhere;
mod like_beside_like;
mod questions;
mod servers;
mod serving;
mod support;
mod workloads;
