//! Parses and prints hwloc's synthetic strings: a regular machine in one line, `package:2 l3:1 core:4 pu:2`.
//!
//! A string lists levels from the outermost to the PUs. Each level is `kind:count` or only `count` (then all
//! are, and the number of levels decides the kinds, as in hwloc), where count is the number in each object of
//! the level before. Attributes may follow in parentheses, with blanks between them:
//!
//! - `size=2MiB` of each cache, `memory=16GB` of each NUMA node. `kB`, `MB`, `GB`, `TB` are powers of
//!   1,000 and `KiB` to `TiB` of 1,024, as in hwloc. Left out, caches have hwloc's sizes and the NUMA
//!   nodes of a level 1 GiB.
//! - `indexes=`: the operating system's numbers, in order of the tree: a list `0,2,1,3`; loops `4*2:1*4` (the
//!   digits of n, each `step*count`, fastest first, give the position of number n); or kinds `package:core`
//!   (numbers go round over packages first, then over the cores in each).
//!
//! NUMA nodes may be a level, or be attached in brackets behind any level: `package:2 [numa(memory=64GB)]
//! core:8 pu:2`. They are numbered from the inside out, those in an object before its own; one `indexes=`
//! counts for the nodes of all brackets. A string without a node gets one for the whole machine.
//!
//! Source: hwloc 2.9, "Synthetic topologies", and the output of its `lstopo -i` for such strings. This parser
//! is stricter where hwloc continues after a message: numbers must fit their level.

mod build;
mod indexes;
mod parse;
mod print;

#[cfg(test)]
pub(crate) mod tests;

pub use print::Irregular;

use crate::error::SyntaxError;
use crate::machine::Machine;
use alloc::string::String;

impl Machine {
    /// The machine that a [synthetic string](crate::synthetic) describes.
    ///
    /// # Errors
    ///
    /// Points at the first syntax error, or at the level that makes the machine larger than
    /// [`LARGEST_CPU`](Self::LARGEST_CPU) and 131,072 objects allow.
    pub fn from_synthetic(text: &str) -> Result<Self, SyntaxError> {
        parse::description(text)
            .and_then(|description| build::machine(&description))
            .map_err(|cause| SyntaxError::new(text, cause))
    }

    /// The [synthetic string](crate::synthetic) of this machine. [`from_synthetic`](Self::from_synthetic)
    /// makes an equal machine of it, except for facts that strings cannot express: lines and ways of caches,
    /// numbers of cores and dies that repeat in each package, and which processors are offline or not
    /// allowed.
    ///
    /// # Errors
    ///
    /// If objects of one level differ in kind, contents or size.
    pub fn to_synthetic(&self) -> Result<String, Irregular> {
        print::string(self)
    }
}
