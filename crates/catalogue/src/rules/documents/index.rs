//! Index variants and the queries under each of them: its own first, then those that are asked under every
//! index.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::patterns::{compiled, is_found};
use super::operation::{Operation, QueryAnswer};
use crate::{error::CatalogueError, sections::SectionReader, template};

/// Properties of queries that can be stated for all queries, for those under one index, or for a single
/// query. The one that is nearest to the query applies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PlanPatterns {
    pub(super) used: Option<Vec<String>>,
    #[serde(rename = "vain")]
    pub(super) full_scan: Option<Vec<String>>,
    pub(super) force: Option<Vec<String>>,
    pub(super) unforce: Option<Vec<String>>,
    pub(super) hint: Option<String>,
}

impl PlanPatterns {
    /// Returns these properties; those that are not stated are taken from `defaults`.
    pub(super) fn with_defaults(self, defaults: &Self) -> Self {
        Self {
            used: self.used.or_else(|| defaults.used.clone()),
            full_scan: self.full_scan.or_else(|| defaults.full_scan.clone()),
            force: self.force.or_else(|| defaults.force.clone()),
            unforce: self.unforce.or_else(|| defaults.unforce.clone()),
            hint: self.hint.or_else(|| defaults.hint.clone()),
        }
    }

    /// Checks that patterns are valid and that statements hold no placeholder but `{{table}}`.
    pub(super) fn check(&self, error: impl Fn(&str, String) -> CatalogueError) -> Result<(), CatalogueError> {
        for (key, patterns) in [("used", &self.used), ("vain", &self.full_scan)] {
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

/// Checks that a text holds no placeholders but these.
fn has_only(text: &str, known: &[&str]) -> Result<(), String> {
    let names = template::placeholders(text).map_err(|problem| problem.to_string())?;
    match names.iter().find(|(_, name)| !known.contains(name)) {
        Some((_, name)) => Err(format!("`{{{{{name}}}}}` has no value here; `{{{{table}}}}` has")),
        None => Ok(()),
    }
}

/// One index variant, as written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

/// One query under an index, as written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    answer: Option<QueryAnswer>,
}

impl IndexDefinition {
    fn patterns(&self) -> PlanPatterns {
        PlanPatterns {
            used: self.used.clone(),
            full_scan: self.vain.clone(),
            force: self.force.clone(),
            unforce: self.unforce.clone(),
            hint: self.hint.clone(),
        }
    }
}

impl AskDefinition {
    fn patterns(&self) -> PlanPatterns {
        PlanPatterns {
            used: self.used.clone(),
            full_scan: self.vain.clone(),
            force: self.force.clone(),
            unforce: self.unforce.clone(),
            hint: self.hint.clone(),
        }
    }

    fn is_same_query(&self, other: &Self) -> bool {
        (self.operation, &self.form) == (other.operation, &other.form)
    }

    fn complete(&self, defaults: &PlanPatterns) -> IndexQuery {
        let patterns = self.patterns().with_defaults(defaults);
        // The statement was checked when it was read, so filling cannot fail.
        let fill_hint = |hint: &str| {
            template::fill_known(&self.statement, &[("hint", hint)])
                .unwrap_or_else(|_| self.statement.clone())
        };
        let hinted = patterns.hint.as_deref().filter(|_| has_hint(&self.statement)).map(fill_hint);
        IndexQuery {
            operation: self.operation,
            form: self.form.clone(),
            statement: fill_hint(""),
            used_patterns: patterns.used.unwrap_or_default(),
            full_scan_patterns: patterns.full_scan.unwrap_or_default(),
            forced_statement: self.forced.clone().or(hinted),
            force: patterns.force.unwrap_or_default(),
            unforce: patterns.unforce.unwrap_or_default(),
            answer: self.answer.unwrap_or_else(|| self.operation.default_answer()),
        }
    }
}

fn has_hint(statement: &str) -> bool {
    template::placeholders(statement).is_ok_and(|names| names.iter().any(|(_, name)| *name == "hint"))
}

/// Checks all index variants of a section: each must be well formed, and one of them must be the best.
pub(super) fn check_indexes(
    section: &SectionReader<'_>,
    indexes: &BTreeMap<String, IndexDefinition>,
) -> Result<(), CatalogueError> {
    let best: Vec<&String> = indexes.iter().filter(|(_, index)| index.best).map(|(name, _)| name).collect();
    match best.as_slice() {
        [] if !indexes.is_empty() => {
            return Err(section.error(&["index"], "none of them is the best: give one `best = true`"));
        }
        [first, second, ..] => {
            return Err(
                section.error(&["index", second], format!("`{first}` is the best already: there is one"))
            );
        }
        _ => {}
    }
    for (name, index) in indexes {
        let error = |keys: &[&str], message: String| {
            let path: Vec<&str> = ["index", name.as_str()].into_iter().chain(keys.iter().copied()).collect();
            section.error(&path, message)
        };
        if !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
            return Err(error(&[], "a name is lower-case letters, digits and `-`".to_owned()));
        }
        if index.create.is_empty() {
            return Err(error(&["create"], "is empty: an index is made by a statement".to_owned()));
        }
        for (key, texts) in [("create", &index.create), ("drop", &index.drop)] {
            texts
                .iter()
                .try_for_each(|text| has_only(text, &["table"]))
                .map_err(|message| error(&[key], message))?;
        }
        index.patterns().check(|key, message| error(&[key], message))?;
        check_queries(section, &["index", name, "ask"], &index.ask)?;
    }
    Ok(())
}

/// Checks the queries that lie at these keys of a section.
pub(super) fn check_queries(
    section: &SectionReader<'_>,
    keys: &[&str],
    asks: &[AskDefinition],
) -> Result<(), CatalogueError> {
    for (position, query) in asks.iter().enumerate() {
        let number = position.to_string();
        let error = |key: &str, message: String| {
            let path: Vec<&str> = keys.iter().copied().chain([number.as_str(), key]).collect();
            section.error(&path, message)
        };
        has_only(&query.statement, &["table", "hint"]).map_err(|message| error("statement", message))?;
        query
            .forced
            .iter()
            .try_for_each(|text| has_only(text, &["table"]))
            .map_err(|message| error("forced", message))?;
        if query.forced.is_some() && has_hint(&query.statement) {
            return Err(error("forced", "`{{hint}}` of the statement says so already".to_owned()));
        }
        query.patterns().check(error)?;
        if asks.iter().take(position).any(|known| known.is_same_query(query)) {
            let message =
                format!("there is a query of {} called `{}` already", query.operation.word(), query.form);
            return Err(error("form", message));
        }
    }
    Ok(())
}

/// Finds a query that is incomplete after all levels are merged. Returns the keys of its index and what is
/// missing. `None` if all queries are complete.
pub(super) fn find_incomplete_query(
    indexes: &BTreeMap<String, IndexDefinition>,
    shared: &[AskDefinition],
    defaults: &PlanPatterns,
) -> Option<(Vec<String>, String)> {
    for (name, index) in indexes {
        for query in complete_queries(index, shared, defaults) {
            let message = match &query {
                query if query.used_patterns.is_empty() => "no `used` says which plans of it use the index",
                query if !query.force.is_empty() && query.unforce.is_empty() => {
                    "what `force` sets must be set back: say how in `unforce`"
                }
                _ => continue,
            };
            let description = format!("{} by `{}`: {message}", query.operation.word(), query.form);
            return Some((vec!["index".to_owned(), name.clone()], description));
        }
    }
    None
}

/// Returns all queries under an index: its own, then the shared ones. A shared query is left out if an own
/// one has the same operation and form.
fn complete_queries(
    index: &IndexDefinition,
    shared: &[AskDefinition],
    defaults: &PlanPatterns,
) -> Vec<IndexQuery> {
    let defaults = index.patterns().with_defaults(defaults);
    let is_replaced = |ask: &&AskDefinition| index.ask.iter().any(|query| query.is_same_query(ask));
    let further = shared.iter().filter(|ask| !is_replaced(ask));
    index.ask.iter().chain(further).map(|ask| ask.complete(&defaults)).collect()
}

/// Converts all index variants, each with all queries under it.
pub(super) fn complete_indexes(
    indexes: BTreeMap<String, IndexDefinition>,
    shared: &[AskDefinition],
    defaults: &PlanPatterns,
) -> Vec<Index> {
    let complete = |(name, index): (String, IndexDefinition)| {
        let queries = complete_queries(&index, shared, defaults);
        let IndexDefinition { title, best, create, drop, note, .. } = index;
        Index { name, title, best, create, drop, note, queries }
    };
    indexes.into_iter().map(complete).collect()
}

/// One index variant, with all queries under it.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    /// Name of the index variant, from `[documents.index.NAME]`.
    pub name: String,
    /// Description in a few words.
    pub title: String,
    /// Whether a plain run builds this index; exactly one index variant is the best.
    pub best: bool,
    /// Statements that create the index, which are timed.
    pub create: Vec<String>,
    /// Statements that remove the index; may be empty.
    pub drop: Vec<String>,
    /// Remark for readers of a report.
    pub note: Option<String>,
    /// Queries under the index: its own first, then the shared ones.
    pub queries: Vec<IndexQuery>,
}

impl Index {
    /// Returns the query that is timed for an operation: the first one. `None` if there is none, or if the
    /// operation is not a test.
    #[must_use]
    pub fn timed_query(&self, operation: Operation) -> Option<&IndexQuery> {
        self.queries.iter().find(|query| query.operation == operation && operation.is_test())
    }
}

/// One query under an index.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexQuery {
    /// Kind of result that the query returns.
    pub operation: Operation,
    /// How the query expresses the operation, in a word.
    pub form: String,
    /// Text of the query, without a hint.
    pub statement: String,
    /// Patterns of plans that use the index; one match is enough.
    pub used_patterns: Vec<String>,
    /// Patterns of plans that contain the index and yet look at every row or entry; one match is enough.
    pub full_scan_patterns: Vec<String>,
    /// Text of the query with a hint to use the index. `None` if it takes no hint.
    pub forced_statement: Option<String>,
    /// Statements that make the system use an index wherever it can.
    pub force: Vec<String>,
    /// Statements that undo those of `force`.
    pub unforce: Vec<String>,
    /// Answer that is expected of the query.
    pub answer: QueryAnswer,
}

impl IndexQuery {
    /// Classifies a plan: it uses the index, scans it completely, or does not use it.
    #[must_use]
    pub fn classify_plan(&self, plan: &str) -> IndexUse {
        let matches_any = |patterns: &[String]| patterns.iter().any(|pattern| is_found(pattern, plan));
        if matches_any(&self.full_scan_patterns) {
            IndexUse::FullIndexScan
        } else if matches_any(&self.used_patterns) {
            IndexUse::Used
        } else {
            IndexUse::NotUsed
        }
    }

    /// Returns `true` if the system can be told to use the index, by a hint or by statements.
    #[must_use]
    pub fn can_be_forced(&self) -> bool {
        self.forced_statement.is_some() || !self.force.is_empty()
    }
}

/// How a plan uses an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexUse {
    /// The plan finds rows by the index.
    Used,
    /// The plan contains the index, but looks at every row or entry.
    FullIndexScan,
    /// The plan does not use the index.
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
        let patterns = PlanPatterns {
            used: Some(vec!["Index.*_l".into()]),
            full_scan: Some(vec!["Full Index".into()]),
            ..PlanPatterns::default()
        };
        let query = ask(Operation::Filter, "column", "SELECT").complete(&patterns);
        assert_eq!(query.classify_plan("Index Scan using t_l"), IndexUse::Used);
        assert_eq!(query.classify_plan("Full Index Scan using t_l"), IndexUse::FullIndexScan);
        assert_eq!(query.classify_plan("Seq Scan"), IndexUse::NotUsed);
        assert!(!query.can_be_forced());
    }

    #[test]
    fn own_queries_come_first_and_take_the_place_of_shared_ones() {
        let own_query = AskDefinition {
            vain: Some(Vec::new()),
            ..ask(Operation::Filter, "->>", "SELECT own FROM {{table}}{{hint}}")
        };
        let mut index = index(vec![ask(Operation::Extract, "column", "SELECT l"), own_query]);
        index.hint = Some(" USE {{table}}_l".into());
        index.used = Some(vec!["nearer".into()]);
        let shared = [
            ask(Operation::Filter, "->>", "SELECT shared"),
            ask(Operation::Extract, "->>", "SELECT text FROM {{table}}{{hint}}"),
        ];
        let defaults = PlanPatterns {
            used: Some(vec!["far".into()]),
            full_scan: Some(vec!["all".into()]),
            ..PlanPatterns::default()
        };
        let queries = complete_queries(&index, &shared, &defaults);
        let statements: Vec<(&str, Option<&str>)> = queries
            .iter()
            .map(|query| (query.statement.as_str(), query.forced_statement.as_deref()))
            .collect();
        assert_eq!(
            statements,
            [
                ("SELECT l", None),
                ("SELECT own FROM {{table}}", Some("SELECT own FROM {{table}} USE {{table}}_l")),
                ("SELECT text FROM {{table}}", Some("SELECT text FROM {{table}} USE {{table}}_l")),
            ]
        );
        assert!(queries.iter().all(|query| query.used_patterns == ["nearer"]));
        let counts: Vec<usize> = queries.iter().map(|query| query.full_scan_patterns.len()).collect();
        assert_eq!(counts, [1, 0, 1]);
        // Of two queries of one operation, the index's own one is timed.
        let index =
            complete_indexes(BTreeMap::from([("it".to_owned(), index)]), &shared, &defaults).remove(0);
        assert_eq!(index.timed_query(Operation::Extract).unwrap().statement, "SELECT l");
    }

    #[test]
    fn what_no_level_says_is_missing() {
        let indexes = BTreeMap::from([("it".to_owned(), index(Vec::new()))]);
        let shared = [ask(Operation::Exists, "?", "SELECT 1")];
        let (keys, message) = find_incomplete_query(&indexes, &shared, &PlanPatterns::default()).unwrap();
        assert_eq!(
            (keys.join("."), message.as_str()),
            ("index.it".to_owned(), "exists by `?`: no `used` says which plans of it use the index")
        );
        let used = PlanPatterns { used: Some(vec!["Index".into()]), ..PlanPatterns::default() };
        assert!(find_incomplete_query(&indexes, &shared, &used).is_none());
        let forced = PlanPatterns { force: Some(vec!["SET".into()]), ..used };
        assert!(find_incomplete_query(&indexes, &shared, &forced).unwrap().1.contains("must be set back"));
    }
}
