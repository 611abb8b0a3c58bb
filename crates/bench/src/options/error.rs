//! Words that cannot be right, and what would have been.

use crate::Part;
use alloc::format;
use alloc::string::String;

/// A word that cannot be right, and what would have been.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// Neither a part, a kernel nor an option.
    #[error("unknown {} '{word}'; {}", kind_of(word), hint(*nearest))]
    Unknown {
        /// The word.
        word: String,
        /// A word that looks like it.
        nearest: Option<&'static str>,
    },
    /// An option lacks its value.
    #[error("{option} needs a value: {option} {takes}")]
    Missing {
        /// The option.
        option: &'static str,
        /// What it takes.
        takes: &'static str,
    },
    /// The option's value has another form.
    #[error("'{value}' does not fit {option} {takes}: {rule}")]
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
    #[error("{option}: cannot read {path}: {why}")]
    Unread {
        /// The option.
        option: &'static str,
        /// The file.
        path: String,
        /// Why not.
        why: String,
    },
    /// A line of a file that cannot be right.
    #[error("{}, line {}: '{text}' is not {rule}", place.path, place.line)]
    Line {
        /// Where it stands.
        place: FileLine,
        /// The line.
        text: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// A file without a single entry.
    #[error("{option}: {path} has no entry")]
    Empty {
        /// The option.
        option: &'static str,
        /// The file.
        path: String,
    },
    /// An option of later releases, with a value that asks for something else than is done here.
    #[error("{option} {value}: {}", offered(done))]
    Later {
        /// The option.
        option: &'static str,
        /// What was given.
        value: String,
        /// What is done here, as values that say so.
        done: &'static [&'static str],
    },
    /// A barrier after each repetition is asked for where there is none.
    #[error(
        "-sync {0}: of this option of later releases, only 'off' is offered here, and both in NBC"
    )]
    Synchronised(String),
    /// The machine's cache is asked for, and not known.
    #[error("-off_cache -1: this machine does not tell the size of its cache; give it in MB")]
    NoCache,
    /// Two parts are named.
    #[error("{} after {}: a run has one part of the benchmarks", .1.word(), .0.word())]
    Parts(Part, Part),
    /// The part is named behind benchmarks.
    #[error("{} stands before the names of its benchmarks", .0.word())]
    Late(Part),
    /// Every benchmark is excluded.
    #[error("no benchmark is left to run: -exclude removes them all")]
    Nothing,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLine {
    /// The file.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
}

/// Says whether a word looks like an option.
fn kind_of(word: &str) -> &'static str {
    match word.starts_with('-') {
        true => "option",
        false => "benchmark",
    }
}

/// The end of the message about an unknown word.
fn hint(nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!("did you mean '{nearest}'?"),
        None => "-h lists them all".into(),
    }
}

/// What is offered of an option of later releases, where `done` are the values that ask for it.
fn offered(done: &[&str]) -> String {
    match done.first() {
        None => "this option of later releases is not offered here".into(),
        Some(value) => {
            format!("of this option of later releases, only '{value}' is offered here")
        }
    }
}
