//! The job of the process: where the process stands in it, and its end by an error.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use oxmpi_core::Job;

use crate::error::Result;
use crate::shared::Shared;
use crate::types::c_int;

/// Where the process stands; never goes back.
pub(crate) static PHASE: AtomicU8 = AtomicU8::new(BEFORE);
pub(crate) const BEFORE: u8 = 0;
pub(crate) const RUNNING: u8 = 1;
pub(crate) const ENDED: u8 = 2;

/// Whether the process is ending its job. Exit handlers of the program may still call `MPI_Finalize`.
pub(crate) static ABORTING: AtomicBool = AtomicBool::new(false);

/// The membership of the process in its job, from its start until its end.
pub(crate) static JOB: Shared<Option<Job>> = Shared::always_locked(None);

pub(crate) fn phase() -> u8 {
    PHASE.load(Ordering::Acquire)
}

/// Whether calls that communicate are allowed.
pub(crate) fn is_running() -> bool {
    phase() == RUNNING
}

/// The rank in `MPI_COMM_WORLD`, once there is one.
pub(crate) fn world_rank() -> Option<u32> {
    JOB.with(|job| job.as_ref().map(Job::rank))
}

/// The number of the process's program in its job; `None` without a process manager.
pub(crate) fn program_number() -> Result<Option<c_int>> {
    JOB.with(|job| match job {
        Some(job) => Ok(job.program_number()?.map(|number| number as c_int)),
        None => Ok(None),
    })
}

/// Says why, and ends the job.
pub(crate) fn abort_for(code: c_int, why: &str) {
    eprintln!("oxmpi: {why}; its error handler ends the job");
    end_job(code);
}

/// Ends the job, this process included, with this code.
pub(crate) fn end_job(code: c_int) -> ! {
    ABORTING.store(true, Ordering::Relaxed);
    JOB.with(|job| {
        if let Some(job) = job {
            job.abort(code);
        }
    });
    // An exit code of 0 would look like success.
    std::process::exit(if code & 0xff == 0 { 1 } else { code })
}
