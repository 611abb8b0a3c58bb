//! [`Description`]: nested calls of datatype constructors.

use oxmpi_wire::layout::{
    Basic, Block, Datatype, DatatypeError, Dimension, DistributedDimension, Distribution, Member,
    Order,
};

/// The basic datatypes of descriptions: different sizes, alignments that are and are not their sizes.
const BASICS: [Basic; 5] = [
    Basic::new(1, 1, 1),
    Basic::new(2, 2, 2),
    Basic::new(3, 4, 4),
    Basic::new(4, 8, 8),
    Basic::new(5, 16, 8),
];

/// A datatype as the calls that make it.
#[derive(Clone, Debug)]
pub enum Description {
    /// A basic datatype.
    Basic(Basic),
    /// [`Datatype::contiguous`] with this count.
    Contiguous(u64, Box<Self>),
    /// [`Datatype::vector`] with these count, length and stride.
    Vector(u64, u64, i64, Box<Self>),
    /// [`Datatype::hvector`] with these count, length and stride.
    Hvector(u64, u64, i64, Box<Self>),
    /// [`Datatype::indexed`].
    Indexed(Vec<Block>, Box<Self>),
    /// [`Datatype::hindexed`].
    Hindexed(Vec<Block>, Box<Self>),
    /// [`Datatype::indexed_block`] with this length and these displacements.
    IndexedBlock(u64, Vec<i64>, Box<Self>),
    /// [`Datatype::hindexed_block`] with this length and these displacements.
    HindexedBlock(u64, Vec<i64>, Box<Self>),
    /// [`Datatype::structure`].
    Structure(Vec<(Block, Self)>),
    /// [`Datatype::subarray`].
    Subarray(Vec<Dimension>, Order, Box<Self>),
    /// [`Datatype::darray`] of this rank.
    Darray(Vec<DistributedDimension>, u64, Order, Box<Self>),
    /// [`Datatype::resized`] with these lower bound and extent.
    Resized(i64, i64, Box<Self>),
}

impl Description {
    /// Levels of constructors.
    const DEPTH: u32 = 4;

    /// The description that arbitrary bytes stand for; bytes that are missing are 0. Numbers are small, and regular
    /// more often than chance has it.
    #[must_use]
    pub fn read(bytes: &mut &[u8]) -> Self {
        Self::nested(&mut Source(bytes), Self::DEPTH)
    }

    fn nested(source: &mut Source<'_, '_>, depth: u32) -> Self {
        let kind = match depth {
            0 => 0,
            Self::DEPTH => 2 + source.below(13),
            _ => source.below(15),
        };
        let inner = |source: &mut Source<'_, '_>| Box::new(Self::nested(source, depth - 1));
        match kind {
            0 | 1 => Self::Basic(BASICS[source.below(BASICS.len() as u8) as usize]),
            2 => Self::Contiguous(source.count(), inner(source)),
            3 => Self::Vector(
                source.count(),
                source.count(),
                source.small(),
                inner(source),
            ),
            4 => Self::Hvector(
                source.count(),
                source.count(),
                source.small(),
                inner(source),
            ),
            5 => Self::Indexed(source.blocks(1), inner(source)),
            6 => Self::Hindexed(source.blocks(4), inner(source)),
            7 => Self::IndexedBlock(source.count(), source.displacements(1), inner(source)),
            8 => Self::HindexedBlock(source.count(), source.displacements(4), inner(source)),
            9..=11 => {
                let blocks = source.blocks(4);
                let member = |block| (block, Self::nested(source, depth - 1));
                Self::Structure(blocks.into_iter().map(member).collect())
            }
            12 => {
                let order = [Order::C, Order::Fortran][source.below(2) as usize];
                let dimensions = (0..source.below(4)).map(|_| source.dimension()).collect();
                Self::Subarray(dimensions, order, inner(source))
            }
            13 => {
                let order = [Order::C, Order::Fortran][source.below(2) as usize];
                let len = 1 + source.below(3);
                let dimensions: Vec<_> = (0..len).map(|_| source.distributed()).collect();
                let ranks: u64 = dimensions.iter().map(|dimension| dimension.ranks).product();
                let rank = u64::from(source.byte()) % ranks;
                Self::Darray(dimensions, rank, order, inner(source))
            }
            _ => Self::Resized(source.small(), source.small(), inner(source)),
        }
    }

    /// Makes the datatype.
    ///
    /// # Errors
    /// Those of the constructors.
    pub fn datatype(&self) -> Result<Datatype, DatatypeError> {
        match self {
            Self::Basic(basic) => Ok(Datatype::basic(*basic)),
            Self::Contiguous(count, unit) => unit.datatype()?.contiguous(*count),
            Self::Vector(count, len, stride, unit) => {
                unit.datatype()?.vector(*count, *len, *stride)
            }
            Self::Hvector(count, len, stride, unit) => {
                unit.datatype()?.hvector(*count, *len, *stride)
            }
            Self::Indexed(blocks, unit) => unit.datatype()?.indexed(blocks),
            Self::Hindexed(blocks, unit) => unit.datatype()?.hindexed(blocks),
            Self::IndexedBlock(len, places, unit) => unit.datatype()?.indexed_block(*len, places),
            Self::HindexedBlock(len, places, unit) => unit.datatype()?.hindexed_block(*len, places),
            Self::Structure(list) => {
                let datatypes = list.iter().map(|(_, unit)| unit.datatype());
                let datatypes = datatypes.collect::<Result<Vec<_>, _>>()?;
                let member = |(part, datatype): (&(Block, _), _)| {
                    let Block { len, displacement } = part.0;
                    Member {
                        len,
                        displacement,
                        datatype,
                    }
                };
                let members: Vec<_> = list.iter().zip(&datatypes).map(member).collect();
                Datatype::structure(&members)
            }
            Self::Subarray(dimensions, order, unit) => {
                unit.datatype()?.subarray(dimensions, *order)
            }
            Self::Darray(dimensions, rank, order, unit) => {
                unit.datatype()?.darray(dimensions, *rank, *order)
            }
            Self::Resized(low, extent, unit) => unit.datatype()?.resized(*low, *extent),
        }
    }
}

/// Arbitrary bytes as small numbers.
struct Source<'a, 'b>(&'a mut &'b [u8]);

impl Source<'_, '_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_off_first() {
            Some(&byte) => byte,
            None => 0,
        }
    }

    fn below(&mut self, bound: u8) -> u8 {
        self.byte() % bound
    }

    fn count(&mut self) -> u64 {
        [1, 2, 3, 2, 1, 4, 2, 3, 1, 2, 3, 2, 1, 4, 2, 0][self.below(16) as usize]
    }

    fn small(&mut self) -> i64 {
        i64::from(self.byte().cast_signed()) % 50
    }

    /// Blocks of which many continue those before them, where a unit has `unit` steps of displacement.
    fn blocks(&mut self, unit: i64) -> Vec<Block> {
        let (mut end, mut last) = (0, self.count());
        let mut list = Vec::new();
        for _ in 0..[2, 3, 1, 4, 2, 3, 4, 0][self.below(8) as usize] {
            let (len, displacement) = match self.below(4) {
                0 => (self.count(), self.small()),
                1 => (self.count(), end),
                2 => (last, end),
                _ => (last, end + 2 * unit),
            };
            (end, last) = (displacement + len as i64 * unit, len);
            list.push(Block { len, displacement });
        }
        list
    }

    fn displacements(&mut self, unit: i64) -> Vec<i64> {
        let blocks = self.blocks(unit);
        blocks.iter().map(|block| block.displacement).collect()
    }

    fn distributed(&mut self) -> DistributedDimension {
        let whole = 1 + u64::from(self.below(7));
        let block = 1 + u64::from(self.below(3));
        let ranks = 1 + u64::from(self.below(3));
        let (distribution, ranks) = match self.below(4) {
            0 => (Distribution::None, 1),
            1 => (Distribution::Block(None), ranks),
            2 => (
                Distribution::Block(Some(whole.div_ceil(ranks) + block - 1)),
                ranks,
            ),
            _ => (Distribution::Cyclic(block), ranks),
        };
        DistributedDimension {
            whole,
            distribution,
            ranks,
        }
    }

    fn dimension(&mut self) -> Dimension {
        let len = 1 + u64::from(self.below(3));
        let start = u64::from(self.below(3));
        let whole = len + start + u64::from(self.below(3));
        Dimension { whole, len, start }
    }
}
