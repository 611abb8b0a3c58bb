#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod direct;
#[cfg(feature = "alloc")]
pub mod engine;
#[cfg(feature = "alloc")]
pub mod exchange;
pub mod fault;
pub mod header;
pub mod layout;
pub mod paths;
pub mod pmi;
#[cfg(feature = "alloc")]
pub mod regions;
#[cfg(feature = "alloc")]
mod shared;
pub mod transport;
pub mod transports;
pub mod trials;

pub use direct::{Short, Wanted};
#[cfg(feature = "alloc")]
pub use engine::{
    Counters, Engine, Failure, Message, Mode, Outcome, Request, Rules, Source, Status, Tag,
};
pub use fault::{Fault, Scarce};
pub use header::{Envelope, Flags, Header, HeaderError, Kind};
pub use layout::Layout;
pub use paths::Switches;
pub use transport::{
    Access, Busy, Bytes, Holds, Key, Limits, Local, Memory, Peer, Put, Remote, Rma, Rx, Sink,
    Sleeper, Slot, Take, Token, Tx,
};
