//! What is counted and noted while a document is read.

use super::document::Element;
use crate::cpuset::CpuSet;
use crate::machine::Machine;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use oxmpi_text::Error;

/// The most objects around an object. A bus of PCI has at most 255 others behind it, real machines a dozen.
const DEEPEST: usize = 128;

/// What is known of a file while its objects are read.
pub(super) struct Reader {
    /// 2 or 3.
    pub(super) version: u32,
    pub(super) notes: Vec<String>,
    left_out: BTreeSet<String>,
    objects: usize,
    pub(super) nodes: CpuSet,
}

impl Reader {
    pub(super) fn new(version: u32) -> Self {
        Self {
            version,
            notes: Vec::new(),
            left_out: BTreeSet::new(),
            objects: 0,
            nodes: CpuSet::new(),
        }
    }

    /// Notes, once for each sort, that something has no place in a machine.
    pub(super) fn leave_out(&mut self, sort: &str) {
        if self.left_out.insert(sort.into()) {
            self.notes.push(format!("`{sort}` was left out"));
        }
    }

    /// Counts one more object, at this depth.
    pub(super) fn count(&mut self, element: Element<'_>, depth: usize) -> Result<(), Error> {
        self.objects += 1;
        if self.objects > Machine::MOST_OBJECTS {
            return Err(element.wrong("a machine of at most 131072 objects"));
        }
        if depth > DEEPEST {
            return Err(element.wrong("objects nested at most 128 deep"));
        }
        Ok(())
    }
}
