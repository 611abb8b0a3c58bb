//! Computes the room that boxes need: [`Cell`]s are sized from the inside out, and a grid of cells chooses
//! its number of columns.

use super::boxes::{Face, Size};
use super::palette::Look;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// Pixels between neighbouring boxes, and between a box and its contents.
pub(super) const GAP: u32 = 8;

/// Pixels below a box's upper edge at which a line to the box ends.
pub(super) const WIRE: u32 = 17;

/// The length of a bridge's edges.
pub(super) const BRIDGE: u32 = 10;

/// An element that takes room in a picture.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) least: Size,
    pub(super) content: Content,
    /// Whether it keeps its width if there is more room.
    pub(super) is_rigid: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Panel {
        face: Face,
        inner: Option<Box<Cell>>,
    },
    Grid {
        cells: Vec<Cell>,
        tracks: Tracks,
    },
    Bridge {
        face: Face,
        reach: u32,
        behind: Vec<(Option<Face>, Cell)>,
    },
}

/// The widths of a grid's columns and the heights of its rows.
#[derive(Clone, Debug)]
pub(super) struct Tracks {
    pub(super) widths: Vec<u32>,
    pub(super) heights: Vec<u32>,
}

impl Tracks {
    fn of(cells: &[Cell], columns: usize) -> Self {
        let mut widths = vec![0; columns];
        let mut heights = vec![0; cells.len().div_ceil(columns)];
        for (place, cell) in cells.iter().enumerate() {
            let (width, height) = (&mut widths[place % columns], &mut heights[place / columns]);
            *width = cell.least.width.max(*width);
            *height = cell.least.height.max(*height);
        }
        Self { widths, heights }
    }

    pub(super) fn size(&self) -> Size {
        let sum = |tracks: &[u32]| {
            let gaps = tracks.len().saturating_sub(1) as u32 * GAP;
            tracks.iter().sum::<u32>() + gaps
        };
        Size {
            width: sum(&self.widths),
            height: sum(&self.heights),
        }
    }
}

/// The constraints by which a grid chooses its number of columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridConstraints {
    /// The wanted ratio of width to height of the whole.
    pub(super) aspect: f64,
    /// The size of the boxes above the grid, in the same width.
    pub(super) above: Size,
}

impl GridConstraints {
    /// How far the aspect of this size is from the wanted one: 1 is best.
    pub(super) fn misfit(self, size: Size) -> f64 {
        let width = size.width.max(self.above.width).max(1);
        let height = (size.height + self.above.height).max(1);
        let ratio = f64::from(width) / f64::from(height) / self.aspect;
        ratio.max(1.0 / ratio)
    }

    /// The misfit weighted by the area: 1 for a square of one pixel if a square is wanted.
    pub(super) fn cost(self, size: Size) -> f64 {
        self.misfit(size) * f64::from(size.width) * f64::from(size.height)
    }
}

impl Cell {
    pub(super) fn panel(face: Face, inner: Option<Self>) -> Self {
        let mut least = face.least();
        if let Some(inner) = &inner {
            let top = if face.lines.is_empty() {
                margin(face.look)
            } else {
                face.head()
            };
            least.width = least.width.max(inner.least.width + 2 * margin(face.look));
            least.height = top + inner.least.height + margin(face.look);
        }
        let inner = inner.map(Box::new);
        Self {
            least,
            content: Content::Panel { face, inner },
            is_rigid: false,
        }
    }

    /// The cells one above the other, all as wide as the widest; `None` without cells.
    pub(super) fn column(cells: Vec<Self>) -> Option<Self> {
        Self::table(cells, 1)
    }

    /// The cells side by side.
    pub(super) fn row(cells: Vec<Self>) -> Option<Self> {
        let columns = cells.len();
        Self::table(cells, columns)
    }

    /// The cells in the number of columns that fits best; incomplete rows count against a number.
    ///
    /// # Cost
    ///
    /// `n^1.5` of `n` cells: the numbers of columns that differ in their number of rows are tried.
    pub(super) fn grid(cells: Vec<Self>, fit: GridConstraints) -> Option<Self> {
        let mut best = (f64::INFINITY, 1);
        let mut columns = cells.len();
        while columns > 0 {
            let rows = cells.len().div_ceil(columns);
            columns = cells.len().div_ceil(rows);
            let empty = 1.0 - cells.len() as f64 / (rows * columns) as f64;
            let misfit = fit.misfit(Tracks::of(&cells, columns).size()) * (1.0 + 6.0 * empty);
            if misfit < best.0 {
                best = (misfit, columns);
            }
            columns = (cells.len() - 1) / rows;
        }
        Self::table(cells, best.1)
    }

    /// One grid, or several one above the other if there are a few runs of cells of different size, such as
    /// fast and slow cores.
    pub(super) fn grids(cells: Vec<Self>, fit: GridConstraints) -> Option<Self> {
        const MOST: usize = 3;
        let runs = cells.chunk_by(|a, b| a.least == b.least).count();
        if !(2..=MOST).contains(&runs) || cells.len() < 2 * runs {
            return Self::grid(cells, fit);
        }
        let each = GridConstraints {
            aspect: fit.aspect * runs as f64,
            ..fit
        };
        let mut grids = Vec::new();
        let mut run: Vec<Self> = Vec::new();
        for cell in cells {
            if run.last().is_some_and(|last| last.least != cell.least) {
                grids.extend(Self::grid(core::mem::take(&mut run), each));
            }
            run.push(cell);
        }
        grids.extend(Self::grid(run, each));
        Self::column(grids)
    }

    /// The cells in the number of columns, at most 16, whose size has the least cost.
    pub(super) fn best(cells: Vec<Self>, cost: impl Fn(Size) -> f64) -> Option<Self> {
        let numbers = 1..=cells.len().min(16);
        let cost = |columns: usize| cost(Tracks::of(&cells, columns).size());
        let columns = numbers.min_by(|a, b| cost(*a).total_cmp(&cost(*b)));
        Self::table(cells, columns?)
    }

    /// The cells in this number of columns.
    pub(super) fn table(mut cells: Vec<Self>, columns: usize) -> Option<Self> {
        if cells.len() < 2 {
            return cells.pop();
        }
        let tracks = Tracks::of(&cells, columns);
        Some(Self {
            least: tracks.size(),
            content: Content::Grid { cells, tracks },
            is_rigid: false,
        })
    }

    /// A bridge at the left, and lines to the cells behind it, with texts on them.
    pub(super) fn bridge(face: Face, behind: Vec<(Option<Face>, Self)>) -> Self {
        let texts = behind.iter().flat_map(|(text, _)| text);
        let reach = texts.map(|text| text.least().width).max().unwrap_or(GAP);
        let left = BRIDGE + GAP + reach;
        let width = behind
            .iter()
            .map(|(_, cell)| cell.least.width)
            .max()
            .unwrap_or(0);
        let heights = behind.iter().map(|(_, cell)| cell.least.height + GAP);
        Self {
            least: Size {
                width: left + width,
                height: heights
                    .sum::<u32>()
                    .saturating_sub(GAP)
                    .max(WIRE + BRIDGE / 2),
            },
            content: Content::Bridge {
                face,
                reach,
                behind,
            },
            is_rigid: false,
        }
    }

    /// Whether the cell is a box with only text in it.
    pub(super) fn is_empty(&self) -> bool {
        matches!(&self.content, Content::Panel { inner: None, .. })
    }

    /// The same cell, which keeps its width.
    pub(super) fn rigid(mut self) -> Self {
        self.is_rigid = true;
        self
    }

    /// The same cell, at least this wide.
    pub(super) fn at_least(mut self, width: u32) -> Self {
        self.least.width = self.least.width.max(width);
        self
    }
}

/// Pixels between a frame and its contents.
pub(super) fn margin(look: Look) -> u32 {
    match look {
        Look::Plain => 0,
        Look::Scope => GAP / 2,
        _ => GAP,
    }
}
