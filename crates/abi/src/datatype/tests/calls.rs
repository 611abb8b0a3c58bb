//! The calls of a program on a random datatype: packing, external32, and a message to oneself.

use std::ptr;
use std::sync::Once;

use super::INSTANCES;
use crate::constants::*;
use crate::datatype::pack;
use crate::handles::Handle;
use crate::types::{Comm, Count, Datatype, c_int, c_void};
use crate::{point_to_point, process};

/// Instances of a datatype in memory, and what the calls are to give.
pub(super) struct Expected<'a> {
    pub(super) handle: Datatype,
    /// The offset of the first byte of memory.
    pub(super) low: i64,
    pub(super) memory: &'a [u8],
    pub(super) packed: &'a [u8],
    pub(super) external: &'a [u8],
    /// Memory of zeros into which the packed bytes were unpacked; none where bytes lie twice.
    pub(super) unpacked: Option<&'a [u8]>,
}

/// A job of this process alone.
fn own() -> Comm {
    static START: Once = Once::new();
    START.call_once(|| {
        let mut level: c_int = 0;
        // SAFETY: the level may be written to. One test alone makes calls.
        let started = unsafe {
            process::init_thread(
                ptr::null_mut(),
                ptr::null_mut(),
                MPI_THREAD_SERIALIZED,
                &raw mut level,
            )
        };
        assert_eq!(started, MPI_SUCCESS);
    });
    Comm::from_address(MPI_COMM_SELF)
}

/// Where instances begin in memory.
fn start(memory: &mut [u8], low: i64) -> *mut c_void {
    memory.as_mut_ptr().wrapping_offset(-low as isize).cast()
}

pub(super) fn compare(expected: &Expected) {
    let Expected { handle, low, .. } = *expected;
    let (own, count) = (own(), INSTANCES as Count);
    let mut memory = expected.memory.to_vec();
    let from = start(&mut memory, low);
    let mut packed = vec![0; expected.packed.len()];
    let mut external = vec![0; expected.external.len()];
    let (size, external_size) = (packed.len() as Count, external.len() as Count);
    let representation = c"external32".as_ptr();
    let mut at = [0 as Count; 2];
    let (to, to_external) = (packed.as_mut_ptr().cast(), external.as_mut_ptr().cast());
    // SAFETY: the memory has all bytes of the instances, and the buffers have as many as is said; here and below.
    unsafe {
        let packs = pack::pack(from, count, handle, to, size, &raw mut at[0], own);
        assert_eq!((packs, at[0]), (MPI_SUCCESS, size));
        let (end, size) = (&raw mut at[1], external_size);
        let packs =
            pack::pack_external(representation, from, count, handle, to_external, size, end);
        assert_eq!((packs, at[1]), (MPI_SUCCESS, size));
    }
    assert_eq!(packed, expected.packed);
    assert_eq!(external, expected.external);
    packed.fill(0);
    let (to, bytes) = (packed.as_mut_ptr().cast(), Datatype::from_address(MPI_BYTE));
    message(own, (from, count, handle), (to, size, bytes));
    assert_eq!(packed, expected.packed, "a message of instances");
    let Some(unpacked) = expected.unpacked else {
        return;
    };
    let mut fresh = vec![0; memory.len()];
    let into = start(&mut fresh, low);
    at = [0; 2];
    // SAFETY: as above.
    unsafe {
        let unpacks = pack::unpack(
            to.cast_const(),
            size,
            &raw mut at[0],
            into,
            count,
            handle,
            own,
        );
        assert_eq!((unpacks, at[0]), (MPI_SUCCESS, size));
    }
    assert_eq!(fresh, unpacked);
    fresh.fill(0);
    let into = start(&mut fresh, low);
    // SAFETY: as above.
    unsafe {
        let (from, end) = (to_external.cast_const(), &raw mut at[1]);
        let unpacks = pack::unpack_external(
            representation,
            from,
            external_size,
            end,
            into,
            count,
            handle,
        );
        assert_eq!((unpacks, at[1]), (MPI_SUCCESS, external_size));
    }
    assert_eq!(fresh, unpacked, "from external32");
    fresh.fill(0);
    let into = start(&mut fresh, low);
    message(own, (from, count, handle), (into, count, handle));
    assert_eq!(fresh, unpacked, "a message into instances");
}

/// Sends elements to this rank itself.
fn message(own: Comm, from: (*mut c_void, Count, Datatype), to: (*mut c_void, Count, Datatype)) {
    // SAFETY: the caller's elements are in its memory.
    let done = unsafe {
        point_to_point::sendrecv(
            from.0.cast_const(),
            from.1,
            from.2,
            0,
            3,
            to.0,
            to.1,
            to.2,
            0,
            3,
            own,
            ptr::null_mut(),
        )
    };
    assert_eq!(done, MPI_SUCCESS);
}
