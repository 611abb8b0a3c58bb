//! Communicators: the ranks one talks to, and the calls to talk with.

mod cart;
pub mod collective;
mod endpoint;
mod graph;
mod grid;
pub mod intercomm;
mod message;
mod open_requests;
mod owned_request;
mod persistent;
mod point_to_point;
mod request;
mod scope;
mod topology;

use std::fmt;
use std::sync::Arc;

pub use cart::Cart;
pub use endpoint::Endpoint;
pub use graph::Graph;
pub use grid::Grid;
pub use intercomm::InterComm;
pub use message::Message;
pub use owned_request::OwnedRequest;
pub use persistent::Persistent;
pub use request::{AllCompleted, AnyRequest, Completed, Request, Test};
pub use scope::Scope;

use oxmpi_coll::catalog::Call;
use oxmpi_coll::choice::Choice;
use oxmpi_coll::placement::Placement;

use topology::Topology;

use crate::error::Result;
use crate::raw::{Communicator, Multi, Single, Threading};

/// A communicator: an ordered group of ranks with a context of its own, so that its messages never
/// meet those of another one (MPI 5.0, chapter 7).
///
/// A `Comm` is a handle to its endpoint, the queues of one thread, and takes no lock: it is neither
/// `Send` nor `Sync`. [`Comm::endpoint`] makes another endpoint for another thread, and [`Comm::share`] a
/// [`SharedComm`] for several threads.
///
/// ```compile_fail
/// fn sendable<T: Send>() {}
/// sendable::<oxmpi::Comm>();
/// ```
pub struct Comm<A: Threading = Single> {
    pub(crate) raw: Communicator<A>,
    /// Of a [`Cart`] or a [`Graph`], and of what they are duplicated to.
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

    /// A communicator of the same ranks with a context of its own (`MPI_Comm_dup`). Collective. It
    /// stays on this one's endpoint, and has its neighbours if it has some.
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn dup(&self) -> Result<Self> {
        Ok(Self {
            raw: self.raw.duplicate()?,
            topology: self.topology.clone(),
        })
    }

    /// Cuts the communicator into one for each colour (`MPI_Comm_split`). Collective. Ranks of a
    /// colour are ordered by `key`, then by their rank here; `None` as colour joins none
    /// (`MPI_UNDEFINED`) and gets `None`. The parts stay on this one's endpoint.
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn split(&self, colour: Option<u32>, key: i32) -> Result<Option<Self>> {
        Ok(self.raw.split(colour, key)?.map(Self::new))
    }

    /// The part of the communicator whose ranks share memory with this one (`MPI_Comm_split_type` with
    /// `MPI_COMM_TYPE_SHARED`): those of its node, in the order of [`Comm::split`]. Where `transports` leaves
    /// shared memory out, each rank is alone. Collective.
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn split_by_node(&self, key: i32) -> Result<Self> {
        self.raw.split_by_node(key).map(Self::new)
    }

    /// The algorithm by which messages serve such a call of all ranks, for nodes where they are: what
    /// `oxmpi explain` says of calls that are started, of as many ranks so placed. Where ranks share a node,
    /// calls that block mostly need none, or fewer.
    ///
    /// # Errors
    /// When the call itself is wrong, or collectives of the communicator have failed.
    pub fn algorithm(&self, call: &Call) -> Result<Choice> {
        self.raw.choice(call, self.raw.group())
    }

    /// On which nodes the ranks are; where that is neither in blocks nor in turn, as if each were on a
    /// node of its own.
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.raw.group().placement()
    }

    /// A communicator of the same ranks on a new endpoint, for several threads at once. Collective.
    ///
    /// Every thread of a rank that uses it is the same rank; messages of two threads are told apart
    /// by tags. Each call takes the endpoint's lock for as long as it works, not for as long as it
    /// waits (`MPI_THREAD_MULTIPLE`).
    ///
    /// # Errors
    /// When the new endpoint's memory cannot be had, or a rank is lost meanwhile.
    pub fn share(&self) -> Result<SharedComm> {
        Ok(Comm {
            raw: self.raw.share()?,
            topology: self.topology.clone(),
        })
    }

    /// Runs `body` with a [`Scope`], in which nonblocking requests borrow their buffers, as
    /// threads do in [`std::thread::scope`].
    ///
    /// Left by `Ok`, the scope waits for every request that is still open. Left by `Err` or a
    /// panic, it takes them back first: receives without a match are cancelled and sends that wait
    /// for their receiver are recalled, so it waits only for transfers that have begun. No buffer
    /// is touched after it returns, whatever the body did with its requests:
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
    /// The body's, else the first one of a request that the scope waited for.
    pub fn scope<'env, R>(
        &'env self,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env, A>) -> Result<R>,
    ) -> Result<R> {
        /// Takes a scope's requests back if its body is left by an error or a panic.
        struct Exit<'a, 'scope, 'env, A: Threading>(&'a Scope<'scope, 'env, A>);

        impl<A: Threading> Drop for Exit<'_, '_, '_, A> {
            fn drop(&mut self) {
                self.0.take_back();
            }
        }

        let scope = Scope::new(self);
        let exit = Exit(&scope);
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
