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

/// The buffers and statuses of several operations, in their order.
pub type AllCompleted<B> = Vec<(B, Status)>;

/// The result of each of several operations, in their order (`MPI_ERR_IN_STATUS`).
pub type EachCompleted<B> = Vec<Result<(B, Status)>>;

/// A completed request of a list.
#[derive(Debug)]
#[non_exhaustive]
pub struct Completed<B> {
    /// Its index in the list before the call.
    pub index: usize,
    /// Its buffer and its status, or the error of this operation alone.
    pub result: Result<(B, Status)>,
}

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
    /// The first error, as soon as it is found; the scope's end waits for the other requests.
    /// [`Request::wait_each`] gives every result.
    pub fn wait_all(requests: impl IntoIterator<Item = Self>) -> Result<AllCompleted<B>> {
        requests.into_iter().map(Self::wait).collect()
    }

    /// Waits for all of `requests`, in their order, and gives each its own result (`MPI_Waitall` with the errors
    /// in the statuses).
    pub fn wait_each(requests: impl IntoIterator<Item = Self>) -> EachCompleted<B> {
        requests.into_iter().map(Self::wait).collect()
    }

    /// Waits until one of `requests` has completed, and removes it from the list by [`Vec::swap_remove`]
    /// (`MPI_Waitany`). `None`: the list is empty.
    ///
    /// # Errors
    /// When none of them can complete, or the world has ended. The error of the operation is in its
    /// [result](Completed::result).
    pub fn wait_any(requests: &mut Vec<Self>) -> Result<Option<Completed<B>>> {
        let Some(first) = requests.first() else {
            return Ok(None);
        };
        let raw = first.open.raw();
        let index = raw.wait_first(requests.iter().map(|r| r.request))?;
        Ok(Some(Self::take(requests, index)))
    }

    /// Removes a completed request from the list by [`Vec::swap_remove`] (`MPI_Testany`). `None`: none has
    /// completed.
    ///
    /// # Errors
    /// When the world has ended. The error of the operation is in its [result](Completed::result).
    pub fn test_any(requests: &mut Vec<Self>) -> Result<Option<Completed<B>>> {
        let Some(first) = requests.first() else {
            return Ok(None);
        };
        let raw = first.open.raw();
        let found = raw.poll_for(|ended| requests.iter().position(|r| ended(r.request)))?;
        Ok(found.map(|index| Self::take(requests, index)))
    }

    /// Waits until at least one has completed, and removes all completed requests from the list, each with its
    /// own result (`MPI_Waitsome`). The others keep their order. Empty: the list is empty.
    ///
    /// # Errors
    /// When none of them can complete, or the world has ended. The error of an operation is in its
    /// [result](Completed::result).
    pub fn wait_some(requests: &mut Vec<Self>) -> Result<Vec<Completed<B>>> {
        let Some(first) = requests.first() else {
            return Ok(Vec::new());
        };
        let raw = first.open.raw();
        raw.wait_first(requests.iter().map(|r| r.request))?;
        Self::test_some(requests)
    }

    /// Removes all completed requests from the list, each with its own result (`MPI_Testsome`). The others keep
    /// their order.
    ///
    /// # Errors
    /// As [`Request::test_any`].
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
        for (index, request) in requests.drain(..).enumerate() {
            if done[index] {
                let result = request.wait();
                ended.push(Completed { index, result });
            } else {
                open.push(request);
            }
        }
        *requests = open;
        Ok(ended)
    }

    /// The buffers and statuses of all requests if all have completed (`MPI_Testall`), else the list.
    ///
    /// # Errors
    /// The first error. [`Request::test_each`] gives every result.
    pub fn test_all(requests: Vec<Self>) -> Result<Test<AllCompleted<B>, Vec<Self>>> {
        match Self::test_each(requests)? {
            Test::Pending(requests) => Ok(Test::Pending(requests)),
            Test::Ready(results) => {
                let all: Result<_> = results.into_iter().collect();
                all.map(Test::Ready)
            }
        }
    }

    /// The result of each request if all have completed (`MPI_Testall` with the errors in the statuses), else the
    /// list.
    ///
    /// # Errors
    /// When the world has ended.
    pub fn test_each(requests: Vec<Self>) -> Result<Test<EachCompleted<B>, Vec<Self>>> {
        let Some(first) = requests.first() else {
            return Ok(Test::Ready(Vec::new()));
        };
        let raw = first.open.raw();
        let all = raw.poll_for(|ended| requests.iter().all(|r| ended(r.request)).then_some(()))?;
        Ok(match all {
            None => Test::Pending(requests),
            Some(()) => Test::Ready(Self::wait_each(requests)),
        })
    }

    fn take(requests: &mut Vec<Self>, index: usize) -> Completed<B> {
        let result = requests.swap_remove(index).wait();
        Completed { index, result }
    }
}

impl<B: Buffer, A: Threading> fmt::Debug for Request<'_, '_, B, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").finish_non_exhaustive()
    }
}
