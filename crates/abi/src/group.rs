//! Groups of processes (MPI 5.0, section 7.3).

use std::sync::Arc;

use oxmpi_core::{Comparison, PROC_NULL, ProcessGroup};

use crate::attached_memory::Attached;
use crate::comm_table;
use crate::constants::{
    MPI_COMM_SELF, MPI_CONGRUENT, MPI_ERR_ARG, MPI_ERR_GROUP, MPI_GROUP_EMPTY, MPI_GROUP_NULL,
    MPI_IDENT, MPI_PROC_NULL, MPI_SIMILAR, MPI_UNDEFINED, MPI_UNEQUAL,
};
use crate::error_handling::{Error, Result, catch};
use crate::handles::{Handle, Table};
use crate::types::{Comm, Group, c_int};

/// The groups that the program has made.
static GROUPS: Table<Group, Box<Entry>> = Table::new();

/// What a handle of a group names.
struct Entry {
    processes: ProcessGroup,
    /// The memory for buffered sends of the session that it comes from.
    session: Option<Arc<Attached>>,
}

/// The group of a handle.
pub(crate) fn get(group: Group) -> Result<ProcessGroup> {
    let found = match group.address() {
        MPI_GROUP_EMPTY => {
            let own = comm_table::find(Comm::from_address(MPI_COMM_SELF));
            own.and_then(|entry| entry.messages.process_group().incl([]).ok())
        }
        _ => GROUPS.find(group).map(|entry| entry.processes.clone()),
    };
    found.ok_or_else(|| Error::handle(MPI_ERR_GROUP, "group", group))
}

/// The memory for buffered sends of the session that a group comes from.
pub(crate) fn session_of(group: Group) -> Option<Arc<Attached>> {
    GROUPS.find(group)?.session.clone()
}

/// A handle of a new group, which comes from a session, or from none.
pub(crate) fn insert(processes: ProcessGroup, session: Option<Arc<Attached>>) -> Group {
    match processes.size() {
        0 => Group::from_address(MPI_GROUP_EMPTY),
        _ => GROUPS.insert(Box::new(Entry { processes, session })),
    }
}

/// How groups and communicators compare, in C.
pub(crate) const fn comparison(comparison: Comparison) -> c_int {
    match comparison {
        Comparison::Identical => MPI_IDENT,
        Comparison::Congruent => MPI_CONGRUENT,
        Comparison::Similar => MPI_SIMILAR,
        Comparison::Unequal => MPI_UNEQUAL,
    }
}

/// The ranks of an array. A wrong one stays wrong: it is above every rank.
///
/// # Safety
/// The array has `count` ranks.
unsafe fn ranks(count: c_int, ranks: *const c_int) -> Result<Vec<usize>> {
    let count = usize::try_from(count).map_err(|_| Error::count(count))?;
    // SAFETY: the caller's promise.
    Ok((0..count)
        .map(|at| unsafe { *ranks.wrapping_add(at) } as u32 as usize)
        .collect())
}

/// The ranks of triplets of first rank, last rank and stride. A wrong one stays wrong, but is the last of its triplet:
/// there may be 2^31 of them.
///
/// # Safety
/// The array has `count` triplets.
unsafe fn triplets(
    group: &ProcessGroup,
    count: c_int,
    triplets: *const [c_int; 3],
) -> Result<Vec<usize>> {
    let count = usize::try_from(count).map_err(|_| Error::count(count))?;
    let size = group.size();
    let mut ranks = Vec::new();
    for at in 0..count {
        // SAFETY: the caller's promise.
        let [first, last, stride] = unsafe { *triplets.wrapping_add(at) };
        if stride == 0 {
            let why = format!("the stride of triplet {at} is 0");
            return Err(Error::new(MPI_ERR_ARG, why));
        }
        if first != last && (first < last) != (stride > 0) {
            let why = format!(
                "triplet {at} goes from {first} to {last} by {stride}, which never gets there"
            );
            return Err(Error::new(MPI_ERR_ARG, why));
        }
        let mut next = Some(first);
        while let Some(rank) = next {
            let index = rank as u32 as usize;
            ranks.push(index);
            let within = |&next: &c_int| {
                if stride > 0 {
                    next <= last
                } else {
                    next >= last
                }
            };
            next = rank
                .checked_add(stride)
                .filter(within)
                .filter(|_| index < size);
        }
    }
    Ok(ranks)
}

/// Defines the calls that make a group, of the session of the first one.
macro_rules! groups {
    ($($name:ident $function:literal ($first:ident: Group, $($argument:ident: $type:ty),*) $made:expr;)*) => {
        $(
            /// # Safety
            /// The arrays may be read, and the new handle may be written to.
            pub(crate) unsafe fn $name($first: Group, $($argument: $type,)* new: *mut Group) -> c_int {
                catch($function, || {
                    let group = insert($made, session_of($first));
                    // SAFETY: the caller's promise.
                    unsafe { new.write(group) };
                    Ok(())
                })
            }
        )*
    };
}

groups! {
    union "MPI_Group_union" (one: Group, other: Group) get(one)?.union(&get(other)?);
    intersection "MPI_Group_intersection" (one: Group, other: Group) get(one)?.intersection(&get(other)?);
    difference "MPI_Group_difference" (one: Group, other: Group) get(one)?.difference(&get(other)?);
    incl "MPI_Group_incl" (group: Group, count: c_int, named: *const c_int)
        // SAFETY: the caller's promise.
        get(group)?.incl(unsafe { ranks(count, named)? })?;
    excl "MPI_Group_excl" (group: Group, count: c_int, named: *const c_int)
        // SAFETY: the caller's promise.
        get(group)?.excl(unsafe { ranks(count, named)? })?;
    range_incl "MPI_Group_range_incl" (group: Group, count: c_int, named: *mut [c_int; 3])
        // SAFETY: the caller's promise.
        get(group)?.incl(unsafe { triplets(&get(group)?, count, named)? })?;
    range_excl "MPI_Group_range_excl" (group: Group, count: c_int, named: *mut [c_int; 3])
        // SAFETY: the caller's promise.
        get(group)?.excl(unsafe { triplets(&get(group)?, count, named)? })?;
}

/// `MPI_Group_size`.
///
/// # Safety
/// The size may be written to.
pub(crate) unsafe fn size(group: Group, size: *mut c_int) -> c_int {
    catch("MPI_Group_size", || {
        let group = get(group)?;
        // SAFETY: the caller's promise.
        unsafe { size.write(group.size() as c_int) };
        Ok(())
    })
}

/// `MPI_Group_rank`.
///
/// # Safety
/// The rank may be written to.
pub(crate) unsafe fn rank(group: Group, rank: *mut c_int) -> c_int {
    catch("MPI_Group_rank", || {
        let own = get(group)?.rank();
        // SAFETY: the caller's promise.
        unsafe { rank.write(own.map_or(MPI_UNDEFINED, |rank| rank as c_int)) };
        Ok(())
    })
}

/// `MPI_Group_compare`.
///
/// # Safety
/// The result may be written to.
pub(crate) unsafe fn compare(one: Group, other: Group, result: *mut c_int) -> c_int {
    catch("MPI_Group_compare", || {
        let compared = comparison(get(one)?.compare(&get(other)?));
        // SAFETY: the caller's promise.
        unsafe { result.write(compared) };
        Ok(())
    })
}

/// `MPI_Group_translate_ranks`.
///
/// # Safety
/// The ranks may be read, and the translated ones may be written to.
pub(crate) unsafe fn translate_ranks(
    from: Group,
    count: c_int,
    named: *const c_int,
    to: Group,
    translated: *mut c_int,
) -> c_int {
    catch("MPI_Group_translate_ranks", || {
        let (from, to) = (get(from)?, get(to)?);
        // SAFETY: the caller's promise.
        let named = unsafe { ranks(count, named)? };
        let named = named.into_iter().map(|rank| match rank as u32 as c_int {
            MPI_PROC_NULL => PROC_NULL,
            _ => rank,
        });
        for (at, rank) in from.translate(named, &to)?.into_iter().enumerate() {
            let rank = match rank {
                None => MPI_UNDEFINED,
                Some(PROC_NULL) => MPI_PROC_NULL,
                Some(rank) => rank as c_int,
            };
            // SAFETY: the caller's promise.
            unsafe { translated.wrapping_add(at).write(rank) };
        }
        Ok(())
    })
}

/// `MPI_Group_free`.
///
/// # Safety
/// The handle may be read and written to.
pub(crate) unsafe fn free(group: *mut Group) -> c_int {
    catch("MPI_Group_free", || {
        // SAFETY: the caller's promise.
        let handle = unsafe { *group };
        if handle.address() != MPI_GROUP_EMPTY && GROUPS.remove(handle).is_none() {
            return Err(Error::handle(MPI_ERR_GROUP, "group", handle));
        }
        // SAFETY: as above.
        unsafe { group.write(Group::from_address(MPI_GROUP_NULL)) };
        Ok(())
    })
}

/// The groups that the program has not freed.
pub(crate) fn left() -> Vec<Group> {
    GROUPS.handles()
}

/// `MPI_Group_fromint`.
pub(crate) fn from_int(int: c_int) -> Group {
    GROUPS.handle_of(int)
}
