//! Lists of slices or views, one for each rank or neighbour.

use std::marker::PhantomData;

use oxmpi_os::RawBytes;

use crate::buffer::sealed::HoldBuffer;
use crate::data::Data;
use crate::values::{Values, ValuesMut};

/// The slices or views that an alltoallw has borrowed. They are not given back one by one: the collective has kept
/// their memory, and must not see them exchanged.
#[derive(Debug)]
pub struct Slices<'buf>(PhantomData<&'buf mut [u8]>);

impl<'buf> HoldBuffer for Slices<'buf> {
    type Held = ();

    type Lent<'a>
        = ()
    where
        'buf: 'a;

    unsafe fn back((): ()) -> Self {
        Self(PhantomData)
    }

    unsafe fn lend<'a>((): &'a mut ())
    where
        'buf: 'a,
    {
    }
}

/// The memory of values that are read.
pub(in crate::comm) fn sources<T: Data>(values: &[impl Values<T>]) -> Vec<RawBytes> {
    values.iter().map(|values| values.lend().bytes).collect()
}

/// The memory of values that are written.
pub(in crate::comm) fn targets<T: Data>(values: &mut [impl ValuesMut<T>]) -> Vec<RawBytes> {
    (values.iter_mut().map(|values| values.lend_mut().bytes)).collect()
}
