//! Runs commands, shows their output while they run, and keeps the failure messages.

use crate::Result;
use crate::tally::Tally;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};

/// Lines kept of the end of an output.
const TAIL: usize = 60;

/// Lines kept of the failures of one test program.
const SAID: usize = 300;

/// Runs a command that runs Rust tests, shows its output while it runs, and counts the tests.
///
/// A command that fails without a failed test (it did not compile, or crashed) counts as one failure.
///
/// # Errors
/// When the command cannot be started.
pub(crate) fn run_tests(command: impl Into<Command>) -> Result<Tally> {
    let command = command.into();
    let shown = show(&command);
    let mut runner = Runner::default();
    let status = watch(command, |line| runner.hear(line))?;
    Ok(runner.end(&shown, &status.to_string(), status.success()))
}

/// Runs a command that is one check: shows its output and returns its exit status.
///
/// # Errors
/// When the check fails, with its command line and the end of its output.
pub(crate) fn run_check(command: impl Into<Command>) -> Result<Tally> {
    let command = command.into();
    let shown = show(&command);
    let mut tail = Tail::default();
    let status = watch(command, |line| tail.hear(line))?;
    if status.success() {
        Ok(Tally::ONE)
    } else {
        Err(format!("{status}: {shown}\n{tail}").into())
    }
}

/// Runs a command, prints each line of stdout and stderr while it runs, and passes the line to `hear`.
///
/// # Errors
/// When the command cannot be started.
pub(crate) fn watch(command: Command, mut hear: impl FnMut(&str)) -> Result<ExitStatus> {
    println!("$ {}", show(&command));
    listen(command, |line| {
        println!("{line}");
        hear(line);
    })
}

/// Runs a command, and passes each line of stdout and stderr to `hear`.
///
/// # Errors
/// When the command cannot be started.
pub(crate) fn listen(mut command: Command, mut hear: impl FnMut(&str)) -> Result<ExitStatus> {
    let (lines, output) = std::io::pipe()?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()?;
    // `command` holds the writing ends, which must close for the reader to see the end.
    drop(command);
    for line in BufReader::new(lines).split(b'\n') {
        let line = line?;
        hear(&String::from_utf8_lossy(&line));
    }
    Ok(child.wait()?)
}

/// The command line, and where it runs.
pub(crate) fn show(command: &Command) -> String {
    let words: Vec<_> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect();
    let words = words.join(" ");
    match command.get_current_dir() {
        Some(folder) => format!("{words}  # in {}", folder.display()),
        None => words,
    }
}

/// The last lines of an output.
#[derive(Default)]
pub(crate) struct Tail(VecDeque<String>);

impl Tail {
    /// Adds a line.
    pub(crate) fn hear(&mut self, line: &str) {
        if self.0.len() == TAIL {
            self.0.pop_front();
        }
        self.0.push_back(line.to_owned());
    }
}

impl std::fmt::Display for Tail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (number, line) in self.0.iter().enumerate() {
            let end = if number + 1 < self.0.len() { "\n" } else { "" };
            write!(f, "  {line}{end}")?;
        }
        Ok(())
    }
}

/// Parses the output of cargo's test runner.
#[derive(Default)]
struct Runner {
    tally: Tally,
    /// The test program that cargo named last.
    program: String,
    /// The output of a program with failed tests, from "failures:" on.
    failures: Option<Vec<String>>,
    /// The output since the last program ended, where cargo names what it could not run or compile.
    tail: Tail,
}

impl Runner {
    fn hear(&mut self, line: &str) {
        self.tail.hear(line);
        let word = line.trim_start();
        if word.starts_with("Running ") || word.starts_with("Doc-tests ") {
            word.clone_into(&mut self.program);
        }
        if line == "failures:" && self.failures.is_none() {
            self.failures = Some(Vec::new());
        }
        if let Some(said) = &mut self.failures
            && said.len() < SAID
        {
            said.push(format!("  {line}"));
        }
        if let Some(tally) = Tally::read(line) {
            self.tally += tally;
            self.tail = Tail::default();
            if let Some(said) = self.failures.take() {
                let heading = std::iter::once(std::mem::take(&mut self.program));
                let lines: Vec<_> = heading.chain(said).collect();
                self.tally.findings.push(lines.join("\n"));
            }
        }
    }

    /// The result of the command `shown`, which ended with `status`.
    fn end(mut self, shown: &str, status: &str, success: bool) -> Tally {
        if success {
            return self.tally;
        }
        let (failed, tail) = (self.tally.failed.max(1), self.tail);
        self.tally.failed = failed;
        let all = format!("{status}: {shown}\n{tail}");
        self.tally.findings.insert(0, all);
        self.tally
    }
}

#[cfg(test)]
mod tests {
    //! Tests that failures are found in the output of cargo's test runner.

    use super::Runner;
    use crate::tally::Tally;

    fn run(output: &str, success: bool) -> Tally {
        let mut runner = Runner::default();
        output.lines().for_each(|line| runner.hear(line));
        runner.end("cargo test", "exit status: 101", success)
    }

    #[test]
    fn the_failed_tests_are_kept_and_the_others_not() {
        let tally = run(
            "     Running tests/rings.rs (target/rings-1)\n\
             test a ... ok\n\
             test result: ok. 1 passed; 0 failed; 0 ignored\n\
             \x20    Running tests/gates.rs (target/gates-1)\n\
             test b ... FAILED\n\
             \n\
             failures:\n\
             \n\
             ---- b stdout ----\n\
             they do not end\n\
             \n\
             failures:\n    b\n\
             \n\
             test result: FAILED. 2 passed; 1 failed; 0 ignored\n\
             error: 1 target failed:\n    `--test gates`\n",
            false,
        );
        assert_eq!((tally.passed, tally.failed), (3, 1));
        let said = tally.findings.join("\n");
        for needed in [
            "tests/gates.rs",
            "b stdout",
            "they do not end",
            "--test gates",
        ] {
            assert!(said.contains(needed), "{said}");
        }
        assert!(!said.contains("tests/rings.rs"), "{said}");
    }

    #[test]
    fn a_crash_counts_as_one_and_says_how() {
        let output = "running 4 tests\n\
             error: test failed, to rerun pass `--test gates`\n\
             process didn't exit successfully (signal: 11, SIGSEGV)";
        let tally = run(output, false);
        assert_eq!(tally.failed, 1);
        assert!(tally.findings[0].contains("SIGSEGV"), "{tally:?}");
    }

    #[test]
    fn success_has_no_findings() {
        let tally = run("test result: ok. 1 passed; 0 failed; 0 ignored", true);
        assert_eq!(tally, Tally::ONE);
    }
}
