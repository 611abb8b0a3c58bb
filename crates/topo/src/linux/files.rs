//! [`Files`]: read access to the files of a running or recorded machine.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// Read access to the files that describe a machine: the running one, a directory, or memory.
///
/// Paths are absolute, as on the machine itself: `/sys/devices/system/cpu/online`.
pub trait Files {
    /// The content of a file; `None` if it is missing or cannot be read. Bytes that are not UTF-8 may be
    /// replaced. Files of more than a mebibyte should be cut: none that matters is so large.
    fn read(&self, path: &str) -> Option<String>;

    /// The names of a directory's entries, in any order; none if it is missing.
    fn list(&self, path: &str) -> Vec<String>;

    /// The first bytes, at most `most`, of a binary file such as the configuration space of a PCI function;
    /// `None` if it is missing or cannot be read.
    ///
    /// By default the bytes of [`read`](Self::read), which is right if all files are text.
    fn bytes(&self, path: &str, most: usize) -> Option<Vec<u8>> {
        let mut bytes = self.read(path)?.into_bytes();
        bytes.truncate(most);
        Some(bytes)
    }

    /// The target of a symbolic link, as written in the link; links of devices under `/sys/class` name their
    /// buses. `None` if the path is no link.
    ///
    /// By default there are no links, and so only devices on a PCI bus.
    fn link(&self, _path: &str) -> Option<String> {
        None
    }
}

/// Files in memory, by path; without links.
impl Files for BTreeMap<String, String> {
    fn read(&self, path: &str) -> Option<String> {
        self.get(path).cloned()
    }

    fn list(&self, path: &str) -> Vec<String> {
        inside(self, path)
    }
}

/// The names directly below `path` among the paths of `files`.
pub(super) fn inside<T>(files: &BTreeMap<String, T>, path: &str) -> Vec<String> {
    let path = path.trim_end_matches('/');
    let name = |file: &String| {
        let rest = file.strip_prefix(path)?.strip_prefix('/')?;
        rest.split('/').next().map(String::from)
    };
    let from = files.range(String::from(path)..).map(|(file, _)| file);
    let below = from.take_while(|file| file.starts_with(path));
    let mut names: Vec<String> = below.filter_map(name).collect();
    // Sorts again: `a-b` is between `a` and `a/b`.
    names.sort_unstable();
    names.dedup();
    names
}
