//! `KMP_HW_SUBSET`: a part of the machine, counted level by level: `1s,4c@2,1t`.

use alloc::vec::Vec;

use oxmpi_text::{Error, Scanner, Span, Words};

use crate::openmp::map::{Level, Map};

/// So many of the parts of a level in each part around them, from one on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    level: Level,
    count: usize,
    offset: usize,
}

const NAMES: Words = Words(&[
    "s", "socket", "sockets", "d", "die", "dice", "c", "core", "cores", "t", "thread", "threads",
]);
const LEVELS: [Level; 4] = [Level::Package, Level::Die, Level::Core, Level::Thread];

/// Reads the setting: items `<count><level>[@<offset>]`, with commas or `x` between them. A count of `*` or none is all.
///
/// # Errors
/// Where an item does not read, or a level comes twice.
pub(crate) fn parse(text: &str) -> Result<Vec<Cut>, Error> {
    let mut scanner = Scanner::new(text);
    let mut cuts: Vec<Cut> = Vec::new();
    loop {
        scanner.skip_blanks();
        let digits = scanner.peek().is_some_and(|c| c.is_ascii_digit());
        let count = match digits {
            true => small(&mut scanner, "how many of a level, at least 1")?,
            false => {
                scanner.eat('*');
                usize::MAX
            }
        };
        let word = scanner.take_while(|c| c.is_ascii_alphabetic() && c != 'x' && c != 'X');
        let found = NAMES.find(&word.text.to_ascii_lowercase());
        let found = found.map_err(|error| Error {
            span: word.span,
            ..error
        })?;
        let level = LEVELS[found / 3];
        if count == 0 || cuts.iter().any(|cut| cut.level == level) {
            let span = Span {
                start: word.span.start,
                end: word.span.end,
            };
            return Err(Error::new(
                span,
                "each level once, with a count of at least 1",
            ));
        }
        let offset = match scanner.eat('@') {
            true => small(&mut scanner, "the first of them, from 0")?,
            false => 0,
        };
        cuts.push(Cut {
            level,
            count,
            offset,
        });
        scanner.skip_blanks();
        if !scanner.eat(',') && !scanner.eat('x') && !scanner.eat('X') {
            break;
        }
    }
    scanner.end("items such as 2s,4c@2,1t")?;
    Ok(cuts)
}

fn small(scanner: &mut Scanner<'_>, what: &'static str) -> Result<usize, Error> {
    scanner
        .number(what)
        .map(|number| usize::try_from(number).unwrap_or(usize::MAX))
}

/// The processors that are left of `map`: on each level that is named those counted; on others all.
pub(crate) fn left(map: &Map, cuts: &[Cut]) -> oxmpi_topo::CpuSet {
    let is_in = |ordinals: &[usize]| {
        cuts.iter().all(|cut| {
            let place = map.all.iter().position(|level| *level == cut.level);
            place.is_none_or(|place| {
                let ordinal = ordinals[place];
                ordinal >= cut.offset && ordinal - cut.offset < cut.count
            })
        })
    };
    let rows = map.rows.iter().filter(|row| is_in(&row.everywhere));
    rows.map(|row| row.cpu).collect()
}
