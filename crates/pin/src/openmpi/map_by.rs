//! `--map-by` of `mpirun`: the order in which ranks are mapped to the machine.

use core::fmt;
use core::str::FromStr;

use oxmpi_text::{Error, Scanner, Words};

use super::Level;

/// How ranks are mapped, and how many processing elements each gets. Written as `[<by>][:<modifier>...]`, with colons or
/// commas between modifiers, in upper or lower case:
///
/// - `PE=n`: each rank is bound to `n` processing elements, whatever `<by>` is: cores, or hardware threads with `HWTCPUS`
///   or `--use-hwthread-cpus`.
/// - `HWTCPUS`, `CORECPUS`: what counts as a processing element.
/// - `OVERSUBSCRIBE`, `NOOVERSUBSCRIBE`: whether ranks may share processors without a warning.
///
/// Other modifiers (`SPAN`, `INHERIT`, ...) and other mappings (`ppr`, `dist`, `seq`, `rankfile`) are about
/// several nodes or files, and are refused.
///
/// ```
/// use oxmpi_pin::openmpi::{Level, MapBy, MapTarget};
///
/// let map_by: MapBy = "socket:PE=4".parse()?;
/// assert_eq!((map_by.by, map_by.elements), (Some(MapTarget::Level(Level::Socket)), Some(4)));
/// let modifier: MapBy = ":OVERSUBSCRIBE".parse()?;
/// assert_eq!((modifier.by, modifier.oversubscribe), (None, Some(true)));
/// # Ok::<(), oxmpi_text::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapBy {
    /// The parts of the machine that ranks take in turn; `None` if only modifiers are given.
    pub by: Option<MapTarget>,
    /// `PE=n`: how many processing elements each rank is bound to, at least 1.
    pub elements: Option<u32>,
    /// Whether hardware threads, not cores, are the processing elements.
    pub hwthread_cpus: bool,
    /// Whether ranks may share a processor without a warning; `None` if nothing is said.
    pub oversubscribe: Option<bool>,
}

/// The parts of the machine that ranks take in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapTarget {
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

const MODIFIERS: Words = Words(&[
    "PE=n",
    "OVERSUBSCRIBE",
    "NOOVERSUBSCRIBE",
    "HWTCPUS",
    "CORECPUS",
]);
const ELEMENTS: &str = "a number of processing elements from 1 to 4294967295";

impl MapBy {
    /// Whether the option says where ranks run. `:OVERSUBSCRIBE` alone does not.
    pub fn places_ranks(&self) -> bool {
        self.by.is_some() || self.elements.is_some() || self.hwthread_cpus
    }
}

impl FromStr for MapBy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut scanner = Scanner::new(text);
        let mut map_by = Self::default();
        if scanner.peek() != Some(':') {
            let word = scanner.word();
            map_by.by = Some(match WORDS.0[WORDS.find(word.text)?] {
                "slot" => MapTarget::Slot,
                other => Level::of(other).map_or(MapTarget::Node, MapTarget::Level),
            });
        }
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
        let elements = value.text.parse().ok().filter(|elements| *elements > 0);
        map_by.elements = Some(elements.ok_or_else(|| value.error(ELEMENTS))?);
    } else if is("OVERSUBSCRIBE") {
        map_by.oversubscribe = Some(true);
    } else if is("NOOVERSUBSCRIBE") {
        map_by.oversubscribe = Some(false);
    } else if is("HWTCPUS") {
        map_by.hwthread_cpus = true;
    } else if is("CORECPUS") {
        map_by.hwthread_cpus = false;
    } else {
        return Err(Error {
            span: word.span,
            expected: oxmpi_text::Expected::OneOf(MODIFIERS.0),
            suggestion: None,
        });
    }
    Ok(())
}

impl fmt::Display for MapTarget {
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
        if let Some(by) = self.by {
            by.fmt(f)?;
        }
        if let Some(elements) = self.elements {
            write!(f, ":PE={elements}")?;
        }
        f.write_str(match self.oversubscribe {
            Some(true) => ":OVERSUBSCRIBE",
            Some(false) => ":NOOVERSUBSCRIBE",
            None => "",
        })?;
        let is_empty = *self == Self::default();
        f.write_str(match self.hwthread_cpus {
            true => ":HWTCPUS",
            // `:CORECPUS` alone is the default, which must not be printed as nothing.
            false if is_empty => ":CORECPUS",
            false => "",
        })
    }
}
