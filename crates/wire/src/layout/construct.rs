//! Constructors of datatypes (MPI 5.0, section 5.1.2).

use alloc::vec::Vec;

use super::bounds::Bounds;
use super::datatype::Datatype;
use super::error::{DatatypeError, narrow};
use super::shape::{Placed, Shape};
use super::signature::{Basic, Signature};

/// A block of [`Datatype::indexed`] or [`Datatype::hindexed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Number of instances.
    pub len: u64,
    /// Where they begin, in extents or bytes.
    pub displacement: i64,
}

/// A member of [`Datatype::structure`].
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// Number of instances.
    pub len: u64,
    /// Where they begin, in bytes.
    pub displacement: i64,
    /// Their datatype.
    pub datatype: &'a Datatype,
}

type Result<T> = core::result::Result<T, DatatypeError>;

/// # Errors
/// Each constructor returns [`DatatypeError`] if a number exceeds 63 bits.
impl Datatype {
    /// No bytes.
    pub const EMPTY: Self = Self {
        bytes: Placed::EMPTY,
        bounds: Bounds::EMPTY,
        signature: Signature::EMPTY,
    };

    /// A basic datatype.
    #[must_use]
    pub const fn basic(basic: Basic) -> Self {
        Self {
            bytes: Placed {
                offset: 0,
                shape: Shape::run(basic.size() as u64),
            },
            bounds: Bounds::basic(basic.size(), basic.align()),
            signature: Signature::basic(basic),
        }
    }

    /// `count` instances side by side.
    ///
    /// # Errors
    /// [`DatatypeError::TooLarge`].
    pub fn contiguous(&self, count: u64) -> Result<Self> {
        self.hvector(1, count, 0)
    }

    /// `count` blocks of `len` instances, their starts `stride` extents apart.
    ///
    /// # Errors
    /// [`DatatypeError::TooLarge`].
    pub fn vector(&self, count: u64, len: u64, stride: i64) -> Result<Self> {
        let stride = i128::from(stride) * i128::from(self.extent());
        self.hvector(count, len, narrow(stride, "stride")?)
    }

    /// `count` blocks of `len` instances, their starts `stride` bytes apart.
    ///
    /// # Errors
    /// [`DatatypeError::TooLarge`].
    pub fn hvector(&self, count: u64, len: u64, stride: i64) -> Result<Self> {
        if count == 0 || len == 0 {
            return Ok(Self::EMPTY);
        }
        let times = count
            .checked_mul(len)
            .ok_or(DatatypeError::TooLarge("size"))?;
        let reach = [
            distance(len - 1, self.extent()),
            distance(count - 1, stride),
        ];
        let low = reach.iter().map(|reach| reach.min(&0)).sum();
        let high = reach.iter().map(|reach| reach.max(&0)).sum();
        let Placed { offset, shape } = self.bytes.clone();
        Ok(Self {
            bounds: self.bounds.moved(low, high)?,
            signature: self.repeated_signature(times)?,
            bytes: Placed {
                offset,
                shape: shape.repeat(len, self.extent()).repeat(count, stride),
            },
        })
    }

    /// Blocks at displacements in extents.
    ///
    /// # Errors
    /// [`DatatypeError::TooLarge`].
    pub fn indexed(&self, blocks: &[Block]) -> Result<Self> {
        let extent = i128::from(self.extent());
        let in_bytes = |block: &Block| {
            let displacement = i128::from(block.displacement) * extent;
            Ok(Block {
                displacement: narrow(displacement, "displacement")?,
                ..*block
            })
        };
        self.hindexed(&blocks.iter().map(in_bytes).collect::<Result<Vec<_>>>()?)
    }

    /// Blocks at displacements in bytes.
    ///
    /// # Errors
    /// [`DatatypeError::TooLarge`].
    pub fn hindexed(&self, blocks: &[Block]) -> Result<Self> {
        let used = || blocks.iter().filter(|block| block.len > 0);
        let start = |block: &Block| i128::from(block.displacement);
        let reach = |block: &Block| distance(block.len - 1, self.extent());
        let low = used().map(|block| start(block) + reach(block).min(0)).min();
        let high = used().map(|block| start(block) + reach(block).max(0)).max();
        let (Some(low), Some(high)) = (low, high) else {
            return Ok(Self::EMPTY);
        };
        let times = used().try_fold(0u64, |sum, block| sum.checked_add(block.len));
        let times = times.ok_or(DatatypeError::TooLarge("size"))?;
        let bounds = self.bounds.moved(low, high)?;
        let signature = self.repeated_signature(times)?;
        let Placed { offset, shape } = self.bytes.clone();
        let places = used().map(|block| (block.displacement, block.len));
        let mut bytes = shape.blocks(self.extent(), places);
        bytes.offset += offset;
        Ok(Self {
            bytes,
            bounds,
            signature,
        })
    }

    /// Blocks of `len` instances at displacements in extents.
    ///
    /// # Errors
    /// [`DatatypeError::TooLarge`].
    pub fn indexed_block(&self, len: u64, displacements: &[i64]) -> Result<Self> {
        self.indexed(&equal_blocks(len, displacements))
    }

    /// Blocks of `len` instances at displacements in bytes.
    ///
    /// # Errors
    /// [`DatatypeError::TooLarge`].
    pub fn hindexed_block(&self, len: u64, displacements: &[i64]) -> Result<Self> {
        self.hindexed(&equal_blocks(len, displacements))
    }

    /// Blocks of different datatypes (`MPI_Type_create_struct`).
    ///
    /// # Errors
    /// [`DatatypeError::TooLarge`].
    pub fn structure(members: &[Member<'_>]) -> Result<Self> {
        let mut bounds = Bounds::EMPTY;
        let mut size = 0;
        let (mut places, mut signatures) = (Vec::new(), Vec::new());
        for member in members {
            let block = Block {
                len: member.len,
                displacement: member.displacement,
            };
            let block = member.datatype.hindexed(&[block])?;
            bounds = bounds.union(block.bounds)?;
            size += i128::from(block.size());
            places.push(block.bytes);
            signatures.push(block.signature);
        }
        narrow(size, "size")?;
        Ok(Self {
            bytes: Shape::members(places),
            bounds,
            signature: Signature::sequence(signatures),
        })
    }

    /// This datatype with another lower bound and extent; bounds that were set before have no effect any more.
    ///
    /// # Errors
    /// [`DatatypeError::TooLarge`].
    pub fn resized(&self, lower_bound: i64, extent: i64) -> Result<Self> {
        Ok(Self {
            bounds: self.bounds.resized(lower_bound, extent)?,
            ..self.clone()
        })
    }

    fn repeated_signature(&self, times: u64) -> Result<Signature> {
        narrow(i128::from(self.size()) * i128::from(times), "size")?;
        Ok(self.signature.clone().repeat(times))
    }
}

/// `times` steps of `step` bytes.
fn distance(times: u64, step: i64) -> i128 {
    i128::from(times) * i128::from(step)
}

fn equal_blocks(len: u64, displacements: &[i64]) -> Vec<Block> {
    let block = |&displacement: &i64| Block { len, displacement };
    displacements.iter().map(block).collect()
}
