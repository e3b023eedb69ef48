//! All tests of the public interface, in one program, so that they are linked once.

mod compare;
mod documents;
mod fidelity;
mod golden;
mod page_vocabulary;
mod serving;
mod tables;
