//! Registered memory.

mod range_cache;
