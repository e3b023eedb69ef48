//! The clients and the JSON scanner of the program, beside the libraries that could be used instead: point
//! reads, rows of one answer, and reading of documents.
//!
//!     cargo run --release -- PROGRAM [postgresql] [mysql] [mongodb] [scanner]
//!
//! PROGRAM is the path of the program, which guards the servers. Each ratio is ours ÷ theirs, less than 1
//! being better for ours. One connection, over TCP on this machine.

#![forbid(unsafe_code)]

mod mongodb;
mod mysql;
mod ours;
mod pairs;
mod postgresql;
mod scanner;

pub(crate) type Problem = Box<dyn std::error::Error>;

/// Number of records in the table, whose keys are 0, 1, 2 …
pub(crate) const RECORDS: i64 = 20_000;
/// Number of point reads of one pass.
pub(crate) const READS: i64 = 4_000;

/// Key of the nth point read of a pass: a walk over all records in an order that no cache foresees.
pub(crate) fn key(read: i64) -> i64 {
    read * 7_919 % RECORDS
}

fn main() -> Result<(), Problem> {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().ok_or("name the program, then what to compare")?;
    for what in arguments {
        match what.as_str() {
            "postgresql" => postgresql::compare(program.as_ref())?,
            "mysql" => mysql::compare(program.as_ref())?,
            "mongodb" => mongodb::compare(program.as_ref())?,
            "scanner" => scanner::compare()?,
            other => return Err(format!("`{other}` is none of postgresql, mysql, mongodb, scanner").into()),
        }
    }
    Ok(())
}
