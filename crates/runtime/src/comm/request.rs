//! Handles of nonblocking operations: wait, test, and the same for lists of them.

use std::fmt;

use super::open_requests::OpenRequests;
use crate::buffer::Buffer;
use crate::envelope::Status;
use crate::error::Result;
use crate::raw::{RawRequest, Threading};

/// A nonblocking operation that is under way, and its buffer.
///
/// Dropping it is fine: the scope waits for it at its end.
pub struct Request<'scope, 'env: 'scope, B: Buffer, A: Threading> {
    open: &'scope OpenRequests<'scope, 'env, A>,
    request: RawRequest,
    buffer: B::Held,
}

/// A request whose buffer is not given back, so that sends and receives of any type fit one list.
pub type AnyRequest<'scope, 'env, A> = Request<'scope, 'env, (), A>;

/// What a test found.
#[derive(Debug)]
pub enum Test<E, O> {
    /// It has ended; this came of it.
    Ready(E),
    /// It is still under way; here it is again.
    Pending(O),
}

/// What came of several operations, in their order.
pub type AllCompleted<B> = Vec<(B, Status)>;

/// What ended: its place in the list, its buffer and its status.
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

    /// Waits for the end, and gives the buffer back with the status (`MPI_Wait`). The status of a
    /// send names the receiver and the bytes sent.
    ///
    /// # Errors
    /// What went wrong with the operation.
    #[inline(always)]
    pub fn wait(self) -> Result<(B, Status)> {
        let ended = self.open.raw().wait(self.request);
        let buffer = self.end();
        ended.map(|status| (buffer, status))
    }

    /// Looks whether it has ended; if not, gives the request back (`MPI_Test`).
    ///
    /// # Errors
    /// What went wrong with the operation.
    pub fn test(self) -> Result<Test<(B, Status), Self>> {
        match self.open.raw().test(self.request) {
            None => Ok(Test::Pending(self)),
            Some(ended) => {
                let buffer = self.end();
                ended.map(|status| Test::Ready((buffer, status)))
            }
        }
    }

    /// Takes the operation back (`MPI_Cancel` and `MPI_Wait`): a receive without a match is
    /// cancelled, a send that waits for its receiver is recalled; what has begun is waited for.
    /// Gives the buffer back, and the status if the operation took place after all.
    ///
    /// # Errors
    /// What went wrong with the operation.
    pub fn cancel(self) -> Result<(B, Option<Status>)> {
        let ended = self.open.raw().cancel(self.request);
        let buffer = self.end();
        ended.map(|status| (buffer, status))
    }

    /// Tells the scope that the operation has ended, and gives the buffer back.
    #[inline(always)]
    fn end(self) -> B {
        self.open.completed(self.request);
        // SAFETY: the scope made this request of a buffer of type `B`; every caller has seen the
        // operation's end, or that this process is a fork, in which nothing is under way.
        unsafe { B::back(self.buffer) }
    }

    /// The same request without its buffer, to be put in a list with others.
    pub fn any(self) -> AnyRequest<'scope, 'env, A> {
        Request::new(self.open, self.request, ())
    }

    /// Waits for all of `requests`, in their order (`MPI_Waitall`).
    ///
    /// # Errors
    /// The first one; the others are waited for all the same, at the scope's end.
    pub fn wait_all(requests: impl IntoIterator<Item = Self>) -> Result<AllCompleted<B>> {
        requests.into_iter().map(Self::wait).collect()
    }

    /// Waits until one of `requests` has ended, and takes it out of the list by
    /// [`Vec::swap_remove`] (`MPI_Waitany`). `None`: the list is empty.
    ///
    /// # Errors
    /// What went wrong with that one.
    pub fn wait_any(requests: &mut Vec<Self>) -> Result<Option<Completed<B>>> {
        let Some(first) = requests.first() else {
            return Ok(None);
        };
        let raw = first.open.raw();
        let place = raw.wait_first(requests.iter().map(|r| r.request))?;
        Self::take(requests, place).map(Some)
    }

    /// Takes one that has ended out of the list by [`Vec::swap_remove`] (`MPI_Testany`). `None`:
    /// none has.
    ///
    /// # Errors
    /// What went wrong with that one.
    pub fn test_any(requests: &mut Vec<Self>) -> Result<Option<Completed<B>>> {
        let Some(first) = requests.first() else {
            return Ok(None);
        };
        let raw = first.open.raw();
        match raw.look(|ended| requests.iter().position(|r| ended(r.request)))? {
            None => Ok(None),
            Some(place) => Self::take(requests, place).map(Some),
        }
    }

    /// Waits until at least one has ended, and takes all that have out of the list
    /// (`MPI_Waitsome`). The places are those before the call. Empty: the list is empty.
    ///
    /// # Errors
    /// The first one; what else had ended stays in the list or is lost with it.
    pub fn wait_some(requests: &mut Vec<Self>) -> Result<Vec<Completed<B>>> {
        let Some(first) = requests.first() else {
            return Ok(Vec::new());
        };
        let raw = first.open.raw();
        raw.wait_first(requests.iter().map(|r| r.request))?;
        Self::test_some(requests)
    }

    /// Takes all that have ended out of the list (`MPI_Testsome`). The places are those before the
    /// call.
    ///
    /// # Errors
    /// As [`Request::wait_some`].
    pub fn test_some(requests: &mut Vec<Self>) -> Result<Vec<Completed<B>>> {
        let Some(first) = requests.first() else {
            return Ok(Vec::new());
        };
        let raw = first.open.raw();
        let done = raw.look(|has_ended| {
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

    /// Whether all have ended; if so, gives their buffers and statuses (`MPI_Testall`), else the
    /// list as it was.
    ///
    /// # Errors
    /// The first one.
    pub fn test_all(requests: Vec<Self>) -> Result<Test<AllCompleted<B>, Vec<Self>>> {
        let Some(first) = requests.first() else {
            return Ok(Test::Ready(Vec::new()));
        };
        let raw = first.open.raw();
        let all = raw.look(|ended| requests.iter().all(|r| ended(r.request)).then_some(()))?;
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
