//! Import and export of large documents by the program, compared with `\copy` of the same package's `psql`.
//!
//!     cargo bench -p jsonathlon --bench documents_copy -- json|jsonb [MEBIBYTES [PAIRS [ORDINALS…]]]
//!
//! Same server, table and documents, in the order A B B A …. Result: median ratio of the pairs (disturbances
//! cancel out within a pair), order-statistics interval (needs six pairs), our CPU ÷ time. Ours: worker's
//! statement time (export counts and hashes). Theirs: `\timing` (export to /dev/null). Process start and
//! login are excluded. Before each import, untimed, the table is emptied and a checkpoint written.

mod common;

use std::{
    io::{BufWriter, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use common::{
    LIMIT, Problem,
    beside::{Beside, TABLE, psql_seconds},
    limits, numbers,
};

use jsonathlon_catalogue::DOCUMENTS;
use jsonathlon_dataset::nested::{InnerContent, NestedGenerator, NestedTable};
use jsonathlon_stats::statistics::median;
use jsonathlon_worker::protocol::{ExportReply, LoadMethod, LoadReply, Op};

/// Ordinals of documents of 64 KiB, 1 MiB and 16 MiB.
const ORDINALS: [u64; 3] = [12, 16, 20];

fn main() -> Result<(), Problem> {
    let named = |variant: &&str| std::env::args().any(|argument| argument == **variant);
    let variants: Vec<&str> = ["json", "jsonb"].into_iter().filter(|variant| named(variant)).collect();
    if variants.is_empty() {
        // Called by `cargo bench` without arguments, which runs all benchmarks.
        println!("name a variant of PostgreSQL: json, jsonb");
        return Ok(());
    }
    let given = numbers();
    let total = given.first().copied().unwrap_or(64) << 20;
    let pairs = given.get(1).copied().unwrap_or(10);
    let ordinals = if given.len() > 2 { &given[2..] } else { &ORDINALS[..] };
    // The server's user must be able to access its data.
    let open = std::fs::Permissions::from_mode(0o755);
    let scratch = tempfile::Builder::new().permissions(open).tempdir()?;
    for variant in variants {
        let mut server = Started::new(&scratch.path().join(variant), variant)?;
        for ordinal in ordinals {
            let table =
                NestedTable::with_total_bytes(u32::try_from(*ordinal)?, total, InnerContent::Identical, 1)?;
            let files = Files::new(scratch.path(), table)?;
            println!("{variant}: {table}, {pairs} pairs");
            for (what, ours, theirs) in [
                ("import", Started::load as Side, Started::copy_in as Side),
                ("export", Started::export as Side, Started::copy_out as Side),
            ] {
                compare(
                    what,
                    pairs,
                    |server| ours(server, &files),
                    |server| theirs(server, &files),
                    &mut server,
                )?;
            }
        }
        server.server.engine.close(LIMIT)?;
    }
    Ok(())
}

/// Seconds of a statement, and client CPU seconds of this program; `None` for `psql`.
type Timed = (f64, Option<f64>);
/// One of the two sides that are compared.
type Side = fn(&mut Started, &Files) -> Result<Timed, Problem>;

fn compare(
    what: &str,
    pairs: u64,
    ours: impl Fn(&mut Started) -> Result<Timed, Problem>,
    theirs: impl Fn(&mut Started) -> Result<Timed, Problem>,
    server: &mut Started,
) -> Result<(), Problem> {
    let (mut ratios, mut shares, mut times) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..=pairs {
        // Each side goes first in half of the pairs; pair 0 only warms up.
        let ((own, cpu), (other, _)) = if pair % 2 == 0 {
            let own = ours(server)?;
            (own, theirs(server)?)
        } else {
            let other = theirs(server)?;
            (ours(server)?, other)
        };
        if pair == 0 {
            continue;
        }
        let share = cpu.unwrap_or(f64::NAN) / own;
        println!(
            "{what} {pair:>2}  ours {:.1} ms, {:.1} % of it our CPU  psql {:.1} ms  ratio {:.3}",
            own * 1e3,
            share * 1e2,
            other * 1e3,
            other / own
        );
        ratios.push(other / own);
        shares.push(share);
        times.push(own);
    }
    let (low, high) = limits(&ratios).unwrap_or((f64::NAN, f64::NAN));
    let middle = |all: &[f64]| median(all).unwrap_or(f64::NAN);
    println!(
        "{what}: {:.3} × as fast as psql (95 %: {low:.3} … {high:.3}); {:.1} ms, client's CPU {:.1} % of it",
        middle(&ratios),
        middle(&times) * 1e3,
        middle(&shares) * 1e2
    );
    Ok(())
}

/// Files with the same documents, in the format of each side.
struct Files {
    table: NestedTable,
    ours: PathBuf,
    theirs: PathBuf,
}

impl Files {
    fn new(folder: &Path, table: NestedTable) -> Result<Self, Problem> {
        let (ours, theirs) = (folder.join("documents.ndjson"), folder.join("documents.copy"));
        let mut maker = NestedGenerator::new(table);
        let (mut one, mut other) =
            (BufWriter::new(std::fs::File::create(&ours)?), BufWriter::new(std::fs::File::create(&theirs)?));
        for key in 0..table.documents {
            maker.line(key, &mut one)?;
            // These documents contain nothing that has to be escaped.
            write!(other, "{key}\t")?;
            maker.document(key, &mut other)?;
            other.write_all(b"\n")?;
        }
        one.flush()?;
        other.flush()?;
        Ok(Self { table, ours, theirs })
    }
}

/// The server, with the program's statements.
struct Started {
    server: Beside,
    load: String,
    export: String,
}

impl Started {
    fn new(scratch: &Path, variant: &str) -> Result<Self, Problem> {
        let server = Beside::start(scratch, "postgresql", variant, DOCUMENTS, |open| open)?;
        let (load, export) = (server.statement("load")?, server.statement("export")?);
        Ok(Self { server, load, export })
    }

    fn empty(&mut self) -> Result<(), Problem> {
        self.server.run(&["TRUNCATE documents", "CHECKPOINT"])
    }

    fn load(&mut self, files: &Files) -> Result<Timed, Problem> {
        self.empty()?;
        let load = LoadMethod::Keyed { statement: self.load.clone(), file: files.ours.clone() };
        // The commit makes it durable, as it does for `psql`.
        let loaded: LoadReply = self.server.ask(&Op::Load { load, sync: false })?;
        if loaded.documents != Some(files.table.documents) {
            return Err(format!("{:?} documents were loaded", loaded.documents).into());
        }
        Ok((loaded.seconds, loaded.usage.client_cpu_s))
    }

    fn copy_in(&mut self, files: &Files) -> Result<Timed, Problem> {
        self.empty()?;
        self.psql(&format!(r"\copy {TABLE} (key, doc) from '{}'", files.theirs.display()), files)
    }

    fn export(&mut self, files: &Files) -> Result<Timed, Problem> {
        let out: ExportReply =
            self.server.ask(&Op::Export { statement: self.export.clone(), values: false })?;
        if out.documents != files.table.documents {
            return Err(format!("{} documents came out", out.documents).into());
        }
        Ok((out.seconds, out.usage.client_cpu_s))
    }

    fn copy_out(&mut self, files: &Files) -> Result<Timed, Problem> {
        self.psql(&format!(r"\copy (SELECT doc FROM {TABLE}) to '/dev/null'"), files)
    }

    fn psql(&self, copy: &str, files: &Files) -> Result<Timed, Problem> {
        let output = self.server.psql(copy).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let seconds = psql_seconds(&said);
        let all = said.lines().any(|line| line == format!("COPY {}", files.table.documents));
        match seconds.filter(|_| all && output.status.success()) {
            Some(seconds) => Ok((seconds, None)),
            None => Err(format!("psql: {said}{}", String::from_utf8_lossy(&output.stderr)).into()),
        }
    }
}
