//! Words that cannot be right, and what would have been.

use alloc::string::String;
use core::fmt;

/// A word that cannot be right, and what would have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionError {
    /// Neither a part, a kernel nor an option.
    Unknown {
        /// The word.
        word: String,
        /// A word that looks like it.
        nearest: Option<&'static str>,
    },
    /// An option lacks its value.
    Missing {
        /// The option.
        option: &'static str,
        /// What it takes.
        takes: &'static str,
    },
    /// The option's value has another form.
    Malformed {
        /// The option.
        option: &'static str,
        /// What it takes.
        takes: &'static str,
        /// What was given.
        value: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// A file that cannot be read.
    Unread {
        /// The option.
        option: &'static str,
        /// The file.
        path: String,
        /// Why not.
        why: String,
    },
    /// A line of a file that cannot be right.
    Line {
        /// Where it stands.
        place: Place,
        /// The line.
        text: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// A file without a single entry.
    Empty {
        /// The option.
        option: &'static str,
        /// The file.
        path: String,
    },
    /// An option of later releases, with a value that asks for something else than is done here.
    Later {
        /// The option.
        option: &'static str,
        /// What was given.
        value: String,
        /// What is done here, as values that say so.
        done: &'static [&'static str],
    },
    /// The machine's cache is asked for, and not known.
    NoCache,
    /// Every benchmark is excluded.
    Nothing,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { word, nearest } => {
                let kind = if word.starts_with('-') {
                    "option"
                } else {
                    "benchmark"
                };
                write!(f, "unknown {kind} '{word}'")?;
                match nearest {
                    Some(nearest) => write!(f, "; did you mean '{nearest}'?"),
                    None => f.write_str("; -h lists them all"),
                }
            }
            Self::Missing { option, takes } => {
                write!(f, "{option} needs a value: {option} {takes}")
            }
            Self::Malformed {
                option,
                takes,
                value,
                rule,
            } => {
                write!(f, "'{value}' does not fit {option} {takes}: {rule}")
            }
            Self::Unread { option, path, why } => {
                write!(f, "{option}: cannot read {path}: {why}")
            }
            Self::Line { place, text, rule } => {
                let Place { path, line } = place;
                write!(f, "{path}, line {line}: '{text}' is not {rule}")
            }
            Self::Empty { option, path } => write!(f, "{option}: {path} has no entry"),
            Self::Later {
                option,
                value,
                done,
            } => match done {
                [] => write!(
                    f,
                    "{option} {value}: this option of later releases is not offered here"
                ),
                [value_done, ..] => write!(
                    f,
                    "{option} {value}: of this option of later releases, only '{value_done}' is offered here"
                ),
            },
            Self::NoCache => f.write_str(
                "-off_cache -1: this machine does not tell the size of its cache; give it in MB",
            ),
            Self::Nothing => f.write_str("no benchmark is left to run: -exclude removes them all"),
        }
    }
}

impl core::error::Error for OptionError {}
