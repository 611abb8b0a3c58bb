//! The topology of a machine as data: [`CpuSet`], and [`Machine`], a tree of objects that each have a set of
//! processors.
//!
//! ```
//! use oxmpi_topo::{Kind, Machine};
//!
//! let machine = Machine::from_synthetic("package:2 l3:1 core:4 pu:2")?;
//! let core = machine.logical(Kind::Core, 5).unwrap();
//! assert_eq!(core.cpus().to_string(), "10-11");
//!
//! let package = core.ancestor(Kind::Package).unwrap();
//! assert_eq!(package.to_string(), "Package L#1 P#1");
//! assert_eq!(package.inside(Kind::Pu).count(), 8);
//! # Ok::<(), oxmpi_topo::SyntaxError>(())
//! ```
//!
//! Without the features `std` and `hwloc`, the crate makes no system call. It binds no process (`oxmpi-pin`
//! computes placements, the runtime applies them) and measures nothing.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod core_kind;
pub mod cpuid;
pub mod cpuinfo;
pub mod cpuset;
pub mod device;
pub mod distances;
mod error;
mod facts;
mod flat;
#[cfg(feature = "hwloc")]
pub mod hwloc;
#[cfg(feature = "std")]
pub mod input;
mod kind;
mod levels;
pub mod linux;
mod machine;
mod near;
mod object;
mod pci_class;
pub mod probe;
pub mod render;
mod source;
pub mod synthetic;
mod tree;
pub mod view;
#[cfg(feature = "xml")]
pub mod xml;

pub use core_kind::CoreKind;
pub use cpuset::CpuSet;
pub use device::{Device, DeviceId, DeviceKind};
pub use distances::Distances;
pub use error::SyntaxError;
pub use facts::{Cache, Info, ObjectId};
pub use kind::{Kind, UnknownKind};
pub use machine::Machine;
pub use object::Object;
pub use source::Source;
pub use view::View;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
