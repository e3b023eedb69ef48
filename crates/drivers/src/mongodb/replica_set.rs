//! Replica set with one member: a server that the run has started as a member of a set initiates the set and
//! is its only member.

use jsonathlon_driver_api::codecs::json_rows::{Leaf, Tree};
use jsonathlon_driver_api::driver::DriverError;
use jsonathlon_driver_api::endpoint::ConnectFailure;
use serde_json::{Value, json};

use super::bson::Bson;
use super::wire::Wire;
use super::{ask, refusal, well};

/// Error code for a set that exists already: a server on the same data initiated it, on another port.
const ALREADY_INITIALIZED: i64 = 23;

fn is_true(answer: Bson<'_>, name: &str) -> bool {
    matches!(answer.member(name).map(Tree::leaf), Some(Leaf::Bool(true)))
}

/// What a server lacks before it accepts writes, according to its answer to `hello`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PrimaryState {
    Writable,
    /// The server was started as a member of a set that is not initiated yet.
    Uninitiated,
    /// The set has not elected this server as primary yet.
    Electing,
}

impl PrimaryState {
    pub(super) fn from_hello(hello: Bson<'_>) -> Self {
        match hello.text("setName") {
            _ if is_true(hello, "isreplicaset") => Self::Uninitiated,
            Some(_) if !is_true(hello, "isWritablePrimary") => Self::Electing,
            _ => Self::Writable,
        }
    }
}

/// Initiates the set that the server was started for. If it exists already, updates the address of its
/// member.
pub(super) fn make(wire: &mut Wire) -> std::result::Result<(), ConnectFailure> {
    let permanent =
        |reason: String| ConnectFailure::Permanent(format!("failed to make its replica set: {reason}"));
    let protocol_error = |error: DriverError| permanent(error.to_string());
    let options = ask(wire, r#""getCmdLineOpts": 1"#, permanent)
        .and_then(|answer| well(answer).map_err(protocol_error))?;
    let config = config(options).ok_or_else(|| permanent("it does not say of which set it is".to_owned()))?;
    let mut answer = ask(wire, &format!(r#""replSetInitiate": {config}"#), permanent)?;
    if answer.int("code") == Some(ALREADY_INITIALIZED) {
        answer = ask(wire, &format!(r#""replSetReconfig": {config}, "force": true"#), permanent)?;
    }
    well(answer).map(drop).map_err(|_| permanent(refusal(answer)))
}

/// Builds the configuration of a set with one member, on the loopback interface.
fn config(options: Bson<'_>) -> Option<Value> {
    let parsed = options.member("parsed")?;
    let name = parsed.member("replication")?.text("replSet")?;
    let port = parsed.member("net")?.int("port")?;
    let member = json!({"_id": 0, "host": format!("127.0.0.1:{port}")});
    Some(json!({"_id": name, "version": 1, "protocolVersion": 1, "members": [member]}))
}

#[cfg(test)]
mod tests {
    use super::super::administrative as command;
    use super::*;

    fn state_of(hello: &str) -> PrimaryState {
        let body = command(hello).unwrap();
        PrimaryState::from_hello(Bson::read(&body).unwrap())
    }

    #[test]
    fn a_server_tells_whether_it_takes_writes() {
        assert_eq!(state_of(r#""isWritablePrimary": true"#), PrimaryState::Writable);
        assert_eq!(
            state_of(r#""isWritablePrimary": false, "isreplicaset": true"#),
            PrimaryState::Uninitiated
        );
        assert_eq!(state_of(r#""isWritablePrimary": false, "setName": "one""#), PrimaryState::Electing);
        assert_eq!(state_of(r#""isWritablePrimary": true, "setName": "one""#), PrimaryState::Writable);
    }

    #[test]
    fn the_only_member_is_on_the_loopback_interface() {
        let options = r#""parsed": {"net": {"port": 4711}, "replication": {"replSet": "one"}}"#;
        let options = command(options).unwrap();
        let expected =
            r#"{"_id":"one","version":1,"protocolVersion":1,"members":[{"_id":0,"host":"127.0.0.1:4711"}]}"#;
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(config(Bson::read(&options).unwrap()), Some(expected));
        let incomplete = command(r#""parsed": {"net": {"port": 4711}}"#).unwrap();
        assert_eq!(config(Bson::read(&incomplete).unwrap()), None);
    }
}
