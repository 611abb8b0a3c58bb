//! [`SubArray`]: a part of an array in several dimensions.

use std::ops::Range;

use oxmpi_wire::layout::{Datatype, Dimension, Order};

use super::sealed::Describe;
use super::why;

/// A part of an array in several dimensions (`MPI_Type_create_subarray`). The elements of the last dimension are side
/// by side in memory, as in C; of an array in Fortran's order, the dimensions are given in reverse.
///
/// ```
/// use oxmpi::layout::{SubArray, View};
///
/// let matrix: Vec<u32> = (0..20).collect();
/// let inner = SubArray { array: [4, 5], part: [1..3, 1..4] };
/// assert_eq!(View::new(&matrix, inner)?.to_vec(), [6, 7, 8, 11, 12, 13]);
/// # Ok::<(), oxmpi::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubArray<const N: usize> {
    /// The length of the array in each dimension. The slice has as many elements as all together.
    pub array: [usize; N],
    /// The indexes in each dimension, none of them empty.
    pub part: [Range<usize>; N],
}

impl<const N: usize> Describe for SubArray<N> {
    fn datatype(&self, element: &Datatype, len: usize) -> Result<Datatype, String> {
        let mut lengths = self.array.iter();
        let all = lengths.try_fold(1usize, |product, &len| product.checked_mul(len));
        if all != Some(len) {
            let lengths = self.array.map(|len| len.to_string()).join(" x ");
            return Err(format!(
                "an array of {lengths} elements, where the slice has {len}"
            ));
        }
        let dimensions: [_; N] = std::array::from_fn(|at| Dimension {
            whole: self.array[at] as u64,
            len: self.part[at].len() as u64,
            start: self.part[at].start as u64,
        });
        element.subarray(&dimensions, Order::C).map_err(why)
    }

    fn check_distinct(&self) -> Result<(), String> {
        Ok(())
    }
}
