//! [`Distances`]: matrices of latency or bandwidth between objects or devices, from firmware or a user.

use crate::facts::ObjectId;
use crate::facts::devices::DeviceId;
use alloc::string::String;
use alloc::vec::Vec;

/// The meaning of the numbers of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Measure {
    /// Smaller is nearer. In the matrix of NUMA nodes, 10 is the distance of a node to itself.
    Latency,
    /// Larger is nearer.
    Bandwidth,
    /// The source does not say which.
    Unknown,
}

/// An object or device that a matrix has a row and a column for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// An object, usually a NUMA node.
    Object(ObjectId),
    /// A device, usually a GPU.
    Device(DeviceId),
}

/// A matrix of distances between all pairs of some objects or devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distances {
    pub(crate) name: Option<String>,
    pub(crate) measure: Measure,
    pub(crate) of_user: bool,
    pub(crate) ends: Vec<End>,
    /// Row by row: from the first end to all ends, then from the second, and so on.
    pub(crate) values: Vec<u64>,
}

impl Distances {
    /// hwloc's name of the matrix: `NUMALatency`, `NVLinkBandwidth`.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The meaning of the numbers.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Whether the numbers are from a user, not from the operating system.
    pub fn is_of_user(&self) -> bool {
        self.of_user
    }

    /// The ends of the matrix, in the order of rows and columns.
    pub fn ends(&self) -> &[End] {
        &self.ends
    }

    /// The distances from `ends()[row]` to all ends, in their order.
    ///
    /// # Panics
    ///
    /// If `row` is not below the number of ends.
    pub fn row(&self, row: usize) -> &[u64] {
        let width = self.ends.len();
        &self.values[row * width..(row + 1) * width]
    }

    /// The distance from one end to another; `None` if one of them is not in the matrix.
    pub fn between(&self, from: End, to: End) -> Option<u64> {
        let place = |end| self.ends.iter().position(|other| *other == end);
        Some(self.row(place(from)?)[place(to)?])
    }

    /// The matrix of the ends that `kept` maps to ends of another machine; `None` if fewer than two are left.
    pub(crate) fn map(&self, kept: impl Fn(End) -> Option<End>) -> Option<Self> {
        let ends: Vec<_> = self.ends.iter().map(|end| kept(*end)).collect();
        self.with_ends(&ends)
    }

    /// The matrix with `ends` in place of its ends, without those that are `None`; `None` if fewer than two
    /// are left.
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
