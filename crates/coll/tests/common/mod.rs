//! Shared by the tests.

pub(crate) mod driver;
#[cfg(feature = "std")]
pub(crate) mod script;
