//! Views as the buffers that requests hold.

use super::view::{Place, View, ViewMut};
use crate::buffer::sealed::HoldBuffer;
use crate::data::Data;

impl<'v, T: Data> HoldBuffer for &View<'v, T> {
    type Held = Self;

    type Lent<'a>
        = &'a View<'v, T>
    where
        Self: 'a;

    unsafe fn back(held: Self) -> Self {
        held
    }

    unsafe fn lend<'a>(held: &'a mut Self) -> &'a View<'v, T>
    where
        Self: 'a,
    {
        held
    }
}

impl<'v, T: Data> HoldBuffer for &ViewMut<'v, T> {
    type Held = Self;

    type Lent<'a>
        = &'a ViewMut<'v, T>
    where
        Self: 'a;

    unsafe fn back(held: Self) -> Self {
        held
    }

    unsafe fn lend<'a>(held: &'a mut Self) -> &'a ViewMut<'v, T>
    where
        Self: 'a,
    {
        held
    }
}

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
