//! The title above the machine and the legend below: the caller's lines, the machine's source, the meaning of
//! colours.

use super::boxes::{Face, Marks, line};
use super::cells::{Cell, GAP};
use super::palette::Look;
use super::widths::Font;
use super::{Numbers, SvgOptions, labels};
use crate::kind::Kind;
use crate::machine::Machine;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The most overlays that a legend names; of the rest it gives the number.
const MOST: usize = 256;

/// The most pixels of a line.
const LINE: u32 = 420;

/// The caller's lines above the picture.
pub(super) fn title(options: &SvgOptions) -> Vec<Cell> {
    let cut = |text: &String| line(Font::Title, Font::Title.cut(&labels::clean(text), 2 * LINE));
    match options.title.is_empty() {
        true => Vec::new(),
        false => {
            let lines = options.title.iter().map(cut).collect();
            Vec::from([Cell::panel(Face::new(Look::Plain, lines), None)])
        }
    }
}

/// A frame that explains the picture above it, which is `width` wide.
pub(super) fn legend(machine: &Machine, options: &SvgOptions, width: u32) -> Option<Cell> {
    if !options.legend {
        return None;
    }
    let mut cells: Vec<Cell> = facts(machine, options)
        .into_iter()
        .map(|fact| entry(fact, None))
        .collect();
    cells.extend(samples(machine));
    let listed = options.overlays.iter().take(MOST);
    cells.extend(listed.map(|overlay| {
        let text = format!("{}: {}", labels::clean(&overlay.label), overlay.cpus);
        entry(text, Some((Look::Pu, overlay.sample())))
    }));
    let more = options.overlays.len().saturating_sub(MOST);
    if more > 0 {
        cells.push(entry(format!("and {more} more"), None));
    }
    // The most columns that fit.
    let widest = cells
        .iter()
        .map(|cell| cell.least.width + GAP)
        .max()
        .unwrap_or(1);
    let columns = (width.saturating_sub(GAP) / widest).max(1) as usize;
    let rows = cells.len().div_ceil(columns).max(1);
    let columns = cells.len().div_ceil(rows);
    let grid = Cell::table(cells, columns);
    Some(Cell::panel(Face::new(Look::Legend, Vec::new()), grid))
}

fn entry(text: String, sample: Option<(Look, Marks)>) -> Cell {
    let mut face = Face::new(
        Look::Entry,
        Vec::from([line(Font::Leaf, Font::Leaf.cut(&text, LINE))]),
    );
    if face.lines[0].text != text {
        face.tooltip = text;
    }
    if let Some((look, marks)) = sample {
        face.sample = Some(look);
        face.marks = marks;
    }
    Cell::panel(face, None)
}

/// The host, the source and the meaning of numbers.
fn facts(machine: &Machine, options: &SvgOptions) -> Vec<String> {
    let mut facts = Vec::new();
    let infos = machine.root().infos();
    let host = infos.iter().find(|info| info.name == "HostName");
    facts.extend(host.map(|host| format!("Host: {}", labels::clean(&host.value))));
    facts.push(format!("Source: {}", machine.source()));
    facts.push(census(machine));
    let (logical, os) = ("L#: logical number", "P#: number of the operating system");
    match options.numbers {
        Numbers::Both => facts.extend([logical.to_string(), os.to_string()]),
        Numbers::Logical => facts.push(logical.to_string()),
        Numbers::Physical => facts.push(os.to_string()),
    }
    facts
}

/// The number of objects of each kind: `2 packages, 8 cores, 16 PUs`.
pub(super) fn census(machine: &Machine) -> String {
    let kinds = [
        (Kind::Package, "package"),
        (Kind::Numa, "NUMA node"),
        (Kind::Core, "core"),
        (Kind::Pu, "PU"),
    ];
    let count = |(kind, name)| match machine.objects(kind).len() {
        0 => None,
        1 => Some(format!("1 {name}")),
        count => Some(format!("{count} {name}s")),
    };
    kinds
        .into_iter()
        .filter_map(count)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Entries for the looks in this picture that need an explanation.
fn samples(machine: &Machine) -> Vec<Cell> {
    let hatched = Marks {
        is_hatched: true,
        ..Marks::default()
    };
    let mut cells = Vec::new();
    let hides = |kind| {
        machine
            .objects(kind)
            .any(|object| !labels::is_allowed(object))
    };
    if hides(Kind::Pu) || hides(Kind::Numa) {
        cells.push(entry("not allowed".into(), Some((Look::Pu, hatched))));
    }
    if !machine.offline().is_empty() {
        cells.push(entry(
            "offline".into(),
            Some((Look::Offline, Marks::default())),
        ));
    }
    if let [first, others @ ..] = machine.core_kinds()
        && !others.is_empty()
    {
        let kinds = core::iter::once((Look::Core, first))
            .chain(others.iter().map(|kind| (Look::OtherCore, kind)));
        for (look, kind) in kinds {
            let name = kind
                .name
                .as_deref()
                .map_or_else(|| "core of a kind".into(), labels::clean);
            let text = format!("{name}: {}", kind.cpus);
            cells.push(entry(text, Some((look, Marks::default()))));
        }
    }
    cells
}
