//! Tests of the runtime with real ranks: each test is a job of this program under `oxmpi run`.

#[path = "../common/mod.rs"]
mod common;

mod builder;
mod byte_windows;
mod collectives;
mod communicators;
mod contexts;
mod control_group;
mod denied;
mod dynamic_windows;
mod endings;
mod flood;
mod footprint;
mod fork;
mod groups;
mod hosts;
mod inter;
mod job;
mod kill;
mod layouts;
mod limits;
mod memory;
mod mistakes;
mod modes;
mod order;
mod owned;
mod persistent;
mod proc_null;
mod progress;
mod progress_faults;
mod requests;
mod shared_windows;
mod streams;
mod threads;
mod traffic;
mod transports;
mod uninit;
mod waiting;
mod window_epochs;
mod window_faults;
mod window_layouts;
mod window_spoilt;
mod window_threads;
mod windows;
