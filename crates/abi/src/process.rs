//! The process in its job: starting, ending, aborting, and what is asked about that (MPI 5.0, chapter 11).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{self, ThreadId};

use oxmpi_core::{Communicator, Job, Multi, ProcessEndpoint, Serialized};

use crate::communicator;
use crate::constants::{
    MPI_COMM_SELF, MPI_COMM_WORLD, MPI_ERR_OTHER, MPI_MAX_PROCESSOR_NAME, MPI_SUCCESS,
    MPI_THREAD_FUNNELED, MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED, MPI_THREAD_SINGLE,
};
use crate::errors::{self, Error, Result, catch};
use crate::handles::Handle;
use crate::shared::{self, Shared};
use crate::strings;
use crate::types::{Comm, c_char, c_int};

/// Where the process stands; never goes back.
static PHASE: AtomicU8 = AtomicU8::new(BEFORE);
const BEFORE: u8 = 0;
const RUNNING: u8 = 1;
const ENDED: u8 = 2;

/// The membership of the process in its job, from its start until its end.
static JOB: Shared<Option<Job>> = Shared::always_locked(None);

/// The thread that has initialised the library, and the thread level that it got.
static MAIN: OnceLock<(ThreadId, c_int)> = OnceLock::new();

fn phase() -> u8 {
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

/// `MPI_Init`.
pub(crate) fn init(_arguments: *mut c_int, _values: *mut *mut *mut c_char) -> c_int {
    catch("MPI_Init", || start(MPI_THREAD_SINGLE).map(drop))
}

/// `MPI_Init_thread`.
///
/// # Safety
/// `provided` may be written to.
pub(crate) unsafe fn init_thread(
    _arguments: *mut c_int,
    _values: *mut *mut *mut c_char,
    required: c_int,
    provided: *mut c_int,
) -> c_int {
    catch("MPI_Init_thread", || {
        let level = start(required)?;
        // SAFETY: the caller's promise.
        unsafe { provided.write(level) };
        Ok(())
    })
}

/// Joins the job at the lowest thread level that is at least `required`.
fn start(required: c_int) -> Result<c_int> {
    let levels = [
        MPI_THREAD_SINGLE,
        MPI_THREAD_FUNNELED,
        MPI_THREAD_SERIALIZED,
    ];
    let level = levels.into_iter().find(|&level| required <= level);
    let level = level.unwrap_or(MPI_THREAD_MULTIPLE);
    if phase() != BEFORE {
        let why = "the process has called MPI_Init or MPI_Init_thread before; it does so once";
        return Err(Error::new(MPI_ERR_OTHER, why));
    }
    let policy = || {
        let policy = oxmpi_settings::job_policy(Vec::new());
        policy.map_err(|bad| oxmpi_core::Error::Setting(bad.to_string()))
    };
    let mut warn = |warning: &str| eprintln!("oxmpi: {warning}");
    let (job, world): (Job, Communicator<ProcessEndpoint>) = match level {
        MPI_THREAD_MULTIPLE => {
            shared::allow_concurrent_calls();
            let (job, world) = Job::join::<Multi>(policy, &mut warn)?;
            (job, world.with_access(ProcessEndpoint::Multiple))
        }
        _ => {
            let (job, world) = Job::join::<Serialized>(policy, &mut warn)?;
            (job, world.with_access(ProcessEndpoint::Serialized))
        }
    };
    communicator::start(world)?;
    JOB.with(|place| *place = Some(job));
    MAIN.get_or_init(|| (thread::current().id(), level));
    PHASE.store(RUNNING, Ordering::Release);
    Ok(level)
}

/// `MPI_Finalize`.
pub(crate) fn finalize() -> c_int {
    const FUNCTION: &str = "MPI_Finalize";
    let Some(world) = communicator::find(Comm::from_address(MPI_COMM_WORLD)) else {
        let why = "the process is not initialised, or has called MPI_Finalize before";
        return errors::raise(None, FUNCTION, Error::new(MPI_ERR_OTHER, why));
    };
    // The attributes of MPI_COMM_SELF go first, while all calls still work (MPI 5.0, section 11.2.4).
    for address in [MPI_COMM_SELF, MPI_COMM_WORLD] {
        if let Some(entry) = communicator::find(Comm::from_address(address))
            && let Err(error) = entry.attributes.delete_all(entry.handle())
        {
            return errors::raise(Some(entry), FUNCTION, error);
        }
    }
    // Not in the lock: other threads may ask for the rank meanwhile.
    let Some(mut job) = JOB.with(Option::take) else {
        return MPI_SUCCESS;
    };
    let left = job.leave(&world.messages);
    JOB.with(|place| *place = Some(job));
    PHASE.store(ENDED, Ordering::Release);
    communicator::end();
    match left {
        Ok(()) => MPI_SUCCESS,
        Err(error) => errors::raise(None, FUNCTION, error.into()),
    }
}

/// `MPI_Initialized`.
///
/// # Safety
/// The flag may be written to.
pub(crate) unsafe fn initialized(flag: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { flag.write(c_int::from(phase() != BEFORE)) };
    MPI_SUCCESS
}

/// `MPI_Finalized`.
///
/// # Safety
/// The flag may be written to.
pub(crate) unsafe fn finalized(flag: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { flag.write(c_int::from(phase() == ENDED)) };
    MPI_SUCCESS
}

fn main_thread() -> Result<&'static (ThreadId, c_int)> {
    let main = MAIN.get().filter(|_| is_running());
    main.ok_or_else(|| {
        Error::new(
            MPI_ERR_OTHER,
            "the process is not initialised, or has ended",
        )
    })
}

/// `MPI_Query_thread`.
///
/// # Safety
/// The level may be written to.
pub(crate) unsafe fn query_thread(provided: *mut c_int) -> c_int {
    catch("MPI_Query_thread", || {
        let (_, level) = main_thread()?;
        // SAFETY: the caller's promise.
        unsafe { provided.write(*level) };
        Ok(())
    })
}

/// `MPI_Is_thread_main`.
///
/// # Safety
/// The flag may be written to.
pub(crate) unsafe fn is_thread_main(flag: *mut c_int) -> c_int {
    catch("MPI_Is_thread_main", || {
        let (main, _) = main_thread()?;
        // SAFETY: the caller's promise.
        unsafe { flag.write(c_int::from(*main == thread::current().id())) };
        Ok(())
    })
}

/// `MPI_Get_processor_name`.
///
/// # Safety
/// There is room for `MPI_MAX_PROCESSOR_NAME` characters; the length may be written to.
pub(crate) unsafe fn processor_name(name: *mut c_char, len: *mut c_int) -> c_int {
    let host = oxmpi_os::host::name();
    // SAFETY: the caller's promise.
    let written = unsafe { strings::write(&host, name, MPI_MAX_PROCESSOR_NAME as usize) };
    // SAFETY: as above.
    unsafe { len.write(written as c_int) };
    MPI_SUCCESS
}

/// `MPI_Abort`. The whole job ends, whatever the communicator is.
pub(crate) fn abort(_comm: Comm, code: c_int) -> c_int {
    end_job(code)
}

/// Says why, and ends the job.
pub(crate) fn abort_for(code: c_int, why: &str) {
    eprintln!("oxmpi: {why}; its error handler ends the job");
    end_job(code);
}

/// Ends the job, this process included, with this code.
fn end_job(code: c_int) -> ! {
    JOB.with(|job| {
        if let Some(job) = job {
            job.abort(code);
        }
    });
    // An exit code of 0 would look like success.
    std::process::exit(if code & 0xff == 0 { 1 } else { code })
}
