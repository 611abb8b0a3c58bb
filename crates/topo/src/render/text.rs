//! Prints a machine as text, as lstopo does on a console.
//!
//! ```
//! use oxmpi_topo::Machine;
//!
//! let machine = Machine::from_synthetic("package:2 [numa(memory=32GiB)] l3:1(size=16MiB) core:1 pu:2")?;
//! let text = machine.text().to_string();
//! assert_eq!(text, "\
//! Machine (64GB total)
//!   Package L#0
//!     NUMANode L#0 (P#0 32GB)
//!     L3 L#0 (16MB) + Core L#0
//!       PU L#0 (P#0)
//!       PU L#1 (P#1)
//!   Package L#1
//!     NUMANode L#1 (P#1 32GB)
//!     L3 L#1 (16MB) + Core L#1
//!       PU L#2 (P#2)
//!       PU L#3 (P#3)
//! ");
//! # Ok::<(), oxmpi_topo::SyntaxError>(())
//! ```
//!
//! The text is displayed piece by piece, without an allocation for the whole. Given the same facts, it is
//! equal to that of `lstopo` 2.9 (`lstopo-no-graphics`) to the byte, including the last newline.

mod devices;
mod label;
mod tables;

pub use super::Numbers;
pub use tables::{CoreKindsText, DistancesText};

use crate::facts::Cache;
use crate::kind::Kind;
use crate::levels::Groups;
use crate::machine::Machine;
use crate::object::Object;
use core::fmt::{self, Formatter};
use devices::Runs;
use label::{Label, Size};

/// A machine as text; made by [`Machine::text`].
#[derive(Clone, Copy, Debug)]
pub struct Text<'m> {
    machine: &'m Machine,
    numbers: Numbers,
    only: Option<Kind>,
    collapse: bool,
}

impl Machine {
    /// The tree as lstopo prints it on a console: a line for each object, indented by its depth, with ` + `
    /// between an object and its only child if both have the same processors and nothing else is attached.
    ///
    /// The text has the whole machine: make a [view](Self::view) first to show less.
    pub fn text(&self) -> Text<'_> {
        Text {
            machine: self,
            numbers: Numbers::default(),
            only: None,
            collapse: true,
        }
    }
}

impl Text<'_> {
    /// The same text with these numbers.
    #[must_use]
    pub fn numbers(mut self, numbers: Numbers) -> Self {
        self.numbers = numbers;
        self
    }

    /// Only the objects of this kind, a line for each without indent: lstopo's `--only`.
    #[must_use]
    pub fn only(mut self, kind: Kind) -> Self {
        self.only = Some(kind);
        self
    }

    /// With a line for each PCI function, also for consecutive ones that differ only in their addresses:
    /// lstopo's `--no-collapse`.
    #[must_use]
    pub fn each_function(mut self) -> Self {
        self.collapse = false;
        self
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let writer = Writer {
            text: *self,
            groups: Groups::of(self.machine),
            runs: Runs::of(self.machine, self.collapse),
        };
        match self.only {
            Some(kind) => writer.those_of(f, kind, self.machine.root()),
            None => {
                writer.label(f, self.machine.root())?;
                writer.inside(f, self.machine.root(), 1)?;
                writeln!(f)
            }
        }
    }
}

/// The data that all lines of one text share.
struct Writer<'m> {
    text: Text<'m>,
    groups: Groups,
    runs: Runs,
}

impl<'m> Writer<'m> {
    fn label(&self, f: &mut Formatter<'_>, object: Object<'m>) -> fmt::Result {
        let (numbers, group) = (self.text.numbers, self.groups.number(object));
        write!(f, "{}", Label::of(object, numbers, group))
    }

    /// The contents of an object, on new lines after its own.
    fn inside(&self, f: &mut Formatter<'_>, object: Object<'m>, indent: usize) -> fmt::Result {
        for numa in object.memory() {
            self.memory(f, numa, indent)?;
        }
        for child in object.children() {
            let merged = object.children().len() == 1
                && object.memory().len() == 0
                && object.devices().len() == 0
                && child.cpus() == object.cpus();
            if merged {
                f.write_str(" + ")?;
            } else {
                new_line(f, indent)?;
            }
            self.label(f, child)?;
            self.inside(f, child, indent + usize::from(!merged))?;
        }
        object
            .devices()
            .try_for_each(|device| self.device(f, device, indent))
    }

    fn memory(&self, f: &mut Formatter<'_>, numa: Object<'m>, indent: usize) -> fmt::Result {
        let mut indent = indent;
        let before = self.side_caches_before(numa);
        for (at, cache) in numa.side_caches().iter().enumerate() {
            new_line(f, indent)?;
            self.side_cache(f, *cache, before + at)?;
            indent += 1;
        }
        new_line(f, indent)?;
        self.label(f, numa)?;
        self.inside(f, numa, indent + 1)
    }

    fn side_cache(&self, f: &mut Formatter<'_>, cache: Cache, number: usize) -> fmt::Result {
        f.write_str("MemCache")?;
        if self.text.numbers != Numbers::Physical {
            write!(f, " L#{number}")?;
        }
        write!(f, " ({})", Size(cache.size))
    }

    /// The number of memory-side caches of NUMA nodes with smaller logical numbers.
    fn side_caches_before(&self, numa: Object<'m>) -> usize {
        let before = self
            .text
            .machine
            .objects(Kind::Numa)
            .take(numa.logical() as usize);
        before.map(|numa| numa.side_caches().len()).sum()
    }

    /// A line for each object of a kind, in the order of the tree; attached NUMA nodes after the objects
    /// inside.
    fn those_of(&self, f: &mut Formatter<'_>, kind: Kind, object: Object<'m>) -> fmt::Result {
        if object.kind() == kind {
            self.label(f, object)?;
            writeln!(f)?;
        }
        let mut inside = object.children().chain(object.memory());
        inside.try_for_each(|object| self.those_of(f, kind, object))
    }
}

fn new_line(f: &mut Formatter<'_>, indent: usize) -> fmt::Result {
    write!(f, "\n{:1$}", "", 2 * indent)
}
