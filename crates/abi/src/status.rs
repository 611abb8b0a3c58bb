//! Statuses: what a program learns about a message that has been received or an operation that has completed.

use oxmpi_core::PROC_NULL;

use crate::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL, MPI_SUCCESS};
use crate::error::Result;
use crate::types::{Status, c_int};

/// Which of the words that are not named holds what.
const COUNT_LOW: usize = 0;
const COUNT_HIGH: usize = 1;
const CANCELLED: usize = 2;

impl Status {
    /// The status of a request that is null or not active (MPI 5.0, section 3.7.3).
    pub(crate) const EMPTY: Self = Self {
        source: MPI_ANY_SOURCE,
        tag: MPI_ANY_TAG,
        error: MPI_SUCCESS,
        internal: [0; 5],
    };

    /// The status of an operation that was cancelled.
    pub(crate) const fn cancelled() -> Self {
        let mut status = Self::EMPTY;
        status.internal[CANCELLED] = 1;
        status
    }

    /// The status of a message of one word.
    #[inline(always)]
    pub(crate) const fn of_word(source: c_int, tag: u32) -> Self {
        let mut status = Self::EMPTY;
        (status.source, status.tag) = (source, tag as c_int);
        status.set_bytes(8);
        status
    }

    pub(crate) const fn is_cancelled(&self) -> bool {
        self.internal[CANCELLED] != 0
    }

    /// Bytes received.
    pub(crate) const fn bytes(&self) -> u64 {
        let (low, high) = (self.internal[COUNT_LOW], self.internal[COUNT_HIGH]);
        (high as u32 as u64) << 32 | low as u32 as u64
    }

    pub(crate) const fn set_bytes(&mut self, bytes: u64) {
        self.internal[COUNT_LOW] = bytes as c_int;
        self.internal[COUNT_HIGH] = (bytes >> 32) as c_int;
    }

    /// Writes all but the error, which calls with one status leave alone (MPI 5.0, section 3.2.5). A null pointer is
    /// `MPI_STATUS_IGNORE`.
    ///
    /// # Safety
    /// `to` is null or may be written to.
    #[inline(always)]
    pub(crate) unsafe fn write(self, to: *mut Self) {
        if !to.is_null() {
            // SAFETY: the caller's promise.
            unsafe { (*to).source = self.source };
            // SAFETY: the same.
            unsafe { (*to).tag = self.tag };
            for (word, &value) in self.internal.iter().enumerate().take(CANCELLED + 1) {
                // SAFETY: the same.
                unsafe { (*to).internal[word] = value };
            }
        }
    }

    /// The status of an operation that ended with this error: of a message that was too long as of one that was received.
    #[cold]
    pub(crate) fn of_error(error: &oxmpi_core::Error) -> Self {
        match *error {
            oxmpi_core::Error::Truncated {
                source, tag, room, ..
            } => {
                let mut status = Self {
                    source: source as c_int,
                    tag: tag as c_int,
                    ..Self::EMPTY
                };
                status.set_bytes(room);
                status
            }
            _ => Self::EMPTY,
        }
    }

    /// Writes the status of a receive, whether it succeeded or not.
    ///
    /// # Safety
    /// As [`Status::write`].
    #[inline(always)]
    pub(crate) unsafe fn write_received(
        received: oxmpi_core::Result<oxmpi_core::Status>,
        to: *mut Self,
    ) -> Result<()> {
        match received {
            Ok(received) => {
                // SAFETY: the caller's promise.
                unsafe { Self::from(received).write(to) };
                Ok(())
            }
            Err(error) => {
                // SAFETY: as above.
                unsafe { Self::of_error(&error).write(to) };
                Err(error.into())
            }
        }
    }

    /// Writes an empty status, whose error is `MPI_SUCCESS` (MPI 5.0, section 3.7.3).
    ///
    /// # Safety
    /// As [`Status::write`].
    pub(crate) unsafe fn write_empty(to: *mut Self) {
        if !to.is_null() {
            // SAFETY: the caller's promise.
            unsafe { to.write(Self::EMPTY) };
        }
    }
}

impl From<oxmpi_core::Status> for Status {
    #[inline(always)]
    fn from(status: oxmpi_core::Status) -> Self {
        let mut of = Self {
            source: status.source as c_int,
            tag: status.tag as c_int,
            ..Self::EMPTY
        };
        if status.source == PROC_NULL {
            (of.source, of.tag) = (MPI_PROC_NULL, MPI_ANY_TAG);
        }
        of.set_bytes(status.bytes);
        of
    }
}

/// `MPI_Test_cancelled`.
///
/// # Safety
/// The status may be read, the flag may be written to.
pub(crate) unsafe fn test_cancelled(status: *const Status, flag: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    let cancelled = unsafe { (*status).internal[CANCELLED] };
    // SAFETY: as above.
    unsafe { flag.write(cancelled) };
    MPI_SUCCESS
}

/// `MPI_Status_set_cancelled`.
///
/// # Safety
/// The status may be written to.
pub(crate) unsafe fn set_cancelled(status: *mut Status, flag: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { (*status).internal[CANCELLED] = c_int::from(flag != 0) };
    MPI_SUCCESS
}

/// Defines the calls that read and write the members of a status that are named.
macro_rules! members {
    ($($get:ident $set:ident $member:ident)*) => {
        $(
            /// # Safety
            /// The status may be read, the value may be written to.
            pub(crate) unsafe fn $get(status: *const Status, value: *mut c_int) -> c_int {
                // SAFETY: the caller's promise.
                let member = unsafe { (*status).$member };
                // SAFETY: as above.
                unsafe { value.write(member) };
                MPI_SUCCESS
            }

            /// # Safety
            /// The status may be written to.
            pub(crate) unsafe fn $set(status: *mut Status, value: c_int) -> c_int {
                // SAFETY: the caller's promise.
                unsafe { (*status).$member = value };
                MPI_SUCCESS
            }
        )*
    };
}

members! {
    source set_source source
    tag set_tag tag
    error set_error error
}
