//! Collectives of groups of ranks.

mod calls;
#[path = "../common/mod.rs"]
mod common;
mod failures;
mod oracle;
