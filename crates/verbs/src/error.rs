//! The errors of this crate.

use std::fmt;
use std::io;

/// errno(3): not enough memory; of a post: the queue is full.
pub(crate) const ENOMEM: i32 = 12;
/// errno(3): ask again; of memory: too much of it is locked.
const EAGAIN: i32 = 11;
/// errno(3): no space left; of a device: its table of regions is full.
const ENOSPC: i32 = 28;
/// errno(3): invalid argument.
pub(crate) const EINVAL: i32 = 22;
/// errno(3): not supported; of a device: it lacks the call.
pub(crate) const EOPNOTSUPP: i32 = 95;
/// errno(3): not implemented; of the list of devices: the kernel has no RDMA.
pub(crate) const ENOSYS: i32 = 38;

/// Why RDMA cannot be used by this process at all. Other transports can.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// The program is linked statically, and has no loader of libraries.
    #[error(
        "this program is linked statically, so it cannot load libibverbs: build it with a dynamic C library \
         (-C target-feature=-crt-static) to use RDMA"
    )]
    Static,
    /// The library is not installed, or cannot be loaded.
    #[error(
        "{0}; install it to use RDMA (Debian: libibverbs1 ibverbs-providers librdmacm1, others: rdma-core)"
    )]
    Library(String),
    /// The library lacks a function.
    #[error("{0}: this library is older than rdma-core 32 (2020), which RDMA needs")]
    Function(String),
    /// The library cannot list the devices.
    #[error(transparent)]
    Devices(#[from] VerbsError),
}

/// A call of libibverbs or librdmacm that failed.
///
/// ```text
/// ibv_modify_qp of queue pair 17 of rxe0: Invalid argument (os error 22); INIT to RTR: port 1, GID index 9, ...
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct VerbsError(Box<Failure>);

#[derive(Clone, PartialEq, Eq)]
struct Failure {
    call: &'static str,
    object: String,
    attributes: String,
    errno: i32,
}

impl VerbsError {
    /// `call` on `object`, with `attributes` where the call has any, failed with `errno`.
    ///
    /// The sign of `errno` does not matter: some providers return it negated.
    pub(crate) fn new(
        call: &'static str,
        object: impl Into<String>,
        attributes: impl Into<String>,
        errno: i32,
    ) -> VerbsError {
        VerbsError(Box::new(Failure {
            call,
            object: object.into(),
            attributes: attributes.into(),
            errno: errno.saturating_abs(),
        }))
    }

    /// As [`VerbsError::new`], for a call that leaves its reason in `errno`, which the caller has read at once.
    pub(crate) fn io(
        call: &'static str,
        object: impl Into<String>,
        attributes: impl Into<String>,
        why: &io::Error,
    ) -> VerbsError {
        VerbsError::new(call, object, attributes, why.raw_os_error().unwrap_or(0))
    }

    /// The function, such as `ibv_modify_qp`.
    #[must_use]
    pub fn call(&self) -> &'static str {
        self.0.call
    }

    /// What it was called on, such as `queue pair 17 of rxe0`.
    #[must_use]
    pub fn object(&self) -> &str {
        &self.0.object
    }

    /// What it was called with; empty if that is the object alone.
    #[must_use]
    pub fn attributes(&self) -> &str {
        &self.0.attributes
    }

    /// Whether something had run out, which others may give back.
    pub(crate) fn is_shortage(&self) -> bool {
        [ENOMEM, ENOSPC, EAGAIN].contains(&self.0.errno)
    }

    /// The reason, as in errno(3).
    #[must_use]
    pub fn errno(&self) -> i32 {
        self.0.errno
    }
}

impl fmt::Display for VerbsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure {
            call,
            object,
            attributes,
            errno,
        } = &*self.0;
        let reason = io::Error::from_raw_os_error(*errno);
        write!(f, "{call} of {object}: {reason}")?;
        if !attributes.is_empty() {
            write!(f, "; {attributes}")?;
        }
        if (*call, *errno) == ("ibv_reg_mr", ENOMEM) {
            f.write_str("; a process may lock as much memory as `ulimit -l` says: raise it")?;
        }
        Ok(())
    }
}

impl std::error::Error for VerbsError {}

/// Why a work request was not posted.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    /// The queue has as many requests as it can hold: poll completions, then try again.
    #[error("the queue is full")]
    Full,
    /// The device refused the request.
    #[error(transparent)]
    Refused(#[from] VerbsError),
}

/// Shows errors as `Display` does: a `main` that returns one prints this.
macro_rules! debug_as_display {
    ($($error:ty),*) => {$(
        impl fmt::Debug for $error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

debug_as_display!(Unavailable, VerbsError, PostError);

#[cfg(test)]
mod tests {
    use super::VerbsError;

    #[test]
    fn an_error_names_call_object_reason_and_attributes() {
        let attributes = "INIT to RTR: port 1, GID index 9";
        let error = VerbsError::new("ibv_modify_qp", "queue pair 17 of rxe0", attributes, 22);
        assert_eq!(
            error.to_string(),
            "ibv_modify_qp of queue pair 17 of rxe0: Invalid argument (os error 22); \
             INIT to RTR: port 1, GID index 9"
        );
        assert_eq!(format!("{error:?}"), error.to_string());
        assert_eq!((error.call(), error.errno()), ("ibv_modify_qp", 22));
        let error = VerbsError::new("ibv_open_device", "rxe0", "", 13);
        assert_eq!(
            error.to_string(),
            "ibv_open_device of rxe0: Permission denied (os error 13)"
        );
    }

    #[test]
    fn a_negated_errno_is_the_same_reason() {
        assert_eq!(VerbsError::new("ibv_post_send", "it", "", -12).errno(), 12);
        assert_eq!(
            VerbsError::new("ibv_post_send", "it", "", i32::MIN).errno(),
            i32::MAX
        );
    }

    #[test]
    fn registration_that_finds_no_memory_names_the_limit() {
        let of = |call, errno| VerbsError::new(call, "a domain", "", errno).to_string();
        assert!(of("ibv_reg_mr", 12).ends_with("`ulimit -l` says: raise it"));
        assert!(!of("ibv_reg_mr", 22).contains("ulimit"));
        assert!(!of("ibv_create_qp", 12).contains("ulimit"));
    }
}
