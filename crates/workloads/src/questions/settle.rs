//! Compares the answers to one question and records the result.

use jsonathlon_catalogue::base_name;
use jsonathlon_dataset::agreement::{
    Answer, AnswerComparison, ComparisonRules, Consensus, Electorate, Finding, Later, Mismatch, decide,
    hold_against,
};
use jsonathlon_schema::workload::WorkloadKind;
use jsonathlon_schema::{
    record::{
        Agreement, AnswerStatus, ConfigurationAnswer, ExpectedAnswerSource, Failure, FirstRows, RecordBody,
        RowDifference, Verdict,
    },
    value::{Row, Value},
};

use super::{
    ExpectedAnswer, Questions, addend,
    held::Held,
    settings,
    told::{SurveyAnswer, is_named},
};
use crate::{RunError, asking::QuestionTarget, recorder::TrialRecorder, run_context::RunContext};

/// Number of rows of the expected answer that the journal itself contains, for readers.
const FIRST_ROWS: usize = 10;

/// The voters, and the answers over the common documents of those voters that hold more documents.
pub(super) struct Common {
    pub(super) electorate: Electorate,
    /// Answers by target and open question; `None` if a target holds no more documents or could not be asked.
    pub(super) told: Vec<Option<Vec<SurveyAnswer>>>,
}

/// Voters and answers over the common documents, for one question.
pub(super) struct OfQuestion<'a> {
    electorate: &'a Electorate,
    told: Vec<Option<&'a SurveyAnswer>>,
}

impl Common {
    pub(super) fn of_question(&self, place: usize) -> OfQuestion<'_> {
        let told = self.told.iter().map(|of_one| of_one.as_ref().and_then(|told| told.get(place)));
        OfQuestion { electorate: &self.electorate, told: told.collect() }
    }
}

/// Result of comparing the answers; findings are in the order of the answers.
struct Decided<'a> {
    basis: ExpectedAnswerSource,
    findings: Vec<Finding>,
    /// Expected answer, and the documents that it applies to; `None` if there is no expected answer.
    fixed: Option<(Vec<Row>, &'a Held)>,
}

impl Decided<'_> {
    /// Number of answers that differ from the expected answer.
    fn different(&self) -> usize {
        self.findings.iter().filter(|one| matches!(one.standing, AnswerComparison::Different(_))).count()
    }

    /// Returns `true` if an answer differs in a number with a fraction, which may be a rounding error of a
    /// sum.
    fn differ_in_fractions(&self) -> bool {
        let is_fraction = |cell: &Value| matches!(cell, Value::Float(number) if number.fract() != 0.0);
        self.findings.iter().any(|one| match &one.standing {
            AnswerComparison::Different(difference) => {
                difference.missing_rows.iter().chain(&difference.extra_rows).flatten().any(is_fraction)
            }
            AnswerComparison::Same(_) | AnswerComparison::OtherDocuments => false,
        })
    }
}

/// Compares the answers to one question and records the agreement and the expected answers.
pub(super) fn establish_answer(
    questions: &Questions,
    name: &str,
    bench: &RunContext<'_>,
    all: &[QuestionTarget<'_, Questions>],
    told: &[&SurveyAnswer],
    common: Option<&OfQuestion<'_>>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    let Some(stated) = questions.rules.get(name) else { return Ok(()) };
    // Indices of the targets that answered.
    let given: Vec<usize> = (0..told.len()).filter(|place| told[*place].rows().is_some()).collect();
    let answers: Vec<Answer<'_>> =
        given.iter().filter_map(|place| answer(*place, all, told, common)).collect();
    let over = common.map(|common| Held::from(common.electorate.common.clone())).unwrap_or_default();
    let whole = Held::all(bench.staged);
    let reference = questions.settings.reference.as_ref();
    let decide_by = |rules: &ComparisonRules| match (questions.settings.expected.get(name), reference) {
        (Some(expected), _) => by_expected(rules, answers.clone(), settings::expected_rows(expected), &whole),
        (None, Some(named)) => {
            let is_it =
                |place: &usize| all.get(*place).is_some_and(|one| is_named(one.of.cells.target, named));
            by_reference(rules, &answers, given.iter().position(is_it), &over)
        }
        (None, None) => by_majority(rules, &answers, &over),
    };
    let mut decided = decide_by(stated);
    let mut addend = None;
    if decided.differ_in_fractions() {
        let asked: Vec<&str> = told.iter().filter_map(|told| told.statement()).collect();
        let largest = addend::largest(bench.staged, &asked)?;
        let again = decide_by(&ComparisonRules { addend: largest, ..stated.clone() });
        if again.different() < decided.different() {
            (decided, addend) = (again, Some(largest));
        }
    }
    let rules = &ComparisonRules { addend: addend.unwrap_or_default(), ..stated.clone() };
    let mut files = Files { name, rules, by_holding: Vec::new() };
    let file = match &decided.fixed {
        Some((rows, held)) => Some(files.file(rows, &held.digest, recorder)?),
        None => None,
    };
    let mut standings = Vec::new();
    for (place, (one, told)) in all.iter().zip(told).enumerate() {
        let mut standing = unasked(one);
        match told {
            SurveyAnswer::NotAsked => {}
            SurveyAnswer::Failed(Failure { kind, error, .. }) => {
                standing.answer = AnswerStatus::Failed;
                standing.why = Some(format!("{}: {error}", kind.word()));
            }
            SurveyAnswer::Rows { statement, .. } => {
                standing.statement = Some(statement.clone());
                let finding = given.iter().position(|one| *one == place);
                if let Some(finding) = finding.and_then(|place| decided.findings.get(place)) {
                    found(&mut standing, finding);
                    standing.file = match finding.later {
                        Later::Fixed => file.clone(),
                        Later::Answer(right) => {
                            let rows = answers.get(right).map_or(&[][..], |answer| answer.rows);
                            Some(files.file(rows, &one.held.digest, recorder)?)
                        }
                        Later::Wrong | Later::Disputed | Later::Unverified => None,
                    };
                }
            }
        }
        standings.push(standing);
    }
    let (rows, held) = decided.fixed.as_ref().map_or((&[][..], &over), |(rows, held)| (rows, *held));
    let agreement = Agreement {
        workload: WorkloadKind::Questions.into(),
        question: name.to_owned(),
        basis: decided.basis,
        documents: held.holding.documents(),
        holding: held.digest.clone(),
        addend,
        columns: rules.columns.iter().map(|column| column.name.clone()).collect(),
        first: file.is_some().then(|| FirstRows {
            rows: settings::json_rows(rows.get(..FIRST_ROWS).unwrap_or(rows)),
            count: rows.len() as u64,
        }),
        file,
        standings,
    };
    let fixed = ExpectedAnswer::of(&agreement, |file| files.rows(file));
    recorder.append(format!("agreement:{name}"), RecordBody::Agreement(Box::new(agreement)))?;
    questions.fixed.borrow_mut().insert(name.to_owned(), fixed);
    Ok(())
}

/// Standing of a target that was not asked.
fn unasked(one: &QuestionTarget<'_, Questions>) -> ConfigurationAnswer {
    let target = one.of.cells.target;
    ConfigurationAnswer {
        id: target.id(),
        profile: target.profile(),
        answer: AnswerStatus::NotAsked,
        why: None,
        rows: None,
        rule: None,
        statement: None,
        documents: one.held.holding.documents(),
        holding: one.held.digest.clone(),
        file: None,
        verdict: None,
    }
}

fn answer<'a>(
    place: usize,
    all: &'a [QuestionTarget<'_, Questions>],
    told: &[&'a SurveyAnswer],
    common: Option<&OfQuestion<'a>>,
) -> Option<Answer<'a>> {
    let (one, rows) = (all.get(place)?, told.get(place)?.rows()?);
    let holding = &one.held.holding;
    let is_common = common.is_some_and(|common| *holding == common.electorate.common);
    let apart = || common.and_then(|common| common.told.get(place).copied().flatten()?.rows());
    Some(Answer {
        // Several servers of a system have one vote together.
        system: base_name(&one.of.cells.target.configuration.system),
        holding,
        rows,
        votes: common.is_some_and(|common| common.electorate.votes.get(place).copied().unwrap_or_default()),
        common: if is_common { Some(rows) } else { apart() },
    })
}

fn by_majority<'a>(rules: &ComparisonRules, answers: &[Answer<'_>], over: &'a Held) -> Decided<'a> {
    let (decision, findings) = decide(rules, answers, &over.holding);
    let basis = match decision {
        Consensus::Agreed(_) => ExpectedAnswerSource::Agreed,
        Consensus::Disputed(_) => ExpectedAnswerSource::Disputed,
        Consensus::Unverified(_) => ExpectedAnswerSource::Unverified,
        Consensus::OtherDocuments => ExpectedAnswerSource::OtherDocuments,
        Consensus::NoAnswers => ExpectedAnswerSource::Unanswered,
    };
    let fixed = decision.fixed().and_then(|place| answers.get(place)?.common);
    Decided { basis, findings, fixed: fixed.map(|rows| (rows.to_vec(), over)) }
}

/// The reference is right over all documents it holds; others are compared over the common documents of the
/// voters.
fn by_reference<'a>(
    rules: &ComparisonRules,
    answers: &[Answer<'_>],
    reference: Option<usize>,
    over: &'a Held,
) -> Decided<'a> {
    let fixed = reference.and_then(|place| answers.get(place)?.common);
    let Some(fixed) = fixed else {
        // An agreement among other systems does not replace the reference's answer.
        let without = by_majority(rules, answers, over);
        let basis = match without.basis {
            ExpectedAnswerSource::Unanswered | ExpectedAnswerSource::OtherDocuments => without.basis,
            _ => ExpectedAnswerSource::Unverified,
        };
        let unverified = |finding: Finding| Finding { later: Later::Unverified, ..finding };
        let findings = without.findings.into_iter().map(unverified).collect();
        return Decided { basis, findings, ..without };
    };
    let findings = hold_against(rules, answers, &over.holding, fixed, reference);
    Decided { basis: ExpectedAnswerSource::Reference, findings, fixed: Some((fixed.to_vec(), over)) }
}

/// A user-given answer applies to all documents. A target that holds fewer and answers differently may be
/// right over those.
fn by_expected<'a>(
    rules: &ComparisonRules,
    mut answers: Vec<Answer<'_>>,
    expected: Vec<Row>,
    whole: &'a Held,
) -> Decided<'a> {
    for one in &mut answers {
        one.votes = one.holding.is_whole() || rules.compare(&expected, one.rows).is_ok();
        one.common = one.votes.then_some(one.rows);
    }
    let findings = hold_against(rules, &answers, &whole.holding, &expected, None);
    Decided { basis: ExpectedAnswerSource::Expected, findings, fixed: Some((expected, whole)) }
}

/// Records a finding in the standing of its target.
fn found(standing: &mut ConfigurationAnswer, finding: &Finding) {
    match &finding.standing {
        AnswerComparison::Same(_) => standing.answer = AnswerStatus::Same,
        AnswerComparison::OtherDocuments => standing.answer = AnswerStatus::OtherDocuments,
        AnswerComparison::Different(difference) => {
            let Mismatch { what, missing_rows, missing_count, extra_rows, extra_count, rule } =
                difference.as_ref();
            standing.answer = AnswerStatus::Different;
            standing.rule = rule.map(|rule| rule.to_string());
            standing.rows = Some(RowDifference {
                missing_rows: settings::json_rows(missing_rows),
                missing_count: *missing_count as u64,
                extra_rows: settings::json_rows(extra_rows),
                extra_count: *extra_count as u64,
            });
            standing.why = Some(what.clone());
        }
    }
    standing.verdict = match finding.later {
        Later::Answer(_) | Later::Fixed => None,
        Later::Wrong => Some(Verdict::Wrong),
        Later::Disputed => Some(Verdict::Disputed),
        Later::Unverified => Some(Verdict::Unverified),
    };
}

/// Writes the expected answers to a question to files, one for each set of documents.
struct Files<'a> {
    name: &'a str,
    rules: &'a ComparisonRules,
    /// Digest of the documents, file name and rows of each expected answer.
    by_holding: Vec<(String, String, Vec<Row>)>,
}

impl Files<'_> {
    /// Returns the file of the answer over these documents; writes it if there is none.
    fn file(
        &mut self,
        rows: &[Row],
        holding: &str,
        recorder: &TrialRecorder<'_>,
    ) -> Result<String, RunError> {
        if let Some((_, file, _)) = self.by_holding.iter().find(|(known, ..)| known == holding) {
            return Ok(file.clone());
        }
        let name = match self.by_holding.len() {
            0 => format!("answers/fixed-{}.json", self.name),
            others => format!("answers/fixed-{}-{}.json", self.name, others + 1),
        };
        let columns: Vec<&str> = self.rules.columns.iter().map(|column| column.name.as_str()).collect();
        let text = serde_json::json!({ "question": self.name, "columns": columns, "rows": rows });
        let file = recorder.folder.write_file(&name, text.to_string().as_bytes())?;
        self.by_holding.push((holding.to_owned(), file.clone(), rows.to_vec()));
        Ok(file)
    }

    fn rows(&self, file: &str) -> Vec<Row> {
        let found = self.by_holding.iter().find(|(_, known, _)| known == file);
        found.map(|(.., rows)| rows.clone()).unwrap_or_default()
    }
}
