//! Handles of nonblocking operations: wait and test, for one and for lists of them.

use std::fmt;

use oxmpi_core::{RawRequest, Result, Status, Threading};

use super::open_requests::OpenRequests;
use crate::buffer::Buffer;

/// A nonblocking operation under way, with its buffer.
///
/// It may be dropped: its scope waits for it.
pub struct Request<'scope, 'env: 'scope, B: Buffer, A: Threading> {
    open: &'scope OpenRequests<'scope, 'env, A>,
    request: RawRequest,
    buffer: B::Held,
}

/// A request that does not give its buffer back, so that sends and receives of any type fit in one list.
pub type AnyRequest<'scope, 'env, A> = Request<'scope, 'env, (), A>;

/// The result of a test.
#[derive(Debug)]
pub enum Test<E, O> {
    /// The operation has completed, with this result.
    Ready(E),
    /// The operation is still under way; this is its request.
    Pending(O),
}

/// The results of several operations, in their order.
pub type AllCompleted<B> = Vec<(B, Status)>;

/// A completed request: its index in the list, its buffer and its status.
pub type Completed<B> = (usize, B, Status);

impl<'scope, 'env, B: Buffer, A: Threading> Request<'scope, 'env, B, A> {
    pub(super) const fn new(
        open: &'scope OpenRequests<'scope, 'env, A>,
        request: RawRequest,
        buffer: B::Held,
    ) -> Self {
        Self {
            open,
            request,
            buffer,
        }
    }

    /// Waits for its completion, and gives the buffer and the status (`MPI_Wait`). The status of a send names
    /// the receiver and the bytes sent.
    ///
    /// # Errors
    /// That of the operation.
    #[inline(always)]
    pub fn wait(self) -> Result<(B, Status)> {
        let ended = self.open.raw().wait(self.request);
        let buffer = self.end();
        ended.map(|status| (buffer, status))
    }

    /// Tests whether it has completed; if not, gives the request back (`MPI_Test`).
    ///
    /// # Errors
    /// That of the operation.
    pub fn test(self) -> Result<Test<(B, Status), Self>> {
        match self.open.raw().test(self.request) {
            None => Ok(Test::Pending(self)),
            Some(ended) => {
                let buffer = self.end();
                ended.map(|status| Test::Ready((buffer, status)))
            }
        }
    }

    /// Cancels the operation and waits for it (`MPI_Cancel` and `MPI_Wait`): receives without a match and
    /// sends that wait for their receiver are cancelled, other transfers complete. Gives the buffer, and the
    /// status if the operation took place.
    ///
    /// # Errors
    /// That of the operation.
    pub fn cancel(self) -> Result<(B, Option<Status>)> {
        let ended = self.open.raw().cancel(self.request);
        let buffer = self.end();
        ended.map(|status| (buffer, status))
    }

    /// Notes the completion in the scope, and gives the buffer back.
    #[inline(always)]
    fn end(self) -> B {
        self.open.completed(self.request);
        // SAFETY: the scope made this request of a buffer of type `B`. Every caller has seen the operation's
        // completion, or this process is a fork, in which no operation is under way.
        unsafe { B::back(self.buffer) }
    }

    /// The same request without its buffer, for a list with others.
    pub fn any(self) -> AnyRequest<'scope, 'env, A> {
        Request::new(self.open, self.request, ())
    }

    /// Waits for all of `requests`, in their order (`MPI_Waitall`).
    ///
    /// # Errors
    /// The first error; the scope's end waits for the other requests.
    pub fn wait_all(requests: impl IntoIterator<Item = Self>) -> Result<AllCompleted<B>> {
        requests.into_iter().map(Self::wait).collect()
    }

    /// Waits until one of `requests` has completed, and removes it from the list by [`Vec::swap_remove`]
    /// (`MPI_Waitany`). `None`: the list is empty.
    ///
    /// # Errors
    /// That of this operation.
    pub fn wait_any(requests: &mut Vec<Self>) -> Result<Option<Completed<B>>> {
        let Some(first) = requests.first() else {
            return Ok(None);
        };
        let raw = first.open.raw();
        let place = raw.wait_first(requests.iter().map(|r| r.request))?;
        Self::take(requests, place).map(Some)
    }

    /// Removes a completed request from the list by [`Vec::swap_remove`] (`MPI_Testany`). `None`: none has
    /// completed.
    ///
    /// # Errors
    /// That of this operation.
    pub fn test_any(requests: &mut Vec<Self>) -> Result<Option<Completed<B>>> {
        let Some(first) = requests.first() else {
            return Ok(None);
        };
        let raw = first.open.raw();
        match raw.poll_for(|ended| requests.iter().position(|r| ended(r.request)))? {
            None => Ok(None),
            Some(place) => Self::take(requests, place).map(Some),
        }
    }

    /// Waits until at least one has completed, and removes all completed requests from the list
    /// (`MPI_Waitsome`). Their indexes are those before the call. Empty: the list is empty.
    ///
    /// # Errors
    /// The first error. Other completed requests stay in the list, or are lost if they were removed before
    /// it.
    pub fn wait_some(requests: &mut Vec<Self>) -> Result<Vec<Completed<B>>> {
        let Some(first) = requests.first() else {
            return Ok(Vec::new());
        };
        let raw = first.open.raw();
        raw.wait_first(requests.iter().map(|r| r.request))?;
        Self::test_some(requests)
    }

    /// Removes all completed requests from the list (`MPI_Testsome`). Their indexes are those before the
    /// call.
    ///
    /// # Errors
    /// As [`Request::wait_some`].
    pub fn test_some(requests: &mut Vec<Self>) -> Result<Vec<Completed<B>>> {
        let Some(first) = requests.first() else {
            return Ok(Vec::new());
        };
        let raw = first.open.raw();
        let done = raw.poll_for(|has_ended| {
            let all = requests.iter().map(|r| has_ended(r.request));
            Some(all.collect::<Vec<bool>>()).filter(|done| done.contains(&true))
        })?;
        let Some(done) = done else {
            return Ok(Vec::new());
        };
        let mut ended = Vec::new();
        let mut open = Vec::with_capacity(requests.len());
        let mut failed = None;
        for (place, request) in requests.drain(..).enumerate() {
            if !done[place] || failed.is_some() {
                open.push(request);
                continue;
            }
            match request.wait() {
                Ok((buffer, status)) => ended.push((place, buffer, status)),
                Err(error) => failed = Some(error),
            }
        }
        *requests = open;
        match failed {
            Some(error) => Err(error),
            None => Ok(ended),
        }
    }

    /// The buffers and statuses of all requests if all have completed (`MPI_Testall`), else the list.
    ///
    /// # Errors
    /// The first error.
    pub fn test_all(requests: Vec<Self>) -> Result<Test<AllCompleted<B>, Vec<Self>>> {
        let Some(first) = requests.first() else {
            return Ok(Test::Ready(Vec::new()));
        };
        let raw = first.open.raw();
        let all = raw.poll_for(|ended| requests.iter().all(|r| ended(r.request)).then_some(()))?;
        match all {
            None => Ok(Test::Pending(requests)),
            Some(()) => Self::wait_all(requests).map(Test::Ready),
        }
    }

    fn take(requests: &mut Vec<Self>, place: usize) -> Result<Completed<B>> {
        let (buffer, status) = requests.swap_remove(place).wait()?;
        Ok((place, buffer, status))
    }
}

impl<B: Buffer, A: Threading> fmt::Debug for Request<'_, '_, B, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").finish_non_exhaustive()
    }
}
