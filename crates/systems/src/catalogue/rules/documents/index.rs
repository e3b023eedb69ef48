//! Variants of indexes, and the queries that are asked under them: their own, then those that are asked under each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::patterns::{compiled, is_found};
use super::operation::{Expected, Operation};
use crate::catalogue::{error::CatalogueError, sections::Section, template};

/// What may be said once for many queries: of all of them, of those under an index, or of one. What is nearer to the query
/// counts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Ways {
    pub(super) used: Option<Vec<String>>,
    pub(super) vain: Option<Vec<String>>,
    pub(super) force: Option<Vec<String>>,
    pub(super) unforce: Option<Vec<String>>,
    pub(super) hint: Option<String>,
}

impl Ways {
    /// These, and what they leave open as in those.
    pub(super) fn over(self, below: &Self) -> Self {
        Self {
            used: self.used.or_else(|| below.used.clone()),
            vain: self.vain.or_else(|| below.vain.clone()),
            force: self.force.or_else(|| below.force.clone()),
            unforce: self.unforce.or_else(|| below.unforce.clone()),
            hint: self.hint.or_else(|| below.hint.clone()),
        }
    }

    /// Patterns must be some, and statements hold nothing but the table.
    pub(super) fn check(&self, error: impl Fn(&str, String) -> CatalogueError) -> Result<(), CatalogueError> {
        for (key, patterns) in [("used", &self.used), ("vain", &self.vain)] {
            for pattern in patterns.iter().flatten() {
                compiled(pattern).map_err(|problem| error(key, problem.to_string()))?;
            }
        }
        let texts = |texts: &Option<Vec<String>>| texts.clone().unwrap_or_default();
        for (key, texts) in [
            ("force", texts(&self.force)),
            ("unforce", texts(&self.unforce)),
            ("hint", self.hint.iter().cloned().collect()),
        ] {
            texts
                .iter()
                .try_for_each(|text| has_only(text, &["table"]))
                .map_err(|message| error(key, message))?;
        }
        Ok(())
    }
}

/// A text may hold these placeholders alone.
fn has_only(text: &str, known: &[&str]) -> Result<(), String> {
    let names = template::placeholders(text).map_err(|problem| problem.to_string())?;
    match names.iter().find(|(_, name)| !known.contains(name)) {
        Some((_, name)) => Err(format!("`{{{{{name}}}}}` has no value here; `{{{{table}}}}` has")),
        None => Ok(()),
    }
}

/// One variant of an index as it is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IndexDefinition {
    title: String,
    #[serde(default)]
    best: bool,
    create: Vec<String>,
    #[serde(default)]
    drop: Vec<String>,
    note: Option<String>,
    used: Option<Vec<String>>,
    vain: Option<Vec<String>>,
    force: Option<Vec<String>>,
    unforce: Option<Vec<String>>,
    hint: Option<String>,
    #[serde(default)]
    ask: Vec<AskDefinition>,
}

/// One query as it is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskDefinition {
    operation: Operation,
    form: String,
    statement: String,
    used: Option<Vec<String>>,
    vain: Option<Vec<String>>,
    forced: Option<String>,
    force: Option<Vec<String>>,
    unforce: Option<Vec<String>>,
    hint: Option<String>,
    answer: Option<Expected>,
}

impl IndexDefinition {
    fn ways(&self) -> Ways {
        Ways {
            used: self.used.clone(),
            vain: self.vain.clone(),
            force: self.force.clone(),
            unforce: self.unforce.clone(),
            hint: self.hint.clone(),
        }
    }
}

impl AskDefinition {
    fn ways(&self) -> Ways {
        Ways {
            used: self.used.clone(),
            vain: self.vain.clone(),
            force: self.force.clone(),
            unforce: self.unforce.clone(),
            hint: self.hint.clone(),
        }
    }

    fn is_as(&self, other: &Self) -> bool {
        (self.operation, &self.form) == (other.operation, &other.form)
    }

    fn complete(&self, below: &Ways) -> Ask {
        let ways = self.ways().over(below);
        // Both were checked when they were read.
        let with = |hint: &str| {
            template::fill_known(&self.statement, &[("hint", hint)])
                .unwrap_or_else(|_| self.statement.clone())
        };
        let hinted = ways.hint.as_deref().filter(|_| has_hint(&self.statement)).map(with);
        Ask {
            operation: self.operation,
            form: self.form.clone(),
            statement: with(""),
            used: ways.used.unwrap_or_default(),
            vain: ways.vain.unwrap_or_default(),
            forced: self.forced.clone().or(hinted),
            force: ways.force.unwrap_or_default(),
            unforce: ways.unforce.unwrap_or_default(),
            answer: self.answer.unwrap_or_else(|| self.operation.usual()),
        }
    }
}

fn has_hint(statement: &str) -> bool {
    template::placeholders(statement).is_ok_and(|names| names.iter().any(|(_, name)| *name == "hint"))
}

/// All indexes of a section, each of which must be well formed, and one of them the best.
pub(super) fn check_indexes(
    section: &Section<'_>,
    written: &BTreeMap<String, IndexDefinition>,
) -> Result<(), CatalogueError> {
    let best: Vec<&String> = written.iter().filter(|(_, one)| one.best).map(|(name, _)| name).collect();
    match best.as_slice() {
        [] if !written.is_empty() => {
            return Err(section.error(&["index"], "none of them is the best: give one `best = true`"));
        }
        [one, other, ..] => {
            return Err(
                section.error(&["index", other], format!("`{one}` is the best already: there is one"))
            );
        }
        _ => {}
    }
    for (name, one) in written {
        let error = |keys: &[&str], message: String| {
            let path: Vec<&str> = ["index", name.as_str()].into_iter().chain(keys.iter().copied()).collect();
            section.error(&path, message)
        };
        if !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
            return Err(error(&[], "a name is lower-case letters, digits and `-`".to_owned()));
        }
        if one.create.is_empty() {
            return Err(error(&["create"], "is empty: an index is made by a statement".to_owned()));
        }
        for (key, texts) in [("create", &one.create), ("drop", &one.drop)] {
            texts
                .iter()
                .try_for_each(|text| has_only(text, &["table"]))
                .map_err(|message| error(&[key], message))?;
        }
        one.ways().check(|key, message| error(&[key], message))?;
        check_asks(section, &["index", name, "ask"], &one.ask)?;
    }
    Ok(())
}

/// Queries, which lie at these keys of a section.
pub(super) fn check_asks(
    section: &Section<'_>,
    at: &[&str],
    asks: &[AskDefinition],
) -> Result<(), CatalogueError> {
    for (place, one) in asks.iter().enumerate() {
        let number = place.to_string();
        let wrong = |key: &str, message: String| {
            let path: Vec<&str> = at.iter().copied().chain([number.as_str(), key]).collect();
            section.error(&path, message)
        };
        has_only(&one.statement, &["table", "hint"]).map_err(|message| wrong("statement", message))?;
        one.forced
            .iter()
            .try_for_each(|text| has_only(text, &["table"]))
            .map_err(|message| wrong("forced", message))?;
        if one.forced.is_some() && has_hint(&one.statement) {
            return Err(wrong("forced", "`{{hint}}` of the statement says so already".to_owned()));
        }
        one.ways().check(wrong)?;
        if asks.iter().take(place).any(|known| known.is_as(one)) {
            let message =
                format!("there is a query of {} called `{}` already", one.operation.word(), one.form);
            return Err(wrong("form", message));
        }
    }
    Ok(())
}

/// What is wrong with all that holds for a configuration together, and the keys of it; nothing when it is complete.
pub(super) fn lacking(
    indexes: &BTreeMap<String, IndexDefinition>,
    shared: &[AskDefinition],
    ways: &Ways,
) -> Option<(Vec<String>, String)> {
    for (name, index) in indexes {
        for ask in completed(index, shared, ways) {
            let message = match &ask {
                ask if ask.used.is_empty() => "no `used` says which plans of it use the index",
                ask if !ask.force.is_empty() && ask.unforce.is_empty() => {
                    "what `force` sets must be set back: say how in `unforce`"
                }
                _ => continue,
            };
            let words = format!("{} by `{}`: {message}", ask.operation.word(), ask.form);
            return Some((vec!["index".to_owned(), name.clone()], words));
        }
    }
    None
}

/// All queries under an index: its own, then those that are asked under each and that it does not ask itself.
fn completed(index: &IndexDefinition, shared: &[AskDefinition], ways: &Ways) -> Vec<Ask> {
    let ways = index.ways().over(ways);
    let has = |ask: &&AskDefinition| index.ask.iter().any(|own| own.is_as(ask));
    let further = shared.iter().filter(|ask| !has(ask));
    index.ask.iter().chain(further).map(|ask| ask.complete(&ways)).collect()
}

/// Each index with all that is asked under it.
pub(super) fn complete(
    indexes: BTreeMap<String, IndexDefinition>,
    shared: &[AskDefinition],
    ways: &Ways,
) -> Vec<Index> {
    let complete = |(name, index): (String, IndexDefinition)| {
        let asks = completed(&index, shared, ways);
        let IndexDefinition { title, best, create, drop, note, .. } = index;
        Index { name, title, best, create, drop, note, asks }
    };
    indexes.into_iter().map(complete).collect()
}

/// One variant of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// It in a few words.
    pub title: String,
    /// Whether it is the one that a plain run builds.
    pub best: bool,
    /// What makes it.
    pub create: Vec<String>,
    /// What removes it.
    pub drop: Vec<String>,
    /// A remark for the reader of a report.
    pub note: Option<String>,
    /// Queries that are asked under it.
    pub asks: Vec<Ask>,
}

impl Index {
    /// The query of an operation that is timed under it: the first.
    #[must_use]
    pub fn timed(&self, operation: Operation) -> Option<&Ask> {
        self.asks.iter().find(|ask| ask.operation == operation && operation.is_test())
    }
}

/// One query under an index.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// What it does.
    pub operation: Operation,
    /// How it says it, in a word.
    pub form: String,
    /// The query.
    pub statement: String,
    /// A plan that one of these matches uses the index.
    pub used: Vec<String>,
    /// A plan that one of these matches has it, and yet looks at every row or entry.
    pub vain: Vec<String>,
    /// The query with a hint.
    pub forced: Option<String>,
    /// What makes the system use an index that it can use.
    pub force: Vec<String>,
    /// What undoes that.
    pub unforce: Vec<String>,
    /// What it must answer.
    pub answer: Expected,
}

impl Ask {
    /// Whether a plan uses the index: not at all, in vain, or well.
    #[must_use]
    pub fn judge(&self, plan: &str) -> Judged {
        let found = |patterns: &[String]| patterns.iter().any(|pattern| is_found(pattern, plan));
        if found(&self.vain) {
            Judged::InVain
        } else if found(&self.used) {
            Judged::Used
        } else {
            Judged::NotUsed
        }
    }

    /// Whether the system can be told to use the index.
    #[must_use]
    pub fn can_be_forced(&self) -> bool {
        self.forced.is_some() || !self.force.is_empty()
    }
}

/// What a plan does with an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// It finds by it.
    Used,
    /// It goes through all of it.
    InVain,
    /// It does without.
    NotUsed,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(operation: Operation, form: &str, statement: &str) -> AskDefinition {
        AskDefinition {
            operation,
            form: form.into(),
            statement: statement.into(),
            used: None,
            vain: None,
            forced: None,
            force: None,
            unforce: None,
            hint: None,
            answer: None,
        }
    }

    fn index(ask: Vec<AskDefinition>) -> IndexDefinition {
        IndexDefinition {
            title: "it".into(),
            best: true,
            create: vec!["CREATE".into()],
            drop: Vec::new(),
            note: None,
            used: None,
            vain: None,
            force: None,
            unforce: None,
            hint: None,
            ask,
        }
    }

    #[test]
    fn a_plan_in_vain_is_no_use() {
        let ways = Ways {
            used: Some(vec!["Index.*_l".into()]),
            vain: Some(vec!["Full Index".into()]),
            ..Ways::default()
        };
        let ask = ask(Operation::Filter, "column", "SELECT").complete(&ways);
        assert_eq!(ask.judge("Index Scan using t_l"), Judged::Used);
        assert_eq!(ask.judge("Full Index Scan using t_l"), Judged::InVain);
        assert_eq!(ask.judge("Seq Scan"), Judged::NotUsed);
        assert!(!ask.can_be_forced());
    }

    #[test]
    fn own_queries_come_first_and_take_the_place_of_shared_ones() {
        let own = AskDefinition {
            vain: Some(Vec::new()),
            ..ask(Operation::Filter, "->>", "SELECT own FROM {{table}}{{hint}}")
        };
        let mut index = index(vec![ask(Operation::Extract, "column", "SELECT l"), own]);
        index.hint = Some(" USE {{table}}_l".into());
        index.used = Some(vec!["nearer".into()]);
        let shared = [
            ask(Operation::Filter, "->>", "SELECT shared"),
            ask(Operation::Extract, "->>", "SELECT text FROM {{table}}{{hint}}"),
        ];
        let ways = Ways { used: Some(vec!["far".into()]), vain: Some(vec!["all".into()]), ..Ways::default() };
        let asks = completed(&index, &shared, &ways);
        let said: Vec<(&str, Option<&str>)> =
            asks.iter().map(|ask| (ask.statement.as_str(), ask.forced.as_deref())).collect();
        assert_eq!(
            said,
            [
                ("SELECT l", None),
                ("SELECT own FROM {{table}}", Some("SELECT own FROM {{table}} USE {{table}}_l")),
                ("SELECT text FROM {{table}}", Some("SELECT text FROM {{table}} USE {{table}}_l")),
            ]
        );
        assert!(asks.iter().all(|ask| ask.used == ["nearer"]));
        assert_eq!((asks[0].vain.len(), asks[1].vain.len(), asks[2].vain.len()), (1, 0, 1));
        // Of two of one operation the nearer is timed.
        let index = complete(BTreeMap::from([("it".to_owned(), index)]), &shared, &ways).remove(0);
        assert_eq!(index.timed(Operation::Extract).unwrap().statement, "SELECT l");
    }

    #[test]
    fn what_no_level_says_is_lacking() {
        let indexes = BTreeMap::from([("it".to_owned(), index(Vec::new()))]);
        let shared = [ask(Operation::Exists, "?", "SELECT 1")];
        let (at, words) = lacking(&indexes, &shared, &Ways::default()).unwrap();
        assert_eq!(
            (at.join("."), words.as_str()),
            ("index.it".to_owned(), "exists by `?`: no `used` says which plans of it use the index")
        );
        let used = Ways { used: Some(vec!["Index".into()]), ..Ways::default() };
        assert!(lacking(&indexes, &shared, &used).is_none());
        let forced = Ways { force: Some(vec!["SET".into()]), ..used };
        assert!(lacking(&indexes, &shared, &forced).unwrap().1.contains("must be set back"));
    }
}
