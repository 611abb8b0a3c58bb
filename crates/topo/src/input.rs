//! Reads the machine that a user's argument names: recognises directories, files and synthetic strings.
//!
//! | what is named | is |
//! |---|---|
//! | a directory with `sys` or `proc` in it | a recorded machine, [`linux`](crate::linux) |
//! | a directory with `pu0` or others of that kind in it | [cpuid dumps](crate::cpuid::Dump) |
//! | a directory that holds just one directory | what that one is, since archives have a folder on top |
//! | a file that exists, or `-` for standard input | by its content [hwloc's XML](crate::xml), a [recording in one text](crate::linux::Recording), a text of [/proc/cpuinfo](crate::cpuinfo), or a line with a [synthetic string](crate::synthetic) |
//! | anything else | a [synthetic string](crate::synthetic) |
//!
//! XML needs the feature `xml`. An existing file has precedence: a file named `4` is read even without `./`.
//! A text is at most 64 MiB long, and a recording is at most four folders deep.

mod error;

#[cfg(test)]
mod tests;

pub use error::InputError;

use crate::cpuid::Dump;
use crate::linux::{Recording, Root};
use crate::machine::Machine;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The longest text that is read, in bytes. The XML of 8,192 processors takes a third of it.
pub const LONGEST_TEXT: u64 = 64 << 20;

/// The most folders around a recorded machine.
const MOST_FOLDERS: usize = 4;

/// The form of a description of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// A directory with recorded /proc and /sys.
    Recording,
    /// The same in one text, a [`Recording`].
    RecordingText,
    /// A directory with [cpuid dumps](crate::cpuid::Dump).
    CpuidDumps,
    /// The text of [hwloc's XML](crate::xml).
    Xml,
    /// The text of [/proc/cpuinfo](crate::cpuinfo).
    Cpuinfo,
    /// A [synthetic string](crate::synthetic).
    Synthetic,
}

impl Form {
    /// The form of a directory with entries of these names; `None` if they do not describe a machine.
    pub fn of_directory<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut dumps = false;
        for name in names {
            if matches!(name, "proc" | "sys") {
                return Some(Self::Recording);
            }
            dumps |= is_dump(name);
        }
        dumps.then_some(Self::CpuidDumps)
    }

    /// The form of a text, from a look at its content: text that begins with `<` is XML, with `/` a
    /// recording; lines with keys such as `processor` are a cpuinfo file; otherwise, one line of printable
    /// characters is a synthetic string. `None` for anything else.
    pub fn of_text(text: &str) -> Option<Self> {
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.starts_with('<') {
            return Some(Self::Xml);
        }
        if text.starts_with('/') {
            return Some(Self::RecordingText);
        }
        let is_record = |line: &str| {
            let key = line.split(':').next().map(str::trim_end);
            matches!(key, Some("processor" | "cpu number"))
        };
        if text.lines().any(is_record) {
            return Some(Self::Cpuinfo);
        }
        let strange = |c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER;
        (!text.is_empty() && !text.contains(strange)).then_some(Self::Synthetic)
    }
}

/// Whether a file name is that of a processor's dump: `pu0`.
fn is_dump(name: &str) -> bool {
    let digits = name.strip_prefix("pu").unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
}

impl Machine {
    /// The machine that `input` names: a directory, a file, `-` for standard input, or a synthetic string;
    /// see [`input`](crate::input) for how these are recognised.
    ///
    /// # Errors
    ///
    /// Says why the file or directory cannot be read, what it should contain, or where the syntax error is;
    /// for an input that is neither a file nor a synthetic string, both reasons.
    pub fn from_input(input: &str) -> Result<Self, InputError> {
        if input == "-" {
            let text = text(io::stdin().lock(), input)?;
            return Self::from_text(&text, "standard input");
        }
        let unreadable = |why| InputError::unreadable(input, why);
        match fs::metadata(input) {
            Ok(facts) if facts.is_dir() => Self::from_directory(Path::new(input)),
            Ok(_) => {
                let file = File::open(input).map_err(unreadable)?;
                Self::from_text(&text(file, input)?, input)
            }
            Err(why) => {
                Self::from_synthetic(input).map_err(|error| InputError::neither(why, error))
            }
        }
    }

    /// The machine that a text describes. Errors call the text `name`, such as the file's name.
    ///
    /// # Errors
    ///
    /// The position in the text, and what is expected there.
    pub fn from_text(text: &str, name: &str) -> Result<Self, InputError> {
        let machine = match Form::of_text(text) {
            #[cfg(feature = "xml")]
            Some(Form::Xml) => Self::from_xml(text),
            #[cfg(not(feature = "xml"))]
            Some(Form::Xml) => return Err(InputError::without_xml(name)),
            Some(Form::RecordingText) => {
                let files = Recording::parse(text);
                let files = files.map_err(|error| InputError::wrong(error.in_file(name)))?;
                let machine = Self::from_linux(&files);
                return machine
                    .map_err(|error| InputError::wrong(error.below(&format!("{name}:"))));
            }
            Some(Form::Cpuinfo) => Self::from_cpuinfo(text),
            Some(Form::Synthetic) => Self::from_synthetic(text.trim()),
            _ => return Err(InputError::no_text(name)),
        };
        machine.map_err(|error| InputError::wrong(error.in_file(name)))
    }

    fn from_directory(path: &Path) -> Result<Self, InputError> {
        let (path, form) = find(path)?;
        let files = Root::new(&path);
        let machine = match form {
            Form::CpuidDumps => Dump::read(&files, "/").and_then(|dump| Self::from_cpuid(&dump)),
            _ => Self::from_linux(&files),
        };
        machine.map_err(|error| InputError::wrong(error.below(&path.to_string_lossy())))
    }
}

/// Finds the directory of a machine, at `path` or inside folders around it, and its form.
fn find(path: &Path) -> Result<(PathBuf, Form), InputError> {
    let mut inner = path.to_path_buf();
    for _ in 0..=MOST_FOLDERS {
        let names = names(&inner)?;
        if let Some(form) = Form::of_directory(names.iter().map(String::as_str)) {
            return Ok((inner, form));
        }
        let [only] = names.as_slice() else {
            break;
        };
        let folder = inner.join(only);
        if !folder.is_dir() {
            break;
        }
        inner = folder;
    }
    Err(InputError::no_machine(&path.to_string_lossy()))
}

fn names(directory: &Path) -> Result<Vec<String>, InputError> {
    let unreadable = |why| InputError::unreadable(&directory.to_string_lossy(), why);
    let entries = fs::read_dir(directory).map_err(unreadable)?;
    let entries = entries.take(Machine::MOST_OBJECTS);
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().to_string()));
    names.collect::<io::Result<_>>().map_err(unreadable)
}

/// Reads a text of bounded length; bytes that are not UTF-8 are replaced.
fn text(from: impl Read, name: &str) -> Result<String, InputError> {
    let mut bytes = Vec::new();
    from.take(LONGEST_TEXT + 1)
        .read_to_end(&mut bytes)
        .map_err(|why| InputError::unreadable(name, why))?;
    if bytes.len() as u64 > LONGEST_TEXT {
        return Err(InputError::too_long(name));
    }
    let text = String::from_utf8(bytes);
    Ok(text.unwrap_or_else(|wrong| String::from_utf8_lossy(wrong.as_bytes()).to_string()))
}
