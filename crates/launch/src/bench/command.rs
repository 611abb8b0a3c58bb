//! The command line: ours, and around it that of the benchmarks.

use std::ffi::OsString;
use std::path::PathBuf;

use oxmpi_bench::options::{self, Request};
use oxmpi_bench::suite::Plan;

/// Ranks of a job when none are asked for.
const RANKS: usize = 2;

/// The most ranks that may be asked for.
const RANKS_MAX: usize = 1 << 20;

/// What the user asked for.
#[derive(Debug, PartialEq)]
pub(crate) enum Wish {
    /// Run this.
    Run(Command),
    /// Print [`help`].
    Help,
}

/// A run.
#[derive(Debug, PartialEq)]
pub(crate) struct Command {
    /// Number of ranks, when it was given.
    ranks: Option<usize>,
    /// Where the JSON goes.
    pub(crate) json: Option<PathBuf>,
    /// The kernels, lengths and method.
    pub(crate) plan: Plan,
    /// The command as typed.
    pub(crate) typed: String,
}

impl Command {
    /// Reads the words after `oxmpi bench`.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what would have been right.
    pub(crate) fn parse(arguments: &[OsString]) -> Result<Wish, String> {
        let (mut ranks, mut json) = (None, None);
        let mut rest: Vec<&str> = Vec::new();
        let mut typed = String::from("oxmpi bench");
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let word = argument
                .to_str()
                .ok_or_else(|| format!("{argument:?} is not UTF-8"))?;
            typed.push(' ');
            typed.push_str(word);
            let mut value = |what: &str| {
                let value = arguments
                    .next()
                    .ok_or_else(|| format!("{word} needs {what}"))?;
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
                word => rest.push(word),
            }
        }
        match options::parse(rest).map_err(|why| format!("{why} (see `oxmpi bench --help`)"))? {
            Request::Help => Ok(Wish::Help),
            Request::Run(plan) => Ok(Wish::Run(Command {
                ranks,
                json,
                plan,
                typed,
            })),
        }
    }

    /// Ranks to start.
    pub(crate) fn ranks(&self) -> usize {
        self.ranks.unwrap_or(RANKS)
    }

    /// Checks that a job of `size` ranks, which this process did not start, is what was asked for.
    ///
    /// # Errors
    /// A sentence with both numbers.
    pub(crate) fn check_size(&self, size: usize) -> Result<(), String> {
        match self.ranks {
            Some(ranks) if ranks != size => Err(format!(
                "-n {ranks}, but the job this process was started in has {size} ranks; leave -n out"
            )),
            _ => Ok(()),
        }
    }
}

/// What `oxmpi bench --help` prints.
pub(crate) fn help() -> String {
    format!(
        "oxmpi bench: the Intel MPI Benchmarks\n\n\
         Usage: oxmpi bench [-n RANKS] [--json FILE] [MPI1] [BENCHMARK...] [OPTION...]\n\n\
         Starts its ranks itself, each on a core of its own; under a process manager it joins the job\n\
         it is started in.\n\n  \
         {:<24}ranks to start; {RANKS} when left out\n  \
         {:<24}write the results there, too; docs/formats.md describes them\n\n{}",
        "-n RANKS",
        "--json FILE",
        options::help()
    )
}

#[cfg(test)]
mod tests {
    use super::{Command, Wish};
    use oxmpi_bench::Kernel;
    use std::ffi::OsString;
    use std::path::Path;

    fn parse(line: &str) -> Result<Wish, String> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Command::parse(&words)
    }

    fn run(line: &str) -> Command {
        match parse(line) {
            Ok(Wish::Run(command)) => command,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn our_words_may_stand_anywhere() {
        let command = run("MPI1 pingpong -n 4 --json out.json -msglog 3");
        assert_eq!(
            (command.ranks(), command.json.as_deref()),
            (4, Some(Path::new("out.json")))
        );
        assert_eq!(command.plan.kernels, [Kernel::PingPong]);
        assert_eq!(
            command.typed,
            "oxmpi bench MPI1 pingpong -n 4 --json out.json -msglog 3"
        );
        assert_eq!(run("").ranks(), 2);
        assert_eq!(parse("--help -n 3"), Ok(Wish::Help));
    }

    #[test]
    fn a_job_of_another_size_is_named() {
        assert_eq!(run("").check_size(7), Ok(()));
        assert_eq!(run("-n 7").check_size(7), Ok(()));
        let why = run("-n 2").check_size(7).unwrap_err();
        assert!(why.contains("-n 2") && why.contains("7 ranks"), "{why}");
    }

    #[test]
    fn errors_say_what_would_be_right() {
        for (line, part) in [
            ("-n", "-n needs a number of ranks"),
            ("-n 0", "a whole number from 1"),
            ("-n two", "-n two: a whole number"),
            ("--json", "--json needs a file"),
            (
                "PingPnog",
                "did you mean 'PingPong'? (see `oxmpi bench --help`)",
            ),
        ] {
            let why = parse(line).unwrap_err();
            assert!(why.contains(part), "{line}: {why}");
        }
    }
}
