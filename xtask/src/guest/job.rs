//! The job of a guest, packed as its first root file system.

use super::cpio::Archive;
use crate::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The script of process 1.
const INIT: &str = include_str!("init.sh");

/// Commands, and the files they need.
#[derive(Debug)]
pub(crate) struct Job {
    /// Commands for busybox's shell, run as root in `/job`. Their status is the job's; files in `/out` are
    /// copied to the host.
    pub(crate) script: String,
    /// Files of the host that the guest finds in `/job` under their names; a dynamically linked program
    /// brings its libraries.
    pub(crate) files: Vec<PathBuf>,
    /// Files of the host, each with its path in the guest.
    pub(crate) placed: Vec<(PathBuf, String)>,
    /// A folder whose files the guest finds at their places below `/`, where its programs look for libraries first.
    pub(crate) tree: Option<PathBuf>,
}

impl Job {
    /// The archive of the root: busybox, process 1 and this job.
    ///
    /// # Errors
    /// When a file cannot be read or has no name.
    pub(super) fn root(&self, busybox: &Path) -> Result<Vec<u8>> {
        let mut root = Archive::default();
        for folder in ["dev", "proc", "sys", "tmp", "out"] {
            root.folder(folder);
        }
        root.file("init", INIT.into(), true);
        root.file("bin/busybox", read(busybox)?, true);
        root.file("job/run", self.script.clone().into(), false);
        for file in &self.files {
            let name = file
                .file_name()
                .and_then(|name| name.to_str())
                .ok_or_else(|| format!("{}: no file name", file.display()))?;
            add(&mut root, file, &format!("job/{name}"))?;
        }
        for (file, path) in &self.placed {
            add(&mut root, file, path)?;
        }
        if let Some(tree) = &self.tree {
            add_tree(&mut root, tree, tree)?;
        }
        Ok(root.bytes())
    }
}

/// Adds the files of a folder, and those libraries of the host that they are linked with.
fn add_tree(root: &mut Archive, tree: &Path, folder: &Path) -> Result {
    for entry in std::fs::read_dir(folder)? {
        let file = entry?.path();
        if file.is_dir() {
            add_tree(root, tree, &file)?;
            continue;
        }
        // A link to what the folder lacks.
        if !file.exists() {
            continue;
        }
        let inside = file.strip_prefix(tree)?.display().to_string();
        root.file(&inside, read(&file)?, true);
        let own = tree.join(format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH));
        // A part that needs a library which neither has is loaded by a program that has it, or by none.
        for library in libraries(&file, Some(&own)).unwrap_or_default() {
            if !Path::new(&library).starts_with(tree) {
                root.file(&library, read(Path::new(&library))?, true);
            }
        }
    }
    Ok(())
}

/// Adds a file as `path`, and the libraries it is linked with.
fn add(root: &mut Archive, file: &Path, path: &str) -> Result {
    root.file(path, read(file)?, true);
    for library in libraries(file, None)? {
        root.file(&library, read(Path::new(&library))?, true);
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Paths of the libraries a program is linked with, which are looked for in a folder first; none for other files.
fn libraries(file: &Path, first: Option<&Path>) -> Result<Vec<String>> {
    let mut ldd = Command::new("ldd");
    if let Some(first) = first {
        ldd.env("LD_LIBRARY_PATH", first);
    }
    let output = ldd.arg(file).output()?;
    listed(&String::from_utf8_lossy(&output.stdout))
        .map_err(|library| format!("{}: its {library} is not here", file.display()).into())
}

/// The paths in ldd's output, or the name of a library that was not found.
fn listed(text: &str) -> std::result::Result<Vec<String>, &str> {
    let lines = text.lines().map(str::trim);
    let paths = lines.filter_map(|line| {
        let (name, found) = line.split_once(" => ").unwrap_or(("", line));
        if found == "not found" {
            return Some(Err(name));
        }
        let path = found.split_once(" (")?.0;
        path.starts_with('/').then(|| Ok(path.to_owned()))
    });
    paths.collect()
}

#[cfg(test)]
mod tests {
    //! Tests of the parser of ldd's output.

    use super::listed;

    #[test]
    fn libraries_are_read_with_the_loader_and_without_the_kernels() {
        let text = "\tlinux-vdso.so.1 (0x00007ffd1)\n\
                    \tlibgcc_s.so.1 => /lib/x/libgcc_s.so.1 (0x00007f1)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x00007f2)\n";
        let paths = ["/lib/x/libgcc_s.so.1", "/lib64/ld-linux-x86-64.so.2"];
        assert_eq!(listed(text), Ok(paths.map(String::from).into()));
    }

    #[test]
    fn what_is_not_dynamic_has_none() {
        assert_eq!(listed("\tstatically linked\n"), Ok(Vec::new()));
        assert_eq!(listed(""), Ok(Vec::new()));
    }

    #[test]
    fn a_library_that_is_not_here_is_named() {
        assert_eq!(listed("\tlibx.so.1 => not found\n"), Err("libx.so.1"));
    }
}
