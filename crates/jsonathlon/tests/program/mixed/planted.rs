//! Real systems that are set up to answer of more than one moment: each must be found out.
//!
//! Every statement that asks is one request, as in the built-in folders. What differs is what the system makes of it.

use std::path::PathBuf;

use jsonathlon_results::cell_summary::CellSummary;
use jsonathlon_results::summary::Summary;
use jsonathlon_schema::record::{FailureKind, Finding, Phase, Verdict};

use crate::mixed::{ASKED, ASKING, entries};
use crate::support::real::{SMALL, built_in, copy, excluded, soon_up};
use crate::support::{LIMIT, World};

/// Load of which the documents that may come in last for several times the phase.
const LOAD: [&str; 6] = ["-n", "4000", "--growth", "200%", "--rate", "1000"];
/// A batch comes in every tenth of a second.
const USUAL: [&str; 4] = ["--batch", "100", "--measure", "2s"];
/// A longer phase, for systems that show new documents only now and then.
const LONG: [&str; 4] = ["--batch", "100", "--measure", "4s"];
/// A batch comes in every fiftieth of a second, for systems in which nothing widens the gap within a question.
const SMALL_BATCHES: [&str; 4] = ["--batch", "20", "--measure", "2s"];

/// Folder of a built-in system in a world, with changes.
struct Planted {
    folder: PathBuf,
}

impl Planted {
    /// Copies the built-in folder, unless the world has one.
    fn new(world: &World, system: &str) -> Self {
        let folder = world.path("systems").join(system);
        if !folder.exists() {
            copy(&built_in(system), &folder);
        }
        Self { folder }
    }

    /// Adds lines to the end of the definition.
    fn with(self, lines: &str) -> Self {
        let file = self.folder.join("system.toml");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(file, text + lines).unwrap();
        self
    }

    /// Replaces a text of the definition.
    fn replacing(self, old: &str, new: &str) -> Self {
        let file = self.folder.join("system.toml");
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(old), "{old:?} is not in {}", file.display());
        std::fs::write(file, text.replace(old, new)).unwrap();
        self
    }

    /// Writes a statement file.
    fn file(self, name: &str, text: &str) -> Self {
        let file = self.folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
        self
    }
}

/// A default statement file of a protocol.
fn default_file(name: &str) -> String {
    std::fs::read_to_string(built_in("..").join("defaults").join(name)).unwrap()
}

/// Runs variants of a system and returns the summary of the run, which exits with this code.
fn run(world: &World, system: &str, variants: &str, more: &[&str], code: i32) -> Summary {
    let load = [LOAD.as_slice(), &SMALL, &["--variants", variants], more].concat();
    let summary = world.start_mixed("out", system, &load).end(LIMIT).expect(code).summary();
    assert!(summary.complete);
    world.kept("out").is_complete();
    world.nothing_left();
    summary
}

/// The only entry of a variant's step in a phase.
fn entry<'s>(
    summary: &'s Summary,
    (system, variant): (&str, &str),
    phase: Phase,
    step: &str,
) -> &'s CellSummary {
    let all = entries(summary, system, phase, step);
    let found = all.into_iter().filter(|entry| entry.cell.id.variant == variant).collect::<Vec<_>>();
    let [entry] = found.as_slice() else { panic!("{} of {variant} {step} {}", found.len(), phase.word()) };
    entry
}

/// Asserts that a variant has no figures of its questions, because answers were wrong. Prints how many.
fn is_found_wrong(summary: &Summary, variant: (&str, &str)) {
    let mut failures = summary.failures.iter().filter(|failure| failure.cell.id.variant == variant.1);
    let wrong = failures.find(|failure| failure.kind == FailureKind::Wrong);
    let error = &wrong.unwrap_or_else(|| panic!("no wrong answer: {:#?}", summary.results)).error;
    println!("{} {}: {error}", variant.0, variant.1);
    assert!(error.contains("wrong; the first: q"), "{error}");
    for phase in ASKING {
        for step in ASKED {
            let entry = entry(summary, variant, phase, step);
            assert_eq!(entry.verdict, Verdict::Wrong, "{step} {}", phase.word());
            assert!(!entry.metrics.contains_key("questions_per_h"), "{step} {}", phase.word());
            assert!(!entry.metrics.contains_key("question_p50_us"), "{step} {}", phase.word());
        }
    }
    assert!(!is_compared(summary, variant), "{:?}", summary.comparisons);
}

/// Whether any questions beside writers of a variant are compared with another variant, or with themselves as the
/// best.
fn is_compared(summary: &Summary, (system, variant): (&str, &str)) -> bool {
    let mut ratios = summary.comparisons.iter();
    ratios.any(|ratio| {
        ratio.cell.id.system == system
            && ratio.cell.id.variant == variant
            && ratio.cell.phase == Phase::Both
            && ratio.cell.step.word() != "ingest"
    })
}

/// Asserts that all answers of a variant beside writers are right.
fn is_exact(summary: &Summary, variant: (&str, &str)) {
    for step in ASKED {
        let entry = entry(summary, variant, Phase::Both, step);
        assert_eq!(entry.verdict, Verdict::Exact, "{step}: {entry:?}");
        assert!(entry.metrics["questions_per_h"] > 0.0, "{step}: {entry:?}");
        assert!(entry.findings.is_empty(), "{step}: {entry:?}");
    }
    assert!(is_compared(summary, variant), "{:?}", summary.comparisons);
}

/// Asserts that answers of a variant beside writers were only compared with bounds. Returns the entry of all
/// questions.
fn is_bounded<'s>(summary: &'s Summary, variant: (&str, &str)) -> &'s CellSummary {
    let all = entry(summary, variant, Phase::Both, "all");
    assert_eq!(all.verdict, Verdict::Unverified, "{all:?}");
    assert!(all.metrics["bounded"] > 0.0 && all.metrics["wrong_answers"] == 0.0, "{:?}", all.metrics);
    assert!(!is_compared(summary, variant), "{:?}", summary.comparisons);
    println!("{} {}: {:?}", variant.0, variant.1, all.metrics);
    all
}

/// Counts with a statement of its own, after all rows of the answer are there.
const COUNTED_AFTERWARDS: &str = "\
CREATE FUNCTION seen_afterwards(question text, answered bigint) RETURNS text LANGUAGE plpgsql VOLATILE AS
$$ DECLARE seen text; BEGIN PERFORM pg_sleep(0.1); EXECUTE question INTO seen; RETURN seen; END $$;
";

/// Two statements in place of one: those of a volatile function have snapshots of their own.
const TWO_STATEMENTS: &str = "\
WITH a AS MATERIALIZED (
{{question}}
), s AS MATERIALIZED (
    SELECT seen_afterwards($question$
        SELECT json_agg(json_build_array(writer, documents, highest))::text
        FROM (
{{seen}}
        ) AS seen
    $question$, (SELECT count(*) FROM a)) AS seen
)
SELECT s.seen, a.*
FROM a CROSS JOIN s;
";

/// Isolation alone decides whether two statements are of one moment.
const TWO_ISOLATIONS: &str = r#"
[variants.read-committed]
title = "two statements at READ COMMITTED"
workloads = ["mixed"]
based_on = "generated"
default = true
open = { statements = ["SET default_transaction_isolation = 'read committed'"] }

[variants.repeatable-read]
title = "two statements at REPEATABLE READ"
workloads = ["mixed"]
based_on = "generated"
open = { statements = ["SET default_transaction_isolation = 'repeatable read'"] }
"#;

#[test]
fn postgresql_is_wrong_with_two_statements_at_read_committed_and_right_at_repeatable_read() {
    if excluded(&["postgresql"]) {
        return;
    }
    let world = World::new();
    let extend = default_file("postgres/mixed/extend.sql") + COUNTED_AFTERWARDS;
    Planted::new(&world, "postgresql")
        .file("mixed/extend.sql", &extend)
        .file("mixed/question.sql", TWO_STATEMENTS)
        .with(TWO_ISOLATIONS);
    let summary = run(&world, "postgresql", "read-committed,repeatable-read", &USUAL, 1);
    is_found_wrong(&summary, ("postgresql", "read-committed"));
    is_exact(&summary, ("postgresql", "repeatable-read"));
}

/// One statement is one snapshot at all isolation levels but this one.
const DIRTY: &str = r#"
[variants.dirty]
title = "one statement at READ UNCOMMITTED"
workloads = ["mixed"]
based_on = "generated"
default = true
open = { statements = ["SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"] }
"#;

#[test]
fn mysql_is_wrong_with_one_statement_at_read_uncommitted() {
    if excluded(&["mysql"]) {
        return;
    }
    let world = World::new();
    Planted::new(&world, "mysql").with(DIRTY);
    let summary = run(&world, "mysql", "dirty", &USUAL, 1);
    is_found_wrong(&summary, ("mysql", "dirty"));
}

/// A delay before each snapshot widens the gap between that of the answer and that of what it saw, if there are two.
const DELAYED: &str = r#"["SET merge_tree_storage_snapshot_sleep_ms = 100"]"#;

/// The setting that is stated for all variants of the built-in folder.
const STATED: &str = r#"["SET enable_shared_storage_snapshot_in_query = 1"]"#;

/// A delay alone changes nothing.
const TWO_SNAPSHOTS: &str = r#"
[variants.apart]
title = "parts of a question with snapshots of their own"
workloads = ["mixed"]
based_on = "challenge"
default = true
open = { statements = ["SET enable_shared_storage_snapshot_in_query = 0"] }

[variants.shared]
title = "parts of a question with one snapshot"
workloads = ["mixed"]
based_on = "challenge"
open = { statements = ["SET enable_shared_storage_snapshot_in_query = 1"] }
"#;

#[test]
fn clickhouse_is_wrong_where_parts_of_a_question_share_no_snapshot() {
    if excluded(&["clickhouse"]) {
        return;
    }
    let world = World::new();
    Planted::new(&world, "clickhouse").replacing(STATED, DELAYED).with(TWO_SNAPSHOTS);
    let summary = run(&world, "clickhouse", "apart,shared", &USUAL, 1);
    is_found_wrong(&summary, ("clickhouse", "apart"));
    is_exact(&summary, ("clickhouse", "shared"));
}

/// Shards are refreshed one after the other, so that documents of the same batch appear at different times.
const TWO_SHARDS: &str = r#"
[variants.undeclared]
title = "two shards, declared to answer from one snapshot"
workloads = ["mixed"]
based_on = "source"
values = { refresh_interval = "100ms", refresh = "false" }
"#;

#[test]
fn elasticsearch_with_two_shards_has_holes_which_are_never_exact() {
    if excluded(&["elasticsearch"]) {
        return;
    }
    let world = World::new();
    soon_up(&world.path("systems"));
    let create = default_file("elasticsearch/analytics/create.json");
    let two = create.replace("\"number_of_shards\": 1", "\"number_of_shards\": 2");
    assert_ne!(two, create);
    Planted::new(&world, "elasticsearch").file("analytics/create.json", &two).with(TWO_SHARDS);
    let summary = run(&world, "elasticsearch", "undeclared", &LONG, 0);
    let all = is_bounded(&summary, ("elasticsearch", "undeclared"));
    let (holes, bounded) = (all.metrics["holes"], all.metrics["bounded"]);
    assert!(holes > 0.0, "{:?}", all.metrics);
    assert_eq!(holes, bounded, "exactly the answers with holes are compared with bounds");
    let [finding] = all.findings.as_slice() else { panic!("{:?}", all.findings) };
    assert!(is_of_holes(finding), "{finding:?}");
}

fn is_of_holes(finding: &Finding) -> bool {
    let message = finding.message.as_deref().unwrap_or_default();
    finding.subject == "snapshot"
        && message.contains("of no single moment, although one statement is declared")
}

/// A server alone has no snapshots, whatever its folder says.
const WITHOUT_A_SET: &str = r#"
[variants.alone]
title = "a server alone, declared to answer from one snapshot"
workloads = ["mixed"]
based_on = "indexed"
values = { read_concern = "local" }

[variants.alone-with-snapshot]
title = "a server alone, asked for a snapshot that it does not have"
workloads = ["mixed"]
based_on = "indexed"
values = { read_concern = "snapshot" }
"#;

#[test]
fn mongodb_without_snapshots_is_bounded_where_declared_and_wrong_where_not() {
    if excluded(&["mongodb"]) {
        return;
    }
    let world = World::new();
    Planted::new(&world, "mongodb").with(WITHOUT_A_SET);
    let summary = run(&world, "mongodb", "local,alone,alone-with-snapshot", &SMALL_BATCHES, 1);
    let all = is_bounded(&summary, ("mongodb", "local"));
    assert_eq!(all.metrics["exact"], 0.0, "where no snapshot is declared, no answer counts as exact");
    assert!(all.findings.is_empty(), "{:?}", all.findings);
    is_found_wrong(&summary, ("mongodb", "alone"));
    let mut failures = summary.failures.iter();
    let refused = failures.find(|failure| failure.cell.id.variant == "alone-with-snapshot").unwrap();
    println!("mongodb alone-with-snapshot: {}", refused.error);
    assert_eq!(refused.kind, FailureKind::Refused, "{}", refused.error);
    assert!(refused.error.contains("eplica set"), "the server's own words: {}", refused.error);
}
