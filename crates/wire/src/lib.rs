#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "alloc")]
pub mod engine;
#[cfg(feature = "alloc")]
pub mod exchange;
pub mod fault;
#[cfg(feature = "alloc")]
pub mod flushes;
pub mod header;
pub mod layout;
pub mod paths;
pub mod pmi;
#[cfg(feature = "alloc")]
mod rc_bytes;
#[cfg(feature = "alloc")]
pub mod regions;
#[cfg(feature = "alloc")]
pub mod slab;
pub mod transport;
pub mod transports;
pub mod trials;
pub mod window;

#[cfg(feature = "alloc")]
pub use engine::{
    Counters, Engine, EngineConfig, Failure, FastPoll, Message, Mode, Outcome, Request, Source,
    Status, Tag,
};
pub use fault::{Fault, Resource};
pub use header::{Envelope, Flags, Header, HeaderError, Kind};
pub use layout::Layout;
pub use paths::{Limits, PathOverrides};
pub use transport::atomic::{Atomic, Width};
pub use transport::fast_path::{self, EnvelopeFilter, QueueHead, ShortMessage};
pub use transport::{
    Access, AsTx, Busy, Bytes, Key, Local, Memory, Peer, Put, Remote, Rma, Rx, Sink, Sleeper, Slot,
    Take, Token, Tx,
};
#[cfg(feature = "alloc")]
pub use transport::{Network, WaitObjects};
