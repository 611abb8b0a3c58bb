//! [`Typemap`]: the oracle, a list of basic datatypes with their displacements.

use oxmpi_wire::layout::{Basic, Block, Dimension, DistributedDimension, Distribution, Order};

use super::Description;

/// An entry of a typemap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypemapEntry {
    /// A basic datatype.
    Basic(Basic),
    /// The lower bound of a resized datatype.
    LowerBound,
    /// The upper bound of a resized datatype.
    UpperBound,
}

/// A typemap as MPI 5.0 defines it in section 5.1: entries with their displacements, in order.
#[derive(Clone, Debug, Default)]
pub struct Typemap(pub Vec<(TypemapEntry, i64)>);

impl Typemap {
    /// The typemap of a description; `None` if a typemap on the way has more than `limit` entries.
    #[must_use]
    pub fn of(description: &Description, limit: usize) -> Option<Self> {
        let of = |unit: &Description| Some(Unit::of(Self::of(unit, limit)?));
        let map = match description {
            Description::Basic(basic) => Self(vec![(TypemapEntry::Basic(*basic), 0)]),
            Description::Contiguous(count, unit) => {
                let unit = of(unit)?;
                unit.copies(unit.block(*count, 0))
            }
            Description::Vector(count, len, stride, unit) => {
                let unit = of(unit)?;
                let starts = (0..*count as i64).map(|i| i * stride * unit.extent);
                unit.copies(starts.flat_map(|start| unit.block(*len, start)))
            }
            Description::Hvector(count, len, stride, unit) => {
                let unit = of(unit)?;
                let starts = (0..*count as i64).map(|i| i * stride);
                unit.copies(starts.flat_map(|start| unit.block(*len, start)))
            }
            Description::Indexed(blocks, unit) => {
                let unit = of(unit)?;
                unit.copies(blocks.iter().flat_map(|&Block { len, displacement }| {
                    unit.block(len, displacement * unit.extent)
                }))
            }
            Description::Hindexed(blocks, unit) => {
                let unit = of(unit)?;
                unit.copies(
                    blocks
                        .iter()
                        .flat_map(|block| unit.block(block.len, block.displacement)),
                )
            }
            Description::IndexedBlock(len, places, unit) => {
                let unit = of(unit)?;
                unit.copies(
                    places
                        .iter()
                        .flat_map(|place| unit.block(*len, place * unit.extent)),
                )
            }
            Description::HindexedBlock(len, places, unit) => {
                let unit = of(unit)?;
                unit.copies(places.iter().flat_map(|&place| unit.block(*len, place)))
            }
            Description::Structure(members) => {
                let mut all = Self::default();
                for (block, unit) in members {
                    let unit = of(unit)?;
                    let copies = unit.copies(unit.block(block.len, block.displacement));
                    all.0.extend(copies.0);
                }
                all
            }
            Description::Subarray(dimensions, order, unit) => {
                of(unit)?.subarray(dimensions, *order)
            }
            Description::Darray(dimensions, rank, order, unit) => {
                of(unit)?.darray(dimensions, *rank, *order)
            }
            Description::Resized(low, extent, unit) => of(unit)?.map.with_bounds(*low, *extent),
        };
        (map.0.len() <= limit).then_some(map)
    }

    fn with_bounds(mut self, low: i64, extent: i64) -> Self {
        self.0
            .retain(|(entry, _)| matches!(entry, TypemapEntry::Basic(_)));
        self.0.push((TypemapEntry::LowerBound, low));
        self.0.push((TypemapEntry::UpperBound, low + extent));
        self
    }

    /// The basic datatypes and their displacements.
    pub fn basics(&self) -> impl Iterator<Item = (Basic, i64)> {
        self.0.iter().filter_map(|&(entry, at)| match entry {
            TypemapEntry::Basic(basic) => Some((basic, at)),
            _ => None,
        })
    }

    fn markers(&self, of: TypemapEntry) -> impl Iterator<Item = i64> {
        let places = self.0.iter().filter(move |(entry, _)| *entry == of);
        places.map(|(_, at)| *at)
    }

    /// Lower bound.
    #[must_use]
    pub fn lower_bound(&self) -> i64 {
        let marker = self.markers(TypemapEntry::LowerBound).min();
        marker.unwrap_or_else(|| self.true_lower_bound())
    }

    /// Extent: a multiple of the largest alignment, unless there are explicit bounds.
    #[must_use]
    pub fn extent(&self) -> i64 {
        if let Some(high) = self.markers(TypemapEntry::UpperBound).max() {
            return high - self.lower_bound();
        }
        let align = self.basics().map(|(basic, _)| i64::from(basic.align()));
        let align = align.max().unwrap_or(1);
        let mut extent = self.true_extent();
        while extent % align != 0 {
            extent += 1;
        }
        extent
    }

    /// Offset of the lowest byte, 0 without bytes.
    #[must_use]
    pub fn true_lower_bound(&self) -> i64 {
        self.basics().map(|(_, at)| at).min().unwrap_or(0)
    }

    /// Distance from there to the end of the highest byte.
    #[must_use]
    pub fn true_extent(&self) -> i64 {
        let ends = self
            .basics()
            .map(|(basic, at)| at + i64::from(basic.size()));
        ends.max().unwrap_or(0) - self.true_lower_bound()
    }

    /// Offsets of the bytes of `count` instances, in order.
    #[must_use]
    pub fn bytes(&self, count: u64) -> Vec<i64> {
        let extent = self.extent();
        let instances = (0..count as i64).map(|i| i * extent);
        instances
            .flat_map(|base| self.basics().map(move |(basic, at)| (basic, base + at)))
            .flat_map(|(basic, at)| at..at + i64::from(basic.size()))
            .collect()
    }
}

/// A typemap that is repeated, with its extent.
struct Unit {
    map: Typemap,
    extent: i64,
}

impl Unit {
    fn of(map: Typemap) -> Self {
        let extent = map.extent();
        Self { map, extent }
    }

    /// Displacements of `len` copies side by side from `start` on.
    fn block(&self, len: u64, start: i64) -> impl Iterator<Item = i64> + use<> {
        let extent = self.extent;
        (0..len as i64).map(move |i| start + i * extent)
    }

    /// Copies at these displacements.
    fn copies(&self, places: impl Iterator<Item = i64>) -> Typemap {
        let copy = |place| {
            self.map
                .0
                .iter()
                .map(move |&(entry, at)| (entry, at + place))
        };
        Typemap(places.flat_map(copy).collect())
    }

    fn subarray(&self, dimensions: &[Dimension], order: Order) -> Typemap {
        // The slowest dimension first.
        let mut slow_first = dimensions.to_vec();
        if order == Order::Fortran {
            slow_first.reverse();
        }
        let mut elements = vec![0];
        for Dimension { whole, len, start } in &slow_first {
            let row = |element: &i64| {
                let first = element * *whole as i64 + *start as i64;
                first..first + *len as i64
            };
            elements = elements.iter().flat_map(row).collect();
        }
        let extent = self.extent;
        let whole: u64 = slow_first.iter().map(|dimension| dimension.whole).product();
        self.copies(elements.into_iter().map(|element| element * extent))
            .with_bounds(0, whole as i64 * extent)
    }

    /// The elements of the whole array that are the rank's, in the order in which they are in memory.
    fn darray(&self, dimensions: &[DistributedDimension], rank: u64, order: Order) -> Typemap {
        let whole: u64 = dimensions.iter().map(|dimension| dimension.whole).product();
        let is_own = |element: &u64| {
            // The last dimension of the grid varies fastest; of the array as the order says.
            let (mut rank, mut element) = (rank, *element);
            let mut places = vec![[0; 2]; dimensions.len()];
            for i in (0..dimensions.len()).rev() {
                places[i][0] = rank % dimensions[i].ranks;
                rank /= dimensions[i].ranks;
            }
            for step in 0..dimensions.len() {
                let i = match order {
                    Order::C => dimensions.len() - 1 - step,
                    Order::Fortran => step,
                };
                places[i][1] = element % dimensions[i].whole;
                element /= dimensions[i].whole;
            }
            let mut places = dimensions.iter().zip(places);
            places.all(|(dimension, [own, index])| owner(dimension, index) == own)
        };
        let extent = self.extent;
        let own = (0..whole)
            .filter(is_own)
            .map(|element| element as i64 * extent);
        self.copies(own).with_bounds(0, whole as i64 * extent)
    }
}

/// The rank in a dimension of the grid that has the element.
fn owner(dimension: &DistributedDimension, index: u64) -> u64 {
    let equal = dimension.whole.div_ceil(dimension.ranks);
    match dimension.distribution {
        Distribution::None => 0,
        Distribution::Block(block) => index / block.unwrap_or(equal),
        Distribution::Cyclic(block) => index / block % dimension.ranks,
    }
}
