//! `mpi.h`.

use super::prototype::Prototype;
use super::standard::{Constant, Standard};
use crate::Result;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The text of the header.
pub(super) fn text(standard: &Standard) -> Result<String> {
    let mut text = String::from(
        "/* The ABI of MPI 5.0 (chapter 20). Made by `cargo xtask gen abi` from the standard's description. */\n\
         #ifndef OXMPI_MPI_H\n#define OXMPI_MPI_H\n\n",
    );
    text += &standard.types;
    enumerations(&mut text, standard)?;
    text.push('\n');
    for callback in Prototype::all(standard, true)? {
        let (returns, name) = (callback.returns.declare(""), &callback.name);
        writeln!(text, "typedef {returns} {name}({});", callback.list())?;
        // MPI-4.1 names each type of an error handler twice.
        if let Some(stem) = name.strip_suffix("_errhandler_function") {
            writeln!(text, "typedef {name} {stem}_errhandler_fn;")?;
        }
    }
    constants(&mut text, standard)?;
    let functions = Prototype::all(standard, false)?;
    for prefix in ["", "P"] {
        text.push('\n');
        for function in &functions {
            let declared = function
                .returns
                .declare(&format!("{prefix}{}", function.name));
            writeln!(text, "{declared}({});", function.list())?;
        }
    }
    text.push('\n');
    text += &standard.fortran;
    text += "\n#endif\n";
    Ok(text)
}

fn is_enumerator(constant: &Constant) -> bool {
    ["MPI_T_cb_safety", "MPI_T_source_order"].contains(&constant.c_type.as_str())
}

fn enumerations(text: &mut String, standard: &Standard) -> Result {
    let mut types: BTreeMap<&str, Vec<&Constant>> = BTreeMap::new();
    for constant in standard.constants.iter().filter(|one| is_enumerator(one)) {
        types.entry(&constant.c_type).or_default().push(constant);
    }
    for (name, constants) in types {
        let all = constants
            .iter()
            .map(|one| format!("    {} = {}", one.name, one.value));
        let all: Vec<_> = all.collect();
        writeln!(
            text,
            "\ntypedef enum {name} {{\n{}\n}} {name};",
            all.join(",\n")
        )?;
    }
    Ok(())
}

fn constants(text: &mut String, standard: &Standard) -> Result {
    let mut category = "";
    for constant in standard.constants.iter().filter(|one| !is_enumerator(one)) {
        if category != constant.category {
            category = &constant.category;
            writeln!(
                text,
                "\n/* {} */",
                category.to_lowercase().replace('_', " ")
            )?;
        }
        let Constant {
            name,
            c_type,
            value,
            ..
        } = constant;
        match c_type.as_str() {
            "int" if *value < 0 => writeln!(text, "#define {name} ({value})")?,
            "int" => writeln!(text, "#define {name} {value}")?,
            other => writeln!(text, "#define {name} (({other}){value})")?,
        }
    }
    Ok(())
}
