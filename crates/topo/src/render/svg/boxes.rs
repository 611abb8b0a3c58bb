//! The elements of a finished picture: boxes with text and marks, and lines between them.

use super::palette::Look;
use super::widths::Font;
use alloc::string::String;
use alloc::vec::Vec;

/// Pixels between a box's edge and its text, left and right, above and below.
const INSET: (u32, u32) = (8, 5);

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) width: u32,
    pub(super) height: u32,
}

/// A rectangle of the picture: its upper left corner and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) size: Size,
}

impl Area {
    pub(super) fn right(self) -> u32 {
        self.x + self.size.width
    }

    pub(super) fn bottom(self) -> u32 {
        self.y + self.size.height
    }
}

/// One line of a box's text.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) font: Font,
}

/// Marks of overlays on a box, besides its frame and text.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    /// Classes of overlays that fill it, side by side.
    pub(super) fills: Vec<usize>,
    /// Classes of overlays that are frames within its frame, from the outer to the inner.
    pub(super) outlines: Vec<usize>,
    /// Classes of overlays that are small circles at its lower edge.
    pub(super) dots: Vec<usize>,
    /// Whether the box is hatched: the object is not allowed.
    pub(super) is_hatched: bool,
}

/// The look of a box, without its contents.
#[derive(Clone, Debug)]
pub(super) struct Face {
    pub(super) look: Look,
    pub(super) lines: Vec<Line>,
    /// The tooltip; none if empty.
    pub(super) tooltip: String,
    pub(super) marks: Marks,
    /// The look of a sample before the text, with the marks on it: for entries of the legend.
    pub(super) sample: Option<Look>,
    /// Pixels for dots below the text.
    pub(super) foot: u32,
}

impl Face {
    pub(super) fn new(look: Look, lines: Vec<Line>) -> Self {
        Self {
            look,
            lines,
            tooltip: String::new(),
            marks: Marks::default(),
            sample: None,
            foot: 0,
        }
    }

    /// The height of the lines with their insets; 0 without lines.
    pub(super) fn head(&self) -> u32 {
        match self.lines.is_empty() {
            true => 0,
            false => {
                self.lines.iter().map(|line| line.font.line()).sum::<u32>() + 2 * self.inset().1
            }
        }
    }

    fn inset(&self) -> (u32, u32) {
        match self.look {
            Look::Speed | Look::Entry => (2, 2),
            _ => INSET,
        }
    }

    /// Pixels left of the text for a sample.
    fn indent(&self) -> u32 {
        self.sample.map_or(0, |_| 24)
    }

    /// The size that the text needs.
    pub(super) fn least(&self) -> Size {
        let width = |line: &Line| line.font.width(&line.text);
        let widest = self.lines.iter().map(width).max().unwrap_or(0);
        Size {
            width: widest + self.indent() + 2 * self.inset().0,
            height: self.head() + self.foot,
        }
    }
}

/// A text with its position: `y` is the baseline, `x` the left end or the middle.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) line: Line,
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) is_centred: bool,
}

/// A box with its position.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) area: Area,
    pub(super) face: Face,
    pub(super) texts: Vec<Text>,
}

/// The whole picture: boxes, each after the one that contains it, and lines from bridges to the devices
/// behind them.
#[derive(Clone, Debug, Default)]
pub(super) struct Scene {
    pub(super) size: Size,
    pub(super) shapes: Vec<Shape>,
    /// Polylines with horizontal and vertical segments only.
    pub(super) wires: Vec<Vec<(u32, u32)>>,
}

impl Shape {
    /// Positions the lines of text: in the middle of a box without contents, otherwise at the left above the
    /// contents.
    pub(super) fn new(face: Face, area: Area, is_empty: bool) -> Self {
        let is_centred = is_empty && face.look.is_framed() && face.look != Look::Legend;
        let spare = area.size.height - face.head() - face.foot;
        let mut y = area.y + face.inset().1 + if is_centred { spare / 2 } else { 0 };
        let x = match is_centred {
            true => area.x + area.size.width / 2,
            false => area.x + face.inset().0 + face.indent(),
        };
        let mut texts = Vec::new();
        for line in &face.lines {
            let (line, font) = (line.clone(), line.font);
            let baseline = y + font.size();
            texts.push(Text {
                line,
                x,
                y: baseline,
                is_centred,
            });
            y += font.line();
        }
        Self { area, face, texts }
    }
}

pub(super) fn line(font: Font, text: impl Into<String>) -> Line {
    Line {
        text: text.into(),
        font,
    }
}
