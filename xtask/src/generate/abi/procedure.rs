//! A procedure of the standard and its parameters.

use serde::Deserialize;

/// A procedure, or the type of a callback.
#[derive(Deserialize)]
pub(super) struct Procedure {
    pub(super) name: String,
    #[serde(default)]
    pub(super) callback: bool,
    pub(super) returns: String,
    pub(super) parameters: Vec<Parameter>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Direction {
    #[default]
    In,
    Out,
    InOut,
}

#[derive(Deserialize)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) kind: String,
    #[serde(default)]
    pub(super) direction: Direction,
    #[serde(default)]
    pub(super) constant: bool,
    /// The lengths of an array, the first one first; none for a single value.
    #[serde(default)]
    pub(super) length: Vec<Option<String>>,
    /// Whether it is a pointer, where its direction does not tell.
    #[serde(default)]
    pub(super) pointer: Option<bool>,
    /// The type of a function.
    #[serde(default)]
    pub(super) function: Option<String>,
    /// Whether only the twin of large counts has it.
    #[serde(default)]
    pub(super) large_only: bool,
}

impl Parameter {
    fn differs_in_twin(&self) -> bool {
        self.large_only || self.kind.starts_with("POLY")
    }
}

impl Procedure {
    /// Whether it has a twin of large counts, whose name ends in `_c`.
    pub(super) fn has_twin(&self) -> bool {
        self.parameters.iter().any(Parameter::differs_in_twin)
    }
}
