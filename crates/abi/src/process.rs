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
use crate::handle_leaks;
use crate::handles::Handle;
use crate::membership::{
    BEFORE, ENDED, JOB, PHASE, RUNNING, end_job, is_ending, is_running, phase,
};
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

/// Whether there has been a session. Others may follow, also after `MPI_Finalize` (MPI 5.0, section 11.3), so the process
/// leaves its job when it exits. Changed while the number of sessions is locked.
static HAD_SESSIONS: AtomicBool = AtomicBool::new(false);

/// The thread that has called `MPI_Init` or `MPI_Init_thread`.
static MAIN: OnceLock<ThreadId> = OnceLock::new();

/// The thread level of the process, once it has joined its job.
static LEVEL: OnceLock<c_int> = OnceLock::new();

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
    let level = join(required)?;
    MAIN.get_or_init(|| thread::current().id());
    Ok(level)
}

/// Joins the job at the lowest thread level that is at least `required`. A process that has joined, for a session, keeps
/// its level. The number of sessions is locked.
fn join(required: c_int) -> Result<c_int> {
    match phase() {
        BEFORE => {}
        RUNNING => return Ok(LEVEL.get().copied().unwrap_or(MPI_THREAD_SINGLE)),
        _ => {
            let why = "the process has left its job by MPI_Finalize, and cannot join it again: begin a session before, \
                       and the process stays until it exits";
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
        let policy = policy.map_err(|bad| oxmpi_core::Error::Setting(bad.to_string()))?;
        handle_leaks::ask(policy.handle_leaks);
        Ok(policy)
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
    LEVEL.get_or_init(|| level);
    PHASE.store(RUNNING, Ordering::Release);
    Ok(level)
}

/// Joins the job for a session; gives the thread level. That is the highest, as nobody knows yet which one later sessions and
/// `MPI_Init_thread` will ask for.
pub(crate) fn begin_session() -> Result<c_int> {
    let mut sessions = sessions();
    let level = join(MPI_THREAD_MULTIPLE)?;
    HAD_SESSIONS.store(true, Ordering::Relaxed);
    *sessions += 1;
    Ok(level)
}

/// Ends a session.
pub(crate) fn end_session() {
    *sessions() -= 1;
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
    if is_ending() {
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
    handle_leaks::report();
    catch(FUNCTION, || {
        let _sessions = sessions();
        FINALIZED.store(true, Ordering::Relaxed);
        match HAD_SESSIONS.load(Ordering::Relaxed) {
            false => leave(),
            true => Ok(()),
        }
    })
}

/// Leaves the job where the program had sessions, the last of which may have been any.
extern "C" fn at_exit() {
    let is_finalized = !INITIALIZED.load(Ordering::Relaxed) || FINALIZED.load(Ordering::Relaxed);
    // A thread that joins or leaves meanwhile never ends that.
    if is_running()
        && !is_ending()
        && is_finalized
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

/// The thread level of the process.
fn level() -> Result<c_int> {
    let level = LEVEL.get().filter(|_| is_running());
    level.copied().ok_or_else(|| {
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
        let level = level()?;
        // SAFETY: the caller's promise.
        unsafe { provided.write(level) };
        Ok(())
    })
}

/// `MPI_Is_thread_main`.
///
/// # Safety
/// The flag may be written to.
pub(crate) unsafe fn is_thread_main(flag: *mut c_int) -> c_int {
    catch("MPI_Is_thread_main", || {
        level()?;
        let is_main = MAIN.get() == Some(&thread::current().id());
        // SAFETY: the caller's promise.
        unsafe { flag.write(c_int::from(is_main)) };
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
