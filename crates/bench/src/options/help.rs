//! What `-h` and `-list` print.

use super::table::ROWS;
use crate::Part;
use crate::kernels::AnyKernel;
use alloc::format;
use alloc::string::String;

/// The beginning of a second line that describes an option.
const NEXT_LINE: &str = "\n                          ";

/// What `-h` prints.
pub fn help() -> String {
    let mut text = String::from(
        "Benchmarks, in any case, behind the word of their part, MPI1 when left out. When none is named, all of\n\
         the part run but those marked *.\n",
    );
    text += &list(None);
    text += "  Multi-NAME is NAME on as many groups as there are ranks for, at once.\nOptions:\n";
    for row in ROWS {
        let form = format!("{} {}", row.name, row.form());
        // A long form has a line of its own.
        let gap = if form.len() < 24 { "" } else { NEXT_LINE };
        let about = row.about.replace('\n', NEXT_LINE);
        text += &format!("  {form:<24}{gap}{about}\n");
    }
    text
}

/// What `-list` prints: a line for each benchmark of `part`, or those of all parts below the parts' words.
pub fn list(part: Option<Part>) -> String {
    match part {
        Some(part) => AnyKernel::of(part).map(line).collect(),
        None => {
            let below = |part: Part| format!("{}:\n{}", part.word(), list(Some(part)));
            Part::ALL.into_iter().map(below).collect()
        }
    }
}

fn line(kernel: AnyKernel) -> String {
    let info = kernel.info();
    let mark = if info.by_default { ' ' } else { '*' };
    format!(" {mark}{:<24}{}\n", info.name, info.about)
}
