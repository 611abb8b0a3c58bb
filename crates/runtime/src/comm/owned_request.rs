//! Requests that own their buffers.

use std::fmt;

use oxmpi_core::{Destination, Error, Mode, RawRequest, Result, Source, Status, Tag, Threading};

use super::Comm;
use crate::data::{Data, source, target};

/// A nonblocking operation that owns its buffer, for uses that a [`Scope`](crate::Scope) does not fit.
///
/// Dropped before its completion, the operation goes on, and its buffer is freed afterwards. Forgotten, it
/// leaks the buffer.
pub struct OwnedRequest<'comm, T: Data, A: Threading> {
    comm: &'comm Comm<A>,
    /// `None` when it has completed.
    open: Option<(RawRequest, Vec<T>)>,
}

impl<A: Threading> Comm<A> {
    /// Starts a standard send of a vector (`MPI_Isend`).
    ///
    /// # Errors
    /// As [`Comm::send`].
    pub fn isend_owned<T: Data>(
        &self,
        values: Vec<T>,
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<OwnedRequest<'_, T, A>> {
        let Destination(to) = to.into();
        let request = self.raw.isend(source(&values), to, tag, Mode::Standard)?;
        Ok(OwnedRequest {
            comm: self,
            open: Some((request, values)),
        })
    }

    /// A vector of `count` zeros for a message.
    pub(super) fn room<T: Data>(&self, count: usize) -> Result<Vec<T>> {
        T::new_vec_zeroed(count).map_err(|_| Error::Memory {
            rank: self.rank(),
            bytes: count.saturating_mul(size_of::<T>()),
        })
    }

    /// Starts a receive into a vector of `room` elements (`MPI_Irecv`).
    ///
    /// # Errors
    /// When the rank does not exist, the tag is too large, or there is no memory.
    pub fn irecv_owned<T: Data>(
        &self,
        room: usize,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<OwnedRequest<'_, T, A>> {
        let mut values = self.room(room)?;
        let request = self
            .raw
            .irecv(target(&mut values), source.into(), tag.into())?;
        Ok(OwnedRequest {
            comm: self,
            open: Some((request, values)),
        })
    }
}

impl<T: Data, A: Threading> OwnedRequest<'_, T, A> {
    /// Waits for its completion, and gives the vector back: a receive's with the message's length.
    ///
    /// # Errors
    /// That of the operation.
    pub fn wait(mut self) -> Result<(Vec<T>, Status)> {
        let Some((request, mut values)) = self.open.take() else {
            unreachable!("only `wait` and `drop` take it, and both end it")
        };
        let status = self.comm.raw.wait(request)?;
        if let Some(count) = status.count::<T>() {
            values.truncate(count as usize);
        }
        Ok((values, status))
    }

    /// Whether [`OwnedRequest::wait`] would return at once.
    ///
    /// # Errors
    /// When the world has ended.
    pub fn is_done(&self) -> Result<bool> {
        match &self.open {
            None => Ok(true),
            Some((request, _)) => {
                let done = self
                    .comm
                    .raw
                    .poll_for(|ended| ended(*request).then_some(()))?;
                Ok(done.is_some())
            }
        }
    }
}

impl<T: Data, A: Threading> Drop for OwnedRequest<'_, T, A> {
    fn drop(&mut self) {
        if let Some((request, values)) = self.open.take() {
            self.comm.raw.detach(request, Box::new(values));
        }
    }
}

impl<T: Data, A: Threading> fmt::Debug for OwnedRequest<'_, T, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedRequest").finish_non_exhaustive()
    }
}
