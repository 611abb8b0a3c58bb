//! `KMP_HW_SUBSET` (formerly `KMP_PLACE_THREADS`): restricts the machine to a number of parts on each level:
//! `1s,4c@2,1t`.

use alloc::vec::Vec;

use oxmpi_text::{Error, Expected, Scanner, Words};
use oxmpi_topo::{CpuSet, Machine};

use crate::openmp::layers::{self, Layer};
use crate::openmp::map::{Level, Map};
use crate::openmp::message::Message;

/// What an item counts: a level of the map, or a layer that may coincide with a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Level(Level),
    Layer(Layer),
}

/// Keeps `count` parts of a level in each parent, from the part `offset` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SubsetItem {
    part: Part,
    count: usize,
    offset: usize,
}

const PARTS: [(&[&str], Part); 10] = [
    (&["s", "socket", "sockets"], Part::Level(Level::Package)),
    (&["c", "core", "cores"], Part::Level(Level::Core)),
    (&["t", "thread", "threads"], Part::Level(Level::Thread)),
    (&["d", "die", "dice"], Part::Layer(Layer::Die)),
    (
        &["n", "numa_domain", "numa_domains"],
        Part::Layer(Layer::Numa),
    ),
    (&["tile", "tiles"], Part::Layer(Layer::Tile)),
    (&["module", "modules"], Part::Layer(Layer::Module)),
    (&["l3", "l3_cache", "l3_caches"], Part::Layer(Layer::L3)),
    (&["l2", "l2_cache", "l2_caches"], Part::Layer(Layer::L2)),
    (&["l1", "l1_cache", "l1_caches"], Part::Layer(Layer::L1)),
];
const NAMES: Words = Words(&[
    "socket",
    "die",
    "numa_domain",
    "l3_cache",
    "l2_cache",
    "core",
    "thread",
    "a level behind its count, such as 2c",
]);

/// Parses the setting: items `<count><level>[@<offset>]`, with commas or `x` between them. `*` or no count
/// means all.
///
/// # Errors
/// A syntax error, a count of 0, or a level that is given twice.
pub(crate) fn parse(text: &str) -> Result<Vec<SubsetItem>, Error> {
    let mut scanner = Scanner::new(text);
    let mut items: Vec<SubsetItem> = Vec::new();
    loop {
        scanner.skip_blanks();
        let start = scanner.clone();
        let item = item(&mut scanner)?;
        if item.count == 0 || items.iter().any(|other| other.part == item.part) {
            let expected = "each level once, with a count of at least 1";
            return Err(start.wrong(Expected::Text(expected)));
        }
        items.push(item);
        scanner.skip_blanks();
        if scanner.is_done() {
            return Ok(items);
        }
        if !scanner.eat(',') && !scanner.eat('x') && !scanner.eat('X') {
            return Err(scanner.wrong(Expected::Text("a comma or x between levels, such as 2c,1t")));
        }
    }
}

/// Reads one item such as `4c@2`.
fn item(scanner: &mut Scanner<'_>) -> Result<SubsetItem, Error> {
    let is_digit = |c: char| c.is_ascii_digit();
    let count = match scanner.peek().is_some_and(is_digit) {
        true => number(scanner)?,
        false => {
            scanner.eat('*');
            usize::MAX
        }
    };
    let part = part(scanner)?;
    let offset = match scanner.eat('@') {
        true => number(scanner)?,
        false => 0,
    };
    Ok(SubsetItem {
        part,
        count,
        offset,
    })
}

/// Reads the name of a part: the longest that the text continues with.
fn part(scanner: &mut Scanner<'_>) -> Result<Part, Error> {
    let rest = scanner.rest();
    let begins = |name: &&&str| {
        let begin = rest.get(..name.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(name))
    };
    let longest = |(names, part): &(&[&'static str], Part)| {
        let found = names.iter().filter(begins).map(|name| name.len()).max();
        found.map(|length| (length, *part))
    };
    let found = PARTS
        .iter()
        .filter_map(longest)
        .max_by_key(|(length, _)| *length);
    match found {
        Some((length, part)) => {
            for letter in rest[..length].chars() {
                scanner.eat(letter);
            }
            Ok(part)
        }
        None => Err(scanner.wrong(Expected::OneOf(NAMES.0))),
    }
}

fn number(scanner: &mut Scanner<'_>) -> Result<usize, Error> {
    let number = scanner.number("a number")?;
    Ok(usize::try_from(number).unwrap_or(usize::MAX))
}

/// The processors of `map` that the items keep; levels without an item keep all.
///
/// # Errors
/// A level that the machine does not have; items that leave no processor.
pub(crate) fn left(machine: &Machine, map: &Map, items: &[SubsetItem]) -> Result<CpuSet, Message> {
    let mut left: Vec<(usize, &SubsetItem)> = Vec::with_capacity(items.len());
    for item in items {
        left.push((place(machine, map, item.part)?, item));
    }
    let is_in = |ordinals: &[usize]| {
        left.iter().all(|(place, item)| {
            let ordinal = ordinals[*place];
            ordinal >= item.offset && ordinal - item.offset < item.count
        })
    };
    let rows = map.rows.iter().filter(|row| is_in(&row.everywhere));
    let left: CpuSet = rows.map(|row| row.cpu).collect();
    match left.is_empty() {
        true => Err(Message::SubsetEmpty),
        false => Ok(left),
    }
}

/// The index of a part among the levels of the machine.
fn place(machine: &Machine, map: &Map, part: Part) -> Result<usize, Message> {
    let of_level = |level| map.all.iter().position(|other| *other == level);
    match part {
        Part::Level(level) => of_level(level).ok_or(Message::SubsetEmpty),
        Part::Layer(layer) => {
            let die = (layer == Layer::Die)
                .then(|| of_level(Level::Die))
                .flatten();
            let equivalent = || {
                let layers = layers::equivalent(machine, map);
                let (_, level) = layers.into_iter().find(|(other, _)| *other == layer)?;
                of_level(level)
            };
            die.or_else(equivalent)
                .ok_or(Message::SubsetLevel(layer.name()))
        }
    }
}
