//! A PMPI tool that counts every call of a program: before the program, and linked between it and the library.

use super::harness::{Harness, Job, OURS};
use super::header;
use super::report::Report;
use crate::Result;
use std::fmt::Write;
use xshell::cmd;

/// What the program calls, on rank 0.
const EXPECTED: &str = "MPI_Allgather 1\nMPI_Allreduce 3\nMPI_Barrier 1\nMPI_Bcast 1\nMPI_Comm_dup 1\nMPI_Comm_free 1\n\
                        MPI_Comm_rank 1\nMPI_Comm_size 1\nMPI_Finalize 1\nMPI_Init 1\nMPI_Irecv 1\nMPI_Send 1\n\
                        MPI_Sendrecv 1\nMPI_Wait 1\n";

pub(super) fn check(harness: &Harness, report: &mut Report) -> Result {
    let sh = &harness.repo.shell;
    let folder = harness.folder.join("tool");
    sh.create_dir(&folder)?;
    let header = sh.read_file(harness.prefix.join("include/mpi.h"))?;
    sh.write_file(folder.join("tool.c"), tool(&header)?)?;
    sh.write_file(folder.join("program.c"), include_str!("tool.c"))?;
    let _there = sh.push_dir(&folder);
    let wrapper = harness.wrapper("oxmpicc");
    cmd!(sh, "{wrapper} -shared -fPIC -o libtool.so tool.c")
        .quiet()
        .run()?;
    cmd!(sh, "{wrapper} -c tool.c -o tool.o").quiet().run()?;
    cmd!(sh, "ar rcs libtool.a tool.o").quiet().run()?;
    cmd!(sh, "{wrapper} -o plain program.c").quiet().run()?;
    cmd!(sh, "{wrapper} -o linked program.c -L. -l:libtool.a")
        .quiet()
        .run()?;
    for (name, program, preloaded) in [
        ("tool by LD_PRELOAD", "plain", true),
        ("tool by link order", "linked", false),
    ] {
        for library in &harness.libraries {
            let mut environment = vec![("COUNTS".to_owned(), folder.join("counts").into())];
            if preloaded {
                environment.push(("LD_PRELOAD".to_owned(), folder.join("libtool.so").into()));
            }
            let job = Job {
                library,
                ranks: 2,
                limit: 60,
                folder: &folder,
                name: name.into(),
                environment,
            };
            sh.remove_path("counts")?;
            let ended = harness.run(&job, &folder.join(program), &[])?;
            let counts = sh.read_file("counts").unwrap_or_default();
            let verdict = if ended.code != Some(0) {
                Err(format!("it ends with {:?}", ended.code))
            } else if counts == EXPECTED || library.name != OURS && !counts.is_empty() {
                Ok(())
            } else {
                Err(format!(
                    "it sees other calls: {}",
                    counts.replace('\n', ", ")
                ))
            };
            report.job(name, library.name, &ended, verdict);
        }
    }
    Ok(())
}

/// The tool in C: each function of the ABI counts its calls, and `MPI_Finalize` writes those of rank 0.
fn tool(header: &str) -> Result<String> {
    let mut text = String::from("#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n");
    let mut report = String::new();
    for line in header.lines() {
        let line = line.trim_end_matches(';');
        let Some((before, parameters)) = line.split_once('(') else {
            continue;
        };
        let Some((returns, name)) = before.rsplit_once([' ', '*']) else {
            continue;
        };
        // Variable arguments cannot be passed on, and the clock of a launcher's test is called by nobody.
        let is_function = header::prototypes(line).contains_key(name) && name.starts_with("MPI_");
        if !is_function || parameters.contains("...") {
            continue;
        }
        let parameters = parameters.trim_end_matches(')');
        let names = parameters
            .split(", ")
            .map(argument)
            .collect::<Vec<_>>()
            .join(", ");
        let finalize = if name == "MPI_Finalize" {
            "write_counts(); "
        } else {
            ""
        };
        let returned = if returns == "void" { "" } else { "return " };
        writeln!(text, "static long count_{name};")?;
        if name == "MPI_Finalize" {
            writeln!(text, "static void write_counts(void);")?;
        }
        writeln!(
            text,
            "{returns} {name}({parameters}) {{ count_{name}++; {finalize}{returned}P{name}({names}); }}"
        )?;
        writeln!(
            report,
            "    if (count_{name}) fprintf(file, \"{name} %ld\\n\", count_{name});"
        )?;
    }
    writeln!(
        text,
        "\nstatic void write_counts(void) {{\n    int rank;\n    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);\n    \
         if (rank) return;\n    FILE *file = fopen(getenv(\"COUNTS\"), \"w\");\n{report}    fclose(file);\n}}"
    )?;
    Ok(text)
}

/// The name of a parameter.
fn argument(parameter: &str) -> &str {
    let name = parameter.split('[').next().unwrap_or_default();
    match name.split([' ', '*']).next_back().unwrap_or_default() {
        "void" => "",
        name => name,
    }
}

#[cfg(test)]
mod tests {
    //! Tests of the generated tool.

    use super::tool;

    #[test]
    fn arguments_are_passed_on() {
        let header = "int MPI_A(const void *buf, int n[], char ***argv, int r[][3]);\ndouble MPI_B(void);\n\
                      int PMPI_A(int n);\nint MPI_Pcontrol(const int level, ...);\n";
        let text = tool(header).unwrap();
        assert!(
            text.contains("count_MPI_A++; return PMPI_A(buf, n, argv, r); }"),
            "{text}"
        );
        assert!(
            text.contains("double MPI_B(void) { count_MPI_B++; return PMPI_B(); }"),
            "{text}"
        );
        assert!(
            !text.contains("Pcontrol") && !text.contains("PPMPI"),
            "{text}"
        );
    }
}
