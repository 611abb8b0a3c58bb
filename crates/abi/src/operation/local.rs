//! `MPI_Reduce_local` (MPI 5.0, section 6.9.7).

use oxmpi_coll::choice::Reproducible;
use oxmpi_coll::plan::Side;
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::{Reduction, resolve};
use crate::counts::Counting;
use crate::datatype::Buffer;
use crate::error_handling::catch;
use crate::types::{Datatype, Op, c_int, c_void};

/// `MPI_Reduce_local`.
///
/// # Safety
/// The elements of `inbuf` may be read, those of `inoutbuf` also written to.
pub(crate) unsafe fn reduce_local<N: Counting>(
    inbuf: *const c_void,
    inoutbuf: *mut c_void,
    count: N,
    datatype: Datatype,
    op: Op,
) -> c_int {
    catch("MPI_Reduce_local", || {
        let Reduction { combine, .. } = resolve(op, datatype, Reproducible::Off)?;
        // SAFETY: the caller's promise.
        let given = unsafe { Buffer::new(inbuf, count, datatype) }?;
        // SAFETY: as above.
        let result = unsafe { Buffer::new(inoutbuf, count, datatype) }?;
        let mut memory = [Vec::new(), Vec::new()];
        let [from, into] = &mut memory;
        let (from, into) = (packed(from, given.bytes), packed(into, result.bytes));
        combine.combine(from, into, Side::Left);
        if result.bytes.has_gaps() {
            result.bytes.copy_from(&into);
        }
        Ok(())
    })
}

/// The elements without gaps: a copy in `memory`, if they have some.
fn packed(memory: &mut Vec<u128>, bytes: RawBytes) -> RawBytes {
    if !bytes.has_gaps() {
        return bytes;
    }
    let len = bytes.len() as usize;
    memory.resize(len.div_ceil(size_of::<u128>()), 0);
    // SAFETY: the vector has so many bytes, and is used through these alone while they are.
    let packed = unsafe { RawBytes::new(memory.as_mut_ptr().cast(), len) };
    packed.copy_from(&bytes);
    packed
}
