//! The endpoint of a process whose calls come one after another, from whichever thread.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::threading::Threading;
use super::EndpointCell;
use super::unlocked::Unlocked;
use crate::error::{Error, Result};

/// The endpoint of the process, in a static: for a face that gets one call at a time, from whichever thread
/// (`MPI_THREAD_SERIALIZED` and below).
///
/// It takes no lock, counts no owners and needs no variable of a thread that has a destructor, so it also serves calls
/// that a process makes while it exits. In Rust it stays on its thread: a face that hands it to another one answers for what its
/// user promised.
///
/// ```compile_fail
/// fn sendable<T: Send>() {}
/// sendable::<oxmpi_core::Serialized>();
/// ```
#[derive(Clone, Copy)]
pub struct Serialized(PhantomData<*const ()>);

/// The endpoint of the process, once [`PLACED`].
static ENDPOINT: EndpointPlace = EndpointPlace(UnsafeCell::new(MaybeUninit::uninit()));

/// Whether [`ENDPOINT`] is taken. Never reset: the endpoint stays until the process ends.
static PLACED: AtomicBool = AtomicBool::new(false);

struct EndpointPlace(UnsafeCell<MaybeUninit<EndpointCell>>);

// SAFETY: it is reached through a `Serialized` only. There is none before the endpoint was placed, and they stay on
// the thread that placed it, unless unsafe code moves one and sees to it that calls come one after another.
unsafe impl Sync for EndpointPlace {}

impl Serialized {
    /// Makes the endpoint that of the process.
    ///
    /// # Errors
    /// [`Error::SecondInit`] when the process has had one.
    pub fn new(endpoint: EndpointCell) -> Result<Self> {
        if PLACED.swap(true, Ordering::Relaxed) {
            return Err(Error::SecondInit);
        }
        // SAFETY: the flag lets one caller come here, once, and nobody reads the place before there is a `Serialized`.
        let cell = unsafe { (*ENDPOINT.0.get()).write(endpoint) };
        // A function of a C program need not be fit for another thread than that which calls.
        // SAFETY: the static keeps the cell.
        unsafe { cell.list(false) };
        Ok(Self(PhantomData))
    }
}

impl Threading for Serialized {}

impl Unlocked for Serialized {
    fn hold(endpoint: EndpointCell) -> Result<Self> {
        Self::new(endpoint)
    }

    #[inline(always)]
    fn cell(&self) -> &EndpointCell {
        // SAFETY: nobody writes to the place once there is a `Serialized`.
        let place = unsafe { &*ENDPOINT.0.get() };
        // SAFETY: `new` alone makes a `Serialized`, after it has placed the endpoint.
        unsafe { place.assume_init_ref() }
    }

    /// A face that gets one call at a time makes no endpoints for threads.
    #[inline(always)]
    fn has_others() -> bool {
        false
    }
}
