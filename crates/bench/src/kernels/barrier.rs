//! Barrier: no rank continues before all ranks have entered.

use super::info::Class;
use super::{Info, TAG};
use crate::buffers::BufferSizes;
#[cfg(feature = "alloc")]
use crate::buffers::RepetitionBuffers;
#[cfg(feature = "alloc")]
use crate::comm::Collective;
use crate::comm::Done;
use crate::{Comm, Source};
use core::hint::spin_loop;

pub(super) const INFO: Info = Info {
    class: Class::Synchronisation,
    fixed: Some(0),
    ..Info::collective("Barrier", "no rank goes on before all have come", |_, _| {
        BufferSizes::both(0)
    })
};

/// How late a rank enters a barrier that is checked, in nanoseconds.
const LATE: u64 = 200_000;

#[cfg(feature = "alloc")]
pub(super) fn call(_rank: usize, _: RepetitionBuffers<'_>, _root: usize) -> Collective<'_> {
    Collective::Barrier
}

pub(super) fn repeat<C: Comm>(comm: &mut C, times: u32) -> Done<C> {
    for _ in 0..times {
        comm.barrier()?;
    }
    Ok(())
}

pub(super) fn check<C: Comm>(comm: &mut C) -> Result<f64, C::Error> {
    check_of(comm, |comm| comm.barrier())
}

/// By how many microseconds `barrier` lets this rank go too early.
///
/// Each rank in turn enters late: after all others have told it that they enter, it waits for [`LATE`], so
/// none of them may spend less time in the barrier. Clocks need not agree.
pub(crate) fn check_of<C: Comm>(
    comm: &mut C,
    mut barrier: impl FnMut(&mut C) -> Done<C>,
) -> Result<f64, C::Error> {
    let (rank, ranks) = (comm.rank(), comm.size());
    let mut early = 0;
    for late in 0..ranks {
        if rank == late {
            for other in (0..ranks).filter(|&other| other != rank) {
                comm.recv(&mut [], Source::Rank(other), TAG)?;
            }
            let come = comm.now();
            while comm.now() - come < LATE {
                spin_loop();
            }
            barrier(comm)?;
        } else {
            let come = comm.now();
            comm.send(&[], late, TAG)?;
            barrier(comm)?;
            early = early.max(LATE.saturating_sub(comm.now() - come));
        }
    }
    Ok(early as f64 / 1e3)
}
