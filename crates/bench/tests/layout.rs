//! Compares our listings with those of the original program in `imb/`, line by line, with the figures
//! blanked.

use oxmpi_bench::OffCache;
use oxmpi_bench::options::{BenchRun, Request, System, parse};
use oxmpi_bench::report::{Environment, text};
use oxmpi_bench::suite::{Multiple, SampleRow, Spread, tables};

/// The kernel of the original that the guide lacks.
const FOREIGN: &str = "Reduce_local";

/// A file system with the file of the runs with `-msglen`.
struct Lengths;

impl System for Lengths {
    fn read(&self, path: &str) -> Result<String, String> {
        assert_eq!(path, "Lengths");
        Ok("0\n100\n1000\n10000\n100000\n1000000\n".into())
    }

    fn cache(&self) -> Option<OffCache> {
        None
    }
}

/// The text after `name` in the header of `listing`.
fn said(listing: &str, name: &str) -> String {
    let line = listing.lines().find(|line| line.starts_with(name));
    let (_, said) = line.and_then(|line| line.split_once(": ")).expect(name);
    said.into()
}

/// Our listing of the same run, with times of 0.
fn ours(original: &str, ranks: usize) -> String {
    let (_, command) = original.split_once("\n# IMB-MPI1 ").expect("a command");
    let (arguments, _) = command.split_once(" \n").expect("a command");
    let Ok(Request::Run(BenchRun { plan, megabyte, .. })) = parse(arguments.split(' '), &Lengths)
    else {
        panic!("{arguments} is refused");
    };
    let environment = Environment {
        library: "Intel(R) MPI Benchmarks 2021.11".into(),
        date: said(original, "# Date "),
        machine: said(original, "# Machine "),
        system: said(original, "# System "),
        release: said(original, "# Release "),
        version: said(original, "# Version "),
        mpi_version: said(original, "# MPI Version "),
        thread_level: said(original, "# MPI Thread Environment"),
        command: format!("IMB-MPI1 {arguments}"),
        ..Environment::default()
    };
    let mut out = String::new();
    text::header(&mut out, &environment, &plan).unwrap();
    for table in tables(&plan, ranks) {
        text::heading(&mut out, &table).unwrap();
        let rows = match table.multiple {
            Some(Multiple::Each) => table.groups.len(),
            _ => 1,
        };
        for bytes in plan.lengths_of(table.kernel) {
            for group in 0..rows {
                let spread = Spread {
                    blocks: 1,
                    min: 0.0,
                    median: 0.0,
                    p99: 0.0,
                };
                let row = SampleRow {
                    group,
                    bytes,
                    repetitions: plan.method.repetitions(bytes),
                    t_min: 0.0,
                    t_max: 0.0,
                    t_avg: 0.0,
                    throughput: Some(0.0),
                    overlapped: None,
                    overlap: None,
                    spread,
                    defect: 0.0,
                };
                text::row(&mut out, &table, &row, megabyte).unwrap();
            }
        }
        text::end(&mut out).unwrap();
    }
    text::footer(&mut out).unwrap();
    out
}

/// The listing without the tables of the kernel that we lack, and without its line in the list.
fn common(original: &str) -> String {
    let paragraphs = original.split_inclusive("\n\n");
    let kept =
        paragraphs.filter(|paragraph| !paragraph.contains(&format!("# Benchmarking {FOREIGN} ")));
    kept.collect::<String>()
        .replace(&format!("# {FOREIGN}\n"), "")
}

/// The line with each number of two decimals, and the blanks before it, replaced by crosses.
fn blanked(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while !rest.is_empty() {
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let word = rest[blanks..].split(' ').next().unwrap_or_default();
        let (field, after) = rest.split_at(blanks + word.len());
        let is_figure = word
            .rsplit_once('.')
            .is_some_and(|(whole, decimals)| decimals.len() == 2 && whole.parse::<u64>().is_ok());
        if is_figure {
            out.extend(field.chars().map(|_| 'x'));
        } else {
            out.push_str(field);
        }
        rest = after;
    }
    out
}

#[test]
fn listings_are_those_of_the_original() {
    macro_rules! listing {
        ($name:literal) => {
            ($name, include_str!(concat!("imb/", $name, ".txt")))
        };
    }
    for ((name, original), ranks) in [
        (listing!("sample1"), 2),
        (listing!("sample2"), 6),
        (listing!("sample2b"), 6),
        (listing!("msglog"), 4),
        (listing!("all4"), 4),
        (listing!("npmin"), 4),
        (listing!("multibarrier"), 4),
        (listing!("include"), 2),
    ] {
        let (wanted, got) = (common(original), ours(original, ranks));
        for (number, (wanted, got)) in wanted.lines().zip(got.lines()).enumerate() {
            assert_eq!(blanked(got), blanked(wanted), "{name}, line {}", number + 1);
        }
        assert_eq!(got.lines().count(), wanted.lines().count(), "{name}");
        assert_eq!(got.ends_with('\n'), wanted.ends_with('\n'), "{name}");
    }
}
