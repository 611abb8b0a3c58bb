//! Addresses: which ones a rank advertises, and by which pair of them two ranks connect. Pure functions.

mod business_card;
mod filter;
mod reachability;
mod subnet;

pub use business_card::{BusinessCard, BusinessCardError};
pub(crate) use filter::check;
pub use filter::{InterfaceFilter, advertised, nothing_left};
pub use reachability::{AddressPair, Reachability, address_pairs, routes};
pub use subnet::Subnet;
