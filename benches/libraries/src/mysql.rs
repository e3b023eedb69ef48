//! MySQL: point reads by a prepared statement, and all rows of one answer.

use std::path::Path;

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder, Row};

use crate::ours::{Counted, Started, read_points};
use crate::pairs::{Side, compare as pairs};
use crate::{Problem, READS, RECORDS, key};

const POINT: &str = "SELECT doc FROM bench WHERE key_ = ?";
const ALL: &str = "SELECT key_, doc FROM bench";

pub(crate) fn compare(program: &Path) -> Result<(), Problem> {
    let started = Started::new(program, "mysql", "json-only")?;
    let mut session = started.connect()?;
    for statement in [
        "CREATE TABLE bench (key_ BIGINT PRIMARY KEY, doc JSON NOT NULL)",
        "SET SESSION cte_max_recursion_depth = 20000",
        "INSERT INTO bench WITH RECURSIVE s(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM s WHERE k < 19999) \
         SELECT k, JSON_OBJECT('field0', REPEAT(MD5(k), 10), 'field1', REPEAT(MD5(-k), 10), \
                               'field2', REPEAT(SHA1(k), 10)) FROM s",
        "ANALYZE TABLE bench",
    ] {
        session.collect(statement)?;
    }
    let at = &started.endpoint;
    let options = OptsBuilder::new()
        .prefer_socket(false)
        .ip_or_hostname(Some(&at.host))
        .tcp_port(at.port)
        .user(Some(&at.user))
        .pass(Some(&at.password.0))
        .db_name(Some(&at.database));
    let mut client = Conn::new(options)?;
    let point = client.prep(POINT)?;
    let mut lane = started.lane()?;
    let mut points = read_points(&mut *lane, POINT)?;
    pairs(
        "mysql, point reads",
        [
            Side { name: "ours", pass: &mut || points(&mut *lane) },
            Side {
                name: "the library",
                pass: &mut || {
                    for read in 0..READS {
                        let row: Row = client.exec_first(&point, (key(read),))?.ok_or("no row")?;
                        std::hint::black_box(row.as_ref(0));
                    }
                    Ok(())
                },
            },
        ],
    )?;
    pairs(
        "mysql, all rows of one answer",
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
                    let mut count = 0;
                    for row in client.query_iter(ALL)? {
                        std::hint::black_box(row?.as_ref(1));
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
