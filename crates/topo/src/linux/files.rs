//! The files of a machine, wherever they are.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// Read access to the files that describe a machine: the running one, a directory, or memory.
///
/// Paths are absolute, as on the machine itself: `/sys/devices/system/cpu/online`.
pub trait Files {
    /// The content of a file; `None` if it is not there or cannot be read. What is not UTF-8 may be
    /// replaced. A file of more than a mebibyte should be cut: none that matters is so large.
    fn read(&self, path: &str) -> Option<String>;

    /// The names of what is in a directory, in any order; none if it is not there.
    fn list(&self, path: &str) -> Vec<String>;
}

/// Files in memory, by path.
impl Files for BTreeMap<String, String> {
    fn read(&self, path: &str) -> Option<String> {
        self.get(path).cloned()
    }

    fn list(&self, path: &str) -> Vec<String> {
        let inside = |name: &String| {
            let rest = name.strip_prefix(path)?.strip_prefix('/')?;
            rest.split('/').next().map(String::from)
        };
        let from = self.range(String::from(path)..).map(|(name, _)| name);
        let below = from.take_while(|name| name.starts_with(path));
        let mut names: Vec<String> = below.filter_map(inside).collect();
        names.dedup();
        names
    }
}
