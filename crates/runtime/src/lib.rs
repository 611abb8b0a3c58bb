//! Message passing for high-performance computing, in Rust.

mod boot;
mod comm;
mod data;
mod envelope;
mod error;
mod op;
mod raw;
mod request;
mod scope;
pub mod settings;
mod value;
mod world;

pub use comm::{Comm, Message, Owned, SharedComm};
pub use data::Data;
pub use envelope::{Source, Status, Tag};
pub use error::{Error, MAX_TAG, Result};
pub use op::{Element, Fold, Op};
pub use raw::{Access, Own, Shared};
pub use request::{AllEnded, AnyRequest, Ended, Request, Test};
pub use scope::Scope;
pub use value::Value;
pub use world::World;
