//! `--map-by` of `mpirun`: the order in which ranks are mapped to the machine.

use core::fmt;
use core::str::FromStr;

use oxmpi_text::{Error, Scanner, Words};

use super::Level;

/// How ranks are mapped, and how many parts each gets. Written as `<by>[:<modifier>...]`, with colons or
/// commas between modifiers, in upper or lower case:
///
/// - `PE=n`: each rank is bound to `n` parts (cores, or hardware threads with `--bind-to hwthread`).
/// - `OVERSUBSCRIBE`, `NOOVERSUBSCRIBE`: whether ranks may share processors without a warning.
///
/// Other modifiers (`SPAN`, `INHERIT`, ...) and other mappings (`ppr`, `dist`, `seq`, `rankfile`) are about
/// several nodes or files, and are refused.
///
/// ```
/// use oxmpi_pin::openmpi::{By, Level, MapBy};
///
/// let map_by: MapBy = "socket:PE=4".parse()?;
/// assert_eq!((map_by.by, map_by.parts), (By::Level(Level::Socket), Some(4)));
/// # Ok::<(), oxmpi_text::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapBy {
    /// The parts of the machine that ranks take in turn.
    pub by: By,
    /// `PE=n`: how many parts each rank is bound to, at least 1.
    pub parts: Option<u32>,
    /// Whether ranks may share a processor without a warning.
    pub oversubscribe: bool,
}

/// The parts of the machine that ranks take in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// `slot`: one after the other through the machine.
    Slot,
    /// `node`: the nodes of the job in turn. Within one node this is the same as `slot`.
    Node,
    /// Parts of this level in turn: rank 0 on the first, rank 1 on the second, then again from the first.
    Level(Level),
}

const WORDS: Words = Words(&[
    "slot", "hwthread", "core", "l1cache", "l2cache", "l3cache", "socket", "package", "numa",
    "node",
]);

const MODIFIERS: Words = Words(&["PE=n", "OVERSUBSCRIBE", "NOOVERSUBSCRIBE"]);
const PARTS: &str = "a number of parts from 1 to 4294967295";

impl FromStr for MapBy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut scanner = Scanner::new(text);
        let word = scanner.word();
        let by = match WORDS.0[WORDS.find(word.text)?] {
            "slot" => By::Slot,
            other => Level::of(other).map_or(By::Node, By::Level),
        };
        let mut map_by = Self {
            by,
            parts: None,
            oversubscribe: false,
        };
        while scanner.eat(':') || scanner.eat(',') {
            modifier(&mut map_by, &mut scanner)?;
        }
        scanner.end("modifiers with `:` before them: socket:PE=4:OVERSUBSCRIBE")?;
        Ok(map_by)
    }
}

fn modifier(map_by: &mut MapBy, scanner: &mut Scanner<'_>) -> Result<(), Error> {
    let word = scanner.word();
    let is = |name: &str| word.text.eq_ignore_ascii_case(name);
    if is("PE") && scanner.eat('=') {
        let value = scanner.word();
        let parts = value.text.parse().ok().filter(|parts| *parts > 0);
        map_by.parts = Some(parts.ok_or_else(|| value.error(PARTS))?);
    } else if is("OVERSUBSCRIBE") {
        map_by.oversubscribe = true;
    } else if is("NOOVERSUBSCRIBE") {
        map_by.oversubscribe = false;
    } else {
        return Err(Error {
            span: word.span,
            expected: oxmpi_text::Expected::OneOf(MODIFIERS.0),
            suggestion: None,
        });
    }
    Ok(())
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slot => f.write_str("slot"),
            Self::Node => f.write_str("node"),
            Self::Level(level) => level.fmt(f),
        }
    }
}

impl fmt::Display for MapBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.by.fmt(f)?;
        if let Some(parts) = self.parts {
            write!(f, ":PE={parts}")?;
        }
        f.write_str(if self.oversubscribe {
            ":OVERSUBSCRIBE"
        } else {
            ""
        })
    }
}
