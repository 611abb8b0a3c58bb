//! Reads the description of the standard.

use super::c_type::Kinds;
use super::procedure::Procedure;
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
        Ok(Self {
            procedures: serde_json::from_str(&text("procedures.json")?)?,
            constants: serde_json::from_str(&text("constants.json")?)?,
            kinds: Kinds::read(&text("kinds.txt")?)?,
            implemented: implemented(&folder.join("implemented"))?,
            types: text("types.h")?,
            fortran: text("fortran.h")?,
        })
    }
}

/// What the files of a folder say: on each line the name of a function and its path in `crates/abi/src`.
fn implemented(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut paths = BTreeMap::new();
    for file in fs::read_dir(folder)? {
        let file = file?.path();
        let text = fs::read_to_string(&file)?;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((name, path)) = line.split_once(' ') else {
                return Err(format!("{}: \"{line}\" names no path", file.display()).into());
            };
            if paths.insert(name.to_owned(), path.to_owned()).is_some() {
                return Err(format!("{}: {name} is there twice", file.display()).into());
            }
        }
    }
    Ok(paths)
}
