//! The process in its job: starting, ending, aborting, and what is asked about that (MPI 5.0, chapter 11).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};

use oxmpi_core::{Communicator, Job, Multi, ProcessEndpoint, Serialized};

use crate::comm_table;
use crate::constants::{
    MPI_COMM_SELF, MPI_COMM_WORLD, MPI_ERR_OTHER, MPI_MAX_PROCESSOR_NAME, MPI_SUCCESS,
    MPI_THREAD_FUNNELED, MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED, MPI_THREAD_SINGLE,
};
use crate::error_handling::{self, Error, Result, catch};
use crate::handles::Handle;
use crate::membership::{ABORTING, BEFORE, ENDED, JOB, PHASE, RUNNING, end_job, is_running, phase};
use crate::shared;
use crate::strings;
use crate::types::{Comm, c_char, c_int};

/// Whether the program has called `MPI_Init` or `MPI_Init_thread`, and `MPI_Finalize`.
static INITIALIZED: AtomicBool = AtomicBool::new(false);
static FINALIZED: AtomicBool = AtomicBool::new(false);

/// Sessions that the program has not finalized. Locked while the process joins its job or leaves it: any thread may begin
/// and end a session at any time (MPI 5.0, table 11.1).
static SESSIONS: Mutex<u32> = Mutex::new(0);

fn sessions() -> MutexGuard<'static, u32> {
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread that has initialised the library, and the thread level that it got.
static MAIN: OnceLock<(ThreadId, c_int)> = OnceLock::new();

/// `MPI_Init`.
pub(crate) fn init(_arguments: *mut c_int, _values: *mut *mut *mut c_char) -> c_int {
    catch("MPI_Init", || initialize(MPI_THREAD_SINGLE).map(drop))
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
        let level = initialize(required)?;
        // SAFETY: the caller's promise.
        unsafe { provided.write(level) };
        Ok(())
    })
}

/// Starts what `MPI_Finalize` ends.
fn initialize(required: c_int) -> Result<c_int> {
    if INITIALIZED.swap(true, Ordering::Relaxed) {
        let why = "the process has called MPI_Init or MPI_Init_thread before; it does so once";
        return Err(Error::new(MPI_ERR_OTHER, why));
    }
    let _sessions = sessions();
    join(required)
}

/// Joins the job at the lowest thread level that is at least `required`. A process that has joined, for a session, keeps
/// its level. The number of sessions is locked.
fn join(required: c_int) -> Result<c_int> {
    match phase() {
        BEFORE => {}
        RUNNING => return Ok(MAIN.get().map_or(MPI_THREAD_SINGLE, |main| main.1)),
        _ => {
            let why = "the process has left its job, and cannot join it again";
            return Err(Error::new(MPI_ERR_OTHER, why));
        }
    }
    let levels = [
        MPI_THREAD_SINGLE,
        MPI_THREAD_FUNNELED,
        MPI_THREAD_SERIALIZED,
    ];
    let level = levels.into_iter().find(|&level| required <= level);
    let level = level.unwrap_or(MPI_THREAD_MULTIPLE);
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
    comm_table::start(world)?;
    JOB.with(|place| *place = Some(job));
    MAIN.get_or_init(|| (thread::current().id(), level));
    PHASE.store(RUNNING, Ordering::Release);
    Ok(level)
}

/// Joins the job for a session; gives the thread level.
pub(crate) fn begin_session(required: c_int) -> Result<c_int> {
    let mut sessions = sessions();
    let level = join(required)?;
    *sessions += 1;
    Ok(level)
}

/// Ends a session. The process leaves its job where it has finalized before; else another session may follow.
pub(crate) fn end_session() -> Result<()> {
    let mut sessions = sessions();
    *sessions -= 1;
    match *sessions == 0 && FINALIZED.load(Ordering::Relaxed) {
        true => leave(),
        false => Ok(()),
    }
}

/// Leaves the job.
fn leave() -> Result<()> {
    let world = comm_table::find(Comm::from_address(MPI_COMM_WORLD));
    // Not in the lock: other threads may ask for the rank meanwhile.
    let (Some(world), Some(mut job)) = (world, JOB.with(Option::take)) else {
        return Ok(());
    };
    let left = job.leave(&world.messages);
    JOB.with(|place| *place = Some(job));
    PHASE.store(ENDED, Ordering::Release);
    comm_table::end();
    Ok(left?)
}

/// `MPI_Finalize`.
pub(crate) fn finalize() -> c_int {
    const FUNCTION: &str = "MPI_Finalize";
    if ABORTING.load(Ordering::Relaxed) {
        return MPI_SUCCESS;
    }
    if !INITIALIZED.load(Ordering::Relaxed) || FINALIZED.load(Ordering::Relaxed) {
        let why = "the process is not initialised, or has called MPI_Finalize before";
        return error_handling::raise(None, FUNCTION, Error::new(MPI_ERR_OTHER, why));
    }
    // The attributes of MPI_COMM_SELF go first, while all calls still work (MPI 5.0, section 11.2.4).
    for address in [MPI_COMM_SELF, MPI_COMM_WORLD] {
        if let Some(entry) = comm_table::find(Comm::from_address(address))
            && let Err(error) = entry.attributes.delete_all(entry.handle())
        {
            return error_handling::raise(Some(entry), FUNCTION, error);
        }
    }
    catch(FUNCTION, || {
        let sessions = sessions();
        FINALIZED.store(true, Ordering::Relaxed);
        match *sessions {
            0 => leave(),
            _ => Ok(()),
        }
    })
}

/// Leaves the job where the program had sessions only, the last of which may have been any.
extern "C" fn at_exit() {
    let sessions_only = is_running() && !INITIALIZED.load(Ordering::Relaxed);
    // A thread that joins or leaves meanwhile never ends that.
    if sessions_only
        && SESSIONS.try_lock().is_ok_and(|sessions| *sessions == 0)
        && let Err(error) = leave()
    {
        eprintln!("oxmpi: {error:?}");
    }
}

/// The loader calls the functions of this section when the process exits, after those of the program.
#[used]
// SAFETY: an address of a function without arguments, as the section holds.
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

/// `MPI_Initialized`.
///
/// # Safety
/// The flag may be written to.
pub(crate) unsafe fn initialized(flag: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { flag.write(INITIALIZED.load(Ordering::Relaxed).into()) };
    MPI_SUCCESS
}

/// `MPI_Finalized`.
///
/// # Safety
/// The flag may be written to.
pub(crate) unsafe fn finalized(flag: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { flag.write(FINALIZED.load(Ordering::Relaxed).into()) };
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
