//! Which addresses a rank offers, and by which of them two ranks meet: functions of lists of addresses.

mod card;
mod filter;
mod reach;
mod subnet;

pub use card::{Card, CardError};
pub(crate) use filter::check;
pub use filter::{Filter, offered};
pub use reach::{Reach, Way, ways};
pub use subnet::Subnet;
