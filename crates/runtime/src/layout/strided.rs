//! [`Strided`]: blocks at equal distances.

use oxmpi_wire::layout::Datatype;

use super::sealed::Describe;
use super::{moved, why};

/// Blocks of equal length at equal distances (`MPI_Type_vector`): a column of a matrix, some of its columns, every nth
/// element, or the elements in reverse order.
///
/// ```
/// use oxmpi::layout::{Strided, View};
///
/// let matrix: Vec<u32> = (0..20).collect(); // 4 rows, 5 columns
/// let column = Strided { first: 2, count: 4, block: 1, stride: 5 };
/// assert_eq!(View::new(&matrix, column)?.to_vec(), [2, 7, 12, 17]);
/// let last_two = Strided { first: 3, count: 4, block: 2, stride: 5 };
/// assert_eq!(View::new(&matrix, last_two)?.to_vec(), [3, 4, 8, 9, 13, 14, 18, 19]);
/// let upwards = Strided { first: 17, count: 4, block: 1, stride: -5 };
/// assert_eq!(View::new(&matrix, upwards)?.to_vec(), [17, 12, 7, 2]);
/// # Ok::<(), oxmpi::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strided {
    /// Index of the first element.
    pub first: usize,
    /// Number of blocks.
    pub count: usize,
    /// Elements of each block.
    pub block: usize,
    /// Elements from the start of a block to that of the next one; negative, where the next one is before it.
    pub stride: isize,
}

impl Describe for Strided {
    fn datatype(&self, element: &Datatype, _: usize) -> Result<Datatype, String> {
        let (count, block) = (self.count as u64, self.block as u64);
        let blocks = element.vector(count, block, self.stride as i64);
        let moved = blocks.and_then(|blocks| moved(&blocks, self.first, element));
        moved.map_err(why)
    }

    fn check_distinct(&self) -> Result<(), String> {
        match self.count < 2 || self.stride.unsigned_abs() >= self.block {
            true => Ok(()),
            false => Err(format!(
                "blocks of {} elements at a stride of {} overlap",
                self.block, self.stride
            )),
        }
    }
}
