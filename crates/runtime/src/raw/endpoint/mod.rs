//! An endpoint: one engine, its transports, and what waiting on it needs.

mod node_group;
mod peers;

use std::any::Any;
use std::fmt::Display;
use std::sync::Arc;

use oxmpi_os::RawBytes;
use oxmpi_os::fork::ForkGuard;
use oxmpi_shm::Gates;
use oxmpi_shm::heap::{Heap, Reach};
use oxmpi_shm::node::collective;
use oxmpi_shm::wait::{Patience, Rest, Waiter};
use oxmpi_wire::engine::{self, Engine, Failure, Mode, Outcome, Rules, Source, Status, Tag};
use oxmpi_wire::{Envelope, Peer, Rx, Short, Tx, Wanted};

pub(super) use node_group::{GroupsOnNodes, LentNodeGroup, WaitFailure};

use self::node_group::Place;
use super::choices::Choices;
use super::failure::FailureNotices;
use super::group::Group;
use super::links::{LinkRanks, LinksRx, LinksTx};
use super::placement::NodeMap;
use super::policy::EndpointPolicy;
use super::request::{Claimed, OpenRequest};
use super::scratch::RunMemory;
use super::state::StartedCollectives;
use super::thread_endpoints;
use crate::boot::WiredRanks;
use crate::error::{Error, Result};

/// Arrivals that one turn hands over at most, so that a flood does not keep a call from seeing that
/// it is done.
const BUDGET: u32 = 64;

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
    detached: Vec<Detached>,
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
struct Detached {
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

    /// Whose message the operation waits for, if it is a receive that nothing has come for yet.
    pub(super) fn awaited_source(&self, request: OpenRequest) -> Option<Source> {
        self.engine.awaited(request)
    }

    /// Whether something waits for room.
    pub(super) fn has_waiting(&self) -> bool {
        self.engine.has_waiting()
    }

    /// Sends a short message, if there is room and nothing goes before it, on an endpoint that may be used.
    #[inline(always)]
    pub(super) fn send_short(&mut self, to: Peer, envelope: Envelope, body: &RawBytes) -> bool {
        self.engine.put_short(&mut self.tx, to, envelope, body)
    }

    /// Sends. `None`: the bytes are on their way and may be used again.
    pub(super) fn send_now(
        &mut self,
        to: Peer,
        envelope: Envelope,
        mode: Mode,
        body: RawBytes,
    ) -> Option<OpenRequest> {
        if mode != Mode::Synchronous {
            let (engine, tx) = (&mut self.engine, &mut self.tx);
            if engine.try_eager(tx, to, envelope, &body).is_ok() {
                tx.flush();
                return None;
            }
            if self.engine.is_overdue() {
                self.progress();
                let (engine, tx) = (&mut self.engine, &mut self.tx);
                if engine.try_eager(tx, to, envelope, &body).is_ok() {
                    tx.flush();
                    return None;
                }
            }
        }
        self.send_later(to, envelope, mode, body)
    }

    #[inline(never)]
    fn send_later(
        &mut self,
        to: Peer,
        envelope: Envelope,
        mode: Mode,
        body: RawBytes,
    ) -> Option<OpenRequest> {
        let request = self.engine.send(&mut self.tx, to, envelope, mode, body);
        self.tx.flush();
        match self.engine.peek(request) {
            Some(Ok(_)) => {
                let _freed = self.engine.test(request);
                None
            }
            _ => Some(request),
        }
    }

    /// Takes a short message that has come and that nothing goes before, on an endpoint that may be used.
    #[inline(always)]
    pub(super) fn take_short(
        &mut self,
        source: Peer,
        wanted: Wanted,
        body: &RawBytes,
    ) -> Option<Short> {
        let (rx, tx) = (&mut self.rx, &mut self.tx);
        self.engine.take_direct(rx, tx, source, wanted, body)
    }

    /// Looks for a short message on the fast path, so many times, as long as the road is open.
    /// `None` too where the endpoint may not be used: [`Endpoint::check`] tells.
    #[inline]
    pub(super) fn recv_short(
        &mut self,
        polls: u32,
        source: Source,
        context: u32,
        tag: Tag,
        body: &RawBytes,
    ) -> Option<Status> {
        if self.usable.forked() {
            return None;
        }
        for _ in 0..polls {
            let (rx, tx) = (&mut self.rx, &mut self.tx);
            let status = (self.engine).recv_direct(rx, tx, source, context, tag, body);
            if status.is_some() || !self.engine.direct(source) {
                return status;
            }
            std::hint::spin_loop();
        }
        None
    }

    /// Whether [`Endpoint::recv_short`] may find something later.
    pub(super) fn is_on_fast_path(&self, source: Source) -> bool {
        self.engine.direct(source)
    }

    /// Receives by the fast path for as long as it is open. `Ok(None)`: nothing has come; ask
    /// again after a rest. `Err`: the road is closed, and the receive is posted.
    pub(super) fn recv_now(
        &mut self,
        source: Source,
        context: u32,
        tag: Tag,
        body: RawBytes,
    ) -> std::result::Result<Option<Status>, OpenRequest> {
        match self.recv_short(self.polls, source, context, tag, &body) {
            Some(status) => Ok(Some(status)),
            None if self.engine.direct(source) => Ok(None),
            None => Err(self.irecv(source, context, tag, body)),
        }
    }

    #[inline(always)]
    pub(super) fn irecv(
        &mut self,
        source: Source,
        context: u32,
        tag: Tag,
        body: RawBytes,
    ) -> OpenRequest {
        let request = self.engine.recv(&mut self.tx, source, context, tag, body);
        self.tx.await_from(source);
        request
    }

    pub(super) fn recv_claimed(
        &mut self,
        claimed: Claimed,
        body: RawBytes,
    ) -> std::result::Result<OpenRequest, Failure> {
        let request = self.engine.recv_claimed(&mut self.tx, claimed, body);
        self.tx.flush();
        request
    }

    /// The status of a receive that has ended well: see [`Engine::received`].
    #[inline(always)]
    pub(super) fn received(&mut self, request: OpenRequest) -> Option<Status> {
        self.engine.received(request)
    }

    /// The operation's outcome if it has ended; its handle is stale from then on.
    #[inline(always)]
    pub(super) fn test(&mut self, request: OpenRequest) -> Option<Outcome> {
        self.engine.test(request)
    }

    /// The operation's outcome, if it ends within as many polls as suit this endpoint. `None` too in a fork
    /// of the process.
    #[inline(never)]
    pub(super) fn wait_briefly(&mut self, request: OpenRequest) -> Option<Outcome> {
        if self.fork.forked() {
            return None;
        }
        let before = self.engine.test(request);
        if before.is_some() {
            return before;
        }
        for _ in 0..self.polls {
            if self.progress_inline() == 0 {
                std::hint::spin_loop();
            } else if let Some(status) = self.engine.received(request) {
                return Some(Ok(status));
            } else if self.engine.is_done(request) {
                return self.engine.test(request);
            }
        }
        None
    }

    /// Takes requests from the end of the list that are stale or have ended well.
    pub(super) fn drop_ended(&mut self, requests: &mut Vec<OpenRequest>) {
        if self.fork.forked() {
            return;
        }
        while let Some(&request) = requests.last() {
            let ended = match self.engine.peek(request) {
                None => false,
                Some(Ok(status)) => !status.cancelled,
                Some(Err(failure)) => failure == Failure::Stale,
            };
            if !ended {
                return;
            }
            self.engine.detach(request);
            requests.pop();
        }
    }

    /// Whether the request is not stale.
    pub(super) fn is_known(&self, request: OpenRequest) -> bool {
        self.engine.is_known(request)
    }

    /// Whether the operation has ended; none has.
    pub(super) fn has_ended(&self, request: Option<OpenRequest>) -> bool {
        request.is_none_or(|request| self.engine.is_done(request))
    }

    /// Begins an operation of the caller's own: see [`Engine::begin_own`].
    pub(super) fn begin_own(&mut self) -> OpenRequest {
        self.engine.begin_own()
    }

    /// Ends it.
    pub(super) fn end_own(&mut self, request: OpenRequest, outcome: Outcome) {
        self.engine.end_own(request, outcome);
    }

    pub(super) fn take_back(&mut self, request: OpenRequest) {
        self.engine.cancel(&mut self.tx, request);
        self.tx.flush();
    }

    /// Keeps `owner` until the operation has ended.
    ///
    /// # Cost
    /// Constant, on average: what has ended is looked for when the list has doubled.
    pub(super) fn detach(&mut self, request: OpenRequest, owner: Box<dyn Any + Send>) {
        if self.test(request).is_some() {
            return;
        }
        if self.detached.len() == self.detached.capacity() {
            self.drop_ended_detached();
            self.detached.reserve(self.detached.len() + 1);
        }
        self.detached.push(Detached {
            request,
            _owner: owner,
        });
    }

    /// Lets go of detached operations that have ended. Nobody asked for their outcome.
    fn drop_ended_detached(&mut self) {
        let engine = &mut self.engine;
        self.detached
            .retain(|detached| engine.test(detached.request).is_none());
    }

    pub(super) fn probe(&self, source: Source, context: u32, tag: Tag) -> Option<Outcome> {
        self.engine.probe(source, context, tag)
    }

    pub(super) fn claim(
        &mut self,
        source: Source,
        context: u32,
        tag: Tag,
    ) -> Option<std::result::Result<(engine::Message, Status), Failure>> {
        self.engine.claim(source, context, tag)
    }

    /// Takes in what has come and sends what can go. 0: nothing moved.
    pub(super) fn progress(&mut self) -> u32 {
        self.progress_inline()
    }

    #[inline(always)]
    fn progress_inline(&mut self) -> u32 {
        let sent = self.engine.resume(&mut self.tx);
        let come = self.rx.poll(&mut self.tx, BUDGET, &mut self.engine);
        sent + come
    }

    /// As [`Endpoint::progress`], where another endpoint is waited for. What came to an endpoint that has ended
    /// stays where it is: its buffers are their owners' again. Whether collectives are to be
    /// advanced.
    pub(super) fn make_progress(&mut self) -> bool {
        let usable = self.check().is_ok();
        if usable {
            self.progress();
        }
        usable && self.collectives.are_open()
    }

    /// Connects to all ranks of other nodes. The turns that follow do it.
    pub(super) fn connect(&mut self) {
        self.tx.connect();
    }

    /// Whether the links from `first` on are connected: `first` is the first that is not, or is lost. Who has
    /// left in order was.
    pub(super) fn connected(&self, first: &mut u32) -> Option<std::result::Result<(), Failure>> {
        while (*first as usize) < self.pids.len() {
            let peer = Peer(*first);
            match self.engine.fault(peer) {
                Some(fault) if fault.is_failure() => {
                    return Some(Err(Failure::Fault { peer, fault }));
                }
                None if !self.tx.is_connected(peer) => return None,
                _ => *first += 1,
            }
        }
        Some(Ok(()))
    }

    /// A new wait on this endpoint.
    #[inline]
    pub(super) const fn waiter(&self) -> Waiter {
        Waiter::new(self.patience)
    }

    /// Makes progress, or rests a little after a turn that made none.
    #[inline]
    pub(super) fn wait_step(&mut self, waiter: &mut Waiter) {
        if self.progress() != 0 {
            return waiter.moved();
        }
        if thread_endpoints::any() {
            // Another endpoint's messages would not end a sleep on this one.
            let rest = self.rest(waiter);
            if waiter.unwoken(rest) {
                self.after_nap();
            }
        } else {
            self.rx.idle(&mut self.tx, waiter, &self.gates);
        }
        self.learn(waiter);
    }

    /// Lets ranks that share this processor go on, once.
    pub(super) fn make_way(&mut self) {
        self.waiter().make_way(&self.gates);
    }

    /// Makes progress. After a turn that made none it says how to rest before the next one.
    pub(super) fn wait_step_unlocked(&mut self, waiter: &mut Waiter) -> Option<Rest> {
        if self.progress() != 0 {
            waiter.moved();
            return None;
        }
        let rest = self.rest(waiter);
        self.learn(waiter);
        Some(rest)
    }

    /// How to rest after a turn that made no progress, where no peer's message ends it.
    fn rest(&mut self, waiter: &mut Waiter) -> Rest {
        let rest = waiter.next(&self.gates);
        match rest {
            Rest::Spin => {}
            Rest::Yield => self.rx.poll_network_next(),
            Rest::Sleep => self.tx.watch_all(),
        }
        rest
    }

    /// Takes from a wait how often the next one polls at first.
    #[inline]
    const fn learn(&mut self, waiter: &Waiter) {
        self.polls = if waiter.gives_way() { 1 } else { POLLS };
    }

    /// A short nap was taken between two turns.
    pub(super) fn after_nap(&mut self) {
        self.rx.after_nap();
    }

    /// Begins to leave the other ranks: no collective is advanced any more. False where the endpoint
    /// was left, or is a forked process's copy.
    ///
    /// # Panics
    /// As [`StartedCollectives::close`].
    pub(super) fn begin_leaving(&mut self) -> bool {
        let stays = self.ended || self.fork.forked();
        if !stays {
            self.collectives.close();
        }
        !stays
    }

    /// Leaves, if all that was sent has gone out and nothing uses a caller's buffer any more; later
    /// calls give [`Error::Finalized`]. Whether the endpoint is left.
    pub(super) fn try_leave(&mut self) -> bool {
        if self.ended {
            return true;
        }
        // One that another thread advances is a request that has not ended: it writes its buffers
        // until it is put back.
        for request in self.collectives.end() {
            self.engine.end_own(request, Ok(Status::own(true)));
        }
        if !self.engine.retire(&mut self.tx, &RawBytes::empty()) || self.tx.has_unsent() {
            return false;
        }
        self.drop_ended_detached();
        self.ended = true;
        self.usable = ForkGuard::closed();
        self.tx.depart();
        self.rx.depart();
        true
    }

    /// Leaves, where nobody else has the endpoint.
    fn leave_now(&mut self) {
        if !self.begin_leaving() {
            return;
        }
        let mut waiter = self.waiter();
        while !self.try_leave() {
            self.wait_step(&mut waiter);
            if thread_endpoints::any() {
                thread_endpoints::drive();
            }
        }
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

    /// An empty list of requests; a scope inside another one makes its own.
    #[inline(always)]
    pub(super) fn lend_list(&mut self) -> Vec<OpenRequest> {
        std::mem::take(&mut self.list)
    }

    /// Takes the list back, emptied.
    #[inline(always)]
    pub(super) fn return_list(&mut self, list: Vec<OpenRequest>) {
        self.list = list;
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        if self.fork.forked() {
            self.tx.abandon();
        } else if !std::thread::panicking() {
            self.leave_now();
        } else if !self.ended {
            // A panicking thread must not wait for anyone, and nobody for it: the process may live
            // on where the endpoint was not the world's.
            self.tx.break_off();
            self.rx.depart();
        }
    }
}
