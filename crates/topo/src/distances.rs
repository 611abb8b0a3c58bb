//! Distances between objects, or devices, as the firmware or a user gave them.

use crate::facts::ObjectId;
use crate::facts::devices::DeviceId;
use alloc::string::String;
use alloc::vec::Vec;

/// What the numbers of a matrix mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Measure {
    /// Smaller is nearer. In the matrix of NUMA nodes 10 is a node's way to itself.
    Latency,
    /// Larger is nearer.
    Bandwidth,
    /// The source does not say.
    Unknown,
}

/// One of those between which distances are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// An object, mostly a NUMA node.
    Object(ObjectId),
    /// A device, mostly a GPU.
    Device(DeviceId),
}

/// A matrix of distances from each of some objects or devices to each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distances {
    pub(crate) name: Option<String>,
    pub(crate) measure: Measure,
    pub(crate) of_user: bool,
    pub(crate) ends: Vec<End>,
    /// Row by row: from the first end to all, from the second to all.
    pub(crate) values: Vec<u64>,
}

impl Distances {
    /// What hwloc calls the matrix: `NUMALatency`, `NVLinkBandwidth`.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// What the numbers mean.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Whether a user gave the numbers, not the operating system.
    pub fn is_of_user(&self) -> bool {
        self.of_user
    }

    /// Those between which distances are given, in the order of rows and columns.
    pub fn ends(&self) -> &[End] {
        &self.ends
    }

    /// The distances from `ends()[row]` to all, in the order of the ends.
    ///
    /// # Panics
    ///
    /// If there are not so many ends.
    pub fn row(&self, row: usize) -> &[u64] {
        let width = self.ends.len();
        &self.values[row * width..(row + 1) * width]
    }

    /// The distance from one end to another; `None` if one of them is not in the matrix.
    pub fn between(&self, from: End, to: End) -> Option<u64> {
        let place = |end| self.ends.iter().position(|other| *other == end);
        Some(self.row(place(from)?)[place(to)?])
    }

    /// The matrix of those ends that `kept` maps to ends of another machine; `None` if fewer than two are left, which
    /// have no distances worth telling.
    pub(crate) fn map(&self, kept: impl Fn(End) -> Option<End>) -> Option<Self> {
        let ends: Vec<_> = self.ends.iter().map(|end| kept(*end)).collect();
        self.with_ends(&ends)
    }

    /// The matrix with these ends in the order of its rows and columns, without those that are `None`; `None` if fewer
    /// than two are left.
    pub(crate) fn with_ends(&self, ends: &[Option<End>]) -> Option<Self> {
        let known = || ends.iter().enumerate().filter(|(_, end)| end.is_some());
        let rows = known().map(|(row, _)| &self.values[row * ends.len()..][..ends.len()]);
        let values = rows.flat_map(|row| known().map(|(column, _)| row[column]));
        (known().count() > 1).then(|| Self {
            name: self.name.clone(),
            measure: self.measure,
            of_user: self.of_user,
            ends: ends.iter().copied().flatten().collect(),
            values: values.collect(),
        })
    }
}
