//! What the answers to a question are held against, once that is found out.

use std::collections::BTreeMap;

use jsonathlon_dataset::agreement::Rules;
use jsonathlon_dataset::value::Row;
use jsonathlon_results::id::Id;
use jsonathlon_results::ranking::Profile;
use jsonathlon_results::record::{Agreement, Basis, Verdict};

use super::held::Held;
use super::words::in_words_of_record;
use crate::target::Target;

/// The right answers to a question, and who cannot be held against any.
#[derive(Debug, Clone)]
pub(super) struct Fixed {
    basis: Basis,
    /// The scale of columns without one.
    addend: f64,
    /// By the digest of the documents that they are over.
    rows: BTreeMap<String, Vec<Row>>,
    /// Targets that have no right answer over their own documents.
    others: Vec<Other>,
}

#[derive(Debug, Clone)]
struct Other {
    id: Id,
    profile: Option<Profile>,
    holding: String,
    verdict: Verdict,
    /// How it is wrong, where it is.
    why: String,
}

/// What an answer is held against.
pub(super) enum Against<'f> {
    /// These rows.
    Rows(&'f [Row]),
    /// Nothing: the statement is wrong, and this is how.
    Wrong(&'f str),
    /// Nothing, and so it is in doubt.
    Doubt(Verdict),
}

impl Fixed {
    /// From what is on record; `rows` gives those of a file.
    pub(super) fn of(agreement: &Agreement, rows: impl Fn(&str) -> Vec<Row>) -> Self {
        let addend = agreement.addend.unwrap_or_default();
        let mut fixed = Self { basis: agreement.basis, addend, rows: BTreeMap::new(), others: Vec::new() };
        if agreement.basis.is_settled()
            && let Some(file) = &agreement.file
        {
            fixed.rows.insert(agreement.holding.clone(), rows(file));
        }
        for standing in &agreement.standings {
            match (&standing.file, standing.verdict) {
                (Some(file), _) => {
                    fixed.rows.entry(standing.holding.clone()).or_insert_with(|| rows(file));
                }
                (None, Some(verdict)) => fixed.others.push(Other {
                    id: standing.id.clone(),
                    profile: standing.profile,
                    holding: standing.holding.clone(),
                    verdict,
                    why: in_words_of_record(standing, agreement.documents),
                }),
                (None, None) => {}
            }
        }
        fixed
    }

    /// How answers are compared.
    pub(super) fn rules(&self, stated: &Rules) -> Rules {
        Rules { addend: self.addend, ..stated.clone() }
    }

    /// What an answer of a target that holds these documents is held against.
    pub(super) fn against(&self, target: &Target, held: &Held) -> Against<'_> {
        match self.basis {
            Basis::Disputed => return Against::Doubt(Verdict::Disputed),
            Basis::Unverified | Basis::OtherDocuments | Basis::Unanswered => {
                return Against::Doubt(Verdict::Unverified);
            }
            Basis::Agreed | Basis::Expected | Basis::Reference => {}
        }
        let is_it = |other: &&Other| {
            other.id == target.id() && other.profile == target.profile() && other.holding == held.digest
        };
        match (self.rows.get(&held.digest), self.others.iter().find(is_it)) {
            (Some(rows), _) => Against::Rows(rows),
            (None, Some(Other { verdict: Verdict::Wrong, why, .. })) => Against::Wrong(why),
            (None, Some(other)) => Against::Doubt(other.verdict),
            // It holds other documents than when it was asked first.
            (None, None) => Against::Doubt(Verdict::Unverified),
        }
    }
}
