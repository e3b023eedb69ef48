//! Follows `docs/adding-a-system.md` literally. The test takes a minute on one core; its name makes it run
//! first, so that no core waits for it at the end.

use std::path::Path;
use std::time::Duration;

use jsonathlon_schema::record::Verdict;

use crate::support::process::Running;
use crate::support::real::{built_in, copy, excluded, installed};
use crate::support::{QUESTIONS, World};

/// Timeout for six configurations of a server, each started several times.
const LONG: Duration = Duration::from_secs(580);

/// The commands in the document, with name and folder filled in.
fn commands_of_the_document(name: &str, folder: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/adding-a-system.md");
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("jsonathlon "));
    lines
        .filter(|line| line.contains("FOLDER-ABOVE-YOURS"))
        .map(|line| line.replace("FOLDER-ABOVE-YOURS", folder).replace("NAME", name))
        .map(|line| line.split(' ').map(str::to_owned).collect())
        .collect()
}

#[test]
fn the_document_leads_to_a_system_that_answers_exactly() {
    if excluded(&["postgresql"]) {
        return;
    }
    let world = World::new();
    let name = "postgresql-serial";
    // Step 1: copy the most similar system under the new name.
    let folder = world.path("systems").join(name);
    copy(&built_in("postgresql"), &folder);
    // Step 2: a setting that differs from the default, with its reason.
    let file = folder.join("system.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let text = text.replacen("name = \"postgresql\"", &format!("name = \"{name}\""), 1);
    let text = text.replacen("title = \"PostgreSQL\"", "title = \"PostgreSQL, one process a question\"", 1);
    let changed = "[open.settings]\nmax_parallel_workers_per_gather = 0\n\n[[exception]]\n\
                   what = \"max_parallel_workers_per_gather = 0\"\nwhy = \"What one process does alone.\"\n\n[[exception]]";
    let text = text.replacen("[[exception]]", changed, 1);
    // Step 5: what the plan must contain.
    let promise = "q1 = { expect = ['Seq Scan'], forbid = ['documents_paths', 'Gather'] }";
    let text = text.replacen("q1 = { expect = ['Seq Scan'], forbid = ['documents_paths'] }", promise, 1);
    assert!(text.contains(changed) && text.contains(promise) && text.contains(&format!("name = \"{name}\"")));
    std::fs::write(&file, &text).unwrap();

    // Reuses the package of the built-in system, so that it is not downloaded again.
    let catalogue = jsonathlon_catalogue::Catalogue::load(&[]).unwrap();
    let postgresql = catalogue.get("postgresql").unwrap();
    let version = postgresql.default_version();
    let folder = installed(postgresql.artifact(version).unwrap().unwrap()).folder.unwrap();
    let place = world.path("cache/artifacts").join(name).join(version);
    copy(&folder, &place.join(folder.file_name().unwrap()));
    let cache = world.text("cache");
    let run = |arguments: &[String]| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = world.command(&arguments);
        command.env("JSONATHLON_CACHE", &cache);
        Running::start(command, &world.path("")).end(LONG)
    };

    // Step 6, executed as written.
    let commands = commands_of_the_document(name, &world.text("systems"));
    let actions: Vec<&[String]> = commands.iter().map(|command| &command[..2]).collect();
    assert_eq!(actions, [["systems", "list"], ["systems", "check"], ["run", "--systems"]]);
    let listed = run(&commands[0]).expect(0).stdout;
    assert!(listed.contains(&format!("{name} {version} (installed)")), "{listed}");
    let checked = run(&commands[1]).expect(0).stdout;
    assert!(checked.contains("1000 documents loaded, 6 questions right"), "{checked}");
    let ended = run(&[&commands[2][..], &["--out".into(), "out".into(), "--json".into()]].concat()).expect(0);
    let summary = ended.summary();
    assert!(summary.complete && summary.failures.is_empty());
    for question in QUESTIONS {
        let asked = summary
            .results
            .iter()
            .filter(|entry| entry.cell.id.system == name && entry.cell.step.word() == question);
        let verdicts: Vec<Verdict> = asked.map(|entry| entry.verdict).collect();
        // Two storage settings, each cold and hot.
        let ranked = postgresql.variants().iter().filter(|variant| variant.ranked).count();
        assert_eq!(verdicts, vec![Verdict::Exact; ranked * 4], "{question}");
    }
    let manifest = world.kept("out").manifest();
    let mine = manifest.configurations.iter().find(|configuration| configuration.id.system == name).unwrap();
    assert!(mine.exceptions.iter().any(|one| one.why == "What one process does alone."), "{mine:?}");

    // An unknown setting is reported in the system's words; so the setting above was applied.
    std::fs::write(&file, text.replace("max_parallel_workers_per_gather = 0\n\n", "max_paralel = 0\n\n"))
        .unwrap();
    let checked = run(&commands[1]).expect(1).stdout;
    assert!(checked.contains("unrecognized configuration parameter \"max_paralel\""), "{checked}");
    world.nothing_left();
}
