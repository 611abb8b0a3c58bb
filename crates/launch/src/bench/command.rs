//! The command line of `oxmpi bench`: the options of the launcher, between those of the Intel MPI Benchmarks.

use std::ffi::OsString;
use std::path::PathBuf;

use oxmpi_bench::Part;
use oxmpi_bench::options::{self, BenchRun, Request, System};
use oxmpi_bench::suite::{Map, tables};

use super::progress::ProgressStream;
use super::simulated::SimulatedJob;
use crate::options::*;

/// Default number of ranks.
const RANKS: usize = 2;

/// The largest number of ranks.
const RANKS_MAX: usize = 1 << 20;

/// What the command line asks for.
#[derive(Debug, PartialEq)]
pub(crate) enum BenchRequest {
    /// Run the benchmarks.
    Run(Box<BenchCommand>),
    /// Print [`help`].
    Help,
    /// Print the list of benchmarks of this part, or of all.
    List(Option<Part>),
}

/// A run of the benchmarks.
#[derive(Debug, PartialEq)]
pub(crate) struct BenchCommand {
    /// Number of ranks, if given.
    ranks: Option<usize>,
    /// File for the results as JSON.
    pub(crate) json: Option<PathBuf>,
    /// File for the results as comma-separated values.
    pub(crate) csv: Option<PathBuf>,
    /// Stream for the progress line.
    pub(crate) progress: Option<ProgressStream>,
    /// The kernels, message lengths, method and units.
    pub(crate) bench_run: BenchRun,
    /// The simulated job, with `--sim`.
    pub(crate) simulated: Option<SimulatedJob>,
    /// The command as typed, for the report.
    pub(crate) typed: String,
}

/// The options of `oxmpi bench` itself.
#[derive(Default)]
struct Typed {
    ranks: Option<usize>,
    json: Option<PathBuf>,
    csv: Option<PathBuf>,
    progress: Option<ProgressStream>,
    simulated: Option<SimulatedJob>,
    /// The words for the reader of `oxmpi_bench`.
    rest: Vec<String>,
}

/// The options of the launcher, which may stand between those of the Intel MPI Benchmarks.
#[rustfmt::skip]
const OPTIONS: OptionTable<Typed> = OptionTable {
    command: "oxmpi bench",
    intro: "\
oxmpi bench: the Intel MPI Benchmarks

Usage: oxmpi bench [-n RANKS] [--sim MACHINE:RANKS] [--json FILE] [--csv FILE] [MPI1|EXT|RMA|NBC]
                   [BENCHMARK...] [OPTION...]

Starts a job with each rank on a core of its own and runs the benchmarks in it. Under a process manager it
joins the job in which it is started. A link to oxmpi with the name IMB-MPI1, IMB-EXT, IMB-RMA or
IMB-NBC is this command for that part.

MPI1 measures messages and collectives, EXT and RMA one-sided communication, NBC how far nonblocking
collectives go on while their ranks compute: t_pure is the collective alone, t_CPU a computation that
takes as long, t_ovrl both at once, overlap the share that is hidden. A slow t_pure makes overlap easy,
so compare t_ovrl between libraries; --json and `oxmpi bench report` also show the availability, the
share of a processor that the collective leaves to the computation.
",
    groups: &[OptionGroup { title: "Job and output", rows: &[
        value(&["n", "np"], &["RANKS"], "ranks to start; default: 2", |o, v| v.set(&mut o.ranks, ranks)),
        value(&["sim"], &["MACHINE:RANKS"], "simulate this many ranks on a machine of `oxmpi sim --help` instead", |o, v| v.set(&mut o.simulated, SimulatedJob::parse)),
        value(&["json"], &["FILE"], "also write the results to FILE as JSON (docs/formats.md)", |o, v| { o.json = Some(v.path()); Ok(()) }),
        value(&["csv"], &["FILE"], "also write the results to FILE as comma-separated values", |o, v| { o.csv = Some(v.path()); Ok(()) }),
        value(&["progress"], &["STREAM"], "show progress on stdout, stderr or none; default: on the terminal",
            |o, v| v.set(&mut o.progress, |text| ProgressStream::from_name(text).ok_or("expected stdout, stderr or none"))),
    ] }],
    outro: "",
    single_dash: SingleDash::Names,
    operands: Operands::PassThrough(|o, v| { o.rest.push(v.text()?.into()); Ok(()) }),
};

fn ranks(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|n| (1..=RANKS_MAX).contains(n));
    number.ok_or_else(|| format!("expected a whole number from 1 to {RANKS_MAX}"))
}

impl BenchCommand {
    /// Reads the words after `oxmpi bench`, or after the name of the original's program of `part`.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what was expected.
    pub(crate) fn parse(
        part: Option<Part>,
        arguments: &[OsString],
        system: &dyn System,
    ) -> Result<BenchRequest, String> {
        let mut own = Typed::default();
        OPTIONS.read_without_help(arguments, &mut own)?;
        let Typed {
            ranks,
            json,
            csv,
            progress,
            simulated,
            rest,
        } = own;
        let called = part.map_or("oxmpi bench", Part::program);
        let typed = typed_command(called, arguments);
        let rest = part
            .map(Part::word)
            .into_iter()
            .chain(rest.iter().map(String::as_str));
        let request = options::parse(rest, system);
        match request.map_err(|why| format!("{why} (see `{called} -help`)"))? {
            Request::Help => Ok(BenchRequest::Help),
            Request::List(part) => Ok(BenchRequest::List(part)),
            Request::Run(bench_run) => {
                if let Some(simulated) = &simulated {
                    simulated.check(ranks, &bench_run.plan)?;
                }
                Ok(BenchRequest::Run(Box::new(BenchCommand {
                    ranks,
                    json,
                    csv,
                    progress,
                    bench_run,
                    simulated,
                    typed,
                })))
            }
        }
    }

    /// Ranks to start.
    pub(crate) fn ranks(&self) -> usize {
        self.ranks.unwrap_or(RANKS)
    }

    /// Checks that a job of `size` ranks fits `-n` and has enough ranks for the benchmarks.
    ///
    /// # Errors
    /// A sentence with the numbers.
    pub(crate) fn check_size(&self, size: usize) -> Result<(), String> {
        if let Some(ranks) = self.ranks.filter(|ranks| *ranks != size) {
            return Err(format!(
                "-n {ranks} conflicts with the job in which this process was started: it has {size} ranks; leave -n out"
            ));
        }
        let plan = &self.bench_run.plan;
        match plan.layout.map {
            Some(Map { rows, columns }) if !(Map { rows, columns }).fits(size) => Err(format!(
                "-map {rows}x{columns} has more places than the job has ranks: {size}"
            )),
            _ if !plan.benchmarks.is_empty() && tables(plan, size).next().is_none() => {
                Err(format!(
                    "no benchmark can run: all that were named need 2 ranks, and the job has {size}"
                ))
            }
            _ => Ok(()),
        }
    }
}

/// The command as typed, without `--progress`, which changes no result.
fn typed_command(called: &str, arguments: &[OsString]) -> String {
    let mut typed = String::from(called);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let word = word.to_string_lossy();
        match word.trim_start_matches('-').strip_prefix("progress") {
            Some("") => drop(words.next()),
            Some(value) if value.starts_with('=') => {}
            _ => typed = typed + " " + &word,
        }
    }
    typed
}

/// What `oxmpi bench --help` prints.
pub(crate) fn help() -> String {
    format!("{}\n{}", OPTIONS.help(), options::help())
}

#[cfg(test)]
mod tests {
    use super::{BenchCommand, BenchRequest};
    use crate::bench::progress::ProgressStream;
    use oxmpi_bench::options::System;
    use oxmpi_bench::{Kernel, OffCache};
    use std::ffi::OsString;
    use std::path::Path;

    struct Nothing;

    impl System for Nothing {
        fn read(&self, _: &str) -> Result<String, String> {
            Err("no file".into())
        }

        fn cache(&self) -> Option<OffCache> {
            None
        }
    }

    fn parse(line: &str) -> Result<BenchRequest, String> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        BenchCommand::parse(None, &words, &Nothing)
    }

    fn run(line: &str) -> BenchCommand {
        match parse(line) {
            Ok(BenchRequest::Run(command)) => *command,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn launcher_options_may_stand_anywhere() {
        let line = "MPI1 pingpong -n 4 --json out.json --csv out.csv -msglog 3";
        let command = run(&format!("{line} --progress none"));
        assert_eq!(command.ranks(), 4);
        assert_eq!(command.json.as_deref(), Some(Path::new("out.json")));
        assert_eq!(command.csv.as_deref(), Some(Path::new("out.csv")));
        assert_eq!(command.progress, Some(ProgressStream::Off));
        assert_eq!(command.bench_run.plan.benchmarks, [Kernel::PingPong.into()]);
        assert_eq!(command.typed, format!("oxmpi bench {line}"));
        assert_eq!(run("").ranks(), 2);
        assert_eq!(parse("--help -n 3"), Ok(BenchRequest::Help));
        assert_eq!(parse("--list"), Ok(BenchRequest::List(None)));
    }

    #[test]
    fn a_job_of_another_size_is_an_error() {
        assert_eq!(run("").check_size(7), Ok(()));
        assert_eq!(run("-n 7").check_size(7), Ok(()));
        let why = run("-n 2").check_size(7).unwrap_err();
        assert!(why.contains("-n 2") && why.contains("7 ranks"), "{why}");
        assert_eq!(run("PingPong Bcast").check_size(1), Ok(()));
        let why = run("PingPong -multi 0").check_size(1).unwrap_err();
        assert!(why.ends_with("need 2 ranks, and the job has 1"), "{why}");
        assert_eq!(run("-map 3x2").check_size(6), Ok(()));
        let why = run("-map 3x2").check_size(5).unwrap_err();
        assert!(
            why.contains("-map 3x2") && why.ends_with("ranks: 5"),
            "{why}"
        );
    }

    #[test]
    fn errors_say_what_was_expected() {
        super::OPTIONS.assert_sound();
        for (line, part) in [
            ("-n", "-n needs RANKS"),
            ("-n 0", "a whole number from 1"),
            ("-n two", "-n two: expected a whole number"),
            ("--json", "--json needs FILE"),
            ("--csv", "--csv needs FILE"),
            ("--progress", "--progress needs STREAM"),
            (
                "--progress up",
                "--progress up: expected stdout, stderr or none",
            ),
            (
                "PingPnog",
                "did you mean 'PingPong'? (see `oxmpi bench -help`)",
            ),
        ] {
            let why = parse(line).unwrap_err();
            assert!(why.contains(part), "{line}: {why}");
        }
    }
}
