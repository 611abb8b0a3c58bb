//! The tests of MPICH, as its own runner judges them.

use super::harness::{Ended, Harness, Job, OURS};
use super::report::Report;
use crate::Result;
use std::path::Path;
use std::process::Command;

/// The folders that `ci` runs, and those that only `long` runs.
const SHORT: [&str; 7] = [
    "attr", "info", "group", "init", "errhan", "topo", "datatype",
];
const LONG: [&str; 5] = ["comm", "pt2pt", "coll", "part", "rma"];

/// How a test has to end.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
enum Wanted {
    /// It prints "No Errors".
    #[default]
    NoErrors,
    /// With an exit status other than 0.
    Failure,
}

/// A line of a file `testlist`.
#[derive(Default, PartialEq, Eq, Debug)]
struct Test<'a> {
    program: &'a str,
    ranks: u32,
    arguments: Vec<&'a str>,
    environment: Vec<(&'a str, &'a str)>,
    wanted: Wanted,
    limit: u32,
}

pub(super) fn check(harness: &Harness, report: &mut Report) -> Result {
    let folder = harness.source("mpich", "4.0.2", "test/mpi")?;
    if !folder.join("Makefile").exists() {
        let mut configure = Command::new("./configure");
        configure
            .args([
                "--quiet",
                "--enable-strictmpi",
                "--disable-fortran",
                "--disable-cxx",
            ])
            .args([
                "--disable-spawn",
                "--disable-romio",
                "--disable-dependency-tracking",
            ])
            .arg(format!("--with-mpi={}", harness.prefix.display()))
            .arg(format!("MPICC={}", harness.wrapper("oxmpicc").display()));
        harness.build("suite configure", &folder, configure)?;
    }
    let long: &[&str] = if harness.thorough { &LONG } else { &[] };
    let folders: Vec<_> = SHORT.iter().chain(long).copied().collect();
    for part in ["dtpools", "util"].iter().chain(&folders) {
        let mut make = Command::new("make");
        // A program that does not compile is found to be missing when it should run.
        let keep_going = if folders.contains(part) { "-ks" } else { "-s" };
        // Older names are used before they are declared, as MPICH's own header does not have them either.
        make.args([keep_going, "-j2", "CFLAGS=-O0 -w", "-C", part]);
        let built = harness.build(&format!("suite {part}"), &folder, make);
        if keep_going == "-s" {
            built?;
        }
    }
    for part in folders {
        let folder = folder.join(part);
        let text = std::fs::read_to_string(folder.join("testlist"))?;
        for test in text.lines().filter_map(read) {
            run(harness, report, &folder, part, &test)?;
        }
    }
    Ok(())
}

fn run(harness: &Harness, report: &mut Report, folder: &Path, part: &str, test: &Test) -> Result {
    let Test { program, ranks, .. } = test;
    let arguments = test.arguments.iter().map(|word| format!(" {word}"));
    let variables = (test.environment.iter()).map(|(name, value)| format!(" {name}={value}"));
    let words = String::from_iter(arguments.chain(variables));
    let name = format!("suite/{part}/{program} {ranks}{words}");
    let path = folder.join(program);
    for library in &harness.libraries {
        let mut environment: Vec<_> = test
            .environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).into()))
            .collect();
        // All launchers know this variable. What hangs is killed by them, as by MPICH's runner.
        environment.push(("MPIEXEC_TIMEOUT".into(), test.limit.to_string().into()));
        let job = Job {
            library,
            ranks: *ranks,
            limit: test.limit + 20,
            folder,
            name: name.clone(),
            environment,
        };
        if path.exists() {
            let ended = harness.run(&job, &path, &test.arguments)?;
            report.job(&name, library.name, &ended, verdict(&ended, test.wanted));
        } else if library.name == OURS {
            let log = harness.log(&format!("build-suite {part}"));
            let ended = Ended {
                code: None,
                text: String::new(),
                seconds: 0.0,
                log,
            };
            report.job(
                &name,
                library.name,
                &ended,
                Err("it does not compile".into()),
            );
        }
    }
    Ok(())
}

fn verdict(ended: &Ended, wanted: Wanted) -> Result<(), String> {
    let succeeded = ended.code == Some(0);
    let clean = ended
        .text
        .lines()
        .any(|line| line.trim().eq_ignore_ascii_case("no errors"));
    match wanted {
        Wanted::Failure if !succeeded => Ok(()),
        Wanted::Failure => Err("it ends with 0, but should fail".into()),
        Wanted::NoErrors if succeeded && clean => Ok(()),
        Wanted::NoErrors if succeeded => Err("it does not say \"No Errors\"".into()),
        Wanted::NoErrors => Err(format!("it ends with {:?}", ended.code)),
    }
}

/// Reads a line: the program, the number of ranks, and options `NAME=VALUE`; MPICH's runner passes over other words, too.
/// Tests of what the standard does not define are left out.
fn read(line: &str) -> Option<Test<'_>> {
    let line = line.split('#').next()?;
    let mut words = line.split_whitespace();
    let mut test = Test {
        program: words.next()?,
        ranks: words.next()?.parse().ok()?,
        limit: 180,
        ..Test::default()
    };
    // Persistent collectives are standard since MPI 4.0.
    let is_standard = test.program.starts_with("p_");
    for (name, value) in words.filter_map(|word| word.split_once('=')) {
        match (name, value) {
            ("arg", value) => test.arguments.push(value),
            ("env", value) => test.environment.push(value.split_once('=')?),
            ("timeLimit", value) => test.limit = value.parse().ok()?,
            ("resultTest", "TestStatus" | "TestErrFatal" | "TestStatusNoErrors") => {
                test.wanted = Wanted::Failure
            }
            ("strict", "FALSE" | "false") if !is_standard => return None,
            _ => {}
        }
    }
    Some(test)
}

#[cfg(test)]
mod tests {
    //! Tests of reading lines of `testlist`.

    use super::{Test, Wanted, read};

    #[test]
    fn options_are_read() {
        let line = "session_mult_init 4 arg=5 env=A=b timeLimit=10 mpiversion=4.0";
        let expected = Test {
            program: "session_mult_init",
            ranks: 4,
            arguments: vec!["5"],
            environment: vec![("A", "b")],
            wanted: Wanted::NoErrors,
            limit: 10,
        };
        assert_eq!(read(line), Some(expected));
        let fatal = read("errfatal 1 resultTest=TestErrFatal").unwrap();
        assert_eq!(fatal.wanted, Wanted::Failure);
    }

    #[test]
    fn other_words_are_passed_over() {
        let expected = Test {
            program: "sendself",
            ranks: 1,
            arguments: vec!["-seed=47"],
            limit: 180,
            ..Test::default()
        };
        let line = "sendself 1 test/mpi/pt2pt/sendself xfail=ticket2266 arg=-seed=47";
        assert_eq!(read(line), Some(expected));
    }

    #[test]
    fn what_the_standard_does_not_define_is_left_out() {
        assert_eq!(read("commcall_oldapi 2 strict=FALSE"), None);
        assert_ne!(read("p_bcast 4 strict=false"), None);
        assert_eq!(read("# a comment 2"), None);
        assert_eq!(read(""), None);
    }
}
