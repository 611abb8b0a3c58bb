//! Intercommunicators: two groups of ranks that communicate (MPI 5.0, sections 7.6 and 6.2.3).

mod collective;
mod point_to_point;
mod scope;

use std::fmt;

pub use super::collective::{
    Root, allgather, allgatherv, allreduce, alltoall, alltoallv, alltoallw, barrier, bcast, gather,
    gatherv, reduce, reduce_scatter, reduce_scatter_block, scatter, scatterv,
};
pub use scope::InterScope;

use oxmpi_core::{GroupLeaders, InterCommunicator, ProcessGroup, Result, Single, Threading};

use super::Comm;

/// An intercommunicator: this rank's group, and a remote group whose ranks it sends to and receives from.
/// Ranks are those of the remote group where nothing else is said.
///
/// Its collectives are those of the standard; [`InterComm::merge`] makes a communicator for all others. The
/// methods run a collective to its end. The functions of [`intercomm`](self) describe one, for
/// [`InterComm::scope`] and [`InterComm::persistent`]. Errors of messages inside a collective number the
/// ranks of both groups. Made by [`Comm::intercomm`].
pub struct InterComm<A: Threading = Single> {
    local: Comm<A>,
    /// The messages with the remote group's ranks.
    remote: Comm<A>,
    groups: InterCommunicator<A>,
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
        let groups = self.raw.intercommunicator(leader, leaders.as_ref())?;
        Ok(InterComm::new(self.dup()?, groups))
    }
}

impl<A: Threading> InterComm<A> {
    fn new(local: Comm<A>, groups: InterCommunicator<A>) -> Self {
        Self {
            remote: Comm::new(groups.messages(local.rank())),
            local,
            groups,
        }
    }

    /// This rank's group.
    #[must_use]
    pub const fn local(&self) -> &Comm<A> {
        &self.local
    }

    /// Number of ranks of the remote group (`MPI_Comm_remote_size`).
    #[must_use]
    pub fn remote_size(&self) -> usize {
        self.remote.size()
    }

    /// The processes of the remote group, in the order of its ranks (`MPI_Comm_remote_group`). That of this rank's
    /// group is `inter.local().group()`.
    #[must_use]
    pub fn remote_group(&self) -> ProcessGroup {
        self.groups.remote_group()
    }

    /// An intercommunicator of the same groups with contexts of its own (`MPI_Comm_dup`). Collective over
    /// both.
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn dup(&self) -> Result<Self> {
        Ok(Self::new(self.local.dup()?, self.groups.duplicate()?))
    }

    /// A communicator of both groups (`MPI_Intercomm_merge`). Collective over both. The group whose ranks
    /// pass `high` comes second; where both pass the same, the group whose leader has the higher rank on the
    /// endpoint.
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn merge(&self, high: bool) -> Result<Comm<A>> {
        self.groups.merge(high).map(Comm::new)
    }
}

impl<A: Threading> fmt::Debug for InterComm<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InterComm")
            .field("local", &self.local)
            .field("remote_size", &self.remote_size())
            .finish_non_exhaustive()
    }
}
