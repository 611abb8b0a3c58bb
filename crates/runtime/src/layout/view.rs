//! [`View`] and [`ViewMut`]: layouts of a slice.

use std::fmt;
use std::marker::PhantomData;

use oxmpi_core::{Error, Result};
use oxmpi_os::RawBytes;
use oxmpi_wire::layout::Datatype;

use super::overlap::disjoint_layouts;
use super::{Layout, element};
use crate::data::{Data, source, target};

/// Elements of a slice that a call reads, in the order of a [layout](super).
///
/// # Cost
/// Its memory grows with the description of the layout, not with the number of its blocks. To make one costs some
/// allocations, to send it none.
pub struct View<'v, T> {
    pub(super) place: Place,
    values: PhantomData<&'v [T]>,
}

/// Elements of a slice that a call writes, or reads, in the order of a [layout](super).
///
/// # Cost
/// As of a [`View`].
pub struct ViewMut<'v, T> {
    pub(super) place: Place,
    values: PhantomData<&'v mut [T]>,
}

/// Where the elements are. Requests hold its address, as `RawBytes` refers to the datatype.
pub(super) struct Place {
    /// The first element of the slice.
    pub(super) start: *mut u8,
    pub(super) datatype: Datatype,
}

// SAFETY: an address and offsets. What may be done with the elements, and from which thread, the lifetime and the type
// of the reference say that stands beside it.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

impl Place {
    fn bytes(&self) -> RawBytes {
        // SAFETY: the layout is within the slice (checked by `laid_out`), which the view has borrowed: uniquely, or so
        // that it is only read. No element is in a written view twice, or in another view as well. Every caller keeps
        // the borrow of the view, which neither moves nor drops the datatype, until its request has completed.
        unsafe { RawBytes::with_datatype(self.start, &self.datatype, 1) }
    }

    const fn len(&self, size: usize) -> usize {
        match (self.datatype.size() as usize).checked_div(size) {
            Some(len) => len,
            None => 0,
        }
    }
}

/// The layout of a slice of `len` elements.
pub(crate) fn laid_out<T>(layout: &impl Layout, len: usize) -> Result<Datatype> {
    let wrong = |why: String| Error::Layout { why };
    let (element, size) = (element::<T>(), size_of::<T>() as i64);
    let datatype = layout.datatype(&element, len).map_err(wrong)?;
    let low = datatype.true_lower_bound();
    let high = low + datatype.true_extent();
    if low >= 0 && high as u64 <= (len * size_of::<T>()) as u64 {
        return Ok(datatype);
    }
    Err(wrong(format!(
        "it reaches from index {} up to index {}, where the slice has {len} elements",
        low / size,
        high / size - 1
    )))
}

/// As [`laid_out`], for elements that are written.
pub(crate) fn laid_out_mut<T>(layout: &impl Layout, len: usize) -> Result<Datatype> {
    let distinct = layout.check_distinct();
    distinct.map_err(|why| Error::Layout { why })?;
    laid_out::<T>(layout, len)
}

/// What both views have in common.
macro_rules! views {
    ($($view:ident),*) => {$(
        impl<T: Data> $view<'_, T> {
            pub(super) const fn at(start: *mut u8, datatype: Datatype) -> Self {
                Self {
                    place: Place { start, datatype },
                    values: PhantomData,
                }
            }

            /// Number of elements.
            #[must_use]
            pub const fn len(&self) -> usize {
                self.place.len(size_of::<T>())
            }

            /// Whether it has no elements.
            #[must_use]
            pub const fn is_empty(&self) -> bool {
                self.len() == 0
            }

            pub(crate) fn bytes(&self) -> RawBytes {
                self.place.bytes()
            }
        }

        impl<T: Data> fmt::Debug for $view<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut debug = f.debug_struct(stringify!($view));
                debug.field("len", &self.len()).finish_non_exhaustive()
            }
        }
    )*};
}

views!(View, ViewMut);

impl<'v, T: Data> View<'v, T> {
    /// The elements of `values` that `layout` names.
    ///
    /// # Errors
    /// [`Error::Layout`] when it names one outside of `values`, or its numbers exceed 63 bits.
    pub fn new(values: &'v [T], layout: impl Layout) -> Result<Self> {
        Ok(Self::at(
            values.as_ptr().cast_mut().cast(),
            laid_out::<T>(&layout, values.len())?,
        ))
    }

    /// A copy of the elements, one after the other (`MPI_Pack`).
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        let mut packed = vec![T::new_zeroed(); self.len()];
        target(&mut packed).copy_from(&self.bytes());
        packed
    }
}

impl<'v, T: Data> ViewMut<'v, T> {
    /// The elements of `values` that `layout` names.
    ///
    /// # Errors
    /// [`Error::Layout`] when it names one twice, or one outside of `values`, or its numbers exceed 63 bits.
    pub fn new(values: &'v mut [T], layout: impl Layout) -> Result<Self> {
        let datatype = laid_out_mut::<T>(&layout, values.len())?;
        Ok(Self::at(values.as_mut_ptr().cast(), datatype))
    }

    /// Several views of one slice: some to be read, which may have elements in common, and some to be written, which
    /// have none in common with any other; as the edges and the ghost cells of a field.
    ///
    /// # Errors
    /// As [`ViewMut::new`], and when an element of a written view is in another view too.
    ///
    /// Layouts of several kinds are given as `&dyn Layout`.
    ///
    /// # Cost
    /// Sorts the contiguous blocks of all views.
    pub fn split<L: Layout, const R: usize, const W: usize>(
        values: &'v mut [T],
        read: [L; R],
        written: [L; W],
    ) -> Result<([View<'v, T>; R], [Self; W])> {
        let (start, len) = (values.as_mut_ptr().cast(), values.len());
        let read = read.iter().map(|layout| laid_out::<T>(layout, len));
        let read: Vec<Datatype> = read.collect::<Result<_>>()?;
        let written = written.iter().map(|layout| laid_out_mut::<T>(layout, len));
        let written: Vec<Datatype> = written.collect::<Result<_>>()?;
        let disjoint = disjoint_layouts(&read, &written, size_of::<T>());
        disjoint.map_err(|why| Error::Layout { why })?;
        let mut written = written
            .into_iter()
            .map(|datatype| Self::at(start, datatype));
        let mut read = (read.into_iter()).map(|datatype| View::at(start, datatype));
        Ok((
            std::array::from_fn(|_| read.next().expect("one for each layout")),
            std::array::from_fn(|_| written.next().expect("one for each layout")),
        ))
    }

    /// The same elements, to be read.
    #[must_use]
    pub fn as_view(&self) -> View<'_, T> {
        View::at(self.place.start, self.place.datatype.clone())
    }

    /// Copies `packed` to the elements, in their order (`MPI_Unpack`).
    ///
    /// # Panics
    /// If the lengths differ, as [`slice::copy_from_slice`].
    pub fn copy_from_slice(&mut self, packed: &[T]) {
        assert_eq!(
            self.len(),
            packed.len(),
            "the view and the slice have different lengths"
        );
        self.bytes().copy_from(&source(packed));
    }
}
