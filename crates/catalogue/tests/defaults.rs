//! Tests of default statement files: a system on a known protocol needs only what differs.

use std::{fs, path::Path};

use jsonathlon_catalogue::{Catalogue, CatalogueError};

/// A relative of SQLite that runs two workloads.
const DEFINITION: &str = r#"
name = "relative"
title = "Relative"
summary = "A system that exists only to test default files."
protocol = "sqlite"
default_version = "1.0"
licence = "MIT"
embedded = true

[[artifact]]
version = "1.0"
reports = "1.0"
platform = "any"

[[artifact.source]]
kind = "bundled"

[analytics]
load = "rows"

[fidelity]
load = "rows"

[variants.plain]
title = "nothing but documents"
preparation = "as-is"
default = true

[variants.whole]
title = "whole documents"
workloads = ["fidelity"]
default = true
"#;

fn load(definition: &str, files: &[(&str, &str)]) -> Result<Catalogue, CatalogueError> {
    let folder = tempfile::tempdir().unwrap();
    let system = folder.path().join("relative");
    fs::create_dir(&system).unwrap();
    fs::write(system.join("system.toml"), definition).unwrap();
    for (name, text) in files {
        let file = system.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    Catalogue::load(&[folder.path().to_path_buf()])
}

fn built_in(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("defaults/sqlite").join(file);
    fs::read_to_string(path).unwrap()
}

#[test]
fn a_system_on_a_known_protocol_needs_its_definition_alone() {
    let catalogue = load(DEFINITION, &[]).unwrap();
    let system = catalogue.get("relative").unwrap();
    let plain = system.configuration("1.0", "plain", "default").unwrap();
    let question = built_in("analytics/q1.sql");
    assert!(question.contains(plain.analytics().unwrap().statement("q1").unwrap()));
    assert!(system.configuration("1.0", "whole", "default").unwrap().fidelity().unwrap().can_extract);
}

#[test]
fn a_folders_file_overrides_the_default_and_a_default_can_be_left_out() {
    let own = "SELECT 1 FROM {{table}}";
    let catalogue = load(DEFINITION, &[("analytics/q1.sql", own)]).unwrap();
    let plain = catalogue.get("relative").unwrap().configuration("1.0", "plain", "default").unwrap();
    assert_eq!(plain.analytics().unwrap().statement("q1"), Some(own));

    let without = |name: &str| {
        DEFINITION.replace("embedded = true", &format!("embedded = true\nwithout = [\"{name}\"]"))
    };
    let catalogue = load(&without("fidelity/value"), &[]).unwrap();
    let whole = catalogue.get("relative").unwrap().configuration("1.0", "whole", "default").unwrap();
    assert!(!whole.fidelity().unwrap().can_extract);
    let message = load(&without("fidelity/valeu"), &[]).unwrap_err().to_string();
    assert!(
        message.contains("`without.0`: there is no default file `fidelity/valeu` for the protocol sqlite"),
        "{message}"
    );
    let message = load(&without("analytics/q1"), &[]).unwrap_err().to_string();
    assert!(message.contains("analytics/q1.sql: is missing"), "{message}");
}

#[test]
fn a_users_own_folder_called_defaults_is_named_where_it_is() {
    let message = load(DEFINITION, &[("defaults/q1.sql", "SELECT 1")]).unwrap_err().to_string();
    assert!(message.contains("/relative/defaults/q1.sql: belongs to nothing"), "{message}");
}
