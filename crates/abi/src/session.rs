//! Sessions (MPI 5.0, section 11.3): all on one joining of the job.

use std::sync::Arc;

use oxmpi_core::ProcessGroup;

use crate::attached_memory::Attached;
use crate::comm_table;
use crate::constants::*;
use crate::counts::Counting;
use crate::errhandler_table::{self, Handler};
use crate::error_handling::{self, Error, Result};
use crate::group;
use crate::handles::{Handle, Table};
use crate::info::{self, Pairs};
use crate::process;
use crate::request::SENT;
use crate::strings;
use crate::types::{Comm, Errhandler, Group, Info, Request, Session, c_char, c_int, c_void};

/// The sessions that the program has not finalized.
static SESSIONS: Table<Session, Box<Entry>> = Table::always_locked();

/// The sets of processes that each session has.
const SETS: [&str; 2] = ["mpi://WORLD", "mpi://SELF"];

/// What a handle of a session names.
struct Entry {
    errors: Handler,
    buffers: Arc<Attached>,
    /// Its thread level, as info objects name it.
    level: &'static str,
}

/// Thread levels by their names in info objects.
const LEVELS: [(&str, c_int); 4] = [
    ("MPI_THREAD_SINGLE", MPI_THREAD_SINGLE),
    ("MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED),
    ("MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED),
    ("MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE),
];

/// Runs the work of a call on a session, and raises its error there.
fn on(session: Session, function: &'static str, work: impl FnOnce(&Entry) -> Result<()>) -> c_int {
    let Some(entry) = SESSIONS.find(session) else {
        let error = Error::handle(MPI_ERR_SESSION, "session", session);
        return error_handling::raise(None, function, error);
    };
    match work(entry) {
        Ok(()) => MPI_SUCCESS,
        Err(error) => {
            let object = (session.address(), entry.errors.reaction());
            error_handling::raise_on(Some(object), function, &error)
        }
    }
}

/// A new session, with this error handler.
fn begin(hints: Info, handler: Errhandler) -> Result<Session> {
    let hints = info::pairs(hints)?;
    let errors = Handler::fatal();
    errors.set(handler)?;
    let asked = hints.get("thread_level");
    if let Some(asked) = asked
        && !LEVELS.iter().any(|level| level.0 == asked)
    {
        let why = format!("`{asked}` is no thread level; one is MPI_THREAD_MULTIPLE");
        return Err(Error::argument(why));
    }
    let provided = process::begin_session()?;
    let level = LEVELS.iter().find(|level| level.1 == provided);
    Ok(SESSIONS.insert(Box::new(Entry {
        errors,
        buffers: Arc::new(Attached::new()),
        level: level.map_or(LEVELS[0].0, |level| level.0),
    })))
}

/// `MPI_Session_init`. Its errors are raised on the handler of the session to be made.
///
/// # Safety
/// The handle may be written to.
pub(crate) unsafe fn init(hints: Info, handler: Errhandler, session: *mut Session) -> c_int {
    match begin(hints, handler) {
        Ok(made) => {
            // SAFETY: the caller's promise.
            unsafe { session.write(made) };
            MPI_SUCCESS
        }
        Err(error) => {
            let object = (MPI_SESSION_NULL, errhandler_table::reaction(handler));
            error_handling::raise_on(Some(object), "MPI_Session_init", &error)
        }
    }
}

/// `MPI_Session_finalize`.
///
/// # Safety
/// The handle may be read and written to.
pub(crate) unsafe fn finalize(session: *mut Session) -> c_int {
    // SAFETY: the caller's promise.
    let handle = unsafe { *session };
    let ended = on(handle, "MPI_Session_finalize", |_| {
        process::end_session();
        // SAFETY: as above.
        unsafe { session.write(Session::from_address(MPI_SESSION_NULL)) };
        Ok(())
    });
    drop(SESSIONS.remove(handle));
    ended
}

/// `MPI_Session_get_info`.
///
/// # Safety
/// The handle may be written to.
pub(crate) unsafe fn get_info(session: Session, hints: *mut Info) -> c_int {
    on(session, "MPI_Session_get_info", |entry| {
        let mut pairs = Pairs::default();
        pairs.set("thread_level".to_owned(), entry.level.to_owned());
        // SAFETY: the caller's promise.
        unsafe { hints.write(info::insert(pairs)) };
        Ok(())
    })
}

/// `MPI_Session_get_num_psets`.
///
/// # Safety
/// The number may be written to.
pub(crate) unsafe fn get_num_psets(session: Session, _info: Info, number: *mut c_int) -> c_int {
    on(session, "MPI_Session_get_num_psets", |_| {
        // SAFETY: the caller's promise.
        unsafe { number.write(SETS.len() as c_int) };
        Ok(())
    })
}

/// `MPI_Session_get_nth_pset`.
///
/// # Safety
/// The length may be read and written to, and as many characters of the name be written to.
pub(crate) unsafe fn get_nth_pset(
    session: Session,
    _info: Info,
    number: c_int,
    length: *mut c_int,
    name: *mut c_char,
) -> c_int {
    on(session, "MPI_Session_get_nth_pset", |_| {
        let set = usize::try_from(number)
            .ok()
            .and_then(|number| SETS.get(number));
        let set = set.ok_or_else(|| {
            Error::argument(format!(
                "process set {number} of {}, counted from 0",
                SETS.len()
            ))
        })?;
        // SAFETY: the caller's promise.
        let room = unsafe { *length };
        if room > 0 {
            // SAFETY: as above.
            unsafe { strings::write(set, name, room as usize) };
        }
        // SAFETY: as above.
        unsafe { length.write(set.len() as c_int + 1) };
        Ok(())
    })
}

/// The processes of a set.
///
/// # Safety
/// The name ends with a null character.
unsafe fn set(name: *const c_char) -> Result<ProcessGroup> {
    // SAFETY: the caller's promise.
    let name = unsafe { strings::read(name) };
    let address = match name.to_ascii_lowercase().as_str() {
        "mpi://world" => MPI_COMM_WORLD,
        "mpi://self" => MPI_COMM_SELF,
        _ => {
            let why = format!(
                "there is no process set `{name}`; there are {}",
                SETS.join(" and ")
            );
            return Err(Error::argument(why));
        }
    };
    let comm = Comm::from_address(address);
    let entry = comm_table::find(comm).ok_or_else(|| comm_table::no_such(comm))?;
    Ok(entry.messages.process_group())
}

/// `MPI_Session_get_pset_info`.
///
/// # Safety
/// The name ends with a null character; the handle may be written to.
pub(crate) unsafe fn get_pset_info(
    session: Session,
    name: *const c_char,
    hints: *mut Info,
) -> c_int {
    on(session, "MPI_Session_get_pset_info", |_| {
        // SAFETY: the caller's promise.
        let size = unsafe { set(name)? }.size();
        let mut pairs = Pairs::default();
        pairs.set("mpi_size".to_owned(), size.to_string());
        // SAFETY: as above.
        unsafe { hints.write(info::insert(pairs)) };
        Ok(())
    })
}

/// `MPI_Group_from_session_pset`.
///
/// # Safety
/// As [`get_pset_info`].
pub(crate) unsafe fn pset_group(session: Session, name: *const c_char, of: *mut Group) -> c_int {
    on(session, "MPI_Group_from_session_pset", |entry| {
        // SAFETY: the caller's promise.
        let processes = unsafe { set(name)? };
        let group = group::insert(processes, Some(entry.buffers.clone()));
        // SAFETY: as above.
        unsafe { of.write(group) };
        Ok(())
    })
}

/// `MPI_Session_set_errhandler`.
pub(crate) fn set_errhandler(session: Session, handler: Errhandler) -> c_int {
    on(session, "MPI_Session_set_errhandler", |entry| {
        entry.errors.set(handler)
    })
}

/// `MPI_Session_get_errhandler`.
///
/// # Safety
/// The handle may be written to.
pub(crate) unsafe fn get_errhandler(session: Session, handler: *mut Errhandler) -> c_int {
    on(session, "MPI_Session_get_errhandler", |entry| {
        // SAFETY: the caller's promise.
        unsafe { entry.errors.give(handler) };
        Ok(())
    })
}

/// `MPI_Session_call_errhandler`.
pub(crate) fn call_errhandler(session: Session, code: c_int) -> c_int {
    const FUNCTION: &str = "MPI_Session_call_errhandler";
    on(session, FUNCTION, |entry| {
        let error = Error::new(code, "the program calls the error handler itself");
        error_handling::raise_on(
            Some((session.address(), entry.errors.reaction())),
            FUNCTION,
            &error,
        );
        Ok(())
    })
}

/// `MPI_Session_attach_buffer`.
pub(crate) fn attach_buffer<N: Counting>(session: Session, memory: *mut c_void, size: N) -> c_int {
    on(session, "MPI_Session_attach_buffer", |entry| {
        entry.buffers.attach(memory, size)
    })
}

/// `MPI_Session_detach_buffer`.
///
/// # Safety
/// The address, which is a pointer, and the size may be written to.
pub(crate) unsafe fn detach_buffer<N: Counting>(
    session: Session,
    address: *mut c_void,
    size: *mut N,
) -> c_int {
    on(session, "MPI_Session_detach_buffer", |entry| {
        flush(entry)?;
        // SAFETY: the caller's promise.
        unsafe { entry.buffers.detach(address, size) }
    })
}

/// Waits until the messages have been sent that count against the session's buffer.
fn flush(entry: &Entry) -> Result<()> {
    let own = comm_table::find(Comm::from_address(MPI_COMM_SELF));
    let sent = own.map(|own| own.messages.wait_for_buffered(entry.buffers.number()));
    Ok(sent.unwrap_or(Ok(()))?)
}

/// `MPI_Session_flush_buffer`.
pub(crate) fn flush_buffer(session: Session) -> c_int {
    on(session, "MPI_Session_flush_buffer", flush)
}

/// `MPI_Session_iflush_buffer`. The messages keep copies of their own, so nothing is left to be waited for.
///
/// # Safety
/// The request may be written to.
pub(crate) unsafe fn iflush_buffer(session: Session, request: *mut Request) -> c_int {
    on(session, "MPI_Session_iflush_buffer", |_| {
        // SAFETY: the caller's promise.
        unsafe { request.write(SENT) };
        Ok(())
    })
}

/// `MPI_Session_fromint`.
pub(crate) fn from_int(int: c_int) -> Session {
    SESSIONS.handle_of(int)
}
