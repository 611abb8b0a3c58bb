//! Parses and prints sets as the kernel's lists (`0-3,8`) and masks (`0000ffff,ffffffff`).

use super::{BITS, CpuSet};
use crate::error::SyntaxError;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use oxmpi_text::{Expected, NumberList, Ranges, Scanner, Span};

/// The largest number in a list that parses: `0-4000000000` would take half a gigabyte.
///
/// Sets made in other ways have no such limit. Linux's own limit is 8,191.
pub const LARGEST_IN_LIST: usize = 1_048_575;

impl CpuSet {
    /// Parses the kernel's list form: numbers and ranges with commas between them, `0-3,8`, also with a step,
    /// `0-14:2`. Blanks around the list are ignored; an empty list is the empty set.
    ///
    /// # Errors
    ///
    /// Points at the first unexpected character, a range whose end is below its start, or a number above
    /// [`LARGEST_IN_LIST`].
    pub fn parse_list(text: &str) -> Result<Self, SyntaxError> {
        list(text).map_err(|cause| SyntaxError::new(text, cause))
    }

    /// Parses a mask: hexadecimal digits, largest numbers first, as the kernel writes them
    /// (`0000ffff,ffffffff`: 32 numbers to a group), as hwloc does (`0x0000ffff,0xffffffff`), or without
    /// groups (`0xffff`). An empty group is zero. Blanks around the mask are ignored.
    ///
    /// # Errors
    ///
    /// Points at the first unexpected character, or a group of more than eight digits among several groups.
    pub fn parse_mask(text: &str) -> Result<Self, SyntaxError> {
        mask(text).map_err(|cause| SyntaxError::new(text, cause))
    }

    /// The set as a mask in groups of 32 numbers, largest first: `0000ffff,ffffffff` as the kernel writes it
    /// with `{}`, `0x0000ffff,0xffffffff` as hwloc does with `{:#}`. hwloc leaves empty groups blank, except
    /// the last, which is `0x0`.
    pub fn mask(&self) -> Mask<'_> {
        Mask(self)
    }
}

fn list(text: &str) -> Result<CpuSet, oxmpi_text::Error> {
    let mut set = CpuSet::new();
    let entries = text.trim();
    if entries.is_empty() {
        return Ok(set);
    }
    let from = text.len() - text.trim_start().len();
    for range in Ranges::new(entries) {
        let range = range.map_err(|error| error.moved(from))?;
        if range.last as usize > LARGEST_IN_LIST {
            let entries = Span {
                start: from,
                end: from + entries.len(),
            };
            return Err(oxmpi_text::Error::new(
                entries,
                "numbers of at most 1048575",
            ));
        }
        match range.step {
            1 => set.insert_range(range.first as usize, range.last as usize + 1),
            _ => set.extend(range.into_iter().map(|number| number as usize)),
        }
    }
    Ok(set)
}

fn mask(text: &str) -> Result<CpuSet, oxmpi_text::Error> {
    let number = |digits: &[u8]| {
        let values = digits
            .iter()
            .filter_map(|digit| char::from(*digit).to_digit(16));
        values.fold(0, |sum, value| sum << 4 | u64::from(value))
    };
    let mut groups: Vec<u64> = Vec::new(); // of 32 numbers each, largest first
    let mut scanner = Scanner::new(text);
    scanner.skip_blanks();
    loop {
        if scanner.rest().starts_with("0x") {
            scanner.eat('0');
            scanner.eat('x');
        }
        let group = scanner.take_while(|c| c.is_ascii_hexdigit());
        let alone = groups.is_empty() && scanner.peek() != Some(',');
        if alone && group.text.is_empty() {
            return Err(scanner.wrong(Expected::Text("a hexadecimal mask")));
        }
        if !alone && group.text.len() > 8 {
            return Err(group.error("at most eight hexadecimal digits between commas"));
        }
        let at = groups.len();
        groups.extend(group.text.as_bytes().rchunks(8).map(number));
        groups[at..].reverse();
        if group.text.is_empty() {
            groups.push(0);
        }
        if !scanner.eat(',') {
            break;
        }
    }
    scanner.skip_blanks();
    scanner.end("a hexadecimal digit, a comma or the end of the mask")?;
    let words = groups.rchunks(BITS / 32);
    let word = |groups: &[u64]| groups.iter().fold(0, |sum, group| sum << 32 | group);
    Ok(CpuSet::from_words(words.map(word).collect()))
}

/// Parses a list, see [`CpuSet::parse_list`].
impl FromStr for CpuSet {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        Self::parse_list(text)
    }
}

/// Writes the kernel's list form: `0-3,8`; nothing for the empty set.
impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        NumberList(self.iter().map(|number| number as u32)).fmt(f)
    }
}

/// A set written as a mask; made by [`CpuSet::mask`].
#[derive(Clone, Copy, Debug)]
pub struct Mask<'a>(&'a CpuSet);

impl fmt::Display for Mask<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let halves = |word: &u64| [(word >> 32) as u32, *word as u32];
        let groups = self.0.words().iter().rev().flat_map(halves);
        let mut groups = groups.skip_while(|group| *group == 0).peekable();
        let first = groups.next().unwrap_or(0);
        if !f.alternate() {
            write!(f, "{first:08x}")?;
            return groups.try_for_each(|group| write!(f, ",{group:08x}"));
        }
        match first {
            0 => f.write_str("0x0")?,
            first => write!(f, "{first:#010x}")?,
        }
        while let Some(group) = groups.next() {
            match (group, groups.peek()) {
                (0, Some(_)) => f.write_str(",")?,
                (0, None) => f.write_str(",0x0")?,
                _ => write!(f, ",{group:#010x}")?,
            }
        }
        Ok(())
    }
}
