//! The destination of an answer: standard output, or a file that is replaced as a whole.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Where an answer is written.
#[derive(Debug, Default, PartialEq)]
pub(crate) enum Destination {
    /// Standard output.
    #[default]
    Stdout,
    /// A file. An existing file is an error unless `overwrite` is set.
    File { path: PathBuf, overwrite: bool },
}

impl Destination {
    /// The file if there is one, else standard output.
    pub(crate) fn new(file: Option<PathBuf>, overwrite: bool) -> Self {
        match file {
            Some(path) => Self::File { path, overwrite },
            None => Self::Stdout,
        }
    }
}

/// Writes the text to the destination.
///
/// # Errors
/// A sentence with the file's name; the file is then unchanged.
pub(crate) fn write(text: &str, target: &Destination) -> Result<(), String> {
    match target {
        Destination::Stdout => {
            print(text).map_err(|why| format!("standard output: cannot be written: {why}"))?
        }
        Destination::File { path, overwrite } => {
            write_file(text, path, *overwrite).map_err(|why| match why.kind() {
                ErrorKind::AlreadyExists => {
                    format!("{}: exists; --force overwrites it", path.display())
                }
                _ => format!("{}: cannot be written: {why}", path.display()),
            })?;
        }
    }
    Ok(())
}

/// Prints all of the text. A reader that stops early (`| head`) is not an error.
fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    let printed = output.write_all(text.as_bytes());
    match printed.and_then(|()| output.flush()) {
        Err(why) if why.kind() != ErrorKind::BrokenPipe => Err(why),
        _ => Ok(()),
    }
}

/// Writes a temporary file beside the target and renames it, so that no half-written file remains.
fn write_file(text: &str, path: &Path, overwrite: bool) -> io::Result<()> {
    let exists = fs::symlink_metadata(path).ok();
    if exists.is_some() && !overwrite {
        return Err(ErrorKind::AlreadyExists.into());
    }
    if exists.is_some_and(|facts| !facts.is_file()) {
        // A pipe, a device or a link is written, not replaced.
        return OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(path)?
            .write_all(text.as_bytes());
    }
    let beside = beside(path)?;
    let written = File::create_new(&beside)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// A temporary name in the same directory, with this process's id.
///
/// # Errors
/// If the path does not end in a name: `/` or `..`.
pub(crate) fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(ErrorKind::InvalidFilename)?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}", std::process::id()));
    Ok(path.with_file_name(hidden))
}
