//! Intercommunicators: two groups of ranks that communicate (MPI 5.0, sections 7.6 and 6.2.3).

mod collective;
mod scope;

use std::fmt;
use std::ops::Range;

pub use super::collective::{
    Root, allgather, allgatherv, allreduce, alltoall, alltoallv, alltoallw, barrier, bcast, gather,
    gatherv, reduce, reduce_scatter, reduce_scatter_block, scatter, scatterv,
};
pub use scope::InterScope;

use oxmpi_core::{Error, GroupLeaders, Result, Single, Source, Status, Tag, Threading};

use super::Comm;
use crate::data::Data;

/// An intercommunicator: this rank's group, and a remote group whose ranks it sends to and receives from.
/// Ranks are those of the remote group where nothing else is said.
///
/// Its collectives are those of the standard; [`InterComm::merge`] makes a communicator for all others. The
/// methods run a collective to its end. The functions of [`intercomm`](self) describe one, for
/// [`InterComm::scope`] and [`InterComm::persistent`]. Errors of messages inside a collective number the
/// ranks of both groups. Made by [`Comm::intercomm`].
pub struct InterComm<A: Threading = Single> {
    /// This rank's group.
    local: Comm<A>,
    /// Both groups, for the user's messages.
    both: Comm<A>,
    /// Both groups, for messages of collectives.
    internal: Comm<A>,
    /// The remote group's ranks in `both`.
    remote: Range<usize>,
}

/// How the leader of a group reaches the leader of the other group.
#[derive(Debug)]
pub struct Peer<'a, A: Threading = Single> {
    /// A communicator with both leaders, on the same endpoint as their groups.
    pub comm: &'a Comm<A>,
    /// The rank of the other leader in `comm`.
    pub rank: usize,
    /// The tag of the messages between the leaders.
    pub tag: u32,
}

impl<A: Threading> Comm<A> {
    /// An intercommunicator of this communicator's ranks and those of another one, which share no rank
    /// (`MPI_Intercomm_create`). Collective over both. Only rank `leader` says how it reaches the other
    /// group's leader:
    ///
    /// ```no_run
    /// # use oxmpi::{World, intercomm::Peer};
    /// # let world = World::init()?;
    /// # let comm = world.comm();
    /// // Even ranks and odd ranks; world ranks 0 and 1 lead.
    /// let mine = comm.rank() % 2;
    /// let local = comm.split(Some(mine as u32), 0)?.expect("a colour");
    /// let peer = (local.rank() == 0).then_some(Peer { comm, rank: 1 - mine, tag: 7 });
    /// let inter = local.intercomm(0, peer)?;
    /// println!("rank {} sees {} others", local.rank(), inter.remote_size());
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a rank is in both groups, `peer` is on another endpoint, or a rank is lost meanwhile.
    pub fn intercomm(&self, leader: usize, peer: Option<Peer<'_, A>>) -> Result<InterComm<A>> {
        let leaders = peer.map(|peer| GroupLeaders {
            peers: &peer.comm.raw,
            leader: peer.rank,
            tag: peer.tag,
        });
        let (both, remote) = self.raw.join_groups(leader, leaders.as_ref())?;
        InterComm::new(self.dup()?, Self::new(both), remote)
    }
}

impl<A: Threading> InterComm<A> {
    fn new(local: Comm<A>, both: Comm<A>, remote: Range<usize>) -> Result<Self> {
        Ok(Self {
            local,
            internal: both.dup()?,
            both,
            remote,
        })
    }

    /// This rank's group.
    #[must_use]
    pub const fn local(&self) -> &Comm<A> {
        &self.local
    }

    /// Number of ranks of the remote group (`MPI_Comm_remote_size`).
    #[must_use]
    pub fn remote_size(&self) -> usize {
        self.remote.len()
    }

    /// An intercommunicator of the same groups with contexts of its own (`MPI_Comm_dup`). Collective over
    /// both.
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn dup(&self) -> Result<Self> {
        Self::new(self.local.dup()?, self.both.dup()?, self.remote.clone())
    }

    /// A communicator of both groups (`MPI_Intercomm_merge`). Collective over both. The group whose ranks
    /// pass `high` comes second; where both pass the same, the group whose leader has the higher rank on the
    /// endpoint.
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn merge(&self, high: bool) -> Result<Comm<A>> {
        let merged = self.both.split(Some(0), high.into())?;
        Ok(merged.unwrap_or_else(|| unreachable!("every rank has a colour")))
    }

    /// Sends `values` to rank `to` of the remote group, as [`Comm::send`].
    ///
    /// # Errors
    /// As there.
    pub fn send<T: Data>(&self, values: &[T], to: usize, tag: u32) -> Result<()> {
        self.both.send(values, self.remote_in_both(to)?, tag)
    }

    /// As [`Comm::ssend`], to the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn ssend<T: Data>(&self, values: &[T], to: usize, tag: u32) -> Result<()> {
        self.both.ssend(values, self.remote_in_both(to)?, tag)
    }

    /// Receives from the remote group, as [`Comm::recv`].
    ///
    /// # Errors
    /// As there.
    pub fn recv<T: Data>(
        &self,
        values: &mut [T],
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Status> {
        let source = self.remote_source(source.into())?;
        Ok(self.with_remote_source(self.both.recv(values, source, tag)?))
    }

    /// As [`Comm::recv_vec`], from the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn recv_vec<T: Data>(
        &self,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<(Vec<T>, Status)> {
        let source = self.remote_source(source.into())?;
        let (values, status) = self.both.recv_vec(source, tag)?;
        Ok((values, self.with_remote_source(status)))
    }

    /// As [`Comm::sendrecv`], to and from the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn sendrecv<S: Data, R: Data>(
        &self,
        send: &[S],
        to: usize,
        send_tag: u32,
        recv: &mut [R],
        from: impl Into<Source>,
        recv_tag: impl Into<Tag>,
    ) -> Result<Status> {
        let (to, from) = (self.remote_in_both(to)?, self.remote_source(from.into())?);
        let status = self
            .both
            .sendrecv(send, to, send_tag, recv, from, recv_tag)?;
        Ok(self.with_remote_source(status))
    }

    /// As [`Comm::probe`], for messages of the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn probe(&self, source: impl Into<Source>, tag: impl Into<Tag>) -> Result<Status> {
        let source = self.remote_source(source.into())?;
        Ok(self.with_remote_source(self.both.probe(source, tag)?))
    }

    /// As [`Comm::iprobe`], for messages of the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn iprobe(&self, source: impl Into<Source>, tag: impl Into<Tag>) -> Result<Option<Status>> {
        let source = self.remote_source(source.into())?;
        let found = self.both.iprobe(source, tag)?;
        Ok(found.map(|status| self.with_remote_source(status)))
    }

    /// A rank of the remote group as a rank of both.
    fn remote_in_both(&self, rank: usize) -> Result<usize> {
        if rank < self.remote.len() {
            return Ok(self.remote.start + rank);
        }
        Err(Error::Rank {
            rank: self.local.rank(),
            named: rank,
            size: self.remote.len(),
        })
    }

    /// The source as a rank of both. No rank of this rank's group sends to it on `both`, so any source is a
    /// remote one.
    fn remote_source(&self, source: Source) -> Result<Source> {
        match source {
            Source::Rank(rank) => Ok(Source::Rank(self.remote_in_both(rank)?)),
            any => Ok(any),
        }
    }

    /// The status with its source as a rank of the remote group.
    const fn with_remote_source(&self, status: Status) -> Status {
        status.with_source(status.source - self.remote.start)
    }
}

impl<A: Threading> fmt::Debug for InterComm<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InterComm")
            .field("local", &self.local)
            .field("remote_size", &self.remote.len())
            .finish_non_exhaustive()
    }
}
