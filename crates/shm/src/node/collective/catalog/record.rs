//! What the calls of a thread have gone by, for tests: [`note`], [`take`].

use std::cell::RefCell;
use std::vec::Vec;

use super::NodeProtocol;

thread_local! {
    static PROTOCOLS: RefCell<Vec<NodeProtocol>> = const { RefCell::new(Vec::new()) };
}

/// Notes that the call moves bytes by `protocol`.
pub(in super::super) fn note(protocol: NodeProtocol) {
    PROTOCOLS.with_borrow_mut(|all| {
        if !all.contains(&protocol) {
            all.push(protocol);
        }
    });
}

/// The protocols since the last time.
pub(super) fn take() -> Vec<NodeProtocol> {
    PROTOCOLS.take()
}
