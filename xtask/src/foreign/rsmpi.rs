//! The examples of the crate `mpi`, the Rust bindings of MPI.

use super::harness::{Ended, Harness, Job};
use super::report::Report;
use crate::Result;
use std::process::Command;
use xshell::cmd;

const VERSION: &str = "0.8.2";

/// Examples that start processes.
const SPAWN: [&str; 2] = ["spawn", "spawn_multiple"];

pub(super) fn check(harness: &Harness, report: &mut Report) -> Result {
    let sh = &harness.repo.shell;
    let folder = harness.folder.join("rsmpi");
    let sources = folder.join("vendor/mpi");
    if !sh.path_exists(&sources) {
        // Cargo copies the sources of what a package depends on.
        sh.write_file(
            folder.join("Cargo.toml"),
            format!("[package]\nname = \"fetched\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nmpi = \"={VERSION}\"\n"),
        )?;
        sh.write_file(folder.join("src/lib.rs"), "//! Nothing.\n")?;
        let _there = sh.push_dir(&folder);
        cmd!(sh, "cargo vendor --quiet")
            .quiet()
            .ignore_stdout()
            .run()?;
        // Without a workspace of its own it is taken for a member of the one above.
        let manifest = sources.join("Cargo.toml");
        let published = sh.read_file(&manifest)?;
        sh.write_file(&manifest, published + "\n[workspace]\n")?;
    }
    // Bindgen needs a library of clang, which PyPI has.
    let python = harness.python(&["libclang==18.1.1"])?;
    let clang = python.script(
        sh,
        "import clang, os; print(os.path.dirname(clang.__file__) + '/native')",
        &[],
    );
    let clang = clang.quiet().read()?;
    let own = cmd!(sh, "cc -print-file-name=include").quiet().read()?;
    let built = folder.join("target");
    let mut cargo = Command::new("cargo");
    cargo
        .args([
            "build",
            "--examples",
            "--features",
            "derive,complex",
            "--target-dir",
        ])
        .arg(&built)
        .env("MPICC", harness.wrapper("oxmpicc"))
        .env("LIBCLANG_PATH", clang)
        .env("BINDGEN_EXTRA_CLANG_ARGS", format!("-isystem{own}"));
    harness.build("rsmpi", &sources, cargo)?;
    for path in sh.read_dir(sources.join("examples"))? {
        let Some(example) = path
            .file_stem()
            .map(|name| name.to_string_lossy().into_owned())
        else {
            continue;
        };
        if SPAWN.contains(&&*example) {
            continue;
        }
        for ranks in [2, 3] {
            let name = format!("rsmpi {example} {ranks}");
            for library in &harness.libraries {
                let job = Job {
                    library,
                    ranks,
                    limit: 60,
                    folder: &folder,
                    name: name.clone(),
                    environment: Vec::new(),
                };
                let ended = harness.run(&job, &built.join("debug/examples").join(&example), &[])?;
                report.job(&name, library.name, &ended, verdict(&ended));
            }
        }
    }
    Ok(())
}

fn verdict(ended: &Ended) -> Result<(), String> {
    match ended.code {
        Some(0) => Ok(()),
        other => Err(format!("it ends with {other:?}")),
    }
}
