//! The value of `KMP_AFFINITY`: `[<modifier>,...]<type>[,<permute>][,<offset>]`.

mod combine;
mod parser;
mod words;

use alloc::vec::Vec;

use oxmpi_text::Error;

use crate::openmp::layers::Layer;
use crate::openmp::message::Message;
use crate::openmp::proclist::Item;

pub(crate) use parser::parse;

/// The type of affinity: how threads are bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Type {
    /// No type is given.
    #[default]
    Default,
    None,
    Compact,
    Scatter,
    Logical,
    Physical,
    Balanced,
    Explicit,
    Disabled,
}

/// The part of the machine in which a thread may migrate, as the setting asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Granularity {
    /// `fine` or `thread`.
    Thread,
    Core,
    /// `socket` or `package`.
    Package,
    /// A layer that processors share besides the levels of the map.
    Layer(Layer),
    /// This number of innermost levels.
    Levels(u64),
}

/// The parsed setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Affinity {
    pub(crate) kind: Type,
    pub(crate) verbose: bool,
    pub(crate) warnings: bool,
    pub(crate) respect: bool,
    /// Whether each processor makes a place, even if several share a part.
    pub(crate) duplicates: bool,
    pub(crate) granularity: Option<Granularity>,
    pub(crate) proclist: Vec<Item>,
    pub(crate) permute: u64,
    pub(crate) offset: u64,
}

impl Default for Affinity {
    fn default() -> Self {
        Self {
            kind: Type::Default,
            verbose: false,
            warnings: true,
            respect: true,
            duplicates: true,
            granularity: None,
            proclist: Vec::new(),
            permute: 0,
            offset: 0,
        }
    }
}

/// The result of parsing.
pub(crate) struct Read {
    pub(crate) affinity: Affinity,
    /// The mistakes: the runtime's message, and the error that points into the text.
    pub(crate) wrong: Vec<(Message, Error)>,
}
