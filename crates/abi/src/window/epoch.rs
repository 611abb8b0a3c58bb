//! Epochs, locks and flushes (MPI 5.0, section 12.5).

use oxmpi_core::LockKind;

use super::calls::on;
use crate::constants::{
    MPI_ERR_ASSERT, MPI_ERR_GROUP, MPI_ERR_LOCKTYPE, MPI_ERR_RMA_SYNC, MPI_LOCK_EXCLUSIVE,
    MPI_LOCK_SHARED, MPI_MODE_NOCHECK, MPI_MODE_NOPRECEDE, MPI_MODE_NOPUT, MPI_MODE_NOSTORE,
    MPI_MODE_NOSUCCEED, MPI_PROC_NULL,
};
use crate::error_handling::{Error, Result};
use crate::group;
use crate::message_envelope::destination;
use crate::types::{Group, Win, c_int};
use crate::window_table::Entry;

/// Checks that a call takes these assertions.
fn check_asserts(asserts: c_int, known: c_int) -> Result<()> {
    match asserts & !known {
        0 => Ok(()),
        other => Err(Error::new(
            MPI_ERR_ASSERT,
            format!("the assertion {asserts} has bits {other:#x}, which the call does not know"),
        )),
    }
}

/// `MPI_Win_fence`.
pub(crate) fn fence(asserts: c_int, win: Win) -> c_int {
    const KNOWN: c_int =
        MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
    on(win, "MPI_Win_fence", |entry| {
        check_asserts(asserts, KNOWN)?;
        let fence = || entry.raw.fence(asserts & MPI_MODE_NOSUCCEED == 0);
        Ok(entry.ending(None, fence)?)
    })
}

/// The ranks of a window that a group has.
fn ranks(entry: &Entry, group: Group) -> Result<Vec<usize>> {
    let group = group::get(group)?;
    let of_window = entry.raw.comm().process_group();
    let ranks = group.translate(0..group.size(), &of_window)?;
    let missing = || {
        Error::new(
            MPI_ERR_GROUP,
            "the group has processes that the window has not",
        )
    };
    ranks
        .into_iter()
        .map(|rank| rank.ok_or_else(missing))
        .collect()
}

/// `MPI_Win_post`.
pub(crate) fn post(group: Group, asserts: c_int, win: Win) -> c_int {
    const KNOWN: c_int = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
    on(win, "MPI_Win_post", |entry| {
        check_asserts(asserts, KNOWN)?;
        Ok(entry.raw.post(&ranks(entry, group)?)?)
    })
}

/// `MPI_Win_start`.
pub(crate) fn start(group: Group, asserts: c_int, win: Win) -> c_int {
    on(win, "MPI_Win_start", |entry| {
        check_asserts(asserts, MPI_MODE_NOCHECK)?;
        Ok(entry.raw.start(&ranks(entry, group)?)?)
    })
}

/// `MPI_Win_test`.
///
/// # Safety
/// The flag may be written to.
pub(crate) unsafe fn test(win: Win, flag: *mut c_int) -> c_int {
    on(win, "MPI_Win_test", |entry| {
        let ended = entry.raw.test()?;
        // SAFETY: the caller's promise.
        unsafe { flag.write(ended.into()) };
        Ok(())
    })
}

/// Checks that locks are taken of the window.
fn check_locks(entry: &Entry) -> Result<()> {
    match entry.with_hints(|hints| hints.is_set("no_locks")) {
        false => Ok(()),
        true => Err(Error::new(
            MPI_ERR_RMA_SYNC,
            "the window was made with the hint `no_locks`, and so is not locked",
        )),
    }
}

/// `MPI_Win_lock`.
pub(crate) fn lock(kind: c_int, rank: c_int, asserts: c_int, win: Win) -> c_int {
    on(win, "MPI_Win_lock", |entry| {
        check_asserts(asserts, MPI_MODE_NOCHECK)?;
        check_locks(entry)?;
        let kind = match kind {
            MPI_LOCK_SHARED => LockKind::Shared,
            MPI_LOCK_EXCLUSIVE => LockKind::Exclusive,
            other => {
                let why = format!("{other} is neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE");
                return Err(Error::new(MPI_ERR_LOCKTYPE, why));
            }
        };
        match rank {
            MPI_PROC_NULL => Ok(()),
            rank => Ok(entry.raw.lock(destination(rank), kind)?),
        }
    })
}

/// `MPI_Win_lock_all`.
pub(crate) fn lock_all(asserts: c_int, win: Win) -> c_int {
    on(win, "MPI_Win_lock_all", |entry| {
        check_asserts(asserts, MPI_MODE_NOCHECK)?;
        check_locks(entry)?;
        Ok(entry.raw.lock_all()?)
    })
}

/// Defines the calls on one target, after which accesses to it have ended.
macro_rules! of_target {
    ($($name:ident $function:literal $call:ident)*) => {
        $(
            #[doc = concat!("`", $function, "`.")]
            pub(crate) fn $name(rank: c_int, win: Win) -> c_int {
                on(win, $function, |entry| {
                    if rank != MPI_PROC_NULL {
                        entry.ending(Some(rank), || entry.raw.$call(destination(rank)))?;
                    }
                    Ok(())
                })
            }
        )*
    };
}

of_target! {
    unlock "MPI_Win_unlock" unlock
    flush "MPI_Win_flush" flush
    flush_local "MPI_Win_flush_local" flush_local
}

/// Defines the calls after which all accesses of this rank have ended.
macro_rules! of_all {
    ($($name:ident $function:literal)*) => {
        $(
            #[doc = concat!("`", $function, "`.")]
            pub(crate) fn $name(win: Win) -> c_int {
                on(win, $function, |entry| {
                    Ok(entry.ending(None, || entry.raw.$name())?)
                })
            }
        )*
    };
}

of_all! {
    complete "MPI_Win_complete"
    unlock_all "MPI_Win_unlock_all"
    flush_all "MPI_Win_flush_all"
    flush_local_all "MPI_Win_flush_local_all"
}

/// Defines the other calls without arguments.
macro_rules! of_window {
    ($($name:ident $function:literal)*) => {
        $(
            #[doc = concat!("`", $function, "`.")]
            pub(crate) fn $name(win: Win) -> c_int {
                on(win, $function, |entry| Ok(entry.raw.$name()?))
            }
        )*
    };
}

of_window! {
    wait "MPI_Win_wait"
    sync "MPI_Win_sync"
}
