//! Whether CMake's FindMPI and meson find oxmpi.

use super::harness::Harness;
use super::report::Report;
use crate::Result;
use std::process::Command;

const HELLO: &str = "#include <mpi.h>\n\
                     int main(void) { int version, subversion; return MPI_Get_version(&version, &subversion); }\n";

const CMAKE: &str = "cmake_minimum_required(VERSION 3.20)
project(found C CXX)
find_package(MPI 5.0 REQUIRED)
add_executable(in_c hello.c)
target_link_libraries(in_c MPI::MPI_C)
add_executable(in_cxx hello.cpp)
target_link_libraries(in_cxx MPI::MPI_CXX)
";

const MESON: &str = "project('found', 'c', 'cpp')
executable('in_c', 'hello.c', dependencies: dependency('mpi', language: 'c'))
executable('in_cxx', 'hello.cpp', dependencies: dependency('mpi', language: 'cpp'))
";

pub(super) fn check(harness: &Harness, report: &mut Report) -> Result {
    let sh = &harness.repo.shell;
    let python = harness.python(&["cmake==4.4.5", "meson==1.12.1", "ninja==1.13.2"])?;
    let folder = harness.folder.join("found");
    sh.remove_path(&folder)?;
    for (file, text) in [
        ("hello.c", HELLO),
        ("hello.cpp", HELLO),
        ("CMakeLists.txt", CMAKE),
        ("meson.build", MESON),
    ] {
        sh.write_file(folder.join(file), text)?;
    }
    let (cc, cxx) = (harness.wrapper("oxmpicc"), harness.wrapper("oxmpicxx"));
    let (cc, cxx, prefix) = (cc.display(), cxx.display(), harness.prefix.display());
    // By its wrappers, by its pkg-config files, as the compiler, and by meson.
    let ways = [
        format!(
            "cmake -S . -B wrappers -DMPI_C_COMPILER={cc} -DMPI_CXX_COMPILER={cxx} && cmake --build wrappers"
        ),
        format!("cmake -S . -B prefix -DCMAKE_PREFIX_PATH={prefix} && cmake --build prefix"),
        format!("CC={cc} CXX={cxx} cmake -S . -B compiler && cmake --build compiler"),
        format!("MPICC={cc} MPICXX={cxx} meson setup meson && ninja -C meson"),
    ];
    for script in ways {
        let build = script.split(" -C ").last().unwrap_or_default();
        let build = build.split("--build ").last().unwrap_or_default();
        let program = format!("{script} && ./{build}/in_c && ./{build}/in_cxx");
        let path = std::env::join_paths(std::iter::once(python.bin.clone()).chain(
            std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()),
        ))?;
        let mut command = Command::new("sh");
        command.args(["-ec", &program]).env("PATH", path);
        match harness.build(&format!("found by {build}"), &folder, command) {
            Ok(_) => report.success(&format!("found by {build}")),
            Err(why) => report.failure(&format!("found by {build}"), &why.to_string()),
        }
    }
    Ok(())
}
