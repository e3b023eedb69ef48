//! Kinds, collections and users of Bluesky (Jetstream) events.

use std::collections::BTreeMap;

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

use crate::questions::{COMMIT, CREATE};
use crate::reference::{User, Users};
use crate::scan::Event;

/// Name that stands for all names beyond the limit.
const OTHERS: &str = "(others)";

/// What is counted of documents that are events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventProfile {
    /// Earliest `time_us`: microseconds since 1970, UTC. `None` if no document has one.
    pub first_us: Option<i64>,
    /// Latest `time_us`: microseconds since 1970, UTC. `None` if no document has one.
    pub last_us: Option<i64>,
    /// Number of distinct `did` in documents that are JSON objects.
    pub users: u64,
    /// JSON objects by `kind`, the most frequent first.
    pub kinds: Vec<KindProfile>,
    /// JSON objects by `commit.collection`, the most frequent first.
    pub collections: Vec<CollectionProfile>,
}

/// Events of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindProfile {
    /// Value of `kind`. `None` if it is absent or not a string.
    pub kind: Option<String>,
    /// Number of events of this kind.
    pub documents: u64,
}

/// Events of one collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionProfile {
    /// Value of `commit.collection`. `None` if it is absent or not a string.
    pub collection: Option<String>,
    /// Number of events of this collection.
    pub documents: u64,
    /// Number of events by `commit.operation`; events without an operation are not counted.
    pub operations: BTreeMap<String, u64>,
    /// Number of distinct `did` among the commits that create a record.
    pub users_of_creates: u64,
}

#[derive(Debug, Default)]
struct Collection {
    documents: u64,
    operations: BTreeMap<String, u64>,
    creators: HashSet<User, FixedState>,
}

/// An [`EventProfile`] under construction.
#[derive(Debug)]
pub(super) struct EventTally {
    max_names: usize,
    /// Number of documents with `did`, `time_us` and `kind`.
    events: u64,
    times: Option<(i64, i64)>,
    users: Users,
    distinct_users: HashSet<User, FixedState>,
    kinds: HashMap<Option<Box<str>>, u64, FixedState>,
    collections: HashMap<Option<Box<str>>, Collection, FixedState>,
}

impl EventTally {
    pub(super) fn new(max_names: usize) -> Self {
        EventTally {
            max_names,
            events: 0,
            times: None,
            users: Users::default(),
            distinct_users: HashSet::default(),
            kinds: HashMap::default(),
            collections: HashMap::default(),
        }
    }

    pub(super) fn observe(&mut self, event: &Event<'_>) {
        let is_event = event.did.is_some() && event.time_us.is_some() && event.kind.is_some();
        self.events += u64::from(is_event);
        if let Some(time) = event.time_us {
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
        }
        let user = self.users.user(event.did.as_deref());
        if user != User::NOBODY {
            self.distinct_users.insert(user);
        }
        *entry(&mut self.kinds, event.kind.as_deref(), self.max_names) += 1;
        let collection = entry(&mut self.collections, event.collection.as_deref(), self.max_names);
        collection.documents += 1;
        let Some(operation) = event.operation.as_deref() else {
            return;
        };
        match collection.operations.get_mut(operation) {
            Some(count) => *count += 1,
            None => {
                let is_full = collection.operations.len() >= self.max_names;
                *collection
                    .operations
                    .entry(if is_full { OTHERS } else { operation }.to_string())
                    .or_default() += 1;
            }
        }
        if event.kind.as_deref() == Some(COMMIT) && operation == CREATE && user != User::NOBODY {
            collection.creators.insert(user);
        }
    }

    /// Returns the profile of the events. `None` if fewer than half of `documents` are events: questions about
    /// events are refused for such documents, too.
    pub(super) fn finish(self, documents: u64) -> Option<EventProfile> {
        if self.events == 0 || 2 * self.events < documents {
            return None;
        }
        let mut kinds: Vec<_> = self.kinds.into_iter().collect();
        kinds.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let mut collections: Vec<_> = self.collections.into_iter().collect();
        collections.sort_unstable_by(|a, b| b.1.documents.cmp(&a.1.documents).then_with(|| a.0.cmp(&b.0)));
        let kind = |(kind, documents): (Option<Box<str>>, u64)| KindProfile {
            kind: kind.map(String::from),
            documents,
        };
        let collection = |(collection, counts): (Option<Box<str>>, Collection)| CollectionProfile {
            collection: collection.map(String::from),
            documents: counts.documents,
            operations: counts.operations,
            users_of_creates: counts.creators.len() as u64,
        };
        Some(EventProfile {
            first_us: self.times.map(|(first, _)| first),
            last_us: self.times.map(|(_, last)| last),
            users: self.distinct_users.len() as u64,
            kinds: kinds.into_iter().map(kind).collect(),
            collections: collections.into_iter().map(collection).collect(),
        })
    }
}

/// Returns the entry of a name, or that of all further names if the map has `limit` entries.
fn entry<'m, T: Default>(
    map: &'m mut HashMap<Option<Box<str>>, T, FixedState>,
    name: Option<&str>,
    limit: usize,
) -> &'m mut T {
    let key = match name {
        Some(name) if map.len() >= limit && !map.contains_key(&Some(Box::from(name))) => Some(OTHERS),
        name => name,
    };
    map.entry(key.map(Box::from)).or_default()
}
