//! The constants in Rust.

use super::standard::{Constant, Standard};
use crate::Result;
use std::fmt::Write;

/// The text of `constants.rs`: numbers as they are, handles and addresses by their values.
pub(super) fn text(standard: &Standard) -> Result<String> {
    let mut text = String::from(
        "//! The constants of the ABI, under their names in C. Made by `cargo xtask gen abi` from the standard's description.\n#![allow(missing_docs, reason = \"appendix A.1 of the standard describes them\")]\n\n\
         use std::ffi::c_int;\n\n",
    );
    for Constant {
        name,
        c_type,
        value,
        ..
    } in &standard.constants
    {
        let is_number = ["int", "MPI_T_cb_safety", "MPI_T_source_order"].contains(&c_type.as_str());
        let rust = if is_number { "c_int" } else { "usize" };
        writeln!(text, "pub const {name}: {rust} = {value};")?;
    }
    Ok(text)
}
