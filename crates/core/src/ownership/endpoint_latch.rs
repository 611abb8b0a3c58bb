//! What the cell of an endpoint shares with the helper thread: [`EndpointLatch`].

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use oxmpi_os::fork::{SharedWipedWord, WipeOnForkWord};
use oxmpi_shm::ring::{Latch, MappedWords};

use super::super::endpoint::Endpoint;
use crate::error::{Error, Result};

/// All latches whose endpoints stay where they are.
static LATCHES: Mutex<Vec<Weak<EndpointLatch>>> = Mutex::new(Vec::new());

/// The latch of an endpoint, and where the endpoint is. It lives as long as one of its owner and the helper uses it.
#[derive(Debug)]
pub(crate) struct EndpointLatch {
    latch: Latch<MappedWords<'static>>,
    /// Null before the endpoint stays where it is.
    endpoint: AtomicPtr<Endpoint>,
    /// Whether the helper may call functions of the program for this endpoint.
    calls_program: AtomicBool,
    /// The word of `latch`.
    _word: Arc<SharedWipedWord>,
}

impl EndpointLatch {
    /// The latch of an endpoint that is not offered, and the word by which its owner finds it free.
    ///
    /// # Errors
    /// When the system has no page for the words that a fork wipes.
    pub(super) fn new() -> Result<(WipeOnForkWord, Arc<Self>)> {
        let shared =
            SharedWipedWord::new().map_err(|why| Error::start("guarding against forks", why))?;
        let (own, word) = WipeOnForkWord::beside(shared);
        // SAFETY: the word is aligned, and all its accesses are atomic.
        let words = unsafe { MappedWords::new(word.address(), 1) };
        let latch = Arc::new(Self {
            // SAFETY: the word is kept beside the latch, and a copy beside this.
            latch: Latch::new(unsafe { words.detach() }),
            endpoint: AtomicPtr::new(ptr::null_mut()),
            calls_program: AtomicBool::new(false),
            _word: word,
        });
        Ok((own, latch))
    }

    pub(crate) const fn latch(&self) -> Latch<MappedWords<'static>> {
        self.latch
    }

    /// Where the endpoint is. The pointer may be used by whoever has taken the latch.
    pub(crate) fn endpoint(&self) -> *mut Endpoint {
        self.endpoint.load(Ordering::Relaxed)
    }

    /// Whether the helper may call functions of the program for this endpoint.
    pub(crate) fn calls_program(&self) -> bool {
        self.calls_program.load(Ordering::Relaxed)
    }

    /// Lets the helper take the endpoint, which is at `place` for as long as calls offer it.
    pub(super) fn list(self: &Arc<Self>, place: *mut Endpoint, calls_program: bool) {
        self.endpoint.store(place, Ordering::Relaxed);
        self.calls_program.store(calls_program, Ordering::Relaxed);
        let mut latches = LATCHES.lock().unwrap_or_else(PoisonError::into_inner);
        latches.retain(|latch| latch.strong_count() > 0);
        latches.push(Arc::downgrade(self));
    }
}

/// The latches of all endpoints that the helper may take.
pub(crate) fn latches() -> Vec<Arc<EndpointLatch>> {
    let latches = LATCHES.lock().unwrap_or_else(PoisonError::into_inner);
    latches.iter().filter_map(Weak::upgrade).collect()
}
