//! The command line of the Intel MPI Benchmarks: the guide's section "Command-line Control".
//!
//! Words, not characters: the caller has split the command line and removed what belongs to it, such
//! as the number of ranks.
//!
//! ```text
//! table    every option: its spelling, what it takes, and what it sets
//!   values   a value's text as what it means
//!   names    benchmarks by their names
//!   files    the files of -input and -msglen
//! draft    what the words have set so far, and the plan that they make
//! error    words that cannot be right
//! help     what -h and -list print
//! ```

mod draft;
mod error;
mod files;
mod help;
mod names;
mod table;
mod values;

pub use error::{FileLine, OptionError};
pub use help::{help, list};

use crate::kernels::AnyKernel;
use crate::suite::Plan;
use crate::{Megabyte, OffCache, Part};
use alloc::string::{String, ToString};
use draft::Draft;
use table::{OptionRow, Takes};

/// What the words ask for.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Run this.
    Run(BenchRun),
    /// Print [`help`].
    Help,
    /// Print the [`list`] of this part, or of all.
    List(Option<Part>),
}

/// A run.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchRun {
    /// What to run, and how.
    pub plan: Plan,
    /// The thread support to ask the library for; `None` leaves it to the caller.
    pub thread_level: Option<ThreadLevel>,
    /// What the listing's Mbytes are.
    pub megabyte: Megabyte,
}

/// The thread support of an MPI library (MPI 5.0, section 11.2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadLevel {
    /// One thread.
    Single,
    /// Several threads, of which the main one makes all calls.
    Funneled,
    /// Several threads that never call at the same time.
    Serialized,
    /// Several threads that call as they like.
    Multiple,
}

/// What the options need to know of the world around them.
pub trait System {
    /// The text of a file.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn read(&self, path: &str) -> Result<String, String>;

    /// Size and line of this machine's last level of cache, where they are known.
    fn cache(&self) -> Option<OffCache>;
}

/// Reads the words after `oxmpi bench`.
///
/// Names ignore case. A word before them names their part, MPI1 when left out. Without a name all kernels of the part run that
/// do so by default. The help is asked for
/// wherever its word stands, as long as those before it are right.
///
/// # Errors
/// The first word, or line of a file, that cannot be right.
pub fn parse<'a>(
    words: impl IntoIterator<Item = &'a str>,
    system: &dyn System,
) -> Result<Request, OptionError> {
    let mut draft = Draft::default();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let Some(row) = OptionRow::named(word) else {
            draft.name(word)?;
            continue;
        };
        match row.takes {
            Takes::Help => return Ok(Request::Help),
            Takes::List => return Ok(Request::List(draft.part)),
            Takes::Nothing(set) => set(&mut draft),
            Takes::Value(form, set) => {
                let text = words.next().ok_or(OptionError::Missing {
                    option: row.name,
                    takes: form,
                })?;
                let value = values::Value {
                    option: row.name,
                    takes: form,
                    text,
                };
                set(&mut draft, &value, system)?;
            }
            Takes::Names(set) => {
                let mut given = false;
                while let Some(word) = words.next_if(|word| !word.starts_with('-')) {
                    let part = draft.plan.part;
                    names::all(part, word, &mut |benchmark| set(&mut draft, benchmark))?;
                    given = true;
                }
                if !given {
                    return Err(OptionError::Missing {
                        option: row.name,
                        takes: table::NAMES,
                    });
                }
            }
        }
    }
    draft.bench_run().map(Request::Run)
}

#[cfg(test)]
mod tests;

/// The error for a word that is no benchmark, with the nearest name of a benchmark, a part or an option.
fn unknown(part: Part, word: &str) -> OptionError {
    let names = AnyKernel::of(part).map(|kernel| kernel.info().name);
    let options = table::ROWS.iter().map(|row| row.name);
    let words = names.chain(Part::ALL.map(Part::word)).chain(options);
    OptionError::Unknown {
        word: word.to_string(),
        nearest: oxmpi_text::nearest(word, words),
    }
}
