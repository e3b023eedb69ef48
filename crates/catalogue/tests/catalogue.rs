//! Tests of the catalogue: parsing of system folders, and errors for invalid ones.

use crate::support;

use std::{
    fs,
    path::{Path, PathBuf},
};

use support::copy;

use jsonathlon_catalogue::{
    Catalogue, CatalogueError, LoadMode, MemoryProfile, PreparationClass, StatementKind, System, TargetKind,
    select_variants,
};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn catalogue() -> Catalogue {
    Catalogue::load(&[fixtures().join("systems")]).unwrap()
}

/// Loads a changed copy of the example. Returns the error.
fn error_after(change: impl Fn(&Path)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let example = folder.path().join("example");
    copy(&fixtures().join("systems/example"), &example);
    change(&example);
    let error = Catalogue::load(&[folder.path().to_path_buf()]).unwrap_err().to_string();
    error.replace(&format!("{}/", example.display()), "")
}

/// Loads the example with a text of one file replaced. Returns the error.
fn error_of(file: &str, old: &str, new: &str) -> String {
    error_after(|example| {
        let path = example.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{file} does not hold {old:?}");
        fs::write(&path, text.replacen(old, new, 1)).unwrap();
    })
}

#[test]
fn every_built_in_system_is_well_formed() {
    let catalogue = Catalogue::load(&[]).unwrap();
    assert!(!catalogue.systems().is_empty());
    for system in catalogue.systems() {
        assert!(!system.artifacts().is_empty(), "{} cannot be had", system.name());
        for version in system.versions() {
            for variant in system.variants() {
                for storage in system.storages() {
                    match system.configuration(version, &variant.name, &storage.name) {
                        Ok(configuration) => {
                            let analytics = configuration.analytics().unwrap();
                            assert!(analytics.statement("q1").is_some(), "{}", system.name());
                        }
                        Err(CatalogueError::Platform { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        }
    }
}

#[test]
fn systems_without_sql_fit_the_format() {
    let catalogue = Catalogue::load(&[]).unwrap();
    for (name, kind) in [
        ("postgresql", StatementKind::Sql),
        ("mysql", StatementKind::Sql),
        ("mongodb", StatementKind::Json),
        ("elasticsearch", StatementKind::Json),
    ] {
        let system = catalogue.get(name).unwrap();
        for variant in system.variants() {
            let configuration =
                system.configuration(system.default_version(), &variant.name, "default").unwrap();
            let analytics = configuration.analytics().unwrap();
            for question in ["q1", "q2", "q3", "q4", "q5", "q6"] {
                assert_eq!(analytics.files[question].kind, kind, "{name} {question}");
                assert!(analytics.statement(question).is_some(), "{name} {question}");
            }
        }
    }
}

#[test]
fn the_base_alone() {
    let catalogue = catalogue();
    let configuration = catalogue.get("example").unwrap().configuration("2.0", "ordered", "default").unwrap();
    assert_eq!(configuration.title, "Example");
    assert_eq!(
        (configuration.variant_title.as_str(), configuration.preparation, configuration.ranks_with.as_str()),
        ("sorted", PreparationClass::Prepared, "")
    );
    let settings: Vec<_> =
        configuration.open.settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(settings, [("cache", "0"), ("sync", "true"), ("threads", "{{cores}}")]);
    assert_eq!(configuration.open.statements, ["SET codec = 'lz4'"]);
    assert_eq!(configuration.exceptions.len(), 1);
    assert!(configuration.properties.server_time && configuration.properties.parallel_unit.is_none());

    let artifact = configuration.artifact.as_ref().unwrap();
    assert_eq!((artifact.version_text.as_str(), artifact.licence.as_str()), ("2.0.1", "Apache-2.0"));
    assert_eq!(artifact.sources[0].files["library"], "package/lib.so");
    assert_eq!(artifact.sources[1].files["library"], "native/lib.so", "a source may be laid out otherwise");

    let analytics = configuration.analytics().unwrap();
    assert_eq!(analytics.load, LoadMode::File);
    assert_eq!(
        analytics.statements("create"),
        ["CREATE TABLE {{table}} (doc JSON) ORDER BY a", "SET after = 1"]
    );
    assert_eq!(analytics.statement("create"), None, "it holds two");
    assert_eq!(analytics.statement("q1"), Some("SELECT 1\nFROM {{table}}"));
    assert_eq!(analytics.statements("index").len(), 1);
    assert_eq!(analytics.statements("drain"), [""; 0]);
    let rules = &analytics.questions["q2"];
    assert_eq!(rules.approximate, [2]);
    assert_eq!(rules.violations("Index Scan on i"), [""; 0]);
    assert_eq!(rules.violations("Seq Scan"), ["the plan lacks `Index Scan`", "the plan has `Seq Scan`"]);
}

#[test]
fn variant_and_storage_lie_over_the_base() {
    let catalogue = catalogue();
    let example = catalogue.get("example").unwrap();
    let plain = example.configuration("2.0", "no-index", "best").unwrap();
    assert_eq!((plain.variant.as_str(), plain.storage.as_str()), ("plain", "best"));
    assert_eq!(plain.open.settings["cache"], "1");
    assert_eq!(plain.open.settings["threads"], "{{cores}}");
    assert_eq!(plain.open.statements, ["SET codec = 'zstd'", "SET plain = 1"]);
    assert!(plain.properties.parallel_unit == Some(1000) && plain.properties.server_time);
    assert_eq!(plain.properties.notes, ["base note", "plain note"]);
    assert_eq!(plain.exceptions.len(), 2);
    let analytics = plain.analytics().unwrap();
    assert_eq!(analytics.statements("create")[0], "CREATE TABLE {{table}} (doc JSON) ");
    assert_eq!(analytics.statements("index"), [""; 0], "a file of comments takes the base's away");
    assert_eq!(analytics.statement("q1"), Some("SELECT 10 FROM {{table}}"));
    assert_eq!(analytics.statement("q2"), Some("SELECT 2\nFROM {{table}}"));
    let rules = &analytics.questions["q2"];
    assert!(rules.expect.is_empty() && rules.forbid == ["Seq Scan"], "only what is named is replaced");
}

#[test]
fn the_digest_follows_what_is_measured_and_not_the_prose() {
    let digest_after = |file: &str, old: &str, new: &str| {
        let folder = tempfile::tempdir().unwrap();
        let example = folder.path().join("example");
        copy(&fixtures().join("systems/example"), &example);
        let text = fs::read_to_string(example.join(file)).unwrap();
        assert!(text.contains(old), "{old}");
        fs::write(example.join(file), text.replace(old, new)).unwrap();
        let catalogue = Catalogue::load(&[folder.path().to_path_buf()]).unwrap();
        catalogue.get("example").unwrap().configuration("2.0", "ordered", "default").unwrap().digest
    };
    let base = digest_after("system.toml", "Example", "Example");
    assert!(base.starts_with("blake3:") && base.len() == 71);
    assert_eq!(base, digest_after("system.toml", "Trials must not", "Trials shall not"));
    assert_eq!(base, digest_after("analytics/create.sql", "-- the table", "-- a table"));
    for (file, old, new) in [
        ("system.toml", "\"lz4\"", "\"lz5\""),
        ("system.toml", "sync = true", "sync = false"),
        ("system.toml", "2.0.1\"\nplatform", "2.0.2\"\nplatform"),
        ("system.toml", "Seq Scan", "Full Scan"),
        ("analytics/q6.sql", "SELECT 6", "SELECT 7"),
    ] {
        assert_ne!(base, digest_after(file, old, new), "{old} -> {new}");
    }
    let catalogue = catalogue();
    let example = catalogue.get("example").unwrap();
    let mut digests: Vec<String> = ["ordered", "plain", "hidden"]
        .iter()
        .flat_map(|variant| ["default", "best"].map(|storage| example.configuration("2.0", variant, storage)))
        .map(|configuration| configuration.unwrap().digest)
        .collect();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), 6);
}

#[test]
fn errors_name_file_line_and_key_and_the_nearest_name() {
    let cases = [
        (
            "titel = \"Example\"",
            "title = \"Example\"",
            "system.toml:2: `titel`: unknown field `titel`",
            "did you mean `title`?",
        ),
        (
            "title = 3",
            "title = \"Example\"",
            "system.toml:2: `title`: invalid type: integer `3`",
            "expected a string",
        ),
        ("", "title = \"Example\"\n", "missing field `title`", ""),
        ("embeded = true", "embedded = true", "system.toml:7: `embeded`:", "did you mean `embedded`?"),
        (
            "name = \"sample\"",
            "name = \"example\"",
            "system.toml:1: `name`:",
            "must be the folder's name, `example`",
        ),
        (
            "default_version = \"3.0\"",
            "default_version = \"2.0\"",
            "system.toml:5: `default_version`:",
            "there is 2.0 and 1.0",
        ),
        (
            "kind = \"nmp\"",
            "kind = \"npm\"",
            "system.toml:16: `artifact.0.source.0.kind`:",
            "did you mean `npm`?",
        ),
        (
            "sha256 = \"ABC\"",
            "sha256 = \"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"",
            "system.toml:18: `artifact.0.source.0.sha256`:",
            "64 digits",
        ),
        ("engine@latest", "engine@2.0.1", "system.toml:17: `artifact.0.source.0.package`:", "exact version"),
        (
            "members = [\"../lib.so\"]",
            "members = [\"package/lib.so\"]",
            "system.toml:21: `artifact.0.source.0.members`:",
            "no path inside an archive",
        ),
        (
            "files = { library = \"native/x/../lib.so\" }",
            "files = { library = \"native/lib.so\" }",
            "system.toml:30: `artifact.0.source.1.files`:",
            "no path inside",
        ),
        (
            "files = { library = \"other/lib.so\" }",
            "files = { library = \"package/lib.so\" }",
            "`artifact.0.source.0.files`:",
            "not among the members",
        ),
        ("bytes = 0\n", "bytes = 1100\n", "system.toml:27: `artifact.0.source.1.bytes`:", "needs `bytes`"),
        (
            "version = \"2.0\"\nreports = \"1.0\"\nplatform = \"haiku",
            "version = \"1.0\"\nreports = \"1.0\"\nplatform = \"haiku",
            "`artifact.1.version`:",
            "twice",
        ),
        (
            "kind = \"bundled\"\nwith = [{ kind = \"npm\" }]",
            "kind = \"bundled\"",
            "`artifact.1.source.0.with`:",
            "has no further parts",
        ),
        (
            "platform = \"haiku-m68k\"\nenvironment = { A = \"1\" }",
            "platform = \"haiku-m68k\"",
            "`artifact.1.environment`:",
            "there is no [server]",
        ),
        (
            "kind = \"bundled\"\nbytes = 5",
            "kind = \"bundled\"",
            "`artifact.1.source.0.bytes`:",
            "nothing to fetch",
        ),
        (
            "platform = \"linux\"",
            "platform = \"any\"",
            "system.toml:12: `artifact.0.platform`:",
            "linux-x86_64",
        ),
        (
            "expect = ['Index (Scan']",
            "expect = ['Index Scan']",
            "`analytics.questions.q2.expect.0`:",
            "unclosed group",
        ),
        (
            "[analytics.questions.q7]",
            "[analytics.questions.q2]",
            "`analytics.questions.q7`:",
            "unknown question",
        ),
        (
            "load = \"files\"",
            "load = \"file\"",
            "`analytics.load`: unknown variant `files`",
            "did you mean `file`?",
        ),
        ("", "preparation = \"prepared\"\n", "`variants.ordered`", "missing field `preparation`"),
        (
            "preparation = \"perpared\"",
            "preparation = \"prepared\"",
            "`variants.ordered.preparation`:",
            "did you mean `prepared`?",
        ),
        (
            "preparation = \"as-is\"",
            "preparation = \"prepared\"",
            "`variants`:",
            "are both the default of the class `as-is`",
        ),
        ("", "default = true\n", "`variants`:", "no variant is the default of the class `prepared`"),
        ("share = 2.5", "share = 0.25", "`profiles.sized.setting.0.share`:", "1 at most"),
        ("unit = \"Mb/s\"", "unit = \"MiB\"", "`profiles.sized.setting.0.unit`:", "KiB, MiB or GiB of 1,024"),
        (
            "text = \"{{amuont}}MB\"",
            "text = \"{{amount}}MB\"",
            "`profiles.sized.setting.0.text`:",
            "did you mean `amount`?",
        ),
        ("least = \"256\"", "least = \"256MiB\"", "`profiles.sized.least`:", "such as 512MB"),
        (
            "as = \"argument\"\ntext = \"{{amount}}MB\"",
            "text = \"{{amount}}MB\"",
            "`profiles.sized.setting.0.as`:",
            "there is no [server]",
        ),
        (
            "aliases = [\"ordered\"]",
            "aliases = [\"no-index\"]",
            "`variants.plain.aliases`:",
            "`ordered` is used already",
        ),
        ("[variants.all]", "[variants.hidden]", "`variants.all`:", "stands for a set"),
        (
            "values = { oder = \"\" }",
            "values = { order = \"\" }",
            "`variants.plain.values.oder`: no statement or setting uses `{{oder}}`",
            "did you mean `order`?",
        ),
        (
            "table = \"t\"\ncodec = \"lz4\"",
            "codec = \"lz4\"",
            "`values.table`:",
            "gets its value from the run",
        ),
        ("codec = \"{{order}}\"", "codec = \"lz4\"", "`values.codec`:", "values are put in once"),
        (
            "threads = \"{{core}}\"",
            "threads = \"{{cores}}\"",
            "system.toml:42: `open.settings.threads`:",
            "`{{core}}` has no value",
        ),
        ("cache = []", "cache = 0,", "system.toml:42", "expected"),
        (
            "statements = [\"SET plain = {{plain}}\"]",
            "statements = [\"SET plain = 1\"]",
            "`variants.plain.open.statements.0`:",
            "`{{plain}}` has no value",
        ),
    ];
    let mut bad = Vec::new();
    for (new, old, start, part) in cases {
        let message = error_of("system.toml", old, new);
        if !(message.contains("system.toml") && message.contains(start) && message.contains(part)) {
            bad.push(format!("{start:?} and {part:?}, but: {message}"));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn statement_files_are_checked_too() {
    let cases = [
        (
            "q3.sql",
            "{{table}}",
            "{{tabel}}",
            "analytics/q3.sql:2: `{{tabel}}` has no value in variant hidden (did you mean `table`?)",
        ),
        ("create.sql", "{{order}}", "{{ order }}", "analytics/create.sql:2: `{{` starts a placeholder"),
        ("q3.sql", "{{table}}", "'{{file}}'", "analytics/q3.sql:2: `{{file}}` has a value only in `load`"),
        ("load.sql", "{{file}}", "x", "analytics/load.sql: does not use `{{file}}`"),
        ("plan.sql", "{{statement}}", "x", "analytics/plan.sql: does not use `{{statement}}`"),
        ("q2.sql", "2\n", "2;\nSELECT 3\n", "analytics/q2.sql: holds 2 statements and must hold one"),
        ("q2.sql", "SELECT 2\nFROM {{table}};", "-- nothing", "analytics/q2.sql: holds no statement"),
    ];
    for (file, old, new, expected) in cases {
        let message = error_of(&format!("analytics/{file}"), old, new);
        assert!(message.starts_with(expected), "{expected:?}: {message:?}");
    }
}

#[test]
fn rows_are_bound_and_not_read_from_a_file() {
    let rows = |load: &str| {
        error_after(|example| {
            let path = example.join("system.toml");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text.replace("load = \"file\"", "load = \"rows\"")).unwrap();
            fs::write(example.join("analytics/load.sql"), load).unwrap();
        })
    };
    assert_eq!(
        rows("COPY t FROM '{{file}}';"),
        "analytics/load.sql:1: `{{file}}` has no value where rows are loaded"
    );
    assert_eq!(
        rows("INSERT INTO t VALUES (?);"),
        "analytics/load.sql: does not use `:doc`, which it is there for"
    );
    let two = rows("INSERT INTO t VALUES (:doc);\nINSERT INTO u VALUES (:doc);");
    assert_eq!(two, "analytics/load.sql: holds 2 statements and must hold one");
}

#[test]
fn files_that_are_missing_or_belong_to_nothing_are_errors() {
    let remove = |name: &str| error_after(|example| fs::remove_file(example.join(name)).unwrap());
    assert!(remove("system.toml").starts_with("system.toml: is missing"));
    assert!(remove("analytics/q4.sql").starts_with("analytics/q4.sql: is missing: the analytics workload"));
    let add = |name: &str| {
        error_after(|example| {
            fs::create_dir_all(example.join(name).parent().unwrap()).unwrap();
            fs::write(example.join(name), "SELECT 1;").unwrap();
        })
    };
    assert!(add("analytics/creat.sql").contains("(did you mean `create`?)"));
    assert!(add("analytics/q1.txt").contains("neither a .sql nor a .json file"));
    assert!(add("analytics/plian/q1.sql").contains("declare [variants.plian] (did you mean `plain`?)"));
    assert!(add("analytics/q1.json").starts_with("analytics/q1.json:1: is not JSON"));
    let looped = error_after(|example| std::os::unix::fs::symlink(".", example.join("loop")).unwrap());
    assert!(looped.contains("lies deeper than any folder of a system"), "{looped}");
    assert!(add("analitics/q1.sql").contains("(did you mean `analytics`?)"));
    let twice = error_after(|example| fs::write(example.join("analytics/q1.json"), "{}").unwrap());
    assert!(twice.contains("says the same as analytics/q1.json"), "{twice}");
    let binary = error_after(|example| fs::write(example.join("analytics/q1.sql"), b"\xff").unwrap());
    assert_eq!(binary, "analytics/q1.sql: is not UTF-8 text");
}

#[test]
fn a_folder_of_its_own_adds_and_replaces() {
    let built_in = Catalogue::load(&[]).unwrap();
    let replaced = built_in.systems()[0].name();
    let folder = tempfile::tempdir().unwrap();
    copy(&fixtures().join("systems/byaddress"), &folder.path().join(replaced));
    fs::create_dir(folder.path().join(".git")).unwrap();
    fs::write(folder.path().join("README.md"), "ignored").unwrap();
    let definition = folder.path().join(replaced).join("system.toml");
    let text = fs::read_to_string(&definition).unwrap();
    fs::write(&definition, text.replace("\"byaddress\"", &format!("\"{replaced}\""))).unwrap();

    let both = Catalogue::load(&[fixtures().join("systems"), folder.path().to_path_buf()]).unwrap();
    assert_eq!(both.systems().len(), built_in.systems().len() + 2);
    assert_eq!(both.get(replaced).unwrap().title(), "By address");
    assert!(both.systems().is_sorted_by_key(System::name));
}

#[test]
fn folders_given_by_mistake_are_explained() {
    let error = Catalogue::load(&[PathBuf::from("/nonexistent")]).unwrap_err().to_string();
    assert!(error.contains("/nonexistent"), "{error}");
    let error = Catalogue::load(&[fixtures().join("systems/example")]).unwrap_err().to_string();
    assert!(error.contains("give the folder that holds it"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    let error = Catalogue::load(&[folder.path().to_path_buf()]).unwrap_err().to_string();
    assert!(error.contains("empty/system.toml: is missing"), "{error}");
}

#[test]
fn systems_are_selected_by_name_and_version() {
    let catalogue = catalogue();
    let names = |text| -> Result<Vec<String>, String> {
        let selected = catalogue.select(Some(text)).map_err(|error| error.to_string())?;
        Ok(selected
            .iter()
            .map(|selected| format!("{}@{}", selected.system.name(), selected.version))
            .collect())
    };
    assert_eq!(names("example, byaddress"), Ok(vec!["example@2.0".into(), "byaddress@9".into()]));
    assert_eq!(
        names("example@1.0,example,example@2.0"),
        Ok(vec!["example@1.0".into(), "example@2.0".into()])
    );
    let ranked = catalogue.systems().len() - catalogue.references().len();
    assert_eq!(names("all").unwrap().len(), ranked);
    assert_eq!(names("byaddress,all").unwrap().len(), ranked);
    let error = names("exmaple").unwrap_err();
    assert!(error.contains("(did you mean `example`?)") && error.contains("byaddress,"), "{error}");
    let error = names("example@3").unwrap_err();
    assert_eq!(error, "example has no version `3`; there is 2.0 and 1.0");
    for nothing in ["", ",", "@1", "example@", "all@2"] {
        assert!(names(nothing).unwrap_err().contains("is not a selection"), "{nothing}");
    }
    let plain: Vec<_> =
        catalogue.select(None).unwrap().iter().map(|selected| selected.system.name()).collect();
    assert!(!plain.contains(&"example"), "it is no default");
}

#[test]
fn references_are_apart_and_need_keep_no_documents() {
    let catalogue = Catalogue::load(&[]).unwrap();
    let references: Vec<_> = catalogue.references().iter().map(|one| one.system.name()).collect();
    assert_eq!(references, ["yardstick"]);
    for text in [None, Some("all")] {
        let selected = catalogue.select(text).unwrap();
        assert!(selected.iter().all(|one| !one.system.is_reference()), "{text:?}");
        assert!(!selected.is_empty());
    }
    let named = catalogue.select(Some("yardstick")).unwrap();
    let yardstick = named[0].system;
    assert!(yardstick.is_in_memory() && !yardstick.is_default());
    let configuration = yardstick.configuration(named[0].version, "one-core", "default").unwrap();
    assert!(configuration.reference && configuration.in_memory);
    assert_eq!(configuration.open.settings["threads"], "1");
    let parallel = yardstick.configuration(named[0].version, "parallel", "default").unwrap();
    assert_eq!(parallel.open.settings["threads"], "{{cores}}");
    let analytics = configuration.analytics().unwrap();
    assert!(analytics.statement("read_back").is_none() && analytics.statement("q6").is_some());

    let sqlite = catalogue.get("sqlite").unwrap();
    let sqlite = sqlite.configuration(sqlite.default_version(), "indexed", "default").unwrap();
    assert!(!sqlite.reference && !sqlite.in_memory);
}

#[test]
fn a_reference_is_no_default_and_only_a_reference_keeps_nothing() {
    let without_read_back = |definition: &str| {
        error_after(|example| {
            fs::remove_file(example.join("analytics/read_back.sql")).unwrap();
            let path = example.join("system.toml");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, format!("{definition}\n{text}")).unwrap();
        })
    };
    assert!(without_read_back("in_memory = true").contains("read_back.sql: is missing"));
    let folder = tempfile::tempdir().unwrap();
    let example = folder.path().join("example");
    copy(&fixtures().join("systems/example"), &example);
    fs::remove_file(example.join("analytics/read_back.sql")).unwrap();
    let path = example.join("system.toml");
    let text = format!("reference = true\n{}", fs::read_to_string(&path).unwrap());
    fs::write(&path, &text).unwrap();
    let catalogue = Catalogue::load(&[folder.path().to_path_buf()]).unwrap();
    assert_eq!(catalogue.references().len(), 2);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("default =")).collect();
    fs::write(&path, format!("default = true\n{}", lines.join("\n"))).unwrap();
    let error = Catalogue::load(&[folder.path().to_path_buf()]).unwrap_err().to_string();
    assert!(error.contains("leave `default` out"), "{error}");
}

#[test]
fn variants_are_selected_by_set_name_and_alias() {
    let catalogue = catalogue();
    let systems = [catalogue.get("example").unwrap(), catalogue.get("byaddress").unwrap()];
    let names = |text| -> Result<Vec<Vec<String>>, String> {
        let selected =
            select_variants(&systems, text, TargetKind::Started).map_err(|error| error.to_string())?;
        Ok(selected.iter().map(|list| list.iter().map(|variant| variant.name.clone()).collect()).collect())
    };
    let lists = |example: &[&str], other: &[&str]| {
        Ok([example, other]
            .map(|list| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
            .to_vec())
    };
    assert_eq!(names("default"), lists(&["ordered", "plain"], &["default"]));
    assert_eq!(names("main"), lists(&["ordered"], &["default"]));
    assert_eq!(names("main,no-index"), lists(&["ordered", "plain"], &["default"]));
    assert_eq!(names("prepared"), lists(&["ordered"], &[]));
    assert_eq!(names("as-is,prepared"), lists(&["ordered", "plain"], &["default"]));
    let error = names("extracted").unwrap_err();
    assert!(error.contains("no variant `extracted`") && error.contains("as-is"), "{error}");
    assert_eq!(names("all"), lists(&["ordered", "plain"], &["default"]));
    assert_eq!(names("no-index"), lists(&["plain"], &[]));
    assert_eq!(names("plain,no-index,hidden"), lists(&["hidden", "plain"], &[]));
    let error = names("no-idnex").unwrap_err();
    assert!(error.contains("did you mean `no-index`?") && error.contains("hidden"), "{error}");
    assert!(names(" ").unwrap_err().contains("is not a selection"));
}

#[test]
fn a_profile_spends_its_budget_as_the_folder_says() {
    let catalogue = catalogue();
    let example = catalogue.get("example").unwrap();
    let configuration = || example.configuration("2.0", "ordered", "default").unwrap();
    let sized = configuration().with_memory(MemoryProfile::Sized, 8 << 30).unwrap();
    assert_eq!(sized.open.settings["pool"], "2048MB");
    assert_eq!((sized.profile, sized.memory_bytes), (Some(MemoryProfile::Sized), Some(8 << 30)));
    assert_eq!(
        (sized.memory_settings[0].stock.as_str(), sized.memory_settings[0].value.as_str()),
        ("128MB", "2048MB")
    );
    let stock = configuration().with_memory(MemoryProfile::Stock, 8 << 30).unwrap();
    assert!(!stock.open.settings.contains_key("pool"), "stock sets nothing");
    assert_eq!((stock.profile, stock.memory_bytes), (Some(MemoryProfile::Stock), None));
    assert_ne!(sized.digest, stock.digest);
    let error = configuration().with_memory(MemoryProfile::Sized, 255 << 20).unwrap_err().to_string();
    assert!(error.contains("example needs 256 MiB of memory at least, and may have 255 MiB here"), "{error}");
    assert!(configuration().with_memory(MemoryProfile::Stock, 1).is_ok(), "stock has no budget");
}

#[test]
fn what_does_not_exist_is_answered_with_what_does() {
    let catalogue = catalogue();
    let example = catalogue.get("example").unwrap();
    let error =
        |version, variant, storage| example.configuration(version, variant, storage).unwrap_err().to_string();
    assert!(error("2.1", "ordered", "default").contains("there is 2.0 and 1.0"));
    assert!(error("2.0", "orderd", "default").contains("did you mean `ordered`?"));
    assert!(error("2.0", "ordered", "bets").contains("there is default and best"));
    assert!(error("1.0", "ordered", "default").contains("it is for haiku-m68k"));
    let by_address = catalogue.get("byaddress").unwrap().configuration("9", "default", "default").unwrap();
    assert!(by_address.artifact.is_none() && by_address.setups.is_empty());
}

/// The table in the fairness document must contain exactly the settings of the folders.
#[test]
fn the_documented_memory_settings_are_those_of_the_folders() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fairness.md");
    let document = fs::read_to_string(path).unwrap();
    let rows: Vec<&str> = document.lines().filter(|line| line.starts_with('|')).collect();
    for system in Catalogue::load(&[]).unwrap().systems() {
        let variant = &system.variants()[0].name;
        let configuration = system.configuration(system.default_version(), variant, "default").unwrap();
        let sized = configuration.with_memory(MemoryProfile::Sized, 100 << 30).unwrap();
        for setting in sized.memory_settings {
            let name = format!("`{}`", setting.name.trim_end_matches(" of WiredTiger"));
            assert!(
                rows.iter().any(|row| row.contains(&name)),
                "{}: {name} is not documented",
                system.name()
            );
        }
    }
}
