//! The requests of a scope that may not have completed.
//!
//! The scope completes them all before the borrow of their buffers may end, so that a request that is leaked,
//! forgotten or dropped early cannot leave a buffer in use. A request that has completed stays in the list, where
//! it is stale: taking it out at its end would cost each request more than the list's next sweep does.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

use oxmpi_core::{Communicator, OpenRequest, RawRequest, Result, Threading};

/// The requests of a scope that may not have completed.
pub(super) struct OpenRequests<'scope, 'env: 'scope, A: Threading> {
    raw: &'env Communicator<A>,
    open: RefCell<Vec<OpenRequest>>,
    /// Requests among them whose handles have not seen their completion.
    live: Cell<usize>,
    /// Invariant in both lifetimes, as `std::thread::Scope`.
    lifetimes: PhantomData<(&'scope mut &'scope (), &'env mut &'env ())>,
}

impl<'env, A: Threading> OpenRequests<'_, 'env, A> {
    /// Capacity of a new list.
    const ROOM: usize = 64;

    #[inline(always)]
    pub(super) fn new(raw: &'env Communicator<A>) -> Self {
        Self {
            raw,
            open: RefCell::new(raw.lend_list()),
            live: Cell::new(0),
            lifetimes: PhantomData,
        }
    }

    #[inline(always)]
    pub(super) const fn raw(&self) -> &'env Communicator<A> {
        self.raw
    }

    #[inline(always)]
    pub(super) fn add(&self, request: RawRequest) {
        if let Some(request) = request.open {
            let mut open = self.open.borrow_mut();
            if open.len() == open.capacity() {
                self.make_room(&mut open);
            }
            open.push(request);
            self.live.set(self.live.get() + 1);
        }
    }

    /// Makes room in the list.
    ///
    /// # Cost
    /// Constant on average: the list doubles where less than half of its requests have completed.
    #[cold]
    #[inline(never)]
    fn make_room(&self, open: &mut Vec<OpenRequest>) {
        self.raw.retain_open(open);
        open.reserve((open.len() + 1).max(Self::ROOM));
    }

    /// Notes that the handle of a request has seen its completion.
    #[inline(always)]
    pub(super) fn completed(&self, request: RawRequest) {
        if request.open.is_some() {
            self.live.set(self.live.get() - 1);
        }
    }

    /// Waits for every open request; the first error is kept, and all are waited for.
    #[inline(always)]
    pub(super) fn finish(&self) -> Result<()> {
        let mut open = self.open.take();
        if self.live.get() != 0 {
            return self.finish_live(open);
        }
        open.clear();
        self.raw.return_list(open);
        Ok(())
    }

    #[inline(never)]
    fn finish_live(&self, mut open: Vec<OpenRequest>) -> Result<()> {
        let result = self.raw.wait_for_all(&mut open);
        self.raw.return_list(open);
        result
    }

    /// Takes every open request back and waits until none touches its buffer.
    #[cold]
    pub(super) fn take_back(&self) {
        while let Some(request) = self.next_open() {
            // The scope reports the error that made it end.
            let _ = self.raw.take_back(request);
        }
        self.raw.return_list(self.open.take());
    }

    fn next_open(&self) -> Option<OpenRequest> {
        self.open.borrow_mut().pop()
    }
}
