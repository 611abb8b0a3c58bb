//! The C face: `mpi.h`, the table of exported functions and their list for `oxmpi info`, from the data in `crates/abi/standard`.

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
    let folder = repo.root.join("crates");
    let standard = Standard::read(&folder.join("abi/standard"))?;
    let files = [
        ("abi/include/mpi.h", header::text(&standard)?),
        ("abi/src/constants.rs", constants::text(&standard)?),
        ("abi/src/functions.rs", functions::text(&standard)?),
        (
            "launch/src/info/abi_functions.txt",
            functions::list(&standard)?,
        ),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        if !check {
            fs::write(&path, text)?;
        } else if fs::read_to_string(&path).ok() != Some(text) {
            return Err(format!(
                "crates/{name} is not what the data say: run `cargo xtask gen abi`"
            )
            .into());
        }
    }
    Ok(())
}
