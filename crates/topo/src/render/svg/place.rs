//! Computes the positions of boxes from the outside in.
//!
//! A box with more room than it needs spreads its contents over the width. Frames in a row have the same
//! height; boxes with only text keep their height.

use super::boxes::{Area, Face, Scene, Shape, Size};
use super::cells::{BRIDGE, Cell, Content, GAP, Tracks, WIRE, margin};
use alloc::vec;
use alloc::vec::Vec;

impl Cell {
    /// The picture of this cell alone.
    pub(super) fn scene(self) -> Scene {
        let size = Size {
            width: self.least.width + 2 * GAP,
            height: self.least.height + 2 * GAP,
        };
        let mut scene = Scene {
            size,
            ..Scene::default()
        };
        let area = Area {
            x: GAP,
            y: GAP,
            size: self.least,
        };
        self.place(area, &mut scene);
        scene
    }

    fn place(self, mut area: Area, scene: &mut Scene) {
        if self.is_rigid {
            area.size.width = self.least.width;
        }
        match self.content {
            Content::Panel { face, inner } => panel(face, inner.map(|inner| *inner), area, scene),
            Content::Grid { cells, tracks } => grid(cells, &tracks, area, scene),
            Content::Bridge {
                face,
                reach,
                behind,
            } => bridge(face, reach, behind, area, scene),
        }
    }
}

fn panel(face: Face, inner: Option<Cell>, area: Area, scene: &mut Scene) {
    let (margin, head) = (margin(face.look), face.head());
    scene.shapes.push(Shape::new(face, area, inner.is_none()));
    if let Some(inner) = inner {
        let size = Size {
            width: area.size.width - 2 * margin,
            height: inner.least.height,
        };
        let y = area.y + if head == 0 { margin } else { head };
        let x = area.x + margin;
        inner.place(Area { x, y, size }, scene);
    }
}

fn grid(cells: Vec<Cell>, tracks: &Tracks, area: Area, scene: &mut Scene) {
    let columns = tracks.widths.len();
    let spare = (area.size.width - tracks.size().width) as usize;
    let share = |column| spare / columns + usize::from(column < spare % columns);
    let (mut x, mut y) = (area.x, area.y);
    for (place, cell) in cells.into_iter().enumerate() {
        let (column, row) = (place % columns, place / columns);
        let width = tracks.widths[column] + share(column) as u32;
        let height = match cell.is_empty() {
            true => cell.least.height,
            false => tracks.heights[row],
        };
        let size = Size { width, height };
        cell.place(Area { x, y, size }, scene);
        x += width + GAP;
        if column + 1 == columns {
            (x, y) = (area.x, y + tracks.heights[row] + GAP);
        }
    }
}

/// A square at the left; a line from it to a vertical line, and from that to each cell behind, with the texts
/// on them.
fn bridge(
    face: Face,
    reach: u32,
    behind: Vec<(Option<Face>, Cell)>,
    area: Area,
    scene: &mut Scene,
) {
    let middle = area.y + WIRE;
    let square = Area {
        x: area.x,
        y: middle - BRIDGE / 2,
        size: Size {
            width: BRIDGE,
            height: BRIDGE,
        },
    };
    scene.shapes.push(Shape::new(face, square, true));
    let spine = square.right() + GAP;
    let left = spine + reach;
    let mut y = area.y;
    for (text, cell) in behind {
        let (from, to) = ((square.right(), middle), (left, y + WIRE));
        let wire = vec![from, (spine, middle), (spine, to.1), to];
        scene.wires.push(wire);
        if let Some(text) = text {
            let size = Size {
                width: reach,
                height: text.least().height,
            };
            let place = Area {
                x: spine,
                y: to.1 - 1 - size.height,
                size,
            };
            scene.shapes.push(Shape::new(text, place, true));
        }
        let size = Size {
            width: area.right() - left,
            height: cell.least.height,
        };
        cell.place(Area { x: left, y, size }, scene);
        y += size.height + GAP;
    }
}
