//! Conformance suite, in-process fabrics and fuzz bodies for the tests of oxmpi.
//!
//! A development dependency only; it depends on crates of the lowest two floors, and on no
//! transport.
//!
//! ```
//! use oxmpi_testkit::fabric::FabricConfig;
//! use oxmpi_testkit::job::Job;
//! use oxmpi_testkit::memory::SharedBytes;
//! use oxmpi_wire::{Envelope, Mode, EngineConfig, Source, Tag};
//!
//! let mut job = Job::new(2, FabricConfig::adverse(7), EngineConfig::default());
//! let envelope = Envelope { context: 0, tag: 5 };
//! let room = SharedBytes::zeroed(100_000);
//! let sent = job.send(0, 1, envelope, Mode::Standard, SharedBytes::pattern(100_000, 1));
//! let got = job.recv(1, Source::Any, 0, Tag::Any, &room);
//! assert_eq!(job.wait(1, got).unwrap().len, 100_000);
//! assert_eq!(job.wait(0, sent).unwrap().tag, 5);
//! assert_eq!(room, SharedBytes::pattern(100_000, 1));
//! ```
//!
//! It does not start processes, and it tests no crate by itself: the tests are in the crates.
#![forbid(unsafe_code)]

pub mod conformance;
pub mod fabric;
pub mod folder;
pub mod frame_builder;
pub mod fuzz;
pub mod job;
pub mod memory;
pub mod network;
pub mod oracle;
pub mod rng;
pub mod scenario;
pub mod spy;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
