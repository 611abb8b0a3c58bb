//! Collectives of groups of ranks.

mod calls;
mod failures;
mod oracle;
mod resumed;
