//! Reads listings in the format of the Intel MPI Benchmarks.

use super::super::run::{ComparedRun, FIGURES, Figure, Kind, MEANS, Subject, Unit, benchmark};
use crate::Part;
use crate::listing::{Column, Listing};
use std::format;

/// Makes a run of the times of the slowest rank: means over repetitions, whose spread a listing does not
/// have.
pub(super) fn run(name: &str, listing: Listing) -> ComparedRun {
    let header = &listing.header;
    let mut run = ComparedRun::new(name, Kind::Rival);
    run.fact("program", header.suite.as_str());
    run.fact("date", header.date.as_str());
    run.fact("machine", header.machine.as_str());
    run.fact("system", header.system.as_str());
    run.fact("release", header.release.as_str());
    run.fact("threads", header.thread_level.as_str());
    run.fact("command", header.command.as_str());
    run.fact(FIGURES, MEANS);
    if !listing.finished {
        run.fact("cut short", "the listing's last line is missing");
    }
    let mut parts = Part::ALL.into_iter();
    let part = parts.find(|part| header.suite.ends_with(part.heading()));
    let part = part.unwrap_or_default();
    for table in &listing.tables {
        let heading = &table.heading;
        let mode = heading.mode.as_ref().map(|mode| mode.to_lowercase());
        let name = (heading.benchmark.as_str(), mode.as_deref());
        let subject = Subject {
            benchmark: benchmark(part, heading.multiple, name),
            ranks: heading.processes,
            placement: "".into(),
            unit: Unit::Microseconds,
        };
        for row in &table.rows {
            let value = |column| table.value(row, &column);
            let defect = value(Column::Defects).filter(|&defect| defect != 0.0);
            let wrong = defect.map(|defect| format!("wrong data, off by {defect}"));
            let skipped = row
                .skipped
                .as_ref()
                .map(|why| format!("not measured: {why}"));
            // Beside a computation, the time of both is the benchmark's; elsewhere, that without one.
            let overlap = value(Column::Overlap);
            let time = match overlap {
                Some(_) => Column::TimeOverlapped,
                None => Column::TimePure,
            };
            let mean = [Column::TimeMax, Column::Time, time]
                .into_iter()
                .find_map(value);
            let figure = Figure {
                value: mean,
                mean,
                range: None,
                remark: overlap.map(|percent| format!("overlap {percent:.0} %")),
                note: wrong.or(skipped),
            };
            let bytes = value(Column::Bytes).unwrap_or(0.0) as u64;
            run.add(subject.clone(), bytes, figure);
        }
    }
    run.foreign = listing.foreign;
    run
}
