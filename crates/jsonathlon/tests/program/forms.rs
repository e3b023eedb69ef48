//! Documents in other forms than lines, on the command line: found, forced, resumed, and refused.

use serde_json::{Value, json};

use crate::support::process::Ended;
use crate::support::{World, mock};

/// 300 events, each as JSON text without newlines.
fn events(world: &World) -> Vec<String> {
    let file = world.events("events.ndjson", &["-n", "300"]);
    std::fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect()
}

/// Runs SQLite, which is part of the program, over `data`.
fn over(world: &World, out: &str, data: &str, more: &[&str]) -> Ended {
    let out = world.text(out);
    let all = ["run", "-s", "sqlite", "--variants", "indexed", "-r", "1", "--json", "-d", data, "-o", &out];
    world.run(&[&all[..], more].concat())
}

#[test]
fn the_form_is_found_and_said_and_changes_no_document() {
    let world = World::new();
    let events = events(&world);
    let lines = over(&world, "lines", &world.text("events.ndjson"), &[]).expect(0);
    let digest = lines.says(&["note: read as: lines (1 file)"]).summary().data.digest;
    std::fs::create_dir_all(world.path("files/more")).unwrap();
    for (number, event) in events.iter().enumerate() {
        let value: Value = serde_json::from_str(event).unwrap();
        assert!(value.is_object());
        // A newline behind the first bracket makes a form of its own, and changes no byte of the line.
        world.file(&format!("files/{number:03}.json"), format!("{{\n{}\n", &event[1..]));
    }
    let data = [
        (world.file("array.json", format!("[{}]\n", events.join(","))), "array (1 file)"),
        (world.file("stream.json", events.concat()), "stream (1 file)"),
        (world.text("files"), "file (300 files)"),
    ];
    for (number, (data, form)) in data.iter().enumerate() {
        let ended = over(&world, &format!("out{number}"), data, &[]).expect(0);
        let summary = ended.says(&[&format!("note: read as: {form}")]).summary();
        assert_eq!((summary.data.documents, &summary.data.digest), (300, &digest), "{form}");
        let described = world.run(&["data", "describe", data]).expect(0).stdout;
        assert!(described.starts_with(&format!("read as: {form}\n")), "{described}");
        let json: Value =
            serde_json::from_str(&world.run(&["data", "describe", "--json", data]).expect(0).stdout).unwrap();
        assert_eq!(json["input_notes"], json!([format!("read as: {form}")]));
    }
}

#[test]
fn a_forced_form_is_kept_for_resuming() {
    let world = World::with(&[mock("slow", json!({}))]);
    let events = events(&world);
    let data = world.file("array.json", format!("[{}]", events.join(",\n")));
    let more = ["-d", &data, "--input", "array", "-r", "1"];
    world.measure("slow", &more).expect(0);
    let manifest = world.kept("out").manifest();
    assert_eq!(manifest.data.origin["with_input"]["input"]["form"], "array");
    assert_eq!(manifest.data.documents, 300);
    world.resume("out").expect(0);
    // The form belongs to the data, which a resumed run has already.
    let out = world.text("out");
    world.run(&["run", "--resume", &out, "--input", "array"]).expect(2).says(&["--data"]);
    world.run(&["run", "-n", "10", "--bulk-actions", "skip"]).expect(2).says(&["--data"]);
    world.run(&["data", "describe", "--input", "csv", &data]).expect(2).says(&["lines, array, stream, file"]);
}

#[test]
fn a_form_that_the_file_does_not_have_is_refused_with_its_place() {
    let world = World::new();
    let lines = world.file("a.json", "{\"a\":1}\n{\"a\":2}\n");
    let words = ["a.json", "no array begins at byte 0", "--input array"];
    world.run(&["data", "describe", &lines, "--input", "array"]).expect(2).says(&words);
    let mixed = world.file("b.json", "[\n{\"a\":1}]\n{\"a\":2}\n");
    let words = ["b.json", "before byte 11", "a file of its own"];
    world.run(&["data", "describe", &mixed]).expect(2).says(&words);
}

#[test]
fn lines_that_are_arrays_name_the_option_that_takes_their_elements() {
    let world = World::new();
    let line = |number: usize| format!("[{{\"country\":\"c{}\",\"n\":{number}}}]\n", number % 3);
    let data = world.file("a.json", (0..40).map(line).collect::<String>());
    let described = world.run(&["data", "describe", &data]).expect(0).unbroken();
    assert!(described.contains("read as: lines (1 file)"), "{described}");
    assert!(described.contains("`--input array` takes its elements as documents"), "{described}");
    let folder = world.text("q");
    world.run(&["questions", "new", &folder, "-d", &data]).expect(2).says(&["--input array"]);
    let made = world.run(&["questions", "new", &folder, "-d", &data, "--input", "array"]).expect(0);
    assert!(made.stdout.contains("read as: array (1 file)"), "{}", made.stdout);
}

#[test]
fn bulk_files_name_the_option_that_reads_them() {
    let world = World::new();
    let text: String = (0..40)
        .map(|number| {
            format!(
                "{{\"index\":{{\"_id\":\"{number}\"}}}}\n{{\"country\":\"c{}\",\"n\":{number}}}\n",
                number % 3
            )
        })
        .collect();
    let data = world.file("bulk.json", text);
    let folder = world.text("q");
    world.run(&["questions", "new", &folder, "-d", &data]).expect(2).says(&["--bulk-actions skip"]);
    let made = world.run(&["questions", "new", &folder, "-d", &data, "--bulk-actions", "skip"]).expect(0);
    for words in ["40 bulk action lines", "read as: lines (1 file)", "--bulk-actions skip"] {
        assert!(made.stdout.contains(words), "{words}: {}", made.stdout);
    }
    let described = world.run(&["data", "describe", "--json", &data, "--bulk-actions", "skip"]).expect(0);
    let profile: Value = serde_json::from_str(&described.stdout).unwrap();
    assert_eq!((&profile["documents"], &profile["traits"]), (&json!(40), &json!({})));
}

#[test]
fn bad_input_is_named_with_file_line_and_byte() {
    let world = World::with(&[mock("ma", json!({}))]);
    let mut lines = events(&world);
    lines.insert(5, "{\"did\":NaN}".to_owned());
    lines.insert(7, "{\"did\":\"x\"".to_owned());
    std::fs::create_dir(world.path("data")).unwrap();
    let (data, first) = (world.text("data"), world.file("data/a.ndjson", lines.join("\r\n")));
    let second = world.file("data/b.json", "{\n  \"did\": \"x\",\n  \"kind\": NaN\n}\n");
    let places = [
        format!("{first}, line 6: expected a value at byte 7"),
        format!("{first}, line 8: ends inside an array or object at byte 10"),
        format!("{second}, document 1 from byte 0 on: expected a value at byte 26"),
    ];
    let ended = world.measure("ma", &["-d", &data, "-r", "1"]).expect(0);
    let ended = ended.says(&places.each_ref().map(String::as_str)).says(&["3 pieces of text are no JSON"]);
    assert_eq!(ended.summary().data.documents, 300);
    let listed = std::fs::read_to_string(world.path("out/no-documents.ndjson")).unwrap();
    let listed: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (value, end) = ("expected a value", "ends inside an array or object");
    assert_eq!(
        listed,
        [
            json!({"input": first, "line": 6, "byte": 7, "reason": value}),
            json!({"input": first, "line": 8, "byte": 10, "reason": end}),
            json!({"input": second, "document": 1, "document_byte": 0, "byte": 26, "reason": value}),
        ]
    );
    let described = world.run(&["data", "describe", "--json", &data]).expect(0).stdout;
    let profile: Value = serde_json::from_str(&described).unwrap();
    assert_eq!(
        profile["no_documents"],
        json!({
            value: {"lines": 2, "first": format!("{first}, line 6")},
            end: {"lines": 1, "first": format!("{first}, line 8")},
        })
    );
    // A file with nothing else is an error with the place.
    world.measure_into("out2", "ma", &["-d", &second, "-r", "1"]).expect(2).says(&[&places[2]]);
}

#[test]
fn rejected_and_faulty_elements_have_their_place() {
    let world = World::with(&[mock("picky", json!({"rejections": [{"ordinal": 10, "reason": "no"}]}))]);
    let mut events = events(&world);
    events.insert(5, "{\"did\":}".to_owned());
    let data = world.file("array.json", format!("[{}]", events.join(",")));
    let byte_of = |index: usize| 1 + events[..index].iter().map(|event| event.len() + 1).sum::<usize>();
    let byte = byte_of(5);
    let place = format!("{data}, document 6 from byte {byte} on: expected a value at byte 7");
    world.measure("picky", &["-d", &data, "-r", "1"]).expect(0).says(&[&place]);
    let listed = std::fs::read_to_string(world.path("out/no-documents.ndjson")).unwrap();
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(
        (&listed["document"], &listed["document_byte"], &listed["byte"]),
        (&json!(6), &json!(byte), &json!(7))
    );
    let rejects = std::fs::read_dir(world.path("out/rejects")).unwrap().next().unwrap().unwrap().path();
    let rejected: Value = serde_json::from_str(&std::fs::read_to_string(rejects).unwrap()).unwrap();
    // The faulty element counts as a document of the file, and is not offered.
    assert_eq!((&rejected["ordinal"], &rejected["document"]), (&json!(10), &json!(12)));
    assert_eq!(rejected["document_byte"], json!(byte_of(11)));
    let tables = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).stdout;
    let place = format!("rejected 1: no ({data}, document 12 from byte {} on)", byte_of(11));
    assert!(tables.contains(&place), "{tables}");
}
