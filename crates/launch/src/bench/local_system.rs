//! Files and the cache of this machine, for options of the benchmarks that name them.

use oxmpi_bench::OffCache;
use oxmpi_bench::options::System;
use oxmpi_os::file::{HANDWRITTEN_MAX, read_text};

use crate::machine;

/// Bytes of a cache line if the machine does not say.
const LINE: usize = 64;

/// This machine.
pub(super) struct LocalSystem;

impl System for LocalSystem {
    fn read(&self, path: &str) -> Result<String, String> {
        read_text(path, HANDWRITTEN_MAX).map_err(|why| why.to_string())
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

#[cfg(test)]
mod tests {
    use super::LocalSystem;
    use oxmpi_bench::options::System;

    #[test]
    fn an_endless_file_is_refused() {
        let why = LocalSystem.read("/dev/zero").unwrap_err();
        assert!(why.contains("longer than 1 MiB"), "{why}");
        assert!(LocalSystem.read("/nowhere/file").is_err());
    }
}
