//! [`Root`]: the files of a machine under a directory, `/` for the running machine or one with recorded /proc
//! and /sys.

use super::Files;
use crate::machine::Machine;
use alloc::string::String;
use alloc::vec::Vec;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Files are cut at this number of bytes.
const LONGEST: usize = 1 << 20;

/// Bytes per read: a page, which is the most that most files of /sys have.
const PIECE: usize = 4096;

/// The files of a machine under a directory.
#[derive(Clone, Debug)]
pub struct Root(PathBuf);

impl Root {
    /// The running machine.
    pub fn live() -> Self {
        Self::new("/")
    }

    /// A directory that holds `proc` and `sys` of some machine.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self(directory.into())
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }

    fn content(&self, path: &str, most: usize) -> io::Result<Vec<u8>> {
        let mut file = open(&self.path(path))?;
        let (mut piece, mut bytes) = ([0; PIECE], Vec::new());
        loop {
            let room = (most - bytes.len()).min(PIECE);
            let read = file.read(&mut piece[..room])?;
            bytes.extend_from_slice(&piece[..read]);
            // In /sys, a short read is the end of the file; in /proc, it is the end of a record.
            let is_end = read == 0 || (read < room && !path.starts_with("/proc/"));
            if is_end || bytes.len() == most {
                return Ok(bytes);
            }
        }
    }
}

/// Opens a file without blocking: a recording may have a FIFO in its place, which then reads as empty.
#[cfg(target_os = "linux")]
fn open(path: &Path) -> io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    /// `O_NONBLOCK` in the kernel's include/uapi/asm-generic/fcntl.h and in those of MIPS and SPARC.
    const NONBLOCK: i32 = if cfg!(any(target_arch = "mips", target_arch = "mips64")) {
        0x80
    } else if cfg!(any(target_arch = "sparc", target_arch = "sparc64")) {
        0x4000
    } else {
        0o4000
    };
    fs::OpenOptions::new()
        .read(true)
        .custom_flags(NONBLOCK)
        .open(path)
}

/// Opens a regular file.
#[cfg(not(target_os = "linux"))]
fn open(path: &Path) -> io::Result<fs::File> {
    match fs::metadata(path)?.is_file() {
        true => fs::File::open(path),
        false => Err(io::ErrorKind::InvalidInput.into()),
    }
}

impl Files for Root {
    fn read(&self, path: &str) -> Option<String> {
        let text = String::from_utf8(self.content(path, LONGEST).ok()?);
        Some(text.unwrap_or_else(|wrong| String::from_utf8_lossy(wrong.as_bytes()).into_owned()))
    }

    fn list(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).into_iter().flatten();
        entries
            .take(Machine::MOST_OBJECTS)
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect()
    }

    fn bytes(&self, path: &str, most: usize) -> Option<Vec<u8>> {
        self.content(path, most.min(LONGEST)).ok()
    }

    fn link(&self, path: &str) -> Option<String> {
        let target = fs::read_link(self.path(path)).ok()?;
        target.into_os_string().into_string().ok()
    }
}
