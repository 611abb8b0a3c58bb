//! Conformance suite, in-process transports and fuzz bodies for the tests of oxmpi.
//!
//! It is a development dependency only, and depends on crates of the lowest two layers, not on a transport.
//!
//! ```
//! use oxmpi_testkit::fabric::FabricConfig;
//! use oxmpi_testkit::job::Job;
//! use oxmpi_testkit::memory::Buffer;
//! use oxmpi_wire::{Envelope, Mode, EngineConfig, Source, Tag};
//!
//! let mut job = Job::new(2, FabricConfig::adverse(7), EngineConfig::default());
//! let envelope = Envelope { context: 0, tag: 5 };
//! let room = Buffer::zeroed(100_000);
//! let sent = job.send(0, 1, envelope, Mode::Standard, Buffer::pattern(100_000, 1));
//! let got = job.recv(1, Source::Any, 0, Tag::Any, &room);
//! assert_eq!(job.wait(1, got).unwrap().len, 100_000);
//! assert_eq!(job.wait(0, sent).unwrap().tag, 5);
//! assert_eq!(room, Buffer::pattern(100_000, 1));
//! ```
//!
//! It starts no processes and tests no crate by itself: the tests are in the crates.
#![forbid(unsafe_code)]

pub mod conformance;
pub mod datatypes;
pub mod fabric;
pub mod folder;
pub mod fuzz;
mod in_process;
pub mod job;
pub mod memory;
pub mod network;
pub mod oracle;
mod region_store;
pub mod rng;
pub mod scenario;
pub mod spy;
pub mod switch;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
