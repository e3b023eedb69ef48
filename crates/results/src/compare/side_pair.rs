//! Selects two sides of one run for a comparison.

use jsonathlon_schema::id::ConfigurationId;
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::ranking::MemoryProfile;

use crate::ResultsError;

/// Two sides of one run, as the user named them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SidePair {
    a: SideSelector,
    b: SideSelector,
}

/// Selection of configurations by name: `SYSTEM[@VERSION][/VARIANT[/STORAGE[/PROFILE]]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SideSelector {
    text: String,
    system: String,
    version: Option<String>,
    variant: Option<String>,
    storage: Option<String>,
    profile: Option<String>,
}

impl SidePair {
    /// Parses two names separated by a comma, `A,B`.
    ///
    /// # Errors
    /// [`ResultsError::Incomparable`] if the text is not two different names.
    pub fn parse(text: &str) -> Result<Self, ResultsError> {
        let error = |why: &str| {
            ResultsError::Incomparable(format!(
                "--between {text}: {why}; name two sides of the run, A and B, such as `duckdb#1,duckdb#2`, \
                 `mongodb@6.0.5,mongodb@6.0.27` or `sqlite/text,sqlite/indexed`"
            ))
        };
        let sides: Vec<&str> = text.split(',').map(str::trim).collect();
        let [a, b] = sides.as_slice() else { return Err(error("not two names separated by a comma")) };
        if a == b {
            return Err(error("both sides are the same"));
        }
        let parse_side =
            |text: &str| SideSelector::parse(text).ok_or_else(|| error(&format!("{text:?} is not a name")));
        Ok(Self { a: parse_side(a)?, b: parse_side(b)? })
    }

    /// Name of side A as the user gave it.
    #[must_use]
    pub fn a(&self) -> &str {
        &self.a.text
    }

    /// Name of side B as the user gave it.
    #[must_use]
    pub fn b(&self) -> &str {
        &self.b.text
    }

    /// Selects the configurations of both sides and matches those of A with those of B.
    pub(super) fn sides<'a>(&self, configurations: &'a [Configuration]) -> Result<Sides<'a>, ResultsError> {
        let (a, b) = (self.a.select(configurations)?, self.b.select(configurations)?);
        if let Some(shared) = a.iter().find(|configuration| b.contains(configuration)) {
            return Err(ResultsError::Incomparable(format!(
                "{} and {} both mean {}: a side of a comparison cannot stand on both of them",
                self.a.text,
                self.b.text,
                name(shared)
            )));
        }
        let pairs = match (a.as_slice(), b.as_slice()) {
            // Two single configurations are compared even if nothing else matches.
            ([a], [b]) => vec![[*a, *b]],
            _ => self.pairs(&a, &b)?,
        };
        if pairs.is_empty() {
            return Err(ResultsError::Incomparable(format!(
                "{} and {} have no configuration in common; the first is {}, the second {}. Two that are not \
                 called the same go together when each side names a single one",
                self.a.text,
                self.b.text,
                names(&a),
                names(&b)
            )));
        }
        Ok(Sides { a, b, pairs })
    }

    fn pairs<'a>(
        &self,
        a: &[&'a Configuration],
        b: &[&'a Configuration],
    ) -> Result<Vec<[&'a Configuration; 2]>, ResultsError> {
        let mut pairs = Vec::new();
        for configuration in a {
            let alike = |configurations: &[&'a Configuration]| -> Vec<&'a Configuration> {
                configurations.iter().copied().filter(|other| self.are_alike(configuration, other)).collect()
            };
            let (alike_a, alike_b) = (alike(a), alike(b));
            match (alike_a.as_slice(), alike_b.as_slice()) {
                (_, []) => {}
                ([_], [counterpart]) => pairs.push([*configuration, *counterpart]),
                ([_], _) => return Err(ambiguous(&self.b.text, &alike_b)),
                _ => return Err(ambiguous(&self.a.text, &alike_a)),
            }
        }
        Ok(pairs)
    }

    /// Returns `true` if the configurations are equal in everything that is not stated by both names.
    fn are_alike(&self, a: &Configuration, b: &Configuration) -> bool {
        let (selector_a, selector_b) = (&self.a, &self.b);
        let both_name_variant = selector_a.variant.is_some() && selector_b.variant.is_some();
        let both_name_storage = selector_a.storage.is_some() && selector_b.storage.is_some();
        let both_name_profile = selector_a.profile.is_some() && selector_b.profile.is_some();
        (both_name_variant || (a.id.variant == b.id.variant && a.preparation == b.preparation))
            && (both_name_storage || a.id.storage == b.id.storage)
            && (both_name_profile || a.profile == b.profile)
    }
}

fn ambiguous(text: &str, candidates: &[&Configuration]) -> ResultsError {
    ResultsError::Incomparable(format!(
        "{text} leaves open which is meant: {}; add a version, a variant or a storage setting",
        names(candidates)
    ))
}

/// Configurations of both sides, and the pairs that are compared.
pub(super) struct Sides<'a> {
    pub(super) a: Vec<&'a Configuration>,
    pub(super) b: Vec<&'a Configuration>,
    pub(super) pairs: Vec<[&'a Configuration; 2]>,
}

impl SideSelector {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let first = parts.next()?;
        let (system, version) = match first.split_once('@') {
            Some((system, version)) => (system, Some(version.to_owned())),
            None => (first, None),
        };
        let rest: Vec<String> = parts.map(str::to_owned).collect();
        let is_empty =
            system.is_empty() || version.as_deref() == Some("") || rest.iter().any(String::is_empty);
        (!is_empty && rest.len() <= 3).then(|| Self {
            text: text.to_owned(),
            system: system.to_owned(),
            version,
            variant: rest.first().cloned(),
            storage: rest.get(1).cloned(),
            profile: rest.get(2).cloned(),
        })
    }

    fn select<'a>(
        &self,
        configurations: &'a [Configuration],
    ) -> Result<Vec<&'a Configuration>, ResultsError> {
        let is_match = |requested: &Option<String>, value: &str| {
            requested.as_deref().is_none_or(|requested| requested == value)
        };
        let selected: Vec<&Configuration> = configurations
            .iter()
            .filter(|configuration| {
                let ConfigurationId { system, version, variant, storage } = &configuration.id;
                *system == self.system
                    && is_match(&self.version, version)
                    && is_match(&self.variant, variant)
                    && is_match(&self.storage, storage)
                    && is_match(&self.profile, configuration.profile.map_or("", MemoryProfile::word))
            })
            .collect();
        if selected.is_empty() {
            return Err(ResultsError::Incomparable(format!(
                "the run has no {}; it has {}",
                self.text,
                names(&configurations.iter().collect::<Vec<_>>())
            )));
        }
        Ok(selected)
    }
}

fn names(configurations: &[&Configuration]) -> String {
    configurations.iter().map(|configuration| name(configuration)).collect::<Vec<_>>().join(", ")
}

/// Full name of the configuration, as it can be requested.
fn name(configuration: &Configuration) -> String {
    let ConfigurationId { system, version, variant, storage } = &configuration.id;
    let mut name = format!("{system}@{version}/{variant}/{storage}");
    if let Some(profile) = configuration.profile {
        name.push('/');
        name.push_str(profile.word());
    }
    name
}
