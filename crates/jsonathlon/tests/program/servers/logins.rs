//! Every login that a server offers, by the connections that measure.

use jsonathlon_catalogue::Transport;
use jsonathlon_driver_api::address::{Password, Tls};
use jsonathlon_driver_api::endpoint::Endpoint;
use jsonathlon_driver_api::{Connection, DriverContext, DriverError, Parameter, ResultSet, SessionOptions};
use jsonathlon_schema::value::Value;
use jsonathlon_telemetry::clock::MonotonicClock;
use jsonathlon_worker::Connector;
use jsonathlon_workloads::engine::endpoint;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use super::server::{Server, text};
use crate::support::{LIMIT, real::excluded};

fn host() -> DriverContext {
    DriverContext { clock: std::sync::Arc::new(MonotonicClock::new()), output: None }
}

fn connect(open: &SessionOptions) -> Result<Box<dyn Connection>, DriverError> {
    Connector::for_protocol(&open.protocol).unwrap().connect(open, &host())
}

/// A server that is started for a test, and how its owner reaches it.
struct Started {
    server: Server,
    running: Option<jsonathlon_servers::Server>,
    owner: SessionOptions,
}

impl Started {
    fn of(server: Server) -> Self {
        let running = jsonathlon_servers::Server::start(&server.launch, &|| false).unwrap();
        let endpoint = endpoint(running.login(), running.pid(), LIMIT);
        let owner = SessionOptions {
            endpoint: Some(Box::new(endpoint)),
            statements: Vec::new(),
            ..server.open.clone()
        };
        Self { server, running: Some(running), owner }
    }

    fn run(&self, statements: &[&str]) {
        let mut owner = connect(&self.owner).unwrap();
        for statement in statements {
            owner.collect(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        owner.close().unwrap();
    }

    fn by(&self, user: &str, password: &str, change: impl FnOnce(&mut Endpoint)) -> SessionOptions {
        let mut open = self.owner.clone();
        if let Some(endpoint) = &mut open.endpoint {
            endpoint.user = user.to_owned();
            endpoint.password = Password(password.to_owned());
            endpoint.connect_timeout_s = 0;
            change(endpoint);
        }
        open
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        match self.running.take() {
            // A test that has failed may have left the server starting, and then it has no clean end.
            Some(running) if !std::thread::panicking() => running.stop().unwrap(),
            _ => {}
        }
    }
}

/// Checks that a user logs in on both kinds of connections.
fn logs_in(open: &SessionOptions, whoami: &str, user: &str) {
    let mut one = connect(open).unwrap_or_else(|error| panic!("{user}: {error}"));
    assert_eq!(one.collect(whoami).unwrap().rows, [vec![text(user)]]);
    one.close().unwrap();
    let mut lane =
        Connector::for_protocol(&open.protocol).unwrap().open_nonblocking(open, &host(), true).unwrap();
    let asked = lane.prepare(whoami).unwrap();
    lane.send(&asked, &[]).unwrap();
    let mut answer = ResultSet::default();
    lane.receive(true, &mut answer).unwrap().unwrap();
    assert_eq!(answer.rows, [vec![text(user)]]);
    assert!(lane.descriptor().is_some(), "it waits for each answer");
    lane.close();
}

fn is_refused(open: &SessionOptions, words: &[&str]) {
    let Err(error) = connect(open) else { panic!("the server takes it") };
    assert!(matches!(error, DriverError::Unavailable(_)), "{error:?}");
    let error = error.to_string();
    assert!(words.iter().all(|words| error.contains(words)), "{error}");
}

/// Creates a certificate of a client, its key, and the certificate of the authority that signed it, which the
/// server trusts. Returns the paths of the first two.
fn identity(server: &Server, user: &str) -> [std::path::PathBuf; 2] {
    let (authority_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = authority.self_signed(&authority_key).unwrap();
    let issuer = Issuer::from_params(&authority, &authority_key);
    let mut leaf = CertificateParams::new(Vec::new()).unwrap();
    leaf.distinguished_name.push(DnType::CommonName, user);
    let leaf = leaf.signed_by(&key, &issuer).unwrap();
    let paths = [server.path("client.pem"), server.path("client.key")];
    std::fs::write(server.path("clients.pem"), root.pem()).unwrap();
    std::fs::write(&paths[0], leaf.pem()).unwrap();
    std::fs::write(&paths[1], key.serialize_pem()).unwrap();
    paths
}

#[test]
fn postgresql_is_logged_into_by_every_method() {
    if excluded(&["postgresql"]) {
        return;
    }
    const WHOAMI: &str = "SELECT current_user::text";
    let mut server = Server::new("postgresql", "json-only");
    let ca = super::address::certificate(&server);
    let [certificate, key] = identity(&server, "certified");
    for (name, file) in
        [("ssl_cert_file", "server.pem"), ("ssl_key_file", "server.key"), ("ssl_ca_file", "clients.pem")]
    {
        server.launch.settings.insert(name.to_owned(), server.path(file).display().to_string());
    }
    server.launch.settings.insert("ssl".to_owned(), "on".to_owned());
    let postgres = Started::of(server);
    postgres.run(&[
        "CREATE USER scrammed PASSWORD 'secret'",
        "SET password_encryption = 'md5'; CREATE USER hashed PASSWORD 'secret'",
        "CREATE USER plain PASSWORD 'secret'",
        "CREATE USER certified",
    ]);
    let owner = postgres.owner.endpoint.as_ref().unwrap().user.clone();
    let rules = postgres.server.path("data/data/pg_hba.conf");
    std::fs::write(
        &rules,
        format!(
            "host all {owner} all scram-sha-256\nhost all scrammed all scram-sha-256\nhost all hashed all md5\n\
             host all plain all password\nhostssl all certified all cert\n"
        ),
    )
    .unwrap();
    postgres.run(&["SELECT pg_reload_conf()"]);
    let tls = |endpoint: &mut Endpoint| {
        endpoint.host = "localhost".to_owned();
        endpoint.tls = Some(Tls { ca: Some(ca.clone().into()), ..Tls::default() });
    };
    crate::support::eventually("the rules are read", || {
        connect(&postgres.by("plain", "secret", |_| {})).is_ok()
    });
    for user in ["scrammed", "hashed", "plain"] {
        logs_in(&postgres.by(user, "secret", |_| {}), WHOAMI, user);
        logs_in(&postgres.by(user, "secret", tls), WHOAMI, user);
        is_refused(
            &postgres.by(user, "other", |_| {}),
            &["refused the session", "password authentication failed"],
        );
    }
    let certified = |endpoint: &mut Endpoint| {
        tls(endpoint);
        let tls = endpoint.tls.as_mut().unwrap();
        (tls.certificate, tls.key) = (Some(certificate.clone()), Some(key.clone()));
    };
    logs_in(&postgres.by("certified", "", certified), WHOAMI, "certified");
    is_refused(&postgres.by("certified", "", tls), &["refused the session", "client certificate"]);
    is_refused(
        &postgres.by("scrammed", "secret", |endpoint| {
            certified(endpoint);
            endpoint.tls.as_mut().unwrap().key = Some("/nowhere.key".into());
        }),
        &["key=/nowhere.key"],
    );
}

#[test]
fn a_server_without_encryption_is_told_so() {
    for (system, variant) in [("postgresql", "json-only"), ("dolt", "generated")] {
        if excluded(&[system]) {
            continue;
        }
        let started = Started::of(Server::new(system, variant));
        // The server is still starting, and the login below tries once.
        started.run(&["SELECT 1"]);
        let owner = started.owner.endpoint.clone().unwrap();
        let tls = |endpoint: &mut Endpoint| endpoint.tls = Some(Tls::default());
        is_refused(&started.by(&owner.user, &owner.password.0, tls), &["does not support TLS", "?tls=off"]);
    }
}

/// The database needs rights of its own.
fn without_database(endpoint: &mut Endpoint) {
    endpoint.database.clear();
}

#[test]
fn mysql_is_logged_into_by_every_method() {
    if excluded(&["mysql"]) {
        return;
    }
    const WHOAMI: &str = "SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1)";
    for transport in [Transport::Tcp, Transport::Tls, Transport::Unix] {
        let mysql = Started::of(Server::reached_over(transport, "mysql", "json-only"));
        mysql.run(&[
            "CREATE USER cached IDENTIFIED WITH caching_sha2_password BY 'secret'",
            "CREATE USER sha IDENTIFIED WITH sha256_password BY 'secret'",
            "CREATE USER nobody IDENTIFIED WITH caching_sha2_password BY ''",
        ]);
        for user in ["cached", "sha"] {
            // The first login sends the password, encrypted by whatever there is; later ones prove it.
            for _ in 0..2 {
                logs_in(&mysql.by(user, "secret", without_database), WHOAMI, user);
            }
            let other = mysql.by(user, "other", without_database);
            is_refused(&other, &["refused the session", "Access denied"]);
        }
        logs_in(&mysql.by("nobody", "", without_database), WHOAMI, "nobody");
    }
}

#[test]
fn mariadb_is_logged_into_by_its_usual_method() {
    if excluded(&["mariadb"]) {
        return;
    }
    const WHOAMI: &str = "SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1)";
    let mariadb = Started::of(Server::new("mariadb", "no-index"));
    mariadb.run(&[
        "CREATE USER native IDENTIFIED VIA mysql_native_password USING PASSWORD('secret')",
        // A hash as servers before 4.1 stored it.
        "CREATE USER ancient IDENTIFIED VIA mysql_old_password USING '5d2e19393cc5ef67'",
    ]);
    logs_in(&mariadb.by("native", "secret", without_database), WHOAMI, "native");
    let other = mariadb.by("native", "other", without_database);
    is_refused(&other, &["refused the session", "Access denied"]);
    is_refused(&mariadb.by("ancient", "secret", without_database), &["refused the session"]);
}

#[test]
fn rows_and_requests_beyond_one_packet_arrive_whole() {
    if excluded(&["mysql"]) {
        return;
    }
    // A packet holds one byte less than 16 MiB.
    const PACKET: usize = (16 << 20) - 1;
    let mysql = Started::of(Server::new("mysql", "json-only"));
    mysql.run(&["CREATE TABLE large (n BIGINT, t LONGTEXT)", "SET GLOBAL max_allowed_packet = 67108864"]);
    let mut one = connect(&mysql.owner).unwrap();
    let mut lane =
        Connector::for_protocol("mysql").unwrap().open_nonblocking(&mysql.owner, &host(), true).unwrap();
    let insert = one.prepare("INSERT INTO large VALUES (?, ?)").unwrap();
    let read = "SELECT t, n FROM large WHERE n = ?";
    let (read_one, read_lane) = (one.prepare(read).unwrap(), lane.prepare(read).unwrap());
    for (n, length) in [PACKET - 100, PACKET - 1, PACKET, PACKET + 1, 2 * PACKET + 3].into_iter().enumerate()
    {
        let (n, content) = (n as i64, "x".repeat(length));
        let values = [Parameter::Int(n), Parameter::Text(&content)];
        one.execute(&insert, &values, &mut ResultSet::default()).unwrap();
        let (mut executed, mut received) = (ResultSet::default(), ResultSet::default());
        one.execute(&read_one, &[Parameter::Int(n)], &mut executed).unwrap();
        lane.send(&read_lane, &[Parameter::Int(n)]).unwrap();
        lane.receive(true, &mut received).unwrap().unwrap();
        let asked = one.collect(&format!("SELECT t, n FROM large WHERE n = {n}")).unwrap();
        for answer in [executed, received, asked] {
            let [Value::Text(t), Value::Int(found)] = answer.rows[0].as_slice() else { panic!("{length}") };
            assert!(*found == n && *t == content, "{length}");
        }
    }
    // A request that the server would answer by ending the session is not sent.
    let error = one.collect(&format!("SELECT '{}'", "x".repeat(64 << 20))).unwrap_err();
    assert!(error.to_string().contains("max_allowed_packet"), "{error}");
    assert_eq!(one.collect("SELECT 'still here'").unwrap().rows, [vec![text("still here")]]);
    one.close().unwrap();
    lane.close();
}
