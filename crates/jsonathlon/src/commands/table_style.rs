//! How tables are drawn on standard output: within the width of the terminal, or with all columns.

use std::io::IsTerminal;

use jsonathlon_report::render::TableStyle;
use rustix::termios::tcgetwinsize;

use crate::cli::TableChoice;

/// Width of compact tables where standard output is no terminal, in columns.
const PIPE_WIDTH: usize = 100;
/// Width below which tables are not narrowed, because they could no longer be read.
const LEAST_WIDTH: usize = 40;

/// Style of tables on standard output. Colours are removed later, where they would not be shown.
pub(super) fn table_style(choice: TableChoice) -> TableStyle {
    match choice {
        TableChoice::Full => TableStyle::COLOURED,
        TableChoice::Compact => TableStyle::COLOURED.compact(output_width()),
    }
}

/// Width of the terminal that standard output is; [`PIPE_WIDTH`] if it is none, or does not tell its width.
fn output_width() -> usize {
    let output = std::io::stdout();
    let columns = match output.is_terminal() {
        true => tcgetwinsize(&output).map_or(0, |size| usize::from(size.ws_col)),
        false => 0,
    };
    if columns == 0 { PIPE_WIDTH } else { columns.max(LEAST_WIDTH) }
}
