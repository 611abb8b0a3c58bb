//! Tests that the listings of EXT, RMA and NBC have the original's layout, and that the parser reads what is printed.

use crate::common::watched;
use crate::suite::Record;
use oxmpi_bench::Megabyte;
use oxmpi_bench::OffCache;
use oxmpi_bench::compare::{Figure, read};
use oxmpi_bench::listing::{Column, Listing};
use oxmpi_bench::options::{Request, System, parse};
use oxmpi_bench::report::{Environment, RunRecord, text};
use oxmpi_bench::suite::{Observer, Plan, run};

/// No file and no cache.
struct Nothing;

impl System for Nothing {
    fn read(&self, _: &str) -> Result<String, String> {
        Err("no file".into())
    }

    fn cache(&self) -> Option<OffCache> {
        None
    }
}

/// The plan of a command line, and its tables on threads.
fn record(line: &str, ranks: usize) -> (Plan, Record) {
    let Ok(Request::Run(bench_run)) = parse(line.split(' '), &Nothing) else {
        panic!("{line} is refused");
    };
    let plan = bench_run.plan;
    let records = watched(ranks, |mut world| {
        let mut record = Record::default();
        run(&mut world, &plan, &mut record).expect("no call fails");
        record
    });
    let first = records.into_iter().next().expect("at least one rank");
    (plan, first)
}

fn environment() -> Environment {
    Environment {
        library: "threads".into(),
        ..Environment::default()
    }
}

/// The whole listing.
fn listing(plan: &Plan, record: &Record) -> String {
    let mut out = String::new();
    text::header(&mut out, &environment(), plan).unwrap();
    for (table, rows) in &record.tables {
        text::heading(&mut out, table).unwrap();
        for row in rows {
            text::row(&mut out, table, row, Megabyte::Binary).unwrap();
        }
        text::end(&mut out).unwrap();
    }
    text::footer(&mut out).unwrap();
    out
}

#[test]
fn what_is_printed_is_read_back() {
    for (line, ranks, part) in [
        ("EXT -msglog 4 -iter 20", 3, "threads, MPI-2 part"),
        ("EXT -msglog 4 -iter 20 -multi 1", 4, "threads, MPI-2 part"),
        ("RMA -msglog 3 -iter 20 -check", 2, "threads, MPI-RMA part"),
        (
            "RMA -msglog 3 -iter 20 -multi 0",
            4,
            "threads, MPI-RMA part",
        ),
        (
            "RMA -msglog 3 -aggregate_mode aggregate",
            2,
            "threads, MPI-RMA part",
        ),
        ("NBC -msglog 3 -iter 20", 3, "threads, MPI-NBC part"),
        ("NBC -msglog 3 -iter 20 -check", 2, "threads, MPI-NBC part"),
        (
            "NBC -msglog 3 -iter 20 -multi 1 -include Ireduce_pure,Ibarrier_pure",
            4,
            "threads, MPI-NBC part",
        ),
    ] {
        let (plan, record) = record(line, ranks);
        let out = listing(&plan, &record);
        let read = Listing::parse(&out).unwrap_or_else(|why| panic!("{line}: {why}"));
        assert_eq!(read.len(), 1, "{line}");
        assert_eq!(
            (read[0].header.suite.as_str(), read[0].finished),
            (part, true)
        );
        assert_eq!(read[0].tables.len(), record.tables.len(), "{line}");
        for (read, (table, rows)) in read[0].tables.iter().zip(&record.tables) {
            let heading = &read.heading;
            assert_eq!(heading.benchmark, table.kernel.info().name, "{line}");
            let mode = table.aggregation.map(|mode| mode.name().to_uppercase());
            assert_eq!(heading.mode, mode, "{line}");
            assert_eq!(read.rows.len(), rows.len(), "{line}");
            let is_known = |column: &Column| !matches!(column, Column::Other(_));
            assert!(read.columns.iter().all(is_known), "{:?}", read.columns);
            for (read_row, row) in read.rows.iter().zip(rows) {
                let value = |column| read.value(read_row, &column);
                let has_lengths = table.kernel.info().fixed != Some(0);
                let bytes = has_lengths.then_some(row.bytes as f64);
                assert_eq!(value(Column::Bytes), bytes);
                assert_eq!(value(Column::Repetitions), Some(f64::from(row.repetitions)));
                assert_eq!(
                    value(Column::TimeOverlapped).is_some(),
                    row.overlapped.is_some()
                );
                let overlap = row.overlap;
                for (column, number) in [
                    (Column::TimeCompute, overlap.map(|overlap| overlap.compute)),
                    (Column::Overlap, overlap.map(|overlap| overlap.percent())),
                ] {
                    let value = value(column);
                    assert_eq!(value.is_some(), number.is_some(), "{row:?}");
                    // Two decimals are printed.
                    let differs = value
                        .zip(number)
                        .map(|(value, number)| (value - number).abs());
                    assert!(differs.is_none_or(|differs| differs < 0.006), "{row:?}");
                }
            }
        }
    }
}

#[test]
fn a_mode_stands_between_the_heading_and_the_columns() {
    let (plan, record) = record("EXT Unidir_Put -msglog 2:2 -iter 20,40,20", 2);
    let out = listing(&plan, &record);
    let rule = format!("#{:-<51}\n", "");
    let table = |mode: &str| {
        format!(
            "{rule}# Benchmarking Unidir_Put \n# #processes = 2 \n{rule}#\n#    MODE: {mode} \n#\n       \
             #bytes #repetitions      t[usec]   Mbytes/sec\n            0           20 "
        )
    };
    let (first, second) = (table("AGGREGATE"), table("NON-AGGREGATE"));
    let place = |part: &str| {
        out.find(part)
            .unwrap_or_else(|| panic!("no {part}\nin\n{out}"))
    };
    assert!(place(&first) < place(&second));
    assert!(out.contains("#    threads, MPI-2 part\n"), "{out}");
}

/// Columns of a collective in the background of a computation.
const OVERLAP: &str = " t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]\n";

/// A barrier has no length. The header has the rate of the computation.
#[test]
fn barriers_have_no_lengths_and_the_header_has_the_rate() {
    for (line, columns) in [
        ("NBC Ibarrier -iter 5", OVERLAP),
        (
            "NBC Ibarrier_pure -iter 5",
            "  t_min[usec]  t_max[usec]  t_avg[usec]\n",
        ),
    ] {
        let (plan, record) = record(line, 2);
        let out = listing(&plan, &record);
        let titles = format!(" #repetitions{columns}            5 ");
        assert!(out.contains(&titles) && !out.contains("#bytes"), "{out}");
        let mut out = String::new();
        let environment = Environment {
            compute_mflops: Some(1234.567),
            ..environment()
        };
        text::header(&mut out, &environment, &plan).unwrap();
        let rate = "# For nonblocking benchmarks:\n\n# Function CPU_Exploit obtains an undisturbed\n\
                    # performance of 1234.57 MFlops\n\n\n# List of Benchmarks to run:\n";
        assert!(out.contains(rate), "{out}");
    }
}

/// Columns of each class of tables.
#[test]
fn columns_are_those_of_the_class() {
    let times = "  t_min[usec]  t_max[usec]  t_avg[usec]\n";
    for (line, columns) in [
        ("EXT Window", times),
        ("EXT Accumulate", times),
        ("EXT Bidir_Get", "      t[usec]   Mbytes/sec\n"),
        ("RMA One_put_all", "      t[usec]   Mbytes/sec\n"),
        ("RMA Put_all_local", "      t[usec]   Mbytes/sec\n"),
        ("RMA All_get_all", times),
        ("RMA Exchange_put", times),
        ("RMA Truly_passive_put", " t_pure[usec] t_ovrl[usec]\n"),
        ("NBC Ibcast", OVERLAP),
        ("NBC Iallreduce", OVERLAP),
        ("NBC Ibcast_pure", times),
        (
            "RMA Fetch_and_op",
            "      t[usec]   Mbytes/sec\n            4 ",
        ),
    ] {
        let (plan, record) = record(&format!("{line} -msglog 2:2 -iter 5"), 2);
        let out = listing(&plan, &record);
        let titles = format!("       #bytes #repetitions{columns}");
        assert!(out.contains(&titles), "{line}:\n{out}");
        let rows = || record.tables.iter().flat_map(|(_, rows)| rows);
        if line.ends_with("passive_put") {
            assert!(rows().all(|row| row.overlapped > Some(0.0)), "{out}");
        }
        if line.ends_with("Fetch_and_op") {
            assert!(record.tables.iter().all(|(_, rows)| rows.len() == 1));
        }
    }
}

/// One_put_all moves a message to each other rank, and the throughput counts them all.
#[test]
fn throughput_counts_every_target() {
    for (line, ranks, targets) in [("RMA One_put_all", 4, 3.0), ("RMA Bidir_put", 4, 1.0)] {
        let (_, record) = record(&format!("{line} -npmin 4 -msglog 6:6 -iter 5"), ranks);
        for row in record.tables.iter().flat_map(|(_, rows)| rows) {
            let wanted = targets * row.bytes as f64 / (row.t_max / 1e6);
            let got = row.throughput.expect("a single transfer");
            assert!((got - wanted).abs() <= 1e-9 * wanted, "{line}: {row:?}");
        }
    }
}

/// A report keeps modes, and benchmarks of the same name in two parts, apart; JSON and the listing name them alike.
#[test]
fn reports_name_part_and_mode() {
    for (line, names) in [
        (
            "RMA Accumulate Truly_passive_put",
            &[
                "RMA Accumulate, non-aggregate",
                "RMA Accumulate, aggregate",
                "RMA Truly_passive_put",
            ][..],
        ),
        (
            "EXT Window Accumulate -aggregate_mode aggregate",
            &["EXT Window", "EXT Accumulate, aggregate"],
        ),
        ("NBC Ibcast Ibarrier", &["NBC Ibcast", "NBC Ibarrier"]),
    ] {
        let (plan, record) = record(&format!("{line} -msglog 3:3 -iter 5"), 2);
        let mut run = RunRecord::new(environment(), Vec::new(), &plan);
        for (table, rows) in &record.tables {
            run.table(table);
            rows.iter().for_each(|row| run.row(table, row));
            run.end(table);
        }
        let json = run.to_json().expect("a run is JSON");
        for file in [json, listing(&plan, &record)] {
            let runs = read("file", &file).unwrap_or_else(|why| panic!("{line}: {why}"));
            let mut got: Vec<&str> = runs[0]
                .figures()
                .map(|figure| &*figure.0.benchmark)
                .collect();
            got.dedup();
            assert_eq!(got, names, "{line}");
            let rates = runs[0].figures().map(|(subject, _, _)| subject.messages());
            let is_rma = |messages: Option<u32>| messages.is_some() == line.starts_with("RMA Acc");
            assert!(rates.take(1).all(is_rma), "{line}");
            // The time of both at once counts, and the report shows the overlap beside it.
            let is_shown =
                |figure: &Figure| figure.remark.iter().any(|text| text.contains("overlap "));
            let mut figures = runs[0].figures();
            let is_right =
                figures.all(|(_, _, figure)| is_shown(figure) == line.starts_with("NBC"));
            assert!(is_right, "{line}");
        }
    }
}
