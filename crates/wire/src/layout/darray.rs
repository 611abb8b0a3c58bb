//! [`Datatype::darray`].

use super::construct::Member;
use super::datatype::Datatype;
use super::error::{DatatypeError, narrow};
use super::subarray::Order;

/// How the elements of a dimension are spread over ranks (MPI 5.0, section 5.1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Not at all: there is one rank.
    None,
    /// One block for each rank, of so many elements, or of equal ones.
    Block(Option<u64>),
    /// Blocks of so many elements, at least 1, to each rank in turn.
    Cyclic(u64),
}

/// One dimension of [`Datatype::darray`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DistributedDimension {
    /// Elements of the array.
    pub whole: u64,
    /// How they are spread.
    pub distribution: Distribution,
    /// Ranks in this dimension of the grid, at least 1.
    pub ranks: u64,
}

impl DistributedDimension {
    /// Elements of a block.
    fn block(&self) -> Result<u64, DatatypeError> {
        let equal = self.whole.div_ceil(self.ranks);
        match self.distribution {
            Distribution::None if self.ranks > 1 => Err(DatatypeError::Distribution {
                whole: self.whole,
                ranks: self.ranks,
                block: self.whole,
            }),
            Distribution::Block(Some(block)) if block < equal => Err(DatatypeError::Distribution {
                whole: self.whole,
                ranks: self.ranks,
                block,
            }),
            Distribution::None | Distribution::Block(None) => Ok(equal),
            Distribution::Block(Some(block)) | Distribution::Cyclic(block) => Ok(block),
        }
    }

    /// The parts of `unit`, whose elements are `stride` bytes apart, that are rank number `own`'s in this dimension.
    fn part(&self, unit: &Datatype, own: u64, stride: i64) -> Result<Datatype, DatatypeError> {
        let block = self.block()?;
        let own_first = own.checked_mul(block).filter(|&first| first < self.whole);
        let Some(own_first) = own_first else {
            return Ok(Datatype::EMPTY);
        };
        let round = self.ranks.saturating_mul(block);
        let left = self.whole - own_first;
        // Whole blocks, and the start of one.
        let times = left / round + u64::from(left % round >= block);
        let rest = if left % round < block {
            left % round
        } else {
            0
        };
        let place = |index: u64| narrow(i128::from(index) * i128::from(stride), "displacement");
        let blocks = unit.hvector(block.min(left), 1, stride)?;
        let start = unit.hvector(rest, 1, stride)?;
        let whole = match times {
            0 => Datatype::EMPTY,
            1 => blocks,
            _ => blocks.hvector(times, 1, place(round)?)?,
        };
        Datatype::structure(&[
            Member {
                len: 1,
                displacement: place(own_first)?,
                datatype: &whole,
            },
            Member {
                len: 1,
                displacement: if rest > 0 {
                    place(own_first + times * round)?
                } else {
                    0
                },
                datatype: &start,
            },
        ])
    }
}

impl Datatype {
    /// The part of an array that is rank number `rank`'s of a grid, with the extent of the whole array. The last
    /// dimension of the grid varies fastest, whatever the `order` of the array.
    ///
    /// # Errors
    /// [`DatatypeError`]: a distribution does not cover its dimension, or a number exceeds 63 bits.
    pub fn darray(
        &self,
        dimensions: &[DistributedDimension],
        rank: u64,
        order: Order,
    ) -> Result<Self, DatatypeError> {
        let mut part = self.clone();
        let mut distance = i128::from(self.extent());
        for step in 0..dimensions.len() {
            let index = match order {
                Order::C => dimensions.len() - 1 - step,
                Order::Fortran => step,
            };
            let faster = dimensions[index + 1..].iter();
            let below: u64 = faster.map(|dimension| dimension.ranks).product();
            let dimension = &dimensions[index];
            let own = rank / below % dimension.ranks;
            part = dimension.part(&part, own, narrow(distance, "extent")?)?;
            distance *= i128::from(dimension.whole);
            narrow(distance, "extent")?;
        }
        part.resized(0, narrow(distance, "extent")?)
    }
}
