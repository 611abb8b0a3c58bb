//! The values that calls read and write: slices, what holds one, and views of a slice with a layout.

use oxmpi_os::RawBytes;

use crate::buffer::Buffer;
use crate::data::{Data, place, source};
use crate::layout::{View, ViewMut};
use crate::memory::Memory;

/// Values of type `T` that a call reads: a slice, an array, a vector, a box, [`Memory`], or a [view](crate::layout)
/// of some elements of a slice. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no buffer of values of type `{T}`",
    note = "messages take slices (`&values[..]`), arrays, vectors, `Memory` and views with a layout, of plain data"
)]
pub trait Values<T>: sealed::Lend<T> {}

impl<T, V: sealed::Lend<T> + ?Sized> Values<T> for V {}

/// [`Values`] that a call writes. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no buffer of values of type `{T}` to receive into",
    note = "messages are received into slices (`&mut values[..]`), arrays, vectors, `Memory` and `ViewMut`, of plain data"
)]
pub trait ValuesMut<T>: Values<T> + sealed::LendMut<T> {}

impl<T, V: sealed::LendMut<T> + ?Sized> ValuesMut<T> for V {}

/// A reference to [`Values`] that an operation reads: shared, or unique, so that they can be written between two runs
/// of a persistent operation. Sealed.
pub trait ValuesRef<T>: sealed::LendFor<T> {}

impl<T, V: sealed::LendFor<T>> ValuesRef<T> for V {}

#[allow(
    unnameable_types,
    reason = "the traits are sealed: callers name `Values` and its kin, never what is here"
)]
pub(crate) mod sealed {
    use super::{Buffer, RawBytes};

    /// Lends values to be read.
    pub trait Lend<T> {
        /// The buffer that a request gives back.
        type Read<'b>: Buffer
        where
            Self: 'b;

        /// Lends them.
        fn lend(&self) -> LentValues<Self::Read<'_>>;
    }

    /// Lends values to be written.
    pub trait LendMut<T>: Lend<T> {
        /// The buffer that a request gives back.
        type Written<'b>: Buffer
        where
            Self: 'b;

        /// Lends them.
        fn lend_mut(&mut self) -> LentValues<Self::Written<'_>>;
    }

    /// Lends values for as long as the reference lives.
    pub trait LendFor<T> {
        /// The buffer that a request gives back.
        type Buffer: Buffer;

        /// Lends them.
        fn lend_for(self) -> LentValues<Self::Buffer>;
    }

    /// Lent values.
    pub struct LentValues<B: Buffer> {
        pub(crate) bytes: RawBytes,
        /// Number of elements.
        pub(crate) count: usize,
        pub(crate) held: B::Held,
    }
}

pub(crate) use sealed::{Lend, LendFor, LendMut, LentValues};

impl<'b, T, V: Lend<T> + ?Sized> LendFor<T> for &'b V {
    type Buffer = V::Read<'b>;

    #[inline(always)]
    fn lend_for(self) -> LentValues<V::Read<'b>> {
        self.lend()
    }
}

impl<'b, T, V: LendMut<T> + ?Sized> LendFor<T> for &'b mut V {
    type Buffer = V::Written<'b>;

    #[inline(always)]
    fn lend_for(self) -> LentValues<V::Written<'b>> {
        self.lend_mut()
    }
}

impl<T: Data> Lend<T> for [T] {
    type Read<'b> = &'b [T];

    #[inline(always)]
    fn lend(&self) -> LentValues<&[T]> {
        LentValues {
            bytes: source(self),
            count: self.len(),
            held: self,
        }
    }
}

impl<T: Data> LendMut<T> for [T] {
    type Written<'b> = &'b mut [T];

    #[inline(always)]
    fn lend_mut(&mut self) -> LentValues<&mut [T]> {
        let held: *mut [T] = self;
        LentValues {
            bytes: place(held),
            count: held.len(),
            held,
        }
    }
}

/// Lends the elements of arrays, vectors and memory as slices.
macro_rules! as_slices {
    ($($t:ty $([$n:ident])?;)*) => {$(
        impl<T: Data $(, const $n: usize)?> Lend<T> for $t {
            type Read<'b> = &'b [T];

            #[inline(always)]
            fn lend(&self) -> LentValues<&[T]> {
                self[..].lend()
            }
        }

        impl<T: Data $(, const $n: usize)?> LendMut<T> for $t {
            type Written<'b> = &'b mut [T];

            #[inline(always)]
            fn lend_mut(&mut self) -> LentValues<&mut [T]> {
                self[..].lend_mut()
            }
        }
    )*};
}

as_slices! {
    Vec<T>;
    Memory<T>;
    [T; N] [N];
}

/// Lends what a pointer points to.
macro_rules! through {
    ($([$($life:lifetime)?] $t:ty;)*) => {$(
        impl<$($life,)? T, V: Lend<T> + ?Sized> Lend<T> for $t {
            type Read<'b> = V::Read<'b> where Self: 'b;

            #[inline(always)]
            fn lend(&self) -> LentValues<V::Read<'_>> {
                (**self).lend()
            }
        }
    )*};
}

through! {
    ['x] &'x V;
    ['x] &'x mut V;
    [] Box<V>;
}

/// Lends what a pointer points to, to be written.
macro_rules! through_mut {
    ($([$($life:lifetime)?] $t:ty;)*) => {$(
        impl<$($life,)? T, V: LendMut<T> + ?Sized> LendMut<T> for $t {
            type Written<'b> = V::Written<'b> where Self: 'b;

            #[inline(always)]
            fn lend_mut(&mut self) -> LentValues<V::Written<'_>> {
                (**self).lend_mut()
            }
        }
    )*};
}

through_mut! {
    ['x] &'x mut V;
    [] Box<V>;
}

/// Lends views to be read.
macro_rules! views {
    ($($view:ident),*) => {$(
        impl<'v, T: Data> Lend<T> for $view<'v, T> {
            type Read<'b>
                = &'b $view<'v, T>
            where
                Self: 'b;

            fn lend(&self) -> LentValues<&Self> {
                LentValues {
                    bytes: self.bytes(),
                    count: self.len(),
                    held: self,
                }
            }
        }
    )*};
}

views!(View, ViewMut);

impl<'v, T: Data> LendMut<T> for ViewMut<'v, T> {
    type Written<'b>
        = &'b mut ViewMut<'v, T>
    where
        Self: 'b;

    fn lend_mut(&mut self) -> LentValues<&mut Self> {
        LentValues {
            bytes: self.bytes(),
            count: self.len(),
            held: self,
        }
    }
}
