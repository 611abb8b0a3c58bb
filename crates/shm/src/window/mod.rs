//! What ranks of a node reach of each other's windows without the owner's help: the memory ([`WindowMemory`]), and its locks
//! and what is attached to it ([`WindowWords`]).
//!
//! A rank that makes a window says where both are ([`WindowPlace`]). The others reach memory of the heap by loads and stores,
//! private memory by process_vm_readv and process_vm_writev where the system lets them.

mod memory;
mod place;
mod words;

pub use self::memory::{MOST_RUNS, Unreached, WindowMemory, each_run};
pub use self::place::WindowPlace;
pub use self::words::{ATTACHED_LATER, WindowWords};
pub use crate::ring::{LockKind, MOST_WAITING, NotAttached, WindowLocks};
