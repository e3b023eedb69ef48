//! How the answer of a system to a question stood when all were held against each other, before any trial.

use jsonathlon_schema::record::{
    Agreement, AnswerStatus, ConfigurationAnswer, Failure, FailureKind, Verdict,
};

use crate::target::Target;

/// What is known of a system's statement of a question since it was asked at rest.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::serving) enum Standing {
    /// It was answered; the verdict on the answer, and why it is wrong.
    Answered(Verdict, Option<String>),
    /// It failed, with the message of the system.
    Failed(Failure),
    /// It was not asked, because there is no statement.
    NotAsked,
}

impl Standing {
    /// Finds the standing of a target in the recorded agreements. `has_approximate` says that the question has
    /// columns that may deviate.
    pub(in crate::serving) fn find(
        agreements: &[Agreement],
        question: &str,
        has_approximate: bool,
        target: &Target,
    ) -> Self {
        let agreement = agreements.iter().find(|agreement| agreement.question == question);
        let is_own = |standing: &&ConfigurationAnswer| {
            standing.id == target.id() && standing.profile == target.profile()
        };
        match agreement.and_then(|agreement| agreement.answers.iter().find(is_own)) {
            Some(standing) => Self::of(standing, has_approximate),
            None => Self::NotAsked,
        }
    }

    fn of(standing: &ConfigurationAnswer, has_approximate: bool) -> Self {
        let confirmed = if has_approximate { Verdict::Approximate } else { Verdict::Exact };
        let why = || standing.why.clone().unwrap_or_default();
        match (standing.answer, standing.verdict) {
            (AnswerStatus::NotAsked, _) => Self::NotAsked,
            (AnswerStatus::Failed, _) => {
                Self::Failed(Failure::new(FailureKind::Refused, format!("asked at rest: {}", why())))
            }
            (_, Some(verdict)) => Self::Answered(verdict, (verdict == Verdict::Wrong).then(why)),
            (AnswerStatus::Same, None) => Self::Answered(confirmed, None),
            // Later answers over the same documents are compared with the expected one, from which this one differs.
            (AnswerStatus::Different, None) => Self::Answered(Verdict::Wrong, Some(why())),
            (AnswerStatus::OtherDocuments, None) => Self::Answered(Verdict::Unverified, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::id::ConfigurationId;

    use super::*;

    #[test]
    fn an_answer_stands_as_it_was_recorded() {
        let standing = |answer, verdict| ConfigurationAnswer {
            id: ConfigurationId::new("mock", "1", "plain", "default"),
            profile: None,
            answer,
            why: Some("1 row is missing".to_owned()),
            rows: None,
            rule: None,
            statement: None,
            documents: 7,
            documents_digest: String::new(),
            file: None,
            verdict,
        };
        let of = |answer, verdict| Standing::of(&standing(answer, verdict), false);
        assert_eq!(of(AnswerStatus::Same, None), Standing::Answered(Verdict::Exact, None));
        assert_eq!(
            Standing::of(&standing(AnswerStatus::Same, None), true),
            Standing::Answered(Verdict::Approximate, None)
        );
        let wrong = Standing::Answered(Verdict::Wrong, Some("1 row is missing".to_owned()));
        assert_eq!(of(AnswerStatus::Different, Some(Verdict::Wrong)), wrong);
        assert_eq!(of(AnswerStatus::Different, None), wrong);
        let alone = Standing::Answered(Verdict::Unverified, None);
        assert_eq!(of(AnswerStatus::OtherDocuments, None), alone);
        let disputed = Standing::Answered(Verdict::Disputed, None);
        assert_eq!(of(AnswerStatus::Different, Some(Verdict::Disputed)), disputed);
        assert_eq!(of(AnswerStatus::NotAsked, None), Standing::NotAsked);
        let Standing::Failed(failure) = of(AnswerStatus::Failed, None) else { panic!("it failed") };
        assert_eq!(failure.error, "asked at rest: 1 row is missing");
    }
}
