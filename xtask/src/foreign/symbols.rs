//! The names that the library exports, and how the wrappers link with it.

use super::harness::Harness;
use super::report::Report;
use crate::Result;
use std::collections::BTreeSet;
use xshell::cmd;

/// The functions of the ABI of MPI 5.0.
const FUNCTIONS: usize = 664;

pub(super) fn check(harness: &Harness, report: &mut Report) -> Result {
    let sh = &harness.repo.shell;
    let library = harness.prefix.join("lib/libmpi_abi.so.1");
    let exported = cmd!(sh, "nm --dynamic --defined-only --format=posix {library}")
        .quiet()
        .read()?;
    let header = sh.read_file(harness.prefix.join("include/mpi.h"))?;
    match wrong(&exported, &header) {
        None => report.success(&format!(
            "{FUNCTIONS} functions under both names, and nothing else"
        )),
        Some(why) => report.failure("exported names", &why),
    }

    let folder = &harness.folder;
    let (source, program) = (folder.join("linked.c"), folder.join("linked"));
    sh.write_file(
        &source,
        "#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }\n",
    )?;
    let wrapper = harness.wrapper("oxmpicc");
    cmd!(sh, "{wrapper} -o {program} {source}").quiet().run()?;
    let dynamic = cmd!(sh, "readelf --dynamic --wide {program}")
        .quiet()
        .read()?;
    let soname = cmd!(sh, "readelf --dynamic --wide {library}")
        .quiet()
        .read()?;
    let linked = dynamic.contains("RUNPATH")
        && !dynamic.contains("(RPATH)")
        && dynamic.contains("[libmpi_abi.so.1]");
    if linked && soname.contains("soname: [libmpi_abi.so.1]") {
        report.success("programs ask for libmpi_abi.so.1 by RUNPATH");
    } else {
        report.failure("linking", &dynamic);
    }
    Ok(())
}

/// What is wrong with the exported names: lines of `NAME TYPE ADDRESS SIZE`.
fn wrong(exported: &str, header: &str) -> Option<String> {
    let symbols: Vec<(&str, &str)> = exported
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, rest)| (name, rest.split(' ').next().unwrap_or_default()))
        .collect();
    if let Some((name, _)) = symbols.iter().find(|symbol| symbol.1 != "T") {
        return Some(format!("{name} is no strong function"));
    }
    let names: BTreeSet<_> = symbols.iter().map(|symbol| symbol.0).collect();
    let declared: BTreeSet<_> = super::header::prototypes(header).into_keys().collect();
    let count = declared
        .iter()
        .filter(|name| name.starts_with("MPI_"))
        .count();
    if count != FUNCTIONS || declared.len() != 2 * FUNCTIONS {
        return Some(format!(
            "mpi.h declares {count} functions, and {} names",
            declared.len()
        ));
    }
    let differs = names.symmetric_difference(&declared).next();
    differs.map(|name| format!("{name} is exported or declared, not both"))
}

#[cfg(test)]
mod tests {
    //! Tests that wrong names are found.

    use super::wrong;

    #[test]
    fn data_and_other_names_are_found() {
        assert!(
            wrong("MPI_F_STATUS D 10 4\n", "")
                .unwrap()
                .contains("no strong function")
        );
        assert!(
            wrong("MPI_Init W 10 4\n", "")
                .unwrap()
                .contains("no strong function")
        );
        assert!(
            wrong("MPI_Init T 10 4\n", "int MPI_Init(void);")
                .unwrap()
                .contains("declares 1")
        );
        let both = |number| format!("int MPI_X{number}(void);\nint PMPI_X{number}(void);\n");
        let header: String = (0..664).map(both).collect();
        let all: String = (0..664)
            .map(|n| format!("MPI_X{n} T 1 1\nPMPI_X{n} T 1 1\n"))
            .collect();
        assert_eq!(wrong(&all, &header), None);
        assert!(
            wrong(&(all.clone() + "MPIX_Y T 1 1\n"), &header)
                .unwrap()
                .contains("MPIX_Y")
        );
        assert!(wrong(&all.replace("MPI_X7 T 1 1\n", ""), &header).is_some());
    }
}
