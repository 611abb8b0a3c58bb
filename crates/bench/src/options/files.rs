//! The files of `-input` and `-msglen`: one entry a line, `#` begins a comment, empty lines are none.

use super::values::{LONGEST, Value};
use super::{FileLine, OptionError, System, names};
use crate::Part;
use crate::lengths::Lengths;
use crate::suite::Benchmark;
use alloc::string::ToString;
use alloc::vec::Vec;

/// The entries of the value's file, each as `read` understands it.
fn entries<T>(
    value: &Value<'_>,
    system: &dyn System,
    rule: &'static str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, OptionError> {
    let (option, path) = (value.option, || value.text.to_string());
    let text = system.read(value.text).map_err(|why| OptionError::Unread {
        option,
        path: path(),
        why,
    })?;
    let mut entries = Vec::new();
    for (before, line) in text.lines().enumerate() {
        let entry = line.split('#').next().unwrap_or_default().trim();
        if entry.is_empty() {
            continue;
        }
        entries.push(read(entry).ok_or_else(|| OptionError::Line {
            place: FileLine {
                path: path(),
                line: before + 1,
            },
            text: entry.to_string(),
            rule,
        })?);
    }
    if entries.is_empty() {
        return Err(OptionError::Empty {
            option,
            path: path(),
        });
    }
    Ok(entries)
}

/// Adds the benchmarks of `-input`.
pub(super) fn names(
    part: Part,
    value: &Value<'_>,
    system: &dyn System,
    into: &mut Vec<Benchmark>,
) -> Result<(), OptionError> {
    let rule = "the name of one benchmark (-h lists them)";
    into.extend(entries(value, system, rule, |name| names::one(part, name))?);
    Ok(())
}

/// The lengths of `-msglen`.
pub(super) fn lengths(value: &Value<'_>, system: &dyn System) -> Result<Lengths, OptionError> {
    let rule = "a whole number of bytes from 0 to 1073741824";
    let length = |text: &str| text.parse().ok().filter(|bytes| *bytes <= LONGEST);
    Ok(Lengths::Listed(entries(value, system, rule, length)?))
}
