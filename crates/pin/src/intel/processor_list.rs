//! `I_MPI_PIN_PROCESSOR_LIST`: one processor for each rank.

use alloc::vec::Vec;
use core::str::FromStr;

use oxmpi_text::{Error, Expected, Scanner, Span, Token, Words};

/// The processors that ranks take, one each, in order. Written as `0,2-3`, or as `<set>[:<option>,...]`,
/// where the set is `all`, `allcores` or `allsocks` (`allcores` if left out) and options are `map=`,
/// `grain=`, `shift=`, `preoffset=` and `postoffset=` (`offset=`).
///
/// ```
/// use oxmpi_pin::intel::{Cells, Map, Members, ProcessorList};
///
/// let list: ProcessorList = "allcores:map=scatter".parse()?;
/// let ProcessorList::Of(members) = list else { panic!() };
/// assert_eq!((members.cells, members.map), (Cells::Cores, Some(Map::Scatter)));
/// assert_eq!("3-1".parse(), Ok(ProcessorList::These(vec![Some(3), Some(2), Some(1)])));
/// # Ok::<(), oxmpi_text::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessorList {
    /// Processors by the operating system's numbers; `None` (written `-1`) leaves a rank unpinned.
    These(Vec<Option<usize>>),
    /// All processors of one kind, in an order that options choose.
    Of(Members),
}

/// All processors of one kind (cells, one for each rank), in an order that options choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Members {
    /// The kind of processors.
    pub cells: Cells,
    /// The order of ranks on them; if set, the fields below do not count.
    pub map: Option<Map>,
    /// The number of consecutive cells in a grain; one if left out.
    pub grain: Option<Amount>,
    /// The distance between consecutive grains; one if left out.
    pub shift: Option<Amount>,
    /// The number of cells or grains to rotate by before shifting.
    pub preoffset: Option<Amount>,
    /// The number of cells or grains to rotate by after shifting.
    pub postoffset: Option<Amount>,
}

/// The kind of cell, the processor that one rank gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// `all`: every processor.
    Units,
    /// `allcores`: the first processor of each core.
    Cores,
    /// `allsocks`: the first processor of each package.
    Sockets,
}

/// The order in which ranks take cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    /// `bunch`: divided among the sockets in proportion, close together on each.
    Bunch,
    /// `scatter`: consecutive ranks share as few resources as possible.
    Scatter,
    /// `spread`: divided among the sockets in proportion, far from each other on each.
    Spread,
}

/// A number of cells or grains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A number: of cells for a grain, of grains elsewhere.
    Number(u32),
    /// The number of cells in this part of the machine.
    Part(Part),
}

/// A part of the machine that an [`Amount`] refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// `fine`: one cell.
    Fine,
    /// `core`.
    Core,
    /// `cache1`, `cache2`, `cache3`.
    Cache(u32),
    /// `sock` or `socket`.
    Socket,
    /// `half`, `third`, `quarter`, `octavo`: this fraction of a socket.
    Fraction(u32),
}

pub(crate) const PARTS: [(&str, Part); 11] = [
    ("fine", Part::Fine),
    ("core", Part::Core),
    ("cache1", Part::Cache(1)),
    ("cache2", Part::Cache(2)),
    ("cache3", Part::Cache(3)),
    ("sock", Part::Socket),
    ("socket", Part::Socket),
    ("half", Part::Fraction(2)),
    ("third", Part::Fraction(3)),
    ("quarter", Part::Fraction(4)),
    ("octavo", Part::Fraction(8)),
];

const SETS: Words = Words(&[
    "all",
    "allcores",
    "allsocks",
    "processors and ranges such as 0,2-3",
]);
const OPTIONS: Words = Words(&["map", "grain", "shift", "preoffset", "postoffset", "offset"]);
const MAPS: Words = Words(&["bunch", "scatter", "spread"]);
const AMOUNTS: Words = Words(&[
    "a number from 1 to 4294967295",
    "fine",
    "core",
    "cache1",
    "cache2",
    "cache3",
    "sock",
    "socket",
    "half",
    "third",
    "quarter",
    "octavo",
]);
const MEMBER: &str = "a processor, a range such as 2-5, or -1 for a rank that is not pinned";

/// The largest number of a processor that a list may name, as on Linux.
const LARGEST: u64 = 8191;

impl Members {
    /// All cells of a kind, in their default order.
    pub fn all(cells: Cells) -> Self {
        Self {
            cells,
            map: None,
            grain: None,
            shift: None,
            preoffset: None,
            postoffset: None,
        }
    }

    /// Whether no option is set.
    pub(crate) fn is_plain(&self) -> bool {
        *self == Self::all(self.cells)
    }
}

impl ProcessorList {
    /// Whether the list depends on caches: as amounts, or by processors far apart, whose distance caches
    /// define.
    pub(crate) fn needs_caches(&self) -> bool {
        let Self::Of(members) = self else {
            return false;
        };
        let amounts = [
            members.grain,
            members.shift,
            members.preoffset,
            members.postoffset,
        ];
        let is_cache = |amount| matches!(amount, Some(Amount::Part(Part::Cache(_))));
        matches!(members.map, Some(Map::Scatter | Map::Spread)) || amounts.into_iter().any(is_cache)
    }
}

impl FromStr for ProcessorList {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut scanner = Scanner::new(text);
        let is_number = |c: char| c.is_ascii_digit() || c == '-';
        if scanner.peek().is_some_and(is_number) {
            return these(scanner).map(Self::These);
        }
        let mut members = Members::all(Cells::Cores);
        let mut word = scanner.word();
        if scanner.peek() != Some('=') {
            if !word.text.is_empty() || scanner.peek() != Some(':') {
                if word.text.is_empty() {
                    return Err(scanner.wrong(Expected::OneOf(SETS.0)));
                }
                members.cells = match SETS.find(word.text)? {
                    0 => Cells::Units,
                    1 => Cells::Cores,
                    _ => Cells::Sockets,
                };
            }
            if !scanner.eat(':') {
                scanner.end("nothing behind a set but options: allcores:map=scatter")?;
                return Ok(Self::Of(members));
            }
            word = scanner.word();
        }
        loop {
            option(&mut members, word, &mut scanner)?;
            if !scanner.eat(',') && !scanner.eat(':') {
                break;
            }
            word = scanner.word();
        }
        scanner.end("options with commas between them: grain=2,shift=2")?;
        Ok(Self::Of(members))
    }
}

/// Reads the value of the option `name` into `members`.
fn option(members: &mut Members, name: Token<'_>, scanner: &mut Scanner<'_>) -> Result<(), Error> {
    let found = OPTIONS.find(name.text);
    let found = found.map_err(|error| error.moved(name.span.start))?;
    if !scanner.eat('=') {
        let at = scanner.at();
        let here = Span { start: at, end: at };
        return Err(Error::new(here, "`=` and a value"));
    }
    let value = scanner.word();
    if found == 0 {
        let map = MAPS.find(value.text);
        members.map = Some(match map.map_err(|error| error.moved(value.span.start))? {
            0 => Map::Bunch,
            1 => Map::Scatter,
            _ => Map::Spread,
        });
        return Ok(());
    }
    let amount = match value.text.parse() {
        Ok(number) if number > 0 => Amount::Number(number),
        _ => {
            let found = AMOUNTS.find(value.text);
            let found = found.map_err(|error| error.moved(value.span.start))?;
            Amount::Part(PARTS[found - 1].1)
        }
    };
    let field = match found {
        1 => &mut members.grain,
        2 => &mut members.shift,
        3 => &mut members.preoffset,
        _ => &mut members.postoffset,
    };
    *field = Some(amount);
    Ok(())
}

/// Reads processors and ranges with commas between them.
fn these(mut scanner: Scanner<'_>) -> Result<Vec<Option<usize>>, Error> {
    let mut list = Vec::new();
    loop {
        let start = scanner.at();
        if scanner.eat('-') {
            let wrong = |scanner: &Scanner<'_>| {
                Error::new(
                    Span {
                        start,
                        end: scanner.at(),
                    },
                    MEMBER,
                )
            };
            match scanner.number(MEMBER) {
                Ok(1) => list.push(None),
                _ => return Err(wrong(&scanner)),
            }
        } else {
            let from = number(&mut scanner)?;
            let to = if scanner.eat('-') {
                number(&mut scanner)?
            } else {
                from
            };
            match from <= to {
                true => list.extend((from..=to).map(Some)),
                false => list.extend((to..=from).rev().map(Some)),
            }
        }
        if list.len() > 1 << 16 {
            let span = Span {
                start,
                end: scanner.at(),
            };
            return Err(Error::new(span, "a list of at most 65536 processors"));
        }
        if !scanner.eat(',') {
            break;
        }
    }
    scanner.end("a comma and more processors, or the end: a list takes no options")?;
    Ok(list)
}

fn number(scanner: &mut Scanner<'_>) -> Result<usize, Error> {
    let start = scanner.at();
    let number = scanner.number(MEMBER)?;
    let span = Span {
        start,
        end: scanner.at(),
    };
    match number <= LARGEST {
        true => Ok(number as usize),
        false => Err(Error::new(span, "a processor from 0 to 8191")),
    }
}
