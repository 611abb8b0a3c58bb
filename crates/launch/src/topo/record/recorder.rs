//! Records every file, directory and link that a reader of /proc and /sys reads.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use oxmpi_topo::linux::Files;

/// Files that record what is read.
pub(super) struct FileRecorder<'a, F> {
    files: &'a F,
    seen: RefCell<FilesRead>,
}

/// What was read, by absolute path without links.
#[derive(Debug, Default)]
pub(super) struct FilesRead {
    /// The longest content read of each file.
    pub(super) files: BTreeMap<String, Vec<u8>>,
    /// Directories that were listed, and the names in them.
    pub(super) lists: BTreeMap<String, Vec<String>>,
    /// Targets of symbolic links: links that were read, links on the paths to other files, and links in directories.
    pub(super) links: BTreeMap<String, String>,
    /// Paths that are no links.
    plain: BTreeSet<String>,
}

/// The largest number of links on a path, as in Linux.
const MOST_LINKS: usize = 40;

impl<'a, F: Files> FileRecorder<'a, F> {
    pub(super) fn new(files: &'a F) -> Self {
        Self {
            files,
            seen: RefCell::default(),
        }
    }

    /// Everything that was read.
    pub(super) fn seen(self) -> FilesRead {
        self.seen.into_inner()
    }
}

impl FilesRead {
    /// The path without links; records each link. `None` if links form a circle or leave the root.
    pub(super) fn follow(&mut self, files: &impl Files, path: &str) -> Option<String> {
        let mut real = String::new();
        let mut rest: Vec<String> = Vec::new();
        let push = |rest: &mut Vec<String>, path: &str| {
            let parts = path.split('/').rev();
            rest.extend(
                parts
                    .filter(|part| !matches!(*part, "" | "."))
                    .map(String::from),
            );
        };
        push(&mut rest, path);
        let mut followed = 0;
        while let Some(part) = rest.pop() {
            if part == ".." {
                real.truncate(real.rfind('/')?);
                continue;
            }
            let next = join(&real, &part);
            match self.link(files, &next) {
                Some(_) if followed == MOST_LINKS => return None,
                Some(target) => push(&mut rest, &target),
                None => {
                    real = next;
                    continue;
                }
            }
            followed += 1;
        }
        Some(real)
    }

    /// The target of a link. Links in /proc, which contain process ids, and absolute links are ignored.
    fn link(&mut self, files: &impl Files, path: &str) -> Option<String> {
        if self.plain.contains(path) || !path.starts_with("/sys/") {
            return None;
        }
        if let Some(target) = self.links.get(path) {
            return Some(target.clone());
        }
        let target = files.link(path).filter(|target| !target.starts_with('/'));
        match &target {
            Some(target) => drop(self.links.insert(path.into(), target.clone())),
            None => drop(self.plain.insert(path.into())),
        }
        target
    }
}

/// The path of an entry of a directory.
pub(super) fn join(directory: &str, name: &str) -> String {
    format!("{}/{name}", directory.trim_end_matches('/'))
}

impl<F: Files> Files for FileRecorder<'_, F> {
    fn read(&self, path: &str) -> Option<String> {
        let content = self.files.read(path)?;
        let mut seen = self.seen.borrow_mut();
        if let Some(path) = seen.follow(self.files, path) {
            seen.files.insert(path, content.clone().into_bytes());
        }
        Some(content)
    }

    fn list(&self, path: &str) -> Vec<String> {
        let names = self.files.list(path);
        let mut seen = self.seen.borrow_mut();
        if let Some(path) = seen.follow(self.files, path).filter(|_| !names.is_empty()) {
            for name in &names {
                seen.link(self.files, &join(&path, name));
            }
            seen.lists.insert(path, names.clone());
        }
        names
    }

    fn bytes(&self, path: &str, most: usize) -> Option<Vec<u8>> {
        let content = self.files.bytes(path, most)?;
        let mut seen = self.seen.borrow_mut();
        if let Some(path) = seen.follow(self.files, path) {
            let kept = seen.files.entry(path).or_default();
            if kept.len() < content.len() {
                kept.clone_from(&content);
            }
        }
        Some(content)
    }

    fn link(&self, path: &str) -> Option<String> {
        self.seen.borrow_mut().follow(self.files, path);
        self.files.link(path)
    }
}
