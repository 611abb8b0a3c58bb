//! [`WindowRequest`]: an access that is waited for before its epoch ends.

use std::fmt;

use oxmpi_core::{RawRequest, Result, Threading, Window};

use crate::buffer::Buffer;
use crate::comm::Test;

/// An access that brings elements, with the buffer for them (`MPI_Rget`, `MPI_Rget_accumulate`). It may be dropped: the end
/// of its epoch waits for it.
///
/// A put and an accumulate have read their values when their calls return, so they have no requests.
pub struct WindowRequest<'env, B: Buffer, A: Threading> {
    raw: &'env Window<A>,
    target: usize,
    /// `None`: it has ended.
    request: Option<RawRequest>,
    /// `None` once it is given back.
    buffer: Option<B::Held>,
}

impl<'env, B: Buffer, A: Threading> WindowRequest<'env, B, A> {
    pub(super) const fn new(
        raw: &'env Window<A>,
        target: usize,
        request: Option<RawRequest>,
        buffer: B::Held,
    ) -> Self {
        Self {
            raw,
            target,
            request,
            buffer: Some(buffer),
        }
    }

    /// Waits for the elements and gives the buffer back (`MPI_Wait`).
    ///
    /// # Errors
    /// When the access was not done; when the target is lost.
    pub fn wait(mut self) -> Result<B> {
        match self.request.take() {
            Some(request) => {
                let ended = self.raw.comm().wait(request).map(drop);
                self.end(ended)
            }
            None => self.end(Ok(())),
        }
    }

    /// Tests whether the elements have come; if not, gives the request back (`MPI_Test`).
    ///
    /// # Errors
    /// As [`WindowRequest::wait`].
    pub fn test(mut self) -> Result<Test<B, Self>> {
        let ended = match self.request {
            Some(request) => self.raw.comm().test(request),
            None => return self.end(Ok(())).map(Test::Ready),
        };
        match ended {
            None => Ok(Test::Pending(self)),
            Some(ended) => {
                self.request = None;
                self.end(ended.map(drop)).map(Test::Ready)
            }
        }
    }

    /// The buffer of an access that has ended so.
    fn end(mut self, ended: Result<()>) -> Result<B> {
        if let Err(why) = ended {
            // The window may know more than the request.
            self.raw.finish(self.target)?;
            return Err(why);
        }
        let held = self.buffer.take().expect("it is given back once");
        // SAFETY: made of a buffer of this type, whose access has ended: it brings no more bytes.
        Ok(unsafe { B::back(held) })
    }
}

impl<B: Buffer, A: Threading> Drop for WindowRequest<'_, B, A> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            self.raw.comm().detach(request, Box::new(()));
        }
    }
}

impl<B: Buffer, A: Threading> fmt::Debug for WindowRequest<'_, B, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowRequest")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}
