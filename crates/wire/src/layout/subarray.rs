//! [`Datatype::subarray`].

use super::construct::Block;
use super::datatype::Datatype;
use super::error::{DatatypeError, narrow};

/// One dimension of [`Datatype::subarray`], in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Length of the array.
    pub whole: u64,
    /// Length of the sub-array, at least 1.
    pub len: u64,
    /// Index of the sub-array's first element.
    pub start: u64,
}

/// The dimension whose elements are side by side in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The last one, as in C.
    C,
    /// The first one, as in Fortran.
    Fortran,
}

impl Datatype {
    /// A part of an array in several dimensions, with the extent of the whole array (MPI 5.0, section 5.1.3).
    ///
    /// # Errors
    /// [`DatatypeError`]: a dimension is empty or exceeds the array, or a number exceeds 63 bits.
    pub fn subarray(&self, dimensions: &[Dimension], order: Order) -> Result<Self, DatatypeError> {
        let mut part = self.clone();
        let (mut distance, mut first) = (i128::from(self.extent()), 0);
        for step in 0..dimensions.len() {
            let dimension = match order {
                Order::C => dimensions.len() - 1 - step,
                Order::Fortran => step,
            };
            let Dimension { whole, len, start } = dimensions[dimension];
            if len == 0 || start >= whole || len > whole - start {
                return Err(DatatypeError::Dimension {
                    dimension,
                    whole,
                    len,
                    start,
                });
            }
            let stride = narrow(distance, "extent")?;
            part = part.hvector(len, 1, stride)?;
            first += i128::from(start) * distance;
            distance *= i128::from(whole);
        }
        let block = Block {
            len: 1,
            displacement: narrow(first, "displacement")?,
        };
        part.hindexed(&[block])?
            .resized(0, narrow(distance, "extent")?)
    }
}
