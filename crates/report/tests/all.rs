//! All tests of the public interface, in one program, so that they are linked once.

mod compare;
mod documents;
mod fidelity;
mod figures_of_the_page;
mod golden;
mod serving;
mod tables;
