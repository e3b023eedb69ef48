//! Compares the answers to one question and records the result.

use jsonathlon_catalogue::base_name;
use jsonathlon_dataset::agreement::{
    Answer, AnswerComparison, ComparisonRules, Consensus, Electorate, Finding, LaterBasis, Mismatch,
    compare_with_expected, decide,
};
use jsonathlon_schema::{
    record::{
        Agreement, AnswerStatus, ConfigurationAnswer, ExpectedAnswerSource, Failure, FirstRows, RecordBody,
        RowDifference, Verdict,
    },
    value::{Row, Value},
};

use super::{
    ExpectedAnswer, Questions, SurveyTarget, addend,
    answers::{SurveyAnswer, matches_reference},
    document_set::DocumentSet,
    settings,
};
use crate::{RunError, recorder::TrialRecorder, run_context::RunContext};

/// Number of rows of the expected answer that the journal itself contains, for readers.
const FIRST_ROWS: usize = 10;

/// The voters, and the answers over the common documents of those voters that hold more documents.
pub(super) struct CommonAnswers {
    pub(super) electorate: Electorate,
    /// Answers by target and open question; `None` if a target holds no more documents or could not be asked.
    pub(super) answers: Vec<Option<Vec<SurveyAnswer>>>,
}

/// Voters and answers over the common documents, for one question.
pub(super) struct QuestionVotes<'a> {
    electorate: &'a Electorate,
    answers: Vec<Option<&'a SurveyAnswer>>,
}

impl CommonAnswers {
    pub(super) fn question_votes(&self, index: usize) -> QuestionVotes<'_> {
        let answers =
            self.answers.iter().map(|answers| answers.as_ref().and_then(|answers| answers.get(index)));
        QuestionVotes { electorate: &self.electorate, answers: answers.collect() }
    }
}

/// Result of comparing the answers; findings are in the order of the answers.
struct Decided<'a> {
    basis: ExpectedAnswerSource,
    findings: Vec<Finding>,
    /// Expected answer, and the documents that it applies to; `None` if there is no expected answer.
    expected: Option<(Vec<Row>, &'a DocumentSet)>,
}

impl Decided<'_> {
    /// Number of answers that differ from the expected answer.
    fn difference_count(&self) -> usize {
        let is_different = |finding: &&Finding| matches!(finding.comparison, AnswerComparison::Different(_));
        self.findings.iter().filter(is_different).count()
    }

    /// Returns `true` if an answer differs in a number with a fraction, which may be a rounding error of a
    /// sum.
    fn has_fraction_difference(&self) -> bool {
        let is_fraction = |cell: &Value| matches!(cell, Value::Float(number) if number.fract() != 0.0);
        self.findings.iter().any(|finding| match &finding.comparison {
            AnswerComparison::Different(difference) => {
                difference.missing_rows.iter().chain(&difference.extra_rows).flatten().any(is_fraction)
            }
            AnswerComparison::Same(_) | AnswerComparison::OtherDocuments => false,
        })
    }
}

/// The answers to one question, and the documents over which they can be compared.
struct Comparison<'a> {
    workload: &'a Questions,
    name: &'a str,
    /// Indices of the targets that answered, in the order of `answers`.
    target_indices: Vec<usize>,
    answers: Vec<Answer<'a>>,
    /// Index of the reference's answer; `None` if there is no reference, or it did not answer.
    reference_index: Option<usize>,
    /// Documents that all voters hold.
    common_documents: &'a DocumentSet,
    /// Every document that was offered to the systems.
    all_documents: &'a DocumentSet,
}

impl<'a> Comparison<'a> {
    /// Compares the answers with the user's, the reference's or the majority's, the first that there is.
    fn decide(&self, rules: &ComparisonRules) -> Decided<'a> {
        let workload_settings = &self.workload.settings;
        match (workload_settings.expected.get(self.name), workload_settings.reference.as_ref()) {
            (Some(expected), _) => {
                let rows = settings::expected_rows(expected);
                by_expected(rules, self.answers.clone(), rows, self.all_documents)
            }
            (None, Some(_)) => {
                by_reference(rules, &self.answers, self.reference_index, self.common_documents)
            }
            (None, None) => by_majority(rules, &self.answers, self.common_documents),
        }
    }

    /// Compares the answers, and again with the largest addend as the scale if answers differ in fractions;
    /// returns that addend if fewer answers differ then.
    fn decide_with_addend(
        &self,
        stated_rules: &ComparisonRules,
        survey_answers: &[&SurveyAnswer],
        context: &RunContext<'_>,
    ) -> Result<(Decided<'a>, Option<f64>), RunError> {
        let decided = self.decide(stated_rules);
        if decided.has_fraction_difference() {
            let statements: Vec<&str> =
                survey_answers.iter().filter_map(|answer| answer.statement()).collect();
            let largest_addend = addend::largest(context.staged, &statements)?;
            let rules = ComparisonRules { addend: largest_addend, ..stated_rules.clone() };
            let with_addend = self.decide(&rules);
            if with_addend.difference_count() < decided.difference_count() {
                return Ok((with_addend, Some(largest_addend)));
            }
        }
        Ok((decided, None))
    }

    /// Standings of all targets in the order of the plan; `file` contains the expected answer, and those
    /// over other documents are written to further files.
    fn standings(
        &self,
        decided: &Decided<'_>,
        file: Option<&str>,
        targets: &[SurveyTarget<'_, '_>],
        survey_answers: &[&SurveyAnswer],
        files: &mut Files<'_>,
        recorder: &TrialRecorder<'_>,
    ) -> Result<Vec<ConfigurationAnswer>, RunError> {
        let mut standings = Vec::new();
        for (index, (question_target, survey_answer)) in targets.iter().zip(survey_answers).enumerate() {
            let finding = self.target_indices.iter().position(|target_index| *target_index == index);
            let finding = finding.and_then(|position| decided.findings.get(position));
            let mut standing = standing_of(question_target, survey_answer, finding);
            if let Some(finding) = finding {
                standing.file = match finding.later_basis {
                    LaterBasis::ExpectedAnswer => file.map(str::to_owned),
                    LaterBasis::Answer(answer_index) => {
                        let rows = self.answers.get(answer_index).map_or(&[][..], |answer| answer.rows);
                        Some(files.file(rows, &question_target.documents.digest, recorder)?)
                    }
                    LaterBasis::Wrong | LaterBasis::Disputed | LaterBasis::Unverified => None,
                };
            }
            standings.push(standing);
        }
        Ok(standings)
    }
}

/// Compares the answers to one question and records the agreement and the expected answers.
pub(super) fn establish_answer(
    workload: &Questions,
    name: &str,
    context: &RunContext<'_>,
    targets: &[SurveyTarget<'_, '_>],
    survey_answers: &[&SurveyAnswer],
    common: Option<&QuestionVotes<'_>>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    let Some(stated_rules) = workload.rules.get(name) else { return Ok(()) };
    // Indices of the targets that answered.
    let target_indices: Vec<usize> =
        (0..survey_answers.len()).filter(|index| survey_answers[*index].rows().is_some()).collect();
    let answers: Vec<Answer<'_>> =
        target_indices.iter().filter_map(|index| answer(*index, targets, survey_answers, common)).collect();
    let common_documents =
        common.map(|common| DocumentSet::from(common.electorate.common.clone())).unwrap_or_default();
    let all_documents = DocumentSet::all(context.staged);
    let reference_index = workload.settings.reference.as_ref().and_then(|reference_name| {
        let is_reference = |index: &usize| {
            targets.get(*index).is_some_and(|question_target| {
                matches_reference(question_target.state.cells.target, reference_name)
            })
        };
        target_indices.iter().position(is_reference)
    });
    let comparison = Comparison {
        workload,
        name,
        target_indices,
        answers,
        reference_index,
        common_documents: &common_documents,
        all_documents: &all_documents,
    };
    let (decided, addend) = comparison.decide_with_addend(stated_rules, survey_answers, context)?;
    let rules = &ComparisonRules { addend: addend.unwrap_or_default(), ..stated_rules.clone() };
    let mut files = Files { name, rules, by_holding: Vec::new() };
    let file = match &decided.expected {
        Some((rows, documents)) => Some(files.file(rows, &documents.digest, recorder)?),
        None => None,
    };
    let standings =
        comparison.standings(&decided, file.as_deref(), targets, survey_answers, &mut files, recorder)?;
    let (rows, documents) = decided
        .expected
        .as_ref()
        .map_or((&[][..], &common_documents), |(rows, documents)| (rows, *documents));
    let agreement = Agreement {
        workload: workload.kind.into(),
        question: name.to_owned(),
        basis: decided.basis,
        documents: documents.accepted.count(),
        documents_digest: documents.digest.clone(),
        addend,
        columns: rules.columns.iter().map(|column| column.name.clone()).collect(),
        first: file.is_some().then(|| FirstRows {
            rows: settings::json_rows(rows.get(..FIRST_ROWS).unwrap_or(rows)),
            count: rows.len() as u64,
        }),
        file,
        answers: standings,
    };
    let expected_answer = ExpectedAnswer::from_agreement(&agreement, |file| files.rows(file));
    recorder.append(format!("agreement:{name}"), RecordBody::Agreement(Box::new(agreement)))?;
    workload.expected_answers.borrow_mut().insert(name.to_owned(), expected_answer);
    Ok(())
}

/// Standing of a target without the file of its later answers; `finding` is `None` unless it answered.
fn standing_of(
    question_target: &SurveyTarget<'_, '_>,
    survey_answer: &SurveyAnswer,
    finding: Option<&Finding>,
) -> ConfigurationAnswer {
    let mut standing = unasked(question_target);
    match survey_answer {
        SurveyAnswer::NotAsked => {}
        SurveyAnswer::Failed(Failure { kind, error, .. }) => {
            standing.answer = AnswerStatus::Failed;
            standing.why = Some(format!("{}: {error}", kind.word()));
        }
        SurveyAnswer::Rows { statement, .. } => {
            standing.statement = Some(statement.clone());
            if let Some(finding) = finding {
                record_finding(&mut standing, finding);
            }
        }
    }
    standing
}

/// Standing of a target that was not asked.
fn unasked(question_target: &SurveyTarget<'_, '_>) -> ConfigurationAnswer {
    let target = question_target.state.cells.target;
    ConfigurationAnswer {
        id: target.id(),
        profile: target.profile(),
        answer: AnswerStatus::NotAsked,
        why: None,
        rows: None,
        rule: None,
        statement: None,
        documents: question_target.documents.accepted.count(),
        documents_digest: question_target.documents.digest.clone(),
        file: None,
        verdict: None,
    }
}

fn answer<'a>(
    index: usize,
    targets: &'a [SurveyTarget<'_, '_>],
    survey_answers: &[&'a SurveyAnswer],
    common: Option<&QuestionVotes<'a>>,
) -> Option<Answer<'a>> {
    let (question_target, rows) = (targets.get(index)?, survey_answers.get(index)?.rows()?);
    let documents = &question_target.documents.accepted;
    let is_common = common.is_some_and(|common| *documents == common.electorate.common);
    let separate_rows = || common.and_then(|common| common.answers.get(index).copied().flatten()?.rows());
    Some(Answer {
        // Several servers of a system have one vote together.
        system: base_name(&question_target.state.cells.target.configuration.system),
        documents,
        rows,
        votes: common.is_some_and(|common| common.electorate.votes.get(index).copied().unwrap_or_default()),
        common: if is_common { Some(rows) } else { separate_rows() },
    })
}

fn by_majority<'a>(
    rules: &ComparisonRules,
    answers: &[Answer<'_>],
    common_documents: &'a DocumentSet,
) -> Decided<'a> {
    let (decision, findings) = decide(rules, answers, &common_documents.accepted);
    let basis = match decision {
        Consensus::Agreed(_) => ExpectedAnswerSource::Agreed,
        Consensus::Disputed(_) => ExpectedAnswerSource::Disputed,
        Consensus::Unverified(_) => ExpectedAnswerSource::Unverified,
        Consensus::OtherDocuments => ExpectedAnswerSource::OtherDocuments,
        Consensus::NoAnswers => ExpectedAnswerSource::Unanswered,
    };
    let expected = decision.basis_index().and_then(|index| answers.get(index)?.common);
    Decided { basis, findings, expected: expected.map(|rows| (rows.to_vec(), common_documents)) }
}

/// The reference is right over all documents it holds; others are compared over the common documents of the
/// voters.
fn by_reference<'a>(
    rules: &ComparisonRules,
    answers: &[Answer<'_>],
    reference_index: Option<usize>,
    common_documents: &'a DocumentSet,
) -> Decided<'a> {
    let expected = reference_index.and_then(|index| answers.get(index)?.common);
    let Some(expected) = expected else {
        // An agreement among other systems does not replace the reference's answer.
        let majority = by_majority(rules, answers, common_documents);
        let basis = match majority.basis {
            ExpectedAnswerSource::Unanswered | ExpectedAnswerSource::OtherDocuments => majority.basis,
            _ => ExpectedAnswerSource::Unverified,
        };
        let unverified = |finding: Finding| Finding { later_basis: LaterBasis::Unverified, ..finding };
        let findings = majority.findings.into_iter().map(unverified).collect();
        return Decided { basis, findings, ..majority };
    };
    let findings =
        compare_with_expected(rules, answers, &common_documents.accepted, expected, reference_index);
    let expected = Some((expected.to_vec(), common_documents));
    Decided { basis: ExpectedAnswerSource::Reference, findings, expected }
}

/// A user-given answer applies to all documents. A target that holds fewer and answers differently may be
/// right over those.
fn by_expected<'a>(
    rules: &ComparisonRules,
    mut answers: Vec<Answer<'_>>,
    expected: Vec<Row>,
    all_documents: &'a DocumentSet,
) -> Decided<'a> {
    for answer in &mut answers {
        answer.votes = answer.documents.is_whole() || rules.compare(&expected, answer.rows).is_ok();
        answer.common = answer.votes.then_some(answer.rows);
    }
    let findings = compare_with_expected(rules, &answers, &all_documents.accepted, &expected, None);
    Decided { basis: ExpectedAnswerSource::Expected, findings, expected: Some((expected, all_documents)) }
}

/// Records a finding in the standing of its target.
fn record_finding(standing: &mut ConfigurationAnswer, finding: &Finding) {
    match &finding.comparison {
        AnswerComparison::Same(_) => standing.answer = AnswerStatus::Same,
        AnswerComparison::OtherDocuments => standing.answer = AnswerStatus::OtherDocuments,
        AnswerComparison::Different(difference) => {
            let Mismatch { summary, missing_rows, missing_count, extra_rows, extra_count, rule } =
                difference.as_ref();
            standing.answer = AnswerStatus::Different;
            standing.rule = rule.map(|rule| rule.to_string());
            standing.rows = Some(RowDifference {
                missing_rows: settings::json_rows(missing_rows),
                missing_count: *missing_count as u64,
                extra_rows: settings::json_rows(extra_rows),
                extra_count: *extra_count as u64,
            });
            standing.why = Some(summary.clone());
        }
    }
    standing.verdict = match finding.later_basis {
        LaterBasis::Answer(_) | LaterBasis::ExpectedAnswer => None,
        LaterBasis::Wrong => Some(Verdict::Wrong),
        LaterBasis::Disputed => Some(Verdict::Disputed),
        LaterBasis::Unverified => Some(Verdict::Unverified),
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
        let file_name = match self.by_holding.len() {
            0 => format!("answers/fixed-{}.json", self.name),
            count => format!("answers/fixed-{}-{}.json", self.name, count + 1),
        };
        let columns: Vec<&str> = self.rules.columns.iter().map(|column| column.name.as_str()).collect();
        let text = serde_json::json!({ "question": self.name, "columns": columns, "rows": rows });
        let file = recorder.folder.write_file(&file_name, text.to_string().as_bytes())?;
        self.by_holding.push((holding.to_owned(), file.clone(), rows.to_vec()));
        Ok(file)
    }

    fn rows(&self, file: &str) -> Vec<Row> {
        let entry = self.by_holding.iter().find(|(_, known, _)| known == file);
        entry.map(|(.., rows)| rows.clone()).unwrap_or_default()
    }
}
