//! Clauses about frontiers: the share of each configuration, beside both of its peaks.

use std::collections::BTreeMap;

use jsonathlon_results::mixed::rate_words;

use crate::clause::Clause;
use crate::observations::FrontierObservation;
use crate::verdict_spec::VerdictSpec;
use crate::wording::{fill_template, number};

/// One clause for each configuration that the verdict selects, or why there is none. `selector_of` gives the attributes
/// that a configuration of a system must have.
pub(crate) fn clauses(
    verdict: &VerdictSpec,
    frontiers: &[FrontierObservation],
    selector_of: impl Fn(&str) -> BTreeMap<String, String>,
) -> Vec<Result<Clause, String>> {
    let is_meant = |frontier: &&FrontierObservation| {
        let system = frontier.attribute("system");
        let is_selected = |(name, value): (&String, &String)| frontier.attribute(name) == value;
        verdict.system.as_deref().is_none_or(|named| named == system)
            && selector_of(system).iter().all(is_selected)
    };
    frontiers.iter().filter(is_meant).map(|frontier| clause(verdict, frontier)).collect()
}

fn clause(verdict: &VerdictSpec, observation: &FrontierObservation) -> Result<Clause, String> {
    let measured =
        observation.measured.as_ref().map_err(|reason| format!("{}: {reason}", observation.title))?;
    let below: Vec<String> = measured
        .points
        .iter()
        .filter(|(_, point)| measured.frontier.below_line().contains(point))
        .map(|(rate, _)| rate_words(*rate))
        .collect();
    let below = if below.is_empty() {
        String::new()
    } else {
        format!(", and less than both loads get in turns at {}", below.join(", "))
    };
    let replacements = [
        ("system", observation.title.clone()),
        ("share", format!("{:.2}", measured.frontier.share())),
        ("documents", number(measured.documents_peak)),
        ("questions", number(measured.questions_peak)),
        ("below", below),
    ];
    Ok(Clause {
        text: fill_template(&verdict.template, &replacements),
        published: verdict.published.clone(),
        ..Clause::default()
    })
}

#[cfg(test)]
mod tests {
    use jsonathlon_results::summary::Run;
    use jsonathlon_results::test_fixtures::frontier::{FrontierFixture, frontier_run};
    use jsonathlon_schema::record::{Finding, Phase, RecordBody, TOO_SHORT, Verdict};
    use jsonathlon_schema::settings::mixed::FrontierRate;

    use crate::built_in;
    use crate::definition::Study;
    use crate::runs::{StudyRun, StudySelection};

    fn study() -> (Study, StudyRun) {
        let study = built_in("frontier").unwrap().unwrap();
        let part = study.runs(&StudySelection::default()).unwrap().remove(0);
        (study, part)
    }

    fn sentence(run: Run) -> String {
        let (study, part) = study();
        study.sentence(&study.observe(&[(part, run)])).to_string()
    }

    /// A system that does less than both loads get in turns at half of its peak.
    fn disturbed() -> FrontierFixture {
        let tried = FrontierFixture::tried();
        let disturb = |(rate, documents, questions): (FrontierRate, f64, f64)| match rate {
            FrontierRate::ShareOfPeak(0.5) => (rate, documents, questions / 20.0),
            _ => (rate, documents, questions),
        };
        let points = tried.points.iter().copied().map(disturb).collect();
        FrontierFixture { system: "sqlite", points, ..tried }
    }

    #[test]
    fn a_share_is_said_with_both_peaks_and_what_lies_below_their_line() {
        let text = sentence(frontier_run("one", &[FrontierFixture::tried(), disturbed()]));
        let start =
            "Postgresql keeps a share of 0.79 of its peaks alone, 36850 documents/s and 12168 questions/h";
        assert!(text.starts_with(start), "{text}");
        let below = "both come together, and less than both loads get in turns at 50 %.";
        assert!(text.contains("; sqlite keeps a share of 0.79") && text.ends_with(below), "{text}");
    }

    #[test]
    fn a_peak_that_was_too_short_leaves_no_share() {
        let mut run = frontier_run("one", &[FrontierFixture::tried(), disturbed()]);
        for record in &mut run.records {
            if let RecordBody::Trial(trial) = &mut record.body
                && trial.cell.phase == Phase::Alone
                && trial.cell.id.system == "postgresql"
                && trial.round == 2
            {
                trial.findings.push(Finding::new(TOO_SHORT, "0.40 s"));
            }
        }
        let (study, part) = study();
        let sentence = study.sentence(&study.observe(&[(part, run)]));
        assert_eq!(sentence.clauses.len(), 1, "{sentence}");
        assert!(sentence.to_string().starts_with("Sqlite keeps a share"), "{sentence}");
        assert_eq!(sentence.missing(), ["postgresql: no share: the peak of the writers is too short"]);
    }

    #[test]
    fn unverified_answers_leave_no_share() {
        let bounded =
            FrontierFixture { system: "mongodb", verdict: Verdict::Unverified, ..FrontierFixture::tried() };
        let text = sentence(frontier_run("one", std::slice::from_ref(&bounded)));
        assert_eq!(text, "No answer: mongodb: no share: the point 10 % has no verified rates.");
        let (study, part) = study();
        let runs = [(part, frontier_run("one", &[bounded, FrontierFixture::tried()]))];
        let sentence = study.sentence(&study.observe(&runs));
        assert_eq!(sentence.clauses.len(), 1, "{sentence}");
    }
}
