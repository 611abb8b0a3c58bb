//! The C face: `mpi.h` and the table of exported functions, from the data in `crates/abi/standard`.

mod c_type;
mod constants;
mod functions;
mod header;
mod procedure;
mod prototype;
mod standard;

use crate::{Repo, Result};
use standard::Standard;
use std::fs;

pub(super) fn make(repo: &Repo, check: bool) -> Result {
    let folder = repo.root.join("crates/abi");
    let standard = Standard::read(&folder.join("standard"))?;
    let files = [
        ("include/mpi.h", header::text(&standard)?),
        ("src/constants.rs", constants::text(&standard)?),
        ("src/functions.rs", functions::text(&standard)?),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        if !check {
            fs::write(&path, text)?;
        } else if fs::read_to_string(&path).ok() != Some(text) {
            return Err(format!(
                "crates/abi/{name} is not what the data say: run `cargo xtask gen abi`"
            )
            .into());
        }
    }
    Ok(())
}
