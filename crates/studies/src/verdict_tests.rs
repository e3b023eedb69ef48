use super::*;

fn estimate(median: f64, low: f64, high: f64) -> Estimate {
    Estimate { median, low: Some(low), high: Some(high) }
}

#[test]
fn changes_are_said_as_people_say_them() {
    for (ratio, text) in [
        (estimate(0.69, 0.65, 0.73), "31 % fewer (27 … 35)"),
        (estimate(1.045, 1.01, 1.08), "4.5 % more (1 … 8)"),
        (estimate(0.97, 0.92, 1.02), "3 % fewer (−2 … 8: no difference shown)"),
        (estimate(0.65, 0.43, 0.985), "somewhere between 1.5 and 57 % fewer"),
        (estimate(1.3, 1.02, 1.6), "somewhere between 2 and 60 % more"),
        (estimate(2.313, 2.1, 2.5), "2.31 times as many (2.10 … 2.50)"),
        (Estimate { median: 0.5, low: None, high: None }, "50 % fewer (too few rounds)"),
    ] {
        assert_eq!(change(&ratio), text);
    }
}

#[test]
fn claims_are_confirmed_refuted_or_left_open() {
    use ClaimOutcome::{Confirmed, Open, Refuted};
    let less = estimate(0.7, 0.6, 0.8);
    let same = estimate(1.0, 0.98, 1.03);
    let wide = estimate(0.95, 0.7, 1.3);
    let more = estimate(1.4, 1.2, 1.6);
    for (claim, outcomes) in [
        (ClaimedEffect::Less, [Confirmed, Refuted, Open, Refuted]),
        (ClaimedEffect::More, [Refuted, Refuted, Open, Confirmed]),
        (ClaimedEffect::Alike, [Refuted, Confirmed, Open, Refuted]),
    ] {
        let evaluated = [&less, &same, &wide, &more].map(|ratio| evaluate_claim(claim, ratio));
        assert_eq!(evaluated, outcomes, "{claim:?}");
    }
    assert_eq!(evaluate_claim(ClaimedEffect::Less, &Estimate { median: 0.5, low: None, high: None }), Open);
}

#[test]
fn a_sentence_is_one() {
    let clause = |text: &str, outcome| Clause {
        text: text.to_owned(),
        published: Some("36 % fewer".to_owned()),
        outcome,
        ..Clause::default()
    };
    let sentence = Sentence {
        clauses: vec![
            clause("an index costs", Some(ClaimOutcome::Confirmed)),
            clause("so it is", None),
            clause("and so it was", None),
        ],
        missing: Vec::new(),
    };
    assert_eq!(
        sentence.to_string(),
        "An index costs (36 % fewer published: confirmed); so it is (36 % fewer published), and so it was (36 % fewer published)."
    );
    assert!(Sentence::default().to_string().starts_with("No answer: nothing"));
}
