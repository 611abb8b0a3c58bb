//! [`Attached`]: the memory that a program attaches for buffered sends.

use std::ptr;
use std::sync::{Mutex, PoisonError};

use crate::constants::{MPI_BUFFER_AUTOMATIC, MPI_ERR_BUFFER};
use crate::counts::Counting;
use crate::error::{Error, Result};
use crate::types::c_void;

/// Attached memory: its address and its size.
#[derive(Clone, Copy)]
pub(crate) struct Attachment(pub(crate) *mut c_void, pub(crate) u64);

/// The memory that is attached to a communicator, a session or the process.
pub(crate) struct Attached(Mutex<Option<Attachment>>);

/// The memory of communicators of which neither they nor their session has any.
pub(crate) static PROCESS: Attached = Attached::new();

// SAFETY: the address is only kept.
unsafe impl Send for Attached {}
// SAFETY: as above.
unsafe impl Sync for Attached {}

impl Attached {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut Option<Attachment>) -> R) -> R {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn attach(&self, memory: *mut c_void, size: impl Counting) -> Result<()> {
        let size = size.checked()?;
        self.with(|place| match place {
            Some(_) => Err(Error::new(
                MPI_ERR_BUFFER,
                "a buffer is attached already; detach it first",
            )),
            None => {
                *place = Some(Attachment(memory, size));
                Ok(())
            }
        })
    }

    pub(crate) fn is_there(&self) -> bool {
        self.with(|place| place.is_some())
    }

    /// The number by which buffered messages count against it.
    pub(crate) fn number(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Checks that there is memory for a message of this length, and returns its number.
    pub(crate) fn check(&self, bytes: u64) -> Result<usize> {
        match self.with(|place| *place) {
            Some(Attachment(memory, size))
                if memory.addr() == MPI_BUFFER_AUTOMATIC || bytes <= size =>
            {
                Ok(self.number())
            }
            Some(Attachment(_, size)) => Err(Error::new(
                MPI_ERR_BUFFER,
                format!(
                    "a message of {bytes} bytes does not fit the attached buffer of {size} bytes"
                ),
            )),
            None => Err(Error::new(
                MPI_ERR_BUFFER,
                "no buffer is attached; attach one with MPI_Buffer_attach first",
            )),
        }
    }

    /// # Safety
    /// The address, which is a pointer, and the size may be written to.
    pub(crate) unsafe fn detach<N: Counting>(
        &self,
        address: *mut c_void,
        size: *mut N,
    ) -> Result<()> {
        let attached = self.with(Option::take);
        let (memory, bytes) = attached.map_or((ptr::null_mut(), 0), |one| (one.0, one.1));
        // SAFETY: the caller's promise.
        unsafe { address.cast::<*mut c_void>().write(memory) };
        // SAFETY: as above.
        unsafe { size.write(N::of(bytes).unwrap_or(N::UNDEFINED)) };
        Ok(())
    }
}
