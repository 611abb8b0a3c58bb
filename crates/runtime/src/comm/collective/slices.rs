//! Lists of slices of bytes, one for each rank or neighbour.

use std::marker::PhantomData;

use oxmpi_os::RawBytes;

use crate::buffer::sealed::HoldBuffer;
use crate::data::{source, target};

/// The slices that an alltoallw has borrowed. They are not given back one by one: the collective has kept
/// their memory, and must not see slices exchanged.
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

/// The memory of slices that are read.
pub(in crate::comm) fn sources(values: &[&[u8]]) -> Vec<RawBytes> {
    values.iter().map(|bytes| source(bytes)).collect()
}

/// The memory of slices that are written.
pub(in crate::comm) fn targets(values: &mut [&mut [u8]]) -> Vec<RawBytes> {
    values.iter_mut().map(|bytes| target(bytes)).collect()
}
