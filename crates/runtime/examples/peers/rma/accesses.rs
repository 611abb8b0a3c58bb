//! What each kernel of `rma` does.

use super::buffers::Pages;
use oxmpi::window::ByteWindow;
use oxmpi::{Comm, Memory, Op, Result};

/// What a kernel works on.
pub(crate) struct Access<'a> {
    pub(crate) comm: &'a Comm,
    pub(crate) window: ByteWindow,
    /// The memory of the windows that the kernel makes.
    pub(crate) spare: Option<Memory<u8>>,
    /// Content of rank 0.
    pub(crate) origin: Pages,
    pub(crate) ones: Pages<f64>,
    /// Accesses so far.
    pub(crate) total: u64,
}

/// Accesses with a flush after `accesses` each.
#[inline]
pub(crate) fn flushed(
    access: &Access<'_>,
    times: u64,
    accesses: u32,
    call: impl Fn(&Access<'_>) -> Result<()>,
) -> Result<()> {
    for _ in 0..times {
        for _ in 0..accesses {
            call(access)?;
        }
        access.window.flush(1)?;
    }
    Ok(())
}

#[inline]
pub(crate) fn put(access: &Access<'_>) -> Result<()> {
    access.window.put(&access.origin, 1, 0)
}

#[inline]
pub(crate) fn get(access: &Access<'_>) -> Result<()> {
    access.window.get(0..access.origin.len(), 1, 0)
}

#[inline]
pub(crate) fn accumulate(access: &Access<'_>) -> Result<()> {
    access.window.accumulate(&access.ones, Op::SUM, 1, 0)
}

#[inline]
pub(crate) fn get_accumulate(access: &Access<'_>) -> Result<()> {
    access.window.get_accumulate(&access.ones, Op::SUM, 0, 1, 0)
}

#[inline]
pub(crate) fn fetch_and_op(access: &Access<'_>) -> Result<()> {
    access.window.get_accumulate(&[1i64], Op::SUM, 0, 1, 0)
}

#[inline]
pub(crate) fn compare_and_swap(access: &Access<'_>) -> Result<()> {
    access.window.compare_and_swap([0i64, 0], 0, 1, 0)
}

pub(crate) fn fence_put(access: &mut Access<'_>, times: u64) -> Result<()> {
    for _ in 0..times {
        if access.comm.rank() == 0 {
            put(access)?;
        }
        access.window.fence(true)?;
    }
    Ok(())
}

pub(crate) fn window(access: &mut Access<'_>, times: u64) -> Result<()> {
    let rank = access.comm.rank();
    for _ in 0..times {
        let memory = access.spare.take().unwrap_or_else(|| Memory::from(vec![]));
        let window = access.comm.byte_window(memory, Memory::from(vec![]))?;
        window.fence(true)?;
        window.put(&access.origin, rank, 0)?;
        window.fence(false)?;
        access.spare = Some(window.free()?);
    }
    Ok(())
}

/// Puts to the slot of this rank in the memory of another one, `after` places after it; returns that one.
#[inline]
fn put_to(access: &Access<'_>, after: usize) -> Result<usize> {
    let (rank, size) = (access.comm.rank(), access.comm.size());
    let (other, at) = ((rank + after) % size, rank * access.origin.len());
    access.window.put(&access.origin, other, at)?;
    Ok(other)
}

pub(crate) fn all_put_all(access: &mut Access<'_>, times: u64) -> Result<()> {
    for _ in 0..times {
        for after in 1..access.comm.size() {
            put_to(access, after)?;
        }
        access.window.flush_all()?;
    }
    Ok(())
}

pub(crate) fn exchange_put(access: &mut Access<'_>, times: u64) -> Result<()> {
    for _ in 0..times {
        for after in [1, access.comm.size() - 1] {
            let other = put_to(access, after)?;
            access.window.flush(other)?;
        }
    }
    Ok(())
}

/// Each rank puts the number of the round to the other one, which polls for it.
pub(crate) fn put_pingpong(access: &mut Access<'_>, times: u64) -> Result<()> {
    let (rank, window) = (access.comm.rank(), &access.window);
    let mut mine = [0; 8];
    for round in 1..=times {
        let next = (access.total / 2 + round).to_ne_bytes();
        for sender in 0..2 {
            if sender == rank {
                window.put(&next, 1 - sender, 0)?;
                window.flush(1 - sender)?;
            } else {
                while mine != next {
                    window.load(&mut mine, 0)?;
                }
            }
        }
    }
    Ok(())
}
