//! Users' document folders, valid and invalid.

use std::os::unix::fs::PermissionsExt;

use jsonathlon_schema::settings::fidelity::RfcRequirement::{self, Accept, Choose, Reject};
use serde_json::json;

use super::{run, told};
use crate::support::{World, mock};

fn world() -> World {
    let world = World::with(&[mock("ma", json!({})).fidelity("")]);
    std::fs::create_dir(world.path("corpus")).unwrap();
    world
}

#[test]
fn names_say_what_must_be_accepted_and_the_grammar_says_it_of_others() {
    let world = world();
    for (name, text) in [
        ("y_one.json", "[1]"),
        ("n_two.json", "[1"),
        ("i_three.json", "[1e999]"),
        ("own data.json", "{\"v\":1}\n"),
        ("own worse", "<script>"),
    ] {
        world.file(&format!("corpus/{name}"), text);
    }
    let summary = run(&world, "ma", &["--corpus", &world.text("corpus")]).expect(0).summary();
    assert_eq!(summary.data.documents, 5);
    assert_eq!(told(&summary, "ma", "own data.json")["bulk, whole"], "same bytes");
    assert_eq!(told(&summary, "ma", "n_two.json")["bulk"], "rejected");
    let manifest = world.kept("out").manifest();
    let cases = manifest.fidelity_cases();
    let requirements: Vec<RfcRequirement> = cases.iter().map(|case| case.requirement).collect();
    assert_eq!(requirements, [Choose, Reject, Accept, Reject, Accept]);
    assert!(cases[2].decides_i_json);
    // A corpus that has changed is a different one.
    world.file("corpus/y_one.json", "[2]");
    let error = world.start_resuming("out").end(super::LIMIT).expect(2).stderr;
    assert!(error.contains("the documents are not those of the run"), "{error}");
}

#[test]
fn what_cannot_be_a_corpus_is_refused_with_what_to_do() {
    let world = world();
    let refused = |words: &str| {
        let error = run(&world, "ma", &["--corpus", &world.text("corpus")]).expect(2).stderr;
        assert!(error.contains(words), "{error}");
        assert!(!world.path("out").exists());
    };
    refused("holds no file");
    world.file("corpus/large.json", "");
    std::fs::File::options()
        .write(true)
        .open(world.path("corpus/large.json"))
        .unwrap()
        .set_len(100_000_000)
        .unwrap();
    refused("large.json has 100 MB, and a document of a corpus 16 MB at most: move it out of the folder");
    std::fs::remove_file(world.path("corpus/large.json")).unwrap();
    // A dangling link is unreadable for every user, including root.
    std::os::unix::fs::symlink("nowhere", world.path("corpus/gone.json")).unwrap();
    refused("gone.json: no such file");
    std::fs::remove_file(world.path("corpus/gone.json")).unwrap();
    std::fs::remove_dir(world.path("corpus")).unwrap();
    refused("no such file or folder");
    world.file("corpus", "[]");
    std::fs::set_permissions(world.path("corpus"), std::fs::Permissions::from_mode(0o644)).unwrap();
    refused("failed to read");
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let world = world();
    for (arguments, words) in [
        (vec!["--scale", "5"], "unexpected argument '--scale'"),
        (vec!["-r", "2"], "unexpected argument '-r'"),
        (vec!["--data", "x.json"], "unexpected argument '--data'"),
        (vec!["--cases", "nothing-such"], "no case is called \"nothing-such\""),
    ] {
        let error = run(&world, "ma", &arguments).expect(2).stderr;
        assert!(error.contains(words), "{error}");
    }
}
