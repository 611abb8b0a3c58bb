//! Runs the benchmarks between two threads: `cargo run --example threads -- -msglog 10`.

mod transport;

use oxmpi_bench::options::{BenchRun, Request, System, help, list, parse};
use oxmpi_bench::report::{Environment, text};
use oxmpi_bench::suite::{Observer, SampleRow, SampleTable, Skip, run};
use oxmpi_bench::{Megabyte, OffCache};
use std::process::ExitCode;

/// An observer that prints each table while it grows.
struct Print(Megabyte);

/// A system for the options: reads files, and knows no cache size.
struct Here;

impl System for Here {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|why| why.to_string())
    }
    fn cache(&self) -> Option<OffCache> {
        None
    }
}

fn print(write: impl FnOnce(&mut String) -> std::fmt::Result) {
    let mut out = String::new();
    write(&mut out).expect("a string takes all text");
    print!("{out}");
}

impl Observer for Print {
    fn table(&mut self, table: &SampleTable) {
        print(|out| text::heading(out, table));
    }
    fn row(&mut self, table: &SampleTable, row: &SampleRow) {
        print(|out| text::row(out, table, row, self.0));
    }
    fn skip(&mut self, table: &SampleTable, skip: &Skip) {
        print(|out| text::skip(out, table, skip));
    }
    fn end(&mut self, _: &SampleTable) {
        print(text::end);
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let BenchRun { plan, megabyte, .. } = match parse(words.iter().map(String::as_str), &Here) {
        Ok(Request::Run(bench_run)) => bench_run,
        Ok(Request::Help) => {
            print!("{}", help());
            return ExitCode::SUCCESS;
        }
        Ok(Request::List(part)) => {
            print!("{}", list(part));
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let library = "threads".into();
    let environment = Environment {
        library,
        command: words.join(" "),
        ..Default::default()
    };
    print(|out| text::header(out, &environment, &plan));
    let results = transport::run(2, |mut world| run(&mut world, &plan, &mut Print(megabyte)));
    print(text::footer);
    for result in results {
        match result {
            Ok(0.0) => {}
            Ok(_) => return ExitCode::FAILURE,
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
