//! Windows: what the ABI adds to those of the core, and the table of their handles.

mod hints;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use oxmpi_core::{ProcessEndpoint, Window};

use crate::attached_memory::Attached;
use crate::attribute::Attributes;
use crate::errhandler_table::Handler;
use crate::handles::{Handle, Table};
use crate::shared::Held;
use crate::types::{Aint, Win, c_int};

pub(crate) use hints::Hints;

/// The windows that the program has made.
static WINDOWS: Table<Win, Box<Entry>> = Table::new();

/// What a handle of a window names.
pub(crate) struct Entry {
    pub(crate) raw: Window<ProcessEndpoint>,
    pub(crate) facts: Facts,
    pub(crate) errors: Handler,
    pub(crate) attributes: Attributes,
    pub(crate) hints: Mutex<Hints>,
    /// That of the session that the window comes from.
    pub(crate) session: Option<Arc<Attached>>,
    name: Mutex<String>,
    handle: AtomicUsize,
    /// Layouts of buffers that accesses still write, by target.
    held: Mutex<Vec<(c_int, Held)>>,
    /// Whether there are some: mostly there are none, and nobody takes the lock.
    holds: AtomicBool,
}

/// What the predefined attributes of a window tell.
pub(crate) struct Facts {
    pub(crate) base: usize,
    pub(crate) size: Aint,
    pub(crate) unit: c_int,
    pub(crate) flavor: c_int,
    pub(crate) model: c_int,
}

impl Entry {
    pub(crate) fn new(
        raw: Window<ProcessEndpoint>,
        facts: Facts,
        hints: Hints,
        session: Option<Arc<Attached>>,
    ) -> Self {
        Self {
            raw,
            facts,
            errors: Handler::fatal(),
            attributes: Attributes::new(),
            hints: Mutex::new(hints),
            session,
            name: Mutex::new(String::new()),
            handle: AtomicUsize::new(0),
            held: Mutex::new(Vec::new()),
            holds: AtomicBool::new(false),
        }
    }

    /// Its handle, as a number.
    pub(crate) fn handle(&self) -> usize {
        self.handle.load(Ordering::Relaxed)
    }

    pub(crate) fn name(&self) -> String {
        (self.name.lock().unwrap_or_else(PoisonError::into_inner)).clone()
    }

    pub(crate) fn set_name(&self, name: String) {
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = name;
    }

    /// Runs `work` on the hints.
    pub(crate) fn with_hints<R>(&self, work: impl FnOnce(&mut Hints) -> R) -> R {
        work(&mut self.hints.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps what an access to a target that has not ended needs.
    pub(crate) fn keep(&self, rank: c_int, held: Held) {
        if held.is_some() {
            let mut all = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((rank, held));
            self.holds.store(true, Ordering::Relaxed);
        }
    }

    /// Runs a call after which the accesses to a target, or to all, that were made before it have ended, and forgets what they
    /// needed: not what another thread's accesses need that begin meanwhile.
    #[inline]
    pub(crate) fn ending<E>(
        &self,
        rank: Option<c_int>,
        call: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        // What this thread's accesses hold it sees, and those of other threads may go on.
        if !self.holds.load(Ordering::Relaxed) {
            return call();
        }
        self.ending_held(rank, call)
    }

    #[cold]
    fn ending_held<E>(
        &self,
        rank: Option<c_int>,
        call: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let all = || self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let is_of = |(target, _): &mut (c_int, Held)| rank.is_none_or(|rank| rank == *target);
        let held: Vec<_> = {
            let mut all = all();
            let held = all.extract_if(.., is_of).collect();
            self.holds.store(!all.is_empty(), Ordering::Relaxed);
            held
        };
        let ended = call();
        if ended.is_err() {
            held.into_iter()
                .for_each(|(rank, held)| self.keep(rank, held));
        }
        ended
    }
}

/// The window of a handle.
pub(crate) fn find<'a>(win: Win) -> Option<&'a Entry> {
    WINDOWS.find(win)
}

/// A handle of a new window.
pub(crate) fn insert(entry: Entry) -> Win {
    let win = WINDOWS.insert(Box::new(entry));
    if let Some(entry) = find(win) {
        entry.handle.store(win.address(), Ordering::Relaxed);
    }
    win
}

/// Takes the window out of the table: its handle names nothing from now on.
pub(crate) fn remove(win: Win) -> Option<Box<Entry>> {
    WINDOWS.remove(win)
}

/// As [`find`], without a call: `None` too where a lock is to be taken.
#[inline(always)]
pub(crate) fn find_unlocked<'a>(win: Win) -> Option<&'a Entry> {
    WINDOWS.find_unlocked(win)
}

/// The name of a window in messages to the user.
pub(crate) fn name_of(win: Win) -> Option<String> {
    let name = find(win)?.name();
    Some(match name.is_empty() {
        true => format!("window {:#x}", win.address()),
        false => name,
    })
}

/// The windows that the program has not freed.
pub(crate) fn left() -> Vec<Win> {
    WINDOWS.handles()
}

/// `MPI_Win_fromint`.
pub(crate) fn from_int(int: c_int) -> Win {
    WINDOWS.handle_of(int)
}
