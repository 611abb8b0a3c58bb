//! Files and the cache of this machine, for options of the benchmarks that name them.

use std::path::Path;

use oxmpi_bench::OffCache;
use oxmpi_bench::options::System;

use crate::{input_file, machine};

/// Bytes of a cache line if the machine does not say.
const LINE: usize = 64;

/// This machine.
pub(super) struct LocalSystem;

impl System for LocalSystem {
    fn read(&self, path: &str) -> Result<String, String> {
        input_file::text(Path::new(path))
    }

    /// The largest data cache; `None` if the machine cannot be read.
    fn cache(&self) -> Option<OffCache> {
        let machine = machine::local(true).ok()?;
        let largest = machine
            .iter()
            .filter_map(|object| object.cache())
            .max_by_key(|cache| cache.size)?;
        let cache = usize::try_from(largest.size)
            .ok()
            .filter(|size| *size > 0)?;
        let line = largest.line.map_or(LINE, |line| line as usize);
        Some(OffCache { cache, line })
    }
}
