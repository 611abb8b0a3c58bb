//! LAMMPS: three of its benchmarks; the thermodynamic lines are the same on every library.

use super::harness::{Ended, Harness, Job};
use super::report::Report;
use crate::Result;
use std::process::Command;

pub(super) fn check(harness: &Harness, report: &mut Report) -> Result {
    let folder = harness.source("lammps", "20220106", "")?;
    // The potentials of eam and the bonds of chain are packages of their own.
    let mut packages = Command::new("make");
    packages.args(["-s", "yes-manybody", "yes-molecule"]);
    harness.build("lammps packages", &folder.join("src"), packages)?;
    let wrapper = harness.wrapper("oxmpicxx");
    let mut make = Command::new("make");
    make.args(["-j2", "mpi", "CCFLAGS=-O2 -std=c++11"])
        .arg(format!("CC={}", wrapper.display()))
        .arg(format!("LINK={}", wrapper.display()));
    harness.build("lammps", &folder.join("src"), make)?;
    let bench = folder.join("bench");
    for case in ["lj", "eam", "chain"] {
        for ranks in [1, 2, 4] {
            let name = format!("lammps {case} {ranks}");
            let mut first: Option<Vec<String>> = None;
            // Ours last, to be compared with the others.
            for library in harness.libraries.iter().rev() {
                let job = Job {
                    library,
                    ranks,
                    limit: 900,
                    folder: &bench,
                    name: name.clone(),
                    environment: Vec::new(),
                };
                let input = format!("in.{case}");
                let arguments = ["-log", "none", "-in", &input];
                let ended = harness.run(&job, &folder.join("src/lmp_mpi"), &arguments)?;
                let thermo = thermo(&ended.text);
                let expected = first.get_or_insert_with(|| thermo.clone());
                report.job(
                    &name,
                    library.name,
                    &ended,
                    verdict(&ended, &thermo, expected),
                );
            }
        }
    }
    Ok(())
}

fn verdict(ended: &Ended, thermo: &[String], expected: &[String]) -> Result<(), String> {
    match ended.code {
        Some(0) if thermo.len() < 2 => Err("it prints no thermodynamic lines".into()),
        Some(0) if thermo != expected => {
            Err(format!("its lines differ: {thermo:?}, not {expected:?}"))
        }
        Some(0) => Ok(()),
        other => Err(format!("it ends with {other:?}")),
    }
}

/// The lines between the heading `Step Temp ...` and the time of the loop.
fn thermo(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .map(str::trim)
        .skip_while(|line| !line.starts_with("Step"));
    let lines = lines.take_while(|line| !line.starts_with("Loop time"));
    lines.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    //! Tests of finding the thermodynamic lines.

    use super::thermo;

    #[test]
    fn the_lines_of_the_run_are_found() {
        let text = "LAMMPS\nStep Temp\n   0 1.44\n 100 0.75\nLoop time of 1.2 on 2 procs\n  7 8\n";
        assert_eq!(thermo(text), ["Step Temp", "0 1.44", "100 0.75"]);
    }
}
