//! Writes a run as comma-separated values (RFC 4180, with comments); `docs/formats.md` describes each
//! column.

use super::RunRecord;
use super::record::{MethodRecord, RowRecord, TableRecord};
use alloc::string::String;
use core::fmt::{self, Display, Write};

const TITLES: &str = "benchmark,mode,processes,groups,waiting,group,bytes,repetitions,t_min_us,t_max_us,t_avg_us,\
                      mib_per_s,blocks,block_min_us,block_median_us,block_p99_us,defect,part,aggregation,t_ovrl_us,\
                      t_pure_us,t_cpu_us,t_cpu_alone_us,percent_of_min,percent_of_max,availability";

impl RunRecord {
    /// The run as text: comments that begin with `#`, a line of titles, and a line for each row.
    pub fn to_csv(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_csv(&mut out);
        out
    }

    fn write_csv(&self, out: &mut impl Write) -> fmt::Result {
        let environment = &self.environment;
        for (name, value) in [
            ("library", &environment.library),
            ("date", &environment.date),
            ("machine", &environment.machine),
            ("system", &environment.system),
            ("release", &environment.release),
            ("command", &environment.command),
        ] {
            writeln!(out, "# {name}: {}", Line(value))?;
        }
        writeln!(
            out,
            "# transports: {}",
            Line(&environment.transports.join(" "))
        )?;
        for setting in &environment.settings {
            let (name, value) = (Line(&setting.name), Line(&setting.value));
            writeln!(out, "# setting {name}: {value} ({})", Line(&setting.origin))?;
        }
        for rank in &self.ranks {
            let (host, cpus) = (Line(&rank.host), Line(&rank.cpus));
            writeln!(
                out,
                "# rank {}: host {host}, pid {}, cpus {cpus}",
                rank.rank, rank.pid
            )?;
        }
        write_method(out, &self.method)?;
        for table in &self.tables {
            write_skipped(out, table)?;
        }
        writeln!(out, "{TITLES}")?;
        for table in &self.tables {
            for row in &table.rows {
                write_row(out, table, row)?;
            }
        }
        Ok(())
    }
}

/// Writes the parameters of the run, one a line, with the names of the JSON.
fn write_method(out: &mut impl Write, method: &MethodRecord) -> fmt::Result {
    let MethodRecord {
        samples,
        samples_single,
        volume_bytes,
        policy,
        seconds,
        barriers,
        warm_up,
        check,
        memory_bytes,
        off_cache,
        map,
        sync,
    } = method;
    writeln!(out, "# method samples: {samples}")?;
    writeln!(out, "# method samples_single: {samples_single}")?;
    writeln!(out, "# method volume_bytes: {volume_bytes}")?;
    writeln!(out, "# method policy: {policy}")?;
    match seconds {
        Some(seconds) => writeln!(out, "# method seconds: {seconds}")?,
        None => writeln!(out, "# method seconds: no limit")?,
    }
    writeln!(out, "# method barriers: {barriers}")?;
    writeln!(out, "# method warm_up: {warm_up}")?;
    let validity = match check {
        true => "true (times are not valid)",
        false => "false",
    };
    writeln!(out, "# method check: {validity}")?;
    writeln!(out, "# method memory_bytes: {memory_bytes}")?;
    match off_cache {
        Some(off) => writeln!(
            out,
            "# method off_cache: cache of {} bytes, lines of {}",
            off.cache_bytes, off.line_bytes
        )?,
        None => writeln!(out, "# method off_cache: no")?,
    }
    writeln!(out, "# method map: {}", map.as_deref().unwrap_or("no"))?;
    writeln!(out, "# method sync: {sync}")
}

/// Writes the rows that a table lacks for want of memory.
fn write_skipped(out: &mut impl Write, table: &TableRecord) -> fmt::Result {
    let TableRecord {
        benchmark,
        mode,
        processes,
        ..
    } = table;
    table.skipped.iter().try_for_each(|skip| {
        writeln!(
            out,
            "# skipped {benchmark}, {mode}, {processes} processes, {} bytes: needs {} bytes of memory",
            skip.bytes, skip.needed_bytes
        )
    })
}

fn write_row(out: &mut impl Write, table: &TableRecord, row: &RowRecord) -> fmt::Result {
    let TableRecord {
        part,
        benchmark,
        mode,
        aggregation,
        processes,
        waiting,
        ..
    } = table;
    let RowRecord {
        bytes,
        repetitions,
        t_min_us,
        t_max_us,
        t_avg_us,
        blocks,
        block_min_us,
        block_median_us,
        block_p99_us,
        ..
    } = row;
    let groups = table.groups.len();
    let (group, speed) = (Field(row.group), Field(row.mib_per_s));
    let (aggregation, overlapped) = (Field(*aggregation), Field(row.t_ovrl_us));
    let defect = row.defect.unwrap_or(f64::INFINITY);
    write!(
        out,
        "{benchmark},{mode},{processes},{groups},{waiting},{group},{bytes},{repetitions},\
         {t_min_us},{t_max_us},{t_avg_us},{speed},\
         {blocks},{block_min_us},{block_median_us},{block_p99_us},{defect},{part},{aggregation},{overlapped}"
    )?;
    let overlap = row.overlap;
    for value in [
        overlap.map(|overlap| overlap.t_pure_us),
        overlap.map(|overlap| overlap.t_cpu_us),
        overlap.map(|overlap| overlap.t_cpu_alone_us),
        overlap.map(|overlap| overlap.percent_of_min),
        overlap.map(|overlap| overlap.percent_of_max),
        overlap.map(|overlap| overlap.availability),
    ] {
        write!(out, ",{}", Field(value))?;
    }
    writeln!(out)
}

/// A field that is empty when there is no value.
struct Field<T>(Option<T>);

impl<T: Display> Display for Field<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |value| value.fmt(f))
    }
}

/// Text without line breaks, which would end a comment.
struct Line<'a>(&'a str);

impl Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = self.0.lines();
        f.write_str(lines.next().unwrap_or_default())?;
        lines.try_for_each(|line| write!(f, " {line}"))
    }
}
