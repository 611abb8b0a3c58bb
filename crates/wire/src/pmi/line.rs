//! One line of PMI-1: `cmd=NAME key=value key=value`, ended by a newline.
//!
//! Fields are separated by blanks. Newer servers put a backslash before a blank that belongs to
//! a value; older ones know no escapes. Reading accepts both, writing needs none: what would
//! have to be escaped is refused by [`check_text`], because an older server would cut it.

use core::fmt::{self, Write};

use super::LINE_MAX;

/// The beginning of a wrong text, for an error message.
///
/// Bytes that are not printable ASCII appear as `?`; `...` stands for the rest.
#[derive(Clone, PartialEq, Eq)]
pub struct Excerpt(heapless::String<{ Excerpt::KEEP + 3 }>);

impl Excerpt {
    const KEEP: usize = 60;

    /// Copies the beginning of `bytes`, without a final newline.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let mut kept = heapless::String::new();
        for byte in bytes.iter().take(Self::KEEP) {
            let shown = if byte.is_ascii_graphic() || *byte == b' ' {
                char::from(*byte)
            } else {
                '?'
            };
            // Cannot fail: the capacity is `KEEP` and three dots.
            let _ = kept.push(shown);
        }
        if bytes.len() > Self::KEEP {
            let _ = kept.push_str("...");
        }
        Self(kept)
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0)
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why bytes are not a line of PMI-1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// No newline within [`LINE_MAX`] bytes.
    #[error("a PMI line has more than {LINE_MAX} bytes: {0}")]
    TooLong(Excerpt),
    /// The line is not UTF-8.
    #[error("a PMI line is not text: {0}")]
    NotText(Excerpt),
    /// The line does not begin with `cmd=`.
    #[error("a PMI line must begin with `cmd=NAME`, this one is {0}")]
    NoCommand(Excerpt),
}

/// Why a text cannot be the value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadText {
    /// Empty values cannot be told from missing ones.
    #[error("is empty")]
    Empty,
    /// Longer than the server accepts.
    #[error("has {len} bytes, the process manager accepts {max}")]
    TooLong {
        /// Its length in bytes.
        len: usize,
        /// The longest allowed, in bytes.
        max: usize,
    },
    /// A blank, a backslash, a control character or something outside ASCII.
    #[error(
        "has the byte {byte:#04x} at {at}, only printable ASCII without blanks and backslashes travels safely"
    )]
    Byte {
        /// Its offset.
        at: usize,
        /// The byte.
        byte: u8,
    },
}

/// Checks that every server transmits `text` unchanged as the value of a field, and that it has at most `max`
/// bytes.
///
/// # Errors
/// When it is empty, too long, or holds a byte that some server would cut or change.
pub fn check_text(text: &str, max: usize) -> Result<(), BadText> {
    if text.is_empty() {
        return Err(BadText::Empty);
    }
    if text.len() > max {
        return Err(BadText::TooLong {
            len: text.len(),
            max,
        });
    }
    match text
        .bytes()
        .position(|byte| !byte.is_ascii_graphic() || byte == b'\\')
    {
        Some(at) => Err(BadText::Byte {
            at,
            byte: text.as_bytes()[at],
        }),
        None => Ok(()),
    }
}

/// Writes one line with its newline. The caller has checked every value with [`check_text`].
///
/// # Errors
/// When `out` is full.
pub fn write_line(
    out: &mut impl Write,
    command: &str,
    fields: &[(&str, &dyn fmt::Display)],
) -> fmt::Result {
    write!(out, "cmd={command}")?;
    for (key, value) in fields {
        write!(out, " {key}={value}")?;
    }
    out.write_char('\n')
}

/// A line, read: the command and its fields, borrowed from the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    text: &'a str,
    command: &'a str,
}

impl<'a> Line<'a> {
    /// Parses `bytes`, a line with or without its newline.
    ///
    /// # Errors
    /// If it is not UTF-8 or does not begin with a command.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, LineError> {
        let text =
            core::str::from_utf8(bytes).map_err(|_| LineError::NotText(Excerpt::new(bytes)))?;
        let text = text.trim_end_matches(['\n', '\r']);
        match fields(text).next() {
            Some(("cmd", command)) if !command.is_empty() => Ok(Self { text, command }),
            _ => Err(LineError::NoCommand(Excerpt::new(bytes))),
        }
    }

    /// The command's name.
    #[must_use]
    pub fn command(&self) -> &'a str {
        self.command
    }

    /// The whole line without its newline.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The value of the first field named `key`, escapes still in it ([`unescape`] removes them).
    /// An empty value counts as missing.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&'a str> {
        let (_, value) = fields(self.text).find(|(name, _)| *name == key)?;
        Some(value).filter(|value| !value.is_empty())
    }

    /// The value of `key` as a number; `None` when it is missing or no number of this type.
    #[must_use]
    pub fn number<N: core::str::FromStr>(&self, key: &str) -> Option<N> {
        self.value(key)?.parse().ok()
    }
}

/// The fields of a line in order. A word without `=` gives an empty value.
fn fields(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    core::iter::from_fn(move || {
        rest = rest.trim_start_matches(' ');
        if rest.is_empty() {
            return None;
        }
        let (word, after) = rest.split_at(word_len(rest));
        rest = after;
        Some(word.split_once('=').unwrap_or((word, "")))
    })
}

/// The length in bytes of the word that `text` begins with: up to a blank without a backslash.
fn word_len(text: &str) -> usize {
    let mut escaped = false;
    text.bytes()
        .position(|byte| {
            let ends = byte == b' ' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        })
        .unwrap_or(text.len())
}

/// The characters of a value without escaping backslashes.
pub fn unescape(value: &str) -> impl Iterator<Item = char> {
    let mut chars = value.chars();
    core::iter::from_fn(move || match chars.next() {
        Some('\\') => chars.next().or(Some('\\')),
        other => other,
    })
}

/// Collects the bytes of a stream into lines, one at a time.
#[derive(Debug, Default)]
pub struct LineReader {
    bytes: heapless::Vec<u8, LINE_MAX>,
    complete: bool,
}

impl LineReader {
    /// An empty reader.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            bytes: heapless::Vec::new(),
            complete: false,
        }
    }

    /// Takes bytes up to and including the next newline, and returns the rest. `None`: all were taken, and
    /// the line is not complete yet. Discards a line that was complete before.
    ///
    /// # Errors
    /// If the line is longer than [`LINE_MAX`]; then the reader is empty.
    pub fn push<'b>(&mut self, bytes: &'b [u8]) -> Result<Option<&'b [u8]>, LineError> {
        if self.complete {
            self.clear();
        }
        let end = bytes
            .iter()
            .position(|byte| *byte == b'\n')
            .map(|at| at + 1);
        let (taken, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
        if self.bytes.extend_from_slice(taken).is_err() {
            let start = if self.bytes.is_empty() {
                taken
            } else {
                &self.bytes
            };
            let error = LineError::TooLong(Excerpt::new(start));
            self.clear();
            return Err(error);
        }
        self.complete = end.is_some();
        Ok(end.map(|_| rest))
    }

    /// The bytes of the line so far; complete after [`push`](Self::push) returned `Some`.
    #[must_use]
    pub fn line(&self) -> &[u8] {
        &self.bytes
    }

    /// Discards the line.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.complete = false;
    }
}
