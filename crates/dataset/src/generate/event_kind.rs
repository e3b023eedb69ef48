//! Kinds of events that the generator makes.

/// Operation of a commit on a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    Create,
    Update,
    Delete,
}

/// Collection of records that occurs in every block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Collection {
    Like,
    Follow,
    Post,
    Repost,
    Block,
    Profile,
    ListItem,
    ListBlock,
    StarterPack,
    List,
    ThreadGate,
    PostGate,
    FeedGenerator,
    LabelerService,
}

impl Collection {
    /// Returns the collection's name as written in events.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Like => "app.bsky.feed.like",
            Self::Follow => "app.bsky.graph.follow",
            Self::Post => "app.bsky.feed.post",
            Self::Repost => "app.bsky.feed.repost",
            Self::Block => "app.bsky.graph.block",
            Self::Profile => "app.bsky.actor.profile",
            Self::ListItem => "app.bsky.graph.listitem",
            Self::ListBlock => "app.bsky.graph.listblock",
            Self::StarterPack => "app.bsky.graph.starterpack",
            Self::List => "app.bsky.graph.list",
            Self::ThreadGate => "app.bsky.feed.threadgate",
            Self::PostGate => "app.bsky.feed.postgate",
            Self::FeedGenerator => "app.bsky.feed.generator",
            Self::LabelerService => "app.bsky.labeler.service",
        }
    }
}

/// Kind of one event: a commit with its collection and operation, or an identity or account event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum EventKind {
    /// Commit to a collection that occurs in every block.
    Commit(Collection, Operation),
    /// Commit to a rare collection, given by its index in [`NAMES`](super::rare::NAMES).
    Rare(u8, Operation),
    /// Identity event, e.g. a change of handle.
    Identity,
    /// Account event: a change of an account's state.
    Account,
}
