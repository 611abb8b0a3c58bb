//! Reads the description of the standard.

use super::c_type::Kinds;
use crate::Result;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What the files of `crates/abi/standard` say.
pub(super) struct Standard {
    pub(super) procedures: Vec<Procedure>,
    pub(super) constants: Vec<Constant>,
    pub(super) kinds: Kinds,
    /// The path of each function that is implemented, by its name.
    pub(super) implemented: BTreeMap<String, String>,
    /// The hand-written beginning and end of the header.
    pub(super) types: String,
    pub(super) fortran: String,
}

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

#[derive(Deserialize)]
pub(super) struct Constant {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) c_type: String,
    pub(super) value: i64,
    pub(super) category: String,
}

impl Standard {
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let text = |name: &str| {
            let path = folder.join(name);
            fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))
        };
        let implemented = text("implemented.txt")?;
        let implemented = implemented.lines().filter(|line| !line.starts_with('#'));
        let implemented = implemented.filter_map(|line| line.split_once(' '));
        Ok(Self {
            procedures: serde_json::from_str(&text("procedures.json")?)?,
            constants: serde_json::from_str(&text("constants.json")?)?,
            kinds: Kinds::read(&text("kinds.txt")?)?,
            implemented: implemented
                .map(|(name, path)| (name.to_owned(), path.trim().to_owned()))
                .collect(),
            types: text("types.h")?,
            fortran: text("fortran.h")?,
        })
    }
}
