//! Rules of the mixed workload: how documents are inserted while questions are asked, and how a question also
//! tells what it saw of them.
//!
//! Tables and questions are those of analytics, whose sections and statement files apply.

use std::{collections::BTreeMap, sync::LazyLock};

use jsonathlon_driver_api::{
    batch::{BatchForm, BatchParameter, BatchRows, BatchStatement, BatchTransfer},
    parameter_marker,
    seen::{SeenForm, SeenPlaces, SeenWrapper},
};
use jsonathlon_schema::{visibility::Visibility, workload::WorkloadKind};
use serde::{Deserialize, Serialize};

use super::{
    ParsedSection, Section, WorkloadRules, WorkloadSetup,
    analytics::{self, AnalyticsSection, QuestionRules},
};
use crate::{
    definition::LoadMode,
    durability::DurabilityDefinition,
    error::CatalogueError,
    sections::SectionReader,
    statement_file::{StatementFile, StatementKind, StatementRule},
    template::{self, PlaceholderError, Replacement},
};

/// Name of the workload, of its section and of its folder.
pub const MIXED: &str = WorkloadKind::Mixed.name();

/// File that adds the columns of writer and sequence to a new table.
const EXTEND: &str = "extend";
/// File with the statement around a question.
const QUESTION: &str = "question";
/// File with the statement that tells what there is of each writer.
const SEEN: &str = "seen";
/// File with the part of that statement for one writer.
const RANGE: &str = "range";
/// File with the statements that insert one batch.
const INSERT: &str = "insert";

/// Question of analytics that this workload does not ask.
const NOT_ASKED: &str = "q6";

/// Placeholders that the run fills, those of analytics first.
const PLACEHOLDERS: [&str; 12] = [
    "keys",
    "statement",
    QUESTION,
    SEEN,
    "ranges",
    "writer",
    "floor",
    "rows",
    "sequence",
    "document",
    "first",
    "end",
];
/// Placeholders in the text of one row.
const ROW_PLACEHOLDERS: [&str; 4] = ["writer", "sequence", "document", "members"];

/// Statement files of this workload alone.
const OWN_FILES: [StatementRule; 6] = [
    StatementRule::optional(EXTEND).allows_placeholders(&[]),
    StatementRule::required(QUESTION)
        .allows_placeholders(&[QUESTION, SEEN, "ranges"])
        .needs_one_of(&[SEEN, "ranges"]),
    StatementRule::optional(SEEN).single().allows_placeholders(&["ranges"]).needs_one_of(&["ranges"]),
    StatementRule::required(RANGE)
        .single()
        .allows_placeholders(&["writer", "floor"])
        .needs_one_of(&["floor"]),
    StatementRule::required(INSERT)
        .allows_placeholders(&["rows", "writer", "sequence", "document", "first", "end"]),
    StatementRule::required("own_prefix").single().allows_placeholders(&["writer"]).needs_one_of(&["writer"]),
];

/// The files of analytics, each of which this workload may replace, and its own.
static FILES: LazyLock<Vec<StatementRule>> = LazyLock::new(|| {
    let shared = analytics::FILES.into_iter().filter(|rule| rule.name != NOT_ASKED);
    let replaceable = shared.map(|rule| StatementRule { required: false, ..rule.allows_placeholders(&[]) });
    replaceable.chain(OWN_FILES).collect()
});

/// The section `[mixed]` of `system.toml`, as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SectionDefinition {
    /// Whether a statement sees one snapshot.
    snapshot: bool,
    visible: Visibility,
    max_atomic_batch: Option<u32>,
    #[serde(default)]
    writers_take_turns: bool,
    max_connections: Option<u32>,
    #[serde(default)]
    seen: SeenDefinition,
    insert: InsertDefinition,
    durability: DurabilityDefinition,
}

/// What a variant or a storage setting overrides in the section.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OverlayDefinition {
    snapshot: Option<bool>,
    visible: Option<Visibility>,
    max_atomic_batch: Option<u32>,
}

/// How what a question saw of the writers is asked and read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SeenDefinition {
    /// Text between the ranges of two writers.
    separator: String,
    /// JSON Pointers into an element of the list of writers.
    writer: String,
    documents: String,
    highest: String,
}

impl Default for SeenDefinition {
    fn default() -> Self {
        let SeenPlaces { writer, documents, highest } = SeenPlaces::default();
        Self { separator: " OR ".to_owned(), writer, documents, highest }
    }
}

/// How a batch of documents is inserted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InsertDefinition {
    transfer: BatchTransfer,
    #[serde(default)]
    row: String,
    #[serde(default)]
    separator: String,
    #[serde(default)]
    start: String,
    #[serde(default)]
    end: String,
    /// Characters of a document and the texts as which they are written.
    #[serde(default)]
    escapes: Vec<(char, String)>,
    undo: Option<String>,
    #[serde(default)]
    idempotent: bool,
}

/// Implementation of [`WorkloadRules`] for the mixed workload.
#[derive(Debug)]
pub(crate) struct Rules;

impl WorkloadRules for Rules {
    fn name(&self) -> &'static str {
        MIXED
    }

    fn files(&self) -> &'static [StatementRule] {
        &FILES
    }

    fn placeholders(&self) -> &'static [&'static str] {
        &PLACEHOLDERS
    }

    fn foundation(&self) -> Option<&'static dyn WorkloadRules> {
        Some(&analytics::Rules)
    }

    fn keys(&self) -> &'static [&'static str] {
        &[
            "snapshot",
            "visible",
            "max_atomic_batch",
            "writers_take_turns",
            "max_connections",
            "seen",
            "insert",
            "durability",
        ]
    }

    fn read(
        &self,
        base: &SectionReader<'_>,
        overlays: &[SectionReader<'_>],
        foundation: Option<ParsedSection>,
    ) -> Result<ParsedSection, CatalogueError> {
        let Some(ParsedSection { load, logs, section: Section::Analytics(analytics), .. }) = foundation
        else {
            let message = "needs an [analytics], whose tables and questions it uses";
            return Err(base.error(&[], message));
        };
        let definition: SectionDefinition = base.read()?;
        check(base, &definition)?;
        let mut merged = MixedSection {
            analytics,
            snapshot: definition.snapshot,
            visible: definition.visible,
            max_atomic_batch: definition.max_atomic_batch,
            writers_take_turns: definition.writers_take_turns,
            max_connections: definition.max_connections,
            seen: definition.seen,
            insert: definition.insert,
        };
        for section in overlays {
            let OverlayDefinition { snapshot, visible, max_atomic_batch } = section.read()?;
            merged.snapshot = snapshot.unwrap_or(merged.snapshot);
            merged.visible = visible.unwrap_or(merged.visible);
            merged.max_atomic_batch = max_atomic_batch.or(merged.max_atomic_batch);
        }
        let tiers = definition.durability.tiers(base)?;
        Ok(ParsedSection { tiers, ..ParsedSection::new(load, logs, Section::Mixed(Box::new(merged))) })
    }

    /// Adds the statements that extend a new table to those that create it.
    fn complete_files(&self, files: &mut BTreeMap<String, StatementFile>) {
        let Some(StatementFile { statements, .. }) = files.get(EXTEND).cloned() else { return };
        if let Some(create) = files.get_mut("create") {
            create.statements.extend(statements);
        }
    }
}

/// Checks what the types of the section leave open.
fn check(section: &SectionReader<'_>, definition: &SectionDefinition) -> Result<(), CatalogueError> {
    let SectionDefinition { insert, max_connections, max_atomic_batch, .. } = definition;
    for (key, number) in [("max_connections", max_connections), ("max_atomic_batch", max_atomic_batch)] {
        if *number == Some(0) {
            return Err(section.error(&[key], "is 1 at least"));
        }
    }
    let names = template::placeholders(&insert.row)
        .map_err(|problem| section.error(&["insert", "row"], problem.to_string()))?;
    if let Some((_, name)) = names.iter().find(|(_, name)| !ROW_PLACEHOLDERS.contains(name)) {
        let message =
            format!("`{{{{{name}}}}}` has no value in a row; there is {}", ROW_PLACEHOLDERS.join(", "));
        return Err(section.error(&["insert", "row"], message));
    }
    let is_one_by_one = insert.transfer == BatchTransfer::Each;
    if is_one_by_one != insert.row.is_empty() {
        let message = if is_one_by_one {
            "is of no use where documents are inserted one by one"
        } else {
            "is missing: it is the text of one document"
        };
        return Err(section.error(&["insert", "row"], message));
    }
    Ok(())
}

/// Values of the sections that apply after all overrides, with those of analytics.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MixedSection {
    analytics: AnalyticsSection,
    snapshot: bool,
    visible: Visibility,
    max_atomic_batch: Option<u32>,
    writers_take_turns: bool,
    max_connections: Option<u32>,
    seen: SeenDefinition,
    insert: InsertDefinition,
}

/// Setup of the mixed workload on one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct MixedSetup {
    /// How the base is loaded into the system.
    pub load: LoadMode,
    /// Files and folders of logs, below a session's folder. A name that ends in `*` stands for all names with
    /// this prefix.
    pub logs: Vec<String>,
    /// Traits, beyond the standard ones, that make a document a suspect.
    pub suspects: Vec<String>,
    /// Rules per question (`q1` …) as in analytics; questions without rules are missing.
    pub questions: BTreeMap<String, QuestionRules>,
    /// Whether one statement sees one snapshot. Otherwise answers are of no single moment, and only bounded.
    pub snapshot: bool,
    /// When questions see an acknowledged document.
    pub visible: Visibility,
    /// Largest number of documents in a batch that becomes visible as a whole. `None` if any does.
    pub max_atomic_batch: Option<u32>,
    /// Whether the writers of an embedded engine write one at a time, in the order in which they come, by a
    /// lock of jsonathlon's.
    pub writers_take_turns: bool,
    /// Maximum number of connections at a time, of writers and streams together. `None` if this kind of
    /// engine has no limit.
    pub max_connections: Option<u32>,
    /// Statement files by name (`create`, `q1`, `own_prefix` …).
    pub files: BTreeMap<String, StatementFile>,
    protocol: String,
    seen: SeenDefinition,
    insert: InsertDefinition,
}

impl MixedSetup {
    /// Builds the setup from that of any workload. `None` if `setup` belongs to another workload.
    pub(crate) fn from_setup(setup: &WorkloadSetup, protocol: &str) -> Option<Self> {
        let Section::Mixed(section) = setup.section.clone() else { return None };
        let AnalyticsSection { suspects, questions } = section.analytics;
        Some(Self {
            load: setup.load,
            logs: setup.logs.clone(),
            suspects,
            questions,
            snapshot: section.snapshot,
            visible: section.visible,
            max_atomic_batch: section.max_atomic_batch,
            writers_take_turns: section.writers_take_turns,
            max_connections: section.max_connections,
            files: setup.files.clone(),
            protocol: protocol.to_owned(),
            seen: section.seen,
            insert: section.insert,
        })
    }

    /// Returns the statements of a file, in order. Empty if an optional file is missing or holds only
    /// comments.
    pub fn statements(&self, name: &str) -> &[String] {
        super::statements(&self.files, name)
    }

    /// Returns the statement of a file that holds exactly one, such as `q1` or `own_prefix`. `None` for other
    /// files.
    pub fn statement(&self, name: &str) -> Option<&str> {
        super::statement(&self.files, name)
    }

    /// Returns how a question over `table` is asked together with what it sees of each writer.
    ///
    /// # Errors
    /// If a statement has a placeholder that only another workload fills.
    pub fn seen_form(&self, table: &str) -> Result<SeenForm, PlaceholderError> {
        let fill = |text: &str| template::fill_known(text, &[("table", table)]);
        let statements = self.statements(QUESTION);
        let is_json = self.files.get(QUESTION).is_some_and(|file| file.kind == StatementKind::Json);
        let wrapper = if is_json {
            let additions = statements.iter().map(|addition| fill(addition));
            SeenWrapper::Additions(additions.collect::<Result<_, _>>()?)
        } else {
            let seen = fill(self.statement(SEEN).unwrap_or_default())?;
            let text = self.statement(QUESTION).unwrap_or_default();
            SeenWrapper::Text(template::fill_known(text, &[("table", table), (SEEN, &seen)])?)
        };
        let SeenDefinition { separator, writer, documents, highest } = self.seen.clone();
        Ok(SeenForm {
            wrapper,
            range: fill(self.statement(RANGE).unwrap_or_default())?,
            range_separator: separator,
            places: SeenPlaces { writer, documents, highest },
        })
    }

    /// Returns how a batch of documents is inserted into `table`.
    ///
    /// # Errors
    /// If a statement has a placeholder without a value.
    pub fn batch_form(&self, table: &str) -> Result<BatchForm, PlaceholderError> {
        let kind = self.files.get(INSERT).map_or(StatementKind::Sql, |file| file.kind);
        let statements = self.statements(INSERT).iter();
        let InsertDefinition { transfer, row, separator, start, end, escapes, undo, idempotent } =
            self.insert.clone();
        Ok(BatchForm {
            transfer,
            statements: statements
                .map(|text| self.batch_statement(text, table, kind))
                .collect::<Result<_, _>>()?,
            rows: BatchRows { row, separator, start, end, escapes },
            undo,
            is_idempotent: idempotent,
        })
    }

    /// Replaces the placeholders of a statement by the protocol's markers of parameters. Rows that stand in
    /// the text keep their placeholder.
    fn batch_statement(
        &self,
        text: &str,
        table: &str,
        kind: StatementKind,
    ) -> Result<BatchStatement, PlaceholderError> {
        let mut parameters = Vec::new();
        let text = template::replace(text, |name| {
            let parameter = match name {
                "table" => return Replacement::Text(table.to_owned()),
                "rows" if self.insert.transfer == BatchTransfer::Inline => return Replacement::Keep,
                "rows" if kind == StatementKind::Json => BatchParameter::JsonRows,
                "rows" => BatchParameter::Rows,
                "writer" => BatchParameter::Writer,
                "sequence" => BatchParameter::Sequence,
                "first" => BatchParameter::First,
                "end" => BatchParameter::End,
                "document" => BatchParameter::Document,
                _ => return Replacement::None,
            };
            parameters.push(parameter);
            Replacement::Text(parameter_marker(&self.protocol, parameters.len()))
        })?;
        Ok(BatchStatement { text, parameters })
    }
}
