//! The runtime with real ranks: each test is a job of this program under `oxmpi run`.

#[path = "../common/mod.rs"]
mod common;

mod contexts;
mod fork;
mod job;
mod mistakes;
mod modes;
mod order;
mod owned;
mod requests;
