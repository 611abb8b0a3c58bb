//! Views as the buffers that requests hold.

use super::view::{Place, View, ViewMut};
use crate::buffer::sealed::HoldBuffer;
use crate::data::Data;

/// Views that an operation reads are held as they are given.
macro_rules! held_to_be_read {
    ($($view:ident),*) => {$(
        impl<'v, T: Data> HoldBuffer for &$view<'v, T> {
            type Held = Self;

            type Lent<'a>
                = &'a $view<'v, T>
            where
                Self: 'a;

            unsafe fn back(held: Self) -> Self {
                held
            }

            unsafe fn lend<'a>(held: &'a mut Self) -> &'a $view<'v, T>
            where
                Self: 'a,
            {
                held
            }
        }
    )*};
}

held_to_be_read!(View, ViewMut);

impl<'v, T: Data> HoldBuffer for &mut ViewMut<'v, T> {
    type Held = *mut ViewMut<'v, T>;

    type Lent<'a>
        = ViewMut<'a, T>
    where
        Self: 'a;

    unsafe fn back(held: Self::Held) -> Self {
        // SAFETY: made of such a reference, which no other code has used since; and the operation has completed, as
        // the caller promises.
        unsafe { &mut *held }
    }

    unsafe fn lend<'a>(held: &'a mut Self::Held) -> ViewMut<'a, T>
    where
        Self: 'a,
    {
        // SAFETY: as above; it is lent no longer than its holder. A shared reference leaves that valid by which the
        // bytes of the operation refer to the datatype.
        let Place { start, datatype } = unsafe { &(**held).place };
        // Not the view itself, which could be exchanged for another one: the next run would find other elements.
        ViewMut::at(*start, datatype.clone())
    }
}
