//! The slices that collectives read.

use oxmpi_os::RawBytes;

use crate::buffer::Buffer;
use crate::data::{Data, place, source};

/// Elements that a collective reads: a slice, array or vector that is borrowed shared, or uniquely, so that
/// it can be written between two runs of a persistent collective. Sealed.
pub trait Slice<T>: sealed::Lend<T> {}

impl<T, S: sealed::Lend<T>> Slice<T> for S {}

#[allow(
    unnameable_types,
    reason = "the trait is sealed: callers name `Slice`, never what is here"
)]
pub(crate) mod sealed {
    use super::{Buffer, RawBytes};

    /// Borrows the elements for a collective.
    pub trait Lend<T> {
        /// The buffer that is given back at the end.
        type Buffer: Buffer;

        /// Borrows them.
        fn lend(self) -> LentSlice<Self::Buffer>;
    }

    /// Borrowed elements.
    pub struct LentSlice<B: Buffer> {
        pub(in crate::comm) bytes: RawBytes,
        /// Number of elements.
        pub(in crate::comm) count: usize,
        pub(in crate::comm) held: B::Held,
    }
}

pub(in crate::comm) use sealed::{Lend, LentSlice};

impl<'buf, T: Data> Lend<T> for &'buf [T] {
    type Buffer = &'buf [T];

    fn lend(self) -> LentSlice<Self> {
        LentSlice {
            bytes: source(self),
            count: self.len(),
            held: self,
        }
    }
}

impl<'buf, T: Data> Lend<T> for &'buf mut [T] {
    type Buffer = &'buf mut [T];

    fn lend(self) -> LentSlice<Self> {
        let held: *mut [T] = self;
        LentSlice {
            bytes: place(held),
            count: held.len(),
            held,
        }
    }
}

/// Borrows arrays and vectors as slices.
macro_rules! as_slices {
    ($($t:ty $([$n:ident])?;)*) => {$(
        impl<'buf, T: Data $(, const $n: usize)?> Lend<T> for &'buf $t {
            type Buffer = &'buf [T];

            fn lend(self) -> LentSlice<&'buf [T]> {
                self.as_slice().lend()
            }
        }

        impl<'buf, T: Data $(, const $n: usize)?> Lend<T> for &'buf mut $t {
            type Buffer = &'buf mut [T];

            fn lend(self) -> LentSlice<&'buf mut [T]> {
                self.as_mut_slice().lend()
            }
        }
    )*};
}

as_slices! {
    Vec<T>;
    [T; N] [N];
}
