//! Users' own questions on a remote server.

use jsonathlon_schema::record::ExpectedAnswerSource;

use super::address::Host;
use super::server::Server;
use crate::support::process::Running;
use crate::support::real::excluded;
use crate::support::{LIMIT, World};

/// Writes questions about documents with text and numbers by `questions new`, and asks a remote server and
/// SQLite. Both must agree on all questions.
pub(crate) fn are_agreed_by_address(world: &World, address: &str, password: &str) {
    let lines: Vec<String> =
        (0..200).map(|n| format!(r#"{{"a b":"x{}","price":{}.25,"n":{n}}}"#, n % 7, n % 11)).collect();
    let data = world.file("data.ndjson", lines.join("\n"));
    let (questions, out) = (world.text("q"), world.text("asked"));
    world.run(&["questions", "new", &questions, "-d", &data]).expect(0);
    let mut all =
        vec!["run", "questions", "-q", &questions, "-d", &data, "--system", address, "-s", "sqlite"];
    all.extend(["--json", "-o", &out, "-r", "1", "-t", "1", "--load-rounds", "1"]);
    let mut command = world.command(&all);
    let system = address.split('=').next().unwrap().to_uppercase();
    command.env(format!("JSONATHLON_PASSWORD_{system}"), password);
    let summary = Running::start(command, &world.path("")).end(LIMIT).expect(0).summary();
    assert_eq!(summary.agreements.len(), 5);
    for one in &summary.agreements {
        assert_eq!(one.basis, ExpectedAnswerSource::Agreed, "{one:#?}");
        assert!(one.answers.iter().any(|standing| standing.id.version.ends_with("+address")));
    }
}

#[test]
fn own_questions_are_asked_of_a_server_by_address() {
    if excluded(&["postgresql"]) {
        return;
    }
    let (world, host) = (World::new(), Host::of(Server::new("postgresql", "json-only")));
    let address = format!("postgresql=postgres://localhost:{}", host.port);
    are_agreed_by_address(&world, &address, &host.password);
    host.owner.close();
    world.nothing_left();
}
