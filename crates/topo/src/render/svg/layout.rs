//! Arranges a machine into boxes: chooses the boxes, their texts, and their positions relative to each other.
//!
//! Packages, dies, groups and cores are frames around their contents. Caches are bars above the cores they
//! serve, an instruction cache beside the data cache of its level. NUMA nodes, with the memory-side caches in
//! front of them, are above the object that they are attached to; devices at its right or below, whichever is
//! nearer to the wanted aspect.

use super::boxes::{Face, Scene, Size, line};
use super::cells::{Cell, GAP, GridConstraints};
use super::overlay::OverlaysByCpu;
use super::palette::Look;
use super::widths::Font;
use super::{SvgOptions, devices, labels, legend};
use crate::kind::Kind;
use crate::machine::Machine;
use crate::object::Object;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The aspects that boxes inside the machine try, relative to that of the whole: narrow boxes may make a
/// better whole than boxes that each fit best.
const INNER: [f64; 5] = [1.0, 0.7, 1.4, 0.4, 2.5];

/// The whole picture of a machine.
pub(super) fn scene(machine: &Machine, options: &SvgOptions) -> Scene {
    let overlaid = OverlaysByCpu::new(&options.overlays, machine.online());
    let whole = GridConstraints {
        aspect: options.aspect.clamp(1.0 / 32.0, 32.0),
        above: Size::default(),
    };
    let mut best: Option<Cell> = None;
    for part in INNER {
        let fit = GridConstraints {
            aspect: whole.aspect * part,
            ..whole
        };
        let cell = Layout::new(machine, options, &overlaid, fit).object(machine.root());
        if best
            .as_ref()
            .is_none_or(|best| whole.misfit(cell.least) < 0.9 * whole.misfit(best.least))
        {
            best = Some(cell);
        }
    }
    let mut cells = legend::title(options);
    cells.extend(best);
    let width = cells.iter().map(|cell| cell.least.width).max();
    cells.extend(legend::legend(machine, options, width.unwrap_or(0)));
    Cell::column(cells).map_or_else(Scene::default, Cell::scene)
}

/// The data that all objects of a picture share.
struct Layout<'a> {
    options: &'a SvgOptions,
    overlaid: &'a OverlaysByCpu<'a>,
    fit: GridConstraints,
    /// The width of the widest name of each kind: all objects of a kind have this room, so that they look
    /// alike.
    widest: [u32; Kind::COUNT],
}

impl<'a> Layout<'a> {
    fn new(
        machine: &Machine,
        options: &'a SvgOptions,
        overlaid: &'a OverlaysByCpu<'a>,
        fit: GridConstraints,
    ) -> Self {
        let mut layout = Self {
            options,
            overlaid,
            fit,
            widest: [0; Kind::COUNT],
        };
        for object in machine.iter() {
            let width = Cell::panel(layout.face(object), None).least.width;
            let widest = &mut layout.widest[object.kind() as usize];
            *widest = width.max(*widest);
        }
        layout
    }

    fn above(&self, above: Size) -> GridConstraints {
        GridConstraints { above, ..self.fit }
    }

    fn object(&self, object: Object<'_>) -> Cell {
        let kind = object.kind();
        if kind == Kind::Pu {
            return self.leaf(object);
        }
        if kind.is_cache() {
            return self.cache(object);
        }
        let mut cells: Vec<Cell> = self.memory(object).into_iter().collect();
        let above = stacked(core::iter::once(&self.leaf(object)).chain(&cells));
        cells.extend(self.inside(object, above));
        if kind == Kind::Machine {
            cells.extend(self.offline(object.machine, above));
        }
        let cell = Cell::panel(self.face(object), Cell::column(cells));
        cell.at_least(self.widest[kind as usize])
    }

    /// The box of an object, without its contents.
    fn leaf(&self, object: Object<'_>) -> Cell {
        Cell::panel(self.face(object), None).at_least(self.widest[object.kind() as usize])
    }

    fn face(&self, object: Object<'_>) -> Face {
        let kind = object.kind();
        let name = labels::name(object, self.options.numbers);
        let size = labels::size(object).map(|size| Font::Leaf.cut(&size, 160));
        let mut face = match (kind, size) {
            (Kind::Pu, _) => self.pu(object),
            (Kind::Numa, Some(size)) => bar(kind, [format!("{name} ({size})")]),
            (_, Some(size)) if is_in_pair(object) => bar(kind, [name, size]),
            (_, Some(size)) if kind.is_cache() => bar(kind, [format!("{name} ({size})")]),
            (_, None) if kind.is_cache() || kind == Kind::Numa => bar(kind, [name]),
            (_, size) => {
                let look = match kind {
                    Kind::Core if is_of_other_kind(object) => Look::OtherCore,
                    _ => Look::of(kind),
                };
                let size = size.map_or_else(String::new, |size| format!(" ({size} memory)"));
                Face::new(look, Vec::from([line(Font::Head, name + &size)]))
            }
        };
        face.marks.is_hatched = !labels::is_allowed(object);
        face.tooltip.insert_str(0, &labels::facts(object));
        face
    }

    fn pu(&self, pu: Object<'_>) -> Face {
        let cpu = pu.os().unwrap_or(0) as usize;
        let mut lines = labels::numbers(pu, self.options.numbers);
        if let Some(first) = lines.first_mut() {
            first.insert_str(0, "PU ");
        }
        lines.extend(self.overlaid.label(cpu));
        let mut face = bar(Kind::Pu, lines);
        face.marks = self.overlaid.marks(cpu);
        face.foot = self.overlaid.foot();
        face.tooltip = self.overlaid.facts(cpu);
        face
    }

    /// A cache as a bar, or two side by side, above its users.
    fn cache(&self, cache: Object<'_>) -> Cell {
        let beside = beside(cache);
        let mut cells: Vec<Cell> = self.memory(cache).into_iter().collect();
        cells.extend(beside.and_then(|beside| self.memory(beside)));
        let bars = core::iter::once(cache).chain(beside);
        cells.extend(Cell::row(bars.map(|bar| self.leaf(bar)).collect()));
        let above = stacked(&cells);
        let outer = beside.map(|_| self.devices(cache));
        cells.extend(outer.and_then(|devices| Cell::grid(devices, self.above(above))));
        let last = beside.unwrap_or(cache);
        cells.extend(self.inside(last, above));
        let is_one_of_several = cache.siblings().next().is_some();
        let is_shared = is_one_of_several && last.children().len() > 1;
        match Cell::column(cells) {
            Some(column) if is_shared => {
                Cell::panel(Face::new(Look::Scope, Vec::new()), Some(column))
            }
            column => column.unwrap_or_else(|| self.leaf(cache)),
        }
    }

    /// The NUMA nodes attached to an object, each above the memory-side caches in front of it.
    fn memory(&self, object: Object<'_>) -> Option<Cell> {
        let node = |node: Object<'_>| {
            let mut cells = Vec::from([self.leaf(node)]);
            for cache in node.side_caches().iter().rev() {
                let size = match cache.size {
                    0 => String::new(),
                    size => format!(" ({})", labels::bytes(size)),
                };
                let text = format!("Memory-side cache{size}");
                let mut face = Face::new(Look::SideCache, Vec::from([line(Font::Leaf, text)]));
                face.tooltip = format!("Memory-side cache of {node}\n{}", labels::cache(*cache));
                cells.push(Cell::panel(face, None));
            }
            Cell::column(cells)
        };
        let nodes = object.memory().filter_map(node).collect();
        Cell::grid(nodes, self.fit)
    }

    /// The contents of an object, and the devices near it, at the right or below.
    fn inside(&self, object: Object<'_>, above: Size) -> Option<Cell> {
        let fit = self.above(above);
        let children = object.children().map(|child| self.object(child)).collect();
        let (children, devices) = (Cell::grids(children, fit), self.devices(object));
        let Some(children) = children else {
            return Cell::grid(devices, fit);
        };
        let a = children.least;
        let at_right = |b: Size| {
            fit.cost(Size {
                width: a.width + GAP + b.width,
                height: a.height.max(b.height),
            })
        };
        let below = |b: Size| {
            fit.cost(Size {
                width: a.width.max(b.width),
                height: a.height + GAP + b.height,
            })
        };
        let column = Cell::best(devices.clone(), at_right);
        match (column, Cell::best(devices, below)) {
            (Some(column), Some(row)) => match at_right(column.least) <= below(row.least) {
                true => Cell::row(Vec::from([children, column])),
                false => Cell::column(Vec::from([children, row])),
            },
            _ => Some(children),
        }
    }

    /// The devices attached to an object and to its NUMA nodes.
    fn devices(&self, object: Object<'_>) -> Vec<Cell> {
        let near = core::iter::once(object).chain(object.memory());
        let roots = near.flat_map(|object| object.devices());
        devices::cells(roots.filter(|_| self.options.devices))
    }

    /// The offline processors, which are not in the tree.
    fn offline(&self, machine: &Machine, above: Size) -> Option<Cell> {
        let pu = |cpu: usize| {
            let lines = Vec::from([line(Font::Leaf, format!("PU P#{cpu}"))]);
            let mut face = Face::new(Look::Offline, lines);
            face.tooltip = format!("PU P#{cpu}\noffline");
            Cell::panel(face, None)
        };
        let pus: Vec<Cell> = machine.offline().iter().map(pu).collect();
        let wide = GridConstraints {
            aspect: 32.0,
            above,
        };
        let pus = Cell::grid(pus, wide)?;
        let face = Face::new(Look::Group, Vec::from([line(Font::Head, "Offline")]));
        Some(Cell::panel(face, Some(pus)))
    }
}

/// A box with only lines of text in it.
fn bar(kind: Kind, lines: impl IntoIterator<Item = String>) -> Face {
    let lines = lines.into_iter().map(|text| line(Font::Leaf, text));
    Face::new(Look::of(kind), lines.collect())
}

/// The size of cells one above the other, with a gap below the last.
fn stacked<'c>(cells: impl IntoIterator<Item = &'c Cell>) -> Size {
    cells
        .into_iter()
        .map(|cell| cell.least)
        .fold(Size::default(), |sum, size| Size {
            width: sum.width.max(size.width),
            height: sum.height + size.height + GAP,
        })
}

/// The instruction cache beside a cache: its only child, of the same level.
fn beside(cache: Object<'_>) -> Option<Object<'_>> {
    let mut children = cache.children();
    let only = children.next().filter(|_| children.next().is_none())?;
    let is_beside = only.kind().holds_instructions_only()
        && !cache.kind().holds_instructions_only()
        && only.kind().cache_level() == cache.kind().cache_level()
        && only.cpus() == cache.cpus();
    is_beside.then_some(only)
}

/// Whether the object is one of two caches side by side.
fn is_in_pair(object: Object<'_>) -> bool {
    let outer = object.parent().and_then(beside);
    outer == Some(object) || object.kind().is_cache() && beside(object).is_some()
}

/// Whether a core is of another kind than the machine's first kind.
fn is_of_other_kind(core: Object<'_>) -> bool {
    match core.machine.core_kinds() {
        [] | [_] => false,
        [first, ..] => !core.cpus().is_subset(&first.cpus),
    }
}
