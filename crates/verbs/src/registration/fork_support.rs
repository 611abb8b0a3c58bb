//! [`ForkSupport`]: whether a process that has registered memory may fork, and a mark of its children.
//!
//! A kernel of version 5.12 or later copies registered pages for a child at once. With an older one, libibverbs can keep
//! them from the child, which must then not touch them; a process asks for that before it registers anything.

use crate::error::Unavailable;
use crate::library::Library;
use oxmpi_os::fork::ForkGuard;
use std::io;
use std::sync::OnceLock;

/// What protects registered memory when this process forks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForkSupport {
    /// The kernel copies registered pages: a child may use its own.
    Copied,
    /// Registered pages are not in the child: one that touches them crashes.
    KeptFromChild,
    /// Nothing: after a fork, the device may have other pages than the process.
    None,
}

impl ForkSupport {
    /// Whether `btl_openib_have_fork_support` is 1.
    #[must_use]
    pub const fn is_there(self) -> bool {
        !matches!(self, Self::None)
    }
}

/// What libibverbs says of forks (`enum ibv_fork_status`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForkStatus {
    /// `IBV_FORK_DISABLED`.
    Disabled,
    /// `IBV_FORK_ENABLED`.
    Enabled,
    /// `IBV_FORK_UNNEEDED`.
    Unneeded,
}

/// Fork support was wanted, and cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "btl_openib_want_fork_support is {want}, and libibverbs does not support fork in this process (ibv_fork_init: \
     {why}); set it to -1 to run all the same, without forking, or before memory is registered set RDMAV_FORK_SAFE=1"
)]
pub struct NoForkSupport {
    want: i32,
    why: String,
}

/// Whether `ibv_fork_init` has to be called, as `btl_openib_want_fork_support` says.
///
/// Negative: try; 0: do not; positive: fail where it cannot be.
#[must_use]
pub const fn calls_fork_init(want: i32, status: ForkStatus) -> bool {
    want != 0 && matches!(status, ForkStatus::Disabled)
}

/// What support there is, after `ibv_fork_init` was called, if it had to be, with the result `called`.
///
/// # Errors
/// [`NoForkSupport`].
pub fn fork_support(
    want: i32,
    status: ForkStatus,
    called: Result<(), i32>,
) -> Result<ForkSupport, NoForkSupport> {
    match (status, called) {
        (ForkStatus::Unneeded, _) => Ok(ForkSupport::Copied),
        (ForkStatus::Enabled, _) => Ok(ForkSupport::KeptFromChild),
        (ForkStatus::Disabled, Ok(())) if want != 0 => Ok(ForkSupport::KeptFromChild),
        (ForkStatus::Disabled, Err(errno)) if want > 0 => Err(NoForkSupport {
            want,
            why: io::Error::from_raw_os_error(errno).to_string(),
        }),
        (ForkStatus::Disabled, _) => Ok(ForkSupport::None),
    }
}

/// Prepares this process for forks as `want` says: see [`calls_fork_init`]. Call it before memory is registered.
///
/// # Errors
/// [`NoForkSupport`].
pub(crate) fn prepare(library: &Library, want: i32) -> Result<ForkSupport, NoForkSupport> {
    // The first call marks this process as the parent.
    is_forked_child();
    // SAFETY: the call has no arguments.
    let status = library.is_fork_initialized.map(|call| unsafe { call() });
    let status = match status {
        Some(0) | None => ForkStatus::Disabled,
        Some(1) => ForkStatus::Enabled,
        Some(_) => ForkStatus::Unneeded,
    };
    let called = match calls_fork_init(want, status) {
        // SAFETY: as above.
        true => match unsafe { (library.fork_init)() } {
            0 => Ok(()),
            errno => Err(errno),
        },
        false => Ok(()),
    };
    fork_support(want, status, called)
}

/// What protects registered memory when this process forks, after trying to have it.
///
/// # Errors
/// Why this process cannot use RDMA.
pub fn probe_fork_support() -> Result<ForkSupport, Unavailable> {
    let library = Library::load()?;
    // Whoever only tries gets no error.
    Ok(prepare(library, -1).unwrap_or(ForkSupport::None))
}

/// Whether this process is a forked child of one that has used a device: it must not use its parent's.
///
/// # Cost
/// Two loads.
pub(crate) fn is_forked_child() -> bool {
    static GUARD: OnceLock<Option<ForkGuard>> = OnceLock::new();
    // Kernels before 4.14 cannot tell.
    let guard = GUARD.get_or_init(|| ForkGuard::new().ok());
    guard.is_some_and(ForkGuard::forked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_wants() {
        use ForkStatus::{Disabled, Enabled, Unneeded};
        let refused = Err(22);
        for (want, status, called, expected) in [
            (-1, Disabled, Ok(()), Some(ForkSupport::KeptFromChild)),
            (-1, Disabled, refused, Some(ForkSupport::None)),
            (0, Disabled, Ok(()), Some(ForkSupport::None)),
            (1, Disabled, Ok(()), Some(ForkSupport::KeptFromChild)),
            (1, Disabled, refused, None),
            (1, Enabled, Ok(()), Some(ForkSupport::KeptFromChild)),
            (0, Unneeded, Ok(()), Some(ForkSupport::Copied)),
            (7, Unneeded, Ok(()), Some(ForkSupport::Copied)),
        ] {
            let support = fork_support(want, status, called).ok();
            assert_eq!(support, expected, "{want} {status:?} {called:?}");
        }
        let calls = [-1, 0, 1].map(|want| calls_fork_init(want, Disabled));
        assert_eq!(calls, [true, false, true]);
        assert!(!calls_fork_init(1, Unneeded));
        let text = fork_support(1, Disabled, refused).unwrap_err().to_string();
        assert!(
            text.contains("want_fork_support is 1") && text.contains("Invalid argument"),
            "{text}"
        );
    }
}
