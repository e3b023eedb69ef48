//! Draws sections, for a terminal and as Markdown.

mod layout;
pub(crate) mod markdown;
pub(crate) mod terminal;
pub(crate) mod wrap;

pub use terminal::{TableStyle, TableWidth};
