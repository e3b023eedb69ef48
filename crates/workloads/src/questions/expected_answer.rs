//! The expected answers to a question, once they are determined.

use std::collections::BTreeMap;

use jsonathlon_dataset::agreement::ComparisonRules;
use jsonathlon_schema::id::ConfigurationId;
use jsonathlon_schema::ranking::MemoryProfile;
use jsonathlon_schema::record::{Agreement, ExpectedAnswerSource, Verdict};
use jsonathlon_schema::value::Row;

use super::difference_text::describe_recorded;
use super::document_set::DocumentSet;
use crate::target::Target;

/// Expected answers to a question, and the targets that cannot be verified.
#[derive(Debug, Clone)]
pub(super) struct ExpectedAnswer {
    basis: ExpectedAnswerSource,
    /// Scale of columns without a scale of their own, see [`ComparisonRules::addend`].
    addend: f64,
    /// Expected rows by digest of the documents that they apply to.
    rows: BTreeMap<String, Vec<Row>>,
    /// Targets without an expected answer over their own documents.
    unverifiable_targets: Vec<UnverifiableTarget>,
}

/// A target without an expected answer over its documents, with the verdict of all its answers.
#[derive(Debug, Clone)]
struct UnverifiableTarget {
    id: ConfigurationId,
    profile: Option<MemoryProfile>,
    holding: String,
    verdict: Verdict,
    /// Description of the difference if the verdict is wrong.
    reason: String,
}

/// Basis for verifying an answer.
pub(super) enum AnswerBasis<'f> {
    /// The answer must equal these rows.
    Rows(&'f [Row]),
    /// The statement is known to be wrong; the text describes the difference.
    Wrong(&'f str),
    /// The answer cannot be verified and gets this verdict.
    Unverifiable(Verdict),
}

impl ExpectedAnswer {
    /// Builds the expected answers from a recorded agreement; `read_rows` returns the rows of an answer file.
    pub(super) fn from_agreement(agreement: &Agreement, read_rows: impl Fn(&str) -> Vec<Row>) -> Self {
        let addend = agreement.addend.unwrap_or_default();
        let mut expected =
            Self { basis: agreement.basis, addend, rows: BTreeMap::new(), unverifiable_targets: Vec::new() };
        if agreement.basis.is_settled()
            && let Some(file) = &agreement.file
        {
            expected.rows.insert(agreement.documents_digest.clone(), read_rows(file));
        }
        for standing in &agreement.answers {
            match (&standing.file, standing.verdict) {
                (Some(file), _) => {
                    expected.rows.entry(standing.documents_digest.clone()).or_insert_with(|| read_rows(file));
                }
                (None, Some(verdict)) => expected.unverifiable_targets.push(UnverifiableTarget {
                    id: standing.id.clone(),
                    profile: standing.profile,
                    holding: standing.documents_digest.clone(),
                    verdict,
                    reason: describe_recorded(standing, agreement.documents),
                }),
                (None, None) => {}
            }
        }
        expected
    }

    /// Comparison rules of the question with the scale determined from the documents.
    pub(super) fn rules(&self, rules: &ComparisonRules) -> ComparisonRules {
        ComparisonRules { addend: self.addend, ..rules.clone() }
    }

    /// Basis for verifying an answer of a target that holds these documents.
    pub(super) fn answer_basis(&self, target: &Target, documents: &DocumentSet) -> AnswerBasis<'_> {
        match self.basis {
            ExpectedAnswerSource::Disputed => return AnswerBasis::Unverifiable(Verdict::Disputed),
            ExpectedAnswerSource::Unverified
            | ExpectedAnswerSource::OtherDocuments
            | ExpectedAnswerSource::Unanswered => {
                return AnswerBasis::Unverifiable(Verdict::Unverified);
            }
            ExpectedAnswerSource::Agreed
            | ExpectedAnswerSource::Expected
            | ExpectedAnswerSource::Reference => {}
        }
        let is_target = |candidate: &&UnverifiableTarget| {
            candidate.id == target.id()
                && candidate.profile == target.profile()
                && candidate.holding == documents.digest
        };
        match (self.rows.get(&documents.digest), self.unverifiable_targets.iter().find(is_target)) {
            (Some(rows), _) => AnswerBasis::Rows(rows),
            (None, Some(UnverifiableTarget { verdict: Verdict::Wrong, reason, .. })) => {
                AnswerBasis::Wrong(reason)
            }
            (None, Some(candidate)) => AnswerBasis::Unverifiable(candidate.verdict),
            // The target holds other documents now than when it was first asked.
            (None, None) => AnswerBasis::Unverifiable(Verdict::Unverified),
        }
    }
}
