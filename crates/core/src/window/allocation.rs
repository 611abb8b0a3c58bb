//! Windows of memory that they allocate themselves (MPI 5.0, sections 12.2.2 and 12.2.3).

use std::mem::ManuallyDrop;

use oxmpi_os::{RawBytes, limit};
use oxmpi_shm::heap::HeapBlock;
use oxmpi_shm::window::MOST_WAITING;
use zerocopy::FromZeros;

use super::super::communicator::Communicator;
use super::super::threading::Threading;
use super::Window;
use super::creation::{Reach, gather};
use crate::error::{Error, ErrorClass, Result};

/// Memory that a window has allocated for its rank.
#[derive(Debug)]
pub(super) enum OwnMemory {
    /// Other ranks of the node reach it.
    Shared(HeapBlock),
    Private(Box<[u128]>),
}

impl OwnMemory {
    /// `len` zero bytes, shared if the heap has them.
    fn zeroed<A: Threading>(comm: &Communicator<A>, len: u64) -> Result<Self> {
        if let Some(block) = shared_block(comm, len)? {
            return Ok(Self::Shared(block));
        }
        let refused = |why: String| Error::Alloc {
            rank: comm.group().rank() as usize,
            bytes: len,
            why,
        };
        limit::check(len).map_err(|why| refused(why.to_string()))?;
        let count = usize::try_from(len.div_ceil(size_of::<u128>() as u64));
        let memory = count
            .ok()
            .and_then(|count| u128::new_vec_zeroed(count).ok());
        let memory = memory.ok_or_else(|| refused("the system refuses it".into()))?;
        Ok(Self::Private(memory.into()))
    }

    fn start(&mut self) -> *mut u8 {
        match self {
            Self::Shared(block) => block.start().as_ptr(),
            Self::Private(memory) => memory.as_mut_ptr().cast(),
        }
    }
}

/// `len` zero bytes of the heap, if there is one and it has them.
fn shared_block<A: Threading>(comm: &Communicator<A>, len: u64) -> Result<Option<HeapBlock>> {
    let heap = comm.heap()?.filter(|heap| len > 0 && heap.is_reachable());
    Ok(heap.and_then(|heap| heap.allocate(len).ok()))
}

impl<A: Threading> Window<A> {
    /// Makes a window of `len` zero bytes that it allocates, with displacements in units of `unit` bytes
    /// (`MPI_Win_allocate`): from the heap, so that ranks of the node reach it by loads and stores, as long as there is
    /// room. Collective.
    ///
    /// # Errors
    /// On all ranks, when one has no memory; as [`Window::create`].
    pub fn allocate(comm: &Communicator<A>, len: u64, unit: u64) -> Result<Self> {
        let comm = comm.duplicate()?;
        let own = agreed(&comm, OwnMemory::zeroed(&comm, len), "it")?;
        let mut own = ManuallyDrop::new(own);
        // SAFETY: the window keeps the memory until it is freed.
        let memory = unsafe { RawBytes::new(own.start(), len as usize) };
        let mut window = Self::of_memory(comm, memory, unit, Reach::AsChosen)?;
        window.own = Some(own);
        Ok(window)
    }

    /// Makes a window of `len` zero bytes of memory that all ranks, which are on one node, access as their own
    /// (`MPI_Win_allocate_shared`): [`Window::shared`] says where. If `contiguous`, each rank's memory begins where that of
    /// the rank before it ends; else at a page. Collective.
    ///
    /// # Errors
    /// On all ranks: when they are on several nodes, or there is no shared memory; as [`Window::create`].
    pub fn allocate_shared(
        comm: &Communicator<A>,
        (len, unit): (u64, u64),
        contiguous: bool,
    ) -> Result<Self> {
        let comm = comm.duplicate()?;
        let [_, on_node] = comm.access().with(|endpoint| endpoint.on_node());
        let size = comm.group().size() as usize;
        if on_node > MOST_WAITING {
            let why = format!(
                "the node has {on_node} ranks, of which at most {MOST_WAITING} share windows"
            );
            return Err(not_shared(&comm, why));
        }
        let is_near = |rank| comm.link(rank).is_some_and(|link| link.0 < on_node);
        if let Some(far) = (0..size).find(|&rank| !is_near(rank)) {
            let here = comm.group().rank();
            return Err(not_shared(
                &comm,
                format!("ranks {here} and {far} are on different nodes"),
            ));
        }
        let lengths = gather(&comm, [len])?;
        let total = (lengths.iter()).try_fold(0u64, |sum, [len]| sum.checked_add(*len));
        let total = total.filter(|&total| total <= i64::MAX as u64);
        let total = total.ok_or_else(|| not_shared(&comm, "its bytes exceed 63 bits".into()))?;
        let (own, start) = match contiguous {
            true => Self::contiguous(&comm, &lengths, total)?,
            false => Self::apart(&comm, (len, total))?,
        };
        let own = own.map(ManuallyDrop::new);
        // SAFETY: within memory that the window, or that of rank 0, keeps until all have freed it.
        let memory = unsafe { RawBytes::new(start, len as usize) };
        let mut window = Self::of_memory(comm, memory, unit, Reach::Mapped)?;
        window.own = own;
        let mut ranks = lengths.iter().enumerate();
        let all = ranks.all(|(rank, [len])| *len == 0 || window.shared(rank).is_some());
        match gather(&window.comm, [u64::from(!all)])?.contains(&[1]) {
            false => Ok(window),
            true => {
                let why = not_shared(&window.comm, no_memory(&window.comm, total));
                window.free()?;
                Err(why)
            }
        }
    }

    /// This rank's part of memory that rank 0 allocates for all.
    fn contiguous(
        comm: &Communicator<A>,
        lengths: &[[u64; 1]],
        total: u64,
    ) -> Result<(Option<OwnMemory>, *mut u8)> {
        let rank = comm.group().rank() as usize;
        let mut own = None;
        if rank == 0 {
            own = match comm.group().size() {
                1 => Some(OwnMemory::zeroed(comm, total)?),
                _ => shared_block(comm, total)?.map(OwnMemory::Shared),
            };
        }
        let before: u64 = lengths[..rank].iter().map(|[len]| len).sum();
        let start = own.as_mut().map(OwnMemory::start);
        let owner = comm.link(0).map_or(0, |link| link.0);
        // One more than the offset; 0 where there is no memory.
        let offset = comm.access().with(|endpoint| {
            let start = start.filter(|_| total > 0)?;
            endpoint.area_offset(owner, (start, total))
        });
        let offsets = gather(comm, [offset.map_or(0, |at| at + 1)])?;
        let offset = offsets[0][0];
        let place = match (offset.checked_sub(1), start) {
            _ if total == 0 => Some(std::ptr::null_mut()),
            (_, Some(start)) if rank == 0 => Some(start),
            (Some(offset), _) => (comm.access())
                .with(|endpoint| endpoint.area_place(owner, (offset, total)))
                .map(|start| start.wrapping_add(before as usize)),
            _ => None,
        };
        let place = place.ok_or_else(|| not_shared(comm, no_memory(comm, total)));
        Ok((own, agreed(comm, place, "the memory of rank 0")?))
    }

    /// Memory of this rank alone, which all others reach.
    fn apart(
        comm: &Communicator<A>,
        (len, total): (u64, u64),
    ) -> Result<(Option<OwnMemory>, *mut u8)> {
        let mut own = match comm.group().size() {
            1 => Some(OwnMemory::zeroed(comm, len)?),
            _ => shared_block(comm, len)?.map(OwnMemory::Shared),
        };
        let is_missing = len > 0 && own.is_none();
        if gather(comm, [is_missing.into()])?.contains(&[1]) {
            return Err(not_shared(comm, no_memory(comm, total)));
        }
        let start = own.as_mut().map_or(std::ptr::null_mut(), OwnMemory::start);
        Ok((own, start))
    }
}

/// What this rank has got, unless it or another one has got nothing.
///
/// # Errors
/// On all ranks, of one its own.
fn agreed<A: Threading, R>(comm: &Communicator<A>, got: Result<R>, what: &str) -> Result<R> {
    let all = gather(comm, [u64::from(got.is_err())])?;
    match all.iter().position(|missing| *missing == [1]) {
        Some(other) => got.and_then(|_| {
            Err(Error::Window {
                rank: comm.group().rank() as usize,
                class: ErrorClass::NoMemory,
                why: format!("rank {other} has no memory for it, or does not reach {what}"),
            })
        }),
        None => got,
    }
}

#[cold]
fn not_shared<A: Threading>(comm: &Communicator<A>, why: String) -> Error {
    let rank = comm.group().rank() as usize;
    let class = ErrorClass::RmaShared;
    Error::Window { rank, class, why }
}

fn no_memory<A: Threading>(comm: &Communicator<A>, total: u64) -> String {
    let left = comm.heap().ok().flatten().map_or(0, |heap| heap.left());
    format!(
        "the ranks ask for {total} B, and the heap of this rank has {left} B left; the setting `shm_heap` says how much it has"
    )
}
