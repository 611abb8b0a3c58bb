//! The window of algorithms that talk to every other rank directly: how many of their exchanges are
//! under way at a time.

use crate::catalog::Call;
use crate::plan::{Acts, Part};

/// At most so many at a time, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window(u32);

impl Window {
    /// A window of 0 counts as 1.
    pub(crate) const fn new(window: u32) -> Self {
        Window(if window == 0 { 1 } else { window })
    }

    pub(crate) const fn get(self) -> u32 {
        self.0
    }

    /// What step `i` needs so that no more steps than the window has run at a time.
    pub(crate) const fn needs(self, i: u32) -> u32 {
        (i + 1).saturating_sub(self.0)
    }
}

/// Bytes of the longest message that transports send before it is asked for.
pub(crate) const SHORT: u64 = 8 << 10;

/// The longest message that is short, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Short(u16);

impl Short {
    /// In bytes.
    const BYTES: Self = Self(SHORT as u16);

    /// In the elements of the call.
    pub(crate) const fn of(call: &Call) -> Self {
        match call.element_bytes {
            0 => Self::BYTES,
            bytes => Short((SHORT / bytes) as u16),
        }
    }

    pub(crate) const fn elements(self) -> u64 {
        self.0 as u64
    }

    /// Receives from one rank and sends to another; what is empty does not travel.
    ///
    /// A receiver may copy a long message out of the sender's memory itself. So a long one is
    /// announced first: who starts late else keeps the next rank waiting while it copies, and that one
    /// the next. A short one is sent after there is room for what comes, which then needs no copy.
    pub(crate) fn exchange(self, acts: &mut Acts, tag: u32, recv: (u32, Part), send: (u32, Part)) {
        let is_long = send.1.len() > self.0.into();
        if is_long {
            acts.send(send.0, tag, send.1);
        }
        if !recv.1.is_empty() {
            acts.recv(recv.0, tag, recv.1);
        }
        if !is_long && !send.1.is_empty() {
            acts.send(send.0, tag, send.1);
        }
    }
}

/// The exchange of a collective whose elements are bytes.
pub(crate) fn exchange(acts: &mut Acts, tag: u32, recv: (u32, Part), send: (u32, Part)) {
    Short::BYTES.exchange(acts, tag, recv, send);
}

/// Copies a rank's own block, unless it is empty.
pub(crate) fn copy(acts: &mut Acts, from: Part, into: Part) {
    if !from.is_empty() {
        acts.copy(from, into);
    }
}
