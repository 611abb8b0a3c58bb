//! [`Reader`]: the state of reading a document: counts of objects, limits and notes.

use super::document::Element;
use crate::cpuset::CpuSet;
use crate::machine::Machine;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use oxmpi_text::Error;

/// The greatest depth of an object. A PCI bus has at most 255 others behind it, real machines a dozen.
const DEEPEST: usize = 128;

/// What every file of hwloc may have and no user of a machine needs: the user's own annotations, and the sizes of pages.
const HARMLESS: [&str; 3] = ["Misc", "page_type", "userdata"];

/// The state while the objects of a file are read.
pub(super) struct Reader {
    /// The version of the format, 2 or 3.
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

    /// Notes, once for each sort, that something was left out, unless it is [`HARMLESS`].
    pub(super) fn leave_out(&mut self, sort: &str) {
        if !HARMLESS.contains(&sort) && self.left_out.insert(sort.into()) {
            self.notes.push(format!("`{sort}` was left out"));
        }
    }

    /// Counts one more object at this depth, and checks the limits.
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
