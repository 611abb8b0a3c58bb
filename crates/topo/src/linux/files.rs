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

    /// The first bytes, at most `most`, of a file that holds no text, such as the configuration space of a PCI
    /// function; `None` if it is not there or cannot be read.
    ///
    /// By default the bytes of [`read`](Self::read), which is right for files that hold text only.
    fn bytes(&self, path: &str, most: usize) -> Option<Vec<u8>> {
        let mut bytes = self.read(path)?.into_bytes();
        bytes.truncate(most);
        Some(bytes)
    }

    /// Where a symbolic link leads to, as it is written in the link: of a device under `/sys/class` that names the
    /// buses it is on. `None` if the path is no link.
    ///
    /// By default there are no links, and so no devices but those on a PCI bus.
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

/// The names of what is directly below `path`, among files with these paths.
pub(super) fn inside<T>(files: &BTreeMap<String, T>, path: &str) -> Vec<String> {
    let path = path.trim_end_matches('/');
    let name = |file: &String| {
        let rest = file.strip_prefix(path)?.strip_prefix('/')?;
        rest.split('/').next().map(String::from)
    };
    let from = files.range(String::from(path)..).map(|(file, _)| file);
    let below = from.take_while(|file| file.starts_with(path));
    let mut names: Vec<String> = below.filter_map(name).collect();
    // `a-b` stands between `a` and `a/b`.
    names.sort_unstable();
    names.dedup();
    names
}
