#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod device_parameters;
mod error;
#[cfg(test)]
#[allow(unsafe_code)]
mod fake;
#[allow(unsafe_code)]
mod ffi;
#[allow(unsafe_code)]
mod library;
mod network;
#[allow(unsafe_code)]
mod objects;
mod preference;
#[allow(unsafe_code)]
mod registration;
pub mod settings;
mod transport;

pub use device_parameters::*;
pub use error::{PostError, Unavailable, VerbsError};
pub use network::*;
pub use objects::*;
pub use preference::{ConnectionMethod, RdmaPreference};
pub use registration::*;
pub use transport::*;
