//! Reads hwloc's XML of versions 2 and 3, and writes version 2.
//!
//! A file has one tree of `object` elements, the machine outermost, followed by facts about several objects:
//! distances (`distances2`, `distances2hetero`) and kinds of cores (`cpukind`). Version 3 differs from 2 in
//! few places: the machine's infos are at the end instead of inside it, the types of OS devices are bits
//! instead of numbers, and a cache's inclusive flag is an attribute instead of an info. Both become the same
//! [`Machine`].
//!
//! Facts that a machine has no field for are left out, with one of the [notes](Machine::notes) for each sort:
//! attributes and tiers of memory, localities of PCI buses. Left out without a note are `support` (the abilities of the
//! hwloc that wrote the file), `Misc` objects, user data and sizes of pages.
//!
//! The parser is stricter than hwloc: sets must nest, numbers must be numbers. Entities, namespaces and
//! elements nested hundreds deep, which hwloc never writes, are refused: memory is bounded by a fixed
//! multiple of the file's size.
//!
//! Source: hwloc 2.9 and 3.0, `hwloc/hwloc2.dtd` and `hwloc/topology-xml.c`.

mod core_kinds;
mod devices;
mod distances;
mod document;
mod infos;
mod marks;
mod objects;
mod print;
mod reader;
mod topology;

use crate::error::SyntaxError;
use crate::machine::Machine;
use alloc::string::String;

impl Machine {
    /// The machine that hwloc's XML of version 2 or 3 describes, see [`xml`](crate::xml).
    ///
    /// # Errors
    ///
    /// Names the line and the first part that is not XML, not hwloc's, or contradicts its context: an object
    /// with processors that its parent does not have or a sibling has too, a PU without number, a number
    /// above [`LARGEST_CPU`](Self::LARGEST_CPU) or [`LARGEST_NUMA`](Self::LARGEST_NUMA), more than
    /// [`MOST_OBJECTS`](Self::MOST_OBJECTS).
    pub fn from_xml(text: &str) -> Result<Self, SyntaxError> {
        document::parse(text)
            .and_then(|document| topology::read(&document))
            .map_err(|cause| SyntaxError::in_lines(text, cause))
    }

    /// The machine as hwloc's XML of version 2, which every hwloc since 2.0 reads.
    /// [`from_xml`](Self::from_xml) makes an equal machine of it, except for facts that the format cannot
    /// express: the process's [affinity mask](Self::bound), numbers of objects that hwloc does not number,
    /// devices attached to a NUMA node (written at its parent), and an order of siblings other than by first
    /// processors, which a [view](Self::view) of some processors may have.
    pub fn to_xml(&self) -> String {
        topology::write(self)
    }
}
