//! Tests of what a run prints for people: tables that fit, and an answer at the end.

use serde_json::json;

use crate::support::process::Ended;
use crate::support::{LIMIT, Running, World, mock};

/// Two systems of different speed, and one that does not answer the second question.
fn world() -> World {
    let slow = json!({"delay_ms": {"q1": 5, "q2": 5, "q3": 5, "q4": 5, "q5": 5, "q6": 5}});
    let broken = json!({"faults": [{"statement": "q2", "action": "crash"}]});
    World::with(&[mock("ma", json!({})), mock("mb", slow), mock("bad", broken)])
}

/// Arguments of a small run of analytics into the folder `out`, printed as tables.
fn arguments<'a>(folder: &'a str, out: &'a str, names: &'a str) -> Vec<&'a str> {
    let run = ["run", "--systems-dir", folder, "-s", names, "--no-yardstick", "-o", out];
    let few = ["-n", "300", "-r", "5", "-t", "1", "--load-rounds", "1"];
    [&run[..], &few].concat()
}

/// What the program prints on a terminal of so many columns.
fn on_terminal(world: &World, arguments: &[&str], columns: u16, code: i32) -> Ended {
    let command = world.command(arguments);
    Running::start_on_terminal(command, &world.path(""), columns).end(LIMIT).expect(code)
}

/// Text without colours and carriage returns, as a terminal shows it.
fn plain(text: &str) -> String {
    regex::Regex::new("\u{1b}\\[[0-9;]*m|\r").unwrap().replace_all(text, "").into_owned()
}

/// Fails unless each line fits. Paths of this world may be longer, because they must not be broken.
fn assert_fits(world: &World, text: &str, columns: usize) {
    let world = world.text("");
    let mut lines = text.lines().filter(|line| !line.contains(&world));
    assert!(lines.all(|line| line.chars().count() <= columns), "{text}");
}

/// Tables, and the lines of the answer behind them.
fn split(text: &str) -> (&str, Vec<&str>) {
    let (tables, answer) = text.split_once("\nanswer\n").unwrap_or_else(|| panic!("no answer in\n{text}"));
    (tables, answer.lines().collect())
}

#[test]
fn a_run_on_a_small_terminal_ends_with_its_answer() {
    let world = world();
    let (folder, out) = (world.text("systems"), world.text("out"));
    let printed = on_terminal(&world, &arguments(&folder, &out, "ma,mb"), 80, 0).stdout;
    assert!(printed.contains("\u{1b}[1manswer"), "{printed}");
    let text = plain(&printed);
    let (tables, answer) = split(&text);
    assert_fits(&world, tables, 80);
    assert_fits(&world, &answer.join("\n"), 80);
    assert!(answer.len() < 12, "{answer:#?}");
    // Relative to the folder in which the program runs.
    assert_eq!(answer.last(), Some(&"  page: out/report.html"));
    assert!(answer.iter().any(|line| line.contains("The system ma") && line.contains('×')), "{answer:#?}");
    assert!(!text.contains('✖'), "{text}");
    assert!(tables.contains("in all rows: class as-is; "), "{tables}");
    // A finished run that is resumed prints the same, and as wide as the terminal is.
    let resume = ["run", "--systems-dir", &folder, "--resume", &out];
    let wide = plain(&on_terminal(&world, &resume, 120, 0).stdout);
    let (tables, wide_answer) = split(&wide);
    assert_eq!(wide_answer, answer);
    assert_fits(&world, tables, 120);
}

#[test]
fn a_run_into_a_pipe_has_no_colours_and_lines_of_100_columns() {
    let world = world();
    let (folder, out) = (world.text("systems"), world.text("out"));
    let printed = world.run(&arguments(&folder, &out, "ma,bad")).expect(1).stdout;
    assert!(!printed.contains(['\u{1b}', '\r']), "{printed}");
    let (tables, answer) = split(&printed);
    assert_fits(&world, tables, 100);
    assert!(answer.first().is_some_and(|line| line.starts_with("✖ ")), "{answer:#?}");
    // An export prints the same; with all columns the lines are longer.
    assert_eq!(world.run(&["export", &out]).expect(0).stdout, printed);
    let full = world.run(&["export", "--tables", "full", &out]).expect(0).stdout;
    let (full_tables, full_answer) = split(&full);
    assert_eq!(full_answer, answer);
    let heading = full_tables.lines().find(|line| line.contains("95 % interval")).unwrap();
    assert!(heading.contains("compacted after") && heading.chars().count() > 100, "{heading}");
    let failed = on_terminal(&world, &["export", &out], 100, 0).stdout;
    assert!(failed.contains("\u{1b}[31m✖ "), "{failed}");
}
