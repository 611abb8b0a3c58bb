//! The command line of the Intel MPI Benchmarks, as far as the kernels here go.
//!
//! Words, not characters: the caller has split the command line and removed what belongs to it, such
//! as the number of ranks.

use crate::kernels::Kernel;
use crate::method::{Lengths, Method};
use crate::suite::Plan;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// The parts of the benchmarks; each is a word before the names.
const PARTS: &[&str] = &["MPI1"];

/// The options and what they take, for help and for suggestions.
const OPTIONS: &[(&str, &str, &str)] = &[
    (
        "-iter",
        "SAMPLES[,MB]",
        "most repetitions of a sample, and most 2^20 bytes sent in it",
    ),
    ("-time", "SECONDS", "most time a sample may take"),
    (
        "-msglog",
        "[MIN:]MAX",
        "message lengths 0 and 2^MIN to 2^MAX bytes",
    ),
    ("-h", "", "this help; also -help"),
];

/// The largest power of two for `-msglog`: 1 GiB.
const MAX_LOG: u32 = 30;

/// What the words ask for.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Run this.
    Run(Plan),
    /// Print [`help`].
    Help,
}

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
    /// The last option lacks its value.
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
        }
    }
}

impl core::error::Error for OptionError {}

/// Reads the words after `oxmpi bench` or `IMB-MPI1`.
///
/// Names ignore case. Without a name all kernels run.
///
/// # Errors
/// The first word that cannot be right.
pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Request, OptionError> {
    let mut kernels = Vec::new();
    let mut lengths = Lengths::default();
    let mut method = Method::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let mut value = |option| Value::next(option, &mut words);
        match word {
            "-h" | "-help" | "--help" => return Ok(Request::Help),
            "-iter" => value("-iter")?.iterations(&mut method)?,
            "-time" => method.seconds = value("-time")?.seconds()?,
            "-msglog" => lengths = value("-msglog")?.lengths()?,
            name => match Kernel::named(name) {
                Some(kernel) if kernels.contains(&kernel) => {}
                Some(kernel) => kernels.push(kernel),
                None if PARTS.iter().any(|part| part.eq_ignore_ascii_case(name)) => {}
                None => return Err(unknown(name)),
            },
        }
    }
    if kernels.is_empty() {
        kernels.extend(Kernel::by_default());
    }
    Ok(Request::Run(Plan {
        kernels,
        lengths,
        method,
    }))
}

/// What `-h` prints.
pub fn help() -> String {
    let mut text = String::from("Benchmarks (in any case; all of them when none is named):\n");
    for kernel in Kernel::ALL {
        text += &alloc::format!("  {:<24}{}\n", kernel.info().name, kernel.info().about);
    }
    text += "Options:\n";
    for (option, takes, about) in OPTIONS {
        text += &alloc::format!("  {:<24}{about}\n", alloc::format!("{option} {takes}"));
    }
    text
}

/// An option with its value.
struct Value<'a> {
    option: &'static str,
    takes: &'static str,
    text: &'a str,
}

impl<'a> Value<'a> {
    fn next(
        option: &'static str,
        words: &mut impl Iterator<Item = &'a str>,
    ) -> Result<Self, OptionError> {
        let takes = OPTIONS
            .iter()
            .find(|row| row.0 == option)
            .map_or("", |row| row.1);
        let text = words.next().ok_or(OptionError::Missing { option, takes })?;
        Ok(Value {
            option,
            takes,
            text,
        })
    }

    fn refuse(&self, rule: &'static str) -> OptionError {
        let (option, takes) = (self.option, self.takes);
        OptionError::Malformed {
            option,
            takes,
            value: self.text.to_string(),
            rule,
        }
    }

    fn iterations(&self, method: &mut Method) -> Result<(), OptionError> {
        let rule = "two whole numbers from 1 to 1000000000, the second may be left out";
        let number = |text: &str| match text.parse() {
            Ok(number @ 1..=1_000_000_000) => Ok(number),
            _ => Err(self.refuse(rule)),
        };
        let (samples, volume) = match self.text.split_once(',') {
            Some((samples, volume)) => (samples, Some(volume)),
            None => (self.text, None),
        };
        method.samples = number(samples)?;
        if let Some(volume) = volume {
            method.volume = u64::from(number(volume)?) << 20;
        }
        Ok(())
    }

    fn seconds(&self) -> Result<f64, OptionError> {
        match self.text.parse::<f64>() {
            Ok(seconds) if seconds > 0.0 && seconds.is_finite() => Ok(seconds),
            _ => Err(self.refuse("a number above 0, such as 0.5")),
        }
    }

    fn lengths(&self) -> Result<Lengths, OptionError> {
        let (min, max) = self.text.split_once(':').unwrap_or(("0", self.text));
        match (min.parse(), max.parse()) {
            (Ok(min_log), Ok(max_log)) if min_log <= max_log && max_log <= MAX_LOG => {
                Ok(Lengths { min_log, max_log })
            }
            _ => Err(self.refuse("powers of two from 0 to 30, the smaller first")),
        }
    }
}

/// The error for a word, with the nearest name there is.
fn unknown(word: &str) -> OptionError {
    let names = Kernel::ALL.iter().map(|kernel| kernel.info().name);
    let options = OPTIONS.iter().map(|row| row.0);
    let words = names.chain(PARTS.iter().copied()).chain(options);
    OptionError::Unknown {
        word: word.to_string(),
        nearest: oxmpi_text::nearest(word, words),
    }
}

#[cfg(test)]
mod tests;
