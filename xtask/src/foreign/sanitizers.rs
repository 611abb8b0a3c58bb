//! The C tests of `crates/abi` under AddressSanitizer and valgrind, without findings.

use super::harness::{Harness, Job, OURS};
use super::report::Report;
use crate::Result;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs that end otherwise than with success, as they should, or that need arguments and a setting; the crate's own tests
/// run them.
const LEFT_OUT: [&str; 2] = ["aborts", "computes"];

/// A tool that finds wrong uses of memory.
struct Tool {
    name: &'static str,
    /// Arguments of the compiler.
    compiler: &'static [&'static str],
    /// What runs a program; none: the program itself.
    runner: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    ranks: &'static [u32],
}

/// The programs are instrumented, and the calls to the C library that ours makes are checked.
const ADDRESS_SANITIZER: Tool = Tool {
    name: "AddressSanitizer",
    compiler: &["-fsanitize=address", "-fno-omit-frame-pointer"],
    runner: &[],
    // A test asks for more memory than there is.
    environment: &[("ASAN_OPTIONS", "allocator_may_return_null=1")],
    ranks: &[1, 2],
};

/// The library and the programs as they are. Valgrind knows no `pidfd_open` before 3.20, by which ranks with common memory watch
/// each other, so that they use TCP.
const MEMCHECK: Tool = Tool {
    name: "valgrind",
    compiler: &[],
    // Errors, and memory that nothing points to any more.
    runner: &[
        "valgrind",
        "--quiet",
        "--error-exitcode=99",
        "--leak-check=full",
        "--show-leak-kinds=definite",
        "--errors-for-leak-kinds=definite",
    ],
    environment: &[("OXMPI_TRANSPORTS", "tcp")],
    ranks: &[1, 2],
};

pub(super) fn check(harness: &Harness, report: &mut Report) -> Result {
    let programs = harness.repo.root.join("crates/abi/tests/programs");
    let mut sources: Vec<PathBuf> = harness.repo.shell.read_dir(programs)?;
    sources.sort();
    sources.retain(|source| {
        let name = source.file_stem().and_then(|name| name.to_str());
        let is_program = source
            .extension()
            .is_some_and(|kind| kind == "c" || kind == "cc");
        is_program && name.is_some_and(|name| !LEFT_OUT.contains(&name))
    });
    let tools: &[Tool] = match harness.thorough {
        true => &[ADDRESS_SANITIZER, MEMCHECK],
        false => &[ADDRESS_SANITIZER],
    };
    for tool in tools {
        for source in &sources {
            if let Err(error) = run(harness, report, tool, source) {
                report.failure(tool.name, &error.to_string());
            }
        }
    }
    Ok(())
}

/// Builds one program for a tool, and runs it.
fn run(harness: &Harness, report: &mut Report, tool: &Tool, source: &Path) -> Result {
    let name = source.file_stem().ok_or("a program has a name")?.display();
    let folder = harness.folder.join("sanitizers").join(tool.name);
    harness.repo.shell.create_dir(&folder)?;
    let program = folder.join(name.to_string());
    let is_cpp = source.extension().is_some_and(|kind| kind == "cc");
    let mut compile = Command::new(harness.wrapper(if is_cpp { "oxmpicxx" } else { "oxmpicc" }));
    compile.args(["-g", "-pthread"]).args(tool.compiler);
    compile.arg("-o").arg(&program).arg(source);
    let name = format!("{} {name}", tool.name);
    harness.build(&name, &folder, compile)?;
    let ours = &harness.libraries[0];
    for &ranks in tool.ranks {
        let job = Job {
            library: ours,
            ranks,
            limit: 300,
            folder: &folder,
            name: name.clone(),
            environment: tool
                .environment
                .iter()
                .map(|&(variable, value)| (variable.to_owned(), value.into()))
                .collect(),
        };
        let mut words = harness.launcher(ours, ranks);
        words.extend(tool.runner.iter().map(OsString::from));
        words.push(program.clone().into());
        let ended = harness.watch(&job, &words)?;
        let verdict = match ended.code {
            Some(0) => Ok(()),
            other => Err(format!("it ends with {other:?}")),
        };
        report.job(&format!("{name}, {ranks} ranks"), OURS, &ended, verdict);
    }
    Ok(())
}
