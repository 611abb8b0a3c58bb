//! Handles of nonblocking operations: wait, test, and the same for lists of them.

use std::fmt;

use crate::envelope::Status;
use crate::error::Result;
use crate::raw::{RawRequest, Threading};
use crate::scope::Scope;

/// A nonblocking operation that is under way, and its buffer.
///
/// Dropping it is fine: the scope waits for it at its end.
pub struct Request<'scope, 'env: 'scope, B: Buffer, A: Threading> {
    scope: &'scope Scope<'scope, 'env, A>,
    request: RawRequest,
    buffer: B::Held,
}

/// What a request borrows, and gives back at its end: the slice of a send or of a receive, nothing,
/// or what a collective reads and what it writes. Sealed.
pub trait Buffer: sealed::HoldBuffer {}

impl<B: sealed::HoldBuffer> Buffer for B {}

pub(crate) mod sealed {
    /// A buffer as its request holds it. A receive's is an address: a unique reference must not
    /// stand, or move, beside the one that the message is written through.
    #[allow(
        unnameable_types,
        reason = "the trait is sealed: callers name `Buffer`, never this"
    )]
    pub trait HoldBuffer: Sized {
        /// What is held.
        type Held;

        /// The buffer, lent for a while.
        type Lent<'a>
        where
            Self: 'a;

        /// The buffer again.
        ///
        /// # Safety
        /// `held` was made of a buffer of this very type, whose operation has ended.
        unsafe fn back(held: Self::Held) -> Self;

        /// The buffer for a while.
        ///
        /// # Safety
        /// `held` was made of a buffer of this very type, which no operation uses meanwhile.
        unsafe fn lend<'a>(held: &'a mut Self::Held) -> Self::Lent<'a>
        where
            Self: 'a;
    }

    impl<'buf, T> HoldBuffer for &'buf [T] {
        type Held = Self;

        type Lent<'a>
            = &'a [T]
        where
            'buf: 'a;

        unsafe fn back(held: Self) -> Self {
            held
        }

        unsafe fn lend<'a>(held: &'a mut Self) -> &'a [T]
        where
            'buf: 'a,
        {
            held
        }
    }

    impl<'buf, T> HoldBuffer for &'buf mut [T] {
        type Held = *mut [T];

        type Lent<'a>
            = &'a mut [T]
        where
            'buf: 'a;

        unsafe fn back(held: *mut [T]) -> Self {
            // SAFETY: made of such a reference, which nobody else has used since; and the
            // operation has ended, by the caller's word.
            unsafe { &mut *held }
        }

        unsafe fn lend<'a>(held: &'a mut *mut [T]) -> &'a mut [T]
        where
            'buf: 'a,
        {
            // SAFETY: as above; and it is lent no longer than what holds it.
            unsafe { &mut **held }
        }
    }

    impl HoldBuffer for () {
        type Held = ();
        type Lent<'a> = ();

        unsafe fn back((): ()) {}

        unsafe fn lend<'a>((): &'a mut ())
        where
            (): 'a,
        {
        }
    }

    impl<B: HoldBuffer> HoldBuffer for Option<B> {
        type Held = Option<B::Held>;

        type Lent<'a>
            = Option<B::Lent<'a>>
        where
            B: 'a;

        unsafe fn back(held: Option<B::Held>) -> Self {
            // SAFETY: the caller's word, of what there is.
            held.map(|held| unsafe { B::back(held) })
        }

        unsafe fn lend<'a>(held: &'a mut Option<B::Held>) -> Option<B::Lent<'a>>
        where
            B: 'a,
        {
            // SAFETY: the caller's word, of what there is.
            held.as_mut().map(|held| unsafe { B::lend(held) })
        }
    }

    impl<B: HoldBuffer, C: HoldBuffer> HoldBuffer for (B, C) {
        type Held = (B::Held, C::Held);

        type Lent<'a>
            = (B::Lent<'a>, C::Lent<'a>)
        where
            (B, C): 'a;

        unsafe fn back((first, second): (B::Held, C::Held)) -> Self {
            // SAFETY: the caller's word, of each of them.
            let first = unsafe { B::back(first) };
            // SAFETY: as above.
            let second = unsafe { C::back(second) };
            (first, second)
        }

        unsafe fn lend<'a>(
            (first, second): &'a mut (B::Held, C::Held),
        ) -> (B::Lent<'a>, C::Lent<'a>)
        where
            (B, C): 'a,
        {
            // SAFETY: the caller's word, of each of them.
            let first = unsafe { B::lend(first) };
            // SAFETY: as above.
            let second = unsafe { C::lend(second) };
            (first, second)
        }
    }
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
    pub(crate) const fn new(
        scope: &'scope Scope<'scope, 'env, A>,
        request: RawRequest,
        buffer: B::Held,
    ) -> Self {
        Self {
            scope,
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
        let ended = self.scope.raw().wait(self.request);
        let buffer = self.end();
        ended.map(|status| (buffer, status))
    }

    /// Looks whether it has ended; if not, gives the request back (`MPI_Test`).
    ///
    /// # Errors
    /// What went wrong with the operation.
    pub fn test(self) -> Result<Test<(B, Status), Self>> {
        match self.scope.raw().test(self.request) {
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
        let ended = self.scope.raw().cancel(self.request);
        let buffer = self.end();
        ended.map(|status| (buffer, status))
    }

    /// Tells the scope that the operation has ended, and gives the buffer back.
    #[inline(always)]
    fn end(self) -> B {
        self.scope.ended(self.request);
        // SAFETY: the scope made this request of a buffer of type `B`; every caller has seen the
        // operation's end, or that this process is a fork, in which nothing is under way.
        unsafe { B::back(self.buffer) }
    }

    /// The same request without its buffer, to be put in a list with others.
    pub fn any(self) -> AnyRequest<'scope, 'env, A> {
        Request::new(self.scope, self.request, ())
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
        let raw = first.scope.raw();
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
        let raw = first.scope.raw();
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
        let raw = first.scope.raw();
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
        let raw = first.scope.raw();
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
        let raw = first.scope.raw();
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
