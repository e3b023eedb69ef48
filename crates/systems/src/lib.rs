//! Catalogue of systems, and installation of their artifacts from registries.
//!
//! [`Catalogue`] reads the folders that describe systems, built in and from `--systems-dir`. It turns a
//! system, version, variant and storage setting into a [`Configuration`], whose statements have every value
//! in place. [`Store`] fetches artifacts through the registries' own clients, verifies them and keeps them in
//! the user's cache. No code here depends on a particular system or interprets statements. It only knows
//! which statement files a workload requires.

pub mod artifact;
pub mod artifacts;
pub mod bytes;
pub mod catalogue;
mod status;

pub use artifact::{Artifact, DebianPackage, Installed, Source, SourceKind};
pub use artifacts::{ArtifactError, Checked, Closure, Presence, Progress, Step, Store};
pub use catalogue::{
    ANALYTICS, Analytics, Ask, ByAddress, Catalogue, CatalogueError, Configuration, DOCUMENTS, Documents,
    Durability, Exception, Expected, Extracted, FIDELITY, Fidelity, FirstAsked, Index, Judged, Kind,
    KnownPath, Largest, LoadMode, MemorySetting, NotAsked, Open, Operation, OperationRules, OwnQuestion,
    OwnQuestions, Part, PathStep, Preparation, Profile, Properties, Provenance, QUESTIONS, QuestionRules,
    Remedy, SERVING, Said, Section, Selected, Serving, StatementFile, StatementKind, StatementRule, Storage,
    System, Tier, Variant, WorkloadRules, path_values, question_file,
};
pub use jsonathlon_servers::{Recipe, Transport};
pub use status::{SystemStatus, statuses};
