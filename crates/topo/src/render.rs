//! Renders a machine as text, JSON and SVG.

#[cfg(feature = "json")]
mod json;
#[cfg(feature = "svg")]
pub mod svg;
pub mod text;

/// Which numbers of objects are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Numbers {
    /// Logical numbers and the operating system's; in text the latter for PUs and NUMA nodes only.
    #[default]
    Both,
    /// Logical numbers only: lstopo's `--logical`.
    Logical,
    /// The operating system's numbers only: lstopo's `--physical`. Objects without one have no number in
    /// text, and their logical number in a picture.
    Physical,
}
