//! Calls the part of oxmpi-bench that needs an allocator.

extern crate alloc;

use alloc::string::String;
use oxmpi_bench::OffCache;
use oxmpi_bench::options::{System, parse};

/// No files, and no knowledge of the cache.
struct Nothing;

impl System for Nothing {
    fn read(&self, _: &str) -> Result<String, String> {
        Err(String::new())
    }

    fn cache(&self) -> Option<OffCache> {
        None
    }
}

pub fn call() -> bool {
    parse(["PingPong"], &Nothing).is_ok()
}
