//! An endpoint: one engine, its transports, and what waiting on it needs.

mod leave;
mod messages;
mod node_group;
mod peers;
mod requests;
mod wait;

use std::any::Any;
use std::fmt::Display;
use std::sync::Arc;

use oxmpi_os::fork::ForkGuard;
use oxmpi_shm::Gates;
use oxmpi_shm::heap::{Heap, Reach};
use oxmpi_shm::node::collective;
use oxmpi_shm::wait::Patience;
use oxmpi_wire::engine::{self, Engine, Rules};

pub(super) use node_group::{GroupsOnNodes, LentNodeGroup, WaitFailure};

use self::node_group::Place;
use super::choices::Choices;
use super::failure::FailureNotices;
use super::group::Group;
use super::links::{LinkRanks, LinksRx, LinksTx};
use super::placement::NodeMap;
use super::policy::EndpointPolicy;
use super::request::OpenRequest;
use super::scratch::RunMemory;
use super::state::StartedCollectives;
use crate::boot::WiredRanks;
use crate::error::{Error, Result};

/// Empty polls at one peer between two polls at all of them, on a processor that nobody else needs.
const POLLS: u32 = 64;

/// One engine over one or two transports, used by one thread at a time.
///
/// Its links are the ranks that met to make it; communicators on it name subsets of them.
pub struct Endpoint {
    engine: Engine<LinksTx>,
    tx: LinksTx,
    rx: LinksRx,
    /// What links are called, where some are ranks of other nodes.
    link_ranks: Option<LinkRanks>,
    /// On which nodes they are, where these are several.
    nodes: Option<NodeMap>,
    gates: Gates,
    /// The teams of the first communicators, each under half of either of its contexts.
    teams: [Place; collective::PLACES],
    policy: EndpointPolicy,
    patience: Patience,
    /// Empty polls at one peer before anything else is done. Where the last wait gave the processor
    /// away, a second one would take the time of the very rank that is waited for.
    pub(super) polls: u32,
    fork: ForkGuard,
    /// As `fork`, but closed when the endpoint has ended: one look tells whether it may be used.
    usable: ForkGuard,
    ended: bool,
    next_context: u32,
    detached: Vec<DetachedRequest>,
    memory: RunMemory,
    /// Collectives under way, and persistent ones.
    pub(super) collectives: StartedCollectives,
    /// Communicators whose collectives have ended.
    pub(super) failures: FailureNotices,
    /// The list of a scope that has ended, for the next one.
    list: Vec<OpenRequest>,
    /// The processes of the links.
    pids: Vec<u32>,
    /// Links of this node.
    near: u32,
    /// The memory that ranks allocate, if there is any.
    reach: Option<Reach>,
    /// What serves collectives.
    pub(super) choices: Choices,
}

/// An operation that nobody waits for, and what owns its buffer.
struct DetachedRequest {
    request: engine::Request,
    _owner: Box<dyn Any + Send>,
}

impl Endpoint {
    /// The context of the communicator of all links.
    pub(crate) const FIRST_CONTEXT: u32 = 0;

    /// Contexts of one communicator: messages and collectives.
    const CONTEXTS: u32 = 2;

    /// An endpoint among the ranks that have ranks.
    pub(crate) fn new(ranks: WiredRanks, policy: EndpointPolicy, fork: ForkGuard) -> Result<Self> {
        let wrong = |why: &dyn Display| Error::start("setting up shared memory", why);
        let WiredRanks { mut node, remote } = ranks;
        if remote.is_some() {
            // A futex would not wake who sleeps for messages of other nodes too.
            node = node.with_doorbells().map_err(|why| wrong(&why))?;
        }
        let near = node.ranks();
        let mut pids: Vec<u32> = (0..near).map(|rank| node.pid(rank)).collect();
        let patience = policy.patience(&pids, remote.as_deref());
        let reach = node.reach().cloned();
        let (mut tx, rx) = node.ends().map_err(|why| wrong(&why))?;
        tx.set_roads(policy.bulk);
        let gates = rx.gates();
        let (mut tx, mut rx) = (LinksTx::node(tx, near), LinksRx::node(rx));
        let (mut link_ranks, mut nodes) = (None, None);
        if let Some(remote) = remote {
            let others = &remote.order[near as usize..];
            pids.extend(others.iter().map(|&rank| remote.pids[rank as usize]));
            let known = LinkRanks::new(remote.order);
            tx = tx.with_tcp(remote.tx, known.clone());
            rx = rx
                .with_tcp(remote.rx, known.clone(), near)
                .map_err(|why| Error::start("setting up the network", why))?;
            link_ranks = Some(known);
            nodes = Some(NodeMap::new(remote.nodes));
        }
        let links = pids.len() as u32;
        let rules = Rules {
            switches: policy.switches,
            ..Rules::default()
        };
        Ok(Self {
            engine: Engine::new(&mut tx, links, rules),
            tx,
            link_ranks,
            nodes,
            gates,
            teams: [const { Place::Unmade }; collective::PLACES],
            rx,
            choices: Choices::new(policy.tuning.clone()),
            policy,
            polls: POLLS,
            patience,
            fork,
            usable: fork,
            ended: false,
            next_context: Self::FIRST_CONTEXT + Self::CONTEXTS,
            detached: Vec::new(),
            memory: RunMemory::default(),
            collectives: StartedCollectives::default(),
            failures: FailureNotices::default(),
            list: Vec::new(),
            pids,
            near,
            reach,
        })
    }

    /// An endpoint like this one among the ranks that have met anew, which are those of `group`.
    pub(super) fn for_group(&self, ranks: WiredRanks, group: &Group) -> Result<Self> {
        let links = (0..group.size()).filter_map(|rank| group.link(rank as usize));
        let near = links.filter(|&link| link < self.near);
        let ranks = match &self.reach {
            Some(reach) => ranks.with_heap_reach(reach.subset(near)),
            None => ranks,
        };
        Self::new(ranks, self.policy.clone(), self.fork)
    }

    /// The memory that ranks allocate, if there is any.
    pub(super) fn heap(&self) -> Option<&Arc<Heap>> {
        self.reach.as_ref().map(Reach::heap)
    }

    /// Whether the endpoint may be used: by this process, and still.
    #[inline]
    pub(super) fn check(&mut self) -> Result<()> {
        if self.usable.forked() {
            return Err(self.unusable());
        }
        Ok(())
    }

    /// Whether [`Endpoint::check`] finds nothing wrong.
    #[inline(always)]
    pub(super) fn is_usable(&self) -> bool {
        !self.usable.forked()
    }

    /// Whether this is the process that made the endpoint. What was begun on an endpoint that has ended has
    /// ended too, and may be looked at.
    #[inline]
    pub(super) fn check_process(&self) -> Result<()> {
        if self.fork.forked() {
            return Err(Error::Forked);
        }
        Ok(())
    }

    #[cold]
    fn unusable(&self) -> Error {
        if self.ended {
            Error::Finalized
        } else {
            Error::Forked
        }
    }

    pub(super) const fn policy(&self) -> &EndpointPolicy {
        &self.policy
    }

    /// The first of two contexts that this rank does not use yet.
    pub(super) const fn next_context(&self) -> u32 {
        self.next_context
    }

    /// Takes the contexts that all members have agreed on: `first` and the next one. False: this
    /// rank uses them already.
    pub(super) fn take_context(&mut self, first: u32) -> Result<bool> {
        let next = first.checked_add(Self::CONTEXTS).ok_or(Error::Contexts)?;
        let free = first >= self.next_context;
        if free {
            self.next_context = next;
        }
        Ok(free)
    }

    /// Memory for a collective; one inside another one, or beside it, makes its own.
    pub(super) fn lend_memory(&mut self) -> RunMemory {
        std::mem::take(&mut self.memory)
    }

    pub(super) fn return_memory(&mut self, memory: RunMemory) {
        self.memory = memory;
    }
}
