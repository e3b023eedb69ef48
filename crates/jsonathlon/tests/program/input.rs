//! Documents in every form that users have: empty, truncated, damaged, huge, odd, compressed, in folders, in
//! pipes and behind URLs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener};
use std::process::Stdio;

use jsonathlon_results::summary::Summary;
use jsonathlon_schema::record::Verdict;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::process::{Ended, Running};
use crate::support::{LIMIT, Look, QUESTIONS, World, eventually, mock};

/// Selects one variant of each of these systems.
fn one_each(systems: &[&str]) -> String {
    let variant = |system: &&str| match *system {
        "clickhouse" => "challenge",
        "duckdb" => "json",
        "postgresql" => "json-only",
        _ => "indexed",
    };
    systems.iter().map(variant).collect::<Vec<_>>().join(",")
}

/// Runs SQLite, which is part of the program, over `data`.
fn over(world: &World, data: &str) -> Ended {
    over_into(world, "out", data)
}

fn over_into(world: &World, out: &str, data: &str) -> Ended {
    let out = world.text(out);
    world.run(&["run", "-s", "sqlite", "--variants", "indexed", "-d", data, "-r", "1", "--json", "-o", &out])
}

fn right(ended: Ended) -> Summary {
    let summary = ended.expect(0).summary();
    summary.is_right("sqlite");
    summary
}

/// Asserts that a rejected input has left no manifest, staged file or table.
fn nothing_staged(world: &World) {
    assert!(!world.path("out/manifest.json").exists());
    if world.path("out/work").exists() {
        assert!(world.kept("out").work().is_empty(), "{:?}", world.kept("out").work());
    }
}

/// One event with `more` members in its record.
fn event(number: u64, more: &str) -> String {
    format!(
        r#"{{"did":"did:plc:aaaaaaaaaaaaaaaaaaaaaaa{number}","time_us":{},"kind":"commit","commit":{{"operation":"create","collection":"app.bsky.feed.post","record":{{"langs":["en"]{more}}}}}}}"#,
        1_700_000_000_000_000 + number
    )
}

#[test]
fn an_empty_input_says_so() {
    let world = World::new();
    for (name, content) in [("empty.json", ""), ("blank.json", "\n \r\n\n")] {
        let data = world.file(name, content);
        over(&world, &data).expect(2).says(&[&data, "holds no documents"]);
        nothing_staged(&world);
    }
}

#[test]
fn a_path_that_is_not_there_says_so() {
    let world = World::new();
    let data = world.text("nowhere/events.json");
    over(&world, &data).expect(2).says(&[&data, "no such file or folder"]);
    nothing_staged(&world);
}

#[test]
fn a_folder_without_documents_says_what_it_holds() {
    let world = World::new();
    std::fs::create_dir(world.path("data")).unwrap();
    over(&world, &world.text("data")).expect(2).says(&[&world.text("data"), "it is empty"]);
    world.file("data/notes.txt", "hello");
    std::fs::create_dir(world.path("data/deeper.json")).unwrap();
    over(&world, &world.text("data")).expect(2).says(&["holds no .json", "notes.txt"]);
    nothing_staged(&world);
}

#[test]
fn compressed_data_that_ends_early_or_is_damaged_says_so() {
    let world = World::new();
    for name in ["events.json.gz", "events.json.zst"] {
        let data = world.events(name, &["-n", "5k"]);
        let mut bytes = std::fs::read(&data).unwrap();
        bytes.truncate(bytes.len() * 2 / 3);
        std::fs::write(&data, &bytes).unwrap();
        let ended = over(&world, &data).expect(2);
        ended.says(&[&data, "ends too early", "whole documents", "copy or download the file again"]);
        nothing_staged(&world);
    }
    let data = world.events("damaged.json.gz", &["-n", "5k"]);
    let mut bytes = std::fs::read(&data).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].fill(0x55);
    std::fs::write(&data, &bytes).unwrap();
    over(&world, &data).expect(2).says(&[&data, "is damaged after"]);
    nothing_staged(&world);
}

/// A gzip file of some megabytes that decompresses to `head` followed by 10 GB of repeated `piece`.
fn bomb(world: &World, name: &str, head: &str, piece: &[u8]) -> String {
    const MEMBER: usize = 64 << 20;
    let pack = |content: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(content).unwrap();
        packed.finish().unwrap()
    };
    // Consecutive gzip members form one stream.
    let member = pack(&piece.repeat(MEMBER / piece.len()));
    let mut all = if head.is_empty() { Vec::new() } else { pack(head.as_bytes()) };
    (0..160).for_each(|_| all.extend_from_slice(&member));
    assert!(all.len() < 60_000_000, "{} bytes are no bomb", all.len());
    world.file(name, all)
}

#[test]
fn bombs_of_gzip_end_in_an_error_within_bounds() {
    let world = World::new();
    let one = event(0, "") + "\n";
    let zeros: &[u8] = &[0];
    for (name, head, piece, words) in [
        ("zeros.json.gz", "", zeros, "put one document on each line"),
        ("string.json.gz", "{\"text\":\"", b"a", "put one document on each line"),
        ("behind.json.gz", one.as_str(), b"a", "behind.json.gz, line 2 is longer than"),
        ("blank.json.gz", "", b"\n", "holds no documents"),
        ("rubbish.json.gz", "", b"x\n", "newline-delimited JSON is expected"),
        ("among.json.gz", one.as_str(), b"x\n", "newline-delimited JSON is expected"),
    ] {
        let data = bomb(&world, name, head, piece);
        // Limits memory to less than a tenth of the decompressed data, and disk space as well.
        let script = "ulimit -v 1500000; ulimit -f 2000000; exec \"$0\" \"$@\"";
        let mut command = std::process::Command::new("sh");
        let (program, out) = (crate::support::PROGRAM, world.text("out"));
        command.args([
            "-c",
            script,
            program,
            "run",
            "-s",
            "sqlite",
            "--variants",
            "indexed",
            "-d",
            &data,
            "-r",
            "1",
            "-o",
            &out,
        ]);
        command.env(crate::support::MARK, world.path("")).current_dir(world.path("")).stdin(Stdio::null());
        Running::start(command, &world.path("")).end(LIMIT).expect(2).says(&[&data, words]);
        nothing_staged(&world);
        std::fs::remove_file(data).unwrap();
    }
}

#[test]
fn a_folder_named_like_a_file_and_a_device_without_data_say_so() {
    let world = World::new();
    let folder = world.text("events.json.gz");
    std::fs::create_dir(&folder).unwrap();
    over(&world, &folder).expect(2).says(&[&folder, "it is empty"]);
    over(&world, "/dev/null").expect(2).says(&["/dev/null holds no documents"]);
    nothing_staged(&world);
}

#[test]
fn data_that_is_no_json_at_all_says_what_is_expected() {
    let world = World::new();
    let data = world.file("array.json", "[\n1,\n2\n]\n");
    over(&world, &data).expect(2).says(&["is a JSON object", "newline-delimited JSON is expected"]);
    nothing_staged(&world);
}

#[test]
fn lines_that_are_not_utf8_are_no_documents_and_nothing_else_is_lost() {
    let world = World::new();
    let data = world.events("events.ndjson", &["-n", "3k"]);
    let mut lines: Vec<Vec<u8>> =
        std::fs::read(&data).unwrap().split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    lines.insert(1000, b"{\"did\":\"\xff\xfe\",\"kind\":\"commit\"}".to_vec());
    lines.insert(2000, b"\xed\xa0\x80".to_vec());
    std::fs::write(&data, lines.join(&b'\n')).unwrap();
    let ended = over(&world, &data);
    let words = ["2 lines are no JSON", &format!("{data}, line 1001: invalid UTF-8"), "line 2001"];
    let summary = right(ended.says(&words));
    let load = &summary.entry("sqlite", "load").metrics;
    assert_eq!((load["documents_loaded"], load["documents_rejected"]), (3000.0, 0.0));
}

#[test]
fn documents_that_are_no_events_are_refused_before_anything_is_asked_of_them() {
    let world = World::new();
    let own: String = (0..50).map(|number| format!("{{\"country\":\"de\",\"price\":{number}}}\n")).collect();
    let data = world.file("own.ndjson", &own);
    let words = ["0 of 50 documents are events", "jsonathlon questions new", "--force"];
    over(&world, &data).expect(2).says(&words).says(&[&data]);
    nothing_staged(&world);
    // With `--force` the run is allowed.
    let out = world.text("forced");
    let arguments =
        ["run", "-s", "sqlite", "--variants", "indexed", "-d", &data, "-r", "1", "--json", "--force"];
    let forced = world.run(&[&arguments[..], &["-o", &out]].concat());
    assert_ne!(forced.code(), 2, "{}", forced.stderr);
    assert_eq!(world.kept("forced").manifest().data.documents, 50);
    // A few other documents among events are accepted.
    let events = std::fs::read_to_string(world.events("events.ndjson", &["-n", "1k"])).unwrap();
    let mixed = world.file("mixed.ndjson", events + &own);
    right(over_into(&world, "mixed", &mixed));
}

#[test]
fn other_documents_are_refused_early_and_never_for_the_first_file_of_a_folder() {
    let world = World::with(&[mock("ma", json!({}))]);
    let other = |count: usize| "{\"country\":\"de\"}\n".repeat(count);
    // The file is far larger than what is read of it.
    let data = world.file("large.ndjson", other(2_000_000));
    let out = world.text("out");
    let refused = ["run", "--systems-dir", &world.text("systems"), "-s", "ma", "-d", &data, "-o", &out];
    let ended = world.run(&refused).expect(2);
    let ended = ended.says(&["large.ndjson", "0 of the first", "jsonathlon questions new"]);
    assert!(!ended.stderr.contains("2000000 documents"), "{}", ended.stderr);
    nothing_staged(&world);
    // Fewer than half of all documents are events.
    let few = world.path("few");
    std::fs::create_dir(&few).unwrap();
    world.events("few/b.ndjson", &["-n", "1k"]);
    world.file("few/a.ndjson", other(1_001));
    let data = world.text("few");
    let run = |out: &str, data: &str, more: &[&str]| {
        let (systems, out) = (world.text("systems"), world.text(out));
        let arguments = ["run", "--systems-dir", &systems, "-s", "ma", "-r", "1", "-d", data, "-o", &out];
        world.run(&[&arguments[..], more].concat())
    };
    run("out2", &data, &[]).expect(2).says(&["1000 of 2001 documents are events"]);
    // The first file has other documents, and the second one more events than those.
    let most = world.path("most");
    std::fs::create_dir(&most).unwrap();
    world.events("most/b.ndjson", &["-n", "13k"]);
    world.file("most/a.ndjson", other(9_000));
    assert_ne!(run("out3", &world.text("most"), &[]).code(), 2);
    assert_eq!(world.kept("out3").manifest().data.documents, 22_000);
    // What was forced is in the manifest's command line.
    assert_ne!(run("out4", &data, &["--force"]).code(), 2);
    assert!(world.kept("out4").manifest().command.contains(&"--force".to_owned()));
}

#[test]
fn other_documents_from_a_pipe_or_an_address_are_refused_and_can_be_forced() {
    let world = World::with(&[mock("ma", json!({"delay_ms": {"load": 200, "q1": 200}}))]);
    let own: String = (0..50).map(|number| format!("{{\"country\":\"de\",\"price\":{number}}}\n")).collect();
    let file = world.file("own.ndjson", &own);
    let (out, systems) = (world.text("out"), world.text("systems"));
    let from_pipe = |more: &[&str]| {
        let arguments = ["run", "--systems-dir", &systems, "-s", "ma", "-r", "2", "-d", "-", "-o", &out];
        let mut command = world.command(&[&arguments[..], more].concat());
        command.stdin(Stdio::from(std::fs::File::open(&file).unwrap()));
        Running::start(command, &world.path(""))
    };
    let words = ["standard input: 0 of 50 documents are events", "jsonathlon questions new", "--force"];
    from_pipe(&[]).end(LIMIT).expect(2).says(&words);
    nothing_staged(&world);
    let address = serve("200 OK", own.clone().into_bytes(), own.len());
    let arguments = ["run", "--systems-dir", &systems, "-s", "ma", "-d", &address, "-o", &out];
    world.run(&arguments).expect(2).says(&[&address, "0 of 50 documents are events"]);
    nothing_staged(&world);
    // A forced run that was interrupted goes on without the option.
    let data = world.text("own.ndjson");
    let arguments =
        ["run", "--systems-dir", &systems, "-s", "ma", "-r", "2", "-d", &data, "-o", &out, "--force"];
    let running = world.start(&arguments);
    let kept = world.kept("out");
    eventually("a trial is recorded", || kept.path("journal.ndjson").exists() && !kept.trials().is_empty());
    running.signal(Signal::INT);
    running.end(LIMIT).expect(4);
    assert_ne!(world.resume("out").code(), 2);
    kept.is_complete();
}

#[test]
fn what_a_folder_holds_beside_documents_is_told() {
    let world = World::new();
    std::fs::create_dir_all(world.path("data/2023")).unwrap();
    world.events("data/events.ndjson", &["-n", "1k"]);
    world.events("data/2023/more.ndjson", &["-n", "1k"]);
    for name in ["server.log", "table.csv", "notes.txt"] {
        world.file(&format!("data/{name}"), "x\n");
    }
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(&[0; 1024]).unwrap();
    world.file("data/old.tar.gz", packed.finish().unwrap());
    let data = world.text("data");
    let words = [
        "read as: lines (2 files)",
        "1 file that is no JSON (old.tar.gz)",
        "1 .csv file (table.csv)",
        "1 .log file (server.log)",
        "1 .txt file (notes.txt)",
    ];
    let ended = over(&world, &data);
    let summary = right(ended.says(&words));
    assert_eq!(summary.data.documents, 2000);
    let tables = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).stdout;
    let described = world.run(&["data", "describe", "--tables", "full", &data]).expect(0).stdout;
    let questions = world.run(&["questions", "new", &world.text("q"), "-d", &data]).expect(0).stdout;
    for (text, of) in [(tables, "export"), (described, "describe"), (questions, "new")] {
        // The forms matter while the documents are read, and not to readers of results.
        for word in words.into_iter().filter(|word| of != "export" || !word.starts_with("read as")) {
            assert!(text.contains(word), "{of} does not say {word}:\n{text}");
        }
    }
}

#[test]
fn a_byte_order_mark_costs_no_document() {
    let world = World::new();
    std::fs::create_dir(world.path("data")).unwrap();
    let text = std::fs::read_to_string(world.events("events.ndjson", &["-n", "300"])).unwrap();
    // One document per file, each with a byte order mark, as some editors and exports write them.
    for (number, line) in text.lines().enumerate() {
        world.file(&format!("data/{number:03}.json"), format!("\u{feff}{line}"));
    }
    let plain = right(over(&world, &world.text("events.ndjson")));
    let marked = world.file("marked.ndjson", format!("\u{feff}{text}"));
    for (out, data) in [("out2", &marked), ("out3", &world.text("data"))] {
        let summary = right(over_into(&world, out, data));
        assert_eq!((summary.data.documents, &summary.data.digest), (300, &plain.data.digest), "{data}");
    }
}

#[test]
fn a_document_of_100_megabytes_among_small_ones_is_loaded() {
    let world = World::new();
    // Surrounded by events of all kinds, because planners rightly ignore indexes if every document matches.
    let small = std::fs::read_to_string(world.events("small.ndjson", &["-n", "1k"])).unwrap();
    let data = world.text("large.ndjson");
    let mut file = std::fs::File::create(&data).unwrap();
    for (number, line) in small.lines().enumerate() {
        writeln!(file, "{line}").unwrap();
        if number == 100 {
            let large = format!(r#","text":"{}""#, "0123456789".repeat(10_000_000));
            writeln!(file, "{}", event(1000, &large)).unwrap();
        }
    }
    drop(file);
    let summary = right(over(&world, &data));
    assert!(summary.data.bytes > 100_000_000);
    let load = &summary.entry("sqlite", "load").metrics;
    assert_eq!((load["documents_loaded"], load["suspect_documents_accepted"]), (1001.0, 1.0));
}

#[test]
fn carriage_returns_and_blank_lines_are_no_part_of_documents() {
    let world = World::new();
    let data = world.events("lf.ndjson", &["-n", "1k"]);
    let text = std::fs::read_to_string(&data).unwrap();
    let crlf = world.file("crlf.ndjson", "\r\n".to_owned() + &text.replace('\n', "\r\n") + "\r\n\n");
    let unterminated = world.file("unterminated.ndjson", text.trim_end());
    let first = right(over(&world, &data));
    for (out, other) in [("out2", &crlf), ("out3", &unterminated)] {
        let summary = right(over_into(&world, out, other));
        assert_eq!(
            (summary.data.documents, &summary.data.digest),
            (1000, &first.data.digest),
            "the same documents: {other}"
        );
    }
    // Ordinals count documents, not lines.
    let world = World::with(&[mock("picky", json!({"rejections": [{"ordinal": 10, "reason": "no"}]}))]);
    let crlf = world.file("crlf.ndjson", "\r\n\n".repeat(50) + &text.replace('\n', "\r\n\r\n"));
    let summary = world.measure("picky", &["-d", &crlf, "-r", "1"]).expect(0).summary();
    assert_eq!(summary.entry("picky", "load").metrics["documents_rejected"], 1.0);
    assert_eq!(world.kept("out").rejects("picky"), [(10, "no".to_owned())]);
}

#[test]
fn standard_input_is_read() {
    let world = World::new();
    let out = world.text("out");
    for from in ["events.ndjson.gz", "events.ndjson"] {
        world.events(from, &["-n", "1k"]);
        std::fs::remove_dir_all(&out).ok();
        let mut command = world.command(&[
            "run",
            "-s",
            "sqlite",
            "--variants",
            "indexed",
            "-d",
            "-",
            "-r",
            "1",
            "--json",
            "-o",
            &out,
        ]);
        command.stdin(Stdio::from(std::fs::File::open(world.path(from)).unwrap()));
        let summary = right(Running::start(command, &world.path("")).end(LIMIT));
        assert_eq!((summary.data.documents, summary.data.source.as_str()), (1000, "standard input"));
    }
    // Empty standard input.
    std::fs::remove_dir_all(&out).unwrap();
    over(&world, "-").expect(2).says(&["standard input holds no documents"]);
}

/// Serves `body` once on loopback with a `Content-Length` of `length` bytes. Returns the URL.
fn serve(status: &'static str, body: Vec<u8>, length: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
        // The client may disconnect before the end.
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).ok();
        stream.shutdown(Shutdown::Write).ok();
        stream.read_to_end(&mut Vec::new()).ok();
    });
    format!("http://{address}")
}

#[test]
fn an_address_is_read_and_a_cut_download_is_an_error() {
    let world = World::new();
    let data = world.events("events.json.gz", &["-n", "2k"]);
    let body = std::fs::read(&data).unwrap();
    let address = serve("200 OK", body.clone(), body.len());
    let summary = right(over(&world, &format!("{address}/events.json.gz")));
    let direct = right(over_into(&world, "out2", &data));
    assert_eq!(summary.data.digest, direct.data.digest);
    assert_eq!(summary.data.source, format!("{address}/events.json.gz"));

    let world = World::new();
    let address = serve("200 OK", body[..body.len() / 2].to_vec(), body.len());
    let words = ["cut short after", "try again"];
    over(&world, &address).expect(2).says(&words).says(&[&address]);
    nothing_staged(&world);
    let address = serve("404 Not Found", Vec::new(), 0);
    over(&world, &address).expect(2).says(&[&address, "status 404"]);
    // No server listens on this port.
    over(&world, "http://127.0.0.1:1/events").expect(2).says(&["failed to download", "check the address"]);
    nothing_staged(&world);
}

#[test]
fn a_folder_of_compressed_events_is_all_that_the_real_engines_need() {
    if crate::support::real::excluded(&["clickhouse", "duckdb"]) {
        return;
    }
    let world = World::new();
    std::fs::create_dir(world.path("events")).unwrap();
    for shard in 0..3 {
        let start = (shard * 2000).to_string();
        world.events(&format!("events/part{shard}.json.gz"), &["-n", "2k", "--start", &start]);
    }
    world.file("events/README.txt", "not data");
    let ended = world
        .run(&["run", "--data", "events", "--variants", "challenge,json,indexed", "--rounds", "1", "--json"])
        .expect(0);
    let summary = ended.summary();
    assert!(summary.complete && summary.data.documents == 6000);
    for system in ["clickhouse", "duckdb", "sqlite"] {
        summary.is_right(system);
    }
    // The same documents in a single file.
    let whole = world.events("whole.ndjson", &["-n", "6k"]);
    let described = world.run(&["data", "describe", "--json", &whole]).expect(0);
    let profile: Value = serde_json::from_str(&described.stdout).unwrap();
    assert_eq!(profile["bytes"], summary.data.bytes);
    assert_eq!(crate::support::names_in(&world.path("runs")).len(), 1, "the default folder");
}

#[test]
fn odd_documents_are_accepted_or_refused_by_each_engine_and_answers_stay_exact() {
    let world = World::new();
    let data = world.events("events.ndjson", &["-n", "4k"]);
    let mut lines: Vec<String> = std::fs::read_to_string(&data).unwrap().lines().map(str::to_owned).collect();
    let odd = [
        event(2001, r#","text":"nul \u0000 inside""#),
        event(2002, r#","text":"once","text":"twice""#),
        event(2003, r#","number":123456789012345678901234567890"#),
    ];
    for (place, document) in [(50, &odd[0]), (1500, &odd[1]), (3000, &odd[2])] {
        lines.insert(place, document.clone());
    }
    let data = world.file("odd.ndjson", lines.join("\n"));
    let out = world.text("out");
    // Systems that start quickly, because each cold question restarts its system.
    let systems =
        crate::support::real::included(&["clickhouse", "duckdb", "sqlite", "postgresql", "mongodb"]);
    let names = systems.join(",");
    let variants = one_each(&systems);
    let ended = world
        .run(&["run", "-s", &names, "--variants", &variants, "-d", &data, "-r", "1", "--json", "-o", &out])
        .expect(0);
    let summary = ended.summary();
    assert!(summary.complete);
    // The servers take part only to show that they survive the load.
    for system in systems.into_iter().filter(|name| ["clickhouse", "duckdb", "sqlite"].contains(name)) {
        summary.is_right(system);
        let load = summary.entry(system, "load");
        let (loaded, rejected) = (load.metrics["documents_loaded"], load.metrics["documents_rejected"]);
        assert_eq!((loaded + rejected, load.verdict), (4003.0, Verdict::Exact), "{system}");
        let rejects = world.kept("out").rejects(system);
        assert_eq!(rejects.len() as f64, rejected, "{system}: {rejects:?}");
        for (ordinal, reason) in rejects {
            assert!([50, 1500, 3000].contains(&ordinal), "{system} lost document {ordinal}: {reason}");
            assert!(!reason.trim().is_empty(), "{system} refused {ordinal} without a reason");
        }
        for question in QUESTIONS {
            assert!(summary.hot(system, question).median_s.is_some(), "{system} {question}");
        }
    }
}

#[test]
fn documents_that_a_bulk_load_refuses_are_found_and_the_others_are_there_once() {
    if crate::support::real::excluded(&["clickhouse", "duckdb"]) {
        return;
    }
    let world = World::new();
    let data = world.events("events.ndjson", &["-n", "4k"]);
    let mut lines: Vec<String> = std::fs::read_to_string(&data).unwrap().lines().map(str::to_owned).collect();
    // A time that is not a number is valid JSON; ClickHouse expects a number by its declared type and rejects
    // the whole file.
    let late = event(5, "").replace("1700000000000005", "\"soon\"");
    for (place, document) in [(10, "{\"cut\": "), (100, late.as_str()), (2500, late.as_str())] {
        lines.insert(place, document.to_owned());
    }
    let data = world.file("late.ndjson", lines.join("\n"));
    let out = world.text("out");
    let variants = one_each(&["clickhouse", "duckdb"]);
    let arguments = [
        "run",
        "-s",
        "clickhouse,duckdb",
        "--variants",
        &variants,
        "-d",
        &data,
        "-r",
        "1",
        "--json",
        "-o",
        &out,
    ];
    let ended = world.run(&arguments).expect(0).says(&["refused the documents as a whole"]);
    let summary = ended.summary();
    summary.is_right("clickhouse");
    summary.is_right("duckdb");
    let rejects = world.kept("out").rejects("clickhouse");
    // The truncated line is not a document and is not counted.
    assert_eq!(rejects.iter().map(|(ordinal, _)| *ordinal).collect::<Vec<_>>(), [99, 2499]);
    assert!(rejects.iter().all(|(_, reason)| reason.contains("soon")), "{rejects:?}");
    assert_eq!(summary.entry("clickhouse", "load").metrics["documents_loaded"], 4000.0);
    assert!(world.kept("out").rejects("duckdb").is_empty(), "DuckDB takes them");
    let tables = world.run(&["export", "--tables", "full", &out]).expect(0).stdout;
    assert!(tables.contains("clickhouse rejected 2: "), "they are one kind: {tables}");
    assert!(tables.contains(&format!("(the first: {data}, line 101)")), "{tables}");
}
