//! Which systems there are, and where their programs come from.
//!
//! [`Catalogue`] reads the folders that describe systems (built in, and those
//! of `--systems-dir`) and turns one of them, at a version, in a variant and
//! with a storage setting, into a [`Configuration`]: statements with every
//! value in place. [`Store`] fetches what a configuration needs through the
//! registries' own clients, verifies it and keeps it in the user's cache.
//!
//! Nothing in here names a system or knows what a workload does with a
//! statement; it only knows which statement files a workload asks for.

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
