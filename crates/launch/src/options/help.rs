//! The help text of an option table.

use super::{OptionRow, OptionTable, SingleDash};
use crate::columns::wrapped;

/// The longest line of a help text, in characters.
const WIDTH: usize = 110;
/// The widest column of option names and values, in characters. Longer ones have a line of their own, and their
/// help follows on the next line.
const NAMES_MAX: usize = 30;

impl<T> OptionTable<T> {
    /// The text that `--help` prints: the introduction, every group of options, and the closing text. Options without
    /// a help text are left out.
    pub(crate) fn help(&self) -> String {
        let head = |row: &OptionRow<T>| {
            let names = row.names.iter().map(|name| dashed(name, self.single_dash));
            let names = names.collect::<Vec<_>>().join(", ");
            format!("{names} {}", row.values.join(" "))
                .trim_end()
                .to_owned()
        };
        let shown = || self.rows().filter(|row| !row.help.is_empty());
        let widths = shown().map(|row| head(row).len());
        let width = widths
            .filter(|width| *width <= NAMES_MAX)
            .max()
            .unwrap_or(0);
        let indent = format!("\n{:1$}", "", width + 4);
        let mut text = String::from(self.intro);
        for group in self.groups {
            text += &format!("\n{}:\n", group.title);
            for row in group.rows.iter().filter(|row| !row.help.is_empty()) {
                let head = head(row);
                let gap = if head.len() > width {
                    indent.as_str()
                } else {
                    ""
                };
                let help = wrapped(row.help, WIDTH - width - 4).replace('\n', &indent);
                text += &match gap {
                    "" => format!("  {head:width$}  {help}\n"),
                    gap => format!("  {head}{gap}{help}\n"),
                };
            }
        }
        if !self.outro.is_empty() {
            text += &format!("\n{}", self.outro);
        }
        text
    }
}

/// An option's name with its dashes: one for a letter, else two. Where a single dash may start a whole name, as
/// `mpiexec` allows, names of up to three letters have one dash too.
pub(super) fn dashed(name: &str, single_dash: SingleDash) -> String {
    let is_short = name.len() == 1 || single_dash == SingleDash::Names && name.len() <= 3;
    format!("{}{name}", if is_short { "-" } else { "--" })
}
