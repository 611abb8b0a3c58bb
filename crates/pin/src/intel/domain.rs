//! `I_MPI_PIN_DOMAIN`: the processors that one rank gets.

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use oxmpi_text::{Error, Expected, Scanner, Span, Words};
use oxmpi_topo::CpuSet;

/// A part of the machine that forms one domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `core`: the processors of one core.
    Core,
    /// `socket` or `sock`: the processors of one package.
    Socket,
    /// `numa`: the processors of one NUMA node.
    Numa,
    /// `node`: all processors of the node, which is the same as no pinning.
    Node,
    /// `cache1`, `cache2`, `cache3`: the processors that share one cache of this level.
    Cache(u32),
    /// `cache`: the processors that share the largest cache.
    LargestCache,
}

impl Shape {
    const ALL: [(&'static str, Self); 9] = [
        ("core", Self::Core),
        ("socket", Self::Socket),
        ("sock", Self::Socket),
        ("numa", Self::Numa),
        ("node", Self::Node),
        ("cache1", Self::Cache(1)),
        ("cache2", Self::Cache(2)),
        ("cache3", Self::Cache(3)),
        ("cache", Self::LargestCache),
    ];

    /// The word that settings use.
    pub fn word(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, shape)| *shape == self);
        found.map_or("cache", |(word, _)| word)
    }

    /// The shape that a word names, in its exact spelling.
    pub(crate) fn of(word: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(other, _)| *other == word);
        found.map(|(_, shape)| *shape)
    }
}

/// How many processors one domain has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// `auto`: the processors of the node divided by its ranks, rounded down, at least one. The default.
    #[default]
    Auto,
    /// `omp`: the value of `OMP_NUM_THREADS`.
    Omp,
    /// `<n>`: this number, at least one.
    Number(u32),
}

/// Which processors make up a domain of a given size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// `platform`: processors with consecutive numbers of the operating system.
    Platform,
    /// `compact`: processors close to each other. The default.
    #[default]
    Compact,
    /// `scatter`: processors far from each other.
    Scatter,
}

/// How the processors of a node are cut into domains, one rank in each. Written as
/// `I_MPI_PIN_DOMAIN=<mc-shape>`, `<size>[:<layout>]` or `[<mask>,...]`.
///
/// ```
/// use oxmpi_pin::intel::{Domain, Layout, Shape, Size};
///
/// assert_eq!("sock".parse(), Ok(Domain::Shape(Shape::Socket)));
/// assert_eq!("4:scatter".parse(), Ok(Domain::Size(Size::Number(4), Layout::Scatter)));
/// let masks = Domain::Masks([["0,2,4,6".parse()?, "1,3,5,7".parse()?]].concat());
/// assert_eq!("[55,aa]".parse(), Ok(masks));
/// let wrong = "scoket".parse::<Domain>().unwrap_err();
/// assert_eq!(wrong.suggestion, Some("socket"));
/// # Ok::<(), oxmpi_pin::topo::SyntaxError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// One domain for each part of this shape.
    Shape(Shape),
    /// Domains of this number of processors.
    Size(Size, Layout),
    /// One domain for each mask, in the order of the ranks; bits are the operating system's numbers of
    /// processors.
    Masks(Vec<CpuSet>),
}

impl Default for Domain {
    fn default() -> Self {
        Self::Size(Size::default(), Layout::default())
    }
}

const WORDS: Words = Words(&[
    "core",
    "socket",
    "sock",
    "numa",
    "node",
    "cache1",
    "cache2",
    "cache3",
    "cache",
    "omp",
    "auto",
    "a number of processors",
    "[masks in hexadecimal]",
]);
impl Domain {
    /// Whether the domains depend on caches: caches themselves, or processors far apart, whose distance
    /// caches define.
    pub(crate) fn needs_caches(&self) -> bool {
        matches!(
            self,
            Self::Shape(Shape::Cache(_) | Shape::LargestCache) | Self::Size(_, Layout::Scatter)
        )
    }
}

const SIZE: &str = "a number of processors from 1 to 4294967295";
const MASK: &str = "a mask in hexadecimal with at least one bit, such as 55 or 0x3";
const LAYOUTS: Words = Words(&["platform", "compact", "scatter"]);

impl FromStr for Domain {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut scanner = Scanner::new(text);
        if scanner.eat('[') {
            return masks(text);
        }
        let word = scanner.word();
        if word.text.starts_with(|c: char| c.is_ascii_digit()) {
            let wrong = word.error(SIZE);
            let size = word
                .text
                .parse()
                .ok()
                .filter(|&size| size > 0)
                .ok_or(wrong)?;
            return layout(scanner).map(|layout| Self::Size(Size::Number(size), layout));
        }
        if word.text.is_empty() {
            let expected = Expected::OneOf(WORDS.0);
            return Err(Error {
                span: Span::whole(text),
                expected,
                suggestion: None,
            });
        }
        WORDS.find(word.text)?;
        let size = match word.text {
            "auto" => Size::Auto,
            "omp" => Size::Omp,
            shape => {
                scanner.end("nothing behind a shape: only a size takes a layout")?;
                return Ok(Self::Shape(Shape::of(shape).unwrap_or(Shape::Node)));
            }
        };
        layout(scanner).map(|layout| Self::Size(size, layout))
    }
}

/// The layout behind a size; compact if there is none.
fn layout(mut scanner: Scanner<'_>) -> Result<Layout, Error> {
    let mut layout = Layout::default();
    if scanner.eat(':') {
        let word = scanner.word();
        layout = match LAYOUTS.find(word.text) {
            Ok(0) => Layout::Platform,
            Ok(1) => Layout::Compact,
            Ok(_) => Layout::Scatter,
            Err(error) => return Err(error.moved(word.span.start)),
        };
    }
    scanner
        .end("a size with or without a layout (2:compact, 2:scatter, 2:platform), or masks in brackets ([55,aa])")?;
    Ok(layout)
}

/// Reads masks from the whole text `[m1,...,mn]`.
fn masks(text: &str) -> Result<Domain, Error> {
    let end = Span {
        start: text.len(),
        end: text.len(),
    };
    let Some(list) = text
        .strip_prefix('[')
        .and_then(|list| list.strip_suffix(']'))
    else {
        return Err(Error::new(end, "`]` at the end of the masks"));
    };
    let mut start = 1;
    let mut masks = Vec::new();
    for piece in list.split(',') {
        let span = Span {
            start,
            end: start + piece.len(),
        };
        let mask = mask(piece).filter(|mask| !mask.is_empty());
        masks.push(mask.ok_or(Error::new(span, MASK))?);
        start = span.end + 1;
    }
    Ok(Domain::Masks(masks))
}

/// The bits of a hexadecimal number, with or without `0x` and blanks around it. `None` if no bit is set.
pub(crate) fn mask(text: &str) -> Option<CpuSet> {
    let text = text.trim();
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let digits = digits.unwrap_or(text);
    let nibbles = digits.chars().rev().map(|digit| digit.to_digit(16));
    let nibbles: Vec<u32> = nibbles.collect::<Option<_>>()?;
    let bits = nibbles.iter().enumerate().flat_map(|(place, nibble)| {
        let set = (0..4).filter(move |bit| nibble >> bit & 1 == 1);
        set.map(move |bit| 4 * place + bit)
    });
    (!nibbles.is_empty()).then(|| bits.collect())
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(LAYOUTS.0[*self as usize])
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape(shape) => f.write_str(shape.word()),
            Self::Size(size, layout) => {
                match size {
                    Size::Auto => f.write_str("auto")?,
                    Size::Omp => f.write_str("omp")?,
                    Size::Number(number) => write!(f, "{number}")?,
                }
                match layout {
                    Layout::Compact => Ok(()),
                    layout => write!(f, ":{layout}"),
                }
            }
            Self::Masks(masks) => {
                f.write_str("[")?;
                for (place, mask) in masks.iter().enumerate() {
                    let comma = if place > 0 { "," } else { "" };
                    write!(f, "{comma}{}", hexadecimal(mask))?;
                }
                f.write_str("]")
            }
        }
    }
}

/// A set as one hexadecimal number.
fn hexadecimal(set: &CpuSet) -> alloc::string::String {
    let digits = set.last().map_or(0, |last| last / 4);
    let digit = |place: usize| {
        let bit = |bit: usize| u32::from(set.contains(4 * place + bit)) << bit;
        char::from_digit((0..4).map(bit).sum(), 16).unwrap_or('0')
    };
    (0..=digits).rev().map(digit).collect()
}
