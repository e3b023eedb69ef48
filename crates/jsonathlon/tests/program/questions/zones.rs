//! Times are shown in UTC, independent of the time zone of the user.

use jsonathlon_schema::record::{AnswerStatus, ExpectedAnswerSource};

use super::{agreement, documents, folder};
use crate::support::process::Running;
use crate::support::real::included;
use crate::support::{LIMIT, World};

/// The hour in which 1970 began in the session's zone, and the number of other zone settings that the system
/// has.
const HOUR: &str = r#"
[[question]]
name = "hour"
title = "The hour at which 1970 began"
columns = [{ name = "hour", type = "number" }, { name = "elsewhere", type = "number" }]
"#;

const STATEMENTS: [(&str, &str); 4] = [
    (
        "sqlite",
        "SELECT CAST(strftime('%H', 0, 'unixepoch', 'localtime') AS INTEGER) AS hour, 0 AS elsewhere FROM {{table}} LIMIT 1;\n",
    ),
    ("duckdb", "SELECT extract(hour FROM to_timestamp(0)) AS hour, 0 AS elsewhere FROM {{table}} LIMIT 1;\n"),
    (
        "clickhouse",
        "SELECT toHour(toDateTime(0)) AS hour, toUInt8(serverTimezone() NOT LIKE '%UTC') AS elsewhere FROM {{table}} LIMIT 1;\n",
    ),
    (
        "postgresql",
        "SELECT extract(hour FROM to_timestamp(0))::int AS hour, (SELECT count(*) FROM pg_settings WHERE name IN \
         ('TimeZone', 'log_timezone') AND reset_val NOT LIKE '%UTC')::int AS elsewhere FROM {{table}} LIMIT 1;\n",
    ),
];

#[test]
fn every_session_and_every_data_folder_is_utc_whoever_begins() {
    let systems = included(&STATEMENTS.map(|(name, _)| name));
    let world = World::new();
    let data = documents(&world);
    folder(&world, &[("questions.toml", HOUR), ("expected.json", r#"{"hour": [[0, 0]]}"#)]);
    for (name, text) in STATEMENTS {
        folder(&world, &[(&format!("{name}/hour.sql"), text)]);
    }
    // Both share one cache, so that the second finds what the first has created.
    for zone in ["Asia/Tokyo", "America/New_York", "No/Such_Zone"] {
        let (out, questions) = (world.text(&zone.replace('/', "-")), world.text("q"));
        let names = systems.join(",");
        let mut command = world.command(&["run", "questions", "-q", &questions, "-d", &data, "-s", &names]);
        command.args(["--json", "-o", &out, "-r", "1", "-t", "1", "--load-rounds", "1"]).env("TZ", zone);
        let summary = Running::start(command, &world.path("")).end(LIMIT).expect(0).summary();
        let found = agreement(&summary, "hour");
        assert_eq!(found.basis, ExpectedAnswerSource::Expected, "{zone}: {found:#?}");
        for standing in &found.answers {
            assert_eq!(standing.answer, AnswerStatus::Same, "{zone}: {standing:#?}");
        }
        assert_eq!(found.answers.len(), systems.len());
    }
    world.nothing_left();
}
