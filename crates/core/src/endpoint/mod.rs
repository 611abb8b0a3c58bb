//! An endpoint: one matching engine, its transports and queues, and what waiting on it needs.

mod leave;
mod messages;
mod node_group;
mod offering;
mod over_network;
mod own_groups;
mod peers;
mod requests;
mod wait;
mod windows;

use std::any::Any;
use std::fmt::Display;
use std::sync::Arc;

use oxmpi_os::fork::ForkGuard;
use oxmpi_shm::NodeBarriers;
use oxmpi_shm::heap::{Heap, RankAreas};
use oxmpi_shm::node::collective;
use oxmpi_shm::wait::WaitPolicy;
use oxmpi_wire::engine::{self, Engine, EngineConfig};

pub(super) use messages::FastOutcome;
pub(super) use node_group::{GroupsOnNodes, LentNodeGroup};
pub(super) use offering::AfterCall;

use self::node_group::NodeGroupSlot;
use self::own_groups::OwnGroup;
use super::algorithm_choices::Choices;
use super::collective_scratch::RunMemory;
use super::collective_state::StartedCollectives;
use super::failure::FailureNotices;
use super::group::Group;
use super::links::{LinkRanks, LinksRx, LinksTx};
use super::placement::EndpointNodes;
use super::policy::EndpointPolicy;
use super::request::OpenRequest;
use super::window_state::WindowTable;
use crate::boot::WiredRanks;
use crate::error::{Error, Result};

/// Empty polls of one peer between two polls of all, on a processor that no other rank needs.
const POLLS: u32 = 64;

/// How many of a rank's node groups are for communicators, by their contexts; the others are for persistent collectives.
const COMMUNICATOR_GROUPS: usize = collective::MAX_GROUPS / 2;
const OWN_GROUPS: usize = collective::MAX_GROUPS - COMMUNICATOR_GROUPS;

/// One engine over one or two transports, used by one thread at a time.
///
/// It joins the ranks that made it together; communicators on it have some or all of them.
pub struct Endpoint {
    engine: Engine<LinksTx>,
    tx: LinksTx,
    rx: LinksRx,
    /// The endpoint rank of each link, where ranks are on several nodes.
    link_ranks: Option<LinkRanks>,
    /// The node of each rank, where ranks are on several nodes.
    nodes: Option<EndpointNodes>,
    /// The rank in the job of each endpoint rank, where the two differ.
    processes: Option<Box<[u32]>>,
    node_barriers: NodeBarriers,
    /// The node groups of the first communicators, at their contexts divided by [`Self::CONTEXTS`].
    node_groups: [NodeGroupSlot; COMMUNICATOR_GROUPS],
    /// The node groups of persistent collectives.
    own_groups: [OwnGroup; OWN_GROUPS],
    policy: EndpointPolicy,
    wait_policy: WaitPolicy,
    /// Empty polls of one peer before anything else is done: 1 where the last wait yielded the processor, as
    /// more would take time from the rank that is waited for.
    pub(super) polls: u32,
    fork: ForkGuard,
    /// As `fork`, but closed when the endpoint has been left: one load tells whether it may be used.
    usable: ForkGuard,
    ended: bool,
    next_context: u32,
    /// How many contexts this rank has given out alone.
    own_contexts: u32,
    detached: Vec<DetachedRequest>,
    memory: RunMemory,
    /// Collectives under way, and persistent ones.
    pub(super) collectives: StartedCollectives,
    /// Communicators whose collectives have ended, and why.
    pub(super) failures: FailureNotices,
    /// The request list of a scope that has ended, for the next scope.
    list: Vec<OpenRequest>,
    /// The process of each link.
    pids: Vec<u32>,
    /// Number of links to ranks of this node.
    node_links: u32,
    /// The link of this rank to itself.
    own_link: u32,
    /// The memory that ranks allocate, if there is any.
    reach: Option<RankAreas>,
    /// The algorithms that serve collectives.
    pub(super) choices: Choices,
    /// The windows of its communicators.
    pub(super) windows: WindowTable,
    /// Whether calls offer the endpoint to the helper thread when they end, as something is under way.
    pub(super) offers: bool,
    /// Whether the helper has armed the endpoint, to sleep for it.
    armed: bool,
}

/// An operation that no handle waits for, and the owner of its buffer.
struct DetachedRequest {
    request: engine::Request,
    /// The context of its messages; `None`: it is of no communicator's messages.
    context: Option<u32>,
    /// The number of the buffer that it counts against, of a buffered message.
    buffer: Option<usize>,
    owner: BufferOwner,
}

/// What keeps the buffer of an operation alive. Its end may call the endpoint, so none is dropped while the endpoint is
/// lent.
pub(crate) type BufferOwner = Box<dyn Any + Send>;

impl Endpoint {
    /// The context of the communicator of all links.
    pub const FIRST_CONTEXT: u32 = 0;

    /// Contexts of one communicator: messages and collectives.
    const CONTEXTS: u32 = 2;

    /// The first context that one rank gives out alone.
    const FIRST_OWN_CONTEXT: u32 = 1 << 31;

    /// So many contexts are for all to agree on, and as many for ranks to give out alone. What is above them, up to three
    /// times as much, belongs to [`Communicator::apart`](crate::Communicator::apart).
    pub(crate) const APART: u32 = 1 << 29;

    /// An endpoint that joins these ranks.
    pub(crate) fn new(ranks: WiredRanks, policy: EndpointPolicy, fork: ForkGuard) -> Result<Self> {
        let wrong = |why: &dyn Display| Error::start("setting up shared memory", why);
        let WiredRanks { mut node, remote } = ranks;
        if remote.is_some() {
            // A futex cannot wake a rank that sleeps for messages of other nodes too.
            node = node.with_doorbells().map_err(|why| wrong(&why))?;
        }
        // The ranks of a node are its first links, in order.
        let (node_links, own_link) = (node.ranks(), node.rank());
        let mut pids: Vec<u32> = (0..node_links).map(|rank| node.pid(rank)).collect();
        let wait_policy = policy.wait_policy(&pids, remote.as_deref());
        let reach = node.rank_areas().cloned();
        let (mut tx, rx) = node.ends().map_err(|why| wrong(&why))?;
        tx.set_bulk_preference(policy.bulk);
        let node_barriers = rx.node_barriers();
        let (mut tx, mut rx) = (LinksTx::node(tx, node_links), LinksRx::node(rx));
        let (mut link_ranks, mut nodes) = (None, None);
        if let Some(remote) = remote {
            let others = &remote.order[node_links as usize..];
            pids.extend(others.iter().map(|&rank| remote.pids[rank as usize]));
            let known = LinkRanks::new(remote.order);
            tx = tx.with_network(remote.network.tx, known.clone());
            rx = rx.with_network(remote.network.rx, known.clone(), node_links);
            link_ranks = Some(known);
            nodes = Some(EndpointNodes::new(remote.nodes));
        }
        let links = pids.len() as u32;
        let rules = EngineConfig {
            overrides: policy.switches,
            ..EngineConfig::default()
        };
        Ok(Self {
            engine: Engine::new(&mut tx, links, rules),
            tx,
            link_ranks,
            nodes,
            processes: None,
            node_barriers,
            node_groups: [const { NodeGroupSlot::NOT_MADE }; COMMUNICATOR_GROUPS],
            own_groups: [const { OwnGroup::New }; OWN_GROUPS],
            rx,
            choices: Choices::new(policy.tuning.clone()),
            policy,
            polls: POLLS,
            wait_policy,
            fork,
            usable: fork,
            ended: false,
            next_context: Self::FIRST_CONTEXT + Self::CONTEXTS,
            own_contexts: 0,
            detached: Vec::new(),
            memory: RunMemory::default(),
            collectives: StartedCollectives::default(),
            failures: FailureNotices::default(),
            list: Vec::new(),
            pids,
            node_links,
            own_link,
            reach,
            windows: WindowTable::default(),
            offers: false,
            armed: false,
        })
    }

    /// An endpoint with this one's policy that joins the ranks of `group`.
    pub(super) fn for_group(&self, ranks: WiredRanks, group: &Group) -> Result<Self> {
        let links = (0..group.size()).filter_map(|rank| group.link(rank as usize));
        let on_node = links.filter(|&link| link < self.node_links);
        let ranks = match &self.reach {
            Some(reach) => ranks.with_heap_reach(reach.subset(on_node)),
            None => ranks,
        };
        let mut endpoint = Self::new(ranks, self.policy.clone(), self.fork)?;
        let processes = self.processes(group);
        endpoint.processes = (!processes.iter().copied().eq(0..group.size())).then_some(processes);
        Ok(endpoint)
    }

    /// The memory that ranks allocate, if there is any.
    pub(super) fn heap(&self) -> Option<&Arc<Heap>> {
        self.reach.as_ref().map(RankAreas::heap)
    }

    /// Checks that the endpoint may be used: it has not been left, and this is not a fork of its process.
    #[inline]
    pub(super) fn check(&mut self) -> Result<()> {
        if self.usable.forked() {
            return Err(self.unusable());
        }
        Ok(())
    }

    /// Whether [`Endpoint::check`] passes.
    #[inline(always)]
    pub(crate) fn is_usable(&self) -> bool {
        !self.usable.forked()
    }

    /// Checks that this process made the endpoint. Requests of an endpoint that has been left have completed,
    /// and may be tested.
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

    /// The first of the two lowest contexts that this rank does not use yet.
    pub(super) const fn next_context(&self) -> u32 {
        self.next_context
    }

    /// Takes the contexts `first` and `first + 1`, on which all members have agreed. False: this rank uses them
    /// already.
    pub(super) fn take_context(&mut self, first: u32) -> Result<bool> {
        let next = first
            .checked_add(Self::CONTEXTS)
            .filter(|&next| next <= Self::APART);
        let next = next.ok_or(Error::Contexts)?;
        let free = first >= self.next_context;
        if free {
            self.next_context = next;
        }
        Ok(free)
    }

    /// Contexts that no other rank gives out, nor ranks agree on: the rank's number in the endpoint, and how many it has
    /// given out before, make a number of their own.
    pub(super) fn own_context(&mut self) -> Result<u32> {
        let (rank, size) = (self.endpoint_rank(self.own_link), self.size());
        let number = u64::from(self.own_contexts) * u64::from(size) + u64::from(rank);
        let context = number * u64::from(Self::CONTEXTS);
        if context >= u64::from(Self::APART) {
            return Err(Error::Contexts);
        }
        self.own_contexts += 1;
        Ok(Self::FIRST_OWN_CONTEXT + context as u32)
    }

    /// Lends the memory of a collective; another collective that runs meanwhile allocates its own.
    pub(super) fn lend_memory(&mut self) -> RunMemory {
        std::mem::take(&mut self.memory)
    }

    pub(super) fn return_memory(&mut self, memory: RunMemory) {
        self.memory = memory;
    }
}
