//! A libibverbs in this process, for tests on machines without RDMA: it writes down every call, and fails where a
//! test says so. Each thread has its own.

mod library;

pub(crate) use library::LIBRARY;

use std::cell::{Cell, RefCell};
use std::ffi::c_int;

thread_local! {
    static CALLS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static FAILING: Cell<Option<(&'static str, c_int)>> = const { Cell::new(None) };
}

/// Begins a test: nothing is called yet, and nothing fails. A thread may have run another test before.
pub(crate) fn start() {
    calls();
    FAILING.set(None);
}

/// The calls since the last time, without the prefix `ibv_`.
pub(crate) fn calls() -> Vec<String> {
    CALLS.take()
}

/// Lets the function of this name, without its prefix, fail from now on. One that returns an errno returns `errno`.
pub(crate) fn fail(call: &'static str, errno: c_int) {
    FAILING.set(Some((call, errno)));
}

/// Writes down a call. Returns the errno with which it fails, or 0.
fn called(call: &'static str, with: &str) -> c_int {
    let text = if with.is_empty() {
        call.to_owned()
    } else {
        format!("{call} {with}")
    };
    CALLS.with_borrow_mut(|calls| calls.push(text));
    match FAILING.get() {
        Some((failing, errno)) if failing == call => errno,
        _ => 0,
    }
}
