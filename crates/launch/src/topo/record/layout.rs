//! The entries of a recording: the files read, without lines that do not describe the machine.

use std::collections::BTreeMap;

use super::recorder::{FilesRead, join};

/// One entry of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RecordEntry {
    Directory,
    File(Vec<u8>),
    /// A symbolic link with its target.
    Link(String),
}

/// The entries by absolute path. A path that was listed but not read is an empty directory.
pub(super) fn entries(seen: &FilesRead) -> BTreeMap<String, RecordEntry> {
    let mut entries = BTreeMap::new();
    for (path, content) in &seen.files {
        entries.insert(path.clone(), RecordEntry::File(kept(path, content)));
    }
    for (path, target) in &seen.links {
        entries.insert(path.clone(), RecordEntry::Link(target.clone()));
    }
    for (path, names) in &seen.lists {
        for path in names
            .iter()
            .map(|name| join(path, name))
            .chain([path.clone()])
        {
            entries.entry(path).or_insert(RecordEntry::Directory);
        }
    }
    entries
}

/// The content to keep: of files with users, programs and serial numbers only the lines about the machine.
pub(super) fn kept(path: &str, content: &[u8]) -> Vec<u8> {
    match path {
        "/proc/self/status" => lines(content, |line| {
            line.starts_with("Cpus_allowed") || line.starts_with("Mems_allowed")
        }),
        "/proc/mounts" => lines(content, |line| {
            let kind = line.split(' ').nth(2);
            matches!(kind, Some("cgroup" | "cgroup2" | "cpuset"))
        }),
        "/proc/cpuinfo" => lines(content, |line| !line.starts_with("Serial")),
        _ if path.starts_with("/run/udev/data/") => lines(content, |line| {
            let key = line.split('=').next();
            matches!(
                key,
                Some("E:ID_TYPE" | "E:ID_VENDOR" | "E:ID_MODEL" | "E:ID_REVISION")
            )
        }),
        _ if path.ends_with("/serial") || path.ends_with("/uuid") => Vec::new(),
        _ => content.to_vec(),
    }
}

fn lines(content: &[u8], is_kept: impl Fn(&str) -> bool) -> Vec<u8> {
    let text = String::from_utf8_lossy(content);
    let kept = text.split_inclusive('\n').filter(|line| is_kept(line));
    kept.collect::<String>().into_bytes()
}
