//! What `-h` and `-list` print.

use super::table::ROWS;
use crate::Part;
use crate::kernels::AnyKernel;
use alloc::format;
use alloc::string::String;

/// What `-h` prints.
pub fn help() -> String {
    let mut text = String::from(
        "Benchmarks, in any case, behind the word of their part, MPI1 when left out; all of it but those marked *\nwhen none is named:\n",
    );
    text += &list();
    text += "  Multi-NAME is NAME on as many groups as there are ranks for, at once.\nOptions:\n";
    for row in ROWS {
        let form = format!("{} {}", row.name, row.form());
        // A long form has a line of its own.
        let gap = if form.len() < 24 {
            ""
        } else {
            "\n                          "
        };
        let about = row.about.replace('\n', "\n                          ");
        text += &format!("  {form:<24}{gap}{about}\n");
    }
    text
}

/// What `-list` prints: for each part, a line for each benchmark.
pub fn list() -> String {
    let part = |part: Part| {
        let kernels = part.kernels().map(|kernel| line(kernel));
        format!(
            "{} ({}):\n{}",
            part.word(),
            part.program(),
            kernels.collect::<String>()
        )
    };
    Part::ALL.into_iter().map(part).collect()
}

fn line(kernel: AnyKernel) -> String {
    let info = kernel.info();
    let mark = if info.by_default { ' ' } else { '*' };
    format!(" {mark}{:<24}{}\n", info.name, info.about)
}
