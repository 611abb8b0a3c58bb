//! Parses a synthetic string into levels.

use crate::kind::Kind;
use crate::machine::Machine;
use alloc::vec;
use alloc::vec::Vec;
use oxmpi_text::{Error, Expected, Scanner, Span, nearest};

/// The levels from the outermost to the PUs, and the NUMA nodes attached to the machine itself.
#[derive(Debug)]
pub(super) struct Description {
    pub(super) attached: Vec<Numa>,
    pub(super) levels: Vec<Level>,
}

impl Description {
    /// All NUMA nodes in brackets, in order of the text.
    pub(super) fn brackets(&self) -> impl Iterator<Item = &Numa> {
        let inside = self.levels.iter().flat_map(|level| &level.attached);
        self.attached.iter().chain(inside)
    }
}

/// The objects of one kind: `arity` in each object of the level before.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) kind: Kind,
    /// Whether a cache holds only data: `l1d`, and level 1 if the string names no kinds.
    pub(super) is_data: bool,
    pub(super) arity: usize,
    pub(super) attributes: Attributes,
    /// NUMA nodes attached to each object of this level.
    pub(super) attached: Vec<Numa>,
    /// The position of the level in the text.
    pub(super) span: Span,
}

/// A NUMA node in brackets, one for each object of its level.
#[derive(Debug)]
pub(super) struct Numa {
    pub(super) attributes: Attributes,
    pub(super) span: Span,
}

#[derive(Debug, Default)]
pub(super) struct Attributes {
    /// The bytes of a cache.
    pub(super) size: Option<u64>,
    /// The bytes of a NUMA node.
    pub(super) memory: Option<u64>,
    /// The operating system's numbers, and their position in the text.
    pub(super) indexes: Option<(Indexes, Span)>,
}

/// The numbering of the objects of a level.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Indexes {
    /// The number of each object, in order of the tree.
    List(Vec<u32>),
    /// Loops of `step * count` over the positions in the tree, fastest first.
    Loops(Vec<(usize, usize)>),
    /// Loops over the objects of these kinds, fastest first, each with its position in the text.
    Kinds(Vec<(Kind, Span)>),
}

/// More levels than any machine has; limits the work for a hostile string.
const MOST_LEVELS: usize = 16;

const KINDS: &[&str] = &[
    "group", "package", "die", "numa", "l1", "l2", "l3", "l4", "l5", "l1i", "l2i", "l3i", "core",
    "pu",
];

/// The kinds of levels in a string without kinds, innermost first, each with the smallest number of levels
/// that includes it.
const DEFAULT_KINDS: [(Kind, usize); 8] = [
    (Kind::Pu, 1),
    (Kind::Core, 4),
    (Kind::L1i, 8),
    (Kind::L1, 6),
    (Kind::L2, 5),
    (Kind::L3, 7),
    (Kind::Numa, 2),
    (Kind::Package, 3),
];

pub(super) fn description(text: &str) -> Result<Description, Error> {
    let mut scanner = Scanner::new(text);
    let mut attached = Vec::new();
    let mut levels: Vec<(Option<Kind>, Level)> = Vec::new();
    scanner.skip_blanks();
    while !scanner.is_done() {
        if levels.len() == MOST_LEVELS {
            return Err(scanner.wrong(Expected::Text("at most 16 levels")));
        }
        if scanner.eat('[') {
            let numa = bracket(&mut scanner)?;
            levels
                .last_mut()
                .map_or(&mut attached, |(_, level)| &mut level.attached)
                .push(numa);
        } else {
            levels.push(level(&mut scanner)?);
        }
        scanner.skip_blanks();
    }
    let levels = with_kinds(levels, &scanner)?;
    let description = Description { attached, levels };
    check_kinds(&description)?;
    Ok(description)
}

/// Parses `core:4(attributes)` or `4(attributes)`; a level without a kind is PU at first.
fn level(scanner: &mut Scanner<'_>) -> Result<(Option<Kind>, Level), Error> {
    const LEVEL: &str = "a level such as core:4";
    let start = scanner.at();
    let word = scanner.rest();
    let typed = match scanner.peek() {
        Some(c) if c.is_ascii_digit() => None,
        _ => Some(kind(scanner, LEVEL)?),
    };
    let letter = word.chars().nth(2);
    if typed.is_some() && !scanner.eat(':') {
        return Err(scanner.wrong(Expected::Text("a colon and the number of objects")));
    }
    let before = scanner.clone();
    let arity = scanner.number("the number of objects")?;
    let count = Span {
        start: before.at(),
        end: scanner.at(),
    };
    if !(1..=Machine::LARGEST_CPU as u64 + 1).contains(&arity) {
        return Err(Error::new(count, "from 1 to 8192 objects"));
    }
    let kind = typed.unwrap_or(Kind::Pu);
    let attributes = attributes(scanner, kind)?;
    let span = Span {
        start,
        end: scanner.at(),
    };
    let level = Level {
        kind,
        is_data: kind.is_cache() && letter.is_some_and(|letter| letter.eq_ignore_ascii_case(&'d')),
        arity: arity as usize,
        attributes,
        attached: Vec::new(),
        span,
    };
    Ok((typed, level))
}

/// Parses the text after `[`: `numa(attributes)]`.
fn bracket(scanner: &mut Scanner<'_>) -> Result<Numa, Error> {
    const NODE: &str = "numa, for a node attached here";
    let start = scanner.at() - 1;
    let before = scanner.clone();
    if kind(scanner, NODE)? != Kind::Numa {
        return Err(before.wrong(Expected::Text(NODE)));
    }
    let attributes = attributes(scanner, Kind::Numa)?;
    if !scanner.eat(']') {
        return Err(scanner.wrong(Expected::Text("a closing bracket")));
    }
    let span = Span {
        start,
        end: scanner.at(),
    };
    Ok(Numa { attributes, span })
}

fn kind(scanner: &mut Scanner<'_>, expected: &'static str) -> Result<Kind, Error> {
    let before = scanner.clone();
    let word = scanner.take_while(|c| c.is_ascii_alphanumeric());
    match word.text.parse() {
        Ok(Kind::Machine) => Err(word.error("another kind: the machine itself is implicit")),
        Ok(kind) => Ok(kind),
        Err(_) if word.text.is_empty() => Err(before.wrong(Expected::Text(expected))),
        Err(_) => Err(Error {
            span: word.span,
            expected: Expected::OneOf(KINDS),
            suggestion: nearest(word.text, KINDS.iter().copied()),
        }),
    }
}

/// Parses `(size=2MB indexes=0,1)` or nothing.
fn attributes(scanner: &mut Scanner<'_>, kind: Kind) -> Result<Attributes, Error> {
    const NAMES: &[&str] = &["size=", "memory=", "indexes="];
    let mut attributes = Attributes::default();
    if !scanner.eat('(') {
        return Ok(attributes);
    }
    scanner.skip_blanks();
    while !scanner.eat(')') {
        let name = scanner.take_while(|c| c.is_ascii_alphabetic());
        let unknown = Error {
            expected: Expected::OneOf(NAMES),
            ..name.error("")
        };
        if !scanner.eat('=') {
            return Err(unknown);
        }
        match name.text {
            "size" if kind.is_cache() => attributes.size = Some(bytes(scanner)?),
            "memory" if kind == Kind::Numa => attributes.memory = Some(bytes(scanner)?),
            "indexes" => attributes.indexes = Some(indexes(scanner)?),
            "size" => return Err(name.error("memory= or indexes=; only caches have a size")),
            "memory" => return Err(name.error("size= or indexes=; only NUMA nodes have memory")),
            _ => return Err(unknown),
        }
        if !matches!(scanner.peek(), Some(' ' | ')')) {
            return Err(scanner.wrong(Expected::Text("a blank or a closing parenthesis")));
        }
        scanner.skip_blanks();
    }
    Ok(attributes)
}

fn bytes(scanner: &mut Scanner<'_>) -> Result<u64, Error> {
    const BYTES: &str = "bytes such as 32768, 2MiB or 16GB";
    let before = scanner.clone();
    let number = scanner.number(BYTES)?;
    let unit = scanner.take_while(|c| c.is_ascii_alphabetic());
    let factor: u64 = match unit.text.to_ascii_lowercase().as_str() {
        "" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        _ => return Err(unit.error("kB, MB, GB, TB, KiB, MiB, GiB or TiB")),
    };
    let too_many = || before.wrong(Expected::Text("less than 2^64 bytes"));
    number.checked_mul(factor).ok_or_else(too_many)
}

fn indexes(scanner: &mut Scanner<'_>) -> Result<(Indexes, Span), Error> {
    const LOOP: &str = "a step and a count such as 4*2";
    let start = scanner.at();
    let mut ahead = scanner.clone();
    let first = ahead.take_while(|c| c.is_ascii_alphanumeric());
    let indexes = if first.text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        Indexes::Kinds(separated(scanner, ':', |scanner| {
            let start = scanner.at();
            let kind = kind(scanner, "a kind")?;
            let end = scanner.at();
            Ok((kind, Span { start, end }))
        })?)
    } else if ahead.peek() == Some('*') {
        Indexes::Loops(separated(scanner, ':', |scanner| {
            let step = index(scanner, LOOP)?;
            match scanner.eat('*') {
                true => Ok((step as usize, index(scanner, LOOP)? as usize)),
                false => Err(scanner.wrong(Expected::Text(LOOP))),
            }
        })?)
    } else {
        const LIST: &str = "numbers such as 0,2,1,3, loops such as 4*2:1*4, or kinds";
        Indexes::List(separated(scanner, ',', |scanner| index(scanner, LIST))?)
    };
    let end = scanner.at();
    Ok((indexes, Span { start, end }))
}

/// Parses one or more items with `separator` between them.
fn separated<'a, T>(
    scanner: &mut Scanner<'a>,
    separator: char,
    item: impl Fn(&mut Scanner<'a>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let mut items = vec![item(scanner)?];
    while scanner.eat(separator) {
        items.push(item(scanner)?);
    }
    Ok(items)
}

/// Parses a number that an object may have.
fn index(scanner: &mut Scanner<'_>, expected: &'static str) -> Result<u32, Error> {
    let before = scanner.clone();
    match scanner.number(expected)? {
        number if number <= Machine::LARGEST_CPU as u64 => Ok(number as u32),
        _ => Err(before.wrong(Expected::Text("a number of at most 8191"))),
    }
}

/// Gives levels without kinds the kinds of hwloc.
fn with_kinds(
    levels: Vec<(Option<Kind>, Level)>,
    scanner: &Scanner<'_>,
) -> Result<Vec<Level>, Error> {
    let count = levels.len();
    let Some((first, _)) = levels.first() else {
        return Err(scanner.wrong(Expected::Text("levels such as package:2 core:4 pu:2")));
    };
    let typed = first.is_some();
    let mixed = levels.iter().find(|(kind, _)| kind.is_some() != typed);
    if let Some((_, level)) = mixed {
        return Err(Error::new(level.span, "kinds at every level or at none"));
    }
    let mut levels: Vec<Level> = levels.into_iter().map(|(_, level)| level).collect();
    if !typed {
        let used = DEFAULT_KINDS.iter().filter(|(_, from)| *from <= count);
        let kinds = used
            .map(|(kind, _)| *kind)
            .chain(core::iter::repeat(Kind::Group));
        for (level, kind) in levels.iter_mut().rev().zip(kinds) {
            level.kind = kind;
            level.is_data = kind == Kind::L1;
        }
    }
    Ok(levels)
}

/// Checks that the last level is PU, that kinds do not repeat, and that NUMA nodes are given and numbered in
/// one way.
fn check_kinds(description: &Description) -> Result<(), Error> {
    let levels = &description.levels;
    for (at, level) in levels.iter().enumerate() {
        if at + 1 == levels.len() && level.kind != Kind::Pu {
            return Err(Error::new(level.span, "pu as the last level"));
        }
        let repeated = levels[..at].iter().any(|before| before.kind == level.kind);
        if repeated && level.kind != Kind::Group {
            return Err(Error::new(level.span, "each kind at one level only"));
        }
        let inside_pu = at + 1 < levels.len() && level.kind == Kind::Pu;
        if inside_pu {
            return Err(Error::new(level.span, "pu as the last level only"));
        }
    }
    let has_level = levels.iter().any(|level| level.kind == Kind::Numa);
    let mut numbered = description
        .brackets()
        .filter(|numa| numa.attributes.indexes.is_some());
    match (description.brackets().next(), numbered.nth(1)) {
        (Some(numa), _) if has_level => Err(Error::new(
            numa.span,
            "NUMA nodes either as a level or in brackets",
        )),
        (_, Some(numa)) => Err(Error::new(
            numa.span,
            "one list of indexes, for the nodes of all brackets",
        )),
        _ => Ok(()),
    }
}
