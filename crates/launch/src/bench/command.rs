//! The command line: ours, and around it that of the benchmarks.

use std::ffi::OsString;
use std::path::PathBuf;

use oxmpi_bench::options::{self, Order, Request, Surroundings};
use oxmpi_bench::suite::{Map, tables};

use super::progress::Show;
use super::simulated::Simulated;

/// Ranks of a job when none are asked for.
const RANKS: usize = 2;

/// The most ranks that may be asked for.
const RANKS_MAX: usize = 1 << 20;

/// What the user asked for.
#[derive(Debug, PartialEq)]
pub(crate) enum Wish {
    /// Run this.
    Run(Box<Command>),
    /// Print [`help`].
    Help,
    /// Print the benchmarks.
    List,
}

/// A run.
#[derive(Debug, PartialEq)]
pub(crate) struct Command {
    /// Number of ranks, when it was given.
    ranks: Option<usize>,
    /// Where the JSON goes.
    pub(crate) json: Option<PathBuf>,
    /// Where the comma-separated values go.
    pub(crate) csv: Option<PathBuf>,
    /// Where to show how far the run is.
    pub(crate) progress: Option<Show>,
    /// The kernels, lengths and method, and how they are shown.
    pub(crate) order: Order,
    /// The machine that is simulated, if one is.
    pub(crate) simulated: Option<Simulated>,
    /// The command as typed.
    pub(crate) typed: String,
}

impl Command {
    /// Reads the words after `called`, which is `oxmpi bench` or `IMB-MPI1`.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what would have been right.
    pub(crate) fn parse(
        called: &str,
        arguments: &[OsString],
        around: &dyn Surroundings,
    ) -> Result<Wish, String> {
        let (mut ranks, mut json, mut csv, mut progress) = (None, None, None, None);
        let mut simulated = None;
        let mut rest: Vec<&str> = Vec::new();
        let mut typed = String::from(called);
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let word = argument
                .to_str()
                .ok_or_else(|| format!("{argument:?} is not UTF-8"))?;
            let mut value = |what: &str| {
                arguments
                    .next()
                    .ok_or_else(|| format!("{word} needs {what}"))
            };
            // Not part of what was asked for: it changes no result.
            if word == "--progress" {
                let place = value("stdout, stderr or none")?.to_string_lossy();
                let wanted = || format!("--progress {place}: stdout, stderr or none");
                progress = Some(Show::named(&place).ok_or_else(wanted)?);
                continue;
            }
            typed.push(' ');
            typed.push_str(word);
            let mut value = |what: &str| {
                let value = value(what)?;
                typed.push(' ');
                typed.push_str(&value.to_string_lossy());
                Ok::<_, String>(value)
            };
            match word {
                "-n" | "-np" | "--np" => {
                    let text = value("a number of ranks")?.to_string_lossy();
                    let number = text.parse().ok().filter(|n| (1..=RANKS_MAX).contains(n));
                    let wanted = || format!("{word} {text}: a whole number from 1 to {RANKS_MAX}");
                    ranks = Some(number.ok_or_else(wanted)?);
                }
                "--json" => json = Some(PathBuf::from(value("a file")?)),
                "--csv" => csv = Some(PathBuf::from(value("a file")?)),
                "--sim" => {
                    let text = value("a machine and its ranks")?.to_string_lossy();
                    simulated = Some(Simulated::parse(&text)?);
                }
                word => rest.push(word),
            }
        }
        let request = options::parse(rest, around);
        match request.map_err(|why| format!("{why} (see `{called} -help`)"))? {
            Request::Help => Ok(Wish::Help),
            Request::List => Ok(Wish::List),
            Request::Run(order) => {
                if let Some(simulated) = &simulated {
                    simulated.suits(ranks, &order.plan)?;
                }
                Ok(Wish::Run(Box::new(Command {
                    ranks,
                    json,
                    csv,
                    progress,
                    order,
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

    /// Checks that a job of `size` ranks is what was asked for, and has enough of them.
    ///
    /// # Errors
    /// A sentence with the numbers.
    pub(crate) fn check_size(&self, size: usize) -> Result<(), String> {
        if let Some(ranks) = self.ranks.filter(|ranks| *ranks != size) {
            return Err(format!(
                "-n {ranks}, but the job this process was started in has {size} ranks; leave -n out"
            ));
        }
        let plan = &self.order.plan;
        match plan.layout.map {
            Some(Map { rows, columns }) if !(Map { rows, columns }).fits(size) => Err(format!(
                "-map {rows}x{columns} has more places than the job has ranks, {size}"
            )),
            _ if !plan.benchmarks.is_empty() && tables(plan, size).next().is_none() => {
                Err(format!(
                    "no benchmark to run: each of those asked for takes 2 ranks, and the job has {size}"
                ))
            }
            _ => Ok(()),
        }
    }
}

/// What `oxmpi bench --help` prints.
pub(crate) fn help() -> String {
    format!(
        "oxmpi bench: the Intel MPI Benchmarks\n\n\
         Usage: oxmpi bench [-n RANKS] [--sim MACHINE:RANKS] [--json FILE] [--csv FILE] [MPI1] [BENCHMARK...] [OPTION...]\n\n\
         Starts its ranks itself, each on a core of its own; under a process manager it joins the job\n\
         it is started in. A link to oxmpi called IMB-MPI1 is this command.\n\n  \
         {:<24}ranks to start; {RANKS} when left out\n  \
         {:<24}instead, simulate so many ranks on a machine of `oxmpi sim --help`\n  \
         {:<24}write the results there, too; docs/formats.md describes them\n  \
         {:<24}the same as comma-separated values\n  \
         {:<24}where to show how far the run is: stdout, stderr or none;\n  \
         {:<24}on the terminal, when left out\n\n{}",
        "-n RANKS",
        "--sim MACHINE:RANKS",
        "--json FILE",
        "--csv FILE",
        "--progress WHERE",
        "",
        options::help()
    )
}

#[cfg(test)]
mod tests {
    use super::{Command, Wish};
    use crate::bench::progress::Show;
    use oxmpi_bench::options::Surroundings;
    use oxmpi_bench::{Kernel, OffCache};
    use std::ffi::OsString;
    use std::path::Path;

    struct Nothing;

    impl Surroundings for Nothing {
        fn read(&self, _: &str) -> Result<String, String> {
            Err("no file".into())
        }

        fn cache(&self) -> Option<OffCache> {
            None
        }
    }

    fn parse(line: &str) -> Result<Wish, String> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Command::parse("oxmpi bench", &words, &Nothing)
    }

    fn run(line: &str) -> Command {
        match parse(line) {
            Ok(Wish::Run(command)) => *command,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn our_words_may_stand_anywhere() {
        let line = "MPI1 pingpong -n 4 --json out.json --csv out.csv -msglog 3";
        let command = run(&format!("{line} --progress none"));
        assert_eq!(command.ranks(), 4);
        assert_eq!(command.json.as_deref(), Some(Path::new("out.json")));
        assert_eq!(command.csv.as_deref(), Some(Path::new("out.csv")));
        assert_eq!(command.progress, Some(Show::Nowhere));
        assert_eq!(command.order.plan.benchmarks, [Kernel::PingPong.into()]);
        assert_eq!(command.typed, format!("oxmpi bench {line}"));
        assert_eq!(run("").ranks(), 2);
        assert_eq!(parse("--help -n 3"), Ok(Wish::Help));
        assert_eq!(parse("--list"), Ok(Wish::List));
    }

    #[test]
    fn a_job_of_another_size_is_named() {
        assert_eq!(run("").check_size(7), Ok(()));
        assert_eq!(run("-n 7").check_size(7), Ok(()));
        let why = run("-n 2").check_size(7).unwrap_err();
        assert!(why.contains("-n 2") && why.contains("7 ranks"), "{why}");
        assert_eq!(run("PingPong Bcast").check_size(1), Ok(()));
        let why = run("PingPong -multi 0").check_size(1).unwrap_err();
        assert!(why.ends_with("takes 2 ranks, and the job has 1"), "{why}");
        assert_eq!(run("-map 3x2").check_size(6), Ok(()));
        let why = run("-map 3x2").check_size(5).unwrap_err();
        assert!(
            why.contains("-map 3x2") && why.ends_with("ranks, 5"),
            "{why}"
        );
    }

    #[test]
    fn errors_say_what_would_be_right() {
        for (line, part) in [
            ("-n", "-n needs a number of ranks"),
            ("-n 0", "a whole number from 1"),
            ("-n two", "-n two: a whole number"),
            ("--json", "--json needs a file"),
            ("--csv", "--csv needs a file"),
            ("--progress", "--progress needs stdout, stderr or none"),
            ("--progress up", "--progress up: stdout, stderr or none"),
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
