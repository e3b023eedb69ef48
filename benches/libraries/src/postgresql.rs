//! PostgreSQL: point reads by a prepared statement, and all rows of one answer.

use std::path::Path;

use postgres::fallible_iterator::FallibleIterator;
use postgres::{Client, Config, NoTls};

use crate::ours::{Counted, Started, read_points};
use crate::pairs::{Side, compare as pairs};
use crate::{Problem, READS, RECORDS, key};

const POINT: &str = "SELECT doc FROM bench WHERE key_ = $1";
const ALL: &str = "SELECT key_, doc FROM bench";

pub(crate) fn compare(program: &Path) -> Result<(), Problem> {
    let started = Started::new(program, "postgresql", "json-only")?;
    let mut session = started.connect()?;
    for statement in [
        "CREATE TABLE bench (key_ bigint PRIMARY KEY, doc jsonb NOT NULL)",
        "INSERT INTO bench SELECT k, jsonb_object_agg('field' || f, left(repeat(md5(k || '-' || f), 4), 100)) \
         FROM generate_series(0, 19999) k, generate_series(0, 9) f GROUP BY k",
        "VACUUM (FREEZE, ANALYZE) bench",
    ] {
        session.collect(statement)?;
    }
    let at = &started.endpoint;
    let mut client: Client = Config::new()
        .host(&at.host)
        .port(at.port)
        .user(&at.user)
        .password(&at.password.0)
        .dbname(&at.database)
        .connect(NoTls)?;
    let point = client.prepare(POINT)?;
    let all = client.prepare(ALL)?;
    let mut lane = started.lane()?;
    let mut points = read_points(&mut *lane, POINT)?;
    pairs(
        "postgresql, point reads",
        [
            Side { name: "ours", pass: &mut || points(&mut *lane) },
            Side {
                name: "the library",
                pass: &mut || {
                    for read in 0..READS {
                        let row = client.query_one(&point, &[&key(read)])?;
                        std::hint::black_box(row.try_get::<_, Text<'_>>(0)?.0.len());
                    }
                    Ok(())
                },
            },
        ],
    )?;
    pairs(
        "postgresql, all rows of one answer",
        [
            Side {
                name: "ours",
                pass: &mut || {
                    let mut counted = Counted::default();
                    session.ask(ALL, &mut counted)?;
                    if counted.rows as i64 != RECORDS {
                        return Err(format!("{} rows of {} bytes", counted.rows, counted.bytes).into());
                    }
                    Ok(())
                },
            },
            Side {
                name: "the library",
                pass: &mut || {
                    let mut rows = client.query_raw(&all, [] as [i64; 0])?;
                    let mut count = 0;
                    while let Some(row) = rows.next()? {
                        std::hint::black_box(row.try_get::<_, Text<'_>>(1)?.0.len());
                        count += 1;
                    }
                    if count == RECORDS { Ok(()) } else { Err(format!("{count} rows").into()) }
                },
            },
        ],
    )?;
    session.close()?;
    lane.close();
    started.stop()
}

/// Text of a `jsonb`, behind its version byte, checked as ours is.
struct Text<'a>(&'a str);

impl<'a> postgres::types::FromSql<'a> for Text<'a> {
    fn from_sql(
        _: &postgres::types::Type,
        raw: &'a [u8],
    ) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(std::str::from_utf8(raw.get(1..).unwrap_or_default())?))
    }

    fn accepts(_: &postgres::types::Type) -> bool {
        true
    }
}
