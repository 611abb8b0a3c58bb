//! Windows of memory that they allocate themselves (MPI 5.0, sections 12.2.2 and 12.2.3).

use std::mem::ManuallyDrop;

use oxmpi_os::{RawBytes, limit};
use oxmpi_shm::heap::HeapBlock;

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
        let count = len.div_ceil(size_of::<u128>() as u64);
        let count = usize::try_from(count).map_err(|_| refused("addresses have 64 bits".into()))?;
        Ok(Self::Private(vec![0; count].into()))
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
    /// When there is no memory; as [`Window::create`].
    pub fn allocate(comm: &Communicator<A>, len: u64, unit: u64) -> Result<Self> {
        let mut own = OwnMemory::zeroed(comm, len)?;
        // SAFETY: the window keeps the memory until it is freed.
        let memory = unsafe { RawBytes::new(own.start(), len as usize) };
        let mut window = Self::create(comm, memory, unit)?;
        window.own = Some(ManuallyDrop::new(own));
        Ok(window)
    }

    /// Makes a window of `len` zero bytes of memory that all ranks, which are on one node, access as their own
    /// (`MPI_Win_allocate_shared`): [`Window::shared`] says where. If `contiguous`, each rank's memory begins where that of
    /// the rank before it ends; else at a page. Collective.
    ///
    /// # Errors
    /// The same on all ranks: when they are on several nodes, or there is no shared memory; as [`Window::create`].
    pub fn allocate_shared(
        comm: &Communicator<A>,
        (len, unit): (u64, u64),
        contiguous: bool,
    ) -> Result<Self> {
        let comm = comm.duplicate()?;
        let [_, on_node] = comm.access().with(|endpoint| endpoint.on_node());
        let size = comm.group().size() as usize;
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
        // SAFETY: within memory that the window, or that of rank 0, keeps until all have freed it.
        let memory = unsafe { RawBytes::new(start, len as usize) };
        let mut window = Self::of_memory(comm, memory, unit, Reach::Mapped)?;
        window.own = own.map(ManuallyDrop::new);
        Ok(window)
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
        let [[offset], ..] = gather(comm, [offset.map_or(0, |at| at + 1)])?[..] else {
            return Ok((own, std::ptr::null_mut()));
        };
        let place = match (offset.checked_sub(1), start) {
            _ if total == 0 => Some(std::ptr::null_mut()),
            (_, Some(start)) if rank == 0 => Some(start),
            (Some(offset), _) => (comm.access())
                .with(|endpoint| endpoint.area_place(owner, (offset, total)))
                .map(|start| start.wrapping_add(before as usize)),
            _ => None,
        };
        let missing = || not_shared(comm, no_memory(comm, total));
        Ok((own, place.ok_or_else(missing)?))
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

#[cold]
fn not_shared<A: Threading>(comm: &Communicator<A>, why: String) -> Error {
    let rank = comm.group().rank() as usize;
    let class = ErrorClass::RmaShared;
    Error::Window { rank, class, why }
}

fn no_memory<A: Threading>(comm: &Communicator<A>, total: u64) -> String {
    let left = comm.heap().ok().flatten().map_or(0, |heap| heap.left());
    format!(
        "the ranks ask for {total} B, and the heap of this rank has {left} B left; the setting `heap_size` says how much it has"
    )
}
