//! Layouts: some elements of a slice as one buffer, in place of a copy (derived datatypes; MPI 5.0, chapter 5).
//!
//! A [layout](Layout) says which elements, and in which order: [`Strided`] a column, or every nth element; [`SubArray`]
//! a part of an array in several dimensions; [`Indexed`] a list of ranges. A [`View`] or [`ViewMut`] is a layout of a
//! slice, checked once. It stands wherever a slice is read, or written: in sends and receives of all kinds, and in
//! collectives, of which one rank may have a view where another has a slice.
//!
//! ```
//! use oxmpi::World;
//! use oxmpi::layout::{Strided, View, ViewMut};
//!
//! let world = World::init()?;
//! let comm = world.comm();
//! # let (left, right) = (comm.rank(), comm.rank());
//! // A matrix of 4 rows and 6 columns. Column 4 becomes column 0 of the rank on the right.
//! let mut matrix = [comm.rank() as f64; 24];
//! let column = |first| Strided { first, count: 4, block: 1, stride: 6 };
//! let ([edge], [mut ghost]) = ViewMut::split(&mut matrix, [column(4)], [column(0)])?;
//! comm.sendrecv(&edge, right, 7, &mut ghost, left, 7)?;
//! assert_eq!(ghost.as_view().to_vec(), [left as f64; 4]);
//!
//! // And a column as the rows of another matrix: the other side need not know of the layout.
//! let mut rows = [0.0; 4];
//! comm.sendrecv(&View::new(&matrix, column(2))?, right, 8, &mut rows, left, 8)?;
//! # assert_eq!(rows, [left as f64; 4]);
//! # Ok::<(), oxmpi::Error>(())
//! ```
//!
//! Buffers that only the root of a collective has are slices: it packs and unpacks them by [`View::to_vec`] and
//! [`ViewMut::copy_from_slice`].

mod held;
mod indexed;
mod overlap;
mod strided;
mod sub_array;
#[cfg(test)]
mod tests;
mod view;

pub use indexed::Indexed;
pub use strided::Strided;
pub use sub_array::SubArray;
pub use view::{View, ViewMut};

pub(crate) use overlap::disjoint;
pub(crate) use view::{laid_out, laid_out_mut};

use oxmpi_wire::layout::{Basic, Block, Datatype, DatatypeError};

/// Which elements of a slice, in which order: [`Strided`], [`SubArray`], [`Indexed`]. Sealed.
pub trait Layout: sealed::Describe {}

impl<L: sealed::Describe> Layout for L {}

#[allow(
    unnameable_types,
    reason = "the trait is sealed: callers name `Layout`, never what is here"
)]
pub(crate) mod sealed {
    use super::Datatype;

    /// Describes a layout.
    pub trait Describe {
        /// The layout of a slice of `len` elements of `element`.
        ///
        /// # Errors
        /// The reason why there is none.
        fn datatype(&self, element: &Datatype, len: usize) -> Result<Datatype, String>;

        /// Checks that it has no element twice.
        ///
        /// # Errors
        /// One that it has twice.
        fn check_distinct(&self) -> Result<(), String>;
    }
}

use sealed::Describe;

impl<L: Describe + ?Sized> Describe for &L {
    fn datatype(&self, element: &Datatype, len: usize) -> Result<Datatype, String> {
        (**self).datatype(element, len)
    }

    fn check_distinct(&self) -> Result<(), String> {
        (**self).check_distinct()
    }
}

/// An element of type `T`: its bytes.
fn element<T>() -> Datatype {
    let byte = Datatype::basic(Basic::new(0, 1, 1));
    let bytes = byte.contiguous(size_of::<T>() as u64);
    bytes.expect("a type has less than 2^63 bytes")
}

/// `datatype`, `first` elements further.
fn moved(datatype: &Datatype, first: usize, element: &Datatype) -> Result<Datatype, DatatypeError> {
    let first = i64::try_from(first).ok();
    let bytes = first.and_then(|first| first.checked_mul(element.extent()));
    let displacement = bytes.ok_or(DatatypeError::TooLarge("first element"))?;
    datatype.hindexed(&[Block {
        len: 1,
        displacement,
    }])
}

/// The sentence of a datatype's error.
fn why(error: DatatypeError) -> String {
    error.to_string()
}
