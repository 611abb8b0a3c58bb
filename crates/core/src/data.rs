//! [`Data`]: elements that are plain bytes.

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// A type whose values may be sent and received as bytes.
///
/// Implemented for every type that zerocopy knows as plain data; never implemented by hand.
pub trait Data: FromBytes + IntoBytes + Immutable + Copy + Send + Sync + 'static {}

impl<T: FromBytes + IntoBytes + Immutable + Copy + Send + Sync + 'static> Data for T {}
