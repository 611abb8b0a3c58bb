//! A libibverbs, and a librdmacm, in this process, for tests on machines without RDMA. Each thread has its own.
//!
//! After [`start`] it writes down every call, and fails where a test says so; requests do nothing. After [`run`] it is
//! a [device](device) whose queue pairs reach each other, and misbehaves as its [`Script`] says.

mod c_objects;
mod device;
mod extended;
mod heap;
mod library;
mod mapped;
mod rdmacm;
mod requests;
mod script;

pub(crate) use heap::HeapMemory;
pub(crate) use library::LIBRARY;
pub(crate) use mapped::{MappedMemory, PAGE, fork_and_wait};
pub(crate) use rdmacm::{ADDRESS, CM_LIBRARY, address_of, replace_event};
pub(crate) use script::Script;

use device::Device;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::fmt;

thread_local! {
    static CALLS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static FAILING: Cell<Option<(&'static str, c_int)>> = const { Cell::new(None) };
    static DEVICE: RefCell<Device> = RefCell::new(Device::recording());
}

/// Begins a test of calls: nothing is called yet, and nothing fails. A thread may have run another test before.
pub(crate) fn start() {
    calls();
    FAILING.set(None);
    DEVICE.set(Device::recording());
    rdmacm::start();
}

/// Begins a test of transfers: calls are not written down.
pub(crate) fn run(script: Script) {
    start();
    DEVICE.set(Device::following(script));
}

/// The calls since the last time, without the prefix `ibv_`.
pub(crate) fn calls() -> Vec<String> {
    CALLS.take()
}

/// Lets the function of this name, without its prefix, fail from now on. One that returns an errno returns `errno`.
pub(crate) fn fail(call: &'static str, errno: c_int) {
    FAILING.set(Some((call, errno)));
}

/// Lets the next request of a queue pair end with `status`, which puts it and its peer in error.
pub(crate) fn fail_next(number: u32, status: u32) {
    with_device(|device| device.fail_next(number, status));
}

/// Takes a port of a device down for good, as a cable that is pulled does. Its requests fail from now on. Of those whose
/// completions nobody has found yet, the last ones fail, too, though they were done: their answers are lost. The peers'
/// queue pairs notice when they send.
pub(crate) fn cut(device: u8, port: u8) {
    with_device(|of| of.cut(device, port));
}

/// Lets a device register no more memory from now on: it has no room for another region.
pub(crate) fn fill(device: u8) {
    with_device(|of| of.fill(device));
}

/// Announces an event of a port, which goes on as before.
pub(crate) fn announce_port(device: u8, port: u8, kind: u32) {
    with_device(|of| of.announce_port(device, port, kind));
}

/// Lets the queue pairs of a port fail, which complete nothing any more: there is an event of each.
pub(crate) fn mute_port(device: u8, port: u8) {
    with_device(|of| of.mute_port(device, port));
}

/// Lets the first initiator that is connected fail so, or the first target: there is an event of it.
pub(crate) fn mute_extended(is_target: bool) {
    with_device(|of| of.mute_extended(is_target));
}

/// Lets a device fail, which completes nothing any more: there is an event of that.
pub(crate) fn fail_device(device: u8) {
    with_device(|of| of.fail_device(device));
}

/// Bytes of requests that a port has sent, and of reads that it has asked for.
pub(crate) fn carried(device: u8, port: u8) -> u64 {
    with_device(|of| of.carried.get(&(device, port)).copied().unwrap_or(0))
}

/// Queue pairs that there are now.
pub(crate) fn queue_pairs() -> usize {
    with_device(|device| device.queue_pairs())
}

/// The regions that are registered.
pub(crate) fn registered() -> usize {
    with_device(|device| device.registered())
}

/// Bytes of the regions that are registered.
pub(crate) fn registered_bytes() -> u64 {
    with_device(|device| device.memory.bytes())
}

/// Bytes of completion queues, if each entry has 64.
pub(crate) fn completion_bytes() -> u64 {
    with_device(|device| 64 * device.completion_entries() as u64)
}

/// The regions that there have been so far, by the first byte and the length.
pub(crate) fn regions_so_far() -> Vec<(u64, usize)> {
    with_device(|device| device.memory.history().to_vec())
}

/// The most bytes that were registered at a time.
pub(crate) fn most_registered_bytes() -> u64 {
    with_device(|device| device.memory.most_bytes())
}

fn with_device<R>(with: impl FnOnce(&mut Device) -> R) -> R {
    DEVICE.with_borrow_mut(with)
}

/// Writes down a call. Returns the errno with which it fails, or 0.
fn called(call: &'static str, with: fmt::Arguments<'_>) -> c_int {
    if with_device(|device| device.is_recording()) {
        let text = format!("{call} {with}");
        CALLS.with_borrow_mut(|calls| calls.push(text.trim_end().to_owned()));
    }
    match FAILING.get() {
        Some((failing, errno)) if failing == call => errno,
        _ => 0,
    }
}
