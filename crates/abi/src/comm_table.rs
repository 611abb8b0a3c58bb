//! Communicators: what the ABI adds to those of the core, and the table of their handles.

mod in_use;
mod partitioned;

use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use oxmpi_core::{Communicator, InterCommunicator, ProcessEndpoint};

use crate::attached_memory::{Attached, PROCESS};
use crate::attribute::Attributes;
use crate::comm_topology::Shape;
use crate::constants::{MPI_COMM_SELF, MPI_COMM_WORLD, MPI_ERR_COMM, MPI_PROC_NULL};
use crate::errhandler_table::Handler;
use crate::error::{Error, Result};
use crate::handles::{Handle, Table};
use crate::info_pairs::Pairs;
use crate::shared::Holders;
use crate::types::{Comm, c_int};

pub(crate) use in_use::InUse;
use partitioned::PartitionedInUse;
pub(crate) use partitioned::PartitionedPlace;

/// The contexts apart for making communicators of groups; those before them are for partitioned messages.
const FOR_GROUPS: u32 = Communicator::<ProcessEndpoint>::APART - 2;

/// The communicators that the program has made.
static MADE: Table<Comm, InUse> = Table::new();

/// `MPI_COMM_WORLD` and `MPI_COMM_SELF`, from the start of the process until its end.
static PREDEFINED: [AtomicPtr<Entry>; 2] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 2];

/// What a handle of a communicator names.
#[repr(C)]
pub(crate) struct Entry {
    /// The communicator of messages: of an intercommunicator with the ranks of the remote group.
    pub(crate) messages: Communicator<ProcessEndpoint>,
    /// Its memory, once it has some of its own.
    place: AtomicPtr<Self>,
    /// Its handle, and the operations and messages that have not completed.
    holders: Holders,
    handle: AtomicUsize,
    pub(crate) errors: Handler,
    pub(crate) attributes: Attributes,
    name: Mutex<String>,
    info: Mutex<Pairs>,
    partitioned: Arc<PartitionedInUse>,
    /// The other group, of an intercommunicator.
    pub(crate) inter: Option<Inter>,
    pub(crate) topology: Option<Arc<Shape>>,
    /// The memory for buffered sends.
    pub(crate) buffers: Attached,
    /// That of the session that the communicator comes from.
    pub(crate) session: Option<Arc<Attached>>,
}

/// The groups of an intercommunicator.
pub(crate) struct Inter {
    /// This rank's group.
    pub(crate) local: Communicator<ProcessEndpoint>,
    pub(crate) groups: InterCommunicator<ProcessEndpoint>,
}

impl Entry {
    /// A communicator with this error handler, which it mostly inherits from another.
    pub(crate) fn new(messages: Communicator<ProcessEndpoint>, errors: Handler) -> Self {
        Self {
            messages,
            place: AtomicPtr::new(std::ptr::null_mut()),
            holders: Holders::one(),
            handle: AtomicUsize::new(0),
            errors,
            attributes: Attributes::new(),
            name: Mutex::new(String::new()),
            info: Mutex::new(Pairs::default()),
            partitioned: Arc::default(),
            inter: None,
            topology: None,
            buffers: Attached::new(),
            session: None,
        }
    }

    /// A communicator that is made of this one: with its error handler, and of its session.
    pub(crate) fn heir(&self, messages: Communicator<ProcessEndpoint>) -> Self {
        Self {
            session: self.session.clone(),
            ..Self::new(messages, self.errors.clone())
        }
    }

    /// As [`heir`](Self::heir), an intercommunicator.
    pub(crate) fn heir_between(
        &self,
        local: Communicator<ProcessEndpoint>,
        groups: InterCommunicator<ProcessEndpoint>,
    ) -> Self {
        Self {
            session: self.session.clone(),
            ..Self::between(local, groups, self.errors.clone())
        }
    }

    /// The memory that its buffered sends use (MPI 5.0, section 3.6).
    pub(crate) fn attached(&self) -> &Attached {
        match &self.session {
            _ if self.buffers.is_there() => &self.buffers,
            Some(session) if session.is_there() => session,
            _ => &PROCESS,
        }
    }

    /// An intercommunicator.
    pub(crate) fn between(
        local: Communicator<ProcessEndpoint>,
        groups: InterCommunicator<ProcessEndpoint>,
        errors: Handler,
    ) -> Self {
        let messages = groups.messages(local.group().rank() as usize);
        let mut entry = Self::new(messages, errors);
        entry.inter = Some(Inter { local, groups });
        entry
    }

    /// A communicator within one group, as a call that takes no intercommunicator needs it.
    pub(crate) fn within_group(&self) -> Result<&Communicator<ProcessEndpoint>> {
        match self.inter {
            None => Ok(&self.messages),
            Some(_) => Err(Error::new(
                MPI_ERR_COMM,
                "the communicator has two groups, and the call needs one",
            )),
        }
    }

    /// The communicator of this rank's group.
    pub(crate) fn local(&self) -> &Communicator<ProcessEndpoint> {
        self.inter
            .as_ref()
            .map_or(&self.messages, |inter| &inter.local)
    }

    /// The place of the next partitioned message between this rank and another one, and the communicator on which it matches.
    ///
    /// # Errors
    /// When as many are in use as there are communicators for.
    pub(crate) fn for_partitioned(
        &self,
        is_send: bool,
        rank: c_int,
        tag: c_int,
    ) -> Result<(Option<PartitionedPlace>, Communicator<ProcessEndpoint>)> {
        let place = match rank {
            MPI_PROC_NULL => None,
            _ => Some(PartitionedPlace::take(
                &self.partitioned,
                (is_send, rank, tag),
            )?),
        };
        let number = place.as_ref().map_or(0, PartitionedPlace::number);
        Ok((place, self.messages.apart(number)))
    }

    /// The communicator on which groups meet that have none of their own.
    pub(crate) fn for_groups(&self) -> Communicator<ProcessEndpoint> {
        self.messages.apart(FOR_GROUPS)
    }

    /// Its handle, as a number.
    pub(crate) fn handle(&self) -> usize {
        self.handle.load(Ordering::Relaxed)
    }

    pub(crate) fn name(&self) -> String {
        (self.name.lock().unwrap_or_else(PoisonError::into_inner)).clone()
    }

    pub(crate) fn info(&self) -> Pairs {
        (self.info.lock().unwrap_or_else(PoisonError::into_inner)).clone()
    }

    pub(crate) fn set_info(&self, pairs: Pairs) {
        *self.info.lock().unwrap_or_else(PoisonError::into_inner) = pairs;
    }

    pub(crate) fn set_name(&self, name: String) {
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = name;
    }
}

/// The communicator of a handle, if there is one.
#[inline(always)]
pub(crate) fn find<'a>(comm: Comm) -> Option<&'a Entry> {
    match PREDEFINED.get(comm.address().wrapping_sub(MPI_COMM_WORLD)) {
        // SAFETY: null, or an entry that lives until the process ends.
        Some(place) => unsafe { place.load(Ordering::Acquire).as_ref() },
        None => find_made(comm),
    }
}

/// As [`find`], without a call: `None` too where a lock is to be taken.
#[inline(always)]
pub(crate) fn find_unlocked<'a>(comm: Comm) -> Option<&'a Entry> {
    match PREDEFINED.get(comm.address().wrapping_sub(MPI_COMM_WORLD)) {
        // SAFETY: as above.
        Some(place) => unsafe { place.load(Ordering::Acquire).as_ref() },
        None => MADE.find_unlocked(comm),
    }
}

/// Apart, so that calls on a predefined communicator need no registers for it.
#[inline(never)]
fn find_made<'a>(comm: Comm) -> Option<&'a Entry> {
    MADE.find(comm)
}

/// `MPI_COMM_SELF`, for calls that concern no communicator.
pub(crate) fn own<'a>() -> Result<&'a Entry> {
    let own = Comm::from_address(MPI_COMM_SELF);
    find(own).ok_or_else(|| no_such(own))
}

/// The error of a handle that names no communicator.
#[cold]
pub(crate) fn no_such(comm: Comm) -> Error {
    match (comm.is_predefined(), crate::membership::is_running()) {
        (true, false) => Error::new(
            MPI_ERR_COMM,
            "the process is not initialised, or has called MPI_Finalize",
        ),
        _ => Error::handle(MPI_ERR_COMM, "communicator", comm),
    }
}

/// The groups of an intercommunicator.
pub(crate) fn between_groups(entry: &Entry) -> Result<&Inter> {
    let why = "the communicator has one group, and an intercommunicator is expected";
    (entry.inter.as_ref()).ok_or_else(|| Error::new(MPI_ERR_COMM, why))
}

/// The name of a communicator in messages to the user.
pub(crate) fn name_of(comm: Comm) -> Option<String> {
    let name = find(comm)?.name();
    Some(match name.is_empty() {
        true => format!("communicator {:#x}", comm.address()),
        false => name,
    })
}

/// Makes the predefined communicators.
pub(crate) fn start(world: Communicator<ProcessEndpoint>) -> Result<()> {
    let alone = world.alone()?;
    let both = [
        (world, MPI_COMM_WORLD, "MPI_COMM_WORLD"),
        (alone, MPI_COMM_SELF, "MPI_COMM_SELF"),
    ];
    for ((messages, address, name), place) in both.into_iter().zip(&PREDEFINED) {
        let entry = ManuallyDrop::new(InUse::first(Entry::new(messages, Handler::fatal())));
        entry.handle.store(address, Ordering::Relaxed);
        entry.set_name(name.to_owned());
        place.store(entry.address().as_ptr(), Ordering::Release);
    }
    Ok(())
}

/// Forgets the predefined communicators. They stay in memory, as another thread may be in a call.
pub(crate) fn end() {
    /// A reference, so that tools do not take them for lost; the compiler would leave out what is never read.
    #[used]
    static ENDED: [AtomicPtr<Entry>; 2] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 2];
    for (place, ended) in PREDEFINED.iter().zip(&ENDED) {
        let entry = place.swap(std::ptr::null_mut(), Ordering::Relaxed);
        ended.store(entry, Ordering::Relaxed);
    }
}

/// A handle of a new communicator.
pub(crate) fn insert(entry: Entry) -> Comm {
    let comm = MADE.insert(InUse::first(entry));
    if let Some(entry) = find(comm) {
        entry.handle.store(comm.address(), Ordering::Relaxed);
    }
    comm
}

/// Takes the communicator out of the table: its handle names nothing from now on.
pub(crate) fn remove(comm: Comm) -> Option<InUse> {
    MADE.remove(comm)
}

/// The communicators that the program has not freed.
pub(crate) fn left() -> Vec<Comm> {
    MADE.handles()
}

/// `MPI_Comm_fromint`.
pub(crate) fn from_int(int: c_int) -> Comm {
    MADE.handle_of(int)
}
