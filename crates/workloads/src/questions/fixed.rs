//! The expected answers to a question, once they are determined.

use std::collections::BTreeMap;

use jsonathlon_dataset::agreement::ComparisonRules;
use jsonathlon_schema::id::ConfigurationId;
use jsonathlon_schema::ranking::MemoryProfile;
use jsonathlon_schema::record::{Agreement, ExpectedAnswerSource, Verdict};
use jsonathlon_schema::value::Row;

use super::held::Held;
use super::words::in_words_of_record;
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
    others: Vec<Other>,
}

#[derive(Debug, Clone)]
struct Other {
    id: ConfigurationId,
    profile: Option<MemoryProfile>,
    holding: String,
    verdict: Verdict,
    /// Description of the difference if the verdict is wrong.
    reason: String,
}

/// Basis for verifying an answer.
pub(super) enum Against<'f> {
    /// The answer must equal these rows.
    Rows(&'f [Row]),
    /// The statement is known to be wrong; the text describes the difference.
    Wrong(&'f str),
    /// The answer cannot be verified and gets this verdict.
    Doubt(Verdict),
}

impl ExpectedAnswer {
    /// Builds the expected answers from a recorded agreement; `read_rows` returns the rows of an answer file.
    pub(super) fn of(agreement: &Agreement, read_rows: impl Fn(&str) -> Vec<Row>) -> Self {
        let addend = agreement.addend.unwrap_or_default();
        let mut expected = Self { basis: agreement.basis, addend, rows: BTreeMap::new(), others: Vec::new() };
        if agreement.basis.is_settled()
            && let Some(file) = &agreement.file
        {
            expected.rows.insert(agreement.holding.clone(), read_rows(file));
        }
        for standing in &agreement.standings {
            match (&standing.file, standing.verdict) {
                (Some(file), _) => {
                    expected.rows.entry(standing.holding.clone()).or_insert_with(|| read_rows(file));
                }
                (None, Some(verdict)) => expected.others.push(Other {
                    id: standing.id.clone(),
                    profile: standing.profile,
                    holding: standing.holding.clone(),
                    verdict,
                    reason: in_words_of_record(standing, agreement.documents),
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
    pub(super) fn against(&self, target: &Target, held: &Held) -> Against<'_> {
        match self.basis {
            ExpectedAnswerSource::Disputed => return Against::Doubt(Verdict::Disputed),
            ExpectedAnswerSource::Unverified
            | ExpectedAnswerSource::OtherDocuments
            | ExpectedAnswerSource::Unanswered => {
                return Against::Doubt(Verdict::Unverified);
            }
            ExpectedAnswerSource::Agreed
            | ExpectedAnswerSource::Expected
            | ExpectedAnswerSource::Reference => {}
        }
        let is_target = |other: &&Other| {
            other.id == target.id() && other.profile == target.profile() && other.holding == held.digest
        };
        match (self.rows.get(&held.digest), self.others.iter().find(is_target)) {
            (Some(rows), _) => Against::Rows(rows),
            (None, Some(Other { verdict: Verdict::Wrong, reason, .. })) => Against::Wrong(reason),
            (None, Some(other)) => Against::Doubt(other.verdict),
            // The target holds other documents now than when it was first asked.
            (None, None) => Against::Doubt(Verdict::Unverified),
        }
    }
}
