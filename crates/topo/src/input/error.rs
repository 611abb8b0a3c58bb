//! [`InputError`]: why a user's argument does not describe a machine.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;
use std::io;

/// Why a user's argument does not describe a machine. Displayed as one sentence that begins with the
/// argument, with a caret below it for a syntax error.
#[derive(Debug)]
pub struct InputError(Box<Why>);

#[derive(Debug)]
enum Why {
    Unreadable(String, io::Error),
    TooLong(String),
    NoMachine(String),
    NoText(String),
    #[cfg(not(feature = "xml"))]
    WithoutXml(String),
    Neither(io::Error, crate::SyntaxError),
    Wrong(crate::SyntaxError),
}

impl InputError {
    /// A file or directory that cannot be read.
    pub(super) fn unreadable(name: &str, why: io::Error) -> Self {
        Self(Box::new(Why::Unreadable(name.to_string(), why)))
    }

    /// A text of more than [`LONGEST_TEXT`](super::LONGEST_TEXT).
    pub(super) fn too_long(name: &str) -> Self {
        Self(Box::new(Why::TooLong(name.to_string())))
    }

    /// A directory that does not describe a machine.
    pub(super) fn no_machine(name: &str) -> Self {
        Self(Box::new(Why::NoMachine(name.to_string())))
    }

    /// A text of an unknown form.
    pub(super) fn no_text(name: &str) -> Self {
        Self(Box::new(Why::NoText(name.to_string())))
    }

    /// XML, in a build without the feature `xml`.
    #[cfg(not(feature = "xml"))]
    pub(super) fn without_xml(name: &str) -> Self {
        Self(Box::new(Why::WithoutXml(name.to_string())))
    }

    /// A missing file whose name is no synthetic string either: the system's error, and the syntax error.
    pub(super) fn neither(why: io::Error, error: crate::SyntaxError) -> Self {
        Self(Box::new(Why::Neither(why, error)))
    }

    /// A text with a syntax error.
    pub(super) fn wrong(error: crate::SyntaxError) -> Self {
        Self(Box::new(Why::Wrong(error)))
    }

    /// The syntax error, if that is the reason.
    pub fn in_text(&self) -> Option<&crate::SyntaxError> {
        match &*self.0 {
            Why::Neither(_, error) | Why::Wrong(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Why::Unreadable(name, why) => write!(f, "{name}: cannot be read: {why}"),
            Why::TooLong(name) => write!(
                f,
                "{name}: longer than {} MiB, the limit of a description of a machine",
                super::LONGEST_TEXT >> 20
            ),
            Why::NoMachine(name) => write!(
                f,
                "{name}: expected a directory with `proc` and `sys` in it, or with `pu0`, `pu1` and so on"
            ),
            Why::NoText(name) => write!(
                f,
                "{name}: expected hwloc XML, a recording, a cpuinfo file, or one line with a synthetic string"
            ),
            #[cfg(not(feature = "xml"))]
            Why::WithoutXml(name) => write!(
                f,
                "{name}: is XML, but this build does not have the feature `xml`"
            ),
            Why::Neither(why, error) => {
                write!(f, "{}: ", error.text())?;
                match why.kind() {
                    // A long synthetic string is an invalid file name.
                    io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename => {
                        f.write_str("no file or directory")?;
                    }
                    _ => write!(f, "cannot be read ({why})")?,
                }
                write!(f, ", and no synthetic string: {error}")
            }
            Why::Wrong(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for InputError {}
