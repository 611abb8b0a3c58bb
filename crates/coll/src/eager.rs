//! The eager limit of transports, and the order of an exchange, which depends on it.

use crate::call::Call;
use crate::plan::{Acts, Part};

/// Bytes of the longest message that transports send eagerly, before the receiver asks for it.
pub(crate) const EAGER_BYTES: u64 = 8 << 10;

/// The longest eager message, in elements.
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

    /// Receives from one rank and sends to another; empty messages do not travel.
    ///
    /// A long message is sent first, because its receiver may copy it out of the sender's memory: a late
    /// announcement would delay the next rank by that copy, and so on. An eager message is sent after the
    /// receive is posted, so that the incoming one needs no extra copy.
    pub(crate) fn exchange(self, acts: &mut Acts, tag: u32, recv: (u32, Part), send: (u32, Part)) {
        self.exchange_runs(acts, tag, (recv.0, [recv.1]), (send.0, [send.1]));
    }

    /// The same with several messages in each direction.
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

/// [`EagerLimit::exchange`] for elements that are bytes.
pub(crate) fn exchange(acts: &mut Acts, tag: u32, recv: (u32, Part), send: (u32, Part)) {
    EagerLimit::BYTES.exchange(acts, tag, recv, send);
}

/// [`EagerLimit::exchange_runs`] for elements that are bytes.
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
