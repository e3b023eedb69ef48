//! `[address]` of `system.toml`: how a run works on a remote server.

use serde::Serialize;

use crate::{
    definition::{AddressDefinition, Definition},
    error::CatalogueError,
    locate::TomlText,
    template,
};

/// Name of the folder with statement files that apply to remote servers only.
pub(crate) const BY_ADDRESS: &str = "address";

/// The only placeholder that statements of `[address]` may hold.
const DATABASE: &str = "database";

/// How a run works on a remote server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RemoteSetup {
    /// User of the sessions, if the address names none.
    pub user: String,
    /// Database from which the run's own one is created, if the address names none.
    pub database: String,
    /// Statements that create the run's own database, `{{database}}`.
    pub create: Vec<String>,
    /// Statements that remove the run's own database, whether it exists or not.
    pub drop: Vec<String>,
    /// Statement whose rows are statements that end what the run's own sessions still execute. `None` if not
    /// needed.
    #[serde(rename = "end")]
    pub end_query: Option<String>,
    /// Whether sessions use a database of the run's own. Otherwise the names of tables begin with the run's
    /// name.
    pub own_database: bool,
}

/// Validates and converts the table. `None` if the folder has none.
pub(crate) fn by_address(
    definition: &Definition,
    text: &TomlText,
) -> Result<Option<RemoteSetup>, CatalogueError> {
    let Some(address) = &definition.address else { return Ok(None) };
    let end: Vec<String> = address.end.clone().into_iter().collect();
    for (key, statements) in [("create", &address.create), ("drop", &address.drop), ("end", &end)] {
        for (index, statement) in statements.iter().enumerate() {
            let index = index.to_string();
            let error = |message: String| text.error(&["address", key, &index], message);
            let names = template::placeholders(statement).map_err(|problem| error(problem.to_string()))?;
            if let Some((_, name)) = names.iter().find(|(_, name)| *name != DATABASE) {
                return Err(error(format!("`{{{{{name}}}}}` has no value here: there is {{{{database}}}}")));
            }
        }
    }
    if address.drop.is_empty() {
        let message = "is empty: a run leaves nothing behind on a server that is not its own";
        return Err(text.error(&["address", "drop"], message));
    }
    if definition.variants.contains_key(BY_ADDRESS) {
        let message = "its folder would be that of the files by address: choose another name";
        return Err(text.error(&["variants", BY_ADDRESS], message));
    }
    if let Some(unknown) =
        address.variants.iter().find(|variant| !definition.variants.contains_key(variant.as_str()))
    {
        return Err(text.error(&["address", "variants"], format!("there is no variant `{unknown}`")));
    }
    let AddressDefinition { user, database, create, drop, end, prefix, .. } = address.clone();
    Ok(Some(RemoteSetup { user, database, create, drop, end_query: end, own_database: !prefix }))
}
