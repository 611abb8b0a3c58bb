//! hwloc's XML: versions 2 and 3 in, version 2 out.
//!
//! A file holds one tree of `object` elements, the machine outermost, and behind it what is told of several objects:
//! distances (`distances2`, `distances2hetero`) and kinds of cores (`cpukind`). Version 3 differs from 2 in few places:
//! the infos of the whole stand at the end instead of in the machine, the types of OS devices are sets of bits instead
//! of numbers, and whether a cache is inclusive is an attribute instead of an info. Both become the same [`Machine`].
//!
//! What a machine has no place for is left out, with one of the [notes](Machine::notes) for each sort: `Misc` objects,
//! attributes and tiers of memory, sizes of pages, user data, localities of PCI buses. `support`, which tells what
//! hwloc could do where the file was written, is left out without a note.
//!
//! Ours is stricter than hwloc where it takes what it is given: sets must fit into one another, numbers must be
//! numbers. Entities, namespaces and elements nested hundreds deep, which hwloc never writes, are refused: a file takes
//! no more memory than a fixed multiple of its size.
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

use crate::error::Error;
use crate::machine::Machine;
use alloc::string::String;

impl Machine {
    /// The machine that hwloc's XML of version 2 or 3 describes, see [`xml`](crate::xml).
    ///
    /// # Errors
    ///
    /// Names the line and the first part that is not XML, not hwloc's, or does not fit what is around it: an object
    /// with processors that its parent has not or a sibling has too, a PU without number, a number above
    /// [`LARGEST_CPU`](Self::LARGEST_CPU) or [`LARGEST_NUMA`](Self::LARGEST_NUMA), more than
    /// [`MOST_OBJECTS`](Self::MOST_OBJECTS).
    pub fn from_xml(text: &str) -> Result<Self, Error> {
        document::parse(text)
            .and_then(|document| topology::read(&document))
            .map_err(|cause| Error::in_lines(text, cause))
    }

    /// The machine as hwloc's XML of version 2, which every hwloc since 2.0 reads. [`from_xml`](Self::from_xml) makes
    /// an equal machine of it, except for what the format cannot say: what this process was
    /// [bound](Self::bound) to, numbers of objects that hwloc does not number, devices attached to a NUMA node,
    /// which are written at the object around it, and an order of siblings other than that of their first processors,
    /// which a [view](Self::view) of some of the processors may have.
    pub fn to_xml(&self) -> String {
        topology::write(self)
    }
}
