//! A message that a matched probe has taken out of the queue.

use super::Comm;
use crate::data::{Data, target};
use crate::envelope::Status;
use crate::error::{Error, Result};
use crate::raw::{Claimed, Threading};

/// A message that is this handle's alone (`MPI_Message`). Dropping it receives the message and
/// throws it away, so that its sender is not left waiting.
#[must_use]
#[derive(Debug)]
pub struct Message<'comm, A: Threading> {
    comm: &'comm Comm<A>,
    claimed: Option<Claimed>,
    status: Status,
}

impl<'comm, A: Threading> Message<'comm, A> {
    pub(super) const fn new(comm: &'comm Comm<A>, claimed: Claimed, status: Status) -> Self {
        Self {
            comm,
            claimed: Some(claimed),
            status,
        }
    }

    /// Where the message comes from, its tag and its length.
    #[must_use]
    pub const fn status(&self) -> Status {
        self.status
    }

    /// Receives it (`MPI_Mrecv`).
    ///
    /// # Errors
    /// As [`Comm::recv`].
    pub fn recv<T: Data>(mut self, values: &mut [T]) -> Result<Status> {
        match self.claimed.take() {
            Some(claimed) => self.comm.raw.recv_claimed(claimed, target(values)),
            None => Ok(self.status),
        }
    }

    /// Receives it into a vector of its length.
    ///
    /// # Errors
    /// [`Error::PartialElement`] when the length is no multiple of an element's, else as [`Comm::recv`].
    pub fn recv_vec<T: Data>(self) -> Result<(Vec<T>, Status)> {
        let ragged = Error::PartialElement {
            rank: self.comm.rank(),
            source: self.status.source,
            tag: self.status.tag,
            sent: self.status.bytes,
            element: size_of::<T>(),
        };
        let count = self
            .status
            .count::<T>()
            .and_then(|n| usize::try_from(n).ok());
        let Some(count) = count else {
            return Err(ragged);
        };
        let mut values = self.comm.room(count)?;
        let status = self.recv(&mut values)?;
        Ok((values, status))
    }
}

impl<A: Threading> Drop for Message<'_, A> {
    fn drop(&mut self) {
        if let Some(claimed) = self.claimed.take() {
            // Received into no room: the sender is done, and the bytes are gone, as documented.
            let _ = self.comm.raw.recv_claimed(claimed, target::<u8>(&mut []));
        }
    }
}
