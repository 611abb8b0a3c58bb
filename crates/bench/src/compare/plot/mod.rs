//! Lines over sizes or ranks, both axes logarithmic, as SVG whose colours a style sheet decides.
//!
//! ```text
//! axis  numbers to places, and the numbers worth writing at an axis
//! draw  the picture
//! ```

mod axis;
mod draw;

pub(super) use draw::svg;

use super::units;
use std::format;
use std::string::String;
use std::vec::Vec;

/// What a picture shows.
pub(super) struct Plot {
    /// Its name, above it.
    pub(super) title: String,
    /// What is counted to the right.
    pub(super) across: Quantity,
    /// What is counted upwards.
    pub(super) up: Quantity,
    pub(super) series: Vec<Series>,
}

/// One line.
pub(super) struct Series {
    /// What its end is labelled with.
    pub(super) name: String,
    pub(super) look: Look,
    pub(super) points: Vec<Point>,
}

/// How a line is told from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// By its own colour and mark.
    Number(usize),
    /// As something that is not compared: grey, dashed, without marks.
    Floor,
}

/// A point with numbers of the axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    /// Between what `y` varies.
    pub(super) range: Option<(f64, f64)>,
}

/// What an axis counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Length of a message.
    Bytes,
    /// Bytes per second.
    Rate,
    /// Ranks that take part.
    Ranks,
    /// Microseconds.
    Time,
    /// One run's figure over another's.
    Ratio,
}

impl Quantity {
    /// What stands at the axis.
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
