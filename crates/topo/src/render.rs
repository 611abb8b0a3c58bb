//! Pictures of a machine: as text and as data.

pub mod text;
