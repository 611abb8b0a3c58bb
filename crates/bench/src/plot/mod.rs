//! Line plots with logarithmic axes, as SVG: for pages of benchmark results and as documents of their own.
//!
//! ```text
//! axis   numbers to positions, and the numbers written at an axis
//! draw   the picture
//! units  numbers with units, for people
//! ```

mod axis;
mod draw;
pub(crate) mod units;

pub use draw::document;
pub(crate) use draw::svg;

use std::format;
use std::string::String;
use std::vec::Vec;

/// Style sheet of the pictures: colours for light and dark screens.
pub(crate) const STYLE: &str = include_str!("style.css");

/// A line plot: series of points over two logarithmic axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// The heading above the picture.
    pub title: String,
    /// The quantity of the horizontal axis.
    pub across: Quantity,
    /// The quantity of the vertical axis.
    pub up: Quantity,
    /// The lines.
    pub series: Vec<PlotSeries>,
}

/// One line of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct PlotSeries {
    /// The label at the end of the line.
    pub name: String,
    /// Colour and marks of the line.
    pub style: LineStyle,
    /// The points, in the order in which the line joins them.
    pub points: Vec<PlotPoint>,
}

/// How a line differs from other lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineStyle {
    /// The colour and mark of this number; they repeat after 8, then with a dotted line.
    Numbered(usize),
    /// A reference that is not compared: grey, dashed, without marks.
    Reference,
}

/// A point of a line, in the units of the axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlotPoint {
    /// The horizontal coordinate.
    pub x: f64,
    /// The vertical coordinate.
    pub y: f64,
    /// The spread of `y`: its lower and upper end.
    pub range: Option<(f64, f64)>,
}

/// What an axis counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Length of a message in bytes.
    Bytes,
    /// Bytes per second.
    Rate,
    /// Number of ranks.
    Ranks,
    /// Microseconds.
    Time,
    /// The figure of one run divided by that of another.
    Ratio,
}

impl Quantity {
    /// The text at the axis.
    fn name(self) -> &'static str {
        match self {
            Quantity::Bytes => "length of a message",
            Quantity::Rate => "bandwidth",
            Quantity::Ranks => "ranks",
            Quantity::Time => "time",
            Quantity::Ratio => "ratio",
        }
    }

    /// A number with its unit.
    fn show(self, number: f64) -> String {
        match self {
            Quantity::Bytes => units::bytes(number),
            Quantity::Rate => units::rate(number),
            Quantity::Time => units::time(number),
            Quantity::Ranks | Quantity::Ratio => format!("{}", (1000.0 * number).round() / 1000.0),
        }
    }
}
