//! The table of exported functions in Rust, and their list.

use super::c_type::CType;
use super::prototype::Prototype;
use super::standard::Standard;
use crate::Result;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The text of `functions.rs`.
pub(super) fn text(standard: &Standard) -> Result<String> {
    let paths = standard.implemented.values();
    let modules: BTreeSet<_> = paths
        .map(|path| path.split("::").next().unwrap_or(path))
        .chain(["missing"])
        .collect();
    let modules = Vec::from_iter(modules).join(", ");
    let mut text = format!(
        "//! Every function of the ABI, under both of its names. Made by `cargo xtask gen abi` from the standard's description.\n\n\
         // Longer than 500 lines: a line for each function.\n\
         use crate::types::*;\nuse crate::{{{modules}}};\n\nfunctions! {{\n",
    );
    let all = Prototype::all(standard, false)?;
    for function in &all {
        let parameters = function
            .parameters
            .iter()
            .filter(|(_, c_type)| c_type.base != "...");
        let parameters =
            parameters.map(|(name, c_type)| format!("{}: {}", rust_name(name), c_type.rust()));
        let parameters: Vec<_> = parameters.collect();
        let path = standard.implemented.get(&function.name);
        if path.is_none() && function.returns.base != "int" {
            return Err(format!(
                "{} returns no error code, so it has to be implemented",
                function.name
            )
            .into());
        }
        let path = path.map_or(String::new(), |path| format!(" = {path}"));
        let CType { base, .. } = &function.returns;
        let returns = if base == "void" {
            "()".to_owned()
        } else {
            function.returns.rust()
        };
        let (name, parameters) = (&function.name, parameters.join(", "));
        writeln!(text, "    {name} P{name}({parameters}) -> {returns}{path};")?;
    }
    if let Some(unknown) = standard
        .implemented
        .keys()
        .find(|name| !all.iter().any(|one| one.name == **name))
    {
        return Err(format!("standard/implemented: {unknown} is no function of the ABI").into());
    }
    text += "}\n";
    Ok(text)
}

/// The names of all functions, each on a line; `missing` stands behind those that are not implemented.
pub(super) fn list(standard: &Standard) -> Result<String> {
    let all = Prototype::all(standard, false)?;
    let lines = all.iter().map(|function| {
        let is_there = standard.implemented.contains_key(&function.name);
        let mark = if is_there { "" } else { " missing" };
        format!("{}{mark}\n", function.name)
    });
    Ok(lines.collect())
}

/// A parameter's name where it is no word of Rust's.
fn rust_name(name: &str) -> String {
    let name = name.to_lowercase();
    match name.as_str() {
        "type" => "r#type".to_owned(),
        _ => name,
    }
}
