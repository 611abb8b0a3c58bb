//! `oxmpi explain transports`: which transports and network devices are taken, and why.

use std::ffi::OsString;

use oxmpi::settings::Values;
use oxmpi::transports::opened;
use oxmpi_wire::transports::{Selection, Verdict};
use serde_json::{Value, json};

use crate::complain;
use crate::table::aligned;

/// What to print, after the warnings that a job would give.
///
/// # Errors
/// Other arguments than `--json`.
pub(super) fn run(arguments: &[OsString], values: &Values) -> Result<String, String> {
    let as_json = match arguments {
        [] => false,
        [one] if one == "--json" => true,
        [other, ..] => return Err(format!("`{}` is not understood here", other.display())),
    };
    let selection = opened(values);
    selection.warnings.iter().for_each(complain::error);
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
        "warnings": selection.warnings,
    })
}
