//! Lanes: queues of one thread.

use std::fmt;

use super::Comm;
use crate::error::Result;
use crate::raw::{self, Access, Communicator, Group, LaneCell, Own};

/// A communicator with queues of its own, on its way to the thread that will use it; made by
/// [`Comm::lane`].
///
/// Nothing moves on it before it is [opened](Lane::open): what other ranks send to it meanwhile
/// waits, and from some length on they wait too. Dropped unopened it leaves, as a [`Comm`] does.
///
/// ```
/// fn sendable<T: Send>() {}
/// sendable::<oxmpi::Lane>();
/// ```
pub struct Lane {
    raw: LaneCell,
    group: Group,
}

impl<A: Access> Comm<A> {
    /// A communicator of the same ranks with queues of its own, for another thread. Collective.
    ///
    /// Threads with a lane each share nothing and take no lock, whichever of them other ranks'
    /// threads talk to; a message sent on one lane is received on the same one. What
    /// [`dup`](Comm::dup) and [`split`](Comm::split) make of a lane's communicator stays on that
    /// lane. It lives until the last of them is dropped, which should be before the
    /// [`World`](crate::World).
    ///
    /// ```no_run
    /// # fn f(world: &oxmpi::World) -> oxmpi::Result<()> {
    /// let lanes = [world.comm().lane()?, world.comm().lane()?];
    /// std::thread::scope(|threads| {
    ///     for lane in lanes {
    ///         threads.spawn(|| {
    ///             let comm = lane.open();
    ///             comm.barrier()
    ///         });
    ///     }
    /// });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the new lane's memory cannot be had, or a rank is lost meanwhile.
    ///
    /// # Cost
    /// System calls: the ranks meet anew. Of memory 9 KiB of this process, and of the node's shared
    /// memory a page for each rank; then what links between ranks cost that use them, 12 KiB for
    /// short messages (`cargo run --release --example peer_lanes` prints it).
    pub fn lane(&self) -> Result<Lane> {
        let (raw, group) = self.raw.new_lane()?;
        let raw = LaneCell::new(raw)?;
        Ok(Lane { raw, group })
    }
}

impl Lane {
    /// The lane's communicator, for the calling thread.
    #[must_use]
    pub fn open(self) -> Comm {
        let lane = Own::new(self.raw);
        Comm::new(Communicator::new(
            lane,
            raw::Lane::FIRST_CONTEXT,
            self.group,
        ))
    }
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane")
            .field("rank", &self.group.rank())
            .field("size", &self.group.size())
            .finish_non_exhaustive()
    }
}
