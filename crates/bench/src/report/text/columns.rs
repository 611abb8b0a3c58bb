//! Prints the columns and rows of a table.

use super::COLUMN;
use crate::Megabyte;
use crate::kernels::{Class, Info};
use crate::suite::{Multiple, SampleRow, SampleTable, Skip};
use core::fmt::{Result, Write};

/// The content of one column.
#[derive(Clone, Copy)]
pub(super) enum Column {
    Group,
    Bytes,
    Repetitions,
    /// The only time of the table: that of the slowest rank.
    Time,
    Least,
    Largest,
    Average,
    Throughput,
    /// The time while the target waits, and while it computes.
    Pure,
    Overlapped,
    /// The computation while a collective is in progress, and how much of both takes place at once.
    Compute,
    Overlap,
    Defects,
}

use Column::{
    Average, Bytes, Compute, Defects, Group, Largest, Least, Overlap, Overlapped, Pure,
    Repetitions, Throughput, Time,
};

impl Column {
    /// The column's title.
    pub(super) fn title(self) -> &'static str {
        match self {
            Group => "Group",
            Bytes => "#bytes",
            Repetitions => "#repetitions",
            Time => "t[usec]",
            Least => "t_min[usec]",
            Largest => "t_max[usec]",
            Average => "t_avg[usec]",
            Throughput => "Mbytes/sec",
            Pure => "t_pure[usec]",
            Overlapped => "t_ovrl[usec]",
            Compute => "t_CPU[usec]",
            Overlap => "overlap[%]",
            Defects => "defects",
        }
    }

    fn write(self, out: &mut impl Write, row: &SampleRow, megabyte: Megabyte) -> Result {
        let number = match self {
            Group => return write!(out, "{:>COLUMN$}", row.group),
            Bytes => return write!(out, "{:>COLUMN$}", row.bytes),
            Repetitions => return write!(out, "{:>COLUMN$}", row.repetitions),
            Time | Largest => row.t_max,
            Pure => row.overlap.map_or(row.t_max, |overlap| overlap.pure),
            Least => row.t_min,
            Average => row.t_avg,
            Throughput => row.throughput.unwrap_or(0.0) / megabyte.bytes(),
            Overlapped => row.overlapped.unwrap_or(0.0),
            Compute => row.overlap.map_or(0.0, |overlap| overlap.compute),
            Overlap => row.overlap.map_or(0.0, |overlap| overlap.percent()),
            Defects => row.defect,
        };
        write!(out, "{number:>COLUMN$.2}")
    }
}

/// The columns of a table, from left to right.
pub(super) fn columns(table: &SampleTable) -> impl Iterator<Item = Column> {
    let info = table.kernel.info();
    let class = info.class;
    let measured: &[Column] = match class {
        // Times differ where one row covers several groups.
        Class::SingleTransfer if table.multiple != Some(Multiple::Worst) => {
            &[Bytes, Repetitions, Time, Throughput]
        }
        Class::SingleTransfer | Class::ParallelTransfer if info.messages > 0 => {
            &[Bytes, Repetitions, Least, Largest, Average, Throughput]
        }
        Class::Overlap => &[Bytes, Repetitions, Pure, Overlapped],
        Class::Nonblocking if is_without_lengths(info) => {
            &[Repetitions, Overlapped, Pure, Compute, Overlap]
        }
        Class::Nonblocking => &[Bytes, Repetitions, Overlapped, Pure, Compute, Overlap],
        Class::SingleTransfer | Class::ParallelTransfer | Class::Collective => {
            &[Bytes, Repetitions, Least, Largest, Average]
        }
        Class::Synchronisation => &[Repetitions, Least, Largest, Average],
    };
    let group = is_each(table).then_some(Group);
    let defects = (table.is_checked && !is_without_lengths(info)).then_some(Defects);
    group
        .into_iter()
        .chain(measured.iter().copied())
        .chain(defects)
}

/// Whether its messages have no length: a barrier.
fn is_without_lengths(info: &Info) -> bool {
    info.fixed == Some(0)
}

/// Whether each group has a row of its own, and each length a paragraph.
fn is_each(table: &SampleTable) -> bool {
    table.multiple == Some(Multiple::Each)
}

/// Writes a row, and a comment if its data was wrong and no column says so.
///
/// # Errors
/// Those of the writer.
pub fn row(
    out: &mut impl Write,
    table: &SampleTable,
    row: &SampleRow,
    megabyte: Megabyte,
) -> Result {
    if is_each(table) && row.group == 0 {
        writeln!(out)?;
    }
    for column in columns(table) {
        column.write(out, row, megabyte)?;
    }
    writeln!(out)?;
    if row.defect == 0.0 || columns(table).any(|column| matches!(column, Defects)) {
        return Ok(());
    }
    let SampleRow { bytes, defect, .. } = row;
    match is_without_lengths(table.kernel.info()) {
        true => {
            writeln!(
                out,
                "# Wrong: a rank was let go up to {defect} usec too early"
            )
        }
        false => writeln!(out, "# Wrong data at {bytes} bytes: off by up to {defect}"),
    }
}

/// Writes the text for a skipped row: the memory that it needs, in units of 2^30 bytes.
///
/// # Errors
/// Those of the writer.
pub fn skip(out: &mut impl Write, table: &SampleTable, skip: &Skip) -> Result {
    let Skip { bytes, needed } = skip;
    // Rounded up, so that the number suffices for `-mem`.
    let thousandths = (*needed as u128 * 1000).div_ceil(1 << 30);
    let needed = thousandths as f64 / 1e3;
    let lines = if is_each(table) {
        table.groups.len()
    } else {
        1
    };
    for group in 0..lines {
        match (is_each(table), group) {
            (false, _) => {}
            (true, 0) => write!(out, "\n{group:>COLUMN$}")?,
            (true, _) => write!(out, "{group:>COLUMN$}")?,
        }
        writeln!(
            out,
            "{bytes:>COLUMN$} out-of-mem.; needed X={needed:8.3} GB; use flag \"-mem X\""
        )?;
    }
    Ok(())
}

/// Writes the end of a table.
///
/// # Errors
/// Those of the writer.
pub fn end(out: &mut impl Write) -> Result {
    writeln!(out)
}
