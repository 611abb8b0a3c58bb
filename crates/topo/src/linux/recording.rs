//! [`Recording`]: the files of a recorded machine in one text, small enough for a test or a report.

use super::Files;
use super::files::inside;
use crate::error::SyntaxError;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use oxmpi_text::Span;

/// The longest path, in bytes: three times those of large machines. A short line stands for a whole path, so
/// without a limit a small text could take much memory.
const LONGEST_PATH: usize = 512;

/// The most files and directories: 128 for each of 8,192 processors.
const MOST_ENTRIES: usize = 1 << 20;

/// Files in memory, parsed from a text with these lines:
///
/// | line | is |
/// |---|---|
/// | `/sys/devices` | the path of a file or a directory |
/// | ` online\|0-3` | after a blank the name of an entry of the directory with that path, after a bar the first line of its content |
/// | `\|0-3` | a line of the content of the path or the entry before |
/// | `=8680d357` | bytes of it, in hexadecimal |
///
/// A path or a name may be followed by ` -> ` and the target of a symbolic link. Links are not followed:
/// files behind a link are listed under their own path.
///
/// ```
/// use oxmpi_topo::Machine;
/// use oxmpi_topo::linux::Recording;
///
/// let files = Recording::parse("/sys/devices/system/cpu\n online|0-3\n")?;
/// assert_eq!(Machine::from_linux(&files)?.online().len(), 4);
/// # Ok::<(), oxmpi_topo::SyntaxError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording(BTreeMap<String, Entry>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    content: Vec<u8>,
    link: Option<String>,
}

impl Recording {
    /// Parses the text.
    ///
    /// # Errors
    ///
    /// Points at the first line that has none of these forms, a path of more than 512 bytes, or the
    /// 1,048,577th path.
    ///
    /// # Cost
    ///
    /// Memory for the content and the whole path of each file.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let mut files = Self::default();
        let (mut directory, mut current) = (String::new(), String::new());
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let wrong = |expected| {
                let end = start + line.trim_end_matches('\n').len();
                let cause = oxmpi_text::Error::new(Span { start, end }, expected);
                SyntaxError::in_lines(text, cause)
            };
            let words = line.strip_suffix('\n').unwrap_or(line);
            match (words.as_bytes().first(), words.get(1..)) {
                (None, _) => {}
                (Some(b'/'), _) => {
                    directory = files.add(words).map_err(wrong)?;
                    current.clone_from(&directory);
                }
                (Some(b' '), Some(entry)) if !directory.is_empty() => {
                    let (name, content) = match entry.split_once('|') {
                        Some((name, content)) => (name, Some(content)),
                        None => (entry, None),
                    };
                    current = files.add(&format!("{directory}/{name}")).map_err(wrong)?;
                    files.extend(&current, content.map(str::as_bytes), b"\n");
                }
                (Some(b'|'), Some(content)) if !current.is_empty() => {
                    files.extend(&current, Some(content.as_bytes()), b"\n");
                }
                (Some(b'='), Some(digits)) if !current.is_empty() => {
                    let bytes =
                        bytes(digits).ok_or_else(|| wrong("pairs of hexadecimal digits"))?;
                    files.extend(&current, Some(&bytes), b"");
                }
                _ => return Err(wrong("a path, then names, content or bytes of files")),
            }
            start += line.len();
        }
        Ok(files)
    }

    /// Adds a path with an optional link target; returns the path.
    ///
    /// # Errors
    ///
    /// What is expected, if the path exceeds a limit.
    fn add(&mut self, words: &str) -> Result<String, &'static str> {
        let (path, link) = match words.split_once(" -> ") {
            Some((path, link)) => (path, Some(String::from(link))),
            None => (words, None),
        };
        if path.len() > LONGEST_PATH {
            return Err("a path of at most 512 bytes");
        }
        if self.0.len() == MOST_ENTRIES && !self.0.contains_key(path) {
            return Err("at most 1048576 files and directories");
        }
        let entry = self.0.entry(String::from(path)).or_default();
        entry.link = link.or(entry.link.take());
        Ok(String::from(path))
    }

    fn extend(&mut self, path: &str, content: Option<&[u8]>, end: &[u8]) {
        if let (Some(entry), Some(content)) = (self.0.get_mut(path), content) {
            entry.content.extend_from_slice(content);
            entry.content.extend_from_slice(end);
        }
    }

    /// Every path in order, with its content (empty for directories) and its link target, if it is a link.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8], Option<&str>)> {
        let entries = self.0.iter();
        entries.map(|(path, entry)| (&**path, &*entry.content, entry.link.as_deref()))
    }
}

/// The bytes of pairs of hexadecimal digits.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let digit = |place: usize| char::from(*pair.get(place)?).to_digit(16);
        Some((digit(0)? * 16 + digit(1)?) as u8)
    };
    pairs.map(byte).collect()
}

impl Files for Recording {
    fn read(&self, path: &str) -> Option<String> {
        let entry = self.0.get(path)?;
        Some(String::from_utf8_lossy(&entry.content).into_owned())
    }

    fn list(&self, path: &str) -> Vec<String> {
        inside(&self.0, path)
    }

    fn bytes(&self, path: &str, most: usize) -> Option<Vec<u8>> {
        let mut bytes = self.0.get(path)?.content.clone();
        bytes.truncate(most);
        Some(bytes)
    }

    fn link(&self, path: &str) -> Option<String> {
        self.0.get(path)?.link.clone()
    }
}
