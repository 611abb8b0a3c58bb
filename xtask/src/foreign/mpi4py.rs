//! mpi4py: its own tests without files, its futures, and a pool that is built on it.

use super::harness::{Ended, Harness, Job};
use super::report::Report;
use crate::Result;
use std::process::Command;
use xshell::cmd;

const VERSION: &str = "4.1.2";

/// How many tests the modules have together, and those of its futures.
const TESTS: u32 = 1195;
const FUTURES: u32 = 54;

/// The modules of tests.
const MODULES: [&str; 24] = [
    "p2p_buf",
    "p2p_obj",
    "cco_",
    "comm",
    "comm_inter",
    "comm_topo",
    "group",
    "op",
    "status",
    "request",
    "datatype",
    "info",
    "attributes",
    "errhandler",
    "errorcode",
    "environ",
    "pack",
    "address",
    "session",
    "grequest",
    "exceptions",
    "win",
    "rma",
    "rma_nb",
];

/// A run: its name, the number of ranks, arguments, and how many processes run how many tests.
type Case = (String, u32, Vec<String>, (u32, u32));

pub(super) fn check(harness: &Harness, report: &mut Report) -> Result {
    let sh = &harness.repo.shell;
    let folder = harness.folder.join("mpi4py");
    let python = harness.python(&["numpy", "schwimmbad==0.4.2"])?;
    let (pip, interpreter) = (python.bin.join("pip"), python.bin.join("python"));
    if !sh.path_exists(&folder) {
        let fetched = harness.folder.join("mpi4py.fetched");
        let wanted = format!("mpi4py=={VERSION}");
        cmd!(
            sh,
            "{pip} download --quiet --no-deps --no-binary=mpi4py --dest {fetched} {wanted}"
        )
        .quiet()
        .run()?;
        let archive = fetched.join(format!("mpi4py-{VERSION}.tar.gz"));
        sh.create_dir(&folder)?;
        cmd!(
            sh,
            "tar --extract --file {archive} --directory {folder} --strip-components=1"
        )
        .run()?;
    }
    let mut install = Command::new(&pip);
    install
        .args(["install", "--quiet", "--no-deps", "--force-reinstall", "."])
        .env("MPI4PY_BUILD_MPIABI", "1")
        .env("MPI4PY_BUILD_MPICC", harness.wrapper("oxmpicc"));
    harness.build("mpi4py", &folder, install)?;

    let mut tests: Vec<String> = vec!["test/main.py".into(), "-q".into()];
    for module in MODULES {
        tests.extend(["-i".into(), format!("test_{module}")]);
    }
    tests.extend(["-x".into(), "*File*".into()]);
    let futures = ["demo/futures/test_futures.py".to_owned()];
    let sizes: &[u32] = if harness.thorough {
        &[1, 2, 3, 4, 5]
    } else {
        &[2, 3]
    };
    let mut cases: Vec<Case> = sizes
        .iter()
        .map(|&ranks| {
            (
                format!("mpi4py {ranks}"),
                ranks,
                tests.clone(),
                (ranks, TESTS),
            )
        })
        .collect();
    let levels: &[&str] = if harness.thorough {
        &["single", "serialized"]
    } else {
        &[]
    };
    for &level in levels {
        let options = ["--thread-level".to_owned(), level.into()];
        cases.push((
            format!("mpi4py {level} 2"),
            2,
            [&tests[..], &options].concat(),
            (2, TESTS),
        ));
    }
    cases.push(("mpi4py futures 3".into(), 3, futures.into(), (1, FUTURES)));
    cases.push((
        "schwimmbad 3".into(),
        3,
        vec!["-c".into(), SCHWIMMBAD.into()],
        (0, 0),
    ));
    for (name, ranks, words, wanted) in cases {
        for library in &harness.libraries {
            let job = Job {
                library,
                ranks,
                limit: 1200,
                folder: &folder,
                name: name.clone(),
                environment: vec![("PYTHONFAULTHANDLER".into(), "1".into())],
            };
            let words: Vec<_> = words.iter().map(String::as_str).collect();
            let ended = harness.run(&job, &interpreter, &words)?;
            report.job(&name, library.name, &ended, verdict(&ended, wanted));
        }
    }
    Ok(())
}

/// Squares on a pool of ranks.
const SCHWIMMBAD: &str = "
import schwimmbad
def square(number):
    return number * number
with schwimmbad.MPIPool() as pool:
    if pool.is_master():
        assert list(pool.map(square, range(100))) == [number * number for number in range(100)]
";

/// How a run has ended, in which so many processes must have run at least so many tests.
fn verdict(ended: &Ended, (processes, tests): (u32, u32)) -> Result<(), String> {
    let lines = || ended.text.lines();
    let failed = lines()
        .rev()
        .find(|line| line.contains("FAILED (") || line.starts_with("Ran "));
    let failed = failed.unwrap_or_default();
    let ran: Vec<u32> = lines().filter_map(tests_run).collect();
    let enough = ran.iter().filter(|&&ran| ran >= tests).count();
    match ended.code {
        Some(0) if enough < processes as usize => Err(format!(
            "its processes ran {ran:?} tests, and {processes} of them should run {tests}"
        )),
        Some(0) => Ok(()),
        other => Err(format!("it ends with {other:?}: {failed}")),
    }
}

/// The number of tests in the line that unittest prints at its end.
fn tests_run(line: &str) -> Option<u32> {
    line.strip_prefix("Ran ")?.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    //! Tests of counting what has run.

    use super::tests_run;

    #[test]
    fn the_last_line_tells_the_number_of_tests() {
        assert_eq!(tests_run("Ran 63 tests in 0.028s"), Some(63));
        assert_eq!(tests_run("Ranks 63"), None);
    }
}
