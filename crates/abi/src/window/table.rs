//! Windows: what the ABI adds to those of the core, and the table of their handles.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use oxmpi_core::{ProcessEndpoint, Window};

use super::hints::Hints;
use crate::attached_memory::Attached;
use crate::attribute::Attributes;
use crate::constants::{MPI_ERR_WIN, MPI_SUCCESS};
use crate::errhandler_table::Handler;
use crate::error_handling::{self, Error, Result};
use crate::handles::{Handle, Table};
use crate::shared::Held;
use crate::types::{Aint, Win, c_int};

/// The windows that the program has made.
static WINDOWS: Table<Win, Box<Entry>> = Table::new();

/// What a handle of a window names.
pub(super) struct Entry {
    pub(super) raw: Window<ProcessEndpoint>,
    pub(super) facts: Facts,
    pub(super) errors: Handler,
    pub(super) attributes: Attributes,
    pub(super) hints: Mutex<Hints>,
    /// That of the session that the window comes from.
    pub(super) session: Option<Arc<Attached>>,
    name: Mutex<String>,
    handle: AtomicUsize,
    /// Layouts of buffers that accesses still write, by target.
    held: Mutex<Vec<(c_int, Held)>>,
}

/// What the predefined attributes of a window tell.
pub(super) struct Facts {
    pub(super) base: usize,
    pub(super) size: Aint,
    pub(super) unit: c_int,
    pub(super) flavor: c_int,
    pub(super) model: c_int,
}

impl Entry {
    pub(super) fn new(
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
        }
    }

    /// Its handle, as a number.
    pub(super) fn handle(&self) -> usize {
        self.handle.load(Ordering::Relaxed)
    }

    pub(super) fn name(&self) -> String {
        (self.name.lock().unwrap_or_else(PoisonError::into_inner)).clone()
    }

    pub(super) fn set_name(&self, name: String) {
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = name;
    }

    /// Runs `work` on the hints.
    pub(super) fn with_hints<R>(&self, work: impl FnOnce(&mut Hints) -> R) -> R {
        work(&mut self.hints.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps what an access to a target that has not ended needs.
    pub(super) fn keep(&self, rank: c_int, held: Held) {
        if held.is_some() {
            let mut all = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((rank, held));
        }
    }

    /// Forgets what accesses to a target, or to all, needed: they have ended.
    pub(super) fn release(&self, rank: Option<c_int>) {
        let mut all = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(target, _)| rank.is_some_and(|rank| rank != *target));
    }
}

/// The window of a handle.
pub(super) fn find<'a>(win: Win) -> Option<&'a Entry> {
    WINDOWS.find(win)
}

/// A handle of a new window.
pub(super) fn insert(entry: Entry) -> Win {
    let win = WINDOWS.insert(Box::new(entry));
    if let Some(entry) = find(win) {
        entry.handle.store(win.address(), Ordering::Relaxed);
    }
    win
}

/// Takes the window out of the table: its handle names nothing from now on.
pub(super) fn remove(win: Win) -> Option<Box<Entry>> {
    WINDOWS.remove(win)
}

/// As [`find`], without a call: `None` too where a lock is to be taken.
#[inline(always)]
pub(super) fn find_unlocked<'a>(win: Win) -> Option<&'a Entry> {
    WINDOWS.find_unlocked(win)
}

/// What a call on a window returns.
#[inline(always)]
pub(super) fn ended(
    entry: &Entry,
    function: &'static str,
    result: oxmpi_core::Result<()>,
) -> c_int {
    match result {
        Ok(()) => MPI_SUCCESS,
        Err(error) => raise(entry, function, &error.into()),
    }
}

/// Runs the work of a call on a window, and raises its error there.
#[inline]
pub(super) fn on(
    win: Win,
    function: &'static str,
    work: impl FnOnce(&Entry) -> Result<()>,
) -> c_int {
    match find(win) {
        Some(entry) => match work(entry) {
            Ok(()) => MPI_SUCCESS,
            Err(error) => raise(entry, function, &error),
        },
        None => no_window(win, function),
    }
}

#[cold]
#[inline(never)]
fn raise(entry: &Entry, function: &'static str, error: &Error) -> c_int {
    let object = (entry.handle(), entry.errors.reaction());
    error_handling::raise_on(Some(object), function, error)
}

#[cold]
#[inline(never)]
fn no_window(win: Win, function: &'static str) -> c_int {
    error_handling::raise(None, function, Error::handle(MPI_ERR_WIN, "window", win))
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
