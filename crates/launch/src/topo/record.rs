//! `oxmpi topo --record`: records this machine for a bug report, without personal data.

mod layout;
mod recorder;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use oxmpi_topo::Machine;
use oxmpi_topo::linux::{Files, Root};

use layout::RecordEntry;
use recorder::FileRecorder;

use super::source;
use crate::destination::{self, Destination};
use crate::diagnostics;

/// The file README of a recording.
const README: &str = "\
A machine as `oxmpi topo --record` found it: the files of /proc and /sys that say how processors,
caches, memory and devices lie, and in `cpuid` what the instruction cpuid answers on each processor.
`oxmpi topo --input DIRECTORY` shows the machine.

Of /proc/self/status, /proc/mounts, /proc/cpuinfo and /run/udev/data only the lines are kept that tell
of processors, control groups and models of disks. ShownPart was listed but not read is an empty directory,
and what holds a serial number is an empty file. Some files name the host, control groups and devices,
and the addresses of network cards: check them before you pass them on.
";

/// Writes a recording of this machine into a new or empty directory, all of it or nothing.
///
/// # Errors
/// A sentence with the file that cannot be written.
pub(super) fn write(directory: &Path) -> Result<(), String> {
    let mut entries = of_system(&Root::live());
    // Whole, because readers of /proc and /sys read only its beginning.
    if let Ok(text) = fs::read("/proc/cpuinfo") {
        let path = "/proc/cpuinfo";
        entries.insert(path.into(), RecordEntry::File(layout::kept(path, &text)));
    }
    match source::dump() {
        Ok(dump) => entries.extend(
            dump.files()
                .map(|(name, text)| (format!("/cpuid/{name}"), RecordEntry::File(text.into()))),
        ),
        Err(why) => diagnostics::error(format_args!("recorded without cpuid: {why}")),
    }
    entries.insert("/README".into(), RecordEntry::File(README.into()));
    let failed = |why: io::Error| match why.kind() {
        ErrorKind::DirectoryNotEmpty => format!("{}: is not empty", directory.display()),
        ErrorKind::InvalidFilename => format!("{}: give a new name", directory.display()),
        ErrorKind::NotADirectory => format!("{}: is a file or a link", directory.display()),
        _ => format!("{}: cannot be written: {why}", directory.display()),
    };
    let files = entries
        .values()
        .filter(|entry| matches!(entry, RecordEntry::File(_)));
    let files = files.count();
    store(&entries, directory).map_err(failed)?;
    let done = format!(
        "{files} files in {}; check them before you pass them on\n",
        directory.display()
    );
    destination::write(&done, &Destination::Stdout)
}

/// The recording of the machine that `files` describe.
fn of_system(files: &impl Files) -> BTreeMap<String, RecordEntry> {
    let recorder = FileRecorder::new(files);
    if let Err(why) = Machine::from_linux(&recorder) {
        // The recording shows the error.
        diagnostics::error(why);
    }
    recorder.read("/proc/cpuinfo");
    layout::entries(&recorder.seen())
}

/// Writes the entries to a temporary directory and renames it.
fn store(entries: &BTreeMap<String, RecordEntry>, directory: &Path) -> io::Result<()> {
    if directory.exists() && fs::read_dir(directory)?.next().is_some() {
        return Err(ErrorKind::DirectoryNotEmpty.into());
    }
    let beside = destination::beside(directory)?;
    fs::create_dir(&beside)?;
    let stored = fill(entries, &beside).and_then(|()| fs::rename(&beside, directory));
    if stored.is_err() {
        let _ = fs::remove_dir_all(&beside);
    }
    stored
}

fn fill(entries: &BTreeMap<String, RecordEntry>, directory: &Path) -> io::Result<()> {
    for (path, entry) in entries {
        let path: PathBuf = directory.join(path.trim_start_matches('/'));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        match entry {
            RecordEntry::Directory => fs::create_dir_all(&path)?,
            RecordEntry::File(content) => fs::write(&path, content)?,
            RecordEntry::Link(target) => symlink(target, &path)?,
        }
    }
    Ok(())
}
