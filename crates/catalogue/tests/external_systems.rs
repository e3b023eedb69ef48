//! Tests of systems that the program does not install: remote servers, and the user's own binaries.

use crate::support;

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use support::changed;

use jsonathlon_catalogue::{
    Catalogue, ExternalKind, LoadMode, System, TargetKind, base_name, select_variants,
};

fn catalogue() -> Catalogue {
    Catalogue::load(&[]).unwrap()
}

/// Loads a built-in system with a text of its definition replaced. Returns the error.
fn error_of(system: &str, old: &str, new: &str) -> String {
    changed(system, old, new).unwrap_err().to_string()
}

#[test]
fn a_configuration_by_address_says_so_and_is_another_experiment() {
    let catalogue = catalogue();
    let system = catalogue.get("postgresql").unwrap();
    let installed = system.configuration("18.6", "json-only", "default").unwrap();
    let there = |number| {
        system
            .external_configuration(
                ExternalKind::Address,
                "18.6 (Debian 18.6-1)",
                number,
                "json-only",
                "default",
            )
            .unwrap()
    };
    let one = there(None);
    assert_eq!((one.system.as_str(), one.version.as_str()), ("postgresql", "18.6+address"));
    let second = there(Some(2));
    assert_eq!((second.system.as_str(), second.version.as_str()), ("postgresql#2", "18.6+address"));
    assert_eq!(base_name(&second.system), "postgresql");
    assert_eq!(one.version_text.as_deref(), Some("18.6 (Debian 18.6-1)"));
    assert!(one.server.is_none() && one.artifact.is_none() && one.remote_setup.is_some());
    assert_ne!(one.digest, installed.digest);
    assert!(one.exceptions.iter().any(|exception| exception.what == "a server by address"));
    assert!(!one.exceptions.iter().any(|exception| exception.what.contains("untried")));
    let old =
        system.external_configuration(ExternalKind::Address, "9.6.24", None, "json-only", "default").unwrap();
    let told = old.exceptions.iter().find(|exception| exception.what.contains("untried")).unwrap();
    assert!(told.what.contains("9.6.24") && told.why.contains("18.6"), "{told:?}");
    let own =
        system.external_configuration(ExternalKind::Binaries, "18.1", None, "json-only", "default").unwrap();
    assert_eq!(own.version, "18.1+own");
    assert!(own.server.is_some() && own.remote_setup.is_none());
}

#[test]
fn what_is_old_is_called_so_where_its_version_is() {
    let catalogue = catalogue();
    let there = |system: &str, version: &str| {
        let system = catalogue.get(system).unwrap();
        let variant = &system.variants()[0].name;
        system.external_configuration(ExternalKind::Address, version, None, variant, "default").unwrap()
    };
    let here = |system: &str, version: &str| {
        let system = catalogue.get(system).unwrap();
        system.configuration(version, &system.variants()[0].name, "default").unwrap()
    };
    assert!(here("mongodb", "6.0.5").end_of_life && here("mongodb", "6.0.27").end_of_life);
    // Support ends for a whole version series; later series are not affected.
    assert!(there("mongodb", "6.0.30").end_of_life);
    assert!(!there("mongodb", "8.0.4").end_of_life && !there("mongodb", "6.1.0").end_of_life);
    assert!(!here("postgresql", "18.6").end_of_life);
    let dolt = catalogue.get("dolt").unwrap();
    let old = here("dolt", dolt.default_version());
    assert!(old.outdated.is_some() && !old.end_of_life);
    assert_eq!(there("dolt", dolt.default_version()).outdated, old.outdated);
    assert_eq!(there("dolt", "99.0.0").outdated, None);
    let told = error_of("dolt", "outdated = \"2026-03-05\"", "outdated = \"last summer\"");
    assert!(told.contains("`artifact.0.outdated`") && told.contains("2026-07-15"), "{told}");
}

#[test]
fn what_differs_by_address_is_in_the_folder() {
    let catalogue = catalogue();
    let system = catalogue.get("clickhouse").unwrap();
    let installed = system.configuration(system.default_version(), "challenge", "default").unwrap();
    let there = system
        .external_configuration(ExternalKind::Address, "26.7.2.1", None, "challenge", "default")
        .unwrap();
    assert_eq!((installed.protocol.as_str(), there.protocol.as_str()), ("chdb", "clickhouse"));
    assert!(installed.embedded && !there.embedded);
    let (installed, there) = (installed.analytics().unwrap(), there.analytics().unwrap());
    assert_eq!((installed.load, there.load), (LoadMode::File, LoadMode::Stream));
    assert_ne!(installed.statements("load"), there.statements("load"));
    assert_eq!(installed.statements("q2"), there.statements("q2"));
}

#[test]
fn settings_with_which_a_server_is_started_are_not_its_by_address() {
    let catalogue = catalogue();
    let system = catalogue.get("mongodb").unwrap();
    let names = |setting| -> Vec<String> {
        let variants = select_variants(&[system], "default", setting).unwrap();
        variants.into_iter().flatten().map(|variant| variant.name.clone()).collect()
    };
    assert_eq!(names(TargetKind::Started), ["indexed", "no-index"]);
    assert_eq!(names(TargetKind::ByAddress), ["no-index", "not-covered"]);
    let there =
        system.external_configuration(ExternalKind::Address, "6.0.5", None, "indexed", "default").unwrap();
    assert!(there.open.settings.is_empty());
    let not_set = there.exceptions.iter().find(|exception| exception.what.starts_with("not set: ")).unwrap();
    assert!(not_set.what.contains("internalQueryPlannerGenerateCoveredWholeIndexScans"));
    // Session settings still apply, because they change nothing else on the server.
    let there = catalogue
        .get("clickhouse")
        .unwrap()
        .external_configuration(ExternalKind::Address, "26.7", None, "challenge", "default")
        .unwrap();
    assert!(
        there.open.statements.iter().any(|statement| statement.contains("use_query_condition_cache = 0"))
    );
}

#[test]
fn mistakes_are_named_with_file_line_and_key() {
    for (old, new, words) in [
        (
            r#"CREATE DATABASE "{{database}}""#,
            r#"CREATE DATABASE "{{databse}}""#,
            "`{{databse}}` has no value",
        ),
        ("end = \"SELECT format(", "ends = \"SELECT format(", "unknown field `ends`"),
        ("[address]\n", "[address]\nvariants = [\"nothing\"]\n", "there is no variant `nothing`"),
    ] {
        let error = error_of("postgresql", old, new);
        assert!(error.contains(words) && error.contains("system.toml:"), "{error}");
    }
    let error = error_of("mongodb", "drop = ['{", "drop = [] # ['{");
    assert!(error.contains("`address.drop`") && error.contains("leaves nothing behind"), "{error}");
    let error = error_of("clickhouse", "load = \"stream\"", "load = \"rows\"");
    assert!(error.contains("analytics/address/load.sql") && error.contains(":doc"), "{error}");
    let sqlite = catalogue();
    let sqlite = sqlite.get("sqlite").unwrap();
    let error =
        sqlite.external_configuration(ExternalKind::Address, "3", None, "indexed", "default").unwrap_err();
    assert!(error.to_string().contains("no [address]"), "{error}");
}

fn program(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn error(system: &System, at: &Path) -> String {
    system.external_programs(at).unwrap_err().to_string()
}

#[test]
fn own_programs_are_found_in_their_folder_its_bin_or_alone() {
    let catalogue = catalogue();
    let (postgresql, mysql) = (catalogue.get("postgresql").unwrap(), catalogue.get("mysql").unwrap());
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["pg/bin/initdb", "pg/bin/postgres", "my/sbin/mysqld", "half/initdb"] {
        program(&at(name));
    }
    for place in ["pg", "pg/bin", "pg/bin/postgres"] {
        let found = postgresql.external_programs(&at(place)).unwrap();
        assert_eq!(found["initdb"], at("pg/bin/initdb"), "{place}");
        assert_eq!(found["postgres"], at("pg/bin/postgres"), "{place}");
    }
    // Only the server is needed, not its loader, libraries and messages.
    for place in ["my", "my/sbin", "my/sbin/mysqld"] {
        let found = mysql.external_programs(&at(place)).unwrap();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [("mysqld".to_owned(), at("my/sbin/mysqld"))]);
    }
    let own =
        mysql.external_configuration(ExternalKind::Binaries, "9.7.4", None, "json-only", "default").unwrap();
    assert_eq!(own.server.unwrap().start[0], "{{mysqld}}");
    assert!(error(postgresql, &at("half")).contains("there is no `postgres` in it"));
    assert!(error(postgresql, &at("nowhere")).contains("no such file or folder"));
    assert!(error(catalogue.get("sqlite").unwrap(), &at("pg")).contains("no program of its own"));
}
