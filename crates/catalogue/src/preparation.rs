//! Preparation classes that a folder can state: what is configured about documents before they are loaded.

use jsonathlon_schema::ranking::PreparationClass;
use serde::Deserialize;

/// Preparation class as a folder states it. [`PreparationClass::UserDefined`] is missing: the program assigns
/// it to configurations of a user's own folder of questions, and the error about an unknown class must not
/// offer it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StatedClass {
    AsIs,
    Prepared,
    Extracted,
}

impl From<StatedClass> for PreparationClass {
    fn from(stated: StatedClass) -> Self {
        match stated {
            StatedClass::AsIs => Self::AsIs,
            StatedClass::Prepared => Self::Prepared,
            StatedClass::Extracted => Self::Extracted,
        }
    }
}
