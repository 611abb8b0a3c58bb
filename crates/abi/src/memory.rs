//! Memory that the library allocates for a program (MPI 5.0, section 9.2).

use std::alloc::{Layout, alloc, dealloc};

use crate::constants::{MPI_ERR_ARG, MPI_ERR_NO_MEM, MPI_SUCCESS};
use crate::error_handling::{Error, catch};
use crate::types::{Aint, Info, c_int, c_void};

/// Bytes before the memory that hold its size, and its alignment.
const HEAD: usize = 64;

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(HEAD)?, HEAD).ok()
}

/// `MPI_Alloc_mem`.
///
/// # Safety
/// The address, which is a pointer, may be written to.
pub(crate) unsafe fn alloc_mem(size: Aint, _info: Info, address: *mut c_void) -> c_int {
    catch("MPI_Alloc_mem", || {
        let bytes = usize::try_from(size).ok().and_then(layout);
        let layout = bytes.ok_or_else(|| {
            Error::new(
                MPI_ERR_ARG,
                format!("{size} bytes of memory cannot be allocated"),
            )
        })?;
        // SAFETY: the layout is not empty, as it has a head.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            return Err(Error::new(
                MPI_ERR_NO_MEM,
                format!("no memory for {size} bytes"),
            ));
        }
        // SAFETY: the head is there, and aligned.
        unsafe { start.cast::<usize>().write(layout.size() - HEAD) };
        // SAFETY: the caller's promise; the memory begins after the head.
        unsafe { address.cast::<*mut u8>().write(start.wrapping_add(HEAD)) };
        Ok(())
    })
}

/// `MPI_Free_mem`.
///
/// # Safety
/// The memory is none, or was allocated by [`alloc_mem`] and is not used any more.
pub(crate) unsafe fn free_mem(memory: *mut c_void) -> c_int {
    if memory.is_null() {
        return MPI_SUCCESS;
    }
    let start = memory.cast::<u8>().wrapping_sub(HEAD);
    // SAFETY: the caller's promise: the head is before the memory.
    let size = unsafe { start.cast::<usize>().read() };
    if let Some(layout) = layout(size) {
        // SAFETY: as above.
        unsafe { dealloc(start, layout) };
    }
    MPI_SUCCESS
}
