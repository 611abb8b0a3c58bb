//! Reads the variables of pinning as the launcher of Intel MPI 2021 does: it accepts every value.

use alloc::vec::Vec;

use oxmpi_topo::CpuSet;

use super::{Compat, Settings, omp_threads};
use crate::intel::{
    Amount, Cell, Cells, Domain, Layout, Map, Members, Order, PARTS, Part, ProcessorList, Shape,
    Size, mask,
};

/// The settings that the launcher makes of its variables.
pub(super) fn read<'a>(value: &impl Fn(&str) -> Option<&'a str>) -> Settings {
    let is_off = |name| matches!(value(name), Some("0" | "no" | "off" | "disable"));
    let cell = match value("I_MPI_PIN_CELL") {
        Some("core") => Some(Cell::Core),
        Some("unit") => Some(Cell::Unit),
        _ => None,
    };
    let mut settings = Settings {
        compat: Compat::Intel2021,
        pin: !is_off("I_MPI_PIN"),
        order: value("I_MPI_PIN_ORDER").map_or(Order::Bunch, order),
        cell,
        exclude: value("I_MPI_PIN_PROCESSOR_EXCLUDE_LIST")
            .and_then(|text| CpuSet::parse_list(text).ok())
            .unwrap_or_default(),
        respect_cpuset: !is_off("I_MPI_PIN_RESPECT_CPUSET"),
        respect_hca: !is_off("I_MPI_PIN_RESPECT_HCA"),
        omp_threads: value("OMP_NUM_THREADS").and_then(omp_threads),
        ..Settings::default()
    };
    let list = value("I_MPI_PIN_PROCS").or_else(|| value("I_MPI_PIN_PROCESSOR_LIST"));
    match (value("I_MPI_PIN_DOMAIN").map(domain), list.map(processors)) {
        (Some(Some(domain)), _) => settings.domain = Some(domain),
        // The launcher pins each rank to one processor if it does not know the domain.
        (Some(None), _) => {
            settings.processors = Some(ProcessorList::Of(Members::all(Cells::Units)));
        }
        (None, Some(Some(list))) => settings.processors = Some(list),
        // The launcher pins no rank if it cannot read the list.
        (None, Some(None)) => settings.pin = false,
        (None, None) => {}
    }
    settings
}

fn order(text: &str) -> Order {
    // The launcher takes unknown orders as `range`, not as the default.
    text.parse().unwrap_or(Order::Range)
}

fn domain(text: &str) -> Option<Domain> {
    if let Some(masks) = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
    {
        let masks = masks.split(',').map(|text| mask(text).unwrap_or_default());
        return Some(Domain::Masks(masks.collect()));
    }
    let (word, layout) = match text.split_once(':') {
        Some((word, layout)) => (word, Some(layout)),
        None => (text, None),
    };
    let size = match word {
        "auto" => Some(Size::Auto),
        "omp" => Some(Size::Omp),
        _ => leading(word).map(Size::Number),
    };
    match (Shape::of(word), size, layout) {
        (Some(shape), _, None) => Some(Domain::Shape(shape)),
        (Some(Shape::Numa), _, Some(_)) => Some(Domain::Shape(Shape::Numa)),
        (None, Some(size), layout) => {
            let layout = match layout {
                Some("platform") => Layout::Platform,
                Some("scatter") => Layout::Scatter,
                _ => Layout::Compact,
            };
            Some(Domain::Size(size, layout))
        }
        _ => None,
    }
}

/// The number at the start of a text.
fn leading(text: &str) -> Option<u32> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    (digits > 0).then(|| text[..digits].parse().unwrap_or(u32::MAX))
}

/// Reads a processor list; `None` for a syntax error in a list of numbers.
fn processors(text: &str) -> Option<ProcessorList> {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return these(text).map(ProcessorList::These);
    }
    let (set, options) = match text.split_once(':') {
        Some((set, options)) if !set.contains('=') => (set, options),
        None if !text.contains('=') => (text, ""),
        _ => ("", text),
    };
    let cells = match set {
        "all" => Cells::Units,
        "allsocks" => Cells::Sockets,
        _ => Cells::Cores,
    };
    let mut members = Members::all(cells);
    for option in options.split([',', ':']) {
        let Some((name, value)) = option.split_once('=') else {
            continue;
        };
        match name {
            "map" => members.map = map(value),
            "grain" => members.grain = amount(value),
            "shift" => members.shift = amount(value),
            "preoffset" => members.preoffset = amount(value),
            "postoffset" | "offset" => members.postoffset = amount(value),
            _ => {}
        }
    }
    Some(ProcessorList::Of(members))
}

fn map(text: &str) -> Option<Map> {
    match text {
        "bunch" => Some(Map::Bunch),
        "scatter" => Some(Map::Scatter),
        "spread" => Some(Map::Spread),
        _ => None,
    }
}

fn amount(text: &str) -> Option<Amount> {
    let part = PARTS.iter().find(|(word, _)| *word == text);
    match part {
        // The reference has `quarter`, the launcher does not know it.
        Some((_, Part::Fraction(4))) => None,
        Some((_, part)) => Some(Amount::Part(*part)),
        None => text.parse().ok().filter(|n| *n > 0).map(Amount::Number),
    }
}

/// Reads numbers and ranges such as `0,2-3,7-5`, up to a colon or a blank; empty members are skipped.
fn these(text: &str) -> Option<Vec<Option<usize>>> {
    let list = text.split([':', ' ']).next().unwrap_or(text);
    let mut processors = Vec::new();
    for member in list.split(',').filter(|member| !member.is_empty()) {
        match member {
            "-1" => processors.push(None),
            _ => {
                let one: ProcessorList = member.parse().ok()?;
                let ProcessorList::These(some) = one else {
                    return None;
                };
                processors.extend(some);
            }
        }
    }
    Some(processors)
}
