use jsonathlon_driver_api::address::{Password, Tls};
use jsonathlon_driver_api::endpoint::Endpoint;
use jsonathlon_schema::value::Row;
use proptest::prelude::*;

use super::*;

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        // Every bit pattern: subnormal, negative zero, infinite, NaN.
        any::<u64>().prop_map(|bits| Value::Float(f64::from_bits(bits))),
        prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(-0.0), Just(1e16)]
            .prop_map(Value::Float),
        any::<String>().prop_map(Value::Text),
    ]
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    proptest::collection::vec(proptest::collection::vec(value(), 0..5), 0..8)
}

/// Compares bit by bit, except that all NaNs are equal.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
        _ => a == b,
    }
}

fn text() -> impl Strategy<Value = String> {
    any::<String>()
}

fn op() -> impl Strategy<Value = Op> {
    let statements = || proptest::collection::vec(text(), 0..4);
    let open = (text(), any::<Option<String>>(), text(), statements(), any::<usize>()).prop_map(
        |(protocol, library, folder, statements, cores)| Op::Open {
            protocol: PROTOCOL_VERSION,
            open: SessionOptions {
                protocol,
                library: library.map(PathBuf::from),
                folder: folder.into(),
                settings: BTreeMap::from([("key".to_owned(), "value".to_owned())]),
                statements,
                cores,
                endpoint: (cores % 3 == 0).then(|| {
                    Box::new(Endpoint {
                        host: "far".into(),
                        port: 5432,
                        socket: (cores % 2 == 0).then(|| "/run/s".into()),
                        user: "me".into(),
                        password: Password("secret".into()),
                        tls: Some(Tls { ca: Some("/ca.pem".into()), ..Tls::default() }),
                        process: (cores % 2 == 0).then_some(7),
                        exclusive: cores % 2 == 0,
                        connect_timeout_s: 5,
                        ..Endpoint::default()
                    })
                }),
            },
        },
    );
    let load = prop_oneof![
        statements().prop_map(|statements| LoadMethod::Statement { statements }),
        (text(), text()).prop_map(|(statement, file)| LoadMethod::Rows { statement, file: file.into() }),
        (text(), text()).prop_map(|(statement, file)| LoadMethod::Keyed { statement, file: file.into() }),
        (text(), text()).prop_map(|(statement, file)| LoadMethod::Whole { statement, file: file.into() }),
        (text(), text()).prop_map(|(statement, file)| LoadMethod::Parameter { statement, file: file.into() }),
    ];
    prop_oneof![
        open,
        (load, any::<bool>()).prop_map(|(load, sync)| Op::Load { load, sync }),
        statements().prop_map(|statements| Op::Run { statements }),
        (statements(), any::<Option<String>>(), 0.0..1e9f64, any::<bool>()).prop_map(
            |(statements, until_zero, limit_s, sync)| Op::Settle { statements, until_zero, limit_s, sync }
        ),
        text().prop_map(|statement| Op::Ask { statement }),
        (text(), any::<bool>()).prop_map(|(statement, values)| Op::Export { statement, values }),
        text().prop_map(|statement| Op::Read { statement }),
        text().prop_map(|statement| Op::Plan { statement }),
        text().prop_map(|statement| Op::Sizes { statement }),
        text().prop_map(|statement| Op::ReadBack { statement }),
        Just(Op::Close),
    ]
}

proptest! {
    #[test]
    fn requests_come_through_on_one_line(id in any::<u64>(), op in op()) {
        let request = Request { id, op };
        let line = serde_json::to_string(&request).unwrap();
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(serde_json::from_str::<Request>(&line).unwrap(), request);
    }

    #[test]
    fn answers_come_through_with_every_bit(rows in rows(), seconds in any::<f64>()) {
        prop_assume!(seconds.is_finite());
        let answered = AskReply {
            seconds,
            outcome: ResultSet { columns: vec!["a".into()], rows, rows_read: Some(u64::MAX), ..ResultSet::default() },
            usage: OpUsage { cpu_s: Some(seconds), client_cpu_s: None, counters: Usage { read_bytes: u64::MAX, ..Usage::default() } },
        };
        let line = serde_json::to_string(&answered).unwrap();
        prop_assert!(!line.contains('\n'));
        let back: AskReply = serde_json::from_str(&line).unwrap();
        prop_assert_eq!(back.seconds.to_bits(), seconds.to_bits());
        prop_assert_eq!(back.usage, answered.usage);
        prop_assert_eq!(back.outcome.rows.len(), answered.outcome.rows.len());
        for (a, b) in back.outcome.rows.iter().zip(&answered.outcome.rows) {
            prop_assert_eq!(a.len(), b.len());
            prop_assert!(a.iter().zip(b).all(|(a, b)| same(a, b)), "{:?} became {:?}", b, a);
        }
    }

    #[test]
    fn rubbish_is_no_reply_and_no_panic(line in "\\PC{0,60}") {
        if let Ok(reply) = serde_json::from_str::<Reply<'_>>(&line) {
            prop_assert!(line.contains(&reply.id.to_string()));
        }
    }
}

#[test]
fn requests_look_as_the_protocol_says() {
    let request = |op| serde_json::to_value(Request { id: 1, op }).unwrap();
    assert_eq!(request(Op::Close), serde_json::json!({"id": 1, "op": "close"}));
    let load = LoadMethod::Rows { statement: "s".into(), file: "f".into() };
    assert_eq!(
        request(Op::Load { load, sync: true }),
        serde_json::json!({"id": 1, "op": "load", "mode": "rows", "statement": "s", "file": "f", "sync": true})
    );
}

#[test]
fn what_may_be_left_out_may_be_left_out() {
    let line = r#"{"id":1,"op":"open","protocol":2,"open":{"protocol":"sqlite","folder":"/x"}}"#;
    let Op::Open { open, .. } = serde_json::from_str::<Request>(line).unwrap().op else {
        panic!("another op")
    };
    assert_eq!(
        open,
        SessionOptions { protocol: "sqlite".into(), folder: "/x".into(), ..SessionOptions::default() }
    );
    let line = r#"{"id":1,"op":"load","mode":"statement","statements":[]}"#;
    assert!(matches!(serde_json::from_str::<Request>(line).unwrap().op, Op::Load { sync: true, .. }));
}

#[test]
fn cells_that_are_no_values_are_refused() {
    for cell in ["[]", "{}", r#"{"float":"huge"}"#, r#"{"double":"nan"}"#, "18446744073709551615"] {
        let line = format!(
            r#"{{"columns":[],"rows":[[{cell}]],"server_seconds":null,"rows_read":null,"bytes_read":null,"memory_bytes":null}}"#
        );
        assert!(serde_json::from_str::<ResultSet>(&line).is_err(), "{cell}");
    }
}
