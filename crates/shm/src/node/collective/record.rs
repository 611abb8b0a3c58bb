//! By what names of protocols the calls of a thread have moved their bytes, for tests: [`note`], [`take`].

use std::cell::Cell;
use std::vec::Vec;

thread_local! {
    static PROTOCOLS: Cell<Vec<&'static str>> = const { Cell::new(Vec::new()) };
}

/// Notes that the call moves bytes by the protocol of this name.
pub(super) fn note(protocol: &'static str) {
    let mut all = take();
    if !all.contains(&protocol) {
        all.push(protocol);
    }
    PROTOCOLS.set(all);
}

/// The protocols since the last time.
pub(super) fn take() -> Vec<&'static str> {
    PROTOCOLS.take()
}
