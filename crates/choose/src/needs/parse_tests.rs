use super::*;
use crate::dimension::Dimension;

const EVERYTHING: &str = r#"
[documents]
now = "2m"
later = 500_000_000
key = "/order/id"
[load]
reads = 0.7
updates = 0.2
inserts = 0.1
scans = 0.0
update = "/status"
clients = 8
rate = "2k"
[reports]
questions = "my-questions"
streams = 2
[needs]
durability = "synced"
round_trip = "same values"
rejected = "0.5%"
response = "p99.9 < 10ms"
report = "median < 2s"
size = "later < 400GB"
kind = "any"
[prefer]
order = ["response p99", "size", "report", "capacity"]
"#;

fn error(text: &str) -> String {
    NeedsFile::parse(text, "needs.toml").unwrap_err().to_string()
}

#[test]
fn every_key_is_read() {
    let file = NeedsFile::parse(EVERYTHING, "needs.toml").unwrap();
    assert_eq!(
        file.documents,
        DocumentsSection {
            now: Some(2_000_000),
            later: Some(500_000_000),
            key: Some("/order/id".to_owned())
        }
    );
    let load = file.load.clone().unwrap();
    assert_eq!((load.reads, load.updates, load.inserts, load.scans), (0.7, 0.2, 0.1, 0.0));
    assert_eq!((load.update.as_deref(), load.clients, load.rate), (Some("/status"), 8, Some(2_000.0)));
    assert_eq!(file.reports, Some(ReportsSection { questions: Some("my-questions".into()), streams: 2 }));
    let expected = [
        Need::Durability(DurabilityTier::Synced),
        Need::RoundTrip(RoundTripLevel::SameValues),
        Need::Rejected(0.005),
        Need::Rate(2_000.0),
        Need::Response { quantile: Quantile::P999, below_s: 0.01 },
        Need::Report(2.0),
        Need::Size { at: SizeAt::Later(500_000_000), below_bytes: 4e11 },
        Need::Kind(WantedKind::Any),
    ];
    assert_eq!(file.needs, expected);
    assert_eq!(
        file.prefer,
        [Criterion::Response(Quantile::P99), Criterion::Size, Criterion::Report, Criterion::Capacity]
    );
    assert_eq!(file.need(Dimension::Report), Some(&Need::Report(2.0)));
    let words: Vec<String> = file.needs.iter().map(Need::limit_words).collect();
    let expected = [
        "synced",
        "same values",
        "at most 0.5 %",
        "2,000/s",
        "p99.9 < 10 ms",
        "median < 2 s",
        "later < 400 GB",
        "any",
    ];
    assert_eq!(words, expected);
}

#[test]
fn every_key_is_optional() {
    assert_eq!(NeedsFile::parse("", "needs.toml").unwrap(), NeedsFile::default());
    assert_eq!(NeedsFile::parse("[documents]\n[needs]\n[prefer]\n", "f").unwrap(), NeedsFile::default());
    let file = NeedsFile::parse("[load]\n[reports]\n", "needs.toml").unwrap();
    let load = file.load.unwrap();
    assert_eq!((load.reads, load.updates, load.clients, load.rate), (0.5, 0.5, DEFAULT_CLIENTS, None));
    assert_eq!(file.reports, Some(ReportsSection { questions: None, streams: 1 }));
    assert!(file.needs.is_empty());
    // What is not said has no share.
    let load = NeedsFile::parse("[load]\nreads = 1", "needs.toml").unwrap().load.unwrap();
    assert_eq!((load.reads, load.updates), (1.0, 0.0));
}

#[test]
fn unknown_names_are_refused_with_the_nearest_one() {
    for (text, message) in [
        (
            "[needs]\nkind = \"any\"\nresponce = \"p99 < 1ms\"",
            "needs.toml:3: [needs] has no key `responce` (did you mean `response`?); its keys are durability, \
             round_trip, rejected, response, report, size, kind",
        ),
        (
            "\n\n[laod]\nreads = 1",
            "needs.toml:3: unknown section [laod] (did you mean `load`?); there are [documents], [load], \
             [reports], [needs], [prefer]",
        ),
        ("[needs]\nrate = 2000", "needs.toml:2: [needs] has no key `rate`; it belongs into [load]"),
        (
            "[needs]\ndurability = \"sinced\"",
            "needs.toml:2: needs.durability: `sinced` is not allowed (did you mean `synced`?); write `synced`, \
             `process` or `window`",
        ),
        (
            "[needs]\nkind = \"cloud\"",
            "needs.toml:2: needs.kind: `cloud` is not allowed; write `server`, `embedded` or `any`",
        ),
        (
            "[load]\n[prefer]\norder = [\"response p98\"]",
            "needs.toml:3: prefer.order: `response p98` is not allowed (did you mean `response p90`?); write \
             `response p50`, `response p90`, `response p99`, `response p99.9`, `report`, `size` or `capacity`",
        ),
    ] {
        assert_eq!(error(text), message);
    }
}

#[test]
fn unknown_units_are_refused() {
    for (text, message) in [
        (
            "[load]\n[needs]\nresponse = \"p99 < 10msec\"",
            "needs.toml:3: needs.response: `msec` is no unit of a time; units are µs, ms, s, min, h",
        ),
        (
            "[load]\n[needs]\nresponse = \"p99 < 10\"",
            "needs.toml:3: needs.response: `10` has no unit: write one of µs, ms, s, min, h behind it",
        ),
        (
            "[needs]\nsize = \"now < 4 gallons\"",
            "needs.toml:2: needs.size: `gallons` is no unit of a size; units are B, kB, MB, GB, TB, KiB, MiB, GiB, \
             TiB",
        ),
        (
            "[needs]\nrejected = \"3\"",
            "needs.toml:2: needs.rejected: `3` has no unit: write `0 %` or `0.5 %`",
        ),
        (
            "[documents]\nnow = \"2 dozen\"",
            "needs.toml:2: documents.now: `2 dozen` is no count: write 100000, \"100k\" or \"1.5m\"",
        ),
    ] {
        assert_eq!(error(text), message);
    }
}

#[test]
fn contradictions_are_refused_in_one_sentence() {
    for (text, message) in [
        (
            "[documents]\nnow = 1000\nlater = 500",
            "needs.toml:3: documents.later: 500 is less than documents.now",
        ),
        (
            "[documents]\nkey = \"line\"\n[load]\nreads = 0.5\nscans = 0.5",
            "needs.toml:5: load.scans: scans read documents in the order of their keys, and documents.key = \
             \"line\" gives them none",
        ),
        (
            "\n[load]\nreads = 0.7\nupdates = 0.2",
            "needs.toml:2: reads, updates, inserts and scans add up to 0.9 and not to 1",
        ),
        (
            "[load]\nreads = 0.0\nrate = 100",
            "needs.toml:1: [load] has a rate, and no operation has a share of it",
        ),
        (
            "[load]\nreads = 1.0\nupdate = \"/a\"",
            "needs.toml:3: load.update: \"/a\" is never set, because updates have no share",
        ),
        (
            "[needs]\nresponse = \"p99 < 10ms\"",
            "needs.toml:2: needs.response: response times are those of operations, and there is no [load]",
        ),
        (
            "[load]\ninserts = 1.0\n[needs]\nresponse = \"p99 < 10ms\"",
            "needs.toml:4: needs.response: response times are those of reads and updates, and [load] has neither",
        ),
        (
            "[needs]\nreport = \"median < 2s\"",
            "needs.toml:2: needs.report: reports are questions, and there is no [reports]",
        ),
        (
            "[needs]\nsize = \"later < 4GB\"",
            "needs.toml:2: needs.size: `later` is a number of documents, and there is no documents.later",
        ),
        (
            "[prefer]\norder = [\"size\", \"response p99\"]",
            "needs.toml:2: prefer.order: response times are those of operations, and there is no [load]",
        ),
        (
            "[prefer]\norder = [\"capacity\"]",
            "needs.toml:2: prefer.order: the capacity is that of operations, and there is no [load]",
        ),
        (
            "[prefer]\norder = [\"report\"]",
            "needs.toml:2: prefer.order: reports are questions, and there is no [reports]",
        ),
        ("[prefer]\norder = [\"size\", \"size\"]", "needs.toml:2: prefer.order: `size` stands there twice"),
    ] {
        assert_eq!(error(text), message);
    }
}

#[test]
fn other_values_are_refused() {
    for (text, message) in [
        (
            "rate = 3",
            "needs.toml:1: a needs file consists of sections such as [needs], and this stands in none",
        ),
        ("[load]\nreads = 1.5", "needs.toml:2: load.reads: 1.5 is not between 0 and 1"),
        ("[load]\nclients = 0", "needs.toml:2: load.clients: 0 is not a whole number from 1"),
        ("[load]\nclients = 70000", "needs.toml:2: load.clients: 70000 is more than 65535"),
        ("[load]\nrate = 0", "needs.toml:2: load.rate: 0 is not a number of operations per second above 0"),
        (
            "[documents]\nkey = \"id\"",
            "needs.toml:2: documents.key: `id` is no JSON pointer: write one such as /order/id, or `line`",
        ),
        (
            "[documents]\nkey = \"/a~2\"",
            "needs.toml:2: documents.key: `/a~2` is no JSON pointer: write one such as /order/id, or `line`",
        ),
        ("[reports]\nquestions = \"\"", "needs.toml:2: reports.questions: the text is empty"),
        (
            "[reports]\n[needs]\nreport = \"2s\"",
            "needs.toml:3: needs.report: `2s` is no limit: write one such as `median < 2s`",
        ),
        (
            "[reports]\n[needs]\nreport = \"median <= 2s\"",
            "needs.toml:3: needs.report: `median <= 2s`: a limit is written with `<`, such as `median < 2s`",
        ),
        (
            "[reports]\n[needs]\nreport = \"p99 < 2s\"",
            "needs.toml:3: needs.report: `p99` is not allowed; write `median`",
        ),
        (
            "[needs]\nrejected = \"101 %\"",
            "needs.toml:2: needs.rejected: `101 %` is not a percentage from 0 % to 100 %",
        ),
        ("[needs]\nkind = 3", "needs.toml:2: needs.kind: 3 is not a text in quotes"),
    ] {
        assert_eq!(error(text), message);
    }
    let error = error("[needs]\nkind = \n");
    assert!(error.starts_with("needs.toml:2: "), "{error}");
}
