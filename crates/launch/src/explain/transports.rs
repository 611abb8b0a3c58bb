//! `oxmpi explain transports`: lists the transports and network devices, whether each is used, and why.

use std::ffi::OsString;

use oxmpi_settings::Values;
use oxmpi_settings::transports::opened;
use oxmpi_wire::transports::{Selection, Verdict};
use serde_json::{Value, json};

use crate::columns::aligned;
use crate::diagnostics;
use crate::options::*;

#[rustfmt::skip]
const OPTIONS: OptionTable<bool> = OptionTable {
    command: "oxmpi explain transports",
    intro: "\
Usage: oxmpi explain transports [--json]

Lists every transport and network device of this host, whether it is used, and why.
",
    groups: &[OptionGroup { title: "Options", rows: &[
        flag(&["json"], "print JSON (docs/formats.md)", |json| *json = true),
        help(),
    ] }],    ..OptionTable::GNU
};

/// The text to print. Warnings that a job would print go to standard error.
///
/// # Errors
/// A wrong argument, or what `values` says.
pub(super) fn run(
    arguments: &[OsString],
    values: impl FnOnce() -> Result<Values, String>,
) -> Result<String, String> {
    let mut as_json = false;
    if OPTIONS.read(arguments, &mut as_json)? != Parsed::Run(&[]) {
        return Ok(OPTIONS.help());
    }
    let selection = opened(&values()?);
    selection.warnings.iter().for_each(diagnostics::error);
    Ok(if as_json {
        format!("{:#}\n", json(&selection))
    } else {
        text(&selection)
    })
}

fn text(selection: &Selection) -> String {
    let row = |verdict: &Verdict| {
        let taken = if verdict.taken { "yes" } else { "no" };
        vec![verdict.name.clone(), taken.into(), verdict.why.clone()]
    };
    let table = |head: [&str; 3], verdicts: &[Verdict]| {
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(verdicts.iter().map(row));
        aligned(&rows)
    };
    format!(
        "{}\n{}",
        table(["transport", "taken", "because"], &selection.transports),
        table(["device", "taken", "because"], &selection.devices)
    )
}

fn json(selection: &Selection) -> Value {
    let row = |v: &Verdict| json!({"name": v.name, "taken": v.taken, "why": v.why});
    let rows = |verdicts: &[Verdict]| verdicts.iter().map(row).collect::<Vec<_>>();
    json!({
        "format": "oxmpi-explain-transports",
        "version": 1,
        "transports": rows(&selection.transports),
        "devices": rows(&selection.devices),
        "interfaces": selection.interfaces,
        "adapters": selection.adapters,
        "warnings": selection.warnings,
    })
}
