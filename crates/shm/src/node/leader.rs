//! The leader of a node, which gives the other ranks the segment: [`NodeLeader`], [`GatheredNode`].

use std::io;
use std::iter;
use std::os::fd::{AsFd, BorrowedFd};
use std::string::String;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::vec::Vec;

use oxmpi_os::memory::Memfd;
use oxmpi_os::socket::{LocalChannel, LocalListener, readable};

use super::error::system;
use super::handshake::{Hello, HelloReply};
use super::{JobKey, JoinError, Node, leader_message, memory_for, pids};
use crate::heap::{Heap, HeapPreference};
use crate::segment::SegmentLayout;

/// The leader of a node, rank 0, before the other ranks have joined.
#[derive(Debug)]
pub struct NodeLeader {
    listener: LocalListener,
    name: String,
    heap: Option<HeapPreference>,
}

impl NodeLeader {
    /// Listens at a socket of a random name.
    ///
    /// # Errors
    /// [`JoinError::System`].
    pub fn bind() -> Result<Self, JoinError> {
        let random = oxmpi_os::host::random().map_err(system("random name"))?;
        let name = format!("oxmpi-{:032x}", u128::from_ne_bytes(random));
        let listener = LocalListener::bind(&name).map_err(system("listen"))?;
        Ok(Self {
            listener,
            name,
            heap: None,
        })
    }

    /// The name for [`Node::join`]: 38 characters of `[a-z0-9-]`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds a heap that all ranks reach, as large as the preference and the limits of this process allow;
    /// none where the system refuses.
    #[must_use]
    pub fn with_heap(mut self, preference: HeapPreference) -> Self {
        self.heap = Some(preference);
        self
    }

    /// Makes the segment and waits until all other ranks have mapped it.
    ///
    /// # Errors
    /// [`JoinError`]. Connections of other users or jobs are refused and do not end the wait.
    pub fn serve(
        self,
        layout: SegmentLayout,
        key: JobKey,
        limit: Duration,
    ) -> Result<Node, JoinError> {
        self.gather(layout, key, 0, limit)?.release(&[], limit)
    }

    /// Waits as [`NodeLeader::serve`] does, but the others wait for [`GatheredNode::release`] before they go
    /// on. `note` is the note of this rank.
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
                pending: Vec::new(),
                notes: vec![note],
            });
        }
        let memory = memory_for(&layout)?;
        let mut node = with_heap(Node::new(&memory, layout, 0)?);
        node.socket_name = self.name;
        let offer = SegmentOffer {
            layout,
            key,
            memory,
            heap: node.rank_areas().map(|areas| Arc::clone(areas.heap())),
        };
        let mut pending: Vec<PendingRank> = Vec::new();
        let ready = |pending: &[PendingRank]| pending.iter().filter(|one| one.ready).count();
        while ready(&pending) + 1 < layout.ranks as usize {
            let sockets: Vec<BorrowedFd<'_>> = iter::once(self.listener.as_fd())
                .chain(pending.iter().map(|one| one.channel.as_fd()))
                .collect();
            let events = match readable(&sockets, deadline) {
                Err(e) if e.kind() == io::ErrorKind::TimedOut => {
                    return Err(missing(&layout, &pending, limit));
                }
                events => events.map_err(system("wait for ranks"))?,
            };
            let mut readiness = events[1..].iter();
            let mut taken: Vec<u32> = pending.iter().filter_map(|one| one.rank).collect();
            let mut kept = Vec::new();
            for mut one in pending {
                let is_readable = readiness.next() == Some(&true);
                if !is_readable || one.receive(&offer, deadline, &mut taken)? {
                    kept.push(one);
                }
            }
            pending = kept;
            if events[0] {
                let channel = self.listener.accept(deadline).map_err(system("accept"))?;
                pending.push(PendingRank {
                    channel,
                    rank: None,
                    pid: 0,
                    note: 0,
                    ready: false,
                });
            }
        }
        let pids = pending.iter().map(|one| (one.rank, one.pid));
        node.segment.set_pids(pids::gather(layout.ranks, pids));
        let mut notes = vec![note; layout.ranks as usize];
        for one in &pending {
            if let Some(rank) = one.rank {
                notes[rank as usize] = one.note;
            }
        }
        Ok(GatheredNode {
            node,
            pending,
            notes,
        })
    }
}

/// A node whose ranks have all mapped the segment and wait for the leader's release.
#[derive(Debug)]
pub struct GatheredNode {
    node: Node,
    pending: Vec<PendingRank>,
    notes: Vec<u64>,
}

impl GatheredNode {
    /// The note of each rank, by rank.
    #[must_use]
    pub fn notes(&self) -> &[u64] {
        &self.notes
    }

    /// The process id of `rank`.
    ///
    /// # Panics
    /// If the node has no such rank.
    #[must_use]
    pub fn pid(&self, rank: u32) -> u32 {
        self.node.pid(rank)
    }

    /// Releases all ranks, with a message of any length, which [`Node::join_with`] returns.
    ///
    /// # Errors
    /// [`JoinError`] when a rank has ended, or there is no memory for the message.
    pub fn release(self, message: &[u8], limit: Duration) -> Result<Node, JoinError> {
        if self.pending.is_empty() {
            return Ok(self.node);
        }
        let deadline = Instant::now() + limit;
        let pids: Vec<u32> = (0..self.node.ranks()).map(|rank| self.pid(rank)).collect();
        let pids = pids::bytes(&pids);
        let message = leader_message::seal(message).map_err(system("the leader's message"))?;
        for one in &self.pending {
            let message = message.as_ref().map(AsFd::as_fd);
            let sent = one.channel.send(&pids, message, deadline);
            if let (Some(rank), Err(_)) = (one.rank, sent) {
                return Err(JoinError::Gone(rank));
            }
        }
        Ok(self.node)
    }
}

/// What the leader sends to every rank.
struct SegmentOffer {
    layout: SegmentLayout,
    key: JobKey,
    memory: Memfd,
    heap: Option<Arc<Heap>>,
}

/// A connection to the leader, not trusted before its [`Hello`].
#[derive(Debug)]
struct PendingRank {
    channel: LocalChannel,
    rank: Option<u32>,
    /// Its process id, as the system reports it.
    pid: u32,
    /// Its note.
    note: u64,
    ready: bool,
}

impl PendingRank {
    /// Receives a message. False: the connection is to be closed.
    fn receive(
        &mut self,
        offer: &SegmentOffer,
        deadline: Instant,
        taken: &mut Vec<u32>,
    ) -> Result<bool, JoinError> {
        let SegmentOffer { layout, key, .. } = offer;
        if let Some(rank) = self.rank {
            let received = self.channel.recv(&mut [0; 1], deadline);
            self.ready = matches!(received, Ok((1, _)));
            return if self.ready {
                Ok(true)
            } else {
                Err(JoinError::Gone(rank))
            };
        }
        let Some(hello) = receive_hello(&self.channel, key, deadline) else {
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
        let reply = HelloReply {
            key: *key,
            layout: *layout,
            heap: offer.heap.as_ref().map(|heap| (heap.area(), heap.pages())),
        };
        let gone = |_| JoinError::Gone(rank);
        self.channel
            .send(&reply.bytes(), Some(offer.memory.as_fd()), deadline)
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

fn missing(layout: &SegmentLayout, pending: &[PendingRank], waited: Duration) -> JoinError {
    let here = |rank: &u32| {
        pending
            .iter()
            .any(|one| one.ready && one.rank == Some(*rank))
    };
    JoinError::Missing {
        ranks: layout.ranks,
        missing: (1..layout.ranks).filter(|r| !here(r)).collect(),
        waited,
    }
}

/// Receives the [`Hello`] of a rank of this user and job; `None` for any other connection.
fn receive_hello(channel: &LocalChannel, key: &JobKey, deadline: Instant) -> Option<Hello> {
    if !channel.same_user().ok()? {
        return None;
    }
    let mut bytes = [0; Hello::LEN];
    let (len, _) = channel.recv(&mut bytes, deadline).ok()?;
    Hello::parse(&bytes[..len]).filter(|hello| hello.key == *key)
}
