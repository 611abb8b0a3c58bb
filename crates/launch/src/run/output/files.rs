//! The files of `--output-filename`: one for each rank.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// A file name with `%r` for the rank and `%h` for the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePattern(OsString);

impl FilePattern {
    /// Reads a pattern. A pattern without `%r` gets the rank at its end: `out` means `out.%r`, `out/` means `out/%r`.
    ///
    /// # Errors
    /// A sentence, if the pattern is empty or has another letter after a percent sign.
    pub(crate) fn parse(pattern: &OsStr) -> Result<Self, String> {
        let mut bytes = pattern.as_bytes().to_vec();
        let mut has_rank = false;
        let mut at = 0;
        while let Some(percent) = bytes[at..].iter().position(|byte| *byte == b'%') {
            at += percent + 2;
            match bytes.get(at - 1) {
                Some(b'r') => has_rank = true,
                Some(b'h' | b'%') => {}
                _ => {
                    return Err(format!(
                        "{pattern:?} has a percent sign without meaning; known are %r (the rank), %h (the host) and %%"
                    ));
                }
            }
        }
        match bytes.last() {
            None => return Err("expected a file name".into()),
            Some(_) if has_rank => {}
            Some(b'/') => bytes.extend_from_slice(b"%r"),
            Some(_) => bytes.extend_from_slice(b".%r"),
        }
        Ok(Self(OsString::from_vec(bytes)))
    }

    /// The file of a rank on `host`.
    pub(super) fn path(&self, rank: u32, host: &str) -> PathBuf {
        let mut path = Vec::new();
        let mut parts = self.0.as_bytes().split(|byte| *byte == b'%');
        path.extend_from_slice(parts.next().unwrap_or_default());
        while let Some(part) = parts.next() {
            match part.split_first() {
                Some((b'r', rest)) => {
                    path.extend_from_slice(rank.to_string().as_bytes());
                    path.extend_from_slice(rest);
                }
                Some((_, rest)) => {
                    path.extend_from_slice(host.as_bytes());
                    path.extend_from_slice(rest);
                }
                // `%%`: what follows the second sign is text.
                None => {
                    path.push(b'%');
                    path.extend_from_slice(parts.next().unwrap_or_default());
                }
            }
        }
        OsString::from_vec(path).into()
    }

    /// Creates the file of a rank, and the folders above it. An existing file loses its content.
    pub(super) fn create(
        &self,
        rank: u32,
        host: &str,
    ) -> Result<(PathBuf, File), (PathBuf, io::Error)> {
        let path = self.path(rank, host);
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let folders = parent.map_or(Ok(()), fs::create_dir_all);
        match folders.and_then(|()| File::create(&path)) {
            Ok(file) => Ok((path, file)),
            Err(error) => Err((path, error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_has_a_file_of_its_own() {
        let cases = [
            ("out", "out.3"),
            ("logs/", "logs/3"),
            ("%r.txt", "3.txt"),
            ("%h/%r-%%r", "node/3-%r"),
            ("100%%", "100%.3"),
            ("%%%r%%", "%3%"),
        ];
        for (pattern, expected) in cases {
            let pattern = FilePattern::parse(pattern.as_ref()).expect(pattern);
            assert_eq!(pattern.path(3, "node"), PathBuf::from(expected));
        }
        for (pattern, says) in [
            ("", "expected a file name"),
            ("a%d", "has a percent sign without meaning"),
            ("%r%", "has a percent sign without meaning"),
        ] {
            let why = FilePattern::parse(pattern.as_ref()).expect_err(pattern);
            assert!(why.contains(says), "{why}");
        }
    }
}
