//! Files and the cache of this machine, for options of the benchmarks that name them.

use std::fs::File;
use std::io::Read;

use oxmpi_bench::OffCache;
use oxmpi_bench::options::System;

use crate::machine;

/// The largest file with a list of names or lengths, in bytes.
const FILE_MAX: u64 = 1 << 20;

/// Bytes of a cache line if the machine does not say.
const LINE: usize = 64;

/// This machine.
pub(super) struct LocalSystem;

impl System for LocalSystem {
    fn read(&self, path: &str) -> Result<String, String> {
        let file = File::open(path).map_err(|why| why.to_string())?;
        let mut text = String::new();
        let length = file.take(FILE_MAX + 1).read_to_string(&mut text);
        match length.map_err(|why| why.to_string())? as u64 {
            0..=FILE_MAX => Ok(text),
            _ => Err(format!("the file is longer than {FILE_MAX} bytes")),
        }
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
        assert!(why.contains("longer than 1048576 bytes"), "{why}");
        assert!(LocalSystem.read("/nowhere/file").is_err());
    }
}
