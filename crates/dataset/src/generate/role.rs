//! What an event of the generator is.

/// What is done to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    Create,
    Update,
    Delete,
}

/// A collection of records that occurs in every block.
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
    /// The collection's name, as events spell it.
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

/// What one event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// A commit to one of the collections of every block.
    Commit(Collection, Operation),
    /// A commit to a rare collection, by its place in [`NAMES`](super::rare::NAMES).
    Rare(u8, Operation),
    /// A change of handle.
    Identity,
    /// A change of an account's state.
    Account,
}
