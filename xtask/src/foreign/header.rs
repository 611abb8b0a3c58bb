//! `mpi.h`: that it compiles as C and C++, and that its prototypes are the standard's.

use super::harness::Harness;
use super::report::Report;
use crate::Result;
use std::collections::BTreeMap;
use xshell::cmd;

/// The languages that a program may be written in.
const LANGUAGES: [(&str, &str); 4] = [
    ("c", "c89"),
    ("c", "c11"),
    ("c++", "c++98"),
    ("c++", "c++20"),
];

/// Prototypes that differ from pympistandard's, with the reason.
const DIFFERENT: [(&str, &str); 9] = [
    ("MPI_Dist_graph_create", WEIGHTS),
    ("MPI_Dist_graph_create_adjacent", WEIGHTS),
    ("MPI_Dist_graph_neighbors", WEIGHTS),
    (
        "MPI_Info_create_env",
        "its argv is the one of main: pointers to strings, not characters",
    ),
    ("MPI_Pcontrol", "its dots are set in TeX there"),
    (
        "MPI_Precv_init",
        "its count is an int in the errata of MPI 5.0",
    ),
    ("MPI_Precv_init_c", "the errata add it"),
    (
        "MPI_Psend_init",
        "its count is an int in the errata of MPI 5.0",
    ),
    ("MPI_Psend_init_c", "the errata add it"),
];

const WEIGHTS: &str = "its weights are pointers, the same type: of an array gcc takes MPI_UNWEIGHTED for one too short";

/// Prints the prototypes, one a line.
const PRINT: &str = "
import pympistandard as standard
standard.use_api_version(1, force_bundled=True)
for procedure in standard.all_iso_c_procedures():
    print(procedure.express.iso_c)
    if procedure.has_embiggenment:
        print(procedure.express.embiggen.iso_c)
";

/// Parses the header as clang does, and prints its findings.
const CLANG: &str = "
import sys, clang.cindex
index = clang.cindex.Index.create()
unit = index.parse(sys.argv[1], args=sys.argv[2:])
findings = list(unit.diagnostics)
print(*findings, sep='\\n')
sys.exit(bool(findings))
";

pub(super) fn check(harness: &Harness, report: &mut Report) -> Result {
    let sh = &harness.repo.shell;
    let include = harness.prefix.join("include");
    let source = harness.folder.join("header.c");
    sh.write_file(&source, "#include <mpi.h>\n")?;
    let strict = ["-Wall", "-Wextra", "-Werror", "-pedantic"];
    let python = harness.python(&["pympistandard==0.2.0", "libclang==18.1.1"])?;
    // The library of clang has no headers of its own.
    let own = cmd!(sh, "cc -print-file-name=include").quiet().read()?;
    for (language, standard) in LANGUAGES {
        let options = ["-x", language, &format!("-std={standard}")].map(str::to_owned);
        for strictness in [&["-DOXMPI_STRICT"][..], &[]] {
            let mut words: Vec<String> = vec![source.display().to_string()];
            words.extend(
                strict
                    .iter()
                    .chain(strictness)
                    .map(|word| (*word).to_owned()),
            );
            words.extend(options.clone());
            words.push(format!("-I{}", include.display()));
            // The language holds for the files that follow it.
            words.rotate_left(1);
            let gcc = cmd!(sh, "cc -fsyntax-only").args(&words);
            words.rotate_right(1);
            words.push(format!("-isystem{own}"));
            let clang = python.script(sh, CLANG, &words);
            for (name, compiler) in [("gcc", gcc), ("clang", clang)] {
                let name = format!("mpi.h, {name} -std={standard} {}", strictness.concat());
                match compiler.quiet().run() {
                    Ok(()) => report.success(name.trim()),
                    Err(why) => report.failure(&name, &why.to_string()),
                }
            }
        }
    }

    let theirs = python.script(sh, PRINT, &[]).quiet().read()?;
    let header = sh.read_file(include.join("mpi.h"))?;
    let found = differences(&header, &theirs);
    let reasons: Vec<_> = DIFFERENT.map(|row| row.0).into();
    if found == reasons {
        report.success("prototypes are those of pympistandard 0.2.0");
        for (name, why) in DIFFERENT {
            println!("  but {name}: {why}");
        }
    } else {
        report.failure(
            "prototypes that differ",
            &format!("{found:?}, not {reasons:?}"),
        );
    }
    Ok(())
}

/// The prototypes of a text that begin a line, by name and without spaces.
pub(super) fn prototypes(text: &str) -> BTreeMap<&str, String> {
    let lines = text.lines().filter_map(|line| {
        let (before, _) = line.split_once('(')?;
        let name = before.split([' ', '*']).next_back()?;
        let is_name = name.starts_with("MPI_") || name.starts_with("PMPI_");
        let begins = !line.starts_with(['#', ' ', '/']) && !line.starts_with("typedef");
        let compact = line.trim_end_matches(';').replace(' ', "");
        (is_name && begins).then_some((name, compact))
    });
    lines.collect()
}

/// The functions of a header whose prototypes are others in the text of the standard.
fn differences<'a>(header: &'a str, standard: &str) -> Vec<&'a str> {
    let standard = prototypes(standard);
    let ours = prototypes(header).into_iter();
    let ours = ours.filter(|(name, _)| name.starts_with("MPI_"));
    let differs = ours.filter(|(name, text)| standard.get(name) != Some(text));
    differs.map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    //! Tests of comparing prototypes.

    use super::differences;

    #[test]
    fn another_type_or_name_of_a_parameter_differs() {
        let header = "#define MPI_X(a) MPI_Y(a)\nint MPI_A(const void *buf, int n[]);\nint PMPI_A(int n);\n\
                      double MPI_B(void);\nint MPI_C(int count);\n";
        let standard =
            "int MPI_A(const void *buf, int n[])\ndouble MPI_B(void)\nint MPI_C(MPI_Count count)\n";
        assert_eq!(differences(header, standard), ["MPI_C"]);
        assert_eq!(differences(header, ""), ["MPI_A", "MPI_B", "MPI_C"]);
    }
}
