//! Computes the operating system's numbers of one level's objects from `indexes=`.

use super::parse::{Attributes, Indexes};
use crate::cpuset::CpuSet;
use crate::kind::Kind;
use crate::machine::Machine;
use alloc::vec;
use alloc::vec::Vec;
use oxmpi_text::{Error, Span};

/// The objects of one level of a synthetic string, in the whole machine.
pub(super) struct LevelObjects<'a> {
    pub(super) kind: Kind,
    pub(super) width: usize,
    pub(super) is_data: bool,
    pub(super) attributes: &'a Attributes,
}

/// The numbers of the objects of `row`, in order of the tree: from its attribute, or counting from 0.
pub(super) fn numbers(
    row: &LevelObjects<'_>,
    levels: &[LevelObjects<'_>],
) -> Result<Vec<u32>, Error> {
    let Some((indexes, span)) = &row.attributes.indexes else {
        return Ok((0..row.width as u32).collect());
    };
    let numbers = match indexes {
        Indexes::List(list) => list.clone(),
        Indexes::Loops(loops) => by_loops(loops, row.width, *span)?,
        Indexes::Kinds(kinds) => by_loops(&loops_of(kinds, row, levels)?, row.width, *span)?,
    };
    if numbers.len() != row.width {
        return Err(Error::new(*span, "one number for each object"));
    }
    let mut seen = CpuSet::new();
    for number in &numbers {
        let wrong = match row.kind {
            Kind::Pu | Kind::Numa if seen.contains(*number as usize) => "different numbers",
            Kind::Numa if *number as usize > Machine::LARGEST_NUMA => "numbers of at most 1023",
            _ => {
                seen.insert(*number as usize);
                continue;
            }
        };
        return Err(Error::new(*span, wrong));
    }
    Ok(numbers)
}

/// The digits of `n`, `step * count` each, fastest first, give the position of number `n`. A last loop of
/// step 1 is added if the others do not reach every position.
fn by_loops(loops: &[(usize, usize)], width: usize, span: Span) -> Result<Vec<u32>, Error> {
    let wrong = Error::new(span, "loops that reach each object of the level once");
    let mut loops = loops.to_vec();
    let reached = loops
        .iter()
        .try_fold(1, |all: usize, (_, count)| all.checked_mul(*count));
    let reached = reached.filter(|reached| *reached > 0 && width.is_multiple_of(*reached));
    let rest = width / reached.ok_or(wrong)?;
    if rest > 1 {
        loops.push((1, rest));
    }
    let mut numbers = vec![None; width];
    for number in 0..width {
        let (mut place, mut digits) = (0, number);
        for (step, count) in &loops {
            place += step * (digits % count);
            digits /= count;
        }
        match numbers.get_mut(place) {
            Some(free @ None) => *free = Some(number as u32),
            _ => return Err(wrong),
        }
    }
    Ok(numbers.into_iter().flatten().collect())
}

/// The loops over the objects of each kind inside the next listed kind that contains it.
fn loops_of(
    kinds: &[(Kind, Span)],
    row: &LevelObjects<'_>,
    levels: &[LevelObjects<'_>],
) -> Result<Vec<(usize, usize)>, Error> {
    let listed = |level: &LevelObjects<'_>| kinds.iter().any(|(kind, _)| *kind == level.kind);
    let mut loops = Vec::new();
    for (kind, span) in kinds {
        let at = levels.iter().position(|level| level.kind == *kind);
        let at = at.filter(|at| *kind != row.kind && row.width.is_multiple_of(levels[*at].width));
        let Some(at) = at else {
            return Err(Error::new(
                *span,
                "a kind of level around the one that is numbered",
            ));
        };
        let around = levels[..at].iter().rev().find(|level| listed(level));
        let width = levels[at].width;
        loops.push((
            row.width / width,
            width / around.map_or(1, |level| level.width),
        ));
    }
    Ok(loops)
}
