//! Reasons to be careful with an outcome, in words that name the systems that they are about.

use std::collections::BTreeMap;

use super::context::Context;
use super::sentence::list;
use super::{AnswerCaveat, AnswerOutcome};

/// Caveats of an outcome, each with the configurations that it is about. A caveat about the whole run has none.
#[derive(Debug, Clone, Default)]
pub(super) struct Caveats(BTreeMap<AnswerCaveat, Vec<usize>>);

impl Caveats {
    /// Adds a caveat. If it is known, only its further configurations are added.
    pub(super) fn add(&mut self, caveat: AnswerCaveat, configurations: impl IntoIterator<Item = usize>) {
        let known = self.0.entry(caveat).or_default();
        for configuration in configurations {
            if !known.contains(&configuration) {
                known.push(configuration);
            }
        }
    }

    /// Adds all caveats of another outcome.
    pub(super) fn merge(&mut self, other: Self) {
        for (caveat, configurations) in other.0 {
            self.add(caveat, configurations);
        }
    }

    /// Caveats without the configurations that they are about.
    pub(super) fn kinds(&self) -> Vec<AnswerCaveat> {
        self.0.keys().copied().collect()
    }

    /// Words of all caveats, in the order of [`Self::kinds`].
    pub(super) fn texts(&self, context: &Context<'_>) -> Vec<String> {
        self.0.iter().map(|(caveat, configurations)| text(context, *caveat, configurations)).collect()
    }

    /// The same in as few words as a terminal has room for.
    pub(super) fn labels(&self, context: &Context<'_>) -> Vec<String> {
        self.0.iter().map(|(caveat, configurations)| label(context, *caveat, configurations)).collect()
    }
}

/// Reasons to be careful with a count, for which times do not matter.
pub(super) fn count_caveats(context: &Context<'_>, outcome: &AnswerOutcome) -> Caveats {
    let mut caveats = Caveats::default();
    let is_end_of_life =
        |index: &usize| context.configuration(*index).is_some_and(|configuration| configuration.end_of_life);
    let ended: Vec<usize> = outcome.configurations().into_iter().filter(is_end_of_life).collect();
    if !ended.is_empty() {
        caveats.add(AnswerCaveat::EndOfLife, ended);
    }
    if !context.parts.is_complete {
        caveats.add(AnswerCaveat::Partial, []);
    }
    caveats
}

/// Titles and versions of configurations, without repetitions.
fn versions(context: &Context<'_>, configurations: &[usize]) -> Vec<String> {
    let version = |index: &usize| {
        let configuration = context.configuration(*index)?;
        Some(format!("{} {}", configuration.title, configuration.id.version))
    };
    distinct(configurations.iter().filter_map(version))
}

/// A caveat in few words, with the names of the configurations that it is about.
fn label(context: &Context<'_>, caveat: AnswerCaveat, configurations: &[usize]) -> String {
    let (names, remark) = match caveat {
        AnswerCaveat::EndOfLife => (versions(context, configurations), ": end of life"),
        AnswerCaveat::Embedded => {
            let is_embedded = |index: &&usize| {
                context.configuration(**index).is_some_and(|configuration| configuration.embedded)
            };
            let embedded = configurations.iter().filter(is_embedded).map(|index| context.name(*index));
            (distinct(embedded), ": in-process")
        }
        AnswerCaveat::Approximate => {
            (distinct(configurations.iter().map(|index| context.name(*index))), ": approximate")
        }
        AnswerCaveat::OneRound
        | AnswerCaveat::FewRounds
        | AnswerCaveat::BusyMachine
        | AnswerCaveat::Partial => (Vec::new(), ""),
    };
    match names.is_empty() {
        true => caveat.label().to_owned(),
        false => format!("{}{remark}", list(&names, names.len())),
    }
}

/// Words of a caveat, with the names of the configurations that it is about.
fn text(context: &Context<'_>, caveat: AnswerCaveat, configurations: &[usize]) -> String {
    match caveat {
        AnswerCaveat::EndOfLife => match versions(context, configurations).as_slice() {
            [] => caveat.text().to_owned(),
            [only] => format!("{only} is no longer supported by its vendor"),
            several => {
                format!("{} are no longer supported by their vendors", list(several, several.len()))
            }
        },
        AnswerCaveat::Embedded => {
            let is_embedded = |index: &&usize| {
                context.configuration(**index).is_some_and(|configuration| configuration.embedded)
            };
            let (embedded, servers): (Vec<&usize>, Vec<&usize>) =
                configurations.iter().partition(is_embedded);
            let names = |some: &[&usize]| distinct(some.iter().map(|index| context.name(**index)));
            let (embedded, servers) = (names(&embedded), names(&servers));
            let embedded = match embedded.as_slice() {
                [] => return caveat.text().to_owned(),
                [only] => format!("{only} runs inside its client"),
                several => format!("{} run inside their clients", list(several, several.len())),
            };
            match servers.as_slice() {
                [] => embedded,
                [only] => format!("{embedded}, {only} is a server"),
                several => format!("{embedded}, {} are servers", list(several, several.len())),
            }
        }
        AnswerCaveat::Approximate => {
            let names = distinct(configurations.iter().map(|index| context.name(*index)));
            match names.is_empty() {
                true => caveat.text().to_owned(),
                false => format!("answers of {} are approximate", list(&names, names.len())),
            }
        }
        AnswerCaveat::OneRound
        | AnswerCaveat::FewRounds
        | AnswerCaveat::BusyMachine
        | AnswerCaveat::Partial => caveat.text().to_owned(),
    }
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}
