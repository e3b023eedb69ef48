//! Tests of runs on remote servers, and with the user's own binaries.

use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::time::Duration;

use jsonathlon_results::summary::Run;
use jsonathlon_schema::record::{FailureKind, Phase, Verdict};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use super::questions::are_agreed_by_address;
use super::server::{Server, Session};
use crate::analytics::promises_are_kept;
use crate::support::process::Ended;
use crate::support::process::Running;
use crate::support::real::{excluded, installed};
use crate::support::{LIMIT, Look, QUESTIONS, World, eventually};

/// A server that the run has not started, with a session of its owner.
pub(crate) struct Host {
    pub(crate) server: Server,
    pub(crate) owner: Session,
    pub(crate) port: u16,
    pub(crate) password: String,
}

impl Host {
    pub(crate) fn of(mut server: Server) -> Self {
        // Another process may take the free port first.
        let (port, owner) = (0..5)
            .find_map(|_| {
                let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
                server.launch.port = Some(port);
                Some((port, server.try_open().ok()?))
            })
            .unwrap_or_else(|| panic!("{}", server.refusal()));
        let password = std::fs::read_to_string(server.path("data/password")).unwrap_or_default();
        Self { server, owner, port, password: password.trim().to_owned() }
    }

    fn postgresql() -> Self {
        Self::of(Server::new("postgresql", "json-only"))
    }

    fn address(&self, more: &str) -> String {
        format!("postgresql=postgres://localhost:{}{more}", self.port)
    }

    fn databases(&mut self) -> Vec<String> {
        let rows = self.owner.rows("SELECT datname::text FROM pg_database WHERE NOT datistemplate");
        rows.iter().map(|row| format!("{:?}", row[0])).filter(|name| name.contains("jsonathlon_")).collect()
    }

    fn close(self) {
        self.owner.close();
    }
}

/// The variant of a system that is used for tests with remote servers.
fn prepared(system: &str) -> &'static str {
    match system {
        "clickhouse" => "challenge",
        "dolt" => "generated",
        "elasticsearch" => "source",
        "mongodb" => "not-covered",
        "mariadb" => "no-index",
        _ => "json-only",
    }
}

/// Starts a run on a remote server, with the password in the environment.
fn start(world: &World, out: &str, address: &str, password: &str, more: &[&str]) -> Running {
    let out = world.text(out);
    let systems = world.text("systems");
    let mut arguments = vec!["run", "--systems-dir", &systems, "--system", address, "--json"];
    arguments.extend(["--no-yardstick", "-o", &out]);
    for [option, value] in [["-n", "2k"], ["-r", "1"], ["-t", "2"]] {
        if !more.contains(&option) {
            arguments.extend([option, value]);
        }
    }
    let system = address.split('=').next().unwrap();
    // One variant, unless the test selects variants.
    if !more.contains(&"--variants") {
        arguments.extend(["--variants", prepared(system)]);
    }
    arguments.extend(more);
    let mut command = world.command(&arguments);
    let name = system.to_uppercase();
    command.env(format!("JSONATHLON_PASSWORD_{name}"), password);
    Running::start(command, &world.path(""))
}

pub(crate) fn guest(world: &World, out: &str, address: &str, password: &str, more: &[&str]) -> Ended {
    start(world, out, address, password, more).end(LIMIT)
}

/// Asserts that a text is in no file of a folder.
fn is_nowhere_in(folder: &Path, text: &str) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            is_nowhere_in(&path, text);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains(text), "{} has {text}", path.display());
        }
    }
}

#[test]
fn a_guest_measures_and_leaves_nothing_behind() {
    if excluded(&["postgresql"]) {
        return;
    }
    let (world, mut host) = (World::new(), Host::postgresql());
    assert!(host.password.len() > 8, "{:?}", host.password);
    let address = host.address("");
    let summary = guest(&world, "out", &address, &host.password, &[]).expect(0).summary();
    let load = summary.entry("postgresql", "load");
    assert_eq!(load.metrics["documents_loaded"], 2000.0);
    assert_eq!(load.cell.id.version, "18.6+address");
    // The CPU use of the server is unknown, which must not be recorded as zero.
    assert!(!load.metrics.contains_key("server_cpu_s") && load.metrics.contains_key("client_cpu_s"));
    for question in QUESTIONS {
        let entries = summary.entries("postgresql", question);
        assert!(
            matches!(entries.as_slice(), [one] if one.cell.phase == Phase::Hot && one.median_s.is_some())
        );
    }
    assert_eq!(host.databases(), [""; 0]);
    assert!(host.owner.rows("SELECT 1").len() == 1, "the server is still there");
    is_nowhere_in(&world.path("out"), &host.password);
    let exceptions = world.kept("out").manifest().configurations[0].exceptions.clone();
    assert!(exceptions.iter().any(|one| one.what == "a server by address"), "{exceptions:?}");

    // With `--keep-data` the database is kept.
    guest(&world, "kept", &address, &host.password, &["--keep-data"]).expect(0);
    let kept = host.databases();
    assert_eq!(kept.len(), 1, "{kept:?}");
    host.close();
}

#[test]
fn a_guest_serves_and_leaves_nothing_behind() {
    if excluded(&["postgresql"]) {
        return;
    }
    let (world, mut host) = (World::new(), Host::postgresql());
    let (out, systems, address) = (world.text("out"), world.text("systems"), host.address(""));
    let mut arguments =
        vec!["run", "serving", "--systems-dir", &systems, "--system", &address, "--json", "-o", &out];
    arguments.extend(["-n", "500", "-r", "2", "--clients", "1,3", "--mixes", "a,churn"]);
    arguments.extend(["--warmup", "100ms", "--duration", "500ms"]);
    let mut command = world.command(&arguments);
    command.env("JSONATHLON_PASSWORD_POSTGRESQL", &host.password);
    let running = Running::start(command, &world.path(""));
    eventually("it works in a database of its own", || host.databases().len() == 1);
    let summary = running.end(LIMIT).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    let own: Vec<_> = summary.results.iter().filter(|entry| entry.cell.step.is_workload_step()).collect();
    // Two mixes with two numbers of clients, as a whole and by operation.
    assert_eq!(own.len(), 2 * (1 + 2) + 2 * (1 + 4));
    for entry in own {
        assert_eq!((entry.verdict, entry.metrics["errors"]), (Verdict::Exact, 0.0), "{entry:?}");
        assert_eq!(entry.cell.id.version, "18.6+address");
        // The CPU use of the server is unknown, which must not be recorded as zero.
        assert!(!entry.metrics.contains_key("server_cpu_us_per_op"), "{entry:?}");
    }
    assert_eq!(host.databases(), [""; 0]);
    assert!(host.owner.rows("SELECT 1").len() == 1, "the server is still there");
    is_nowhere_in(&world.path("out"), &host.password);
    host.close();
}

#[test]
fn a_guest_serves_own_documents_and_leaves_nothing_behind() {
    if excluded(&["postgresql"]) {
        return;
    }
    let (world, mut host) = (World::new(), Host::postgresql());
    let document = |index: u32| match index {
        7 => format!(r#"{{"id":{index},"text":"value {index:04}","number":123456789012345678901}}"#),
        _ => format!(r#"{{"id":{index},"text":"value {index:04}"}}"#),
    };
    let data = world.file("data.ndjson", (0..400).map(document).collect::<Vec<_>>().join("\n"));
    let (out, systems, address) = (world.text("out"), world.text("systems"), host.address(""));
    let mut arguments =
        vec!["run", "serving", "--systems-dir", &systems, "--system", &address, "--json", "-o", &out];
    arguments.extend(["--data", &data, "--key", "/id", "--update", "/text", "--mixes", "a,churn"]);
    arguments.extend(["-r", "1", "--clients", "3", "--warmup", "100ms", "--duration", "500ms"]);
    let mut command = world.command(&arguments);
    command.env("JSONATHLON_PASSWORD_POSTGRESQL", &host.password);
    let running = Running::start(command, &world.path(""));
    eventually("it works in a database of its own", || host.databases().len() == 1);
    let summary = running.end(LIMIT).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    let own: Vec<_> = summary.results.iter().filter(|entry| entry.cell.step.is_workload_step()).collect();
    assert!(own.iter().any(|entry| entry.cell.step.word() == "churn"), "{own:?}");
    assert!(own.iter().all(|entry| entry.verdict == Verdict::Exact), "{own:?}");
    assert_eq!(host.databases(), [""; 0]);
    is_nowhere_in(&world.path("out"), &host.password);
    host.close();
}

#[test]
fn an_interrupted_guest_leaves_nothing_behind_and_can_go_on() {
    if excluded(&["postgresql"]) {
        return;
    }
    let (world, mut host) = (World::new(), Host::postgresql());
    let address = host.address("");
    let mut running = start(&world, "out", &address, &host.password, &["-r", "30", "-n", "20k"]);
    let kept = world.kept("out");
    crate::support::eventually("something is measured", || kept.recorded() > 8);
    assert!(!running.has_ended());
    running.signal(rustix::process::Signal::INT);
    running.end(LIMIT).expect(4).says(&["--resume"]);
    assert_eq!(host.databases(), [""; 0]);
    // The run folder contains the address but not the password.
    let (systems, out) = (world.text("systems"), world.text("out"));
    let resume = ["run", "--systems-dir", &systems, "--json", "--resume", &out];
    let before = kept.journal();
    world.run(&resume).expect(3).says(&["password authentication failed"]);
    assert_eq!(kept.journal(), before, "nothing is lost by that");
    let mut again = world.command(&resume);
    again.env("JSONATHLON_PASSWORD_POSTGRESQL", &host.password);
    let summary = Running::start(again, &world.path("")).end(LIMIT).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty());
    assert_eq!(host.databases(), [""; 0]);
    host.close();
}

#[test]
fn who_cannot_come_in_is_told_why_before_anything_is_made() {
    if excluded(&["postgresql"]) {
        return;
    }
    let (world, mut host) = (World::new(), Host::postgresql());
    host.owner.run("CREATE ROLE guest LOGIN PASSWORD 'pass'");
    let tried = |address: &str, password: &str, code: i32, words: &[&str]| {
        guest(&world, "out", address, password, &[]).expect(code).says(words);
        assert!(!world.path("out").exists(), "{address}");
    };
    tried(&host.address(""), "wrong", 3, &["refused the session", "password authentication failed"]);
    // Port 1 is privileged, and no server listens there.
    tried("postgresql=postgres://localhost:1", "", 3, &["does not answer", "Connection refused"]);
    tried(&host.address("?tls=on"), "", 3, &["does not support TLS", "?tls=off"]);
    let secret = format!("postgresql=postgres://me:hidden@localhost:{}", host.port);
    tried(&secret, "", 2, &["must not hold a password", "JSONATHLON_PASSWORD_"]);
    tried("postgresql=mysql://localhost", "", 2, &["postgres:// or postgresql://"]);
    tried("sqlite=postgres://localhost", "", 2, &["its folder has no [address]"]);
    tried("nothing=postgres://localhost", "", 2, &["no system `nothing`"]);
    tried("postgresql", "", 2, &["NAME=…"]);

    // The user can log in but cannot create anything.
    let address = format!("postgresql=postgres://guest@localhost:{}/postgres", host.port);
    let summary = guest(&world, "out", &address, "pass", &[]).expect(1).summary();
    assert!(summary.failures[0].error.contains("permission denied to create database"), "{summary:?}");
    assert!(summary.results.iter().all(|entry| entry.median_s.is_none()));
    host.close();
}

#[test]
fn a_connection_that_is_cut_fails_its_cell_and_what_was_made_goes() {
    if excluded(&["postgresql"]) {
        return;
    }
    let (world, mut host) = (World::new(), Host::postgresql());
    // Repeatedly cuts all connections that execute this kind of statement.
    let cut = |host: &mut Host, running: &mut Running, what: &str| {
        let text = format!(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE datname LIKE 'jsonathlon%' AND state = 'active' AND query LIKE '{what}%'"
        );
        let mut cuts = 0;
        while !running.has_ended() {
            if host.owner.rows(&text)[0][0] != super::server::int(0) {
                cuts += 1;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(cuts > 0, "nobody was cut off");
    };
    for (out, what, step) in [("load", "COPY", "load"), ("ask", "SELECT doc", "q")] {
        let address = host.address("");
        let more = ["-n", "60k", "--variants", "no-index"];
        let mut running = start(&world, out, &address, &host.password, &more);
        if step == "q" {
            let kept = world.kept(out);
            crate::support::eventually("it is loaded", || kept.recorded() > 1);
            cut(&mut host, &mut running, "%documents%");
        } else {
            cut(&mut host, &mut running, what);
        }
        let summary = running.end(LIMIT).expect(1).summary();
        let failure =
            summary.failures.iter().find(|failure| failure.cell.step.word().starts_with(step)).unwrap();
        assert_eq!(failure.kind, FailureKind::Crash, "{failure:?}");
        assert!(failure.error.contains("cut the connection"), "{failure:?}");
        assert_eq!(host.databases(), [""; 0], "{out}");
    }
    host.close();
}

/// Creates a certificate for `localhost` and that of the authority that signed it. Returns the path of the
/// latter.
pub(crate) fn certificate(server: &Server) -> String {
    let (authority_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = authority.self_signed(&authority_key).unwrap();
    let issuer = Issuer::from_params(&authority, &authority_key);
    let leaf =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let (ca, chain, secret) = (server.path("ca.pem"), server.path("server.pem"), server.path("server.key"));
    std::fs::write(&ca, root.pem()).unwrap();
    std::fs::write(chain, leaf.pem()).unwrap();
    std::fs::write(&secret, key.serialize_pem()).unwrap();
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    if rustix::process::geteuid().is_root() {
        chown(&secret, Some(65534), Some(65534)).unwrap();
    }
    ca.to_str().unwrap().to_owned()
}

#[test]
fn connections_are_encrypted_and_certificates_verified() {
    if excluded(&["postgresql"]) {
        return;
    }
    let (world, mut server) = (World::new(), Server::new("postgresql", "json-only"));
    let ca = certificate(&server);
    for (name, value) in [
        ("ssl", "on".to_owned()),
        ("ssl_cert_file", server.path("server.pem").display().to_string()),
        ("ssl_key_file", server.path("server.key").display().to_string()),
    ] {
        server.launch.settings.insert(name.to_owned(), value);
    }
    let mut host = Host::of(server);
    let password = host.password.clone();
    let address = host.address(&format!("?tls=on&ca={ca}"));
    guest(&world, "encrypted", &address, &password, &[]).expect(0);
    // The authority is unknown to the public web, and the certificate is for another host name.
    let unknown = guest(&world, "unknown", &host.address("?tls=on"), &password, &[]);
    unknown.expect(3).says(&["certificate", "?ca="]);
    let other = format!("postgresql=postgres://127.0.0.1:{}?tls=on&ca={ca}", host.port);
    guest(&world, "other", &other, &password, &[]).expect(3).says(&["certificate", "the host as"]);
    let none = host.address("?tls=on&ca=/nowhere.pem");
    guest(&world, "none", &none, &password, &[]).expect(3).says(&["/nowhere.pem"]);

    // From here on the server accepts only encrypted connections.
    let rules = host.server.path("data/data/pg_hba.conf");
    std::fs::write(rules, "hostssl all all all scram-sha-256\n").unwrap();
    host.owner.run("SELECT pg_reload_conf()");
    let plain = guest(&world, "plain", &host.address(""), &password, &[]);
    plain.expect(3).says(&["refused the session", "no encryption"]);
    guest(&world, "again", &address, &password, &[]).expect(0);
    host.close();
}

#[test]
fn what_takes_too_long_is_ended_on_the_server_too() {
    if excluded(&["postgresql"]) {
        return;
    }
    let (world, mut host) = (World::new(), Host::postgresql());
    // A question that takes minutes and keeps the database busy for that time.
    let folder = world.path("systems/postgresql");
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue/systems/postgresql");
    let copied = std::process::Command::new("cp").arg("-r").args([&built_in, &folder]).status().unwrap();
    assert!(copied.success());
    let default = built_in.join("../../defaults/postgres/analytics/q2.sql");
    let question = std::fs::read_to_string(default).unwrap();
    let slow = folder.join("analytics/q2.sql");
    let question = question.trim().trim_end_matches(';');
    std::fs::write(&slow, format!("SELECT answer.* FROM ({question}) AS answer, pg_sleep(300);\n")).unwrap();
    let more = ["--timeout", "2s"];
    let summary = guest(&world, "out", &host.address(""), &host.password, &more).expect(1).summary();
    assert!(
        summary.failures.iter().all(|one| one.cell.step.word() == "q2" && one.kind == FailureKind::Timeout),
        "{summary:?}"
    );
    assert!(summary.hot("postgresql", "q3").median_s.is_some());
    let at_work = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(300)%' AND pid <> pg_backend_pid()";
    assert_eq!(host.owner.rows(at_work)[0][0], super::server::int(0));
    assert_eq!(host.databases(), [""; 0]);
    host.close();
}

#[test]
fn a_restart_command_makes_cold_trials_which_nobody_can_verify() {
    if excluded(&["postgresql"]) {
        return;
    }
    let (world, host) = (World::new(), Host::postgresql());
    let marks = world.text("marks");
    let restart = format!("postgresql=echo x >> {marks}");
    let more = ["--restart-command", restart.as_str()];
    let summary = guest(&world, "out", &host.address(""), &host.password, &more).expect(0).summary();
    let phases: Vec<Phase> =
        summary.entries("postgresql", "q1").iter().map(|entry| entry.cell.phase).collect();
    assert_eq!(phases, [Phase::ColdUnverified, Phase::Hot]);
    assert_eq!(std::fs::read_to_string(&marks).unwrap().lines().count(), QUESTIONS.len());

    let more = ["--restart-command", "postgresql=false"];
    let summary = guest(&world, "fails", &host.address(""), &host.password, &more).expect(1).summary();
    assert!(summary.failures.iter().all(|one| one.error.contains("restart command `false` ended")));
    let more = ["--restart-command", "mongodb=true"];
    guest(&world, "none", &host.address(""), &host.password, &more).expect(2).says(&["no --system mongodb"]);
    host.close();
}

#[test]
fn a_version_that_was_never_tried_is_told_and_recorded() {
    if excluded(&["postgresql"]) {
        return;
    }
    let (world, host) = (World::new(), Host::postgresql());
    // The same system with a folder that was written for another version.
    let folder = world.path("systems/postgresql");
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue/systems/postgresql");
    let copied = std::process::Command::new("cp").arg("-r").args([&built_in, &folder]).status().unwrap();
    assert!(copied.success());
    let text = std::fs::read_to_string(folder.join("system.toml")).unwrap();
    let text = text.replace("version = \"18.6\"", "version = \"17.2\"");
    std::fs::write(folder.join("system.toml"), text).unwrap();
    let ended = guest(&world, "out", &host.address(""), &host.password, &[]).expect(0);
    ended.says(&["warning", "version 18.6", "17.2"]);
    let exceptions = world.kept("out").manifest().configurations[0].exceptions.clone();
    assert!(exceptions.iter().any(|one| one.what == "version 18.6, untried"), "{exceptions:?}");
    host.close();
}

#[test]
fn a_server_that_asks_who_comes_is_told() {
    if excluded(&["mongodb"]) {
        return;
    }
    let (world, mut server) = (World::new(), Server::new("mongodb", "not-covered"));
    // The first user is created while the server has no access control; the password is that of the folder.
    let mut open = server.open();
    let password = std::fs::read_to_string(server.path("data/password")).unwrap();
    let password = password.trim();
    open.run(&format!(
        r#"{{"command": {{"createUser": "me", "pwd": "{password}", "roles": ["root"]}}, "database": "admin"}}"#
    ));
    open.close();
    server.launch.recipe.user = "me".into();
    server.launch.recipe.start.push("--auth".into());
    let mut host = Host::of(server);
    let address = format!("mongodb=mongodb://me@localhost:{}", host.port);
    let summary = guest(&world, "out", &address, password, &[]).expect(0).summary();
    assert_eq!(summary.entry("mongodb", "load").cell.id.version, "6.0.5+address");
    assert!(summary.failures.is_empty());
    let names = r#"{"command": {"listDatabases": 1, "nameOnly": true}, "database": "admin"}"#;
    let left = format!("{:?}", host.owner.rows(names));
    assert!(left.contains("admin") && !left.contains("jsonathlon_"), "{left}");
    let wrong = guest(&world, "wrong", &address, "other", &[]);
    wrong.expect(3).says(&["refused the session", "Authentication failed"]);
    // Without a login the client can connect but not create anything.
    let nobody = format!("mongodb=mongodb://localhost:{}", host.port);
    let summary = guest(&world, "nobody", &nobody, "", &[]).expect(1).summary();
    assert!(summary.failures[0].error.contains("authentication"), "{:?}", summary.failures[0]);
    host.close();
}

#[test]
fn the_users_own_programs_are_started_as_any_other() {
    if excluded(&["postgresql"]) {
        return;
    }
    let world = World::new();
    let catalogue = jsonathlon_catalogue::Catalogue::load(&[]).unwrap();
    let system = catalogue.get("postgresql").unwrap();
    let there = installed(system.artifact(system.default_version()).unwrap().unwrap());
    // A folder with `bin`, readable by other users.
    let own = world.path("own");
    let from = there.files["postgres"].parent().unwrap().parent().unwrap();
    let copied = std::process::Command::new("cp").arg("-r").args([from, &own]).status().unwrap();
    assert!(copied.success());
    let at = format!("postgresql={}", own.display());
    let summary = guest(&world, "out", &at, "", &[]).expect(0).summary();
    summary.is_right("postgresql");
    assert_eq!(summary.entry("postgresql", "load").cell.id.version, "18.6+own");
    // Both at the same time, distinguished by their versions.
    let both = guest(&world, "both", &at, "", &["--systems", "postgresql"]).expect(0).summary();
    let mut versions: Vec<&str> =
        both.entries("postgresql", "load").iter().map(|entry| entry.cell.id.version.as_str()).collect();
    versions.sort_unstable();
    assert_eq!(versions, ["18.6", "18.6+own"]);
    for (at, words) in [
        (world.text("systems"), "there is no `initdb` in it"),
        (world.text("nowhere"), "no such file or folder"),
    ] {
        guest(&world, "none", &format!("postgresql={at}"), "", &[]).expect(2).says(&[words]);
    }
}

#[test]
fn a_guest_of_mysql_leaves_nothing_behind_and_believes_no_certificate_of_another_name() {
    if excluded(&["mysql"]) {
        return;
    }
    let (world, mut host) = (World::new(), Host::of(super::mysql::mysql()));
    let address = format!("mysql=mysql://localhost:{}", host.port);
    let summary = guest(&world, "out", &address, &host.password, &[]).expect(0).summary();
    let load = summary.entry("mysql", "load");
    assert_eq!(load.metrics["documents_loaded"], 2000.0);
    assert!(
        load.cell.id.version.starts_with("9.7.4") && load.cell.id.version.ends_with("+address"),
        "{}",
        load.cell.id.version
    );
    let left = host.owner.rows("SHOW DATABASES LIKE 'jsonathlon%'");
    assert!(left.is_empty(), "{left:?}");
    guest(&world, "wrong", &address, "other", &[]).expect(3).says(&["refused the session", "Access denied"]);
    // The server has generated its own certificates, which name no host.
    let ca = host.server.path("data/data/ca.pem");
    assert!(ca.exists());
    let encrypted = format!("{address}?tls=on&ca={}", ca.display());
    guest(&world, "tls", &encrypted, &host.password, &[]).expect(3).says(&["certificate", "?ca="]);

    // A user who may only log in.
    host.owner.run("CREATE USER guest@localhost IDENTIFIED BY 'pass'");
    let address = format!("mysql=mysql://guest@localhost:{}", host.port);
    let summary = guest(&world, "guest", &address, "pass", &[]).expect(1).summary();
    assert!(summary.failures[0].error.contains("Access denied"), "{:?}", summary.failures[0]);
    host.close();
}

#[test]
fn a_guest_of_elasticsearch_keeps_its_promises_and_leaves_no_index_behind() {
    if excluded(&["elasticsearch"]) {
        return;
    }
    let (world, mut host) = (World::new(), Host::of(super::elasticsearch::elasticsearch()));
    let address = format!("elasticsearch=http://localhost:{}", host.port);
    let summary = guest(&world, "out", &address, "", &["-n", "20k"]).expect(0).summary();
    let load = summary.entry("elasticsearch", "load");
    assert_eq!(load.cell.id.version, "8.19.8+address");
    // All phases are hot, because the run cannot restart the server.
    promises_are_kept(&Run::read(&world.path("out")).unwrap(), &summary, 20_000, |_| 1);
    are_agreed_by_address(&world, &address, "");
    let names = r#"{"method": "GET", "path": "/_cat/indices?format=json&h=index",
        "rows": {"each": [""], "columns": [{"name": "index", "at": "/index", "type": "text"}]}}"#;
    let left = host.owner.rows(names);
    assert!(!format!("{left:?}").contains("jsonathlon_"), "{left:?}");
    let exceptions = world.kept("out").manifest().configurations[0].exceptions.clone();
    assert!(exceptions.iter().any(|one| one.what.starts_with("not set: ")), "{exceptions:?}");
    host.close();
}
