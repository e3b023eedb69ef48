//! What a user needs of a system, as a needs file states it.

mod need;
mod parse;
mod quantity;
mod section;
mod template;

use std::path::PathBuf;

use crate::dimension::Dimension;

pub use need::{Criterion, Need, Quantile, RoundTripLevel, SizeAt, WantedKind};
pub use section::NeedsError;
pub use template::{DocumentsOverview, ProposedPath, template};

/// Everything that a needs file states. Without a file, [`NeedsFile::default`]: no load, no reports, no needs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NeedsFile {
    /// Which documents there are, and how many there will be.
    pub documents: DocumentsSection,
    /// Operations on single documents. `None` if the file has no such section.
    pub load: Option<LoadSection>,
    /// The user's own questions. `None` if the file has no such section.
    pub reports: Option<ReportsSection>,
    /// Needs in the order of [`Dimension::ALL`], at most one for each. A rate of `load` is among them.
    pub needs: Vec<Need>,
    /// Criteria among systems that meet all needs, the first one first. Empty if the file states none.
    pub prefer: Vec<Criterion>,
}

/// Section `[documents]`: numbers of documents and their key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentsSection {
    /// Number of documents of today. `None` if it is that of the user's data.
    pub now: Option<u64>,
    /// Number of documents expected later. `None` if not stated.
    pub later: Option<u64>,
    /// JSON pointer of the key, or `line` for the number of a document. `None` if it is to be proposed.
    pub key: Option<String>,
}

/// Section `[load]`: what clients do. The four shares add up to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadSection {
    /// Share of operations that read a document by its key.
    pub reads: f64,
    /// Share of operations that set a value of a document.
    pub updates: f64,
    /// Share of operations that insert a document.
    pub inserts: f64,
    /// Share of operations that read several documents in the order of their keys.
    pub scans: f64,
    /// JSON pointer of the value that updates set. `None` if it is to be proposed.
    pub update: Option<String>,
    /// Number of clients, at least 1.
    pub clients: u32,
    /// Operations per second that must be held. `None` if the rate is derived from what systems reach.
    pub rate: Option<f64>,
}

/// Section `[reports]`: questions over all documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportsSection {
    /// Folder of the questions, as written in the file. `None` if they are to be proposed.
    pub questions: Option<PathBuf>,
    /// Number of streams that ask questions at the same time, at least 1.
    pub streams: u32,
}

impl NeedsFile {
    /// Need of a dimension. `None` if the file states none.
    #[must_use]
    pub fn need(&self, dimension: Dimension) -> Option<&Need> {
        self.needs.iter().find(|need| need.dimension() == dimension)
    }

    /// Highest quantile of response times that is limited or preferred; p99 if the file says nothing of them, because
    /// systems are compared by it.
    #[must_use]
    pub fn highest_quantile(&self) -> Quantile {
        let needed = self.needs.iter().filter_map(|need| match need {
            Need::Response { quantile, .. } => Some(*quantile),
            _ => None,
        });
        let preferred = self.prefer.iter().filter_map(|criterion| match criterion {
            Criterion::Response(quantile) => Some(*quantile),
            _ => None,
        });
        needed.chain(preferred).max().unwrap_or(Quantile::P99)
    }
}
