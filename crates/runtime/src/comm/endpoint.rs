//! Endpoints: queues of one thread.

use std::fmt;

use super::Comm;
use crate::error::Result;
use crate::raw::{self, Communicator, EndpointCell, Group, Single, Threading};

/// A communicator with queues of its own, on its way to the thread that will use it; made by
/// [`Comm::endpoint`].
///
/// Nothing moves on it before it is [opened](Endpoint::open): what other ranks send to it meanwhile
/// waits, and from some length on they wait too. Dropped unopened it leaves, as a [`Comm`] does.
///
/// ```
/// fn sendable<T: Send>() {}
/// sendable::<oxmpi::Endpoint>();
/// ```
pub struct Endpoint {
    raw: EndpointCell,
    group: Group,
}

impl<A: Threading> Comm<A> {
    /// A communicator of the same ranks with queues of its own, for another thread. Collective.
    ///
    /// Threads with an endpoint each share nothing and take no lock, whichever of them other ranks'
    /// threads talk to; a message sent on one endpoint is received on the same one. What
    /// [`dup`](Comm::dup) and [`split`](Comm::split) make of an endpoint's communicator stays on that
    /// endpoint. It lives until the last of them is dropped, which should be before the
    /// [`World`](crate::World).
    ///
    /// ```no_run
    /// # fn f(world: &oxmpi::World) -> oxmpi::Result<()> {
    /// let endpoints = [world.comm().endpoint()?, world.comm().endpoint()?];
    /// std::thread::scope(|threads| {
    ///     for endpoint in endpoints {
    ///         threads.spawn(|| {
    ///             let comm = endpoint.open();
    ///             comm.barrier()
    ///         });
    ///     }
    /// });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the new endpoint's memory cannot be had, or a rank is lost meanwhile.
    ///
    /// # Cost
    /// System calls: the ranks meet anew. Of memory 9 KiB of this process, and of the node's shared
    /// memory a page for each rank; then what links between ranks cost that use them, 12 KiB for
    /// short messages (`cargo run --release --example peer_endpoints` prints it).
    pub fn endpoint(&self) -> Result<Endpoint> {
        let (raw, group) = self.raw.new_endpoint()?;
        let raw = EndpointCell::new(raw)?;
        Ok(Endpoint { raw, group })
    }
}

impl Endpoint {
    /// The endpoint's communicator, for the calling thread.
    #[must_use]
    pub fn open(self) -> Comm {
        let endpoint = Single::new(self.raw);
        Comm::new(Communicator::new(
            endpoint,
            raw::Endpoint::FIRST_CONTEXT,
            self.group,
        ))
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("rank", &self.group.rank())
            .field("size", &self.group.size())
            .finish_non_exhaustive()
    }
}
