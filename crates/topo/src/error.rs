//! What was wrong with a text or a file that describes a machine.

use alloc::string::{String, ToString};
use core::fmt;

/// A text, or a file of a machine, that does not read: which, where in it, and what would have been
/// right. Shown with a caret under the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    file: Option<String>,
    text: String,
    cause: oxmpi_text::Error,
}

impl Error {
    pub(crate) fn new(text: &str, cause: oxmpi_text::Error) -> Self {
        Self {
            file: None,
            text: text.to_string(),
            cause,
        }
    }

    pub(crate) fn in_file(mut self, path: &str) -> Self {
        self.file = Some(path.to_string());
        self
    }

    /// The same, the file being in a directory: a recorded machine's.
    #[cfg(feature = "std")]
    pub(crate) fn below(mut self, directory: &str) -> Self {
        if let Some(file) = &mut self.file {
            file.insert_str(0, directory.trim_end_matches('/'));
        }
        self
    }

    /// The file whose content was wrong, if the text came from one.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The text that was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The place in the text and what was expected there.
    pub fn cause(&self) -> oxmpi_text::Error {
        self.cause
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        write!(f, "{}", self.cause.show(&self.text))
    }
}

impl core::error::Error for Error {}
