//! Checks that the page's copy of the metric registry is current. `JSONATHLON_WRITE_FIGURES=1 cargo test -p
//! jsonathlon-report --test figures_of_the_page` regenerates it; then run `npm run build` in `web/`.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fmt::Write;
use std::path::Path;

use jsonathlon_schema::metric::{ALL, BetterDirection, Unit};

fn typescript() -> String {
    let mut text = String::from(
        "// Made from crates/schema/src/metric.rs by a test of crates/report, figures_of_the_page; never by hand.\n\n\
         export type Unit = 's' | 'us' | 'us/op' | 'B' | 'B/s' | 'B/op' | '/s' | '/op' | 'count' | 'share' | 'number';\n\
         export type Better = 'lower' | 'higher' | null;\n\n\
         /** Name, title, unit, which direction is better, and whether it is of whole processes. */\n\
         export const FIGURES: readonly (readonly [string, string, Unit, Better, boolean])[] = [\n",
    );
    for figure in ALL {
        let unit = match figure.unit {
            Unit::Seconds => "s",
            Unit::Microseconds => "us",
            Unit::MicrosecondsPerOperation => "us/op",
            Unit::BytesPerOperation => "B/op",
            Unit::PerOperation => "/op",
            Unit::Bytes => "B",
            Unit::BytesPerSecond => "B/s",
            Unit::PerSecond => "/s",
            Unit::Count => "count",
            Unit::Share => "share",
            Unit::Number => "number",
        };
        let better = match figure.better {
            BetterDirection::Lower => "'lower'",
            BetterDirection::Higher => "'higher'",
            BetterDirection::Neither => "null",
        };
        let (name, title, processes) = (figure.name, figure.title, figure.of_processes);
        writeln!(text, "  ['{name}', '{title}', '{unit}', {better}, {processes}],").unwrap();
    }
    text + "];\n"
}

#[test]
fn the_page_has_the_registry_as_it_is() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/figures.ts");
    let made = typescript();
    if std::env::var_os("JSONATHLON_WRITE_FIGURES").is_some() {
        std::fs::write(&file, &made).unwrap();
    }
    let there = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(there, made, "JSONATHLON_WRITE_FIGURES=1 writes it anew; then build the page again");
}
