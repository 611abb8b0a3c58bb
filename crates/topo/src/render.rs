//! What to show of a machine in which form: as text, as data and drawn.

#[cfg(feature = "json")]
mod json;
#[cfg(feature = "svg")]
pub mod svg;
pub mod text;
