//! The job of the process: where the process stands in it, and its end by an error.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use oxmpi_core::Job;

use crate::error_handling::Result;
use crate::shared::Shared;
use crate::types::c_int;

/// Where the process stands; never goes back, as a process joins its job once.
pub(crate) static PHASE: AtomicU8 = AtomicU8::new(BEFORE);
pub(crate) const BEFORE: u8 = 0;
pub(crate) const RUNNING: u8 = 1;
pub(crate) const ENDED: u8 = 2;

/// The thread that ends the job, and the exit code. Exit handlers of the program, which that thread runs, may still call the
/// library.
static ENDING: OnceLock<(i32, c_int)> = OnceLock::new();

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

/// Whether the job is being ended.
pub(crate) fn is_ending() -> bool {
    ENDING.get().is_some()
}

/// The number of the process's program in its job; `None` without a process manager.
pub(crate) fn program_number() -> Result<Option<c_int>> {
    JOB.with(|job| match job {
        Some(job) => Ok(job.program_number()?.map(|number| number as c_int)),
        None => Ok(None),
    })
}

/// Says why, and ends the job. Returns where this thread does so already, and runs the program's exit handlers.
pub(crate) fn abort_for(code: c_int, why: &str) {
    if ENDING
        .get()
        .is_some_and(|ending| ending.0 == oxmpi_os::process::thread_id())
    {
        return;
    }
    eprintln!("oxmpi: {why}; its error handler ends the job");
    end_job(code);
}

/// Ends the job, this process included, with this code.
pub(crate) fn end_job(code: c_int) -> ! {
    let thread = oxmpi_os::process::thread_id();
    // An exit code of 0 would look like success.
    let code = if code & 0xff == 0 { 1 } else { code };
    if ENDING.set((thread, code)).is_err()
        && let Some(&(_, code)) = ENDING.get().filter(|ending| ending.0 == thread)
    {
        // An exit handler of the program has called MPI_Abort, and exit handlers run once.
        oxmpi_os::process::exit_now(code);
    }
    JOB.with(|job| {
        if let Some(job) = job {
            job.abort(code);
        }
    });
    std::process::exit(code)
}
