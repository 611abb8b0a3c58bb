//! Meeting the ranks of one node and sharing a segment with them.
//!
//! The leader, rank 0 of the node, listens at an abstract socket of a random name, which travels
//! by the process manager. Each other rank connects; both ends check the other's user
//! (`SO_PEERCRED`) and the job's key, and the leader hands the segment over. Nobody goes on before
//! everybody has mapped it. Having met this way also proves that two ranks are on one node.

pub mod collective;
mod in_process;
mod leader_message;
mod pids;

use std::io;
use std::iter;
use std::os::fd::{AsFd, BorrowedFd};
use std::string::{String, ToString};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::vec::Vec;

use oxmpi_os::limit::{self, TooMuch};
use oxmpi_os::memory::Memfd;
use oxmpi_os::socket::{Channel, Listener, readable};
use oxmpi_wire::Bytes;

use crate::heap::{
    Heap, HeapLimits, HeapMemory, HeapPlan, HeapPreference, PageKind, RankAreas, UNIT,
};
use crate::segment::{Doorbells, Segment, SegmentLayout, VERSION};
use crate::transport::{ShmRx, ShmTx};

/// The secret of one job, known to its ranks only.
pub type JobKey = [u8; 16];

/// PlanReason ranks of a node did not meet.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// A system call failed; the text says which step.
    #[error("shared memory: {step}: {source}")]
    System {
        /// What was being done.
        step: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The segment does not fit the memory that is left.
    #[error("shared memory: {0}")]
    Memory(#[from] TooMuch),
    /// The segment does not fit this process's address space.
    #[error(
        "shared memory: {bytes} B of addresses for {ranks} ranks: {source}; fewer ranks, smaller \
         shm_buffer and shm_buffers, or a higher limit (ulimit -v) would do"
    )]
    Map {
        /// HeapSize of the segment.
        bytes: usize,
        /// Ranks on the node.
        ranks: u32,
        /// What the system said.
        source: io::Error,
    },
    /// The segment cannot have these sizes.
    #[error("shared memory: {0}")]
    Layout(String),
    /// Some ranks did not come in time.
    #[error("shared memory: of {ranks} ranks on this node, rank {} did not join within {waited:?}", list(.missing))]
    Missing {
        /// Ranks on the node.
        ranks: u32,
        /// Who is missing.
        missing: Vec<u32>,
        /// How long they were waited for.
        waited: Duration,
    },
    /// A rank ended while joining.
    #[error("shared memory: rank {0} of this node ended while joining")]
    Gone(u32),
    /// A rank does not fit the others; the text says how.
    #[error("shared memory: rank {rank} of this node {how}")]
    Misfit {
        /// Which rank.
        rank: u32,
        /// What is wrong with it.
        how: String,
    },
}

fn list(ranks: &[u32]) -> String {
    let ranks: Vec<String> = ranks.iter().map(ToString::to_string).collect();
    ranks.join(", ")
}

fn system(step: &'static str) -> impl Fn(io::Error) -> JoinError {
    move |source| JoinError::System { step, source }
}

/// The leader before the others have come.
#[derive(Debug)]
pub struct NodeLeader {
    listener: Listener,
    name: String,
    heap: Option<HeapPreference>,
}

impl NodeLeader {
    /// Listens at a random name.
    ///
    /// # Errors
    /// [`JoinError::System`].
    pub fn bind() -> Result<Self, JoinError> {
        let chance = oxmpi_os::host::random().map_err(system("random name"))?;
        let name = format!("oxmpi-{:032x}", u128::from_ne_bytes(chance));
        let listener = Listener::bind(&name).map_err(system("listen"))?;
        Ok(Self {
            listener,
            name,
            heap: None,
        })
    }

    /// The name that [`Node::join`] takes: 38 characters of `[a-z0-9-]`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// With memory that the ranks allocate and all of them reach, as large as `preference` and the limits
    /// of this process allow; none where the system refuses.
    #[must_use]
    pub fn with_heap(mut self, preference: HeapPreference) -> Self {
        self.heap = Some(preference);
        self
    }

    /// Makes the segment and waits until all other ranks have mapped it. This is rank 0.
    ///
    /// # Errors
    /// [`JoinError`]; strangers are turned away and do not end the wait.
    pub fn serve(
        self,
        layout: SegmentLayout,
        key: JobKey,
        limit: Duration,
    ) -> Result<Node, JoinError> {
        self.gather(layout, key, 0, limit)?.release(&[], limit)
    }

    /// As [`NodeLeader::serve`], but the others wait for [`GatheredNode::release`] before they go on. `note` is what
    /// this rank says of itself.
    ///
    /// # Errors
    /// As [`NodeLeader::serve`].
    pub fn gather(
        self,
        layout: SegmentLayout,
        key: JobKey,
        note: u64,
        limit: Duration,
    ) -> Result<GatheredNode, JoinError> {
        let deadline = Instant::now() + limit;
        let with_heap = |node: Node| match self.heap {
            Some(preference) => node.with_heap(preference),
            None => node,
        };
        if layout.ranks == 1 {
            return Ok(GatheredNode {
                node: with_heap(Node::alone(layout)?),
                guests: Vec::new(),
                notes: vec![note],
            });
        }
        let memory = memory_for(&layout)?;
        let mut node = with_heap(Node::new(&memory, layout, 0)?);
        node.door = self.name;
        let offer = Offer {
            layout,
            key,
            memory,
            heap: node.rank_areas().map(|reach| Arc::clone(reach.heap())),
        };
        let mut guests: Vec<Guest> = Vec::new();
        let ready = |guests: &[Guest]| guests.iter().filter(|g| g.ready).count();
        while ready(&guests) + 1 < layout.ranks as usize {
            let sockets: Vec<BorrowedFd<'_>> = iter::once(self.listener.as_fd())
                .chain(guests.iter().map(|g| g.channel.as_fd()))
                .collect();
            let events = match readable(&sockets, deadline) {
                Err(e) if e.kind() == io::ErrorKind::TimedOut => {
                    return Err(missing(&layout, &guests, limit));
                }
                events => events.map_err(system("wait for ranks"))?,
            };
            let mut heard = events[1..].iter();
            let mut taken: Vec<u32> = guests.iter().filter_map(|guest| guest.rank).collect();
            let mut kept = Vec::new();
            for mut guest in guests {
                let speaks = heard.next() == Some(&true);
                if !speaks || guest.hear(&offer, deadline, &mut taken)? {
                    kept.push(guest);
                }
            }
            guests = kept;
            if events[0] {
                let channel = self.listener.accept(deadline).map_err(system("accept"))?;
                guests.push(Guest {
                    channel,
                    rank: None,
                    pid: 0,
                    note: 0,
                    ready: false,
                });
            }
        }
        let known = guests.iter().map(|guest| (guest.rank, guest.pid));
        node.segment.set_pids(pids::gather(layout.ranks, known));
        let mut notes = vec![note; layout.ranks as usize];
        for guest in &guests {
            if let Some(rank) = guest.rank {
                notes[rank as usize] = guest.note;
            }
        }
        Ok(GatheredNode {
            node,
            guests,
            notes,
        })
    }
}

/// All ranks of a node have mapped its segment, and wait for the leader's word.
#[derive(Debug)]
pub struct GatheredNode {
    node: Node,
    guests: Vec<Guest>,
    notes: Vec<u64>,
}

impl GatheredNode {
    /// What each rank of the node says of itself, by rank.
    #[must_use]
    pub fn notes(&self) -> &[u64] {
        &self.notes
    }

    /// The process number of `rank`.
    ///
    /// # Panics
    /// If the node has no such rank.
    #[must_use]
    pub fn pid(&self, rank: u32) -> u32 {
        self.node.pid(rank)
    }

    /// Lets all ranks go on, and tells them `word`: bytes of any length, which [`Node::join`] gives.
    ///
    /// # Errors
    /// [`JoinError`] when a rank has ended, or there is no memory for the word.
    pub fn release(self, word: &[u8], limit: Duration) -> Result<Node, JoinError> {
        if self.guests.is_empty() {
            return Ok(self.node);
        }
        let deadline = Instant::now() + limit;
        let pids: Vec<u32> = (0..self.node.ranks()).map(|rank| self.pid(rank)).collect();
        let go = pids::bytes(&pids);
        let word = leader_message::seal(word).map_err(system("the leader's word"))?;
        for guest in &self.guests {
            let word = word.as_ref().map(AsFd::as_fd);
            let told = guest.channel.send(&go, word, deadline);
            if let (Some(rank), Err(_)) = (guest.rank, told) {
                return Err(JoinError::Gone(rank));
            }
        }
        Ok(self.node)
    }
}

/// What the leader gives to every guest.
struct Offer {
    layout: SegmentLayout,
    key: JobKey,
    memory: Memfd,
    heap: Option<Arc<Heap>>,
}

/// A connection to the leader: a stranger until it has greeted.
#[derive(Debug)]
struct Guest {
    channel: Channel,
    rank: Option<u32>,
    /// Its process, as the system says.
    pid: u32,
    /// What it says of itself.
    note: u64,
    ready: bool,
}

impl Guest {
    /// Takes in what the guest says. False: a stranger, to be turned away.
    fn hear(
        &mut self,
        offer: &Offer,
        deadline: Instant,
        taken: &mut Vec<u32>,
    ) -> Result<bool, JoinError> {
        let Offer { layout, key, .. } = offer;
        if let Some(rank) = self.rank {
            let told = self.channel.recv(&mut [0; 1], deadline);
            self.ready = matches!(told, Ok((1, _)));
            return if self.ready {
                Ok(true)
            } else {
                Err(JoinError::Gone(rank))
            };
        }
        let Some(hello) = greeted(&self.channel, key, deadline) else {
            return Ok(false);
        };
        let rank = hello.rank;
        let misfit = |how| JoinError::Misfit { rank, how };
        if hello.ranks != layout.ranks {
            return Err(misfit(format!(
                "says the node has {} ranks; the leader says {}",
                hello.ranks, layout.ranks
            )));
        }
        if !(1..layout.ranks).contains(&rank) {
            return Err(misfit(format!("is not one of 1 to {}", layout.ranks - 1)));
        }
        if taken.contains(&rank) {
            return Err(misfit("joined twice".into()));
        }
        taken.push(rank);
        let welcome = Welcome {
            key: *key,
            layout: *layout,
            heap: offer.heap.as_ref().map(|heap| (heap.area(), heap.pages())),
        };
        let gone = |_| JoinError::Gone(rank);
        self.channel
            .send(&welcome.bytes(), Some(offer.memory.as_fd()), deadline)
            .map_err(gone)?;
        if let Some(heap) = &offer.heap {
            self.channel
                .send(&[1], Some(heap.memory()), deadline)
                .map_err(gone)?;
        }
        self.rank = Some(rank);
        self.note = hello.note;
        self.pid = self.channel.peer().map_err(system("credentials"))?.pid;
        Ok(true)
    }
}

fn missing(layout: &SegmentLayout, guests: &[Guest], waited: Duration) -> JoinError {
    let here = |rank: &u32| guests.iter().any(|g| g.ready && g.rank == Some(*rank));
    JoinError::Missing {
        ranks: layout.ranks,
        missing: (1..layout.ranks).filter(|r| !here(r)).collect(),
        waited,
    }
}

/// The memory of a segment, where the machine and the limits of this process have room for it.
fn memory_for(layout: &SegmentLayout) -> Result<Memfd, JoinError> {
    layout.check().map_err(JoinError::Layout)?;
    limit::check(least(layout))?;
    limit::check_file(layout.len() as u64)?;
    // What large messages pass through is not worth a refusal: they have another way.
    let len = match limit::check_file(layout.file_len() as u64) {
        Ok(()) => layout.file_len(),
        Err(_) => layout.len(),
    };
    Memfd::create("oxmpi", len).map_err(system("memfd"))
}

/// What must fit at least: the control areas, and of one link per rank the ring and one buffer.
fn least(layout: &SegmentLayout) -> u64 {
    u64::from(layout.ranks) * (layout.link_len() as u64 + 4096)
}

/// What a fellow rank says first; `None` for a stranger.
fn greeted(channel: &Channel, key: &JobKey, deadline: Instant) -> Option<Hello> {
    if !channel.same_user().ok()? {
        return None;
    }
    let mut bytes = [0; Hello::LEN];
    let (len, _) = channel.recv(&mut bytes, deadline).ok()?;
    Hello::parse(&bytes[..len]).filter(|hello| hello.key == *key)
}

/// This rank's place among the ranks of a node.
#[derive(Debug)]
pub struct Node {
    segment: Segment,
    rank: u32,
    /// The name of the socket at which its ranks have met.
    door: String,
}

impl Node {
    /// A node of one rank: no other to meet, and nothing to share.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn alone(layout: SegmentLayout) -> Result<Self, JoinError> {
        layout.check().map_err(JoinError::Layout)?;
        limit::check(least(&layout))?;
        Self::mapped(Segment::own(layout), layout, 0)
    }

    /// Whether ranks can share memory here: makes what those of `layout` would, and gives it back.
    ///
    /// # Errors
    /// [`JoinError`] says why not.
    ///
    /// # Cost
    /// Some system calls, and no memory.
    pub fn probe(layout: SegmentLayout) -> Result<(), JoinError> {
        memory_for(&layout).map(drop)
    }

    /// Joins the leader that listens at `name`, as rank `rank` of `ranks`, not 0.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn join(
        name: &str,
        rank: u32,
        ranks: u32,
        key: JobKey,
        limit: Duration,
    ) -> Result<Self, JoinError> {
        let (node, _) = Self::join_with(name, rank, ranks, key, 0, limit)?;
        Ok(node)
    }

    /// As [`Node::join`]; says `note` of itself, and gives the leader's word.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn join_with(
        name: &str,
        rank: u32,
        ranks: u32,
        key: JobKey,
        note: u64,
        limit: Duration,
    ) -> Result<(Self, Vec<u8>), JoinError> {
        let deadline = Instant::now() + limit;
        let leader = |how: &str| JoinError::Misfit {
            rank: 0,
            how: how.into(),
        };
        let gone = |error: io::Error| match error.kind() {
            io::ErrorKind::TimedOut => JoinError::Missing {
                ranks,
                missing: vec![0],
                waited: limit,
            },
            _ => JoinError::Gone(0),
        };
        let channel = Channel::connect(name, deadline).map_err(system("connect to the leader"))?;
        if !channel.same_user().map_err(system("credentials"))? {
            return Err(leader("belongs to another user"));
        }
        let hello = Hello {
            key,
            rank,
            ranks,
            note,
        };
        channel.send(&hello.bytes(), None, deadline).map_err(gone)?;
        let mut bytes = [0; Welcome::LEN];
        let (len, memory) = channel.recv(&mut bytes, deadline).map_err(gone)?;
        if len == 0 {
            return Err(leader("turned this rank away, or ended"));
        }
        let welcome =
            Welcome::parse(&bytes[..len]).ok_or_else(|| leader("speaks another version"))?;
        if welcome.key != key {
            return Err(leader("is of another job"));
        }
        welcome.layout.check().map_err(JoinError::Layout)?;
        if welcome.layout.ranks != ranks {
            return Err(leader("counts other ranks on this node"));
        }
        let memory = memory.ok_or_else(|| leader("sent no segment"))?;
        let memory = Memfd::adopt(memory).map_err(system("the leader's segment"))?;
        let mut node = Self::new(&memory, welcome.layout, rank)?;
        node.door = name.to_string();
        if let Some((area, pages)) = welcome.heap {
            let (_, memory) = channel.recv(&mut [0; 1], deadline).map_err(gone)?;
            let memory = memory.ok_or_else(|| leader("sent no heap"))?;
            let memory = Memfd::adopt(memory).map_err(system("the leader's heap"))?;
            let areas = HeapMemory {
                memory,
                area,
                pages,
            };
            let heap = Heap::new(areas, ranks, rank).map_err(system("the leader's heap"))?;
            node.segment.attach(RankAreas::all(Arc::new(heap)));
        }
        channel.send(&[1], None, deadline).map_err(gone)?;
        let mut go = vec![0; pids::len(ranks)];
        let (len, word) = channel.recv(&mut go, deadline).map_err(gone)?;
        let Some(pids) = pids::parse(&go[..len], ranks) else {
            return Err(JoinError::Gone(0));
        };
        let leader = channel.peer().map_err(system("credentials"))?.pid;
        if pids::are_ours(&pids, rank, leader) {
            node.segment.set_pids(pids);
        }
        let word = leader_message::open(word).map_err(system("the leader's word"))?;
        Ok((node, word))
    }

    /// With memory to allocate, as large as wished and allowed, if the system gives any. For a node
    /// of one rank, or for all before they meet: see [`NodeLeader::with_heap`].
    #[must_use]
    pub fn with_heap(mut self, preference: HeapPreference) -> Self {
        let ranks = self.ranks();
        let plan = HeapPlan::new(ranks, preference, &HeapLimits::of_this_process());
        let areas = HeapMemory::create(ranks, &plan);
        let heap = areas.and_then(|areas| Heap::new(areas, ranks, self.rank).ok());
        if let Some(heap) = heap {
            self.segment.attach(RankAreas::all(Arc::new(heap)));
        }
        self
    }

    /// With the heap of another node: what [`RankAreas::subset`] gives for the ranks of this one.
    ///
    /// # Panics
    /// If it is for another number of ranks.
    #[must_use]
    pub fn with_reach(mut self, reach: RankAreas) -> Self {
        self.segment.attach(reach);
        self
    }

    /// Wakes sleepers by doorbells instead of futexes, so that a rank can sleep beside other descriptors: see
    /// [`ShmRx::doorbell`]. All ranks of a node that have met do so, or none; a rank alone has nobody to wake it.
    ///
    /// # Errors
    /// [`JoinError::System`] when there is no socket for it.
    pub fn with_doorbells(mut self) -> Result<Self, JoinError> {
        if self.ranks() > 1 {
            let doorbells = Doorbells::new(&self.door, self.ranks(), self.rank);
            self.segment
                .set_doorbells(doorbells.map_err(system("doorbells"))?);
        }
        Ok(self)
    }

    /// The memory that this rank may allocate from and all of the node reach, if there is any.
    #[must_use]
    pub fn rank_areas(&self) -> Option<&RankAreas> {
        self.segment.rank_areas()
    }

    fn new(memory: &Memfd, layout: SegmentLayout, rank: u32) -> Result<Self, JoinError> {
        Self::mapped(Segment::map(memory, layout, rank), layout, rank)
    }

    fn mapped(
        segment: io::Result<Segment>,
        layout: SegmentLayout,
        rank: u32,
    ) -> Result<Self, JoinError> {
        let segment = segment.map_err(|source| JoinError::Map {
            bytes: layout.len(),
            ranks: layout.ranks,
            source,
        })?;
        segment.set_pid(rank, std::process::id());
        Ok(Self {
            segment,
            rank,
            door: String::new(),
        })
    }

    /// This rank's number on the node, which is its [`oxmpi_wire::Peer`] number as well.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Ranks on the node.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.segment.layout().ranks
    }

    /// The process number of `rank`.
    ///
    /// # Panics
    /// If the node has no such rank.
    #[must_use]
    pub fn pid(&self, rank: u32) -> u32 {
        self.segment.pid(rank)
    }

    /// Asks for huge pages. True if the kernel took the preference.
    #[must_use]
    pub fn ask_huge_pages(&self) -> bool {
        self.segment.ask_huge_pages()
    }

    /// The transport's two halves.
    ///
    /// # Errors
    /// [`JoinError::System`] when the peers' processes cannot be watched.
    pub fn ends<B: Bytes>(self) -> Result<(ShmTx<B>, ShmRx<B>), JoinError> {
        let segment = Arc::new(self.segment);
        let rx = ShmRx::new(Arc::clone(&segment), self.rank).map_err(system("watch peers"))?;
        Ok((ShmTx::new(segment, self.rank), rx))
    }
}

/// What a rank says first.
struct Hello {
    key: JobKey,
    rank: u32,
    ranks: u32,
    note: u64,
}

impl Hello {
    const LEN: usize = 36;

    fn bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..16].copy_from_slice(&self.key);
        let [low, high] = [self.note as u32, (self.note >> 32) as u32];
        words(
            &mut bytes[16..],
            &[VERSION, self.rank, self.ranks, low, high],
        );
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::LEN] = bytes.try_into().ok()?;
        let [version, rank, ranks, low, high] = parsed(&bytes[16..]);
        (version == VERSION).then_some(Self {
            key: *bytes.first_chunk()?,
            rank,
            ranks,
            note: u64::from(high) << 32 | u64::from(low),
        })
    }
}

/// What the leader answers, beside the segment.
struct Welcome {
    key: JobKey,
    layout: SegmentLayout,
    /// Bytes of a rank's area of the heap, and of which pages it is. Its memory follows.
    heap: Option<(u64, PageKind)>,
}

impl Welcome {
    const LEN: usize = 44;

    fn bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..16].copy_from_slice(&self.key);
        let l = &self.layout;
        let (area, pages) = self.heap.unwrap_or((0, PageKind::Small));
        let (area, pages) = ((area / UNIT) as u32, pages as u32);
        words(
            &mut bytes[16..],
            &[VERSION, l.ranks, l.slots, l.buffer, l.buffers, area, pages],
        );
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::LEN] = bytes.try_into().ok()?;
        let [version, ranks, slots, buffer, buffers, area, pages] = parsed(&bytes[16..]);
        let pages = PageKind::ALL.into_iter().find(|p| *p as u32 == pages)?;
        (version == VERSION).then_some(Self {
            key: *bytes.first_chunk()?,
            layout: SegmentLayout {
                ranks,
                slots,
                buffer,
                buffers,
            },
            heap: (area > 0).then_some((u64::from(area) * UNIT, pages)),
        })
    }
}

fn words(to: &mut [u8], words: &[u32]) {
    for (to, word) in to.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.to_ne_bytes());
    }
}

fn parsed<const N: usize>(bytes: &[u8]) -> [u32; N] {
    let mut words = bytes.chunks_exact(4);
    std::array::from_fn(|_| {
        let word = words.next().and_then(|w| w.first_chunk());
        u32::from_ne_bytes(*word.expect("as many words as the message has"))
    })
}
