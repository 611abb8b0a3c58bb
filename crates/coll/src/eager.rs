//! Messages that transports send eagerly, and the order of an exchange that depends on it.

use crate::call::Call;
use crate::plan::{Acts, Part};

/// Bytes of the longest message that transports send before it is asked for.
pub(crate) const EAGER_BYTES: u64 = 8 << 10;

/// The longest message that is short, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EagerLimit(u16);

impl EagerLimit {
    /// In bytes.
    const BYTES: Self = Self(EAGER_BYTES as u16);

    /// In the elements of the call.
    pub(crate) const fn of(call: &Call) -> Self {
        match call.element_bytes {
            0 => Self::BYTES,
            bytes => EagerLimit((EAGER_BYTES / bytes) as u16),
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
        self.exchange_runs(acts, tag, (recv.0, [recv.1]), (send.0, [send.1]));
    }

    /// The same where what is received, and what is sent, is several messages.
    pub(crate) fn exchange_runs<const N: usize>(
        self,
        acts: &mut Acts,
        tag: u32,
        (source, came): (u32, [Part; N]),
        (destination, sent): (u32, [Part; N]),
    ) {
        let is_long = sent.iter().any(|sent| sent.len() > self.elements());
        let sent = sent.into_iter().filter(|sent| !sent.is_empty());
        if is_long {
            sent.clone()
                .for_each(|sent| acts.send(destination, tag, sent));
        }
        for came in came.into_iter().filter(|came| !came.is_empty()) {
            acts.recv(source, tag, came);
        }
        if !is_long {
            sent.for_each(|sent| acts.send(destination, tag, sent));
        }
    }
}

/// The exchange of a collective whose elements are bytes.
pub(crate) fn exchange(acts: &mut Acts, tag: u32, recv: (u32, Part), send: (u32, Part)) {
    EagerLimit::BYTES.exchange(acts, tag, recv, send);
}

/// The same of several messages.
pub(crate) fn exchange_runs<const N: usize>(
    acts: &mut Acts,
    tag: u32,
    recv: (u32, [Part; N]),
    send: (u32, [Part; N]),
) {
    EagerLimit::BYTES.exchange_runs(acts, tag, recv, send);
}

/// Copies a rank's own block, unless it is empty.
pub(crate) fn copy(acts: &mut Acts, from: Part, into: Part) {
    if !from.is_empty() {
        acts.copy(from, into);
    }
}
