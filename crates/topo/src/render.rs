//! Pictures of a machine: as text, as data and drawn.

#[cfg(feature = "svg")]
pub mod svg;
pub mod text;
