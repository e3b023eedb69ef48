//! Tests of the tables of synthetic serving runs.

use jsonathlon_report::compare::tables as compared;
use jsonathlon_report::render::TableStyle;
use jsonathlon_report::run::tables;
use jsonathlon_results::compare::compare;
use jsonathlon_results::test_fixtures::serving::{ServingFixture, run_with_bad_cells};

const PLAIN: TableStyle = TableStyle::PLAIN;

#[test]
fn a_good_run() {
    insta::assert_snapshot!(tables(&ServingFixture::default().run("a-run"), PLAIN));
}

#[test]
fn a_run_with_rates() {
    let run = ServingFixture {
        mixes: vec!["a"],
        clients: vec![8],
        rates: vec![0.5, 0.95],
        ..ServingFixture::default()
    };
    insta::assert_snapshot!(tables(&run.run("a-run"), PLAIN));
}

#[test]
fn a_bad_run_shows_no_throughput_that_it_should_not() {
    insta::assert_snapshot!(tables(&run_with_bad_cells("a-run"), PLAIN));
}

#[test]
fn a_slower_system() {
    let small = ServingFixture { clients: vec![8], ..ServingFixture::default() };
    let slower = ServingFixture { seed: 2, factors: [("mongodb", 0.75)].into(), ..small.clone() };
    let comparison = compare(&small.run("before"), &slower.run("after"), false);
    let gated = comparison.map(|comparison| compared(&comparison.with_gate(0.05, false), PLAIN));
    insta::assert_snapshot!(gated.unwrap_or_else(|error| error.to_string()));
}
