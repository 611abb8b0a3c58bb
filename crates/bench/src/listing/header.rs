//! Reads the header of a listing, above the first table: when, where and how the benchmarks ran.

use super::lines::{Kind, Lines};
use super::{ListingError, shown};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The header of a listing. A text that the listing lacks is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// Name, version and part of the program.
    pub suite: String,
    /// When the run began.
    pub date: String,
    /// The processor's kind, such as `x86_64`.
    pub machine: String,
    /// The operating system.
    pub system: String,
    /// The operating system's release.
    pub release: String,
    /// The operating system's version.
    pub version: String,
    /// The version of the MPI standard.
    pub mpi_version: String,
    /// The level of thread support.
    pub thread_level: String,
    /// The command with its arguments.
    pub command: String,
    /// The lengths of messages.
    pub lengths: ListingLengths,
    /// The datatype of messages.
    pub datatype: String,
    /// The datatype of reductions.
    pub reduction_datatype: String,
    /// The operation of reductions.
    pub operation: String,
    /// Names of the benchmarks, in the order they run.
    pub benchmarks: Vec<String>,
    /// Other lines of text, in order.
    pub notes: Vec<String>,
}

/// The lengths of messages, as the header states them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListingLengths {
    /// The header does not state them.
    #[default]
    Unknown,
    /// The least and the largest, in bytes.
    Within(u64, u64),
    /// The user gave a list.
    UserDefined,
}

/// Reads the lines below the name of the program, `suite`, up to the first table.
pub(super) fn read(suite: &str, lines: &mut Lines<'_>) -> Result<Header, ListingError> {
    let mut header = Header {
        suite: suite.into(),
        ..Header::default()
    };
    let (mut least, mut largest) = (None, None);
    // Whether the next line is the command, and whether names of benchmarks follow.
    let (mut awaits_command, mut lists_benchmarks) = (false, false);
    while let Some(line) = lines.peek() {
        let text = match line.kind {
            Kind::Rule => break,
            Kind::Comment(text) => text,
            Kind::Blank | Kind::Text(_) => {
                lines.skip();
                continue;
            }
        };
        if text == super::LAST {
            break;
        }
        lines.next();
        let is_command = core::mem::take(&mut awaits_command);
        let (key, value) = match text.split_once(':') {
            Some((key, value)) => (key.trim_end(), value.trim_start()),
            None => (text, ""),
        };
        let bytes = || {
            value
                .parse::<u64>()
                .map_err(|_| line.error(format!("'{}' is no number of bytes", shown(value))))
        };
        let field = match key {
            "Calling sequence was" => {
                awaits_command = true;
                continue;
            }
            "List of Benchmarks to run" => {
                lists_benchmarks = true;
                continue;
            }
            "Message lengths were user defined" => {
                header.lengths = ListingLengths::UserDefined;
                continue;
            }
            "Minimum message length in bytes" => {
                least = Some(bytes()?);
                continue;
            }
            "Maximum message length in bytes" => {
                largest = Some(bytes()?);
                continue;
            }
            "Date" => &mut header.date,
            "Machine" => &mut header.machine,
            "System" => &mut header.system,
            "Release" => &mut header.release,
            "Version" => &mut header.version,
            "MPI Version" => &mut header.mpi_version,
            "MPI Thread Environment" => &mut header.thread_level,
            "MPI_Datatype" => &mut header.datatype,
            "MPI_Datatype for reductions" => &mut header.reduction_datatype,
            "MPI_Op" => &mut header.operation,
            _ if is_command => {
                header.command = text.into();
                continue;
            }
            _ if lists_benchmarks && !text.contains(char::is_whitespace) => {
                header.benchmarks.push(text.into());
                continue;
            }
            _ => {
                header.notes.push(text.into());
                continue;
            }
        };
        *field = value.into();
    }
    if let (Some(least), Some(largest)) = (least, largest) {
        header.lengths = ListingLengths::Within(least, largest);
    }
    Ok(header)
}
