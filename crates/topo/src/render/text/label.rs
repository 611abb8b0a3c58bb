//! Prints the label of one object: its kind, number and attributes.

use super::Numbers;
use crate::kind::Kind;
use crate::levels::GroupNumber;
use crate::object::Object;
use core::fmt::{self, Formatter};
use oxmpi_text::Printable;

/// An object as one line shows it: `Package L#0`, `NUMANode(HBM) L#1 (P#4 16GB)`.
pub(super) struct Label<'m> {
    object: Object<'m>,
    numbers: Numbers,
    group: Option<GroupNumber>,
}

impl<'m> Label<'m> {
    pub(super) fn of(object: Object<'m>, numbers: Numbers, group: Option<GroupNumber>) -> Self {
        Self {
            object,
            numbers,
            group,
        }
    }

    /// The short kind: `L1d` for a data cache, groups with the number of their level.
    fn name(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = self.object.kind();
        match (self.object.cache(), kind.cache_level(), self.group) {
            (Some(_), Some(level), _) if kind.holds_instructions_only() => write!(f, "L{level}i")?,
            (Some(cache), Some(level), _) if cache.unified => write!(f, "L{level}")?,
            (Some(_), Some(level), _) => write!(f, "L{level}d")?,
            (_, _, Some(group)) => write!(f, "{kind}{}", group.level)?,
            _ => write!(f, "{kind}")?,
        }
        match self.object.subtype() {
            Some(subtype) => write!(f, "({})", Printable(subtype)),
            None => Ok(()),
        }
    }

    /// The number after the name.
    fn number(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let logical = self
            .group
            .map_or(self.object.logical(), |group| group.logical);
        match (self.numbers, self.object.os()) {
            _ if self.object.kind() == Kind::Machine => Ok(()),
            (Numbers::Both | Numbers::Logical, _) => write!(f, " L#{logical}"),
            (Numbers::Physical, Some(os)) => write!(f, " P#{os}"),
            (Numbers::Physical, None) => Ok(()),
        }
    }

    /// The attributes in parentheses: the system's number beside the logical one, and the size.
    fn attributes(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let object = self.object;
        let is_numbered =
            self.numbers == Numbers::Both && matches!(object.kind(), Kind::Pu | Kind::Numa);
        let os = object.os().filter(|_| is_numbered);
        let memory = object.local_memory().filter(|memory| *memory > 0);
        let size = object.cache().map(|cache| cache.size).or(memory);
        match (os, size.map(Size)) {
            (Some(os), Some(size)) => write!(f, " (P#{os} {size})"),
            (Some(os), None) => write!(f, " (P#{os})"),
            (None, Some(size)) => write!(f, " ({size})"),
            (None, None) => Ok(()),
        }
    }

    fn total(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.object.kind() != Kind::Machine {
            return Ok(());
        }
        match self.object.total_memory() {
            0 => Ok(()),
            bytes => write!(f, " ({} total)", Size(bytes)),
        }
    }
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.name(f)?;
        self.number(f)?;
        self.attributes(f)?;
        self.total(f)
    }
}

/// Bytes in lstopo's units: rounded to the largest power of 1,024 of which there are at least ten, but at
/// least kilobytes.
pub(super) struct Size(pub(super) u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let units = [(10, "KB"), (20, "MB"), (30, "GB"), (40, "TB")];
        let larger = units.iter().rev();
        let (shift, unit) = larger
            .copied()
            .find(|(shift, _)| self.0 >> shift >= 10)
            .unwrap_or(units[0]);
        let halves = self.0 >> (shift - 1);
        write!(f, "{}{unit}", halves.div_ceil(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn sizes_are_in_the_largest_unit_of_which_there_are_ten() {
        let table: [(u64, &str); 10] = [
            (0, "0KB"),
            (511, "0KB"),
            (512, "1KB"),
            (1535, "1KB"),
            (1536, "2KB"),
            ((10 << 20) - 1, "10240KB"),
            (10 << 20, "10MB"),
            (64_000_000_000, "60GB"),
            ((10 << 40) - 1, "10240GB"),
            (u64::MAX, "16777216TB"),
        ];
        for (bytes, text) in table {
            assert_eq!(Size(bytes).to_string(), text, "{bytes} bytes");
        }
    }
}
