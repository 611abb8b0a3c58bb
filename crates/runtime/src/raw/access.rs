//! How a communicator reaches its lane: as the one owner, or through a lock.

use std::rc::Rc;
use std::sync::{Arc, PoisonError};

use oxmpi_os::RawBytes;
use oxmpi_shm::wait::Waiter;
use oxmpi_wire::{Envelope, Peer, Short, Source, Status, Tag, Wanted};

use super::cell::LaneCell;
use super::collective;
use super::communicator::OpenRequest;
use super::lane::Lane;
use super::siblings::{self, OwnLane, SharedLane};
use crate::error::Result;

/// How a communicator reaches its lane. Sealed: the two ways are [`Own`] and [`Shared`].
pub trait Access: sealed::Reach {}

/// The lane belongs to one thread; no lock.
#[derive(Clone)]
pub struct Own(pub(super) Rc<OwnLane>);

/// The lane is shared by threads; each call takes its lock.
#[derive(Clone)]
pub struct Shared(pub(super) Arc<SharedLane>);

pub(crate) mod sealed {
    use oxmpi_os::RawBytes;
    use oxmpi_wire::{Envelope, Outcome, Peer, Short, Source, Status, Tag, Wanted};

    use super::{EndOfProcess, Lane, OpenRequest, Result, Waiter};

    /// What the raw core does with a lane.
    #[allow(
        unnameable_types,
        reason = "the trait is sealed: callers name `Access`, never this"
    )]
    pub trait Reach: Clone {
        /// Whether only the calling thread can use the lane.
        const ALONE: bool;

        /// Whether both reach the same lane.
        fn is(&self, other: &Self) -> bool;

        /// Works on the lane. `work` must not call back into it.
        fn with<R>(&self, work: impl FnOnce(&mut Lane) -> R) -> R;

        /// [`Lane::send_short`], inlined as no closure is.
        fn send_short(&self, to: Peer, envelope: Envelope, body: &RawBytes) -> bool {
            self.with(|lane| lane.is_usable() && lane.send_short(to, envelope, body))
        }

        /// [`Lane::take_short`], inlined as no closure is.
        fn take_short(&self, source: Peer, wanted: Wanted, body: &RawBytes) -> Option<Short> {
            self.with(|lane| {
                let short = lane
                    .is_usable()
                    .then(|| lane.take_short(source, wanted, body));
                let short = short.flatten()?;
                if short.poll {
                    lane.progress();
                }
                Some(short)
            })
        }

        /// [`Lane::recv_short`] for a microsecond or two.
        fn recv_short(
            &self,
            source: Peer,
            context: u32,
            tag: Tag,
            body: RawBytes,
        ) -> Option<Status> {
            let source = Source::Peer(source);
            self.with(|lane| lane.recv_short(lane.looks, source, context, tag, &body))
        }

        /// [`Lane::irecv`], inlined as no closure is.
        ///
        /// # Errors
        /// When the lane may not be used.
        fn irecv(
            &self,
            source: Source,
            context: u32,
            tag: Tag,
            body: RawBytes,
        ) -> Result<OpenRequest> {
            self.with(|lane| {
                lane.check()?;
                Ok(lane.irecv(source, context, tag, body))
            })
        }

        /// [`Lane::received`], inlined as no closure is. `None` too where the lane may not be used.
        fn received(&self, request: OpenRequest) -> Option<Status> {
            self.with(|lane| (lane.is_usable().then(|| lane.received(request))).flatten())
        }

        /// [`Lane::wait_briefly`], guarded as [`Reach::until`] is.
        fn wait_briefly(&self, request: OpenRequest) -> Option<Outcome> {
            let end = EndOfProcess;
            let outcome = self.with(|lane| lane.wait_briefly(request));
            std::mem::forget(end);
            outcome
        }

        /// Drives the lane until `ready` gives something. Between its calls the lane makes
        /// progress, or this thread spins, yields or sleeps.
        ///
        /// # Errors
        /// When the lane ends meanwhile, which only another thread can do.
        fn until<R>(&self, ready: impl FnMut(&mut Lane) -> Option<R>) -> Result<R>;

        /// One turn of [`Reach::until`], for callers that look for themselves.
        ///
        /// # Errors
        /// When the lane has ended: another thread, or an operation of this one's, has left.
        fn turn(&self, waiter: &mut Waiter) -> Result<()>;

        /// A new wait.
        fn waiter(&self) -> Waiter;

        /// Leaves the other ranks: everything sent goes out first, and what another thread
        /// advances comes back. No lane is held meanwhile but by its turns.
        ///
        /// # Panics
        /// As [`Lane::begin_leaving`].
        fn leave(&self) {
            if !self.with(Lane::begin_leaving) {
                return;
            }
            let mut waiter = self.waiter();
            while !self.with(Lane::try_leave) {
                // An error: another thread has left, which the next look sees.
                let _ended = self.turn(&mut waiter);
            }
        }
    }
}

use sealed::Reach;

/// Ends the process when a panic passes it. A call that waits may have a request posted whose buffer
/// lies in the stack: a mistake of ours in the lane must not leave it there for a later message.
struct EndOfProcess;

impl Drop for EndOfProcess {
    fn drop(&mut self) {
        std::process::abort();
    }
}

impl Own {
    pub(crate) fn new(lane: LaneCell) -> Self {
        Self(OwnLane::new(lane))
    }
}

impl Shared {
    pub(crate) fn new(lane: Lane) -> Self {
        Self(SharedLane::new(lane))
    }
}

impl Own {
    #[cold]
    #[inline(never)]
    fn progress(&self) {
        self.with(Lane::progress);
    }
}

impl Access for Own {}

impl Reach for Own {
    const ALONE: bool = true;

    fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    #[inline(always)]
    fn with<R>(&self, work: impl FnOnce(&mut Lane) -> R) -> R {
        work(&mut self.0.lane.borrow())
    }

    #[inline(always)]
    fn send_short(&self, to: Peer, envelope: Envelope, body: &RawBytes) -> bool {
        // SAFETY: the engine and the transport put a word into a ring; no code of the user runs.
        match unsafe { self.0.lane.usable() } {
            Some(lane) => lane.send_short(to, envelope, body),
            None => false,
        }
    }

    #[inline(always)]
    fn irecv(&self, source: Source, context: u32, tag: Tag, body: RawBytes) -> Result<OpenRequest> {
        let lane = &mut *self.0.lane.borrow();
        lane.check()?;
        Ok(lane.irecv(source, context, tag, body))
    }

    #[inline(always)]
    fn received(&self, request: OpenRequest) -> Option<Status> {
        // SAFETY: the engine looks a request up and frees its place; no code of the user runs.
        unsafe { self.0.lane.usable() }?.received(request)
    }

    // Out of line: what a call does while it waits takes no time.
    #[inline(never)]
    fn recv_short(&self, source: Peer, context: u32, tag: Tag, body: RawBytes) -> Option<Status> {
        let source = Source::Peer(source);
        let mut lane = self.0.lane.borrow();
        let looks = lane.looks;
        lane.recv_short(looks, source, context, tag, &body)
    }

    #[inline(always)]
    fn take_short(&self, source: Peer, wanted: Wanted, body: &RawBytes) -> Option<Short> {
        // SAFETY: the engine and the transport take a word from a ring; no code of the user runs.
        let short = unsafe { self.0.lane.usable() }?.take_short(source, wanted, body)?;
        if short.poll {
            self.progress();
        }
        Some(short)
    }

    #[inline]
    fn until<R>(&self, mut ready: impl FnMut(&mut Lane) -> Option<R>) -> Result<R> {
        let mut lane = self.0.lane.borrow();
        if lane.collectives.are_open() {
            // What came before this wait may be for one of them, and the first turn may sleep.
            drop(lane);
            collective::drive(self);
            lane = self.0.lane.borrow();
        }
        let mut waiter = lane.waiter();
        let end = EndOfProcess;
        let result = loop {
            if let Some(result) = ready(&mut lane) {
                break result;
            }
            lane.turn(&mut waiter);
            // What is driven here may run an operation of the user's, and so no lane is held.
            if siblings::any() {
                drop(lane);
                siblings::drive();
                lane = self.0.lane.borrow();
            } else if lane.collectives.are_open() {
                drop(lane);
                collective::drive(self);
                lane = self.0.lane.borrow();
            }
        };
        std::mem::forget(end);
        Ok(result)
    }

    fn turn(&self, waiter: &mut Waiter) -> Result<()> {
        let mut lane = self.0.lane.borrow();
        // An operation of this thread's may have left the world.
        lane.check()?;
        lane.turn(waiter);
        let collectives = lane.collectives.are_open();
        drop(lane);
        if siblings::any() {
            siblings::drive();
        } else if collectives {
            collective::drive(self);
        }
        Ok(())
    }

    fn waiter(&self) -> Waiter {
        self.0.lane.borrow().waiter()
    }
}

impl Access for Shared {}

impl Reach for Shared {
    const ALONE: bool = false;

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn with<R>(&self, work: impl FnOnce(&mut Lane) -> R) -> R {
        // A panic inside a call leaves no half-made state behind that a later call could trip on:
        // the lane's own code does not panic between its steps.
        work(&mut self.0.lane.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn until<R>(&self, mut ready: impl FnMut(&mut Lane) -> Option<R>) -> Result<R> {
        let mut waiter = self.waiter();
        let end = EndOfProcess;
        let result = loop {
            if let Some(result) = self.with(&mut ready) {
                break Ok(result);
            }
            if let Err(error) = self.turn(&mut waiter) {
                break Err(error);
            }
        };
        std::mem::forget(end);
        result
    }

    fn turn(&self, waiter: &mut Waiter) -> Result<()> {
        let (rest, collectives) = self.with(|lane| {
            lane.check()?;
            Ok((lane.turn_briefly(waiter), lane.collectives.are_open()))
        })?;
        if collectives {
            collective::drive(self);
        }
        let Some(rest) = rest else {
            return Ok(());
        };
        // The lock is not held while this thread rests; another one may need the lane meanwhile.
        if waiter.unwoken(rest) {
            self.with(Lane::napped);
        }
        siblings::drive();
        Ok(())
    }

    fn waiter(&self) -> Waiter {
        self.with(|lane| lane.waiter())
    }
}
