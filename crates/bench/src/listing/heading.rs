//! Reads the heading of a table, the lines between two rules above it: benchmark, ranks and groups.

use super::lines::{Kind, Line, Lines, are_columns};
use super::{ListingError, shown};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The heading of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heading {
    /// The benchmark's name, without `Multi-`.
    pub benchmark: String,
    /// Whether several groups may run the benchmark at once: the multiple mode.
    pub multiple: bool,
    /// How the transfers complete, such as `AGGREGATE`, where the benchmark has such modes.
    pub mode: Option<String>,
    /// Ranks that take part, in each group.
    pub processes: usize,
    /// Ranks that wait in a barrier.
    pub waiting: usize,
    /// The ranks of each group, where several run at once.
    pub groups: Vec<Vec<usize>>,
    /// The ranks that take part, row by row of the map, where the listing has it.
    pub order: Vec<Vec<usize>>,
}

/// Reads from one rule to the next, both included.
pub(super) fn read(lines: &mut Lines<'_>) -> Result<Heading, ListingError> {
    let mut heading = Heading::default();
    let mut count = None;
    let mut ordered = false;
    let first = lines.next();
    loop {
        let Some(line) = lines.peek() else {
            return Err(lines.ended("the listing ends in a heading"));
        };
        let text = match line.kind {
            Kind::Rule => break,
            Kind::Comment(text) => text,
            Kind::Text(text) if are_columns(text) => {
                return Err(line.error("a heading ends with a rule '#-----'"));
            }
            Kind::Blank | Kind::Text(_) => {
                lines.skip();
                continue;
            }
        };
        if let Some(name) = text.strip_prefix("Benchmarking ") {
            let plain = name.strip_prefix("Multi-");
            heading.multiple = plain.is_some();
            heading.benchmark = plain.unwrap_or(name).into();
        } else if let Some(rest) = text.strip_prefix("#processes =") {
            let (number, rest) = rest.split_once(';').unwrap_or((rest, ""));
            heading.processes = whole(&line, number)?;
            ordered = rest.contains("rank order");
        } else if let Some(rest) = text.strip_prefix("Group ") {
            let (number, ranks) = rest.split_once(':').unwrap_or((rest, ""));
            let number = whole(&line, number)?;
            if number != heading.groups.len() {
                let expected = heading.groups.len();
                return Err(line.error(format!("group {number} where {expected} comes next")));
            }
            let Some(ranks) = numbers(ranks) else {
                let why = format!("'{}' are no ranks of a group", shown(ranks));
                return Err(line.error(why));
            };
            heading.groups.push(ranks);
        } else if let Some(rest) = text.strip_prefix('(') {
            let words: Vec<&str> = rest.split_whitespace().collect();
            match words[..] {
                [number, "groups", "of", size, ..] => {
                    count = Some(whole(&line, number)?);
                    heading.processes = whole(&line, size)?;
                }
                [number, "additional", ..] => heading.waiting = whole(&line, number)?,
                _ => {
                    lines.skip();
                    continue;
                }
            }
        } else {
            match (numbers(text), heading.groups.last_mut()) {
                (Some(ranks), Some(group)) => group.extend(ranks),
                (Some(ranks), None) if ordered => heading.order.push(ranks),
                _ => {
                    lines.skip();
                    continue;
                }
            }
        }
        lines.next();
    }
    lines.next();
    let first = first.as_ref().map_or(1, |line| line.number);
    complete(&heading, count).map_err(|why| ListingError { line: first, why })?;
    Ok(heading)
}

/// Checks that the parts of a heading are there and agree.
fn complete(heading: &Heading, count: Option<usize>) -> Result<(), String> {
    if heading.benchmark.is_empty() {
        return Err("the heading has no line '# Benchmarking NAME'".into());
    }
    if heading.processes == 0 {
        return Err(format!(
            "the heading of {} tells no number of processes",
            shown(&heading.benchmark)
        ));
    }
    let listed = heading.groups.len();
    if count.is_some_and(|count| count != listed) {
        let count = count.unwrap_or_default();
        return Err(format!(
            "the heading says {count} groups and lists {listed}"
        ));
    }
    let size = heading.processes;
    if let Some(group) = heading.groups.iter().find(|group| group.len() != size) {
        let found = group.len();
        return Err(format!("a group of {found} ranks among groups of {size}"));
    }
    let ordered: usize = heading.order.iter().map(Vec::len).sum();
    if !heading.order.is_empty() && ordered != size {
        return Err(format!("the order of {size} processes lists {ordered}"));
    }
    Ok(())
}

fn whole(line: &Line<'_>, text: &str) -> Result<usize, ListingError> {
    let text = text.trim();
    text.parse()
        .map_err(|_| line.error(format!("'{}' is no whole number", shown(text))))
}

/// The numbers of ranks in a text of nothing else.
fn numbers(text: &str) -> Option<Vec<usize>> {
    text.split_whitespace()
        .map(|word| word.parse().ok())
        .collect()
}
