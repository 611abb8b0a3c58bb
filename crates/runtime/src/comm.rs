//! Communicators and the operations on them.

mod cart;
pub mod collective;
mod endpoint;
mod graph;
mod group;
pub mod intercomm;
mod message;
mod open_requests;
mod owned_request;
mod persistent;
mod point_to_point;
mod request;
mod scope;

use std::fmt;
use std::sync::Arc;

pub use cart::Cart;
pub use endpoint::Endpoint;
pub use graph::Graph;
pub use intercomm::InterComm;
pub use message::Message;
pub use owned_request::OwnedRequest;
pub use oxmpi_core::Grid;
pub use persistent::Persistent;
pub use request::{AllCompleted, AnyRequest, Completed, EachCompleted, Request, Test};
pub use scope::Scope;

use oxmpi_core::{Communicator, Multi, Result, Single, Threading, Topology};

/// A communicator: an ordered group of ranks with a context of its own, so that its messages never match
/// receives of another communicator (MPI 5.0, chapter 7).
///
/// A `Comm` is a handle to its endpoint, the engine and queues of one thread, and takes no lock: it is
/// neither `Send` nor `Sync`. [`Comm::endpoint`] makes an endpoint for another thread, and [`Comm::share`] a
/// [`SharedComm`] for several threads.
///
/// ```compile_fail
/// fn sendable<T: Send>() {}
/// sendable::<oxmpi::Comm>();
/// ```
pub struct Comm<A: Threading = Single> {
    pub(crate) raw: Communicator<A>,
    /// The neighbours of a [`Cart`] or a [`Graph`], and of its duplicates.
    topology: Option<Arc<Topology>>,
}

/// A communicator that several threads may use at once; each call takes its endpoint's lock.
///
/// ```
/// fn sharable<T: Send + Sync>() {}
/// sharable::<oxmpi::SharedComm>();
/// ```
pub type SharedComm = Comm<Multi>;

impl<A: Threading> Comm<A> {
    pub(crate) const fn new(raw: Communicator<A>) -> Self {
        Self {
            raw,
            topology: None,
        }
    }

    /// This process's rank, from 0 (`MPI_Comm_rank`).
    #[inline]
    #[must_use]
    pub fn rank(&self) -> usize {
        self.raw.group().rank() as usize
    }

    /// Number of ranks (`MPI_Comm_size`).
    #[inline]
    #[must_use]
    pub fn size(&self) -> usize {
        self.raw.group().size() as usize
    }

    /// A communicator of the same ranks with a context of its own (`MPI_Comm_dup`). Collective. It has the
    /// same endpoint, and the same neighbours if there are any.
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn dup(&self) -> Result<Self> {
        Ok(Self {
            raw: self.raw.duplicate()?,
            topology: self.topology.clone(),
        })
    }

    /// Splits the communicator into one for each colour (`MPI_Comm_split`). Collective. Ranks of a colour are
    /// ordered by `key`, then by their rank here; a rank with the colour `None` (`MPI_UNDEFINED`) gets
    /// `None`. The parts have the same endpoint.
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn split(&self, colour: Option<u32>, key: i32) -> Result<Option<Self>> {
        Ok(self.raw.split(colour, key)?.map(Self::new))
    }

    /// A communicator of the ranks that share memory with this one, those of its node (`MPI_Comm_split_type`
    /// with `MPI_COMM_TYPE_SHARED`), in the order of [`Comm::split`]. Where the setting `transports` excludes
    /// shared memory, each rank is alone. Collective.
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn split_by_node(&self, key: i32) -> Result<Self> {
        self.raw.split_by_node(key).map(Self::new)
    }

    /// Makes progress once on this endpoint, without waiting: for a program that polls while it computes, instead of the
    /// helper thread of [`World::async_progress`](crate::World::async_progress).
    ///
    /// # Errors
    /// When the endpoint has been left, or this is a fork of its process.
    ///
    /// # Cost
    /// Where nothing has come, tens of nanoseconds for each rank of the node that has sent something before; with ranks on
    /// other nodes a system call in some of the calls.
    pub fn progress(&self) -> Result<()> {
        self.raw.progress()
    }

    /// A communicator of the same ranks on a new endpoint that several threads may use at once. Collective.
    ///
    /// Every thread of a rank that uses it is the same rank; messages of two threads are told apart by tags.
    /// Each call holds the endpoint's lock while it works, not while it waits (`MPI_THREAD_MULTIPLE`).
    ///
    /// # Errors
    /// When the new endpoint gets no memory, or a rank is lost meanwhile.
    pub fn share(&self) -> Result<SharedComm> {
        Ok(Comm {
            raw: self.raw.share()?,
            topology: self.topology.clone(),
        })
    }

    /// Runs `body` with a [`Scope`], in which nonblocking requests borrow their buffers, like threads in
    /// [`std::thread::scope`].
    ///
    /// Left by `Ok`, the scope waits for every open request. Left by `Err` or a panic, it first cancels
    /// receives without a match and sends that wait for their receiver, so it waits only for transfers that
    /// have begun. No buffer is accessed after it returns, whatever the body did with its requests:
    ///
    /// ```compile_fail
    /// # fn f(comm: &oxmpi::Comm) -> oxmpi::Result<()> {
    /// let mut buffer = [0u8; 4];
    /// comm.scope(|s| {
    ///     let request = s.irecv(&mut buffer, 0, 1)?;
    ///     buffer[0] = 1; // the buffer is borrowed until the scope ends
    ///     std::mem::forget(request);
    ///     Ok(())
    /// })
    /// # }
    /// ```
    ///
    /// # Errors
    /// That of the body, else the first of a request that the scope waited for.
    pub fn scope<'env, R>(
        &'env self,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env, A>) -> Result<R>,
    ) -> Result<R> {
        /// Takes a scope's requests back if its body returns an error or panics.
        struct CancelOnExit<'a, 'scope, 'env, A: Threading>(&'a Scope<'scope, 'env, A>);

        impl<A: Threading> Drop for CancelOnExit<'_, '_, '_, A> {
            fn drop(&mut self) {
                self.0.take_back();
            }
        }

        let scope = Scope::new(self);
        let exit = CancelOnExit(&scope);
        let value = body(&scope)?;
        std::mem::forget(exit);
        scope.finish().map(|()| value)
    }
}

impl<A: Threading> fmt::Debug for Comm<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Comm")
            .field("rank", &self.rank())
            .field("size", &self.size())
            .finish_non_exhaustive()
    }
}
