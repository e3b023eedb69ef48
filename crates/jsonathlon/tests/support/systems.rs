//! Folders of scripted mock systems.

use std::path::Path;

use serde_json::Value;

/// A system's folder before it is written.
#[derive(Clone)]
pub(crate) struct System {
    pub(crate) name: String,
    script: Value,
    by_file: bool,
    /// Lines of the source of its library. `None` if it is part of the program.
    source: Option<String>,
    /// Additional lines of the analytics section.
    analytics: String,
    /// Lines of the serving section. `None` if it does not support the workload.
    serving: Option<String>,
    /// Whether its serving statements name the paths of users' documents.
    names_paths: bool,
    /// Lines of the documents section. `None` if it does not support the workload.
    documents: Option<String>,
    /// Whether it supports users' own questions.
    questions: bool,
    /// Lines of the fidelity section. `None` if it does not support the workload.
    fidelity: Option<String>,
    /// First lines of the mixed section. `None` if it does not support the workload.
    mixed: Option<String>,
}

/// A system that loads by row and behaves as the script says.
pub(crate) fn mock(name: &str, script: Value) -> System {
    System {
        name: name.to_owned(),
        script,
        by_file: false,
        source: None,
        analytics: String::new(),
        serving: None,
        names_paths: false,
        documents: None,
        questions: false,
        fidelity: None,
        mixed: None,
    }
}

/// Statements of the mock for serving operations.
const OPERATIONS: [(&str, &str); 6] = [
    ("read", "kv_read {{key}}"),
    ("update", "kv_update {{key}} {{value}}"),
    ("insert", "kv_insert {{key}} {{document}}"),
    ("delete", "kv_delete {{key}}"),
    ("scan", "kv_scan {{key}} {{limit}}"),
    ("read_modify_write", "kv_read {{key}};\nkv_swap {{key}} {{old}} {{value}}"),
];

/// Statements of the mock for serving a user's documents, whose updated path is not that of generated ones.
const DOCUMENT_OPERATIONS: [(&str, &str); 4] = [
    ("update", "kv_update {{key}} {{value}} at \"{{pointer}}\""),
    ("update_path", "kv_update {{key}} {{value}} at \"{{pointer}}\""),
    ("read_modify_write", "kv_read {{key}};\nkv_swap {{key}} {{old}} {{value}} at \"{{pointer}}\""),
    ("read_paths", "kv_paths {{key}} at {{paths}}"),
];

/// Lines of the serving section of a mock that names any paths.
const DOCUMENT_NOTATION: &str = r#"
[serving.names.pointer]
member = "/{{key}}"
key = [['~', '~0'], ['/', '~1'], ['\', '\\'], ['"', '\"']]
control = '\u00{{hex}}'

[serving.operations.read_paths]
path = '"{{pointer}}"'
"#;

/// Statements of the mock for the tests of large documents.
const DOCUMENTS: [(&str, &str); 15] = [
    ("create", "doc_create {{table}}"),
    ("load", "doc_load {{table}} :key :doc"),
    ("drop", "doc_drop {{table}}"),
    ("count", "doc_count {{table}}"),
    ("sizes", "doc_sizes {{table}}"),
    ("plan", "plan {{statement}}"),
    ("drain", "doc_settle {{table}}"),
    ("export", "doc_export {{table}}"),
    ("copy", "doc_copy {{table}} {{copy}}"),
    ("extract", "doc_extract {{table}}"),
    ("filter", "doc_filter {{table}}"),
    ("order", "doc_order {{table}}"),
    ("read", "doc_read {{table}} {{key}}"),
    ("version", "doc_set {{table}} {{key}} l {{value}}"),
    ("update_path", "doc_set {{table}} {{key}} {{dotted}} {{value}}"),
];

/// Statements of the mock for storing and reading one document.
const FIDELITY: [(&str, &str); 7] = [
    ("create", "one_create {{table}}"),
    ("load", "one_load {{table}} :doc"),
    ("insert", "one_put {{table}} {{document}}"),
    ("read", "one_read {{table}}"),
    ("read_hex", "one_hex {{table}}"),
    ("value", "one_value {{table}} {{member}}"),
    ("drop", "one_drop {{table}}"),
];

/// Statements of the mock for inserting documents while questions are asked.
const MIXED: [(&str, &str); 4] = [
    ("insert", "mix_insert {{table}} {{rows}}"),
    ("own_prefix", "mix_own {{table}} {{writer}}"),
    ("question", "mix_ask {{ranges}} : {{question}}"),
    ("range", "{{writer}} {{floor}}"),
];

/// Lines of the mixed section of every mock.
const MIXED_LINES: &str = r#"
[mixed.seen]
separator = ","

[mixed.insert]
transfer = "inline"
row = "{{writer}} {{sequence}} {{document}}\n"
start = "\n"

[mixed.durability.synced]
process_crash = "nothing"
power_loss = "nothing"
"#;

impl System {
    /// Adds support for inserting documents while questions are asked.
    pub(crate) fn mixed(self) -> Self {
        self.mixed_with("snapshot = true\nvisible = \"commit\"")
    }

    /// Adds support for inserting documents while questions are asked; `lines` come first in its section.
    pub(crate) fn mixed_with(mut self, lines: &str) -> Self {
        self.mixed = Some(format!("\n[mixed]\n{lines}\n{MIXED_LINES}"));
        self
    }

    /// Adds support for fidelity; `more` is appended to its section.
    pub(crate) fn fidelity(mut self, more: &str) -> Self {
        self.fidelity = Some(more.to_owned());
        self
    }

    /// Adds support for large documents; `more` is appended to its section.
    pub(crate) fn documents(mut self, more: &str) -> Self {
        self.documents = Some(more.to_owned());
        self
    }

    /// Adds support for users' own questions.
    pub(crate) fn questions(mut self) -> Self {
        self.questions = true;
        self
    }

    /// Adds support for serving.
    pub(crate) fn serving(mut self) -> Self {
        self.serving = Some(String::new());
        self
    }

    /// Adds support for serving users' documents with members of any names; `lines` come first in its section.
    pub(crate) fn serving_documents(mut self, lines: &str) -> Self {
        self.serving = Some(format!("{lines}\n{DOCUMENT_NOTATION}"));
        self.names_paths = true;
        self
    }

    /// Adds support for serving users' documents whose updated path has plain names.
    pub(crate) fn serving_documents_of_plain_names(mut self) -> Self {
        self.serving = Some("[serving.operations.read_paths]\npath = '\"{{pointer}}\"'\n".to_owned());
        self.names_paths = true;
        self
    }

    /// Adds support for serving, with additional lines in its section.
    pub(crate) fn serving_with(mut self, lines: &str) -> Self {
        self.serving = Some(lines.to_owned());
        self
    }

    /// Switches to loading whole files.
    pub(crate) fn by_file(mut self) -> Self {
        self.by_file = true;
        self
    }

    /// Declares columns of a question as approximate.
    pub(crate) fn approximate(mut self, question: &str, columns: &[usize]) -> Self {
        self.analytics += &format!("[analytics.questions.{question}]\napproximate = {columns:?}\n");
        self
    }

    /// Requires a text in the plan of a question.
    pub(crate) fn plan(mut self, question: &str, expect: &str) -> Self {
        self.analytics += &format!("[analytics.questions.{question}]\nexpect = ['{expect}']\n");
        self
    }

    /// Makes the system an artifact that must be downloaded from this `[[artifact.source]]`.
    pub(crate) fn from(mut self, source: &str) -> Self {
        self.source = Some(source.to_owned());
        self
    }

    /// Writes the system's folder below `systems`.
    pub(crate) fn write(&self, systems: &Path) {
        let folder = systems.join(&self.name);
        let statements = folder.join("analytics");
        std::fs::create_dir_all(&statements).unwrap();
        std::fs::write(folder.join("system.toml"), self.definition()).unwrap();
        let load = if self.by_file { "load {{table}} < {{file}}" } else { "load {{table}} :doc" };
        for (name, text) in [
            ("create", "create {{table}}"),
            ("load", load),
            ("drain", "drain"),
            ("drained", "drained"),
            ("compact", "compact"),
            ("count", "count {{table}}"),
            ("sizes", "sizes {{table}}"),
            ("plan", "plan {{statement}}"),
            ("read_back", "read_back {{keys}}"),
            ("drop", "drop {{table}}"),
        ] {
            std::fs::write(statements.join(format!("{name}.sql")), format!("{text};\n")).unwrap();
        }
        if self.serving.is_some() {
            let serving = folder.join("serving");
            std::fs::create_dir_all(&serving).unwrap();
            let shared = ["create", "load", "drain", "drained", "count", "sizes", "plan", "drop"];
            for name in shared {
                let file = format!("{name}.sql");
                std::fs::copy(statements.join(&file), serving.join(&file)).unwrap();
            }
            let more = if self.names_paths { &DOCUMENT_OPERATIONS[..] } else { &[] };
            for (name, text) in OPERATIONS.iter().chain(more) {
                std::fs::write(serving.join(format!("{name}.sql")), format!("{text};\n")).unwrap();
            }
        }
        if self.questions {
            let questions = folder.join("questions");
            std::fs::create_dir_all(&questions).unwrap();
            for name in ["create", "load", "drain", "drained", "compact", "count", "sizes", "plan", "drop"] {
                let file = format!("{name}.sql");
                std::fs::copy(statements.join(&file), questions.join(&file)).unwrap();
            }
        }
        if let Some(more) = &self.documents {
            let documents = folder.join("documents");
            std::fs::create_dir_all(&documents).unwrap();
            // Statements that the system declares as missing have no file.
            let has = |name: &str| !more.contains(&format!("not.{name} ="));
            for (name, text) in DOCUMENTS.iter().filter(|(name, _)| has(name)) {
                std::fs::write(documents.join(format!("{name}.sql")), format!("{text};\n")).unwrap();
            }
        }
        if self.fidelity.is_some() {
            let fidelity = folder.join("fidelity");
            std::fs::create_dir_all(&fidelity).unwrap();
            for (name, text) in FIDELITY {
                std::fs::write(fidelity.join(format!("{name}.sql")), format!("{text};\n")).unwrap();
            }
        }
        if self.mixed.is_some() {
            let mixed = folder.join("mixed");
            std::fs::create_dir_all(&mixed).unwrap();
            for (name, text) in MIXED {
                std::fs::write(mixed.join(format!("{name}.sql")), format!("{text};\n")).unwrap();
            }
        }
        for question in super::QUESTIONS {
            std::fs::write(statements.join(format!("{question}.sql")), format!("{question};\n")).unwrap();
        }
    }

    fn definition(&self) -> String {
        let Self { name, analytics, .. } = self;
        let serving = self.serving.as_ref().map_or_else(String::new, |more| {
            format!(
                r#"
[serving]
load = "rows"
key_types = {{ text = "text", bigint = "bigint" }}
{more}
[serving.durability.synced]
process_crash = "nothing"
power_loss = "nothing"

[variants.served]
title = "records"
workloads = ["serving"]
default = true
"#
            )
        });
        let documents = self.documents.as_ref().map_or_else(String::new, |more| {
            format!(
                r#"
[variants.whole]
title = "documents as they are"
workloads = ["documents"]
default = true

[documents]
load = "rows"
{more}
"#
            )
        });
        let questions = if self.questions {
            r#"
[variants.own]
title = "documents as they are"
workloads = ["questions"]
default = true

[questions]
load = "rows"
"#
        } else {
            ""
        };
        let fidelity = self.fidelity.as_ref().map_or_else(String::new, |more| {
            format!(
                r#"
[variants.alone]
title = "one document"
workloads = ["fidelity"]
default = true

[fidelity]
load = "rows"
{more}
"#
            )
        });
        let mixed = self.mixed.as_deref().unwrap_or_default();
        // A JSON string is also a valid TOML string.
        let script = Value::from(self.script.to_string());
        let load = if self.by_file { "file" } else { "rows" };
        let (files, source) = match &self.source {
            Some(source) => ("files = { library = \"package/lib.so\" }", source.as_str()),
            None => ("", "kind = \"bundled\""),
        };
        format!(
            r#"name = "{name}"
title = "The system {name}"
summary = "Does what a script says."
protocol = "mock"
default_version = "1.0"
licence = "Apache-2.0"
embedded = true

[[artifact]]
version = "1.0"
reports = "mock 1.0"
platform = "any"
{files}

[[artifact.source]]
{source}

[open]
settings = {{ script = {script} }}

[variants.plain]
title = "as it comes"
preparation = "as-is"
default = true

[analytics]
load = "{load}"
{analytics}{mixed}{serving}{documents}{questions}{fidelity}"#
        )
    }
}
