//! Prints the listing of the Intel MPI Benchmarks: the same headings, columns and blank lines, so that
//! scripts for the original's listings read ours.
//!
//! One difference: a Mbyte is 2^20 bytes by default, as in the User Guide 4.0; later releases of the
//! program count 10^6.

mod columns;
mod heading;

pub use columns::{end, row, skip};
pub use heading::heading;

use super::Environment;
use crate::lengths::Lengths;
use crate::suite::{self, Plan};
use core::fmt::{Display, Result, Write};

/// The width of each column in characters.
const COLUMN: usize = 13;

/// Writes the header, above the first table.
///
/// # Errors
/// Those of the writer.
pub fn header(out: &mut impl Write, environment: &Environment, plan: &Plan) -> Result {
    let rule = Rule(5);
    writeln!(
        out,
        "{rule}\n#    {}, {}\n{rule}",
        environment.library,
        plan.part.heading()
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
    match &plan.lengths {
        Lengths::Listed(_) => writeln!(out, "# Message lengths were user defined")?,
        Lengths::Powers { .. } => {
            let largest = plan.lengths.largest();
            writeln!(out, "# Minimum message length in bytes:   0")?;
            writeln!(out, "# Maximum message length in bytes:   {largest}")?;
        }
    }
    let data_type = plan.data_type.mpi_name();
    writeln!(out, "#\n# MPI_Datatype                   :   {data_type} ")?;
    writeln!(out, "# MPI_Datatype for reductions    :   MPI_FLOAT ")?;
    writeln!(
        out,
        "# MPI_Op                         :   MPI_SUM  \n# \n# \n"
    )?;
    if let Some(rate) = environment.compute_mflops {
        writeln!(out, "# For nonblocking benchmarks:\n")?;
        writeln!(out, "# Function CPU_Exploit obtains an undisturbed")?;
        writeln!(out, "# performance of {rate:7.2} MFlops\n\n")?;
    }
    writeln!(out, "# List of Benchmarks to run:\n")?;
    for benchmark in &plan.benchmarks {
        writeln!(out, "# {}", benchmark.kernel.info().name)?;
    }
    writeln!(out)
}

/// Writes, below the header, a comment for each benchmark that needs more than `ranks` ranks.
///
/// # Errors
/// Those of the writer.
pub fn idle(out: &mut impl Write, plan: &Plan, ranks: usize) -> Result {
    for benchmark in suite::idle(plan, ranks) {
        let name = benchmark.kernel.info().name;
        writeln!(
            out,
            "# {name} does not run: it takes 2 ranks, here are {ranks}"
        )?;
    }
    Ok(())
}

/// Writes the footer, below the last table.
///
/// # Errors
/// Those of the writer.
pub fn footer(out: &mut impl Write) -> Result {
    writeln!(out, "\n# All processes entering MPI_Finalize\n")
}

/// A rule as wide as this number of columns.
struct Rule(usize);

impl Display for Rule {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> Result {
        write!(f, "#{:-<1$}", "", self.0 * COLUMN - 1)
    }
}

#[cfg(test)]
mod tests;
