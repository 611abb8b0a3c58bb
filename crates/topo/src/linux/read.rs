//! [`Reader`]: parses the contents of files of /proc and /sys: sets, numbers, sizes, words.

use super::Files;
use crate::cpuset::CpuSet;
use crate::error::SyntaxError;
use crate::machine::Machine;
use alloc::string::String;
use alloc::vec::Vec;
use oxmpi_text::{Span, whole};

/// Parses the files of a machine. Everywhere, `None` means that the file is missing or empty.
pub(super) struct Reader<'a, F>(&'a F);

impl<'a, F: Files> Reader<'a, F> {
    pub(super) fn new(files: &'a F) -> Self {
        Self(files)
    }

    /// The content without blanks around it, up to the first zero byte (some recordings have one).
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let content = self.0.read(path)?;
        let text = content.split('\0').next().unwrap_or("").trim();
        (!text.is_empty()).then(|| text.into())
    }

    /// A set written as a list.
    pub(super) fn list(&self, path: &str) -> Result<Option<CpuSet>, SyntaxError> {
        let set = self
            .text(path)
            .map(|text| within_limit(&text, CpuSet::parse_list(&text)));
        set.transpose().map_err(|error| error.in_file(path))
    }

    /// A set written as a mask.
    pub(super) fn mask(&self, path: &str) -> Result<Option<CpuSet>, SyntaxError> {
        let set = self
            .text(path)
            .map(|text| within_limit(&text, CpuSet::parse_mask(&text)));
        set.transpose().map_err(|error| error.in_file(path))
    }

    /// A whole number; `None` also for a negative one, which means "unknown".
    pub(super) fn number(&self, path: &str) -> Result<Option<u32>, SyntaxError> {
        let text = self.text(path).filter(|text| !text.starts_with('-'));
        let number = |text: String| {
            whole(&text, 0..=u64::from(u32::MAX), "a whole number below 2^32")
                .map(|number| number as u32)
                .map_err(|cause| SyntaxError::new(&text, cause).in_file(path))
        };
        text.map(number).transpose()
    }

    /// A number in hexadecimal digits with the prefix `0x`.
    pub(super) fn hexadecimal<N: TryFrom<u64>>(
        &self,
        path: &str,
    ) -> Result<Option<N>, SyntaxError> {
        let number = |text: String| {
            let digits = text.strip_prefix("0x").unwrap_or(&text);
            let number = u64::from_str_radix(digits, 16).ok();
            let number = number.and_then(|number| N::try_from(number).ok());
            number.ok_or_else(|| {
                let expected = "a hexadecimal number that is not too large for its purpose";
                let cause = oxmpi_text::Error::new(Span::whole(&text), expected);
                SyntaxError::new(&text, cause).in_file(path)
            })
        };
        self.text(path).map(number).transpose()
    }

    /// The first bytes of a binary file.
    pub(super) fn bytes(&self, path: &str, most: usize) -> Option<Vec<u8>> {
        self.0.bytes(path, most)
    }

    /// A number of bytes such as `32K`.
    pub(super) fn size(&self, path: &str) -> Result<Option<u64>, SyntaxError> {
        let wrong = |text: &str, cause| SyntaxError::new(text, cause).in_file(path);
        let size = |text: String| oxmpi_text::size(&text).map_err(|cause| wrong(&text, cause));
        self.text(path).map(size).transpose()
    }

    /// The bytes of the line `MemTotal: 1024 kB` of a meminfo file.
    pub(super) fn memory(&self, path: &str) -> Result<Option<u64>, SyntaxError> {
        let Some(text) = self.text(path) else {
            return Ok(None);
        };
        let Some((_, total)) = text.split_once("MemTotal:") else {
            return Ok(None);
        };
        let total = total.lines().next().unwrap_or("").trim();
        let kilobytes = total.strip_suffix("kB").unwrap_or(total).trim();
        whole(kilobytes, 0..=u64::MAX >> 10, "a number of kB")
            .map(|kilobytes| Some(kilobytes << 10))
            .map_err(|cause| SyntaxError::new(kilobytes, cause).in_file(path))
    }

    /// The names of the entries of a directory, in order.
    pub(super) fn names(&self, directory: &str) -> Vec<String> {
        let mut names = self.0.list(directory);
        names.sort_unstable();
        names
    }

    /// The target of a symbolic link.
    pub(super) fn link(&self, path: &str) -> Option<String> {
        self.0.link(path)
    }

    /// The numbers `n` of the entries `{stem}n` of a directory, in ascending order.
    pub(super) fn numbered(&self, directory: &str, stem: &str) -> Vec<usize> {
        let names = self.0.list(directory);
        let number = |name: &String| name.strip_prefix(stem)?.parse().ok();
        let mut numbers: Vec<usize> = names.iter().filter_map(number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

fn within_limit(text: &str, set: Result<CpuSet, SyntaxError>) -> Result<CpuSet, SyntaxError> {
    let set = set?;
    match set.last() {
        Some(last) if last > Machine::LARGEST_CPU => {
            let cause = oxmpi_text::Error::new(Span::whole(text), "processors up to 8191");
            Err(SyntaxError::new(text, cause))
        }
        _ => Ok(set),
    }
}
