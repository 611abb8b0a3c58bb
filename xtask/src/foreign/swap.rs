//! One program built with MPICH's compiler and with ours: both run on every library, and print the same.

use super::harness::{Harness, Job};
use super::report::Report;
use crate::Result;
use crate::compare::peers;
use std::collections::BTreeSet;
use xshell::cmd;

pub(super) fn check(harness: &Harness, report: &mut Report) -> Result {
    let repo = harness.repo;
    let sh = &repo.shell;
    let folder = harness.folder.join("swap");
    sh.create_dir(&folder)?;
    let source = folder.join("swap.c");
    sh.write_file(&source, include_str!("swap.c"))?;
    let others = [
        peers::mpich(repo, &BTreeSet::new())?,
        peers::intel(repo, &BTreeSet::new())?,
    ];
    let others: Vec<_> = others.into_iter().flatten().collect();
    let mpich = others[0].launcher.as_ref().ok_or("MPICH has a launcher")?;
    let theirs = mpich.with_file_name("mpicc_abi");
    let mut first: Option<String> = None;
    for (built, compiler) in [
        ("oxmpicc", harness.wrapper("oxmpicc")),
        ("mpicc_abi", theirs),
    ] {
        let program = folder.join(built);
        cmd!(sh, "{compiler} -O -o {program} {source}")
            .quiet()
            .run()?;
        for library in others.iter().chain(&harness.libraries[..1]) {
            let name = format!("swap built by {built}");
            let job = Job {
                library,
                ranks: 2,
                limit: 60,
                folder: &folder,
                name: name.clone(),
                environment: Vec::new(),
            };
            let ended = harness.run(&job, &program, &[])?;
            let expected = first.get_or_insert_with(|| ended.text.clone());
            let verdict = match ended.code {
                Some(0) if ended.text == *expected && ended.text.ends_with("end\n") => Ok(()),
                Some(0) => Err("it prints something else than on MPICH".into()),
                other => Err(format!("it ends with {other:?}")),
            };
            report.job(&name, library.name, &ended, verdict);
        }
    }
    Ok(())
}
