//! What rank 0 says: the pinning, the listing, and the JSON.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use oxmpi_bench::report::json::Run;
use oxmpi_bench::report::{Environment, Rank, text};
use oxmpi_bench::suite::{Observer, Row, Table};
use oxmpi_pin::{RankPlace, far_from_rdma};
use oxmpi_topo::{CpuSet, Machine};
use time::OffsetDateTime;

use super::command::Command;
use crate::machine;

/// The results of a run, printed as they come.
pub(crate) struct Report {
    run: Run,
    json: Option<PathBuf>,
    /// Samples so far, and how many of them had wrong data.
    samples: (u32, u32),
    /// The first error of standard output; nothing more is printed after it.
    broken: Option<io::Error>,
}

impl Report {
    /// Prints where the ranks run, and the header; on ranks other than 0, where `ranks` is empty,
    /// nothing.
    ///
    /// # Errors
    /// When the JSON file cannot be written: better now than after the run.
    pub(crate) fn begin(command: &Command, ranks: Vec<Rank>) -> Result<Self, String> {
        let environment = environment(command);
        let json = command.json.clone().filter(|_| !ranks.is_empty());
        if let Some(path) = &json {
            fs::write(path, "").map_err(|why| unwritten(path, &why))?;
        }
        let run = Run::new(environment.clone(), ranks.clone());
        let mut report = Report {
            run,
            json,
            samples: (0, 0),
            broken: None,
        };
        if !ranks.is_empty() {
            let warning = machine::this(false).map_or(None, |machine| far(&machine, &ranks));
            report.print(|out| {
                for Rank {
                    rank,
                    host,
                    pid,
                    cpus,
                } in &ranks
                {
                    *out += &format!("# Rank {rank}: host {host}, pid {pid}, cpus {cpus}\n");
                }
                if let Some(warning) = &warning {
                    *out += &format!("# Warning: {warning}\n");
                }
                text::header(out, &environment, &command.plan)
            });
        }
        Ok(report)
    }

    /// Prints the last line and writes the JSON.
    ///
    /// # Errors
    /// When the JSON or standard output could not be written.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        let (samples, wrong) = self.samples;
        self.print(|out| {
            text::footer(out)?;
            *out += &format!("# Data of {samples} samples checked: {wrong} wrong\n");
            Ok(())
        });
        if let Some(path) = &self.json {
            let json = self.run.to_json().map_err(|why| unwritten(path, &why))?;
            fs::write(path, json + "\n").map_err(|why| unwritten(path, &why))?;
        }
        match self.broken {
            None => Ok(()),
            Some(why) => Err(format!("cannot write to standard output: {why}")),
        }
    }

    fn print(&mut self, write: impl FnOnce(&mut String) -> std::fmt::Result) {
        let mut out = String::new();
        if write(&mut out).is_err() || self.broken.is_some() {
            return;
        }
        let mut stdout = io::stdout().lock();
        self.broken = stdout
            .write_all(out.as_bytes())
            .and_then(|()| stdout.flush())
            .err();
    }
}

impl Observer for Report {
    fn table(&mut self, table: &Table) {
        self.run.table(table);
        self.print(|out| text::heading(out, table));
    }

    fn row(&mut self, table: &Table, row: &Row) {
        self.run.row(table, row);
        self.samples.0 += 1;
        self.samples.1 += u32::from(row.defect != 0.0);
        self.print(|out| text::row(out, table, row));
    }

    fn end(&mut self, table: &Table) {
        self.run.end(table);
        self.print(text::end);
    }
}

fn unwritten(path: &std::path::Path, why: &dyn std::fmt::Display) -> String {
    format!("cannot write {}: {why}", path.display())
}

/// A sentence about the ranks on the host of the first one that run away from its active RDMA port, if there are such.
fn far(machine: &Machine, ranks: &[Rank]) -> Option<String> {
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

fn environment(command: &Command) -> Environment {
    let kernel = |name: &str| {
        let text = fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default();
        text.trim().to_owned()
    };
    Environment {
        library: format!("oxmpi {} benchmarks", env!("CARGO_PKG_VERSION")),
        date: date(OffsetDateTime::now_utc()),
        machine: std::env::consts::ARCH.to_owned(),
        system: kernel("ostype"),
        release: kernel("osrelease"),
        version: kernel("version"),
        mpi_version: "5.0".to_owned(),
        thread_level: "MPI_THREAD_MULTIPLE".to_owned(),
        command: command.typed.clone(),
    }
}

/// As C's `asctime` prints it, in universal time.
fn date(at: OffsetDateTime) -> String {
    let (weekday, month) = (at.weekday().to_string(), at.month().to_string());
    let (hour, minute, second) = at.time().as_hms();
    let (day, year) = (at.day(), at.year());
    format!("{weekday:.3} {month:.3} {day:>2} {hour:02}:{minute:02}:{second:02} {year}")
}

#[cfg(test)]
mod tests;
