//! What a program asks about a communicator: groups, names, hints, attributes (MPI 5.0, chapter 7).

use std::sync::atomic::{AtomicI32, Ordering};

use oxmpi_core::Comparison;

use crate::attribute::Kind;
use crate::comm_table::{self, Entry, Inter, between_groups, find, no_such};
use crate::constants::{
    MPI_ANY_SOURCE, MPI_APPNUM, MPI_COMM_NULL, MPI_HOST, MPI_IDENT, MPI_IO, MPI_LASTUSEDCODE,
    MPI_MAX_OBJECT_NAME, MPI_PROC_NULL, MPI_SUCCESS, MPI_TAG_UB, MPI_UNEQUAL, MPI_UNIVERSE_SIZE,
    MPI_WTIME_IS_GLOBAL,
};
use crate::error_handling::{self, Result, catch, on};
use crate::group;
use crate::handles::Handle;
use crate::info;
use crate::keyval_calls::keyval_calls;
use crate::membership;
use crate::strings;
use crate::types::{Comm, Group, Info, c_char, c_int, c_void};

/// Defines the calls that write one number.
macro_rules! numbers {
    ($($name:ident $function:literal |$entry:ident| $number:expr;)*) => {
        $(
            /// # Safety
            /// The number may be written to.
            pub(crate) unsafe fn $name(comm: Comm, number: *mut c_int) -> c_int {
                let get = |$entry: &Entry| -> Result<c_int> { Ok($number) };
                if let Some(Ok(found)) = comm_table::find_unlocked(comm).map(get) {
                    // SAFETY: the caller's promise.
                    unsafe { number.write(found) };
                    return MPI_SUCCESS;
                }
                // SAFETY: as above.
                unsafe { write_number(comm, number, $function, get) }
            }
        )*
    };
}

numbers! {
    rank "MPI_Comm_rank" |entry| entry.local().group().rank() as c_int;
    size "MPI_Comm_size" |entry| entry.local().group().size() as c_int;
    test_inter "MPI_Comm_test_inter" |entry| entry.inter.is_some().into();
    remote_size "MPI_Comm_remote_size" |entry| between_groups(entry)?.groups.remote_size() as c_int;
}

/// Writes a number of a communicator, or reports what is wrong.
///
/// # Safety
/// The number may be written to.
#[inline(never)]
unsafe fn write_number(
    comm: Comm,
    number: *mut c_int,
    function: &'static str,
    get: impl FnOnce(&Entry) -> Result<c_int>,
) -> c_int {
    on(comm, function, |entry| {
        let found = get(entry)?;
        // SAFETY: the caller's promise.
        unsafe { number.write(found) };
        Ok(())
    })
}

/// `MPI_Comm_group`.
///
/// # Safety
/// The group may be written to.
pub(crate) unsafe fn comm_group(comm: Comm, of: *mut Group) -> c_int {
    on(comm, "MPI_Comm_group", |entry| {
        // SAFETY: the caller's promise.
        unsafe {
            of.write(group::insert(
                entry.local().process_group(),
                entry.session.clone(),
            ))
        };
        Ok(())
    })
}

/// `MPI_Comm_remote_group`.
///
/// # Safety
/// The group may be written to.
pub(crate) unsafe fn remote_group(comm: Comm, of: *mut Group) -> c_int {
    on(comm, "MPI_Comm_remote_group", |entry| {
        let remote = between_groups(entry)?.groups.remote_group();
        // SAFETY: the caller's promise.
        unsafe { of.write(group::insert(remote, entry.session.clone())) };
        Ok(())
    })
}

/// `MPI_Comm_compare`.
///
/// # Safety
/// The result may be written to.
pub(crate) unsafe fn compare(one: Comm, other: Comm, result: *mut c_int) -> c_int {
    on(one, "MPI_Comm_compare", |entry| {
        let second = find(other).ok_or_else(|| no_such(other))?;
        let compared = match (&entry.inter, &second.inter) {
            _ if one == other => MPI_IDENT,
            (None, None) => group::comparison(entry.messages.compare(&second.messages)),
            (Some(entry), Some(other)) => group::comparison(compare_groups(entry, other)),
            _ => MPI_UNEQUAL,
        };
        // SAFETY: the caller's promise.
        unsafe { result.write(compared) };
        Ok(())
    })
}

/// How two intercommunicators compare: as the more different pair of their groups.
fn compare_groups(one: &Inter, other: &Inter) -> Comparison {
    let local = one
        .local
        .process_group()
        .compare(&other.local.process_group());
    let remote = one
        .groups
        .remote_group()
        .compare(&other.groups.remote_group());
    match (local, remote) {
        (Comparison::Unequal, _) | (_, Comparison::Unequal) => Comparison::Unequal,
        (Comparison::Similar, _) | (_, Comparison::Similar) => Comparison::Similar,
        _ => Comparison::Congruent,
    }
}

/// `MPI_Comm_set_name`.
///
/// # Safety
/// The name ends with a null character.
pub(crate) unsafe fn set_name(comm: Comm, name: *const c_char) -> c_int {
    on(comm, "MPI_Comm_set_name", |entry| {
        // SAFETY: the caller's promise.
        entry.set_name(unsafe { strings::read(name) });
        Ok(())
    })
}

/// `MPI_Comm_get_name`.
///
/// # Safety
/// There is room for `MPI_MAX_OBJECT_NAME` characters; the length may be written to.
pub(crate) unsafe fn get_name(comm: Comm, name: *mut c_char, length: *mut c_int) -> c_int {
    let give = |text: &str| {
        // SAFETY: the caller's promise.
        let written = unsafe { strings::write(text, name, MPI_MAX_OBJECT_NAME as usize) };
        // SAFETY: as above.
        unsafe { length.write(written as c_int) };
        Ok(())
    };
    // The null handle has a name from the start, too (MPI 5.0, section 7.8).
    match comm.address() {
        MPI_COMM_NULL => catch("MPI_Comm_get_name", || give("MPI_COMM_NULL")),
        _ => on(comm, "MPI_Comm_get_name", |entry| give(&entry.name())),
    }
}

/// `MPI_Comm_set_info`.
pub(crate) fn set_info(comm: Comm, hints: Info) -> c_int {
    on(comm, "MPI_Comm_set_info", |entry| {
        entry.set_info(info::pairs(hints)?);
        Ok(())
    })
}

/// `MPI_Comm_get_info`.
///
/// # Safety
/// The handle may be written to.
pub(crate) unsafe fn get_info(comm: Comm, hints: *mut Info) -> c_int {
    on(comm, "MPI_Comm_get_info", |entry| {
        // SAFETY: the caller's promise.
        unsafe { hints.write(info::insert(entry.info())) };
        Ok(())
    })
}

keyval_calls! { Comm "MPI_Comm_create_keyval" "MPI_Comm_free_keyval" }

/// `MPI_Comm_set_attr`.
pub(crate) fn set_attr(comm: Comm, key: c_int, value: *mut c_void) -> c_int {
    on(comm, "MPI_Comm_set_attr", |entry| {
        entry.attributes.set(Kind::Comm, comm.0.addr(), key, value)
    })
}

/// `MPI_Comm_delete_attr`.
pub(crate) fn delete_attr(comm: Comm, key: c_int) -> c_int {
    on(comm, "MPI_Comm_delete_attr", |entry| {
        entry.attributes.delete(Kind::Comm, comm.0.addr(), key)
    })
}

/// `MPI_Comm_get_attr`.
///
/// # Safety
/// The flag may be written to, and so may the value, which is a pointer.
pub(crate) unsafe fn get_attr(
    comm: Comm,
    key: c_int,
    value: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    on(comm, "MPI_Comm_get_attr", |entry| {
        let found = match predefined(key)? {
            Some(place) => Some(std::ptr::from_ref(place).cast_mut().cast()),
            None if key == MPI_APPNUM => None,
            None => entry.attributes.get(Kind::Comm, key)?,
        };
        // SAFETY: the caller's promise.
        unsafe { flag.write(c_int::from(found.is_some())) };
        if let Some(found) = found {
            // SAFETY: as above.
            unsafe { value.cast::<*mut c_void>().write(found) };
        }
        Ok(())
    })
}

/// Where the value of a predefined attribute is, if there is such an attribute and it has a value.
fn predefined(key: c_int) -> Result<Option<&'static AtomicI32>> {
    static TAG_UB: AtomicI32 = AtomicI32::new(oxmpi_core::MAX_TAG as c_int);
    static HOST: AtomicI32 = AtomicI32::new(MPI_PROC_NULL);
    static IO: AtomicI32 = AtomicI32::new(MPI_ANY_SOURCE);
    static WTIME_IS_GLOBAL: AtomicI32 = AtomicI32::new(0);
    static LAST_USED_CODE: AtomicI32 = AtomicI32::new(0);
    static UNIVERSE_SIZE: AtomicI32 = AtomicI32::new(0);
    static PROGRAM_NUMBER: AtomicI32 = AtomicI32::new(0);
    let stored = |place: &'static AtomicI32, value: Option<c_int>| {
        let value = value?;
        place.store(value, Ordering::Relaxed);
        Some(place)
    };
    Ok(Some(match key {
        MPI_TAG_UB => &TAG_UB,
        MPI_HOST => &HOST,
        MPI_IO => &IO,
        MPI_WTIME_IS_GLOBAL => &WTIME_IS_GLOBAL,
        MPI_LASTUSEDCODE => return Ok(stored(&LAST_USED_CODE, Some(error_handling::last_used()))),
        MPI_UNIVERSE_SIZE => return Ok(stored(&UNIVERSE_SIZE, world_size())),
        MPI_APPNUM => return Ok(stored(&PROGRAM_NUMBER, membership::program_number()?)),
        _ => return Ok(None),
    }))
}

fn world_size() -> Option<c_int> {
    let world = find(crate::handles::Handle::from_address(
        crate::constants::MPI_COMM_WORLD,
    ));
    world.map(|entry: &Entry| entry.messages.group().size() as c_int)
}
