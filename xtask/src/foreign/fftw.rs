//! FFTW: its own checker, with random transforms on 1 to 4 ranks.

use super::harness::{Ended, Harness, Job};
use super::report::Report;
use crate::Result;
use std::ffi::OsString;
use std::process::Command;

pub(super) fn check(harness: &Harness, report: &mut Report) -> Result {
    let folder = harness.source("fftw3", "3.3.10", "")?;
    if !folder.join("Makefile").exists() {
        let mut configure = Command::new("./configure");
        configure
            .args([
                "--quiet",
                "--enable-mpi",
                "--disable-fortran",
                "--disable-doc",
            ])
            .arg("--disable-dependency-tracking")
            .arg(format!("MPICC={}", harness.wrapper("oxmpicc").display()));
        harness.build("fftw configure", &folder, configure)?;
    }
    let mut make = Command::new("make");
    make.args(["-s", "-j2"]);
    harness.build("fftw", &folder, make)?;
    for ranks in 1..=4 {
        let name = format!("fftw {ranks}");
        for library in &harness.libraries {
            let job = Job {
                library,
                ranks,
                limit: if harness.thorough { 3600 } else { 300 },
                folder: &folder,
                name: name.clone(),
                environment: Vec::new(),
            };
            let mut program = harness.launcher(library, ranks);
            program.push(folder.join("mpi/mpi-bench").into());
            let program: Vec<_> = program.iter().map(|word| word.to_string_lossy()).collect();
            let mut words: Vec<OsString> = ["perl", "-w", "tests/check.pl", "--random", "-c=100"]
                .map(OsString::from)
                .into();
            // Without measuring, and for small arrays, plans take a tenth of the time, but fewer algorithms are chosen.
            if harness.thorough {
                words.push("--maxsize=10000".into());
            } else {
                words.extend(["--estimate".into(), "--maxsize=1000".into()]);
            }
            words.extend(["--verbose".into(), "--mpi".into()]);
            words.push(program.join(" ").into());
            let ended = harness.watch(&job, &words)?;
            report.job(&name, library.name, &ended, verdict(&ended));
        }
    }
    Ok(())
}

/// The checker ends at the first transform that is wrong, but not always with an error.
fn verdict(ended: &Ended) -> Result<(), String> {
    if ended.code != Some(0) || ended.text.contains("FAILED") {
        return Err(format!("it ends with {:?}", ended.code));
    }
    // Each transform has a line with three small numbers.
    let verified = ended.text.lines().filter(|line| {
        let words: Vec<_> = line.split_whitespace().skip(1).collect();
        words.len() == 3
            && words
                .iter()
                .all(|word| word.parse::<f64>().is_ok_and(|error| error < 1e-8))
    });
    match verified.count() {
        0..100 => Err("it verified fewer than 100 transforms".into()),
        _ => Ok(()),
    }
}
