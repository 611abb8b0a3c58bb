//! Draws a machine as SVG, as lstopo does: nested boxes with names and numbers.
//!
//! ```
//! use oxmpi_topo::render::svg::{Overlay, SvgOptions};
//! use oxmpi_topo::Machine;
//!
//! let machine = Machine::from_synthetic("package:2 l3:1 core:4 pu:2")?;
//! let mut options = SvgOptions::default();
//! options.title.push("Two ranks".into());
//! options.overlays.push(Overlay::new("rank 0", (0..8).collect(), 0));
//! options.overlays.push(Overlay::new("rank 1", (8..16).collect(), 1));
//! let picture = machine.to_svg(&options);
//! assert!(picture.starts_with("<svg"));
//! # Ok::<(), oxmpi_topo::SyntaxError>(())
//! ```
//!
//! Every PU is drawn. Only consecutive PCI functions of one product without devices of the system are folded.
//! All other facts of an object are in its tooltip.

mod boxes;
mod cells;
mod devices;
mod draw;
mod labels;
mod layout;
mod legend;
mod overlay;
mod palette;
mod place;
mod widths;

#[cfg(test)]
mod tests;

pub use super::Numbers;
pub use overlay::{Overlay, Style};
pub use palette::Palette;

use crate::machine::Machine;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The contents and the style of a picture.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SvgOptions {
    /// Lines above the picture; none by default. This crate reads no clock: a date is up to the caller.
    pub title: Vec<String>,
    /// The numbers of objects; both by default, except for caches, which then have the logical one only.
    pub numbers: Numbers,
    /// Whether devices are shown; true by default.
    pub devices: bool,
    /// Whether there is a legend below; true by default.
    pub legend: bool,
    /// The ratio of width to height to aim at, everywhere in the picture: 1.6 by default; a large number
    /// gives rows, a small one columns. It has no further effect beyond 32 and its inverse.
    pub aspect: f64,
    /// The colours.
    pub palette: Palette,
    /// Sets drawn over the processors: ranks, domains, threads. Later ones are drawn over earlier ones.
    pub overlays: Vec<Overlay>,
}

impl Default for SvgOptions {
    fn default() -> Self {
        Self {
            title: Vec::new(),
            numbers: Numbers::default(),
            devices: true,
            legend: true,
            aspect: 1.6,
            palette: Palette::default(),
            overlays: Vec::new(),
        }
    }
}

impl Machine {
    /// The machine as an SVG document. PUs and NUMA nodes that this process may not use are hatched and
    /// offline processors are grey; [`default_view`](Self::default_view) leaves the former out.
    ///
    /// The same machine and options give the same text, byte for byte.
    ///
    /// # Cost
    ///
    /// About 500 bytes for each object; `n^1.5` time where `n` objects are directly inside one.
    pub fn to_svg(&self, options: &SvgOptions) -> String {
        let scene = layout::scene(self, options);
        let title = options.title.first().map(|line| labels::clean(line));
        let title = title.unwrap_or_else(|| "Machine topology".into());
        let description = format!("{}, from {}", legend::census(self), self.source());
        draw::document(scene, options.palette, &title, &description)
    }
}
