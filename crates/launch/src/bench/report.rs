//! The output of rank 0: the pinning, the listing, and the files with JSON and comma-separated values.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use oxmpi_bench::Megabyte;
use oxmpi_bench::report::{Rank, RunRecord, text};
use oxmpi_bench::suite::{Observer, Plan, SampleRow, SampleTable, Skip};
use oxmpi_pin::{RankPlace, far_from_rdma};
use oxmpi_topo::{CpuSet, Machine};

use super::command::BenchCommand;
use super::environment;
use super::progress::{ProgressLine, ProgressStream};
use crate::machine;

/// Prints the results of a run as they are measured, and collects them for the files.
pub(crate) struct BenchReport {
    run: RunRecord,
    json: Option<PathBuf>,
    csv: Option<PathBuf>,
    megabyte: Megabyte,
    progress: ProgressLine,
    /// Whether the job is simulated and moves no data.
    is_simulated: bool,
    /// The number of samples, and of samples with wrong data.
    samples: (u32, u32),
    /// The first error of standard output; nothing more is printed after it.
    broken: Option<io::Error>,
}

impl BenchReport {
    /// Prints the pinning and the header. Ranks other than 0, for which `ranks` is empty, print nothing.
    ///
    /// # Errors
    /// If a file cannot be written; this is checked before the run.
    pub(crate) fn begin(command: &BenchCommand, ranks: Vec<Rank>) -> Result<Self, String> {
        let plan = &command.bench_run.plan;
        let is_simulated = command.simulated.is_some();
        let speaks = is_simulated || !ranks.is_empty();
        let environment = environment::of(command, speaks);
        let [json, csv] = [&command.json, &command.csv].map(|path| path.clone().filter(|_| speaks));
        for path in [&json, &csv].into_iter().flatten() {
            write(path, "")?;
        }
        let show = match speaks {
            true => command.progress.unwrap_or_else(ProgressStream::on_terminal),
            false => ProgressStream::Off,
        };
        let size = (command.simulated.as_ref()).map_or(ranks.len(), |simulated| simulated.ranks);
        let mut report = BenchReport {
            run: RunRecord::new(environment.clone(), ranks.clone(), plan),
            json,
            csv,
            megabyte: command.bench_run.megabyte,
            progress: ProgressLine::new(show, plan, size),
            is_simulated,
            samples: (0, 0),
            broken: None,
        };
        if speaks {
            let heading = match &command.simulated {
                Some(simulated) => simulated.heading(),
                None => bindings(plan, &ranks),
            };
            report.print(|out| {
                *out += &heading;
                text::header(out, &environment, plan)?;
                text::idle(out, plan, size)
            });
        }
        Ok(report)
    }

    /// Prints the last line and writes the files.
    ///
    /// # Errors
    /// If a file or standard output cannot be written.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        let ((samples, wrong), is_simulated) = (self.samples, self.is_simulated);
        self.progress.end();
        // Above the last line, which must be the original's.
        self.print(|out| {
            if !is_simulated {
                *out += &format!("# Data of {samples} samples checked: {wrong} wrong\n");
            }
            text::footer(out)
        });
        if let Some(path) = &self.json {
            let json = self.run.to_json().map_err(|why| write_error(path, &why))?;
            write(path, &(json + "\n"))?;
        }
        if let Some(path) = &self.csv {
            write(path, &self.run.to_csv())?;
        }
        match self.broken {
            None => Ok(()),
            Some(why) => Err(format!("cannot write to standard output: {why}")),
        }
    }

    fn print(&mut self, write: impl FnOnce(&mut String) -> std::fmt::Result) {
        let mut out = String::new();
        self.progress.clear(&mut out);
        if write(&mut out).is_err() || self.broken.is_some() {
            return;
        }
        self.progress.show(&mut out);
        let mut stdout = io::stdout().lock();
        self.broken = stdout
            .write_all(out.as_bytes())
            .and_then(|()| stdout.flush())
            .err();
    }
}

impl Observer for BenchReport {
    fn table(&mut self, table: &SampleTable) {
        self.run.table(table);
        self.print(|out| text::heading(out, table));
    }

    fn row(&mut self, table: &SampleTable, row: &SampleRow) {
        self.run.row(table, row);
        self.samples.0 += 1;
        self.samples.1 += u32::from(row.defect != 0.0);
        if row.group == 0 {
            self.progress.step();
        }
        let megabyte = self.megabyte;
        self.print(|out| text::row(out, table, row, megabyte));
    }

    fn skip(&mut self, table: &SampleTable, skip: &Skip) {
        self.run.skip(table, skip);
        self.progress.step();
        self.print(|out| text::skip(out, table, skip));
    }

    fn end(&mut self, table: &SampleTable) {
        self.run.end(table);
        self.print(text::end);
    }
}

/// The pinning of the ranks, as comment lines.
fn bindings(plan: &Plan, ranks: &[Rank]) -> String {
    let mut out = String::new();
    for Rank {
        rank,
        host,
        pid,
        cpus,
    } in ranks
    {
        out += &format!("# Rank {rank}: host {host}, pid {pid}, cpus {cpus}\n");
    }
    if let Some(warning) =
        machine::local(false).map_or(None, |machine| far_ranks_warning(&machine, ranks))
    {
        out += &format!("# Warning: {warning}\n");
    }
    out + &match plan.off_cache {
        None => "# Messages come from the cache (-off_cache keeps them out of it)\n".into(),
        Some(off) => format!(
            "# Messages walk past a cache of {} bytes with lines of {}\n",
            off.cache, off.line
        ),
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|why| write_error(path, &why))
}

fn write_error(path: &Path, why: &dyn std::fmt::Display) -> String {
    format!("cannot write {}: {why}", path.display())
}

/// A warning about ranks on the first host that run on another NUMA node than the active RDMA port.
fn far_ranks_warning(machine: &Machine, ranks: &[Rank]) -> Option<String> {
    let here = &ranks.first()?.host;
    let places = ranks.iter().filter(|rank| rank.host == *here);
    let place = |rank: &Rank| {
        Some(RankPlace {
            rank: u32::try_from(rank.rank).ok()?,
            cpus: CpuSet::parse_list(&rank.cpus).ok()?,
        })
    };
    let places: Vec<RankPlace> = places.filter_map(place).collect();
    far_from_rdma(machine, &places).map(|warning| warning.text)
}

#[cfg(test)]
mod tests;
