//! Memory that the library allocates for a program (MPI 5.0, section 9.2).

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;

use oxmpi_shm::heap::HeapBlock;

use crate::comm_table;
use crate::constants::{MPI_ERR_ARG, MPI_ERR_NO_MEM, MPI_SUCCESS};
use crate::error_handling::{Error, catch};
use crate::shared::Shared;
use crate::types::{Aint, Info, c_int, c_void};

/// The memory that is reached by other ranks of the node, by address.
static SHARED: Shared<BTreeMap<usize, HeapBlock>> = Shared::always_locked(BTreeMap::new());

/// Bytes before the memory that hold its size, and its alignment.
const HEAD: usize = 64;

/// Bytes of the largest page that is taken for a few bytes.
const LARGEST_PAGE: u64 = 64 << 10;

/// Memory that other ranks of the node reach: windows and long messages of it need no system call. `None` where there is no
/// room for it.
fn shared(size: u64) -> Option<*mut u8> {
    let heap = comm_table::own().ok()?.messages.heap().ok()??;
    // A block takes whole pages: of huge ones only for much memory.
    let suits = size > 0 && (heap.page() <= LARGEST_PAGE || size >= heap.page() / 2);
    let heap = (suits && heap.is_reachable()).then_some(heap)?;
    let block = heap.allocate(size).ok()?;
    let start = block.start().as_ptr();
    SHARED.with(|blocks| blocks.insert(start.expose_provenance(), block));
    Some(start)
}

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(HEAD)?, HEAD).ok()
}

/// `MPI_Alloc_mem`: memory that other ranks of the node reach, as long as there is room, else private memory.
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
        if let Some(start) = shared(size as u64) {
            // SAFETY: the caller's promise.
            unsafe { address.cast::<*mut u8>().write(start) };
            return Ok(());
        }
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
    if SHARED
        .with(|blocks| blocks.remove(&memory.addr()))
        .is_some()
    {
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
