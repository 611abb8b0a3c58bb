//! `KMP_AFFINITY=[<modifier>,...]<type>[,<permute>][,<offset>]`.

mod combine;
mod parser;
mod words;

use alloc::vec::Vec;

use oxmpi_text::Error;

use crate::openmp::layers::Layer;
use crate::openmp::message::Message;
use crate::openmp::proclist::Item;

pub(crate) use parser::parse;

/// How threads are bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Type {
    /// Nothing was said.
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

/// What a thread may wander over, as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Granularity {
    /// `fine` or `thread`.
    Thread,
    Core,
    /// `socket` or `package`.
    Package,
    /// Something else that processors share.
    Layer(Layer),
    /// So many of the innermost levels.
    Levels(u64),
}

/// The setting, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Affinity {
    pub(crate) kind: Type,
    pub(crate) verbose: bool,
    pub(crate) warnings: bool,
    pub(crate) respect: bool,
    /// Whether each processor makes a place, also those that share one.
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

/// A setting, read.
pub(crate) struct Read {
    pub(crate) affinity: Affinity,
    /// What is wrong in it, in the words of a runtime, and where, and what would have been right.
    pub(crate) wrong: Vec<(Message, Error)>,
}
