//! Draws sections, for a terminal and as Markdown.

pub(crate) mod markdown;
pub(crate) mod terminal;

pub use terminal::TableStyle;
