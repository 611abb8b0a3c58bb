//! Messages that a matched probe has taken out of the queue.

use std::mem::MaybeUninit;

use oxmpi_core::{Claimed, Error, Result, Status, Threading};

use super::Comm;
use crate::data::{Data, target, zeroed};
use crate::values::ValuesMut;

/// A message that only this handle can receive (`MPI_Message`). Dropping it receives the message into no
/// buffer, so that its sender does not wait.
#[must_use]
#[derive(Debug)]
pub struct Message<'comm, A: Threading> {
    comm: &'comm Comm<A>,
    /// `None` when it has been received, or the source is `PROC_NULL`.
    claimed: Option<Claimed>,
    status: Status,
}

impl<'comm, A: Threading> Message<'comm, A> {
    pub(super) const fn new(
        comm: &'comm Comm<A>,
        claimed: Option<Claimed>,
        status: Status,
    ) -> Self {
        Self {
            comm,
            claimed,
            status,
        }
    }

    /// The source, tag and length of the message.
    #[must_use]
    pub const fn status(&self) -> Status {
        self.status
    }

    /// Receives it (`MPI_Mrecv`).
    ///
    /// # Errors
    /// As [`Comm::recv`].
    pub fn recv<T: Data>(mut self, values: &mut (impl ValuesMut<T> + ?Sized)) -> Result<Status> {
        match self.claimed.take() {
            Some(claimed) => self.comm.raw.recv_claimed(claimed, values.lend_mut().bytes),
            None => Ok(self.status),
        }
    }

    /// Receives it into a new vector of its length.
    ///
    /// # Errors
    /// [`Error::PartialElement`] when its length is not a multiple of an element's, else as [`Comm::recv`].
    pub fn recv_vec<T: Data>(self) -> Result<(Vec<T>, Status)> {
        let mut values = self.comm.room(self.whole_elements::<T>()?)?;
        let status = self.recv(&mut values)?;
        Ok((values, status))
    }

    /// Receives it into memory that need not be initialised, and gives the elements that it filled: see
    /// [`Comm::recv_uninit`].
    ///
    /// # Errors
    /// [`Error::PartialElement`] when its length is not a multiple of an element's, else as [`Comm::recv`].
    pub fn recv_uninit<T: Data>(self, values: &mut [MaybeUninit<T>]) -> Result<(&mut [T], Status)> {
        let count = self.whole_elements::<T>()?.min(values.len());
        let values = zeroed(values, count);
        let status = self.recv(values)?;
        Ok((values, status))
    }

    /// Its length in elements.
    fn whole_elements<T: Data>(&self) -> Result<usize> {
        let count = self.status.count::<T>();
        let count = count.and_then(|count| usize::try_from(count).ok());
        count.ok_or_else(|| Error::PartialElement {
            rank: self.comm.rank(),
            source: self.status.source,
            tag: self.status.tag,
            sent: self.status.bytes,
            element: size_of::<T>(),
        })
    }
}

impl<A: Threading> Drop for Message<'_, A> {
    fn drop(&mut self) {
        if let Some(claimed) = self.claimed.take() {
            // Received into an empty buffer: the sender completes, and the bytes are dropped, as documented.
            let _ = self.comm.raw.recv_claimed(claimed, target::<u8>(&mut []));
        }
    }
}
