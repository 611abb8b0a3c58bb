//! Slices of bytes that lie anywhere, one for each rank or neighbour.

use std::marker::PhantomData;

use oxmpi_os::RawBytes;

use crate::buffer::sealed::HoldBuffer;
use crate::data::{source, target};

/// The slices that an alltoallw has borrowed. They are not given back one by one: what has kept
/// their places must not see them exchanged.
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

/// The places of slices that are read.
pub(in crate::comm) fn sources(values: &[&[u8]]) -> Vec<RawBytes> {
    values.iter().map(|bytes| source(bytes)).collect()
}

/// The places of slices that are written.
pub(in crate::comm) fn targets(values: &mut [&mut [u8]]) -> Vec<RawBytes> {
    values.iter_mut().map(|bytes| target(bytes)).collect()
}
