//! What to show of a machine in which form: as text, as data and drawn.

#[cfg(feature = "json")]
mod json;
#[cfg(feature = "svg")]
pub mod svg;
pub mod text;

/// Which numbers of objects to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Numbers {
    /// Logical numbers and the operating system's: in a text the latter for PUs and NUMA nodes only.
    #[default]
    Both,
    /// Logical numbers only: lstopo's `--logical`.
    Logical,
    /// The operating system's numbers only: lstopo's `--physical`. What it does not number has none in a text, and its
    /// logical number in a picture.
    Physical,
}
