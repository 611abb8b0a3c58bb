//! The ranks of one node, which share a segment: [`Node`], and how they join.
//!
//! The leader, rank 0 of the node, listens at an abstract socket of a random name, which travels through the
//! process manager. Each other rank connects; both ends check the other's user (`SO_PEERCRED`) and the job's
//! key, and the leader passes the segment's descriptor. No rank goes on before all have mapped it. Ranks that
//! have joined this way are on one node.

pub mod collective;
mod error;
mod handshake;
mod in_process;
mod leader;
mod leader_message;
mod pids;

use std::io;
use std::string::{String, ToString};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::vec::Vec;

use oxmpi_os::limit;
use oxmpi_os::memory::Memfd;
use oxmpi_os::socket::LocalChannel;
use oxmpi_wire::Bytes;

pub use error::JoinError;
pub use leader::{GatheredNode, NodeLeader};

use crate::heap::{Heap, HeapLimits, HeapMemory, HeapPlan, HeapPreference, RankAreas};
use crate::segment::{Doorbells, Segment, SegmentLayout};
use crate::transport::{ShmRx, ShmTx};
use error::system;
use handshake::{Hello, HelloReply};

/// The secret of one job, known to its ranks only.
pub type JobKey = [u8; 16];

/// Memory for a segment, if the machine and the limits of this process have room for it.
fn memory_for(layout: &SegmentLayout) -> Result<Memfd, JoinError> {
    layout.check().map_err(JoinError::Layout)?;
    limit::check(min_memory(layout))?;
    limit::check_file(layout.len() as u64)?;
    // The memory of bulk transfers is not worth a refusal: they have another protocol.
    let len = match limit::check_file(layout.file_len() as u64) {
        Ok(()) => layout.file_len(),
        Err(_) => layout.len(),
    };
    Memfd::create("oxmpi", len).map_err(system("memfd"))
}

/// The memory that must fit: the control areas, and the ring and one buffer of one link per rank.
fn min_memory(layout: &SegmentLayout) -> u64 {
    u64::from(layout.ranks) * (layout.link_len() as u64 + 4096)
}

/// One rank of a node, with its segment mapped, before it has a transport.
#[derive(Debug)]
pub struct Node {
    segment: Segment,
    rank: u32,
    /// The name of the socket at which the ranks joined.
    socket_name: String,
}

impl Node {
    /// Makes a node of one rank, which shares nothing.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn alone(layout: SegmentLayout) -> Result<Self, JoinError> {
        layout.check().map_err(JoinError::Layout)?;
        limit::check(min_memory(&layout))?;
        Self::mapped(Segment::own(layout), layout, 0)
    }

    /// Checks that ranks can share memory here: makes a segment of `layout` and gives it back.
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

    /// Joins as [`Node::join`] does, with a `note` for the leader; returns the leader's message as well.
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
        let refused = |how: &str| JoinError::Misfit {
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
        let channel =
            LocalChannel::connect(name, deadline).map_err(system("connect to the leader"))?;
        if !channel.same_user().map_err(system("credentials"))? {
            return Err(refused("belongs to another user"));
        }
        let hello = Hello {
            key,
            rank,
            ranks,
            note,
        };
        channel.send(&hello.bytes(), None, deadline).map_err(gone)?;
        let mut bytes = [0; HelloReply::LEN];
        let (len, memory) = channel.recv(&mut bytes, deadline).map_err(gone)?;
        if len == 0 {
            return Err(refused("refused this rank, or ended"));
        }
        let reply = HelloReply::parse(&bytes[..len])
            .ok_or_else(|| refused("uses another version of the protocol"))?;
        if reply.key != key {
            return Err(refused("belongs to another job"));
        }
        reply.layout.check().map_err(JoinError::Layout)?;
        if reply.layout.ranks != ranks {
            return Err(refused("has another number of ranks on this node"));
        }
        let memory = memory.ok_or_else(|| refused("sent no segment"))?;
        let memory = Memfd::adopt(memory).map_err(system("the leader's segment"))?;
        let mut node = Self::new(&memory, reply.layout, rank)?;
        node.socket_name = name.to_string();
        if let Some((area, pages)) = reply.heap {
            let (_, memory) = channel.recv(&mut [0; 1], deadline).map_err(gone)?;
            let memory = memory.ok_or_else(|| refused("sent no heap"))?;
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
        let mut release = vec![0; pids::len(ranks)];
        let (len, message) = channel.recv(&mut release, deadline).map_err(gone)?;
        let Some(pids) = pids::parse(&release[..len], ranks) else {
            return Err(JoinError::Gone(0));
        };
        let leader = channel.peer().map_err(system("credentials"))?.pid;
        if pids::are_ours(&pids, rank, leader) {
            node.segment.set_pids(pids);
        }
        let message = leader_message::open(message).map_err(system("the leader's message"))?;
        Ok((node, message))
    }

    /// Adds a heap that all ranks reach, as large as the preference and the limits allow, if the system gives
    /// one. For a node of one rank, or for all before they join: see [`NodeLeader::with_heap`].
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

    /// Adds the heap of another node: what [`RankAreas::subset`] returns for the ranks of this one.
    ///
    /// # Panics
    /// If it is for another number of ranks.
    #[must_use]
    pub fn with_rank_areas(mut self, areas: RankAreas) -> Self {
        self.segment.attach(areas);
        self
    }

    /// Wakes sleeping ranks by sockets ("doorbells") instead of futexes, so that a rank can sleep beside
    /// other descriptors: see [`ShmRx::doorbell`]. All ranks of a node do so, or none.
    ///
    /// # Errors
    /// [`JoinError::System`] when the peers' processes cannot be watched.
    pub fn with_doorbells(mut self) -> Result<Self, JoinError> {
        if self.ranks() > 1 {
            let doorbells = Doorbells::new(&self.socket_name, self.ranks(), self.rank);
            self.segment
                .set_doorbells(doorbells.map_err(system("doorbells"))?);
        }
        Ok(self)
    }

    /// The heap from which this rank may allocate and which all ranks reach, if there is one.
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
            socket_name: String::new(),
        })
    }

    /// This rank's number on the node, which is also its [`oxmpi_wire::Peer`] number.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Ranks of the node.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.segment.layout().ranks
    }

    /// The process id of `rank`.
    ///
    /// # Panics
    /// If the node has no such rank.
    #[must_use]
    pub fn pid(&self, rank: u32) -> u32 {
        self.segment.pid(rank)
    }

    /// Asks for huge pages. True if the kernel accepted.
    #[must_use]
    pub fn ask_huge_pages(&self) -> bool {
        self.segment.ask_huge_pages()
    }

    /// Turns the node into the two halves of its transport.
    ///
    /// # Errors
    /// [`JoinError::System`] when the peers' processes cannot be watched.
    pub fn ends<B: Bytes>(self) -> Result<(ShmTx<B>, ShmRx<B>), JoinError> {
        let segment = Arc::new(self.segment);
        let rx = ShmRx::new(Arc::clone(&segment), self.rank).map_err(system("watch peers"))?;
        Ok((ShmTx::new(segment, self.rank), rx))
    }
}
