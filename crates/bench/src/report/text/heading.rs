//! Prints the heading of a table: its name, its ranks, and its columns.

use super::columns::columns;
use super::{COLUMN, Rule};
use crate::suite::SampleTable;
use core::fmt::{Result, Write};

/// The number of ranks in one line of a heading.
const RANKS: usize = 16;

/// Writes a table's heading.
///
/// # Errors
/// Those of the writer.
pub fn heading(out: &mut impl Write, table: &SampleTable) -> Result {
    let name = table.kernel.info().name;
    let rule = Rule(columns(table).count());
    let groups = table.groups.len();
    let prefix = if groups > 1 { "Multi-" } else { "" };
    writeln!(out, "{rule}\n# Benchmarking {prefix}{name} ")?;
    match table.map {
        _ if groups > 1 => {
            let processes = table.processes();
            writeln!(
                out,
                "# ( {groups} groups of {processes} processes each running simultaneous ) "
            )?;
            for (group, members) in table.groups.iter().enumerate() {
                write!(out, "# Group  {group}: ")?;
                ranks(out, members)?;
            }
        }
        Some(map) if map.rows > 1 && map.columns > 1 => {
            let processes = table.processes();
            writeln!(out, "# #processes = {processes}; rank order (rowwise): ")?;
            let members = table
                .groups
                .iter()
                .flat_map(|group| group.chunks(map.columns));
            for row in members {
                write!(out, "# ")?;
                ranks(out, row)?;
            }
        }
        _ => writeln!(out, "# #processes = {} ", table.processes())?,
    }
    match table.waiting {
        0 => {}
        1 => writeln!(out, "# ( 1 additional process waiting in MPI_Barrier)")?,
        waiting => writeln!(
            out,
            "# ( {waiting} additional processes waiting in MPI_Barrier)"
        )?,
    }
    if table.is_checked {
        writeln!(out, "# Every message is checked: timings not valid")?;
    }
    writeln!(out, "{rule}")?;
    if let Some(mode) = table.aggregation {
        writeln!(
            out,
            "#\n#    MODE: {} \n#",
            mode.name().to_ascii_uppercase()
        )?;
    }
    for column in columns(table) {
        write!(out, "{:>COLUMN$}", column.title())?;
    }
    writeln!(out)
}

/// Writes the ranks of a group, and an empty comment line below.
fn ranks(out: &mut impl Write, ranks: &[usize]) -> Result {
    for line in ranks.chunks(RANKS) {
        for rank in line {
            write!(out, " {rank:>4}")?;
        }
        write!(out, "\n# ")?;
    }
    writeln!(out)
}
