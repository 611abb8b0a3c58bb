//! New windows, their memory, and their end (MPI 5.0, section 12.2).

use oxmpi_core::{ProcessEndpoint, Window};
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::calls::on;
use crate::comm_table;
use crate::constants::{
    MPI_ERR_DISP, MPI_ERR_RMA_FLAVOR, MPI_ERR_SIZE, MPI_PROC_NULL, MPI_WIN_FLAVOR_ALLOCATE,
    MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_DYNAMIC, MPI_WIN_FLAVOR_SHARED, MPI_WIN_NULL,
    MPI_WIN_UNIFIED,
};
use crate::counts::Counting;
use crate::error_handling::{self, Error, Result};
use crate::handles::Handle;
use crate::info;
use crate::message_envelope::destination;
use crate::types::{Aint, Comm, Info, Win, c_int, c_void};
use crate::window_table::{self, Entry, Facts, Hints, find};

/// The bytes of a call.
fn length(size: Aint) -> Result<u64> {
    match u64::try_from(size) {
        Ok(len) if size < Aint::MAX => Ok(len),
        _ => {
            let why =
                format!("the size is {size} B, and at least 0 and less than 2^63 - 1 are expected");
            Err(Error::new(MPI_ERR_SIZE, why))
        }
    }
}

/// The bytes of a unit of displacements.
fn unit<N: Counting>(unit: N) -> Result<u64> {
    unit.number().filter(|&unit| unit > 0).ok_or_else(|| {
        let why = format!("the unit of displacements is {unit} B, and at least 1 is expected");
        Error::new(MPI_ERR_DISP, why)
    })
}

/// Makes a window by `make`, and gives its handle.
///
/// # Safety
/// The handle may be written to.
unsafe fn make(
    function: &'static str,
    comm: Comm,
    (flavor, hints): (c_int, Info),
    win: *mut Win,
    make: impl FnOnce(&comm_table::Entry, &Hints) -> Result<(Window<ProcessEndpoint>, u64)>,
) -> c_int {
    error_handling::on(comm, function, |entry| {
        let hints = Hints::new(&info::pairs(hints)?);
        let (raw, unit) = make(entry, &hints)?;
        let memory = raw.memory();
        let is_dynamic = flavor == MPI_WIN_FLAVOR_DYNAMIC;
        let facts = Facts {
            base: memory.start().addr(),
            size: if is_dynamic { 0 } else { memory.len() as Aint },
            unit: unit as c_int,
            flavor,
            model: MPI_WIN_UNIFIED,
        };
        let made = Entry::new(raw, facts, hints, entry.session.clone());
        // SAFETY: the caller's promise.
        unsafe { win.write(window_table::insert(made)) };
        Ok(())
    })
}

/// `MPI_Win_create`.
///
/// # Safety
/// The memory is the window's until it is freed; the handle may be written to.
pub(crate) unsafe fn create<N: Counting>(
    base: *mut c_void,
    size: Aint,
    of_unit: N,
    hints: Info,
    comm: Comm,
    win: *mut Win,
) -> c_int {
    let kind = (MPI_WIN_FLAVOR_CREATE, hints);
    let made = |entry: &comm_table::Entry, _: &Hints| {
        let (len, unit) = (length(size)?, unit(of_unit)?);
        // SAFETY: the caller's promise.
        let memory = unsafe { RawBytes::new(base.cast(), len as usize) };
        Ok((Window::create(entry.within_group()?, memory, unit)?, unit))
    };
    // SAFETY: the caller's promise.
    unsafe { make("MPI_Win_create", comm, kind, win, made) }
}

/// `MPI_Win_create_dynamic`.
///
/// # Safety
/// The handle may be written to.
pub(crate) unsafe fn create_dynamic(hints: Info, comm: Comm, win: *mut Win) -> c_int {
    let kind = (MPI_WIN_FLAVOR_DYNAMIC, hints);
    let made = |entry: &comm_table::Entry, _: &Hints| {
        Ok((Window::create_dynamic(entry.within_group()?)?, 1))
    };
    // SAFETY: the caller's promise.
    unsafe { make("MPI_Win_create_dynamic", comm, kind, win, made) }
}

/// `MPI_Win_allocate`.
///
/// # Safety
/// The handle may be written to, and the address, which is a pointer.
pub(crate) unsafe fn allocate<N: Counting>(
    size: Aint,
    of_unit: N,
    hints: Info,
    comm: Comm,
    base: *mut c_void,
    win: *mut Win,
) -> c_int {
    let kind = (MPI_WIN_FLAVOR_ALLOCATE, hints);
    let made = |entry: &comm_table::Entry, _: &Hints| {
        let (len, unit) = (length(size)?, unit(of_unit)?);
        let window = Window::allocate(entry.within_group()?, len, unit)?;
        // SAFETY: the caller's promise.
        unsafe { base.cast::<*mut u8>().write(window.memory().start()) };
        Ok((window, unit))
    };
    // SAFETY: the caller's promise.
    unsafe { make("MPI_Win_allocate", comm, kind, win, made) }
}

/// `MPI_Win_allocate_shared`.
///
/// # Safety
/// As [`allocate`].
pub(crate) unsafe fn allocate_shared<N: Counting>(
    size: Aint,
    of_unit: N,
    hints: Info,
    comm: Comm,
    base: *mut c_void,
    win: *mut Win,
) -> c_int {
    let kind = (MPI_WIN_FLAVOR_SHARED, hints);
    let made = |entry: &comm_table::Entry, hints: &Hints| {
        let (len, unit) = (length(size)?, unit(of_unit)?);
        let contiguous = !hints.is_set("alloc_shared_noncontig");
        let window = Window::allocate_shared(entry.within_group()?, (len, unit), contiguous)?;
        // SAFETY: the caller's promise.
        unsafe { base.cast::<*mut u8>().write(window.memory().start()) };
        Ok((window, unit))
    };
    // SAFETY: the caller's promise.
    unsafe { make("MPI_Win_allocate_shared", comm, kind, win, made) }
}

/// `MPI_Win_shared_query`. Of `MPI_PROC_NULL`: the memory of the first rank that has some.
///
/// # Safety
/// The three may be written to; the address is a pointer.
pub(crate) unsafe fn shared_query<N: Counting>(
    win: Win,
    rank: c_int,
    size: *mut Aint,
    of_unit: *mut N,
    base: *mut c_void,
) -> c_int {
    on(win, "MPI_Win_shared_query", |entry| {
        let window = &entry.raw;
        if window.is_dynamic() {
            let why = "the memory of the window is attached to it, and has no one address";
            return Err(Error::new(MPI_ERR_RMA_FLAVOR, why));
        }
        let ranks = window.comm().group().size() as usize;
        let place = |rank: usize| {
            let unit = window.memory_of(rank).1;
            window
                .shared(rank)
                .unwrap_or((std::ptr::null_mut(), 0, unit))
        };
        let (start, len, unit) = match rank {
            MPI_PROC_NULL => {
                let first = (0..ranks).map(place).find(|place| place.1 > 0);
                first.unwrap_or((std::ptr::null_mut(), 0, 1))
            }
            rank => {
                let rank = destination(rank);
                if rank >= ranks {
                    return Err(window.comm().rank_error(rank).into());
                }
                place(rank)
            }
        };
        // SAFETY: the caller's promise.
        unsafe { size.write(len as Aint) };
        // SAFETY: as above.
        unsafe { of_unit.write(N::of(unit).unwrap_or(N::UNDEFINED)) };
        // SAFETY: as above.
        unsafe { base.cast::<*mut u8>().write(start) };
        Ok(())
    })
}

/// `MPI_Win_attach`.
///
/// # Safety
/// The memory is the window's until it is detached.
pub(crate) unsafe fn attach(win: Win, base: *mut c_void, size: Aint) -> c_int {
    on(win, "MPI_Win_attach", |entry| {
        let len = length(size)?;
        // SAFETY: the caller's promise.
        let memory = unsafe { RawBytes::new(base.cast(), len as usize) };
        Ok(entry.raw.attach(memory)?)
    })
}

/// `MPI_Win_detach`.
pub(crate) fn detach(win: Win, base: *const c_void) -> c_int {
    on(win, "MPI_Win_detach", |entry| {
        Ok(entry.raw.detach(base.cast())?)
    })
}

/// `MPI_Win_free`.
///
/// # Safety
/// The handle may be read and written to.
pub(crate) unsafe fn free(win: *mut Win) -> c_int {
    const FUNCTION: &str = "MPI_Win_free";
    // SAFETY: the caller's promise.
    let handle = unsafe { *win };
    let checked = on(handle, FUNCTION, |entry| {
        entry.raw.check_free()?;
        // Their functions may use the window.
        entry.attributes.delete_all(entry.handle())
    });
    if find(handle).is_none() || checked != crate::constants::MPI_SUCCESS {
        return checked;
    }
    // SAFETY: the caller's promise.
    unsafe { win.write(Win::from_address(MPI_WIN_NULL)) };
    let Some(entry) = window_table::remove(handle) else {
        return checked;
    };
    let (object, raw) = ((entry.handle(), entry.errors.reaction()), entry.raw);
    match raw.free() {
        Ok(()) => checked,
        Err(error) => error_handling::raise_on(Some(object), FUNCTION, &error.into()),
    }
}
