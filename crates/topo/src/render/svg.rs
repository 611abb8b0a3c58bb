//! A machine as a picture, as lstopo draws it: nested boxes with names and numbers, in SVG.
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
//! # Ok::<(), oxmpi_topo::Error>(())
//! ```
//!
//! Every PU of the machine is drawn: nothing is folded except PCI functions of one product in a row of which the system
//! made nothing. Everything else a source knows of an object is shown when a pointer rests on its box.

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

/// What a picture shows, and how.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SvgOptions {
    /// Lines above the picture; none at first. A date is the caller's to give: this crate reads no clock.
    pub title: Vec<String>,
    /// Which numbers objects have; both at first, except for caches, which then have the logical one only.
    pub numbers: Numbers,
    /// Whether devices are shown; true at first.
    pub devices: bool,
    /// Whether there is a legend below; true at first.
    pub legend: bool,
    /// Width over height to aim at, everywhere in the picture: 1.6 at first; a large number gives rows, a small one
    /// columns. Beyond 32 and its inverse it changes nothing.
    pub aspect: f64,
    /// The colours.
    pub palette: Palette,
    /// What is drawn over the processors: ranks, domains, threads. Those later in the list are drawn after the others.
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
    /// The machine as an SVG document. What this process may not use is hatched and what is switched off is grey;
    /// [`default_view`](Self::default_view) leaves the former out.
    ///
    /// The same machine and options give the same text, byte by byte.
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
