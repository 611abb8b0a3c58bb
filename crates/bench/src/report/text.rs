//! The listing of the Intel MPI Benchmarks: headings, columns and blank lines as that program prints
//! them, so that scripts which read its listings read these.
//!
//! One difference: Mbytes are 2^20 bytes, as in the User Guide 4.0; the program's later releases
//! count 10^6.

use super::Environment;
use crate::kernels::Class;
use crate::suite::{Plan, Row, Table};
use core::fmt::{Display, Result, Write};

/// Every column is so many characters wide.
const COLUMN: usize = 13;

/// Writes what stands before the first table.
///
/// # Errors
/// The writer's.
pub fn header(out: &mut impl Write, environment: &Environment, plan: &Plan) -> Result {
    let rule = Rule(5);
    writeln!(
        out,
        "{rule}\n#    {}, MPI-1 part\n{rule}",
        environment.library
    )?;
    for (name, value) in [
        ("Date                  ", &environment.date),
        ("Machine               ", &environment.machine),
        ("System                ", &environment.system),
        ("Release               ", &environment.release),
        ("Version               ", &environment.version),
        ("MPI Version           ", &environment.mpi_version),
        ("MPI Thread Environment", &environment.thread_level),
    ] {
        writeln!(out, "# {name}: {value}")?;
    }
    writeln!(
        out,
        "\n\n# Calling sequence was: \n\n# {} \n",
        environment.command
    )?;
    writeln!(out, "# Minimum message length in bytes:   0")?;
    writeln!(
        out,
        "# Maximum message length in bytes:   {}",
        plan.lengths.largest()
    )?;
    writeln!(out, "#\n# MPI_Datatype                   :   MPI_BYTE ")?;
    writeln!(out, "# MPI_Datatype for reductions    :   MPI_FLOAT ")?;
    writeln!(
        out,
        "# MPI_Op                         :   MPI_SUM  \n# \n# \n"
    )?;
    writeln!(out, "# List of Benchmarks to run:\n")?;
    for kernel in &plan.kernels {
        writeln!(out, "# {}", kernel.info().name)?;
    }
    writeln!(out)
}

/// Writes a table's heading.
///
/// # Errors
/// The writer's.
pub fn heading(out: &mut impl Write, table: &Table) -> Result {
    let info = table.kernel.info();
    let columns = columns(info.class);
    let rule = Rule(columns.len());
    writeln!(out, "{rule}\n# Benchmarking {} ", info.name)?;
    writeln!(out, "# #processes = {} ", table.processes)?;
    if table.waiting > 0 {
        writeln!(
            out,
            "# ( {} additional processes waiting in MPI_Barrier)",
            table.waiting
        )?;
    }
    writeln!(out, "{rule}")?;
    for column in columns {
        write!(out, "{column:>COLUMN$}")?;
    }
    writeln!(out)
}

/// Writes a row, and a comment when its data was wrong.
///
/// # Errors
/// The writer's.
pub fn row(out: &mut impl Write, table: &Table, row: &Row) -> Result {
    let class = table.kernel.info().class;
    if class != Class::Synchronisation {
        write!(out, "{:>COLUMN$}", row.bytes)?;
    }
    write!(out, "{:>COLUMN$}", row.repetitions)?;
    match class {
        Class::SingleTransfer => write!(out, "{:>COLUMN$.2}", row.t_max)?,
        Class::ParallelTransfer | Class::Collective | Class::Synchronisation => {
            for time in [row.t_min, row.t_max, row.t_avg] {
                write!(out, "{time:>COLUMN$.2}")?;
            }
        }
    }
    if let Some(throughput) = row.throughput {
        write!(out, "{throughput:>COLUMN$.2}")?;
    }
    writeln!(out)?;
    if row.defect != 0.0 {
        writeln!(
            out,
            "# Wrong data at {} bytes: off by up to {}",
            row.bytes, row.defect
        )?;
    }
    Ok(())
}

/// Writes what stands after a table's last row.
///
/// # Errors
/// The writer's.
pub fn end(out: &mut impl Write) -> Result {
    writeln!(out)
}

/// Writes what stands after the last table.
///
/// # Errors
/// The writer's.
pub fn footer(out: &mut impl Write) -> Result {
    writeln!(out, "\n# All processes entering MPI_Finalize\n")
}

fn columns(class: Class) -> &'static [&'static str] {
    match class {
        Class::SingleTransfer => &["#bytes", "#repetitions", "t[usec]", "Mbytes/sec"],
        Class::ParallelTransfer => &[
            "#bytes",
            "#repetitions",
            "t_min[usec]",
            "t_max[usec]",
            "t_avg[usec]",
            "Mbytes/sec",
        ],
        Class::Collective => &[
            "#bytes",
            "#repetitions",
            "t_min[usec]",
            "t_max[usec]",
            "t_avg[usec]",
        ],
        Class::Synchronisation => &["#repetitions", "t_min[usec]", "t_max[usec]", "t_avg[usec]"],
    }
}

/// A line as long as so many columns.
struct Rule(usize);

impl Display for Rule {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> Result {
        write!(f, "#{:-<1$}", "", self.0 * COLUMN - 1)
    }
}

#[cfg(test)]
mod tests;
