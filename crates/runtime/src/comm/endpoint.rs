//! Endpoints of single threads.

use std::fmt;

use oxmpi_core::{Communicator, EndpointCell, Group, Result, Single, Threading};

use super::Comm;

/// A communicator with an endpoint of its own, to be moved to the thread that will use it; made by
/// [`Comm::endpoint`].
///
/// It makes no progress before it is [opened](Endpoint::open): messages that other ranks send to it wait, and
/// long ones make their senders wait too. Dropped unopened, it leaves in order, as a [`Comm`] does.
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
    /// A communicator of the same ranks with an endpoint of its own, for another thread. Collective.
    ///
    /// Threads with an endpoint each share nothing and take no lock, whichever threads of other ranks they
    /// talk to; a message sent on one endpoint is received on the same one. Communicators that
    /// [`dup`](Comm::dup) and [`split`](Comm::split) make of it have the same endpoint. The endpoint lives
    /// until the last of them is dropped, which should be before the [`World`](crate::World).
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
    /// When the new endpoint gets no memory, or a rank is lost meanwhile.
    ///
    /// # Cost
    /// System calls, as the ranks connect anew. 9 KiB of private memory, a page of the node's shared memory
    /// for each rank, and 12 KiB for each pair of ranks that exchange short messages (`cargo run --release
    /// --example peer_endpoints` prints it).
    pub fn endpoint(&self) -> Result<Endpoint> {
        let (raw, group) = self.raw.new_endpoint()?;
        let raw = EndpointCell::new(raw)?;
        Ok(Endpoint { raw, group })
    }
}

impl Endpoint {
    /// Opens the endpoint for the calling thread.
    #[must_use]
    pub fn open(self) -> Comm {
        let endpoint = Single::new(self.raw);
        Comm::new(Communicator::new(
            endpoint,
            oxmpi_core::Endpoint::FIRST_CONTEXT,
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
