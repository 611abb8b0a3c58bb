//! What `-h` and `-list` print.

use super::table::ROWS;
use crate::kernels::Kernel;
use alloc::format;
use alloc::string::String;

/// What `-h` prints.
pub fn help() -> String {
    let mut text =
        String::from("Benchmarks, in any case; all but those marked * when none is named:\n");
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
        text += &format!("  {form:<24}{gap}{}\n", row.about);
    }
    text
}

/// What `-list` prints: a line for each benchmark.
pub fn list() -> String {
    let line = |kernel: &Kernel| {
        let info = kernel.info();
        let mark = if info.by_default { ' ' } else { '*' };
        format!(" {mark}{:<24}{}\n", info.name, info.about)
    };
    Kernel::ALL.iter().map(line).collect()
}
